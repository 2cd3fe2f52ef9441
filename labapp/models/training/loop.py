"""The loop of every training: steps, checkpoints and progress.

A run is a function of its recipe: all random numbers of a step come from the seed and the number of
the step. So a run that is killed at any moment goes on from its last checkpoint and ends with the
same weights as a run that was never interrupted.

The state of a training run on disk, from which a killed run goes on: safetensors, never a
pickle.

The rows of a batch and its noise follow from the recipe's seed and the number of the iteration
alone. So the weights, Adam's two moments and that number are the whole state.
"""

from __future__ import annotations

import json
import math
import platform
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from labapp import __version__
from labapp.base import durable
from labapp.base.errors import ModelError, TrainingFailed
from labapp.models.training import files

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
    Raises ModelError: the checkpoint does not fit, the loss is no longer finite, the disk refuses.

    Parameters
    ----------
    take : takes the step of that number, counted from 0.
    provenance : what decides the weights; a checkpoint of another provenance is refused.
    state : folder of the checkpoint, which is left there.
    progress : called about five times a second and at the end of each part. An exception that it
        raises ends the run, which can be resumed.
    checkpoint_s : seconds between two checkpoints; there is also one at the end of each part.
    """
    restore(state, run, provenance)
    began, first, before = time.perf_counter(), run.iteration, run.seconds
    saved = reported = began
    while run.iteration < steps:
        result = take(run.iteration)
        run.iteration += 1
        now = time.perf_counter()
        run.seconds = before + now - began
        if result.ends or now - saved >= checkpoint_s:
            if "loss" in result.losses and not math.isfinite(float(result.losses["loss"])):
                raise TrainingFailed(
                    f"The loss is no longer finite at {result.place}.",
                    safe=f"The last checkpoint with a finite loss, if any, is kept in {state}.",
                    todo="Lower the learning rate in the recipe.",
                )
            save(state, run, provenance)
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


FILE = "checkpoint.safetensors"

_UNREADABLE = (
    safetensors.SafetensorError,
    OSError,
    RuntimeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What is raised when a file is no checkpoint, or a checkpoint of other networks."""


class Trainable(Protocol):
    """A learner whose state can be saved: its networks, and its optimizers in a fixed order."""

    @property
    def networks(self) -> nn.Module: ...

    @property
    def optimizers(self) -> Sequence[torch.optim.Optimizer]: ...


LearnerT = TypeVar("LearnerT", bound=Trainable)


@dataclass(slots=True)
class Run(Generic[LearnerT]):
    """The networks and optimizers of a run, and how far it has come."""

    learner: LearnerT
    iteration: int = 0
    seconds: float = 0.0

    def tensors(self) -> dict[str, Tensor]:
        """The whole state by name: weights, and the moments of each optimizer."""
        networks = self.learner.networks
        out = {f"network.{name}": value for name, value in networks.state_dict().items()}
        for number, adam in enumerate(self.learner.optimizers):
            for index, state in adam.state_dict()["state"].items():
                out |= {f"adam.{number}.{index}.{name}": value for name, value in state.items()}
        return {name: value.detach().cpu().contiguous() for name, value in out.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Set the state that `tensors` gave. Raises RuntimeError or KeyError if it does not fit."""
        self.learner.networks.load_state_dict(
            {
                name.removeprefix("network."): value
                for name, value in tensors.items()
                if name.startswith("network.")
            }
        )
        for number, adam in enumerate(self.learner.optimizers):
            parameters = [p for group in adam.param_groups for p in group["params"]]
            state: dict[int, dict[str, Tensor]] = {}
            for name, value in tensors.items():
                if name.startswith(f"adam.{number}."):
                    _, _, index, key = name.split(".")
                    state.setdefault(int(index), {})[key] = _match_layout(
                        value, parameters[int(index)]
                    )
            whole = adam.state_dict()
            adam.load_state_dict({"state": state, "param_groups": whole["param_groups"]})


def _match_layout(value: Tensor, parameter: Tensor) -> Tensor:
    """A moment in the memory layout of its parameter, which the fused Adam relies on."""
    if value.shape != parameter.shape:
        return value
    return torch.empty_like(parameter, device="cpu").copy_(value)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What decides a run's weights to the last bit, besides the state it goes on from."""

    recipe_sha256: str
    device: str
    threads: int


def save(folder: Path, run: Run[LearnerT], provenance: Provenance) -> None:
    """Write the run's state; a crash in between leaves the last one. Raises ModelError."""
    about = {**asdict(provenance), "iteration": run.iteration, "seconds": round(run.seconds, 3)}
    content = safetensors.torch.save(run.tensors(), metadata={"run": json.dumps(about)})
    with files.writing(folder / FILE):
        folder.mkdir(parents=True, exist_ok=True)
        durable.replace(folder / FILE, content)


def clear(folder: Path) -> None:
    """Remove the state of a run that is over."""
    shutil.rmtree(folder, ignore_errors=True)


def restore(folder: Path, run: Run[LearnerT], provenance: Provenance) -> None:
    """Go on from the state in `folder`; without one, the run stays at its beginning. Raises
    ModelError: the state there is damaged, or is of another recipe, or was made on another device
    or number of threads, which round differently."""
    path = folder / FILE
    if not path.is_file():
        return
    try:
        with safetensors.safe_open(path, framework="pt") as opened:
            about = json.loads((opened.metadata() or {})["run"])
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        stored = Provenance(about["recipe_sha256"], about["device"], about["threads"])
        if stored == provenance:
            run.restore(tensors)
            run.iteration, run.seconds = int(about["iteration"]), float(about["seconds"])
            return
    except _UNREADABLE as error:
        raise ModelError(
            f"The checkpoint {path} cannot be read: {error}.",
            safe="Nothing was trained or overwritten.",
            todo="To start from the beginning, remove it, or train with --fresh.",
        ) from error
    if stored.recipe_sha256 != provenance.recipe_sha256:
        raise ModelError(
            f"The checkpoint {path} was made with another recipe.",
            safe="Nothing was trained or overwritten.",
            todo="Restore the recipe, or start from the beginning with --fresh.",
        )
    raise ModelError(
        f"The checkpoint {path} was made on {stored.device} with {stored.threads} CPU thread(s), "
        f"not on {provenance.device} with {provenance.threads}, so the weights would differ.",
        safe="Nothing was trained or overwritten.",
        todo=f"Continue with --device {stored.device} --threads {stored.threads}, or start from "
        "the beginning with --fresh.",
    )
