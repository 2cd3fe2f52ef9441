"""The decoders that simulated sessions need: each is loaded once, for the first who needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from labapp.clock import Clock, FakeClock
from labapp.errors import ModelError
from labapp.representations.package import tasks_of
from labapp.session.models import WarmDecoders, load_warm
from labapp.session.opening import SessionDependencies, models_of
from labapp.session.scheduling import VirtualScheduler
from labapp.session.stimuli import stimuli_of
from labapp.study import overview, planner
from labapp.study.loading import LoadedStudy


class Decoders:
    """Of one process, or of one thread: a decoder is not made for two at a time.

    wanted: SHA-256 of the cards by model id that the models must have; by default any.
    """

    def __init__(self, wanted: Mapping[str, str] | None = None) -> None:
        self._wanted = wanted or {}
        self._warm = WarmDecoders({}, [])
        # Reading a card takes longer than simulating many a stage.
        self._space_of = cache(overview.space_of)
        self._prior_of = cache(overview.prior_of)
        self._tasks_of = cache(tasks_of)

    def dependencies(
        self,
        loaded: LoadedStudy,
        label: str,
        drawn: Sequence[str],
        seed: int | None,
        private: Path,
        session: str | None = None,
    ) -> SessionDependencies:
        """What the session of a participant needs. drawn: the participant's cells.

        Raises ModelError where a model is missing or is not the one that is wanted.
        """
        made = planner.realise(
            loaded,
            label,
            session,
            space_of=self._space_of,
            prior_of=self._prior_of,
            tasks_of=self._tasks_of,
            stimuli_of=stimuli_of,
            drawn=drawn,
            seed=seed,
        )
        models = models_of(made.parts)
        self._load([model for model in models if model not in self._warm.decoders])
        return SessionDependencies(
            {model: self._warm.decoders[model] for model in models},
            [times for times in self._warm.warmed if times.model in models],
            _no_scheduler,
            private=private,
        )

    def _load(self, models: Sequence[str]) -> None:
        fresh = load_warm(models, "cpu")
        for times in fresh.warmed:
            wanted = self._wanted.get(times.model, times.card_sha256)
            if wanted != times.card_sha256:
                raise ModelError(
                    f"The model {times.model} here is another one than where this was started.",
                    safe="No session was simulated with it.",
                    todo="Bring the same models to every machine that simulates.",
                )
        self._warm = self._warm.with_others(fresh)


def _no_scheduler(clock: Clock) -> VirtualScheduler:
    """Replaced by the one of the session's virtual clock."""
    return VirtualScheduler(FakeClock(clock.now_ns()))
