"""Command line: index, look, search, ask and evaluate, over the same folder as the app.

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 something failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.catalog import Catalog
from rag.errors import FootnoteError, NotFound, SettingsError
from rag.events import Finished, Notice
from rag.settings import Settings
from rag.types import Document, Hit

if TYPE_CHECKING:
    from rag.dropin import DropIn
    from rag.job import FileProgress
    from rag.workspace import Workspace


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        settings = Settings.from_env(os.environ)
        if options.data is not None:
            settings = replace(settings, data=options.data)
        code: int = options.run(options, settings)
        return code
    except FootnoteError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    from rag.evaluate import cli as evaluation

    parser = argparse.ArgumentParser(prog="python -m rag", description="Footnote's command line.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str, *aliases: str, as_json: bool = True) -> Any:
        sub = commands.add_parser(name, aliases=aliases, help=text, description=text)
        sub.add_argument("--data", type=Path, help="data folder (default: the app's)")
        if as_json:
            sub.add_argument("--json", action="store_true", help="machine-readable output")
        sub.set_defaults(run=run)
        return sub

    ingest = command("add", _ingest, "Index files, folders and ZIP archives.", "ingest")
    ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    command("documents", _documents, "List the library.")
    delete = command("delete", _delete, "Delete a document.", as_json=False)
    delete.add_argument("document", metavar="NAME|ID")
    text = command("text", _text, "Print a document's extracted text.")
    text.add_argument("document", metavar="NAME|ID")
    text.add_argument("--page", type=int, metavar="N", help="one page, from 1")
    search = command("search", _search, "Find passages.")
    ask = command("ask", _ask, "Answer a question with citations.")
    for sub in (search, ask):
        sub.add_argument("question")
        sub.add_argument("--document", action="append", default=[], metavar="NAME|ID")
    search.add_argument("--top-k", type=int, default=None, metavar="N")
    ask.add_argument("--engine", choices=("auto", "reader", "agent"), default="auto")
    ask.add_argument("--web", action="store_true", help="let the model search the web, too")
    evaluate = command("eval", evaluation.run, "Score retrieval or answers.", as_json=False)
    evaluation.add_arguments(evaluate)
    return parser


def _ingest(options: argparse.Namespace, settings: Settings) -> int:
    from rag.workspace import Workspace

    found = _found(options.paths, settings)
    if found.skipped:
        print(f"Left out as hidden or system files: {len(found.skipped)}.", file=sys.stderr)
    workspace = Workspace.open(settings)
    try:
        job = workspace.add_files(found.uploads)
        shown = [""] * len(found.uploads)
        while True:
            over = job.wait(0.2)
            for i, file in enumerate(job.progress.files):
                line = f"{file.name}: {file.state}"
                if file.over and line != shown[i]:
                    shown[i] = line
                    print(f"{line}. {file.message}".rstrip(". ") + ".", file=sys.stderr)
            if over:
                break
        _wait_for_repairs(workspace)
        files = [_settled(workspace, file) for file in job.progress.files]
    finally:
        workspace.close()
    for upload, file in zip(found.uploads, files, strict=True):
        record = {
            "path": str(upload.source) if isinstance(upload.source, Path) else upload.name,
            "name": file.name,
            "state": file.state,
            "pages": file.pages_done,
            "chunks": file.chunks_done,
            "warnings": [asdict(w) for w in file.warnings],
            "error": {"code": file.error_code, "message": file.message}
            if file.state == "failed"
            else None,
        }
        if options.json:
            print(json.dumps(record, ensure_ascii=False))
        else:
            print(f"{file.state}\t{file.pages_done}\t{file.chunks_done}\t{file.name}")
            for warning in file.warnings:
                print(f"  {file.name}: {warning.message}", file=sys.stderr)
    return 1 if any(f.state == "failed" for f in files) else 0


def _wait_for_repairs(workspace: Workspace) -> None:
    """Ctrl-C leaves the rest to the next start of the app; what was indexed stays."""
    done: dict[str, int] = {}
    over = False
    while not over:
        over = workspace.wait_for_repairs(0.2)
        for repair in workspace.repairs:
            if repair.pages_done > done.get(repair.document_id, 0):
                done[repair.document_id] = repair.pages_done
                print(
                    f"{repair.name}: text recognition, {repair.pages_done} of "
                    f"{repair.pages_total} pages.",
                    file=sys.stderr,
                )


def _settled(workspace: Workspace, file: FileProgress) -> FileProgress:
    """As it is after text recognition."""
    if file.state not in ("indexed", "replaced"):
        return file
    document = workspace.catalog.document(file.document_id)
    return replace(file, warnings=document.warnings, chunks_done=document.chunk_count)


def _found(paths: Sequence[Path], settings: Settings) -> DropIn:
    """Files of a folder are named by their path inside it, those of a ZIP archive by its name."""
    from rag.dropin import DropIn, drop_in, folder
    from rag.ingest import Upload

    taken = [
        folder(path, leave_out=settings.data)
        if path.is_dir()
        else drop_in([Upload(path.name, path)])
        for path in paths
    ]
    return DropIn(
        tuple(upload for found in taken for upload in found.uploads),
        tuple(name for found in taken for name in found.skipped),
    )


def _documents(options: argparse.Namespace, settings: Settings) -> int:
    documents = _catalog(settings).documents() if _exists(settings) else []
    if options.json:
        print(json.dumps([asdict(d) for d in documents], ensure_ascii=False))
    for d in () if options.json else documents:
        print(f"{d.id[:12]}\t{d.state}\t{d.page_count}\t{d.chunk_count}\t{d.name}")
    return 0


def _delete(options: argparse.Namespace, settings: Settings) -> int:
    from rag.workspace import Workspace

    workspace = Workspace.open(settings)
    try:
        document = workspace.catalog.find(options.document)
        workspace.delete(document.id)
    finally:
        workspace.close()
    print(f"Deleted {document.name!r}.", file=sys.stderr)
    return 0


def _text(options: argparse.Namespace, settings: Settings) -> int:
    catalog = _catalog(settings)
    document = catalog.find(options.document)
    pages = (
        [catalog.page(document.id, options.page)]
        if options.page is not None
        else catalog.pages(document.id)
    )
    if options.json:
        record = {
            "name": document.name,
            "state": document.state,
            "warnings": [asdict(w) for w in document.warnings],
            "pages": [
                {"number": p.number, "label": p.label, "kind": p.kind, "text": p.text}
                for p in pages
            ],
        }
        print(json.dumps(record, ensure_ascii=False))
        return 0
    for page in pages:
        label = f" ({page.label})" if page.label not in ("", str(page.number)) else ""
        print(f"--- {document.unit} {page.number}{label}\n{page.text}\n")
    return 0


def _search(options: argparse.Namespace, settings: Settings) -> int:
    from rag.workspace import Workspace

    workspace = Workspace.open(settings)
    try:
        found = workspace.search(options.question, _scope(workspace, options), options.top_k)
    finally:
        workspace.close()
    if options.json:
        print(json.dumps(asdict(found), ensure_ascii=False))
        return 0
    for rank, hit in enumerate(found.hits, start=1):
        print(f"{rank}. {_place(hit)}  {' '.join(hit.chunk.text.split())[:200]}")
    return 0


def _ask(options: argparse.Namespace, settings: Settings) -> int:
    from rag.workspace import Workspace

    workspace = Workspace.open(settings)
    try:
        scope = _scope(workspace, options)
        if options.web and "reader" in (options.engine, workspace.engine):
            raise SettingsError("--web needs a language model. Set LLM_MODEL, or leave it out.")
        for event in workspace.ask(options.question, scope, (), options.engine, options.web):
            if isinstance(event, Notice):
                print(event.message, file=sys.stderr)
            if isinstance(event, Finished):
                answer = event.answer
    finally:
        workspace.close()
    if options.json:
        print(json.dumps(asdict(answer), ensure_ascii=False))
        return 0
    print(answer.text)
    for n, c in enumerate(answer.citations, start=1):
        print(f'[{n}] {c.name}, {c.unit} {c.page}: "{" ".join(c.quote.split())}"')
    for n, w in enumerate(answer.web, start=1):
        print(f'[W{n}] {w.title}, {w.url}: "{" ".join(w.quote.split())}"')
    for hit in answer.nearest:
        print(f"Nearest: {_place(hit)}  {' '.join(hit.chunk.text.split())[:160]}")
    return 0


def _scope(workspace: object, options: argparse.Namespace) -> list[str]:
    from rag.workspace import Workspace

    assert isinstance(workspace, Workspace)
    documents: list[Document] = [workspace.catalog.find(name) for name in options.document]
    return [d.id for d in documents]


def _place(hit: Hit) -> str:
    label = f" ({hit.label})" if hit.label not in ("", str(hit.chunk.page)) else ""
    return f"{hit.name}, {hit.unit} {hit.chunk.page}{label}"


def _exists(settings: Settings) -> bool:
    return (settings.data / "catalog.db").exists()


def _catalog(settings: Settings) -> Catalog:
    """Read-only commands need no lock, so they work beside the running app."""
    if not _exists(settings):
        raise NotFound(f"There is no library in {str(settings.data)!r} yet.")
    return Catalog(settings.data / "catalog.db")


if __name__ == "__main__":
    sys.exit(main())
