"""Every metric against values worked out by hand, and against the libraries that define it."""

import math
import random
import warnings

import numpy as np
import pytest

from rag.evaluate.metrics import answers, citations, cost, language, refusal, retrieval, spans
from rag.evaluate.metrics.retrieval import Gold
from rag.evaluate.metrics.text import literals, squad_tokens, without_markers
from rag.types import Receipt, Search

A, B, C, D, E = (("doc", page) for page in range(1, 6))


def binary(*places, needed=None):
    return Gold(dict.fromkeys(places, 1.0), needed or len(places))


class TestRetrieval:
    def test_a_hit_needs_only_one_right_place_within_k(self):
        assert retrieval.hit([B, A], binary(A, C), 1) == 0
        assert retrieval.hit([B, A], binary(A, C), 2) == 1

    def test_recall_is_the_share_of_the_needed_places(self):
        assert retrieval.recall([A, B, D], binary(A, B, C, E), 3) == 0.5

    def test_a_page_that_says_the_same_stands_in_for_the_needed_one(self):
        assert retrieval.recall([D], binary(A, D, needed=1), 5) == 1
        assert retrieval.recall([A, D], binary(A, B, D, needed=2), 5) == 1

    def test_alternatives_do_not_make_recall_exceed_one(self):
        assert retrieval.recall([A, B, D], binary(A, B, D, needed=1), 5) == 1

    def test_reciprocal_rank_is_zero_below_the_cut(self):
        assert retrieval.reciprocal_rank([B, C, A], binary(A), 3) == pytest.approx(1 / 3)
        assert retrieval.reciprocal_rank([B, C, A], binary(A), 2) == 0

    def test_precision_counts_missing_results_as_wrong(self):
        assert retrieval.precision([A], binary(A), 5) == 0.2

    def test_ndcg_by_hand(self):
        # Right at ranks 1 and 3 of two: (1 + 1/log2(4)) / (1 + 1/log2(3)).
        expected = 1.5 / (1 + 1 / math.log2(3))
        assert retrieval.ndcg([A, B, C], binary(A, C), 3) == pytest.approx(expected)

    def test_ndcg_is_one_when_an_alternative_comes_first(self):
        assert retrieval.ndcg([D, A], binary(A, D, needed=1), 10) == 1

    def test_several_passages_of_one_page_are_one_find(self):
        assert retrieval.distinct([A, A, B, A]) == [A, B]

    def test_ranking_metrics_equal_ir_measures(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ir = pytest.importorskip("ir_measures")
        rng = random.Random(7)
        places = [("d", n) for n in range(1, 40)]
        names = {place: f"{place[0]}-{place[1]}" for place in places}
        measures = {
            ir.Success @ 5: lambda r, g: retrieval.hit(r, g, 5),
            ir.R @ 10: lambda r, g: retrieval.recall(r, g, 10),
            ir.P @ 5: lambda r, g: retrieval.precision(r, g, 5),
            ir.RR @ 10: lambda r, g: retrieval.reciprocal_rank(r, g, 10),
            ir.nDCG @ 10: lambda r, g: retrieval.ndcg(r, g, 10),
        }
        for _ in range(30):
            ranking = rng.sample(places, rng.randint(1, 30))
            right = rng.sample(places, rng.randint(1, 6))
            gold = Gold({place: float(rng.randint(1, 3)) for place in right}, len(right))
            qrels = {"q": {names[p]: int(grade) for p, grade in gold.grades.items()}}
            run = {"q": {names[p]: 1.0 / rank for rank, p in enumerate(ranking, 1)}}
            theirs = ir.calc_aggregate(list(measures), qrels, run)
            for measure, ours in measures.items():
                assert ours(ranking, gold) == pytest.approx(theirs[measure]), str(measure)


class TestText:
    def test_numbers_are_compared_as_a_reader_does(self):
        assert literals("$8,738.00 in FY2022") == ["8738", "in", "fy", "2022"]
        assert literals("12.50 %") == ["12.50", "%"]
        assert literals("1 234 567") == ["1", "234", "567"]

    def test_squad_drops_articles_and_punctuation(self):
        assert squad_tokens("The U.S. Army, a unit") == ["us", "army", "unit"]

    def test_markers_are_no_words(self):
        assert without_markers("It is 5 [1]. And 6 [2, 3].") == "It is 5. And 6."


class TestAnswers:
    def test_fact_recall_takes_any_wording_of_a_fact(self):
        facts = [("45 minutes", "three quarters of an hour"), ("March 3",), ("blue",)]
        text = "It takes three quarters of an hour, on March 3 [1]."
        assert answers.fact_recall(text, facts) == pytest.approx(2 / 3)

    def test_a_fact_is_not_found_inside_another_number(self):
        assert answers.fact_recall("It costs 1450.", [("45",)]) == 0
        assert answers.fact_recall("It costs 4.5.", [("4",)]) == 0

    def test_contains_reference_ignores_case_and_digit_grouping(self):
        assert answers.contains_reference("Revenue was $8,738 million [1].", ["8738 Million"]) == 1
        assert answers.contains_reference("Revenue was $8,739 million.", ["$8,738"]) == 0

    def test_exact_match_is_squads(self):
        assert answers.exact_match("the Broncos!", ["Denver Broncos", "Broncos"]) == 1
        assert answers.exact_match("Broncos won", ["Broncos"]) == 0

    def test_token_f1_by_hand(self):
        # "cat sat mat" against "cat sat": 2 in common, 3 and 2 long.
        assert answers.token_f1("The cat sat, mat", ["a cat sat"]) == pytest.approx(0.8)

    def test_the_best_reference_counts(self):
        assert answers.token_f1("red", ["blue", "red"]) == 1

    def test_token_recall_does_not_mind_a_longer_answer(self):
        assert answers.token_recall("it was the red car of Tom", ["red car"]) == 1

    def test_rouge_l_by_hand(self):
        # Longest common subsequence of 3 over 4 and 5 words.
        value = answers.rouge_l("police killed the gunman", ["the police killed a gunman"])
        assert value == pytest.approx(2 * 3 / 9)

    def test_rouge_l_equals_rouge_score(self):
        scorer_module = pytest.importorskip("rouge_score.rouge_scorer")
        scorer = scorer_module.RougeScorer(["rougeL"], use_stemmer=False)
        rng = random.Random(3)
        vocabulary = ["a", "b", "c", "d", "e", "f", "12", "x9", "the", "don't", "re-use"]
        for _ in range(50):
            one, other = (" ".join(rng.choices(vocabulary, k=rng.randint(1, 25))) for _ in "ab")
            theirs = scorer.score(other, one)["rougeL"].fmeasure
            assert answers.rouge_l(one, [other]) == pytest.approx(theirs)

    def test_similarity_is_the_cosine_to_the_nearest_reference(self):
        vectors = {"answer": [1, 0], "far": [0, 1], "near": [0.8, 0.6]}

        def embed(texts):
            return np.array([vectors[text] for text in texts], dtype=np.float32)

        assert answers.similarity("answer [1]", ["far", "near"], embed) == pytest.approx(0.8)

    def test_an_answer_passes_only_with_both(self):
        assert answers.passed(0.9, 0.5) == 1
        assert answers.passed(0.9, 0.1) == 0
        assert answers.passed(0.6, 0.5) == 0


class TestCitations:
    def test_precision_is_over_distinct_pages(self):
        assert citations.page_precision([A, A, B], binary(A)) == 0.5

    def test_an_answer_without_citations_has_no_precision_but_recall_zero(self):
        assert citations.page_precision([], binary(A)) is None
        assert citations.page_recall([], binary(A)) == 0

    def test_recall_is_over_the_needed_pages(self):
        assert citations.page_recall([A, C], binary(A, B)) == 0.5

    def test_verified_share(self):
        assert citations.verified_share(3, 1) == 0.75
        assert citations.verified_share(0, 0) is None

    def test_marked_share_counts_sentences(self):
        assert citations.marked_share("It is 5 kg [1]. It is red. It costs 3.50 € [2]!") == 2 / 3

    def test_a_marker_behind_the_full_stop_belongs_to_its_sentence(self):
        assert citations.marked_share("It is red. [1] It is big. [2]") == 1

    def test_headings_and_lead_ins_are_no_claims(self):
        assert citations.marked_share("# Result\nThese are:\n- red [1]\n- blue [2]") == 1
        assert citations.marked_share("") is None


class TestRefusal:
    def test_precision_recall_and_f1_by_hand(self):
        # (refused, answerable): 2 right refusals, 1 wrong refusal, 3 wrong answers, 4 right.
        outcomes = [(True, False)] * 2 + [(True, True)] + [(False, False)] * 3
        outcomes += [(False, True)] * 4

        def ratio(metric):
            parts = [metric(refused, answerable) for refused, answerable in outcomes]
            return sum(top for top, _ in parts) / sum(bottom for _, bottom in parts)

        assert ratio(refusal.precision) == pytest.approx(2 / 3)
        assert ratio(refusal.recall) == pytest.approx(2 / 5)
        assert ratio(refusal.f1) == pytest.approx(2 * (2 / 3 * 2 / 5) / (2 / 3 + 2 / 5))


class TestSpans:
    evidence = (("doc", 1, 10, 20), ("doc", 2, 0, 10))

    def test_recall_is_the_share_of_the_evidence(self):
        assert spans.recall([("doc", 1, 0, 15)], self.evidence) == 0.25

    def test_a_character_found_twice_counts_once(self):
        twice = [("doc", 1, 10, 18), ("doc", 1, 12, 20)]
        assert spans.recall(twice, self.evidence) == 0.5
        assert spans.precision(twice, self.evidence) == 1

    def test_precision_and_overlap(self):
        passages = [("doc", 1, 0, 20), ("other", 2, 0, 10)]
        assert spans.precision(passages, self.evidence) == pytest.approx(10 / 30)
        assert spans.iou(passages, self.evidence) == pytest.approx(10 / 40)


class TestCostAndLanguage:
    def test_latency_per_stage(self):
        stages = [{"embed": 0.010, "total": 0.1}, {"embed": 0.030, "total": 0.3}]
        assert cost.latencies_ms(stages) == {
            "embed": {"p50": 20.0, "p95": 29.0},
            "total": {"p50": 200.0, "p95": 290.0},
        }

    def test_a_model_without_a_price_has_no_cost(self):
        receipt = Receipt("agent", searches=(Search("q", ()),), llm_calls=2, prompt_tokens=50)
        assert "cost" not in cost.per_answer(receipt)
        assert cost.per_answer(receipt)["searches"] == 1
        assert cost.per_answer(Receipt("reader")) == {"searches": 0}

    def test_language_of_question_and_answer(self):
        german = "Die Garantie gilt zwei Jahre ab dem Kauf des Gerätes im Geschäft."
        english = "The warranty holds for two years from the purchase of the device."
        assert language.same(english, german) == 0
        assert language.same("Wie lange?", german, "de") == 1
        assert language.same(english, "Two years.") is None
