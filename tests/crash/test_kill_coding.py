"""A coding window that is killed loses nothing that was in the file, and what is left is whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.model import Unit
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session

ROOT = Path(__file__).resolve().parents[2]


def coded_until_killed(session: Path, rate: float, seconds: float) -> list[str]:
    """The marks that were said to be given before the kill."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.coding_child", str(session), str(rate)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    assert json.loads(child.stdout.readline()) == ["opened"]
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic_ns()
    said = [json.loads(line) for line in child.stdout.read().splitlines()]
    child.wait()
    child.stdout.close()
    return [name for _, name, at_ns in said if at_ns < killed]


@pytest.mark.parametrize("rate", [10.0, 1000.0])
def test_a_killed_window_loses_no_mark(tmp_path: Path, rate: float) -> None:
    session = golden_session(tmp_path)
    with store.open_units(session, "anna") as units:
        units.put(Unit("u", 0, 10))
        units.freeze()
    given: list[str] = []
    for kill in range(3):
        names = coded_until_killed(session, rate, 1.0 + kill * 0.13)
        assert len(names) > min(rate, 50) * 0.5, "it was killed in the middle of work"
        given += names
        report = verify_annotations(session)
        assert report.ok, report.problems
        marks = store.annotations_of(open_record(session)).raters["anna"].marks
        assert set(given) <= {mark.id for mark in marks}, "what was given is there"
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    with store.open_marks(session, "anna", book) as file:  # the lock went with the process
        file.give("insight", t0_ns=1)
    assert verify_annotations(session).ok
