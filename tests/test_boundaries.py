"""The structure that the overview promises."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "rag").rglob("*.py"))


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def _users(package: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in MODULES
        if any(name.split(".")[0] == package for name in _imports(path))
    }


def test_the_engine_never_imports_streamlit():
    assert _users("streamlit") == set()


@pytest.mark.parametrize(
    ("package", "user"),
    [
        ("qdrant_client", "rag/store.py"),
        ("rank_bm25", "rag/keyword.py"),
        ("rapidocr", "rag/parse/recognise.py"),
    ],
)
def test_one_module_owns_each_library(package: str, user: str):
    assert _users(package) == {user}


def test_only_the_llm_modules_import_litellm():
    assert all(name.startswith("rag/llm") for name in _users("litellm"))


def test_values_import_nothing_of_ours():
    assert not {n for n in _imports(ROOT / "rag" / "types.py") if n.startswith("rag")}


def test_events_are_built_of_values_only():
    ours = {n for n in _imports(ROOT / "rag" / "events.py") if n.startswith("rag")}
    assert ours == {"rag.types"}


def test_stages_do_not_import_the_workspace():
    above = {"workspace.py", "__main__.py"}
    users = {
        path.name
        for path in MODULES
        if "rag.workspace" in _imports(path) and path.parent.name == "rag"
    }
    assert users <= above


def test_opening_a_workspace_imports_nothing_heavy():
    script = (
        "import sys; import rag.workspace; "
        "heavy = {'torch', 'sentence_transformers', 'litellm', 'qdrant_client', 'pymupdf', "
        "'pandas', 'transformers', 'rapidocr', 'onnxruntime', 'cv2'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
