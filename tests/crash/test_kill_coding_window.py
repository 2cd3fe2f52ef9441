"""A coding window that is killed while keys are pressed loses none that was drawn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from labapp.coding.annotations import store
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session

ROOT = Path(__file__).resolve().parents[2]
RATE, SECONDS = 10.0, 2.0


def test_a_killed_coding_window_loses_no_key(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session, 20)
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.coding_window_child", str(session), str(RATE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
    )
    assert child.stdout is not None
    assert json.loads(child.stdout.readline()) == ["opened"]
    time.sleep(SECONDS)
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic_ns()
    said = [json.loads(line) for line in child.stdout.read().splitlines()]
    child.wait()
    child.stdout.close()
    before = [names for _, names, at_ns in said if at_ns < killed]
    assert len(before) >= 5, "it was killed in the middle of work"
    report = verify_annotations(session)
    assert report.ok, report.problems
    marks = store.annotations_of(open_record(session)).raters["anna"].marks
    # The key that was pressed when it was killed may have given or taken one more.
    assert len(set(before[-1]) ^ {mark.id for mark in marks}) <= 1
