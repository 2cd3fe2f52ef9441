"""Sessions of the quick start on a clock that stands still, with decoders in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from labapp.base.clock import Clock, FakeClock
from labapp.record.events import Event, Source, UnstampedEvent
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal.write import Journal
from labapp.session import folder, opening
from labapp.session.folder import SessionFolder
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.runner import VirtualScheduler
from labapp.session.simulation.simulation_job import Decoders
from labapp.study.allocation import rule_of, variants
from labapp.study.loading import LoadedStudy, load
from labapp.tasks.reconstruction.machine import Trial
from tests.helpers.formulas import formula_decoders
from tests.helpers.waiting import wait_for


def virtual(clock: Clock) -> VirtualScheduler:
    """A scheduler that a test runs by hand: on the session's clock where that is a FakeClock."""
    return VirtualScheduler(clock if isinstance(clock, FakeClock) else FakeClock(clock.now_ns()))


def surroundings(tmp_path: Path, **changes: Any) -> SessionDependencies:
    values: dict[str, Any] = {
        "decoders": formula_decoders(),
        "warmed": (),
        "make_scheduler": virtual,
        "private": tmp_path / "private",
        "commit_timeout_s": 60.0,
    }
    return SessionDependencies(**(values | changes))


def virtual_session(
    study: str, tmp_path: Path
) -> tuple[OpenSession, VirtualScheduler, LoadedStudy, str]:
    """A new session of a study's first participant, whose scheduler is run by hand, with its own
    decoders and all pictures kept; its study and the participant's label."""
    loaded = load(study)
    label = loaded.study.participants.label(1)
    cells = () if rule_of(loaded.study) is None else next(variants(loaded.study))[1]
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    dependencies = replace(
        Decoders().dependencies(loaded, label, cells, None, tmp_path / "private"),
        make_scheduler=lambda of: scheduler,
        fsync_on_commit=False,
        commit_timeout_s=60.0,
        decode_at_once=True,
        keeps_pictures=True,
    )
    session = opening.create(
        loaded, label, dependencies, data=tmp_path / "data", cells=cells,
        make_clock=lambda start: clock,
    )  # fmt: skip
    return session, scheduler, loaded, label


def opened(
    tmp_path: Path,
    *,
    data: Path | None = None,
    participant: str = "P01",
    study: str | Path = "quickstart",
    clock: Clock | None = None,
    cells: tuple[str, ...] | None = None,
    **changes: Any,
) -> OpenSession:
    """A new session; `begin()` shows its first screen. cells: its condition."""
    used = clock or FakeClock()
    return opening.create(
        load(study),
        participant,
        surroundings(tmp_path, **changes),
        data=data or tmp_path / "data",
        make_clock=lambda start: used,
        cells=cells,
    )


def begin_session(tmp_path: Path, **more: Any) -> OpenSession:
    """A new session that shows its first screen."""
    session = opened(tmp_path, **more)
    session.begin()
    return session


def resume_session(tmp_path: Path, path: Path, **changes: Any) -> OpenSession:
    """A session that is gone on with; `begin()` shows its screen. changes: of its surroundings."""
    return opening.resume(path, lambda loaded, models: surroundings(tmp_path, **changes))


def trial_of(session: OpenSession) -> Trial:
    trial = session.runner.state.part_state.trial
    assert isinstance(trial, Trial)
    return trial


def part_of(session: OpenSession) -> str | None:
    """The id of the part that runs."""
    return None if session.runner.part is None else session.runner.part.id


def watch(session: OpenSession) -> list[Event]:
    seen: list[Event] = []
    session.runner.journal.subscribe(seen.append)
    return seen


def scheduler_of(session: OpenSession) -> VirtualScheduler:
    assert isinstance(session.runner.scheduler, VirtualScheduler)
    return session.runner.scheduler


def settle(session: OpenSession) -> None:
    """Waits for the disk, however little patience the runner has."""
    for _, receipt in session.runner._waiting:
        assert receipt.wait(60)
    spin(session, lambda: not session.runner._waiting)


def spin(session: OpenSession, until: Callable[[], bool]) -> None:
    """Runs what other threads post, until something holds."""
    wait_for(until, lambda: scheduler_of(session).run(until))


def new_session(
    data: Path, loaded: LoadedStudy, participant: str, session: str, clock: Clock
) -> SessionFolder:
    """The folder of a session that holds its first event and nothing of a run."""
    new = folder.create(data, loaded, participant, session, clock)
    plan = SessionPlanned(
        loaded.study.id, 1, loaded.sha256, participant, session, 1, {}, "improved", "en", "off", ()
    )
    with Journal.create(new.home.journal, clock) as journal:
        journal.append(UnstampedEvent(plan), Source.SYSTEM)
    new.publish()
    new.lock.release()
    return new.home
