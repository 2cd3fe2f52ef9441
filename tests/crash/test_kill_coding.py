"""A coding window that is killed loses nothing that was in the file, and what is left is whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.model import Unit
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session

ROOT = Path(__file__).resolve().parents[2]


def said_until_killed(program: str, session: Path, rate: float, seconds: float) -> list[Any]:
    """What a program that codes a session at a steady rate said of each mark before the kill."""
    child = subprocess.Popen(
        [sys.executable, "-m", f"tests.crash.{program}", str(session), str(rate)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
    )
    assert child.stdout is not None
    assert json.loads(child.stdout.readline()) == ["opened"]
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic_ns()
    said = [json.loads(line) for line in child.stdout.read().splitlines()]
    child.wait()
    child.stdout.close()
    return [what for _, what, at_ns in said if at_ns < killed]


def marks_of(session: Path) -> set[str]:
    report = verify_annotations(session)
    assert report.ok, report.problems
    return {mark.id for mark in store.annotations_of(open_record(session)).raters["anna"].marks}


@pytest.mark.parametrize("rate", [10.0, 1000.0])
def test_a_killed_window_loses_no_mark(tmp_path: Path, rate: float) -> None:
    session = golden_session(tmp_path)
    with store.open_units(session, "anna") as units:
        units.put(Unit("u", 0, 10))
        units.freeze()
    given: list[str] = []
    for kill in range(3):
        names = said_until_killed("coding_child", session, rate, 1.0 + kill * 0.13)
        assert len(names) > min(rate, 50) * 0.5, "it was killed in the middle of work"
        given += names
        assert set(given) <= marks_of(session), "what was given is there"
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    with store.open_marks(session, "anna", book) as file:  # the lock went with the process
        file.give("insight", t0_ns=1)
    assert verify_annotations(session).ok


def test_a_killed_coding_window_loses_no_key(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session, 20)
    before = said_until_killed("coding_window_child", session, 10.0, 2.0)
    assert len(before) >= 5, "it was killed in the middle of work"
    # The key that was pressed when it was killed may have given or taken one more.
    assert len(set(before[-1]) ^ marks_of(session)) <= 1
