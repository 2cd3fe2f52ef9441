"""The shipped classifiers and prototypes are what their cards say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.datasets.birds import SPECIES
from labapp.models.explanations import data, package, protopnet, prototree
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.evaluation import hits
from labapp.models.explanations.package import (
    HUNDRED,
    BagnetChecks,
    ClassTest,
    CnnChecks,
    GradcamChecks,
    ProtopnetChecks,
    PrototreeChecks,
)
from labapp.models.explanations.photos import load_photos
from labapp.models.explanations.protopnet import MAXIMUM
from tests.helpers.sample import sample

THERE = ("birds/bagnet", "birds/protopnet", "birds/prototree", "birds/resnet", "faces/cnn")

"""What must be shipped; all that is shipped is held to the same."""

SHIPPED = package.list_packages(resources.models())

BIRDS = [name for name in SHIPPED if name.startswith("birds/")]

FACES = [name for name in SHIPPED if name.startswith("faces/")]

RECHECKED = sample((HUNDRED, 2 * HUNDRED, 3 * HUNDRED), (HUNDRED,))[-1]


def test_nothing_is_missing() -> None:
    assert set(THERE) <= set(SHIPPED)


def test_the_id_of_a_shipped_classifier_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    with pytest.raises(ModelError, match="is already used by"):
        package.refuse_existing(tmp_path / "birds" / "resnet")


@pytest.mark.parametrize("model", SHIPPED)
def test_it_was_made_by_its_recipe(model: str) -> None:
    made_by = data.read(resources.models() / "recipes" / f"{model.replace('/', '-')}.yaml")
    assert cards.read(resources.models() / model).recipe == made_by


@pytest.mark.parametrize("model", BIRDS)
def test_it_errs_as_studies_need_it(model: str) -> None:
    test = cards.read(resources.models() / model).test
    assert isinstance(test, cards.BirdTest)
    assert test.pictures >= 2_000
    assert 0.75 <= test.accuracy <= 0.90
    assert min(test.recall) > 0.4
    assert test.usable >= 60
    assert test.decidable >= 0.6


@pytest.mark.parametrize("model", FACES)
def test_it_takes_faces_for_both_others_and_goes_by_what_does_not_count(model: str) -> None:
    """Whom it takes for the wrong one, people must see as the right one; see `test_faces`."""
    card = cards.read(resources.models() / model)
    assert isinstance(card.test, ClassTest)
    assert isinstance(card.checks, CnnChecks)
    assert card.test.pictures >= 600
    assert 0.75 <= card.test.accuracy <= 0.90
    for number, row in enumerate(card.test.confusion):
        assert sum(row) - row[number] >= 10
        assert row[number] / sum(row) > 0.6
    assert card.checks.cues is not None
    for cue in card.checks.cues.values():
        assert cue.agreeing - cue.misleading > 0.1


@pytest.mark.parametrize("model", SHIPPED)
def test_it_does_what_its_card_says(model: str) -> None:
    """A part of the pictures, counted as the card counts them: one each hundred may turn."""
    classifier = package.load(model, root=resources.models())
    photos = load_photos(classifier.card.recipe.data.load().test, RECHECKED)
    right = classifier.predicted(photos.pictures) == photos.labels
    stated = classifier.card.test.hits[: RECHECKED // HUNDRED]
    assert np.abs(np.subtract(hits(right), stated)).max() <= 1


def test_gradcam_points_and_tells_sisters_apart() -> None:
    checks = cards.read(resources.models() / "birds/resnet").checks
    assert isinstance(checks, GradcamChecks)
    assert checks.pointing.on_mark >= 4 * checks.pointing.by_chance
    assert checks.pointing.on_bird > 0.7
    assert checks.sisters < 0.6


def test_a_bag_of_patches_is_one() -> None:
    card = cards.read(resources.models() / "birds/bagnet")
    assert isinstance(card.checks, BagnetChecks)
    assert card.recipe.method.name == "bagnet"
    assert card.checks.field == (card.recipe.method.field,) * 2
    assert card.checks.map_error < 1e-4
    assert card.checks.pointing.on_mark >= 4 * card.checks.pointing.by_chance


LOST = 0.05

"""Of the accuracy, what push and pruning may cost."""

APART = 0.03

"""How far the likelier answers alone may be from all ways together."""


def loaded(name: str) -> Classifier:
    return package.load(f"birds/{name}", root=resources.models())


@pytest.fixture(scope="module")
def net() -> Classifier:
    return loaded("protopnet")


@pytest.fixture(scope="module")
def tree() -> Classifier:
    return loaded("prototree")


def test_push_and_pruning_cost_little() -> None:
    checks = cards.read(resources.models() / "birds/protopnet").checks
    assert isinstance(checks, ProtopnetChecks)
    before = checks.accuracy["before"]
    assert before - checks.accuracy["weighed"] <= LOST
    assert before - checks.accuracy["pruned"] <= LOST
    assert checks.own_similarity == pytest.approx(checks.greatest_similarity, abs=0.01)
    assert checks.on_parts >= 0.5
    assert checks.fewest >= 2


def test_every_prototype_is_a_patch_of_its_species_and_speaks_for_it(net: Classifier) -> None:
    train = load_photos(net.card.recipe.data.load().train)
    known = protopnet.prototypes(net)
    shown = protopnet.explain(net, train.pictures[[one.row for one in known]])
    own = shown.similarities[range(len(known)), [one.number for one in known]]
    np.testing.assert_allclose(own, MAXIMUM, atol=0.01)
    assert [int(train.species[one.row]) for one in known] == [one.species for one in known]
    assert min(one.weight for one in known) > 0
    assert len({(one.species, one.row, one.cell) for one in known}) == len(known)


def test_the_likelier_answers_say_what_all_ways_say_together() -> None:
    checks = cards.read(resources.models() / "birds/prototree").checks
    assert isinstance(checks, PrototreeChecks)
    last = checks.accuracy["projected"]
    assert abs(last.soft - last.greedy) <= APART
    assert checks.eligible >= 100
    assert checks.share_error < 1e-9
    assert checks.on_parts >= 0.5


def test_every_species_is_at_a_leaf_and_every_question_has_a_patch_below(tree: Classifier) -> None:
    train = load_photos(tree.card.recipe.data.load().train)
    known = prototree.prototypes(tree)
    shown = prototree.explain(tree, train.pictures[[one.row for one in known]])
    assert set(shown.leaf_species) == set(range(SPECIES))
    for at, one in enumerate(known):
        assert train.species[one.row] in shown.leaf_species[shown.tree.below(one.node)]
        assert shown.probabilities[at, one.number] > 0.99


def test_the_last_two_steps_decide_between_four_species(tree: Classifier) -> None:
    photos = load_photos(tree.card.recipe.data.load().test, 400)
    shown = prototree.explain(tree, photos.pictures)
    finals = prototree.final_twos(shown)
    assert len(finals) >= 20
    for one in finals:
        assert len(set(one.species)) == 4
        # The answers lead to the prediction: absent and absent is the first, and so on.
        at = 2 * one.answers[0] + one.answers[1]
        assert one.species[at] == shown.predicted[one.picture]
