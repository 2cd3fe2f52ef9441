"""ProtoPNets and ProtoTrees from tiny recipes, by the real trainer, and what they show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from labapp.base.errors import ModelError
from labapp.models.datasets.birds import SPECIES
from labapp.models.explanations import classifier, package, protopnet, prototree
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.package import ProtopnetChecks, PrototreeChecks
from labapp.models.explanations.photos import UInt8, load_photos
from labapp.models.explanations.protopnet import MAXIMUM, ProtoPNet
from labapp.models.explanations.prototree import ProtoTree
from labapp.models.training.loop import Progress

RECIPE = """
id: birds/{name}
title: Tiny
data: {{dataset: birds, seed: 4, train: 3, validation: 1, test: 3, size: 48}}
method: {{name: {name}, {method}}}
schedule: {{steps: 8, batch: 8, peak: 0.003}}
seed: 2
"""
METHODS = {
    "protopnet": "each: 3, width: 8, warm: 3, joint: 3, batch: 8, own_at_least: 2",
    "prototree": "depth: 4, width: 8, epochs: 3, epoch_steps: 2, frozen: 1, batch: 8, "
    "threshold: 0.0",
}
KILLED = {"protopnet": 21, "prototree": 16}
"""Steps after which a run is killed: just before the last push; just before pruning."""


def recipe_at(folder: Path, name: str) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(RECIPE.format(name=name, method=METHODS[name]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name in METHODS:
        classifier.train(recipe_at(root, name), out=root)
    return root


@pytest.fixture(scope="module")
def net(models: Path) -> Classifier:
    return package.load("birds/protopnet", root=models)


@pytest.fixture(scope="module")
def tree(models: Path) -> Classifier:
    return package.load("birds/prototree", root=models)


def pictures_of(model: Classifier) -> UInt8:
    return load_photos(model.card.recipe.data.load().test).pictures


@pytest.mark.parametrize("name", METHODS)
def test_a_loaded_package_predicts_what_was_measured_before_it_was_written(
    models: Path, name: str
) -> None:
    model = package.load(f"birds/{name}", root=models)
    photos = load_photos(model.card.recipe.data.load().test)
    right = model.predicted(photos.pictures) == photos.species
    assert model.card.test.hits == [int(right.sum())]
    network = model.network
    effects = network.get_buffer("effects")
    last = effects[-1, 1] if name == "protopnet" else effects[-1, 1, 1]
    assert float(last) == pytest.approx(right.mean(), abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_run_killed_among_the_deeds_makes_the_same_weights(
    models: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labapp.models.training.loop.REPORT_S", 0.0)

    def kill(progress: Progress) -> None:
        if progress.step == KILLED[name]:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        classifier.train(recipe_at(tmp_path, name), out=out, progress=kill, checkpoint_s=0)
    classifier.train(recipe_at(tmp_path, name), out=out)
    weights = Path("birds", name, cards.WEIGHTS)
    assert (out / weights).read_bytes() == (models / weights).read_bytes()


def test_a_prototype_is_a_patch_of_a_training_picture_of_its_species(net: Classifier) -> None:
    assert isinstance(net.network, ProtoPNet)
    train = load_photos(net.card.recipe.data.load().train)
    known = protopnet.prototypes(net)
    assert [one.number for one in known] == list(range(len(known)))
    assert {one.species for one in known} == set(range(SPECIES))
    shown = protopnet.explain(net, train.pictures[[one.row for one in known]])
    for at, one in enumerate(known):
        assert train.species[one.row] == one.species
        own = shown.maps[at, one.number]
        assert own[one.cell] == pytest.approx(MAXIMUM, abs=1e-4)
        assert own.max() == own[one.cell]
        box = shown.boxes(at, np.array([one.number]))[0]
        np.testing.assert_allclose(one.box, box, atol=1e-6)
        left, top, right, bottom = np.array(one.box) * 6
        assert left <= one.cell[1] + 0.1 <= right
        assert top <= one.cell[0] + 0.1 <= bottom
    checks = net.card.checks
    assert isinstance(checks, ProtopnetChecks)
    assert checks.kept == len(known)
    assert checks.own_similarity == pytest.approx(checks.greatest_similarity, abs=1e-3)


def test_the_scores_are_the_weighted_similarities_that_are_shown(net: Classifier) -> None:
    shown = protopnet.explain(net, pictures_of(net))
    np.testing.assert_array_equal(shown.similarities, shown.maps.max((2, 3)))
    np.testing.assert_allclose(shown.scores, net.scores(pictures_of(net)), rtol=1e-5, atol=1e-4)
    kept = net.network.get_buffer("kept").bool()
    weights = net.network.get_parameter("last.weight").detach()[:, kept].numpy()
    np.testing.assert_allclose(shown.similarities @ weights.T, shown.scores, rtol=1e-3, atol=1e-3)
    for one in protopnet.prototypes(net):
        assert one.weight == pytest.approx(float(weights[one.species, one.number]))


def test_the_way_that_is_shown_ends_at_the_prediction(tree: Classifier) -> None:
    pictures = pictures_of(tree)
    shown = prototree.explain(tree, pictures)
    np.testing.assert_array_equal(shown.predicted, tree.predicted(pictures))
    assert shown.share_error < 1e-9
    np.testing.assert_allclose(shown.soft.sum(1), 1)
    for picture in range(len(pictures)):
        node = 0
        for step in shown.path(picture):
            assert step.node == node
            assert step.present == (step.probability > 0.5)
            assert shown.tree.inner[step.prototype] == node
            node = int(shown.tree.children[node, int(step.present)])
        leaf = shown.tree.leaves.tolist().index(node)
        assert shown.leaf_species[leaf] == shown.predicted[picture]


def test_a_projected_prototype_is_a_patch_of_a_species_below_its_node(tree: Classifier) -> None:
    assert isinstance(tree.network, ProtoTree)
    train = load_photos(tree.card.recipe.data.load().train)
    known = prototree.prototypes(tree)
    shown = prototree.explain(tree, train.pictures[[one.row for one in known]])
    assert [one.node for one in known] == shown.tree.inner.tolist()
    for at, one in enumerate(known):
        below = shown.leaf_species[shown.tree.below(one.node)]
        assert train.species[one.row] in below
        # The patch itself is there for certain, but for the rounding of its float32 copy.
        assert shown.probabilities[at, one.number] == pytest.approx(1, abs=1e-5)
        assert tuple(shown.cells[at, one.number]) == one.cell
    checks = tree.card.checks
    assert isinstance(checks, PrototreeChecks)
    assert checks.questions == len(known)
    assert checks.leaves == len(known) + 1


def whole(species: list[int], probabilities: list[list[float]]) -> prototree.TreeExplanation:
    """Ways through a complete tree of depth 3 whose leaves say these species."""
    network = ProtoTree(3, SPECIES, 4)
    near = -torch.tensor(probabilities, dtype=torch.float64).log()
    leaf = prototree.greedy(near, network.absent, network.present, network.telling)
    return prototree.TreeExplanation(
        tree=network.whole,
        distributions=np.eye(SPECIES, dtype=np.float32)[species],
        probabilities=np.array(probabilities),
        cells=np.zeros((len(probabilities), 7, 2), np.int64),
        leaf=leaf.numpy(),
        soft=np.zeros((len(probabilities), SPECIES)),
        share_error=0.0,
        shape=(12, 12),
    )


def test_the_final_two_steps_are_those_below_which_four_species_are_told() -> None:
    """Of the two subtrees at depth 1, the second says a species twice."""
    left, right = [0.1, 0.9, 0.5, 0.2, 0.8, 0.5, 0.5], [0.7, 0.5, 0.1, 0.5, 0.5, 0.3, 0.5]
    found = prototree.final_twos(whole([4, 5, 6, 7, 1, 2, 3, 1], [left, right]))
    assert found == [prototree.FinalTwo(0, (1, 3, 4), (4, 5, 6, 7), (True, True))]


def test_what_is_another_method_is_refused(net: Classifier, tree: Classifier) -> None:
    with pytest.raises(ModelError, match="birds/prototree is a "):
        protopnet.explain(tree, pictures_of(tree))
    with pytest.raises(ModelError, match="birds/protopnet is a "):
        prototree.explain(net, pictures_of(net))
