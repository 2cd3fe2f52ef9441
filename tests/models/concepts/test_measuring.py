"""What is measured of learners that are no bottlenecks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.models.concepts import training
from labapp.models.concepts.learner import ConceptModel, Setup, build, in_memory
from labapp.models.concepts.recipe import ConceptData
from labapp.models.training.loop import Provenance
from tests.models.concepts.conftest import brief_ois, recipe

TOY = {"dataset": "toy"}
SPRITES = {"dataset": "dsprites", "concepts": 4, "pixels": 32}


def untrained(source: dict[str, Any], learner: dict[str, Any]) -> tuple[ConceptModel, ConceptData]:
    made = recipe(source, learner)
    data = made.data.load(made.measures)
    names, classes = data.split.concept_names, data.split.classes
    setup = Setup(data.shape, len(names), classes, made.measures, made.seed)
    return ConceptModel(build(made.learner, setup)), data


def test_of_discovered_codes_completeness_is_measured(tmp_path: Path) -> None:
    model, data = untrained(TOY, {"name": "ccd"})
    training.fit(
        model._learner,
        in_memory(data.split.train),
        seed=0,
        provenance=Provenance("tiny", "cpu", 1),
        state=tmp_path,
    )
    rows = data.split.test
    codes = model.codes(rows)
    logits, through = model.task_logits(rows), model.predict_from(codes)
    assert logits is not None
    assert through is not None
    network, concepts = (
        float((answers.argmax(axis=1) == rows.labels_of).mean()) for answers in (logits, through)
    )
    chance = max(rows.labels_of.mean(), 1 - rows.labels_of.mean())
    assert network > 0.9
    measured = training.complete(model, rows, codes, network)
    expected = (concepts - chance) / (network - chance)
    assert measured == {"completeness": pytest.approx(expected, abs=1e-4)}
    assert 0.2 < expected < 1.2
    assert training.complete(model, rows, codes, chance) == {}


def test_as_published_other_codes_are_scored() -> None:
    model, data = untrained(TOY, {"name": "senn", "units": 4})
    rows = data.split.test
    codes = model.codes(rows)
    scores = training.scores(model, data, codes, model.codes(data.split.train))
    concepts = rows.concepts_of.astype(np.float64)
    published = model.codes(rows, as_published=True)
    assert scores["ois"] == pytest.approx(brief_ois(codes, concepts, align=True).score, abs=1e-4)
    assert scores["ois_published"] == pytest.approx(
        brief_ois(published, concepts, align=True, as_published=True).score, abs=1e-4
    )
    assert "ois_maps" not in scores
    assert training.complete(model, rows, codes, 0.9) == {}


def test_maps_are_scored_beside_what_sums_them_up() -> None:
    model, data = untrained(SPRITES, {"name": "cw"})
    rows = data.split.test
    maps = model.maps(rows)
    assert maps is not None
    assert maps.shape == (300, 4, 4, 4)
    codes = model.codes(rows)
    scores = training.scores(model, data, codes, model.codes(data.split.train))
    flat = maps.reshape(300, 4, 16)
    expected = brief_ois(flat, rows.concepts_of.astype(np.float64)).score
    assert scores["ois_maps"] == pytest.approx(expected, abs=1e-4)


def test_the_release_aligns_self_explained_concepts_of_numbers_alone() -> None:
    assert untrained(TOY, {"name": "senn"})[0].aligned_as_published
    of_pictures = untrained(SPRITES, {"name": "senn"})[0]
    assert of_pictures.aligned
    assert not of_pictures.aligned_as_published
    assert not untrained(SPRITES, {"name": "cw"})[0].aligned
