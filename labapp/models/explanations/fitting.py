"""Training in the phases that a method lists: phases of gradient descent, and one-off phases.

A run is a function of the network's initial weights, the phases and the seed: random numbers of a
step come from (seed, number of the step). Its whole state is in the network's parameters and
buffers and in the optimisers. So a run that is killed goes on from its last checkpoint and ends
with the same weights as a run that was never interrupted; anything else that a phase finds out must
be stored in buffers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from labapp.models.training.loop import Losses, Progress, Provenance, Run, StepResult, run_steps

CHECKPOINT_S = 20.0
"""Seconds between two checkpoints; there is one more at the end of each phase."""


@dataclass(frozen=True, slots=True)
class PhaseStep:
    """Step `number` of `steps` in its phase, from 0, and its source of random numbers."""

    number: int
    steps: int
    random: np.random.Generator


def constant(_done: float) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of learning.

    Parameters
    ----------
    loss : what one step computes. The network is in training mode when it is called, and in
        evaluation mode, without gradients, where there is no `optimiser`: such a phase is a one-off
        phase (a projection, say) that changes the network itself, usually in a single step.
    optimiser : takes every step; its learning rates are those it was given times `rate`.
    rate : of the share of the phase's steps that is done, 0 to 1.
    """

    name: str
    steps: int
    loss: Callable[[PhaseStep], Losses]
    optimiser: Optimizer | None = None
    rate: Callable[[float], float] = constant
    rates: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        groups = [] if self.optimiser is None else self.optimiser.param_groups
        object.__setattr__(self, "rates", tuple(float(group["lr"]) for group in groups))


@dataclass(frozen=True, slots=True)
class _Learner:
    """The state that a checkpoint saves."""

    networks: nn.Module
    phases: Sequence[Phase]

    @property
    def optimizers(self) -> list[Optimizer]:
        return [phase.optimiser for phase in self.phases if phase.optimiser is not None]


def fit(
    network: nn.Module,
    phases: Sequence[Phase],
    *,
    seed: int,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = CHECKPOINT_S,
) -> float:
    """Take `network` through all phases; it is in evaluation mode at the end. Returns seconds
    spent, over all restarts. Raises ModelError: the checkpoint does not fit, the loss is no longer
    finite, the disk refuses.

    provenance : what else decides the weights; a checkpoint made otherwise is refused.
    state : folder of the checkpoint, from which the run goes on where there is one. It stays.
    progress : called about five times a second and at the end of each phase. What it raises ends
        the run, which can then be resumed.
    """
    run = Run(_Learner(network, phases))
    ends = list(accumulate(phase.steps for phase in phases))

    def take(iteration: int) -> StepResult:
        index = bisect_right(ends, iteration)
        phase = phases[index]
        number = iteration - ends[index] + phase.steps
        random = np.random.default_rng([seed, iteration])
        losses = _step(network, phase, PhaseStep(number, phase.steps, random))
        last = number == phase.steps - 1
        if last and phase.optimiser is not None:
            phase.optimiser.state.clear()
        place = f"step {number + 1} of the phase {phase.name!r}"
        return StepResult(losses, phase.name, place, last)

    run_steps(
        run,
        ends[-1],
        take,
        provenance=provenance,
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    network.eval()
    return run.seconds


def _step(network: nn.Module, phase: Phase, step: PhaseStep) -> Losses:
    if phase.optimiser is None:
        network.eval()
        with torch.no_grad():
            return phase.loss(step)
    network.train()
    for group, rate in zip(phase.optimiser.param_groups, phase.rates, strict=True):
        group["lr"] = rate * phase.rate(step.number / step.steps)
    network.zero_grad(set_to_none=True)
    losses = phase.loss(step)
    total = losses["loss"]
    assert isinstance(total, Tensor)
    total.backward()  # type: ignore[no-untyped-call]
    phase.optimiser.step()
    return {
        name: value.detach() if isinstance(value, Tensor) else value
        for name, value in losses.items()
    }


def adamw(network: nn.Module, peak: float, weight_decay: float) -> torch.optim.AdamW:
    """AdamW that decays matrices and kernels, and neither biases nor normalisation."""
    decayed = [p for p in network.parameters() if p.requires_grad and p.ndim > 1]
    free = [p for p in network.parameters() if p.requires_grad and p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": free},
    ]
    return torch.optim.AdamW(groups, lr=peak, weight_decay=0.0, fused=True)
