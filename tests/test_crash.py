from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.crash import CrashTest


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_ingests_killed_at_random_moments_lose_nothing_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """`scripts/crash_test.py` does the same with more kills."""
    monkeypatch.setattr("rag.ocr_lane.ParseWorker", None)  # put back at the end
    rounds = CrashTest(tmp_path / "data", tmp_path / "batches", seed=1).run(3, within_s=1.5)
    assert sum(r.killed for r in rounds) == 3
