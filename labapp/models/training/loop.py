"""The loop of every training: steps, checkpoints and progress.

A run is a function of its recipe: all random numbers of a step come from the seed and the number of
the step. So a run that is killed at any moment goes on from its last checkpoint and ends with the
same weights as a run that was never interrupted.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from labapp import __version__
from labapp.base.errors import ModelError
from labapp.models.training import checkpoint
from labapp.models.training.checkpoint import LearnerT, Provenance, Run

REPORT_S = 0.2
"""Seconds between two calls of the progress callback."""
Losses = Mapping[str, Tensor | float]
"""The losses of a step by name: "loss" is the one that is minimised; the others are reported."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes
    ----------
    phase : the part of the training that is running, in words.
    step, steps : steps done, and of how many.
    losses : the losses of the last step, by name.
    elapsed_s, remaining_s : float
        Seconds spent, over all restarts, and left, as estimated from the pace of this process.
    """

    phase: str
    step: int
    steps: int
    losses: dict[str, float]
    elapsed_s: float
    remaining_s: float


@dataclass(frozen=True, slots=True)
class StepResult:
    """What came of a step.

    Attributes
    ----------
    losses : see `Losses`.
    phase : the part of the training that is running, in words.
    place : where the step stands in the run, for error texts.
    ends : whether a part of the run ends with it: then progress is reported and a checkpoint saved.
    """

    losses: Losses
    phase: str
    place: str
    ends: bool


def run_steps(
    run: Run[LearnerT],
    steps: int,
    take: Callable[[int], StepResult],
    *,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = math.inf,
) -> None:
    """Take a run from its checkpoint, or from its beginning if there is none, to its last step.

    Parameters
    ----------
    take : takes the step of that number, counted from 0.
    provenance : what decides the weights; a checkpoint of another provenance is refused.
    state : folder of the checkpoint, which is left there.
    progress : called about five times a second and at the end of each part. An exception that it
        raises ends the run, which can be resumed.
    checkpoint_s : seconds between two checkpoints; there is also one at the end of each part.

    Raises
    ------
    ModelError : the checkpoint does not fit, the loss is no longer finite, the disk refuses.
    """
    checkpoint.restore(state, run, provenance)
    began, first, before = time.perf_counter(), run.iteration, run.seconds
    saved = reported = began
    while run.iteration < steps:
        result = take(run.iteration)
        run.iteration += 1
        now = time.perf_counter()
        run.seconds = before + now - began
        if result.ends or now - saved >= checkpoint_s:
            if "loss" in result.losses and not math.isfinite(float(result.losses["loss"])):
                raise ModelError(
                    f"The loss is no longer finite at {result.place}.",
                    safe=f"The last checkpoint with a finite loss, if any, is kept in {state}.",
                    todo="Lower the learning rate in the recipe.",
                )
            checkpoint.save(state, run, provenance)
            saved = now
        if progress is not None and (result.ends or now - reported >= REPORT_S):
            reported = now
            pace = (now - began) / (run.iteration - first)
            progress(
                Progress(
                    result.phase,
                    run.iteration,
                    steps,
                    {name: float(value) for name, value in result.losses.items()},
                    elapsed_s=run.seconds,
                    remaining_s=pace * (steps - run.iteration),
                )
            )


def versions() -> dict[str, str]:
    """What a model's weights were computed with, for its card."""
    return {
        "labapp": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": str(torch.__version__),
    }


def one_cycle(warm_up: float) -> Callable[[float], float]:
    """A rate that rises from 1/25 to 1 for the share `warm_up` and falls to 0, both as a cosine."""

    def rate(done: float) -> float:
        if done < warm_up:
            return 1 - 0.96 * (1 + math.cos(math.pi * done / warm_up)) / 2
        return (1 + math.cos(math.pi * (done - warm_up) / (1 - warm_up))) / 2

    return rate
