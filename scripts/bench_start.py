"""Seconds from starting the app to its first paint in a browser, and to the models being ready.

    python scripts/bench_start.py [RUNS]

Each run starts a server on an empty data folder. The first run after an installation is cold
(Python has to compile, the disk to be read), the later ones are warm. Needs Playwright and a
Chromium (requirements-dev.txt).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for run in range(1, runs + 1):
            server_s, paint_s, ready_s = measure(browser.new_page())
            print(
                f"run {run}: server {server_s:.1f} s, first paint {paint_s:.1f} s, "
                f"models ready {ready_s:.1f} s"
            )
        browser.close()


def measure(page: Page) -> tuple[float, float, float]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as data:
        started = time.monotonic()
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "streamlit_app.py",
             "--server.headless=true", f"--server.port={port}"],
            cwd=ROOT, env={**os.environ, "FOOTNOTE_DATA": data},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            server_s = time.monotonic() - started
            page.goto(f"http://127.0.0.1:{port}/")
            page.get_by_role("button", name="Try it with the sample documents").wait_for(
                timeout=120_000
            )
            paint_s = time.monotonic() - started
            page.get_by_text("Search models: ready").wait_for(timeout=300_000)
            return server_s, paint_s, time.monotonic() - started
        finally:
            page.close()
            server.terminate()
            server.wait()


def wait_for(url: str) -> None:
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)


if __name__ == "__main__":
    main()
