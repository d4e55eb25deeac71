"""Which folder a workspace follows; its thread is a stand-in, the indexing is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import FootnoteError
from rag.settings import Settings
from rag.watch import Watcher
from rag.workspace import Workspace
from tests.fakes import WordEmbedder
from tests.watching import look, write


def indexed(watcher: Watcher) -> None:
    look(watcher, 2)
    assert watcher.job is not None and watcher.job.wait(60)
    look(watcher, 2)


def test_only_a_folder_of_the_users_can_be_followed(workspace: Workspace, tmp_path: Path):
    with pytest.raises(FootnoteError, match="There is no folder"):
        workspace.following.choose(tmp_path / "none")
    (tmp_path / "data" / "files").mkdir(exist_ok=True)
    with pytest.raises(FootnoteError, match="own data folder"):
        workspace.following.choose(tmp_path / "data" / "files")
    assert workspace.following.status is None


def test_the_workspace_follows_a_folder_and_remembers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    papers = tmp_path / "papers"
    write(papers / "a.txt", "first")
    write(papers / "inner" / "b.txt", "second")
    started: list[Watcher] = []
    monkeypatch.setattr(Watcher, "start", lambda self: started.append(self))
    settings = Settings(data=tmp_path / "data")
    workspace = Workspace.open(settings, embedder=WordEmbedder())
    assert workspace.following.status is None
    workspace.following.choose(papers)
    indexed(started[0])
    assert {d.name for d in workspace.documents()} == {"papers/a.txt", "papers/inner/b.txt"}
    assert workspace.search("first").hits[0].name == "papers/a.txt"
    (papers / "a.txt").rename(papers / "renamed.txt")
    indexed(started[0])
    assert workspace.search("first").hits[0].name == "papers/renamed.txt"
    assert workspace.job is None  # the user's own batches are shown apart
    workspace.close()

    again = Workspace.open(settings, embedder=WordEmbedder())
    assert again.following.status is None  # a single command follows nothing
    again.following.start()
    assert again.following.status is not None and again.following.status.folder == papers
    again.following.choose(None)
    again.following.start()
    assert again.following.status is None
    assert len(again.documents()) == 2
    again.close()


def test_the_setting_names_the_folder(tmp_path: Path):
    assert Settings.from_env({"FOOTNOTE_WATCH": str(tmp_path)}).watch == tmp_path
    assert Settings.from_env({"FOOTNOTE_WATCH": "off"}).watch is None
