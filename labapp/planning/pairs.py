"""How near a start and a target lie by chance: pairs drawn as the study draws its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.plugins.part import Target
from labapp.representations.card import dataset_of
from labapp.representations.decoders import LoadedDecoder
from labapp.representations.distance import named
from labapp.study import planner
from labapp.study.allocation import variants
from labapp.study.assignment import generator
from labapp.study.loading import LoadedStudy
from labapp.study.representations import PriorOf, SpaceOf
from labapp.study.sampling import draw_state

PAIRS = 1000
BATCH = 250


@dataclass(frozen=True)
class Pairs:
    """Starts and targets of one model. alignments: of pairs (z, z'), shape (n,), 0-1.
    target_alignment and skip_after_s: what the study has for it now; None where no skip waits for
    it."""

    model: str
    distance: str
    alignments: NDArray[np.float64]
    target_alignment: float
    skip_after_s: float | None

    @property
    def dataset(self) -> str:
        return dataset_of(self.model)

    def share(self, target: float) -> float:
        """Of the pairs that are aligned before anybody did anything."""
        return float(np.mean(self.alignments >= target))


def targets_of(loaded: LoadedStudy, space_of: SpaceOf, prior_of: PriorOf) -> dict[str, Target]:
    """What is to be reached with each model of the study, in all of its conditions."""
    targets: dict[str, Target] = {}
    for number, drawn in variants(loaded.study):
        label = loaded.study.participants.label(number)
        plan = planner.realise(loaded, label, space_of=space_of, prior_of=prior_of, drawn=drawn)
        for part in plan.parts:
            if (target := part.target()) is not None:
                targets.setdefault(target.model, target)
    return targets


def pairs_of(target: Target, decoder: LoadedDecoder, seed: int, n: int = PAIRS) -> Pairs:
    """Draw and decode n pairs as the questions of a stage are drawn."""
    rng = generator(seed, target.model, "pairs of a plan")
    sample = decoder.latents
    rows: list[tuple[float, ...]] = [
        draw_state(target.sampling, target.model, decoder.space, sample, rng) for _ in range(2 * n)
    ]
    distance = named(target.distance)
    alignments: list[float] = []
    batch = 2 * min(BATCH, max(1, decoder.at_once // 2))
    for at in range(0, 2 * n, batch):
        some = rows[at : at + batch]
        x = decoder.decode(np.stack([decoder.space.encode(row) for row in some]))
        alignments += [1.0 - distance(first, other) for first, other in _two_by_two(x)]
    return Pairs(
        target.model,
        target.distance,
        np.array(alignments, np.float64),
        target.alignment,
        target.skip_after_s,
    )


def _two_by_two(
    x: NDArray[np.float32],
) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    return list(zip(x[::2], x[1::2], strict=True))


DecoderOf = Callable[[str], LoadedDecoder]
