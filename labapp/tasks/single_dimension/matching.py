"""How simulated participants match a picture with examples (single-dimension task).

By "match[ing] directly", in "blind trust" in "visual matching" (paper 000, 6.1.4): of the
properties that set the examples of the choices apart, how near is the picture to those of each? So
mistakes come from the pictures, and from the noise with which they are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from labapp.representations.display import Chart, Display
from labapp.simulation.percept import Eye
from labapp.simulation.view import Array, on_screen
from labapp.study.stages import Visualisation
from labapp.tasks.single_dimension.pictures import Examples

Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Match:
    """choice: from 0. sure: how much nearer it is than the next best, 0..1. sense: how clearly the
    choices' examples differ in what they differ most in, 0..1."""

    choice: int
    sure: float
    sense: float


def match(
    eye: Eye,
    shown: Examples,
    visualisation: Visualisation,
    display: Display,
    chart: Chart | None,
    choices: int,
    *,
    weighs: bool,
) -> Match:
    """The choice whose examples look most like the picture asked about.

    weighs: looks first in what the examples of one choice agree and those of others differ; else
    everything counts the same.
    """
    assert shown.question is not None
    asked = eye.look(on_screen(shown.question, display, chart), 2)
    bins = [
        np.stack([eye.look(on_screen(example, display, chart)) for example in examples])
        for examples in _by_choice(shown.rows, visualisation, choices)
    ]
    means = np.stack([cell.mean(axis=0) for cell in bins])
    within = np.mean([cell.var(axis=0) for cell in bins], axis=0) + eye.noise**2
    between = means.var(axis=0)
    clear = between / (between + within)
    weights = clear if weighs else np.ones_like(clear)
    far = (weights * (asked - means) ** 2 / within).sum(axis=1)
    first, second = np.argsort(far)[:2]
    return Match(int(first), float(1 - np.sqrt(far[first] / (far[second] + 1e-9))), clear.max())


def _by_choice(
    rows: Array, visualisation: Visualisation, choices: int
) -> Sequence[NDArray[np.float32]]:
    """The pictures that stand for each choice; of a traversal's seven steps the first two for Low,
    the last two for High (as printed above them, they go from Low to High)."""
    if visualisation == "exemplars":
        return [rows[choice] for choice in range(choices)]
    steps = rows.shape[1]
    edges = np.linspace(0, steps, choices + 1)
    columns = [
        [step for step in range(steps) if low <= step + 0.5 < high] for low, high in pairwise(edges)
    ]
    return [rows[:, own].reshape(-1, *rows.shape[2:]) for own in columns]
