"""Whole sessions without windows: on a virtual clock, as fast as the machine can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from labapp.clock import Clock, FakeClock
from labapp.errors import SessionError
from labapp.plugins.simulated import NO_OPTIONS, Options
from labapp.session import opening
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.scheduling import VirtualScheduler
from labapp.simulation.driver import Driver
from labapp.simulation.pace import HUMAN, Pace
from labapp.study.allocation import sessions_of
from labapp.study.loading import LoadedStudy


def simulate(
    loaded: LoadedStudy,
    participant: str,
    dependencies: SessionDependencies,
    *,
    session: str | None = None,
    data: Path,
    strategy: str,
    seed: int | None = None,
    pace: Pace = HUMAN,
    careless: bool = False,
    options: Options = NO_OPTIONS,
    cells: Sequence[str] | None = None,
    thinks_aloud: bool = False,
    until: Callable[[OpenSession], bool] = lambda session: session.runner.finished,
) -> Path:
    """One simulated session, recorded like a real one; returns its folder.

    careless, options, thinks_aloud: see `Driver`; cells: see `opening.create`;
    dependencies.make_scheduler is replaced by the virtual one.

    Raises SessionError when the session stands still before `until` holds.
    """
    first = loaded.study.first_session
    label = first if session is None else session
    labels = sessions_of(loaded.study)
    later = timedelta(days=labels.index(label) if label in labels else len(labels))
    clock = FakeClock(utc=FakeClock().utc() + later)  # people come again on another day
    scheduler = VirtualScheduler(clock)

    def make_scheduler(_: Clock) -> VirtualScheduler:
        return scheduler

    opened = opening.create(
        loaded,
        participant,
        replace(
            dependencies,
            make_scheduler=make_scheduler,
            make_recorder=None,
            commit_timeout_s=5.0,
            decode_at_once=True,
            keeps_pictures=False,
            fsync_on_commit=False,
            no_sound="simulated on a virtual clock",
        ),
        data=data,
        session=label,
        seed=seed,
        cells=cells,
        make_clock=lambda start: clock,
    )
    try:
        driver = Driver(
            opened.runner,
            opened.give_consent,
            strategy,
            opened.planned.seed,
            participant if label == first else f"{participant}/{label}",
            pace,
            careless=careless,
            paints=True,
            options=options,
            language=opened.planned.language,
            thinks_aloud=thinks_aloud,
        )
        opened.begin()
        driver.start()
        scheduler.run(lambda: until(opened))
        driver.stop()
    except BaseException:
        opened.close("interrupted")
        raise
    if not until(opened):
        opened.close("stood still")
        raise SessionError(
            f"The simulated session of {participant} stood still.",
            safe=f"What happened until then is in {opened.folder.path}.",
            todo="Report this with the folder.",
        )
    opened.close("simulated")
    return opened.folder.path
