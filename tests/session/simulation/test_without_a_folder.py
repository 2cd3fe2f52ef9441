"""A session that is only counted gives the same numbers as one that is recorded."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import SessionError
from labapp.record.events import Event, Payload, Source, UnstampedEvent
from labapp.record.events.lifecycle import NoteAdded
from labapp.record.journal.write import MemoryJournal
from labapp.session import opening
from labapp.session.planning.thresholds import fold
from labapp.session.runner import Runner
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.simulation_job import SimulationJob, run_job
from labapp.study.allocation import rule_of
from labapp.study.loading import LoadedStudy, load

MEASURED = ("decoder.warmed", "environment.recorded")
"""Of the machine, not of the participant."""


def all_of_it(events: Sequence[tuple[Event, Payload]], name: str) -> Any:
    kept = [event for event, _ in events if event.kind not in MEASURED]
    return name, [json.loads(json.dumps(event)) for event in kept], fold(events, name)


def first(loaded: LoadedStudy, strategy: str = "understanding") -> SimulationJob:
    """The session of the first participant."""
    label, rule = loaded.study.participants.label(1), rule_of(loaded.study)
    drawn = () if rule is None else rule.draw(Counter(), 3, loaded.study.id, label)
    return SimulationJob(loaded, label, drawn, strategy, None)


@pytest.mark.parametrize(
    ("study", "cells", "strategy"),
    [
        ("quickstart", (), ORACLE),
        ("dsprites-demo", (), ORACLE),
        ("mnist-think-aloud", (), ORACLE),
        ("synthetic-crowd", ("exemplars-sinelines",), "understanding"),
        ("gradcam-distinction", (), "understanding"),
        ("unmasking-faces", (), "understanding"),
        ("concept-repair-crowd", (), "careful"),
    ],
)
@pytest.mark.parametrize("careless", [False, True])
def test_events_and_rows_are_those_of_a_recorded_session(
    study: str, cells: tuple[str, ...], strategy: str, careless: bool, tmp_path: Path
) -> None:
    loaded = load(study)
    job = replace(first(loaded, strategy), seed=3, careless=careless, fold=all_of_it)
    job = replace(job, drawn=cells or job.drawn)
    quick = run_job(job)
    slow = run_job(replace(job, keep="folder", scratch=tmp_path))
    assert quick.folded == slow.folded
    assert (quick.name, quick.included) == (slow.name, slow.included)
    assert quick.path is None
    assert slow.path is not None


@pytest.mark.parametrize(
    ("study", "cells", "strategy", "careless"),
    [
        ("quickstart", (), "partial", False),
        ("synthetic-crowd", ("reconstruction-sinelines",), "random", False),
        ("synthetic-crowd", ("reconstruction-dsprites",), "understanding", True),
        ("calibration", (), ORACLE, False),
    ],
)
def test_movements_are_the_same_whether_one_by_one_or_many_on_end(
    study: str,
    cells: tuple[str, ...],
    strategy: str,
    careless: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = replace(first(load(study), strategy), careless=careless, drawn=cells, fold=all_of_it)
    taken: list[int] = []
    take = Runner.take

    def noted(runner: Runner, run: Sequence[Any], part_state: Any, until_ns: int) -> None:
        taken.append(len(run))
        take(runner, run, part_state, until_ns)

    monkeypatch.setattr(Runner, "take", noted)
    on_end = run_job(job).folded
    assert max(taken) > 10, "several movements, each of them with its picture"
    taken.clear()
    monkeypatch.setattr(Runner, "quiet_until_ns", None)
    assert run_job(job).folded == on_end
    assert not taken


def test_nothing_is_written_where_only_numbers_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object, **named: object) -> None:
        raise AssertionError("a folder was made")

    monkeypatch.setattr(tempfile, "mkdtemp", never)
    monkeypatch.setattr(opening, "create", never)
    assert run_job(replace(first(load("gradcam-distinction")), scratch=tmp_path)).included
    assert not any(tmp_path.iterdir())


def test_a_session_that_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "start", lambda driver: None)
    with pytest.raises(SessionError, match="stood still"):
        run_job(first(load("gradcam-distinction")))


def test_a_value_of_another_type_is_found_in_memory_too() -> None:
    journal = MemoryJournal(FakeClock())
    journal.append(UnstampedEvent(NoteAdded(3, None)), Source.SYSTEM)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"note\.added"):
        journal.payloads()
