"""A simulated participant who does not get on ends with an error that names the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labapp.record.events import Source
from labapp.record.events.commands import Pause
from labapp.record.journal.read import check_journal
from labapp.session.resuming import finished, read_verified_events
from labapp.session.simulation.driver import STILL_S, Driver, Stuck
from labapp.session.simulation.person import FAST
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load
from labapp.study.plugins.registry import TaskType
from labapp.tasks.pages.task import TASK
from tests.helpers.questionnaires import leave_why_empty, written_session, written_study
from tests.session.sessions import opened, scheduler_of, surroundings


def play(tmp_path: Path, study: Path) -> Path:
    around = surroundings(tmp_path)
    data = tmp_path / "data"
    return simulate(load(study), "P01", around, data=data, strategy="random", pace=FAST)


def test_an_item_that_takes_no_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_why_empty(monkeypatch)
    with pytest.raises(Stuck, match=r"in questionnaire-1 .*, page 2: no answer to 'why'") as told:
        play(tmp_path, written_study(tmp_path / "study"))
    assert "recorded" in told.value.safe
    path = written_session(tmp_path / "data")
    events = read_verified_events(path)
    assert events[-1].kind == "segment.ended"
    assert STILL_S <= (events[-1].t_ns - events[-2].t_ns) / 1e9 < 2 * STILL_S
    assert check_journal(path) == []


def test_a_part_of_an_unknown_kind_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(TASK), "simulate", TaskType.simulate)
    with pytest.raises(Stuck, match="parts of the kind 'text'"):
        play(tmp_path, written_study(tmp_path / "study"))
    assert not finished(read_verified_events(written_session(tmp_path / "data")))


def test_a_driver_that_lost_its_thread_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Driver, "send", lambda *_: None)
    with pytest.raises(Stuck, match="did not get on for 120 s"):
        play(tmp_path, written_study(tmp_path / "study"))


@pytest.mark.parametrize(("alone", "told"), [(True, 1), (False, 0)])
def test_only_where_there_is_a_moderator_a_pause_may_last(
    tmp_path: Path, alone: bool, told: int
) -> None:
    session = opened(tmp_path, study=written_study(tmp_path / "study"))
    errors: list[Any] = []
    session.begin()
    driven = Driver(
        session.runner,
        session.give_consent,
        "random",
        1,
        "P01",
        FAST,
        paints=alone,
        on_stuck=errors.append,
    )
    driven.start()
    session.runner.send(Pause("a knock at the door"), Source.MODERATOR)
    clock = session.runner.clock
    scheduler_of(session).run(lambda: bool(errors) or clock.now_ns() > 3 * STILL_S * 1e9)
    driven.stop()
    session.close("test over")
    assert len(errors) == told


def test_a_long_break_is_no_standing_still(tmp_path: Path) -> None:
    study = written_study(tmp_path / "study", break_s=3 * STILL_S)
    assert finished(read_verified_events(play(tmp_path, study)))
