"""Pages/s and chunks/s of indexing a folder, as a share of the bare embedder; then search times.

    PYTHONPATH=. python scripts/bench_ingest.py FOLDER

Indexes into a temporary data folder, through the same Workspace as the app. The embedder's own
speed is measured on the chunks that were made, in batches sorted by length.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rag.ingest import Upload
from rag.retrieve import searched_text
from rag.settings import Settings
from rag.workspace import Workspace


def main() -> None:
    files = sorted(p for p in Path(sys.argv[1]).rglob("*") if p.is_file())
    with tempfile.TemporaryDirectory() as data:
        workspace = Workspace.open(Settings(data=Path(data)))
        embedder = workspace.engines().embedder
        started = time.perf_counter()
        job = workspace.add_files([Upload(p.name, p) for p in files])
        job.wait()
        seconds = time.perf_counter() - started
        pages = sum(f.pages_done for f in job.progress.files)
        chunks = [
            (d.name, c) for d in workspace.documents() for c in workspace.catalog.chunks(d.id)
        ]

        texts = sorted((searched_text(n, c.heading, c.text) for n, c in chunks), key=len)
        sample = texts[:: max(1, len(texts) // 512)]
        started = time.perf_counter()
        embedder.embed(sample)
        bare = len(sample) / (time.perf_counter() - started)
        reached = len(chunks) / seconds
        print(
            f"{len(files)} files, {pages} pages, {len(chunks)} chunks in {seconds:.0f} s: "
            f"{pages / seconds:.1f} pages/s, {reached:.1f} chunks/s, "
            f"{reached / bare:.2f} of the bare embedder ({bare:.1f} chunks/s)"
        )

        workspace.search("warm up")
        step = max(1, len(chunks) // 100)
        queries = [" ".join(c.text.split()[:12]) for _, c in chunks[::step]]
        times = sorted(sum(workspace.search(q).seconds.values()) for q in queries)
        print(
            f"search over {len(chunks)} chunks: p50 {1000 * median(times):.0f} ms, "
            f"p95 {1000 * times[int(0.95 * len(times))]:.0f} ms ({len(times)} queries)"
        )
        workspace.close()


if __name__ == "__main__":
    main()
