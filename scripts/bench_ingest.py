"""Pages/s and chunks/s of indexing, as a share of the bare embedder; peak memory; search times.

    PYTHONPATH=. python scripts/bench_ingest.py FOLDER
    PYTHONPATH=. python scripts/bench_ingest.py --pages 2500 --stand-in

Indexes into a temporary data folder, through the same Workspace as the app: the fast lane first,
then text recognition (FOOTNOTE_OCR). The embedder's own speed is measured on the chunks that were
made, in batches sorted by length. `--pages` makes a PDF of so many pages of text instead of reading
a folder; `--stand-in` leaves the embedding model out, to look at the rest.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

from rag.embed import Embedder
from rag.ingest import Upload
from rag.retrieve import searched_text
from rag.settings import Settings
from rag.workspace import Workspace
from tests.fakes import WordEmbedder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if options.pages:
            files = [made(Path(work) / "made.pdf", options.pages)]
        else:
            files = sorted(p for p in options.folder.rglob("*") if p.is_file())
        settings = replace(Settings.from_env(os.environ), data=Path(work) / "data")
        workspace = Workspace.open(settings, WordEmbedder() if options.stand_in else None)
        measure(workspace, files)
        workspace.close()


def measure(workspace: Workspace, files: list[Path]) -> None:
    embedder = workspace.engines().embedder
    started = time.perf_counter()
    job = workspace.add_files([Upload(p.name, p) for p in files])
    job.wait()
    seconds = time.perf_counter() - started
    pages = sum(f.pages_done for f in job.progress.files)
    chunks = [(d.name, c) for d in workspace.documents() for c in workspace.catalog.chunks(d.id)]
    cut = [w for f in job.progress.files for w in f.warnings if w.code == "passages_cut"]
    bare = speed_of(embedder, [searched_text(n, c.heading, c.text) for n, c in chunks])
    reached = len(chunks) / seconds
    print(
        f"{len(files)} files, {pages} pages, {len(chunks)} chunks in {seconds:.0f} s: "
        f"{pages / seconds:.1f} pages/s, {reached:.1f} chunks/s, "
        f"{reached / bare if bare else 0:.2f} of the bare embedder ({bare:.1f} chunks/s); "
        f"{len(cut)} files with passages that the embedder cuts off"
    )
    print(f"peak memory: app {own_peak():.0f} MB, the child that reads {largest_child():.0f} MB")
    recognise(workspace)
    if chunks:
        search(workspace, [c.text for _, c in chunks])


def speed_of(embedder: Embedder, texts: list[str]) -> float:
    """Chunks/s, on a sample of every length; 0 without any."""
    if not texts:
        return 0.0
    sample = sorted(texts, key=len)[:: max(1, len(texts) // 512)]
    started = time.perf_counter()
    embedder.embed(sample)
    return len(sample) / (time.perf_counter() - started)


def recognise(workspace: Workspace) -> None:
    started = time.perf_counter()
    peak = 0.0
    while not workspace.wait_for_repairs(0.5):
        peak = max(peak, largest_child())
    seconds = time.perf_counter() - started
    if done := sum(r.pages_done for r in workspace.repairs):
        read = sum(r.pages_read for r in workspace.repairs)
        print(
            f"text recognition: {done} pages, {read} with words, in {seconds:.0f} s: "
            f"{done / seconds:.2f} pages/s; peak memory of its child {peak:.0f} MB"
        )


def search(workspace: Workspace, texts: list[str]) -> None:
    workspace.search("warm up")
    queries = [" ".join(text.split()[:12]) for text in texts[:: max(1, len(texts) // 30)]]
    times = sorted(sum(workspace.search(q).seconds.values()) for q in queries)
    print(
        f"search over {len(texts)} chunks: p50 {1000 * median(times):.0f} ms, "
        f"p95 {1000 * times[int(0.95 * len(times))]:.0f} ms ({len(times)} queries)"
    )


def largest_child() -> float:
    """The most memory that a living child process has had, in MB; 0 where there is no /proc.

    What the system tells of ended children counts this process's own memory when it forked.
    """
    peaks = [0.0]
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            told = dict(line.split(":", 1) for line in status.read_text().splitlines())
            if int(told["PPid"]) == os.getpid() and "VmHWM" in told:
                peaks.append(int(told["VmHWM"].split()[0]) / 1024)
    return max(peaks)


def own_peak() -> float:
    """MB; 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def made(path: Path, pages: int) -> Path:
    import pymupdf

    document = pymupdf.open()
    for number in range(1, pages + 1):
        page = document.new_page()
        lines = [
            f"Line {n} of page {number} says what part {number * 40 + n} is good for."
            for n in range(40)
        ]
        page.insert_text((72, 60), ["Handbook of the made machine", "", *lines], fontsize=11)
    document.save(path)
    return path


if __name__ == "__main__":
    main()
