from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rag.ingest import Upload
from rag.job import Job
from rag.settings import Settings
from rag.workspace import Workspace
from tests.conftest import MakePdf
from tests.fakes import WordEmbedder

ROOT = Path(__file__).parents[1]
NOTE = b"The spare key is under the third pot by the door.\n"


def run(workspace: Workspace, *uploads: Upload) -> Job:
    job = workspace.add_files(uploads)
    assert job.wait(60)
    return job


def states(job: Job) -> list[str]:
    return [f.state for f in job.progress.files]


def test_a_pdf_is_indexed_page_by_page(workspace: Workspace, make_pdf: MakePdf):
    path = make_pdf("manual.pdf", [["Page one text."], ["Page two text."]])
    file = run(workspace, Upload("manual.pdf", path)).progress.files[0]
    assert (file.state, file.pages_done, file.pages_total) == ("indexed", 2, 2)
    assert file.chunks_done == file.chunks_total == 2
    document = workspace.catalog.find("manual.pdf")
    assert (document.state, document.unit, document.page_count) == ("ready", "page", 2)
    assert workspace.original(document.id).read_bytes() == path.read_bytes()


def test_the_same_bytes_add_nothing(workspace: Workspace):
    job = run(workspace, Upload("a.txt", NOTE), Upload("b.txt", NOTE))
    assert states(job) == ["indexed", "duplicate"]
    again = run(workspace, Upload("c.txt", NOTE)).progress.files[0]
    assert again.state == "duplicate"
    assert "'a.txt'" in again.message
    assert len(workspace.documents()) == 1


def test_new_bytes_under_a_known_name_replace_the_earlier_version(workspace: Workspace):
    run(workspace, Upload("a.txt", NOTE))
    job = run(workspace, Upload("a.txt", NOTE.replace(b"third", b"fourth")))
    assert states(job) == ["replaced"]
    assert [d.name for d in workspace.documents()] == ["a.txt"]
    texts = [h.chunk.text for h in workspace.search("spare key pot").hits]
    assert len(texts) == 1
    assert "fourth" in texts[0]
    assert len(list((workspace.settings.data / "files").iterdir())) == 1


def test_a_broken_file_is_one_line_and_the_rest_goes_on(workspace: Workspace, make_pdf: MakePdf):
    good = make_pdf("good.pdf", [["Readable."]])
    job = run(
        workspace,
        Upload("broken.pdf", b"%PDF-1.7\nnothing else"),
        Upload("empty.txt", b""),
        Upload("good.pdf", good),
    )
    assert states(job) == ["failed", "failed", "indexed"]
    broken, empty, _ = job.progress.files
    assert (broken.error_code, empty.error_code) == ("corrupt", "empty_file")
    assert "'broken.pdf'" in broken.message
    assert workspace.catalog.find("broken.pdf").state == "failed"


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path):
    workspace = Workspace.open(
        Settings(data=tmp_path / "small", max_file_mb=1), embedder=WordEmbedder()
    )
    file = run(workspace, Upload("big.txt", b"x" * (2**20 + 1))).progress.files[0]
    workspace.close()
    assert (file.state, file.error_code) == ("failed", "too_large")


def test_a_scan_is_kept_with_a_warning_and_no_chunks(workspace: Workspace, make_pdf: MakePdf):
    file = run(workspace, Upload("scan.pdf", make_pdf("scan.pdf", [[], []]))).progress.files[0]
    assert (file.state, file.chunks_total) == ("indexed", 0)
    assert [w.code for w in file.warnings] == ["no_text_layer"]


def test_pages_without_text_are_named(workspace: Workspace, make_pdf: MakePdf):
    path = make_pdf("mixed.pdf", [["Words."], [], ["More words."]])
    (warning,) = run(workspace, Upload("mixed.pdf", path)).progress.files[0].warnings
    assert (warning.code, warning.page) == ("pages_without_text", 2)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../../../tmp/evil.txt", "tmp/evil.txt"),
        ("..\\..\\evil.txt", "evil.txt"),
        ("re\u0301sume\u0301.txt", "résumé.txt"),
        ("a" * 300 + ".txt", "a" * 196 + ".txt"),
        ("bell\x07.txt", "bell.txt"),
    ],
)
def test_a_name_is_shown_and_never_becomes_a_path(workspace: Workspace, given: str, shown: str):
    run(workspace, Upload(given, NOTE))
    (document,) = workspace.documents()
    assert document.name == shown
    assert [p.name for p in (workspace.settings.data / "files").iterdir()] == [document.id]


def test_a_cancelled_batch_keeps_nothing_of_the_file_in_hand(workspace: Workspace):
    job = workspace.add_files([Upload(f"{i}.txt", NOTE + b"%d" % i) for i in range(20)])
    job.cancel()
    assert job.wait(60)
    assert set(states(job)) <= {"indexed", "cancelled"}
    assert "cancelled" in states(job)
    assert all(d.state == "ready" for d in workspace.documents())
    assert len(workspace.documents()) == states(job).count("indexed")


def test_unchanged_chunks_are_embedded_once(tmp_path: Path):
    embedder = WordEmbedder()
    workspace = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    run(workspace, Upload("a.txt", NOTE))
    run(workspace, Upload("a.txt", NOTE))
    workspace.close()
    assert len(embedder.embedded) == 1


def test_another_embedder_embeds_again_from_stored_text(tmp_path: Path):
    first = Workspace.open(Settings(data=tmp_path / "d"), embedder=WordEmbedder())
    run(first, Upload("a.txt", NOTE))
    first.close()
    (tmp_path / "d" / "files").rename(tmp_path / "gone")  # the originals are not needed

    other = WordEmbedder()
    other.fingerprint = "other-256"
    second = Workspace.open(Settings(data=tmp_path / "d"), embedder=other)
    second.engines()
    assert second.job is not None and second.job.wait(60)
    assert second.search("spare key").hits[0].dense_rank == 1
    second.close()


@pytest.fixture
def locked(make_pdf: MakePdf) -> Path:
    import pymupdf

    return make_pdf(
        "locked.pdf",
        [["The vault opens at nine."]],
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="open sesame",
        owner_pw="owner",
    )


def test_an_encrypted_file_is_read_with_its_password_and_kept_without(
    workspace: Workspace, locked: Path
):
    file = run(workspace, Upload("locked.pdf", locked, "open sesame")).progress.files[0]
    assert file.state == "indexed"
    assert workspace.search("vault").hits[0].chunk.text == "The vault opens at nine."
    image = workspace.page_image(file.document_id, 1)
    assert image is not None and image.startswith(b"\x89PNG")
    kept = [p.read_bytes() for p in workspace.settings.data.rglob("*") if p.is_file()]
    assert not any(b"open sesame" in content for content in kept)
    again = run(workspace, Upload("locked.pdf", locked)).progress.files[0]
    assert again.state == "duplicate"


def test_an_encrypted_file_waits_for_its_password(workspace: Workspace, locked: Path):
    file = run(workspace, Upload("locked.pdf", locked)).progress.files[0]
    assert (file.state, file.error_code) == ("failed", "password_required")
    assert workspace.catalog.document(file.document_id).error_code == "password_required"
    job = workspace.unlock(file.document_id, "wrong")
    assert job.wait(60) and job.progress.files[0].error_code == "wrong_password"
    job = workspace.unlock(file.document_id, "open sesame")
    assert job.wait(60) and states(job) == ["indexed"]
    assert workspace.catalog.document(file.document_id).error_code == ""


def test_a_password_for_a_file_without_one_is_no_error(workspace: Workspace):
    assert states(run(workspace, Upload("a.txt", NOTE, "needless"))) == ["indexed"]


def test_the_report_says_how_each_page_was_read(workspace: Workspace, make_pdf: MakePdf):
    import pymupdf

    path = make_pdf("mixed.pdf", [["Words."], [], ["More words."]])
    with pymupdf.open(path) as file:
        file[1].draw_rect((100, 100, 300, 300))
        file.save(path.with_name("drawn.pdf"))
    file = run(workspace, Upload("drawn.pdf", path.with_name("drawn.pdf"))).progress.files[0]
    report = workspace.report(file.document_id)
    assert (report.kinds, report.tables) == ({"text": (1, 3), "empty": (2,)}, ())
    assert report.repairs == {"due": (2,)}


CRASH = textwrap.dedent(
    """
    import os, sys
    from pathlib import Path
    from rag.ingest import Upload
    from rag.settings import Settings
    from rag.workspace import Workspace
    from tests.fakes import WordEmbedder

    class Dies(WordEmbedder):
        def embed(self, texts):
            if any("second file" in t for t in texts):
                os.kill(os.getpid(), {signal})
            return super().embed(texts)

    workspace = Workspace.open(Settings(data=Path({data!r})), embedder=Dies())
    files = [("one.txt", b"the first file"), ("two.txt", b"the second file"),
             ("three.txt", b"the third file")]
    workspace.add_files([Upload(n, b) for n, b in files[:1]]).wait(60)
    workspace.add_files([Upload(n, b) for n, b in files[1:]]).wait(60)
    """
)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_loses_no_file_and_the_next_start_resumes(tmp_path: Path):
    data = tmp_path / "data"
    script = CRASH.format(signal=int(signal.SIGKILL), data=str(data))
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={**os.environ})
    assert done.returncode == -signal.SIGKILL

    workspace = Workspace.open(Settings(data=data), embedder=WordEmbedder())
    assert {d.name: d.state for d in workspace.documents()}["one.txt"] == "ready"
    assert workspace.job is not None and workspace.job.wait(60)
    assert sorted(states(workspace.job)) == ["indexed", "indexed"]
    assert {h.name for h in workspace.search("file").hits} == {"one.txt", "two.txt", "three.txt"}
    assert workspace.engines().store.count() == 3
    workspace.close()


def test_passages_of_a_changed_file_that_have_not_changed_are_not_embedded_again(
    tmp_path: Path, make_pdf: MakePdf
):
    embedder = WordEmbedder()
    workspace = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    pages = [[f"Page {n} is about pumps."] for n in range(6)]
    run(workspace, Upload("a.pdf", make_pdf("one.pdf", pages)))
    pages[3] = ["Page 3 is about valves."]
    job = run(workspace, Upload("a.pdf", make_pdf("two.pdf", pages)))
    found = workspace.search("valves").hits[0].chunk
    vectors = workspace.engines().store.count()
    workspace.close()
    assert states(job) == ["replaced"]
    assert len(embedder.embedded) == 7
    assert (found.page, vectors) == (4, 6)


def test_a_text_that_several_passages_share_is_embedded_once(tmp_path: Path, make_pdf: MakePdf):
    embedder = WordEmbedder()
    workspace = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    pdf = make_pdf("a.pdf", [["This page is intentionally left blank."]] * 3)
    job = run(workspace, Upload("a.pdf", pdf))
    vectors = workspace.engines().store.count()
    workspace.close()
    assert job.progress.files[0].chunks_done == vectors == 3
    assert len(embedder.embedded) == 1


def test_passages_that_the_embedder_cuts_off_are_counted(tmp_path: Path):
    embedder = WordEmbedder()
    embedder.count_tokens = lambda texts: [0 if t.startswith("the") else 999 for t in texts]
    workspace = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    file = run(workspace, Upload("a.txt", b"the one passage")).progress.files[0]
    workspace.close()
    assert [w.code for w in file.warnings] == ["passages_cut"]
    assert "1 of its passages" in file.warnings[0].message


def test_the_version_that_is_replaced_stays_when_the_new_one_cannot_be_embedded(tmp_path: Path):
    embedder = WordEmbedder()
    workspace = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    run(workspace, Upload("a.txt", NOTE))
    embedder.embed = lambda texts: 1 / 0
    job = run(workspace, Upload("a.txt", b"something else"), Upload("b.txt", b"and more"))
    del embedder.embed
    found = workspace.search("spare key").hits
    workspace.close()
    assert states(job) == ["failed", "failed"]
    assert "tried again at the next start" in job.progress.files[0].message
    assert [h.chunk.text for h in found] == [NOTE.decode().strip()]
    again = Workspace.open(Settings(data=tmp_path / "d"), embedder=embedder)
    assert again.job is not None and again.job.wait(60)
    assert {d.name: d.state for d in again.documents()} == {"a.txt": "ready", "b.txt": "ready"}
    again.close()


def test_a_batch_waits_for_the_one_before_it(workspace: Workspace):
    first = workspace.add_files([Upload("a.txt", NOTE)])
    second = workspace.add_files([Upload("b.txt", NOTE)])
    assert first.wait(60) and second.wait(60)
    assert states(first) + states(second) == ["indexed", "duplicate"]
