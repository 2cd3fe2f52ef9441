"""Learning in phases: what a step is told, and that a killed run ends as if it had not been."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import ModelError
from labapp.models.explanations.classifier import Phase, PhaseStep, adamw, fit
from labapp.models.training.loop import Losses, Progress, Provenance, one_cycle

PROVENANCE = Provenance("recipe", "cpu", 1)


class Small(nn.Module):
    """A line through batch normalisation, and a buffer that a deed writes."""

    found: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.register_buffer("found", torch.zeros(()))


def phases(network: Small, *, stop_at: tuple[str, int] | None = None) -> list[Phase]:
    """Descent, a deed that multiplies a weight, descent on the last layer only."""

    def loss(name: str) -> object:
        def of(step: PhaseStep) -> Losses:
            if stop_at == (name, step.number):
                raise KeyboardInterrupt
            x = torch.from_numpy(step.random.standard_normal((8, 3), dtype=np.float32))
            error = (network.body(x).flatten() - x.sum(1)).square().mean()
            return {"loss": error, "done": step.number / step.steps}

        return of

    def deed(step: PhaseStep) -> Losses:
        if stop_at == ("deed", step.number):
            raise KeyboardInterrupt
        assert not network.training
        assert not torch.is_grad_enabled()
        network.found += 1
        network.body[2].weight *= 2
        return {}

    return [
        Phase("all", 10, loss("all"), adamw(network, 0.01, 0.05), one_cycle(0.2)),
        Phase("deed", 1, deed),
        Phase("last", 5, loss("last"), torch.optim.Adam(network.body[2].parameters(), 0.01)),
    ]


def ended(tmp_path: Path, *stops: tuple[str, int]) -> dict[str, torch.Tensor]:
    """The weights of a run that was killed at each of `stops` and went on."""
    state = tmp_path / "-".join(f"{name}{number}" for name, number in stops)
    for stop in (*stops, None):
        network = Small()
        how = phases(network, stop_at=stop)
        arguments = {"seed": 3, "provenance": PROVENANCE, "state": state, "checkpoint_s": 0.0}
        if stop is None:
            fit(network, how, **arguments)
            assert not network.training
            return network.state_dict()
        with pytest.raises(KeyboardInterrupt):
            fit(network, how, **arguments)
    raise AssertionError


def test_a_killed_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    whole = ended(tmp_path)
    assert whole["found"] == 1
    for stops in ([("all", 4)], [("deed", 0)], [("last", 0)], [("all", 7), ("last", 3)]):
        again = ended(tmp_path, *stops)
        assert all(torch.equal(whole[name], again[name]) for name in whole), stops


def test_the_last_phase_leaves_the_rest_alone(tmp_path: Path) -> None:
    network = Small()
    fit(network, phases(network)[:2], seed=3, provenance=PROVENANCE, state=tmp_path / "a")
    first = {name: value.clone() for name, value in network.body[0].named_parameters()}
    last = network.body[2].weight.clone()
    fit(network, phases(network)[2:], seed=3, provenance=PROVENANCE, state=tmp_path / "b")
    assert all(torch.equal(first[n], value) for n, value in network.body[0].named_parameters())
    assert not torch.equal(last, network.body[2].weight)


def test_another_recipe_or_number_of_threads_is_refused(tmp_path: Path) -> None:
    network = Small()
    how = phases(network, stop_at=("last", 1))
    with pytest.raises(KeyboardInterrupt):
        fit(network, how, seed=3, provenance=PROVENANCE, state=tmp_path, checkpoint_s=0)
    for provenance, said in (
        (Provenance("other", "cpu", 1), "another recipe"),
        (Provenance("recipe", "cpu", 2), "1 CPU thread"),
    ):
        network = Small()
        with pytest.raises(ModelError, match=said) as refused:
            fit(network, phases(network), seed=3, provenance=provenance, state=tmp_path)
        assert refused.value.todo


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    network = nn.Linear(1, 1)

    def loss(step: PhaseStep) -> Losses:
        return {"loss": network.weight.sum() * float("nan")}

    phase = Phase("wild", 3, loss, adamw(network, 0.1, 0.0))
    with pytest.raises(ModelError, match="no longer finite at step 3 of the phase 'wild'"):
        fit(network, [phase], seed=0, provenance=PROVENANCE, state=tmp_path)
    assert not (tmp_path / "checkpoint.safetensors").exists()


def test_progress_tells_phase_and_share(tmp_path: Path) -> None:
    network = Small()
    told: list[Progress] = []
    seconds = fit(
        network,
        phases(network),
        seed=3,
        provenance=PROVENANCE,
        state=tmp_path,
        progress=told.append,
    )
    assert [one.phase for one in told if one.step in (10, 11, 16)] == ["all", "deed", "last"]
    assert told[-1].step == told[-1].steps == 16
    assert told[-1].remaining_s == 0
    assert told[-1].losses["done"] == 0.8
    assert seconds == told[-1].elapsed_s > 0


def test_one_cycle_rises_and_falls() -> None:
    rate = one_cycle(0.2)
    values = [rate(i / 100) for i in range(101)]
    assert values[0] == pytest.approx(0.04)
    assert values[20] == pytest.approx(1)
    assert values[100] == pytest.approx(0, abs=1e-12)
    assert all(a < b for a, b in pairwise(values[:21]))
    assert all(a > b for a, b in pairwise(values[20:]))
    assert one_cycle(0.0)(0.0) == 1


def test_biases_and_normalisation_do_not_decay() -> None:
    decayed, free = adamw(Small(), 0.01, 0.05).param_groups
    assert decayed["weight_decay"] == 0.05
    assert [tuple(p.shape) for p in decayed["params"]] == [(4, 3), (1, 4)]
    assert free["weight_decay"] == 0
    assert len(free["params"]) == 4
