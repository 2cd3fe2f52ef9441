"""The small network, and learning in phases."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import ModelError
from labapp.models.explanations import data as recipes
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import Phase, PhaseStep, adamw, fit, train
from labapp.models.explanations.cnn import layers
from labapp.models.explanations.package import ClassTest, CnnChecks
from labapp.models.explanations.photos import load_photos
from labapp.models.training.loop import Losses, Progress, Provenance, one_cycle

TINY = """
id: faces/tiny
title: Tiny
data: {dataset: faces, seed: 5, train: 4, validation: 2, test: 15, cue: 0.9}
method: {name: cnn}
schedule: {steps: 12, batch: 8, peak: 0.003, weight_decay: 0}
seed: 2
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with faces/tiny, by the real trainer."""
    root = tmp_path_factory.mktemp("models")
    recipe = root / "tiny.yaml"
    recipe.write_text(TINY, encoding="utf-8")
    train(recipe, out=root)
    return root


@pytest.mark.parametrize("size", [48, 64, 96])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_network_is_of_layers_that_explanations_go_through(size: int, channels: int) -> None:
    network = layers(channels, size, 3)
    assert network(torch.zeros(2, channels, size, size)).shape == (2, 3)
    kinds = [type(layer) for layer in network]
    assert kinds == [
        nn.Conv2d, nn.ReLU, nn.Conv2d, nn.ReLU, nn.MaxPool2d,
        nn.Conv2d, nn.ReLU, nn.Conv2d, nn.ReLU, nn.MaxPool2d,
        nn.Flatten, nn.Linear,
    ]  # fmt: skip
    assert len({id(layer) for layer in network}) == len(network), "each is used once"
    assert not any(layer.padding[0] for layer in network if isinstance(layer, nn.Conv2d))


def test_a_corner_pixel_counts_as_a_pixel_and_not_as_an_edge() -> None:
    """An even picture gives the same everywhere: no zeros come in from outside."""
    network = layers(1, 48, 2)
    with torch.no_grad():
        maps = network[:10](torch.full((1, 1, 48, 48), 0.5))
    assert torch.allclose(maps, maps[:, :, :1, :1].expand_as(maps), atol=1e-6)


def test_the_card_says_how_well_each_class_is_told(trained: Path) -> None:
    classifier = package.load("faces/tiny", root=trained)
    card = classifier.card
    photos = load_photos(card.recipe.data.load().test)
    assert photos.pictures.shape == (30, 1, 48, 48)
    predicted = classifier.predicted(photos.pictures)
    test = card.test
    assert isinstance(test, ClassTest)
    assert list(test.classes) == list(classifier.names) == ["anger", "happiness"]
    assert test.accuracy == pytest.approx(np.mean(predicted == photos.labels), abs=1e-4)
    for number, name in enumerate(test.classes):
        mine = photos.labels == number
        assert test.classes[name].support == mine.sum() == 15
        assert test.classes[name].recall == pytest.approx(
            np.mean(predicted[mine] == number), abs=1e-4
        )
    assert sum(map(sum, test.confusion)) == 30
    checks = card.checks
    assert isinstance(checks, CnnChecks)
    assert checks.parameters == sum(p.numel() for p in classifier.network.parameters())
    assert checks.cues is not None
    for name, worn in (("glasses", "glasses"), ("dark hair", "dark")):
        rows = photos.rows
        angry = photos.labels == 0
        there = np.array([getattr(rows.face(row).identity, worn) for row in range(30)])
        right = predicted == photos.labels
        cue = checks.cues[name]
        assert cue.misleading_pictures == (there != angry).sum()
        assert cue.agreeing == pytest.approx(right[there == angry].mean(), abs=1e-4)
        assert cue.misleading == pytest.approx(right[there != angry].mean(), abs=1e-4)


def test_the_same_recipe_gives_the_same_weights(trained: Path, tmp_path: Path) -> None:
    train(trained / "tiny.yaml", out=tmp_path)
    weights = Path("faces", "tiny", cards.WEIGHTS)
    assert (tmp_path / weights).read_bytes() == (trained / weights).read_bytes()


def test_its_numbers_are_computed_again(trained: Path) -> None:
    result = evaluation.evaluate("faces/tiny", root=trained)
    assert result["agrees"]
    assert result["computed"] == result["card"]
    lines = evaluation.table(result)
    assert any(line.startswith("anger: precision") for line in lines)
    assert any(line.startswith("average: f1") for line in lines)


def test_a_card_whose_classes_do_not_add_up_is_refused(trained: Path) -> None:
    said = cards.read(trained / "faces" / "tiny").test.model_dump()
    said["confusion"][0][0] += 1
    with pytest.raises(ValueError, match="rows of confusion"):
        ClassTest.model_validate(said)
    said["classes"]["anger"]["support"] += 1
    with pytest.raises(ValueError, match="diagonal"):
        ClassTest.model_validate(said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: cnn", "name: resnet", "resnet cannot learn faces"),
        ("dataset: faces, seed: 5, train: 4, validation: 2, test: 15, cue: 0.9",
         "dataset: birds, seed: 5, train: 2", "cnn cannot learn birds"),
        ("cue: 0.9", "cue: 1.9", "cue"),
        ("cue: 0.9", "size: 50", "size"),
        ("dataset: faces", "dataset: fruits", "dataset"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_recipe_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "recipe.yaml"
    assert old in TINY
    path.write_text(TINY.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=said) as refused:
        recipes.read(path)
    assert str(path) in refused.value.what


def test_sets_of_birds_want_a_classifier_of_birds(trained: Path) -> None:
    with pytest.raises(ModelError, match="faces, not on birds"):
        _ = cards.read(trained / "faces" / "tiny").recipe.birds


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
