"""Question sets: what is read, and what is said about what cannot be."""

import json

import pytest

from rag.errors import EvaluationError
from rag.evaluate.cases import Evidence
from rag.evaluate.evidence import locate, on_page
from rag.evaluate.load import export, load
from rag.evaluate.validate import check
from rag.types import Document, Page, Turn

LINES = [
    {
        "id": "one",
        "question": "How long is the warranty?",
        "answer": "Two years",
        "answers": ["24 months"],
        "facts": ["two years | 24 months"],
        "doc": "manual.pdf",
        "pages": [3, 4],
        "also_pages": [9],
        "evidence": [{"doc": "manual.pdf", "page": 3, "text": "two years"}],
        "category": "text",
        "lang": "en",
        "tags": ["warranty"],
        "scope": "document",
        "history": [{"question": "Hello?", "answer": "Hello."}],
        "source": "our own",
    },
    {"question": "Who is the king of France?", "answerable": False},
]


def write(path, lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


class TestJsonLines:
    def test_a_case_has_everything_that_its_line_says(self, tmp_path):
        first, second = load(write(tmp_path / "set.jsonl", LINES)).cases
        assert first.answers == ("Two years", "24 months")
        assert first.facts == (("two years", "24 months"),)
        assert first.pages == (("manual.pdf", 3), ("manual.pdf", 4))
        assert first.also_pages == (("manual.pdf", 9),)
        assert first.history == (Turn("Hello?", "Hello."),)
        assert first.extra == {"source": "our own"}
        assert (second.id, second.line, second.answerable) == ("line-2", 2, False)

    def test_an_exported_set_reads_back_the_same(self, tmp_path):
        before = load(write(tmp_path / "set.jsonl", LINES))
        (tmp_path / "again.jsonl").write_text(export(before.cases), encoding="utf-8")
        after = load(tmp_path / "again.jsonl")
        assert after.cases == before.cases
        assert after.digest == before.digest

    def test_every_bad_line_is_listed_and_the_good_ones_are_kept(self, tmp_path):
        path = tmp_path / "set.jsonl"
        path.write_text(
            '{"question": "Good?"}\n'
            "{broken\n"
            "[1, 2]\n"
            '{"answer": "no question"}\n'
            '{"id": "x", "question": "Page zero?", "doc": "a.pdf", "pages": [0]}\n'
            '{"question": "In which?", "scope": "document"}\n'
            '{"id": "line-1", "question": "Twice?"}\n',
            encoding="utf-8",
        )
        loaded = load(path)
        assert [case.question for case in loaded.cases] == ["Good?"]
        assert [problem.line for problem in loaded.unreadable] == [2, 3, 4, 5, 6, 7]
        messages = [str(problem) for problem in loaded.problems]
        assert messages[0].startswith("line 2: not JSON")
        assert "a page is a whole number from 1" in messages[3]
        assert "already used on line 1" in messages[5]

    def test_a_separator_inside_a_text_does_not_end_its_line(self, tmp_path):
        path = tmp_path / "set.jsonl"
        path.write_text('{"question": "Is\u2028this one?"}\n', encoding="utf-8")
        assert len(load(path).cases) == 1

    def test_pages_over_several_documents(self, tmp_path):
        refs = [{"doc": "a.pdf", "page": 1}, {"doc": "b.pdf", "page": 2}]
        line = {"question": "Both?", "page_refs": refs}
        loaded = load(write(tmp_path / "set.jsonl", [line]))
        assert loaded.cases[0].pages == (("a.pdf", 1), ("b.pdf", 2))
        assert json.loads(export(loaded.cases))["page_refs"] == refs

    def test_pages_over_several_documents_are_told_by_the_evidence(self, tmp_path):
        evidence = [{"doc": "a.pdf", "page": 1, "text": "x"}, {"doc": "b.pdf", "page": 2}]
        good = {"question": "Q?", "pages": [1, 2], "evidence": evidence}
        bad = {"question": "Q?", "pages": [1, 3], "evidence": evidence}
        loaded = load(write(tmp_path / "s.jsonl", [good, bad]))
        assert loaded.cases[0].pages == (("a.pdf", 1), ("b.pdf", 2))
        assert "of which document" in loaded.unreadable[0].message

    def test_evidence_tells_the_pages_when_nothing_else_does(self, tmp_path):
        line = {"question": "Q?", "evidence": [{"doc": "a.pdf", "page": 7, "text": "x"}]}
        assert load(write(tmp_path / "s.jsonl", [line])).cases[0].pages == (("a.pdf", 7),)

    def test_a_question_in_several_languages_is_a_case_for_each(self, tmp_path):
        line = {
            "id": "q",
            "question": "How many?",
            "relevant": {"p1": 1},
            "question_by_lang": {"en": "How many?", "de": "Wie viele?"},
            "answer_by_lang": {"en": "two", "de": "zwei"},
        }
        english, german = load(write(tmp_path / "s.jsonl", [line])).cases
        assert (english.id, german.id) == ("q@en", "q@de")
        assert (german.question, german.answers, german.language) == ("Wie viele?", ("zwei",), "de")

    def test_speakers_become_turns(self, tmp_path):
        history = [
            {"speaker": "user", "text": "Hi"},
            {"speaker": "agent", "text": "Hello."},
            {"speaker": "agent", "text": "What is it?"},
            {"speaker": "user", "text": "Tell me"},
        ]
        case = load(write(tmp_path / "s.jsonl", [{"question": "Q?", "history": history}])).cases[0]
        assert case.history == (Turn("Hi", "Hello.\n\nWhat is it?"), Turn("Tell me", ""))

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(EvaluationError, match=r"no question file .*none\.jsonl"):
            load(tmp_path / "none.jsonl")

    def test_a_file_in_another_encoding_is_refused(self, tmp_path):
        (tmp_path / "s.jsonl").write_bytes('{"question": "Größe?"}'.encode("latin-1"))
        with pytest.raises(EvaluationError, match="not UTF-8"):
            load(tmp_path / "s.jsonl")


class TestCsv:
    def test_cells_become_the_same_case(self, tmp_path):
        path = tmp_path / "set.csv"
        path.write_text(
            "id,question,answer,facts,doc,pages,answerable\n"
            'q1,"How long, in years?",Two,two | 2; years,manual.pdf,3;4,yes\n'
            "q2,Who?,,,,,no\n",
            encoding="utf-8-sig",
        )
        first, second = load(path).cases
        assert first.question == "How long, in years?"
        assert first.facts == (("two", "2"), ("years",))
        assert first.pages == (("manual.pdf", 3), ("manual.pdf", 4))
        assert not second.answerable

    def test_bad_cells_are_listed_by_line(self, tmp_path):
        path = tmp_path / "set.csv"
        path.write_text(
            "question,doc,pages,answerable\nA?,a.pdf,three,\nB?,,,perhaps\nC?,a.pdf,1,yes,more\n",
            encoding="utf-8",
        )
        assert [problem.line for problem in load(path).unreadable] == [2, 3, 4]

    def test_a_table_without_questions_is_refused(self, tmp_path):
        (tmp_path / "set.csv").write_text("frage\nWas?\n", encoding="utf-8")
        with pytest.raises(EvaluationError, match="no column named question"):
            load(tmp_path / "set.csv")


class TestBeir:
    def test_queries_get_their_judgements(self, tmp_path):
        write(tmp_path / "queries.jsonl", [{"_id": "1", "text": "A?"}, {"_id": "2", "text": "B?"}])
        (tmp_path / "qrels").mkdir()
        (tmp_path / "qrels" / "test.tsv").write_text(
            "query-id\tcorpus-id\tscore\n1\tp1\t2\n1\tp2\t0\n", encoding="utf-8"
        )
        loaded = load(tmp_path)
        assert [case.question for case in loaded.cases] == ["A?"]
        assert loaded.cases[0].relevant == {"p1": 2.0, "p2": 0.0}

    def test_another_folder_is_refused(self, tmp_path):
        with pytest.raises(EvaluationError, match="BEIR"):
            load(tmp_path)


MANUAL = Document("id", "manual.pdf", "application/pdf", 1, "", "ready", page_count=4)
NOTES = Document("notes", "notes.md", "text/markdown", 1, "", "ready", "section", page_count=2)


class Library:
    texts = {  # noqa: RUF012
        "id": ["Intro.", "Empty.", "The warranty holds for two years.", "Contact us."],
        "notes": ["# One\nThe cat sat on", "the mat.\n\n# Two\nThe dog ran."],
    }

    def document(self, name):
        return {"manual.pdf": MANUAL, "notes.md": NOTES}.get(name)

    def page_text(self, document, page):
        return self.texts[document.id][page - 1]

    def located(self, evidence, document):
        return locate(evidence, document, self)

    def page(self, document_id, number):
        return Page(document_id, number, "", self.texts[document_id][number - 1])

    def pages(self, document_id):
        return [self.page(document_id, n + 1) for n in range(len(self.texts[document_id]))]


class TestValidation:
    def problems(self, tmp_path, *lines):
        return check(load(write(tmp_path / "s.jsonl", lines)).cases, Library())

    def test_a_set_that_fits_has_none(self, tmp_path):
        evidence = [{"doc": "manual.pdf", "page": 3, "text": "two years"}]
        line = {"question": "Q?", "doc": "manual.pdf", "pages": [3], "evidence": evidence}
        assert self.problems(tmp_path, line) == []

    def test_missing_documents_pages_and_evidence_are_listed_by_line(self, tmp_path):
        found = self.problems(
            tmp_path,
            {"question": "A?", "doc": "lost.pdf", "pages": [1]},
            {"question": "B?", "doc": "manual.pdf", "pages": [5]},
            {
                "question": "C?",
                "doc": "manual.pdf",
                "pages": [1],
                "evidence": [{"doc": "manual.pdf", "page": 1, "text": "holds for two years"}],
            },
            {"question": "D?"},
            {"question": "E?", "evidence": [{"doc": "notes.md", "text": "The bird sang."}]},
        )
        assert [(problem.line, problem.code) for problem in found] == [
            (1, "missing_document"),
            (2, "page_out_of_range"),
            (3, "evidence_not_found"),
            (4, "nothing_to_check"),
            (5, "evidence_not_found"),
        ]
        assert not any(problem.fatal for problem in found)

    def test_a_table_read_in_another_order_is_still_its_evidence(self):
        evidence = Evidence("a.pdf", "Net sales 2023 100 2022 90", page=1)
        assert on_page(evidence, "2023 2022\nNet sales 100 90")


class TestEvidence:
    def test_a_quote_is_found_on_its_page(self):
        evidence = Evidence("manual.pdf", "warranty holds for two years", page=3)
        assert locate(evidence, MANUAL, Library()) == [(3, 4, 32)]

    def test_file_offsets_may_cross_sections(self):
        text = "The cat sat on\n\nthe mat."
        evidence = Evidence("notes.md", text, start=6, end=6 + len(text))
        assert locate(evidence, NOTES, Library()) == [(1, 6, 20), (2, 0, 8)]

    def test_what_is_not_there_is_not_located(self):
        assert locate(Evidence("manual.pdf", "lasts for ever", page=3), MANUAL, Library()) == []
        assert locate(Evidence("manual.pdf", "two years", page=9), MANUAL, Library()) == []


@pytest.mark.shared
def test_the_shared_sets_load_as_they_are_and_survive_an_export(shared, tmp_path):
    for path in sorted(shared.glob("eval/*/questions.dev.jsonl")):
        loaded = load(path)
        assert loaded.problems == (), path
        (tmp_path / "again.jsonl").write_text(export(loaded.cases), encoding="utf-8")
        assert load(tmp_path / "again.jsonl").cases == loaded.cases, path
