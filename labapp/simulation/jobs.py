"""`labapp simulate`: a study's first participants, simulated into a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labapp.clock import Clock, FakeClock
from labapp.errors import ExportExists
from labapp.session.models import load_warm
from labapp.session.opening import Surroundings, models_of
from labapp.session.scheduling import VirtualScheduler
from labapp.simulation.headless import simulate_all
from labapp.study import loading, planner
from labapp.study.overview import prior_of, space_of


def simulate_study(
    study: str,
    participants: int,
    strategy: str,
    out: Path,
    seed: int | None = None,
    progress: Callable[[str], None] = lambda participant: None,
) -> list[Path]:
    """Sessions of participants 1 to n under `out`, which must not exist; returns their folders."""
    if out.exists():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    loaded = loading.load(study)
    labels = [loaded.study.participants.label(number + 1) for number in range(participants)]
    models: dict[str, None] = {}
    for label in labels:
        made = planner.realise(loaded, label, space_of=space_of, prior_of=prior_of, seed=seed)
        models.update(dict.fromkeys(models_of(made.parts)))
    warm = load_warm(models, "cpu")

    def no_scheduler(clock: Clock) -> VirtualScheduler:
        return VirtualScheduler(FakeClock(clock.now_ns()))

    around = Surroundings(warm.decoders, warm.warmed, no_scheduler, private=out / "private")
    return simulate_all(
        loaded, labels, around, data=out, strategy=strategy, seed=seed, progress=progress
    )
