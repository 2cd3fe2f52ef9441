"""The shipped ProtoPNet and ProtoTree can be explained as the studies explain them."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.base import resources
from labapp.models.datasets.birds import SPECIES
from labapp.models.explanations import package, protopnet, prototree
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.package import ProtopnetChecks, PrototreeChecks
from labapp.models.explanations.photos import load_photos
from labapp.models.explanations.protopnet import MAXIMUM

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
