from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import Cancelled, FileError
from rag.parse.worker import ParseWorker
from tests.conftest import MakePdf


def never() -> bool:
    return False


def test_pages_come_from_the_child_as_they_would_from_here(make_pdf: MakePdf):
    path = make_pdf("a.pdf", [["one"], ["two"]])
    with ParseWorker() as worker:
        parsed = worker.open(path, "a.pdf", "doc", never)
        assert (parsed.unit, parsed.page_count) == ("page", 2)
        assert [p.page.text for p in parsed.pages] == ["one", "two"]


def test_a_file_error_crosses_the_border_and_the_child_goes_on(make_pdf: MakePdf, tmp_path: Path):
    broken = tmp_path / "b.pdf"
    broken.write_bytes(b"%PDF-1.4")
    with ParseWorker() as worker:
        with pytest.raises(FileError) as raised:
            worker.open(broken, "b.pdf", "doc", never)
        assert raised.value.code == "corrupt"
        good = worker.open(make_pdf("a.pdf", [["fine"]]), "a.pdf", "doc", never)
        assert [p.page.text for p in good.pages] == ["fine"]


def test_a_child_that_dies_is_one_error_and_is_started_again(make_pdf: MakePdf):
    path = make_pdf("a.pdf", [["fine"]])
    with ParseWorker() as worker:
        list(worker.open(path, "a.pdf", "doc", never).pages)
        assert worker._child is not None
        worker._child.kill()
        worker._child.wait()
        assert [p.page.text for p in worker.open(path, "a.pdf", "doc", never).pages] == ["fine"]


def test_silence_is_given_up(make_pdf: MakePdf):
    with ParseWorker(timeout_s=0.0) as worker, pytest.raises(FileError) as raised:
        worker.open(make_pdf("a.pdf", [["x"]]), "a.pdf", "doc", never)
    assert raised.value.code == "timeout"


def test_cancelling_stops_the_child(make_pdf: MakePdf):
    with ParseWorker() as worker, pytest.raises(Cancelled, match=r"a\.pdf"):
        worker.open(make_pdf("a.pdf", [["x"]]), "a.pdf", "doc", lambda: True)
