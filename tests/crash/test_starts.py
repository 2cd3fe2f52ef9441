"""A start that is killed at any step blocks nobody: the same participant can be started again, or
the session goes on, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.base.errors import ParticipantTaken
from labapp.record.journal.layout import MAKING
from labapp.record.journal.sessions import list_sessions
from labapp.session import opening
from labapp.session.bids.verify import verify
from labapp.session.folder import list_taken_labels
from labapp.session.opening import OpenSession
from labapp.session.resuming import recover
from tests.crash.kills import ROOT
from tests.helpers.questionnaires import written_study
from tests.session.sessions import opened, settle, surroundings

STEPS = {"open", "os.mkdir", "os.rename", "sqlite3.connect", "fcntl.flock"}


def again(folder: Path, study: Path) -> OpenSession:
    """The same participant's session: started, or gone on with where there is one."""
    listed = {line.path for line in list_sessions(folder / "data")}
    try:
        session = opened(folder, study=study)
    except ParticipantTaken as error:
        told = error
    else:
        assert session.folder.path not in listed, "never over another"
        return session
    assert "labapp sessions resume" in told.todo
    (left,) = list_sessions(folder / "data")
    assert left.state == "interrupted"
    assert left.events >= 1
    recover(left.path)
    return opening.resume(left.path, lambda loaded, models: surroundings(folder))


@pytest.mark.timeout(300)
def test_a_start_killed_at_any_step_blocks_nobody(tmp_path: Path) -> None:
    study = written_study(tmp_path / "study")
    command = [sys.executable, "-m", "tests.crash.starting", str(tmp_path / "starts"), str(study)]
    said = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=240
    )
    kills = dict(json.loads(line) for line in said.stdout.splitlines())
    assert len(kills) > 20
    assert set(kills.values()) >= STEPS
    held_events = set()
    for number in kills:
        folder = tmp_path / "starts" / str(number)
        for line in list_sessions(folder / "data"):
            assert line.state == "interrupted", "a session's folder has its name with an event only"
        session = again(folder, study)
        session.begin()
        settle(session)
        held_events.add(bool(session.past))
        session.close("test over")
        report = verify(session.folder.path)
        assert report.ok, (number, kills[number], report.problems)
        assert not list((folder / "data" / "written").glob(f"{MAKING}*"))
        assert list_taken_labels(folder / "data", "written") == {"P01": ["1"]}
    assert held_events == {False, True}, "kills before and after the first event"
