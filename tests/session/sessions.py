"""Sessions of the quick start on a clock that stands still, with decoders in closed form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labapp.clock import Clock, FakeClock
from labapp.session import opening
from labapp.session.opening import OpenSession, Surroundings
from labapp.session.scheduling import VirtualScheduler
from labapp.study.loading import load
from tests.helpers.formulas import formula_decoders


def virtual(clock: Clock) -> VirtualScheduler:
    """A scheduler that a test runs by hand: on the session's clock where that is a FakeClock."""
    return VirtualScheduler(clock if isinstance(clock, FakeClock) else FakeClock(clock.now_ns()))


def surroundings(tmp_path: Path, **changes: Any) -> Surroundings:
    values: dict[str, Any] = {
        "decoders": formula_decoders(),
        "warmed": (),
        "make_scheduler": virtual,
        "private": tmp_path / "private",
        "patience_s": 5.0,
    }
    return Surroundings(**(values | changes))


def opened(
    tmp_path: Path,
    *,
    data: Path | None = None,
    participant: str = "P01",
    study: str | Path = "quickstart",
    clock: Clock | None = None,
    **changes: Any,
) -> OpenSession:
    """A new session; `begin()` shows its first screen."""
    used = clock or FakeClock()
    return opening.create(
        load(study),
        participant,
        surroundings(tmp_path, **changes),
        data=data or tmp_path / "data",
        make_clock=lambda start: used,
    )
