"""Stories on the settings page; only the embedding model is a stand-in."""

from __future__ import annotations

from rag.llm_probe import Check
from rag.llm_providers import PROVIDERS
from tests.app import go, run, words, workspace
from tests.stub_llm import StubLLM


def test_a_model_is_remembered_and_its_key_is_not_written_to_disk(app, tmp_path):
    go(run(app), "settings")
    app.text_input(key="model_name").set_value("openai/stub")
    app.text_input(key="model_key").set_value("sk-secret-123")
    app.button(key="save_model").click()
    run(app)
    assert workspace(app).engine == "openai/stub"
    assert workspace(app).settings.llm_api_key == "sk-secret-123"
    files = [f for f in (tmp_path / "data").rglob("*") if f.is_file()]
    assert not [f for f in files if b"sk-secret-123" in f.read_bytes()]


def test_a_connection_test_says_what_works_one_line_each(app, monkeypatch):
    checks = [Check("Chat", True, "It answers."), Check("Tools", False, "No *tools*.")]
    monkeypatch.setattr("pages.ui.connection.probe", lambda llm: iter(checks))
    go(run(app), "settings")
    app.text_input(key="model_name").set_value("openai/stub")
    app.text_input(key="model_fallbacks").set_value("openai/other")
    app.button(key="test_model").click()
    run(app)
    lines = words(app)
    assert ":green[:material/check_circle:] **Chat**: It answers." in lines
    assert ":red[:material/cancel:] **Tools**: No *tools*." in lines
    assert lines.count("**Chat**") == 2  # of the fallback, too
    assert "If it fails, **openai/other**, then the reader takes over." in lines


def test_a_setting_of_the_model_that_does_not_fit_is_named_and_nothing_is_saved(app):
    go(run(app), "settings")
    app.text_input(key="model_name").set_value("openai/stub")
    app.text_input(key="model_temperature").set_value("hot")
    app.button(key="save_model").click()
    run(app)
    assert "LLM_TEMPERATURE='hot'" in app.error[0].value.replace("\\", "")
    assert workspace(app).engine == "reader"


def test_choosing_a_provider_and_a_model_fills_in_the_form(app):
    go(run(app), "settings")
    assert "Nothing answers at http://127.0.0.1:9. Is Ollama running?" in words(app)
    gemini = next(p for p in PROVIDERS if p.name == "Google Gemini")
    app.selectbox(key="provider").select(gemini)
    run(app)
    assert app.text_input(key="model_name").value == "gemini/"
    assert "GEMINI_API_KEY" in words(app)
    app.selectbox(key="model_offer").select("gemini/gemini-2.5-flash")
    run(app)
    assert app.text_input(key="model_name").value == "gemini/gemini-2.5-flash"


def test_a_running_ollama_is_offered(app, monkeypatch):
    with StubLLM(models=("qwen3:8b",)) as stub:
        monkeypatch.setenv("OLLAMA_API_BASE", stub.url.removesuffix("/v1"))
        go(run(app), "settings")
    assert "Ollama is running on this computer" in words(app)
    assert app.selectbox(key="model_offer").options == ["ollama_chat/qwen3:8b"]


def test_settings_show_where_everything_is_kept(app, tmp_path):
    go(run(app), "settings")
    shown = "\n".join(table.value.to_string() for table in app.table)
    assert str(tmp_path / "data") in shown
    assert "all-MiniLM-L6-v2" in shown.replace("\\", "")
