"""The loop of every training: steps, checkpoints, and how far it is.

A run is a function of its recipe: whatever a step draws comes from the seed and the number of the
step, so that, killed at any moment, it goes on from its last checkpoint and ends with the very
weights of a run that was left alone.
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
from labapp.errors import ModelError
from labapp.training import checkpoint
from labapp.training.checkpoint import LearnerT, Making, Run

REPORT_S = 0.2
"""Seconds between two calls of the progress callback."""

Losses = Mapping[str, Tensor | float]
"""Under "loss" what is descended; whatever else is told."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes
    ----------
    phase : str
        Which part of learning goes on, for people.
    step, steps : int
        Steps taken, and of how many.
    losses : dict
        Of the last step, by name.
    elapsed_s, remaining_s : float
        Over all restarts; estimated from this process's own pace.
    """

    phase: str
    step: int
    steps: int
    losses: dict[str, float]
    elapsed_s: float
    remaining_s: float


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken. place: where it stands, for an error; ends: it ends a part of the run,
    which is told and stored."""

    losses: Losses
    phase: str
    place: str
    ends: bool


def run_steps(
    run: Run[LearnerT],
    steps: int,
    take: Callable[[int], Taken],
    *,
    making: Making,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = math.inf,
) -> None:
    """Take a run from its checkpoint, where there is one, to its last step.

    Parameters
    ----------
    take : takes the step of a number, from 0.
    making : what decides the weights; a checkpoint made otherwise is refused.
    state : folder of the checkpoint, which stays.
    progress : called about five times a second and at the end of each part. What it raises ends
        the run, which can then be resumed.
    checkpoint_s : seconds between two checkpoints; there is one at the end of each part besides.

    Raises
    ------
    ModelError : the checkpoint does not fit, the loss is no longer finite, the disk refuses.
    """
    checkpoint.restore(state, run, making)
    began, first, before = time.perf_counter(), run.iteration, run.seconds
    saved = reported = began
    while run.iteration < steps:
        taken = take(run.iteration)
        run.iteration += 1
        now = time.perf_counter()
        run.seconds = before + now - began
        if taken.ends or now - saved >= checkpoint_s:
            _check(taken, state)
            checkpoint.save(state, run, making)
            saved = now
        if progress is not None and (taken.ends or now - reported >= REPORT_S):
            reported = now
            pace = (now - began) / (run.iteration - first)
            progress(
                Progress(
                    taken.phase,
                    run.iteration,
                    steps,
                    {name: float(value) for name, value in taken.losses.items()},
                    elapsed_s=run.seconds,
                    remaining_s=pace * (steps - run.iteration),
                )
            )


def _check(taken: Taken, state: Path) -> None:
    if "loss" in taken.losses and not math.isfinite(float(taken.losses["loss"])):
        raise ModelError(
            f"The loss is no longer finite at {taken.place}.",
            safe=f"The last checkpoint with a finite loss, if any, is kept in {state}.",
            todo="Lower the learning rate in the recipe.",
        )


def versions() -> dict[str, str]:
    """What a model's weights were computed with, for its card."""
    return {
        "labapp": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": str(torch.__version__),
    }
