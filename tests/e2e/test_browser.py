"""What only a real browser can show: deep links, uploads, markers that open the marked page."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stub_llm import Reply, StubLLM

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

ROOT = Path(__file__).parents[2]
STARTED = "You can now view your Streamlit app"
PATIENCE_MS = 300_000
"""The first answer waits for torch and the embedding model."""


@pytest.fixture
def url(tmp_path) -> Iterator[str]:
    """The real app with its own data folder, on a free port; nothing has asked it anything yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "FOOTNOTE_"))}
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "streamlit", "run", "streamlit_app.py"),
            *("--server.headless=true", f"--server.port={port}"),
        ],
        cwd=ROOT,
        env=environment | {"FOOTNOTE_DATA": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        if STARTED in line:
            break
    else:
        pytest.fail(f"The server did not start:\n{said}")
    yield f"http://localhost:{port}"
    server.terminate()
    server.wait(30)
    server.stdout.close()


@pytest.fixture
def page(url) -> Iterator[object]:
    """A browser window; every host that it talks to is checked at the end."""
    with playwright.sync_playwright() as driver:
        own = Path(driver.chromium.executable_path).exists()
        system = shutil.which("chromium") or shutil.which("google-chrome")
        if not own and not system:
            pytest.skip("no Chromium: run `playwright install chromium`")
        browser = driver.chromium.launch(
            executable_path=None if own else system, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        hosts: set[str | None] = set()
        page.on("request", lambda r: hosts.add(urllib.parse.urlsplit(r.url).hostname))
        yield page
        browser.close()
    assert hosts <= {"localhost", None}  # None: data and blob addresses


def yellow(picture: bytes) -> int:
    """Pixels of the highlight's colour."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    counts = image.getcolors(image.width * image.height) or []
    return sum(n for n, (r, g, b) in counts if r > 220 and g > 190 and b < 170)


def test_a_dropped_file_answers_a_question_and_a_click_shows_the_marked_page(page, url, make_pdf):
    pdf = make_pdf(
        "solar_report.pdf",
        [
            ["Annual report of the cooperative", "Members met twice."],
            ["Solar output fell by four percent in 2021.", "Rents <script>alert(1)</script> rose."],
        ],
    )

    # The very first request of this server is a deep link.
    page.goto(f"{url}/library")
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    expect(page.get_by_role("button", name="Try it with the sample documents")).to_be_visible()

    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(pdf)
    expect(page.get_by_text("1 file: 1 added")).to_be_visible(timeout=PATIENCE_MS)

    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Chat").click()
    question = page.get_by_test_id("stChatInputTextArea")
    question.fill("By how much did solar output fall?")
    question.press("Enter")
    marker = page.get_by_role("button", name="Open source 1").first
    expect(marker).to_be_visible(timeout=PATIENCE_MS)
    assert "chat=" in page.url

    marker.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("p. 2", exact=True)).to_be_visible()
    image = drawer.get_by_role("img", name="file page 2, with the quote marked")
    expect(image).to_be_visible()
    expect(image).to_have_js_property("complete", True)
    assert yellow(image.screenshot()) > 500

    drawer.get_by_role("button", name="Previous page").click()
    expect(drawer.get_by_role("img", name="file page 1")).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).not_to_be_visible()

    # The session is the same as before, and a reload finds the chat through its address.
    expect(page.get_by_text("By how much did solar output fall?").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Open source 1").first).to_be_visible()
    assert yellow(page.screenshot()) < 500

    # A model that is still silent is stopped by the button: its provider is hung up on.
    with StubLLM(default=Reply(hang=True)) as stub:
        page.goto(f"{url}/settings")
        page.get_by_role("textbox", name="Model", exact=True).fill("openai/stub")
        page.get_by_role("textbox", name="Server address").fill(stub.url)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        page.goto(f"{url}/chat")  # an address of its own, though the chat is at /
        question.fill("By how much did rents rise?")
        question.press("Enter")
        expect(page.get_by_text("The model is thinking")).to_be_visible(timeout=PATIENCE_MS)
        page.get_by_test_id("stChatInputStopButton").click()
        assert stub.disconnected.wait(timeout=10)
        expect(page.get_by_text("Stopped before the answer was complete.")).to_be_visible()
