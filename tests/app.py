"""Helpers for stories in the real app, without a browser."""

from __future__ import annotations

from pathlib import Path

from rag.workspace import Workspace

ROOT = Path(__file__).parents[1]
OPEN = Workspace.open
"""The real one: the `app` fixture puts another in its place."""


def run(app):
    app.run()
    assert not app.exception
    return app


def go(app, page):
    app.switch_page(f"pages/{page}.py")
    return run(app)


def workspace(app) -> Workspace:
    return app.session_state["workspace"]


def words(app):
    """Everything that the page says, without Markdown's escapes."""
    parts = [app.markdown, app.caption, app.title, app.subheader, app.text, app.html]
    parts += [app.error, app.warning, app.info, app.success]
    return "\n".join(str(e.value) for part in parts for e in part).replace("\\", "")
