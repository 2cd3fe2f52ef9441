"""The shipped concept models and their stimulus sets: what they say of themselves is so."""

from __future__ import annotations

import numpy as np
import pytest

from labapp import resources
from labapp.concepts import card as cards
from labapp.concepts import measuring, package, recipe
from labapp.concepts.intervention import interventions
from labapp.datasets.concepts.rows import part
from labapp.stimuli import answer_files, importing, library
from labapp.stimuli.manifest import Manifest

SHIPPED = package.list_packages(resources.models())
SETS = [
    row["id"]
    for row in library.list_sets()
    if (library.shipped_folder() / row["id"] / "answers.npy").is_file()
]


def manifest_of(name: str) -> Manifest:
    return library.load(name).manifest


@pytest.mark.parametrize("name", SHIPPED)
def test_a_model_is_that_of_its_recipe_and_as_good_as_its_card_says(name: str) -> None:
    folder = package.find(name, resources.models())
    card = cards.read(folder)
    assert card.recipe.digest == recipe.shipped()[name].digest
    model = package.load(name, root=resources.models())
    data = card.recipe.data.load(card.recipe.measures)
    every = np.arange(0, len(data.split.test), 8)
    rows = part(data.split.test, every)
    stored = package.codes(folder, card)
    np.testing.assert_allclose(model.codes(rows), stored["codes"][every], atol=1e-3)
    measured = measuring.accuracy(model, rows, card.data.concepts)
    for share, stated in ((measured.task, card.test.task), (measured.concepts, card.test.concepts)):
        assert share == pytest.approx(stated, abs=0.04)


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_the_answers_of_its_shipped_model(name: str) -> None:
    manifest = manifest_of(name)
    assert manifest.concept_model is not None
    assert manifest.concept_model.model in SHIPPED
    model = package.load(manifest.concept_model.model, root=resources.models())
    assert manifest.concept_model.sha256 == model.card.weights_sha256
    data = model.card.recipe.data.load(model.card.recipe.measures)
    photos = manifest.photos[::10]
    rows = part(data.split.test, np.array([int(photo.id[1:]) for photo in photos]))
    table = interventions(model, rows).answers()
    stored = answer_files.read(library.shipped_folder() / name, str(manifest.answers))[::10]
    np.testing.assert_allclose(stored.astype(float), table.astype(float), atol=5e-3)


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_in_order(name: str) -> None:
    result = importing.read_checked(library.shipped_folder() / name)
    assert not result.warnings


def test_sets_of_one_task_share_their_natural_pictures() -> None:
    natural: dict[str, list[set[str]]] = {}
    for name in SETS:
        manifest = manifest_of(name)
        ids = {photo.id for photo in manifest.photos if photo.natural}
        natural.setdefault(manifest.source, []).append(ids)
    assert natural
    for sets in natural.values():
        assert len(sets) > 1
        assert all(ids == sets[0] for ids in sets)
