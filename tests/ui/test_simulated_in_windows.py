"""A simulated participant in real windows: it answers what is written, and where it does not get on
the session ends and says where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.base.errors import LabappError
from labapp.session.resuming import finished, read_verified_events
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_new
from tests.helpers.questionnaires import leave_why_empty, written_session, written_study


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(
        data=tmp_path / "data",
        private=tmp_path / "private",
        audio="off",
        simulate="random",
        windowed=True,
    )


def run(study: Path, options: RunOptions, qtbot: QtBot) -> tuple[int, str]:
    """Exit status and what was told, of a session in its windows. (`labapp run` itself ends the
    application's event loop, after which no test of this process could wait for anything.)"""
    told: list[LabappError] = []
    controller = SessionController(open_new(str(study), "P01", "1", options), options)
    controller.failed.connect(told.append)
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    return closed.args[0], "\n".join(map(str, told))


def test_a_required_written_item_is_answered(
    qtbot: QtBot, tmp_path: Path, options: RunOptions
) -> None:
    """The field has the focus, and gives nothing of its own when the page is turned."""
    study = written_study(tmp_path / "study")
    assert run(study, options, qtbot) == (0, "")
    events = read_verified_events(written_session(tmp_path / "data"))
    answers = [event for event in events if event.kind == "response.changed"]
    assert [event.payload["item"] for event in answers] == ["first", "why"]
    assert {event.source for event in answers} == {"simulated"}
    assert all(event.payload["value"] for event in answers)


def test_one_that_takes_no_answer_ends_the_session(
    qtbot: QtBot, tmp_path: Path, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_why_empty(monkeypatch)
    study = written_study(tmp_path / "study")
    quick = replace(options, speed=60.0)
    status, told = run(study, quick, qtbot)
    assert status == 1
    assert "in questionnaire-1 ('A sheet'), page 2: no answer to 'why'" in told
    assert not finished(read_verified_events(written_session(tmp_path / "data")))
