"""Every objective on its own networks: learns, and goes on from a checkpoint to the same bits."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from labapp.models.datasets.split import ArrayRows, Split
from labapp.models.representations import networks, package, training
from labapp.models.representations.networks import Losses
from labapp.models.representations.recipe import Recipe
from labapp.models.training import loop
from labapp.models.training.loop import Provenance, Run

CPU = torch.device("cpu")
DSPRITES = {"dataset": "dsprites", "held_out": 10, "seed": 0}
MNIST = {"dataset": "mnist", "digits": "t10k", "held_out": 2_000}
SINELINES = {"dataset": "sinelines", "count": 100, "held_out": 10, "seed": 0}

KINDS = [
    (SINELINES, "sinelines-mlp", {"name": "vae"}, "float32"),
    (DSPRITES, "dsprites-conv", {"name": "ae"}, "float32"),
    (DSPRITES, "dsprites-conv", {"name": "vae"}, "bfloat16"),
    (DSPRITES, "dsprites-conv", {"name": "gt"}, "bfloat16"),
    (MNIST, "mnist-conv", {"name": "ae"}, "bfloat16"),
    (MNIST, "mnist-conv", {"name": "tcvae"}, "float32"),
    (MNIST, "mnist-conv", {"name": "ss-tcvae"}, "bfloat16"),
    (MNIST, "mnist-infogan", {"name": "infogan"}, "bfloat16"),
]
SHAPES = {"sinelines": (64,), "dsprites": (64, 64), "mnist": (28, 28)}
WIDTH = 5

each_kind = pytest.mark.parametrize(
    ("data", "architecture", "objective", "precision"),
    KINDS,
    ids=[f"{kind[1]}-{kind[2]['name']}" for kind in KINDS],
)


def make(
    data: dict[str, object], architecture: str, objective: dict[str, object], precision: str
) -> Recipe:
    return Recipe.model_validate(
        {
            "id": "tiny/one",
            "title": "A tiny one",
            "data": data,
            "architecture": architecture,
            "dimensions": WIDTH,
            "objective": objective,
            "optimizer": {
                "learning_rate": 0.001,
                "batch": 16,
                "epochs": 1,
                "precision": precision,
            },
            "seed": 7,
        }
    )


def rows(recipe: Recipe, count: int) -> ArrayRows:
    """Instances that follow from their factors; the factor of digits is a label."""
    rng = np.random.default_rng(0)
    shape = SHAPES[recipe.data.dataset]
    if recipe.data.dataset == "mnist":
        factors = rng.integers(10, size=(count, 1)).astype(np.float64)
        x = np.zeros((count, *shape), np.float32)
        for row, digit in enumerate(factors[:, 0]):
            x[row, 4:24, int(digit) * 2 + 3 : int(digit) * 2 + 7] = 1
        return ArrayRows(x, factors)
    factors = rng.uniform(size=(count, WIDTH))
    ramp = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    x = (factors[:, 0].reshape(-1, *(1 for _ in shape)) > ramp).astype(np.float32)
    return ArrayRows(x, factors)


def learn(learner: training.Learner, data: ArrayRows, first: int, last: int) -> Losses:
    losses: Losses = {}
    for iteration in range(first, last):
        rng = np.random.default_rng([0, iteration])
        chosen = rng.integers(len(data), size=16)
        losses = learner.step(
            torch.from_numpy(data.instances(chosen)),
            torch.from_numpy(data.factors(chosen).astype(np.float32)),
            rng,
            iteration / 100,
        )
    return losses


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@each_kind
def test_a_resumed_run_is_the_same_to_the_last_bit(
    tmp_path: Path,
    data: dict[str, object],
    architecture: str,
    objective: dict[str, object],
    precision: str,
) -> None:
    recipe = make(data, architecture, objective, precision)
    some = rows(recipe, 64)
    whole = training.build(recipe, CPU)
    learn(whole, some, 0, 2)
    provenance = Provenance(recipe.digest, "cpu", 1)
    loop.save(tmp_path, Run(whole, 2, 0.0), provenance)
    learn(whole, some, 2, 4)

    other = Run(training.build(recipe, CPU))
    loop.restore(tmp_path, other, provenance)
    assert other.iteration == 2
    learn(other.learner, some, 2, 4)
    expected = whole.networks.state_dict()
    found = other.learner.networks.state_dict()
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        assert torch.equal(values, found[name]), name


@each_kind
def test_learning_makes_the_reconstruction_better(
    data: dict[str, object], architecture: str, objective: dict[str, object], precision: str
) -> None:
    recipe = make(data, architecture, objective, precision)
    some = rows(recipe, 64)
    learner = training.build(recipe, CPU)
    name = {
        "infogan": "information",
        "vae" if architecture == "sinelines-mlp" else "-": "squared_error",
    }.get(str(objective["name"]), "cross_entropy")
    first = learn(learner, some, 0, 1)[name].item()
    last = learn(learner, some, 1, 25)[name].item()
    if name == "information":
        assert last > first + 0.5
    else:
        assert last < 0.96 * first


def test_the_generator_learns_from_the_discriminator_and_not_it_from_the_generator() -> None:
    """With no learning rate of its own, each side stays as it was."""
    recipe = make(MNIST, "mnist-infogan", {"name": "infogan"}, "float32")
    learner = training.build(recipe, CPU)
    assert isinstance(learner, training.InfoGanLearner)
    before = copy.deepcopy(learner.networks.state_dict())
    real_step = learner.optimizers[0].step
    learner.optimizers[0].step = lambda: None  # type: ignore[method-assign, assignment]
    learn(learner, rows(recipe, 16), 0, 1)
    learner.optimizers[0].step = real_step  # type: ignore[method-assign]
    after = learner.networks.state_dict()
    moved = {
        name.split(".")[0]
        for name, values in before.items()
        if "running" not in name and "tracked" not in name and not torch.equal(values, after[name])
    }
    assert moved == {"decoder"}


@pytest.mark.parametrize(
    ("schedule", "done", "share"),
    [
        ("constant", 0.0, 1.0),
        ("constant", 0.99, 1.0),
        ("cosine", 0.0, 1.0),
        ("cosine", 0.5, 0.5),
        ("cosine", 0.75, 0.5 * (1 - 0.5**0.5)),
        ("late-cosine", 0.8, 1.0),
        ("late-cosine", 0.9, 0.5),
        ("late-cosine", 1.0, 0.0),
    ],
)
def test_the_rate_follows_its_schedule_and_the_generators_is_a_multiple(
    schedule: str, done: float, share: float
) -> None:
    recipe = make(MNIST, "mnist-infogan", {"name": "infogan", "generator_rate": 5.0}, "float32")
    scheduled = recipe.model_copy(
        update={"optimizer": recipe.optimizer.model_copy(update={"schedule": schedule})}
    )
    learner = training.build(scheduled, CPU)
    some = rows(recipe, 16)
    x = torch.from_numpy(some.x)
    labels = torch.from_numpy(some.f.astype(np.float32))
    learner.step(x, labels, np.random.default_rng(0), done)
    rates = [adam.param_groups[0]["lr"] for adam in learner.optimizers]
    assert rates == pytest.approx([0.001 * share, 0.005 * share])


def a_split(recipe: Recipe) -> Split:
    held = rows(recipe, 40)
    names = tuple(f"f{i}" for i in range(held.f.shape[1]))
    return Split(rows(recipe, 64), held, names, generative=recipe.data.dataset != "mnist")


def test_ground_truth_keeps_the_held_out_factors_and_their_names() -> None:
    recipe = make(DSPRITES, "dsprites-conv", {"name": "gt"}, "float32")
    data = a_split(recipe)
    found = training.of_held_out(recipe, training.build(recipe, CPU).networks, data)
    np.testing.assert_allclose(found.latents, data.held.factors(np.arange(40)), atol=1e-7)
    assert found.spread is None
    assert [dial.name for dial in found.dials] == ["f0", "f1", "f2", "f3", "f4"]


def test_labels_stand_in_front_of_the_encodings_and_do_not_spread() -> None:
    recipe = make(MNIST, "mnist-conv", {"name": "ss-tcvae"}, "float32")
    data = a_split(recipe)
    found = training.of_held_out(recipe, training.build(recipe, CPU).networks, data)
    assert found.latents.shape == (40, 1 + WIDTH)
    assert np.array_equal(found.latents[:, :1], data.held.factors(np.arange(40)))
    assert found.spread is not None
    assert (found.spread[:, 0] == 0).all()
    assert (found.spread[:, 1:] > 0).all()
    assert [dial.type for dial in found.dials] == ["discrete"] + ["continuous"] * WIDTH


def test_a_generators_sample_is_drawn_from_its_prior() -> None:
    recipe = make(MNIST, "mnist-infogan", {"name": "infogan"}, "float32")
    found = training.of_held_out(recipe, training.build(recipe, CPU).networks, a_split(recipe))
    assert found.latents.shape == (package.PRIOR_SAMPLE, 1 + WIDTH)
    counts = np.bincount(found.latents[:, 0].astype(int), minlength=10)
    assert counts.min() > 400
    codes = found.latents[:, 1:]
    assert -1 <= codes.min() < -0.99
    assert 0.99 < codes.max() <= 1


def test_the_start_is_glorots_and_follows_the_seed() -> None:
    one, other = torch.nn.Linear(300, 200), torch.nn.Linear(300, 200)
    networks.initialise(one, torch.Generator().manual_seed(1))
    networks.initialise(other, torch.Generator().manual_seed(1))
    assert torch.equal(one.weight, other.weight)
    assert one.weight.abs().max().item() == pytest.approx((6 / 500) ** 0.5, rel=1e-3)
    assert one.bias.abs().max().item() == 0
