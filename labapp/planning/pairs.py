"""How near a start and a target lie by chance: pairs drawn as the study draws its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.representations.decoders import Decoder
from labapp.representations.distance import DISTANCES
from labapp.study import conditions, planner
from labapp.study.assignment import generator
from labapp.study.loading import LoadedStudy
from labapp.study.representations import PriorOf, SpaceOf
from labapp.study.sampling import draw_state
from labapp.tasks.reconstruction.plan import ReconstructionPart

PAIRS = 1000
BATCH = 250


@dataclass(frozen=True)
class Pairs:
    """alignments: of pairs (z, z') of one model, shape (n,), 0-1. target_alignment and
    skip_after_s: what the study has for it now; None where no skip waits for it."""

    model: str
    distance: str
    alignments: NDArray[np.float64]
    target_alignment: float
    skip_after_s: float | None

    @property
    def dataset(self) -> str:
        return self.model.partition("/")[0]

    def share(self, target: float) -> float:
        """Of the pairs that are aligned before anybody did anything."""
        return float(np.mean(self.alignments >= target))


def stages_of(
    loaded: LoadedStudy, space_of: SpaceOf, prior_of: PriorOf
) -> dict[str, ReconstructionPart]:
    """A stage with a target for each model of the study, in all of its conditions."""
    found: dict[str, ReconstructionPart] = {}
    for number, drawn in conditions.variants(loaded.study.assignment):
        label = loaded.study.participants.label(number)
        made = planner.realise(loaded, label, space_of=space_of, prior_of=prior_of, drawn=drawn)
        for part in made.parts:
            if isinstance(part, ReconstructionPart) and part.role == "stage" and not part.marks:
                found.setdefault(part.model, part)
    return found


def pairs_of(part: ReconstructionPart, decoder: Decoder, seed: int, n: int = PAIRS) -> Pairs:
    """Draw and decode n pairs for a stage. The shuffled pass of `shuffled_pass` is drawn as
    independent pairs of the same sample."""
    sampling = part.sampling if part.sampling in ("prior", "uniform") else "held_out"
    rng = generator(seed, part.model, "pairs of a plan")
    sample = decoder.latents
    rows: list[tuple[float, ...]] = [
        draw_state(sampling, part.model, decoder.space, sample, rng) for _ in range(2 * n)
    ]
    distance = DISTANCES[part.distance]
    found: list[float] = []
    for at in range(0, 2 * n, 2 * BATCH):
        some = rows[at : at + 2 * BATCH]
        x = decoder.decode(np.stack([decoder.space.encode(row) for row in some]))
        found += [1.0 - distance(one, other) for one, other in _two_by_two(x)]
    return Pairs(
        part.model,
        part.distance,
        np.array(found, np.float64),
        part.target_alignment,
        part.skip_after_s if part.skip == "after" else None,
    )


def _two_by_two(
    x: NDArray[np.float32],
) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    return list(zip(x[::2], x[1::2], strict=True))


DecoderOf = Callable[[str], Decoder]
