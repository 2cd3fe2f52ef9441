"""`labapp simulate`: a study's first participants, simulated into a folder of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from labapp.clock import Clock, FakeClock
from labapp.errors import ExportExists, SessionError, StudyFull, UsageError
from labapp.records.journal import read_rows
from labapp.session import allotment
from labapp.session.models import WarmDecoders, load_warm
from labapp.session.opening import Surroundings, models_of
from labapp.session.scheduling import VirtualScheduler
from labapp.session.stimuli import stimuli_of
from labapp.simulation.fitting import check_fits
from labapp.simulation.headless import simulate
from labapp.simulation.unmasking import Observer
from labapp.study import loading, planner
from labapp.study.assignment import generator
from labapp.study.conditions import cells_of
from labapp.study.loading import LoadedStudy
from labapp.study.overview import prior_of, space_of

IN_VAIN = 100
"""Participants in a row of whom none is included, after which a study is not going to fill."""


def simulate_study(
    study: str,
    participants: int | None,
    strategy: str,
    out: Path,
    seed: int | None = None,
    progress: Callable[[str], None] = lambda participant: None,
    *,
    careless: float = 0.0,
    observer: Observer | None = None,
) -> list[Path]:
    """Sessions of the first participants under `out`, which must not exist; returns their folders.

    participants: how many; fewer where the study is full before, None for until it is full.
    careless: share of participants who do not try (see `Driver`), drawn by seed and label.
    observer: how those of `understanding` see masked pictures.
    """
    if out.exists():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    loaded = loading.load(study)
    check_fits(strategy, loaded.study)
    drawn = cells_of(loaded.study.assignment)
    if participants is None and (drawn is None or drawn[1].included is None):
        raise UsageError(
            f"The study {loaded.study.id!r} is never full: it wants no number of participants.",
            todo="Say how many: --participants N.",
        )
    models = _Models(loaded, out, seed)
    folders: list[Path] = []
    in_vain = 0
    for number in count(1):
        if len(folders) == participants:
            break
        label = loaded.study.participants.label(number)
        try:
            around = models.surroundings(label)
        except StudyFull:
            break
        lot = generator(loaded.study.seed if seed is None else seed, label, "careless")
        path = simulate(
            loaded,
            label,
            around,
            data=out,
            strategy=strategy,
            seed=seed,
            careless=bool(lot.random() < careless),
            observer=observer,
        )
        folders.append(path)
        progress(label)
        in_vain = 0 if included(path) else in_vain + 1
        if participants is None and in_vain == IN_VAIN:
            raise SessionError(
                f"None of the last {IN_VAIN} participants is included: the study does not fill.",
                safe=f"The sessions until then are in {out}.",
                todo="Simulate fewer careless participants, or look at the rules of inclusion.",
            )
    return folders


def included(path: Path) -> bool:
    """Whether a finished session counts."""
    rows = read_rows(path, ("inclusion.decided",))
    return bool(rows) and bool(rows[-1].event().payload["included"])


class _Models:
    """The decoders of the sessions so far: each is loaded for the first who needs it."""

    def __init__(self, loaded: LoadedStudy, out: Path, seed: int | None) -> None:
        self._loaded, self._out, self._seed = loaded, out, seed
        self._warm = WarmDecoders({}, [])

    def surroundings(self, label: str) -> Surroundings:
        """What the next participant's session needs. Raises StudyFull."""
        drawn = allotment.preview(self._out, self._loaded, label, self._seed)
        made = planner.realise(
            self._loaded,
            label,
            space_of=space_of,
            prior_of=prior_of,
            stimuli_of=stimuli_of,
            drawn=drawn,
            seed=self._seed,
        )
        models = models_of(made.parts)
        self._load([model for model in models if model not in self._warm.decoders])
        return Surroundings(
            {model: self._warm.decoders[model] for model in models},
            [times for times in self._warm.warmed if times.model in models],
            _no_scheduler,
            private=self._out / "private",
        )

    def _load(self, models: Sequence[str]) -> None:
        fresh = load_warm(models, "cpu")
        self._warm.decoders.update(fresh.decoders)
        self._warm.warmed.extend(fresh.warmed)


def _no_scheduler(clock: Clock) -> VirtualScheduler:
    """Replaced by the one of the session's virtual clock."""
    return VirtualScheduler(FakeClock(clock.now_ns()))
