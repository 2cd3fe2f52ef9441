"""Painted birds with their marks as concepts."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.birds import GENERA, SPECIES, marks_of, name_of
from labapp.models.datasets.concepts.marked_birds import CLASSES, FIRST, marked_birds
from labapp.models.stimuli.pictures import paint_bird


def test_each_species_is_made_by_its_marks() -> None:
    split = marked_birds(train=2, test=3)
    assert (split.classes, len(split.train), len(split.test)) == (16, 32, 48)
    assert len({tuple(rule.values()) for rule in split.rules}) == CLASSES
    assert split.class_names[0] == ("s04", name_of(4))
    rows = split.test
    for row in (0, 17, 47):
        species = FIRST + int(rows.labels_of[row])
        assert tuple(rows.concepts_of[row].tolist()) == marks_of(species)
        assert split.rules[rows.labels_of[row]] == dict(enumerate(marks_of(species)))
    # Why a genus is left out: with it, two species would have the marks of others.
    every = [marks_of(species) for species in range(SPECIES)]
    assert len(set(every)) == SPECIES - 2
    assert GENERA[0].name == "lorrin"


def test_a_reference_is_of_the_very_bird() -> None:
    split = marked_birds(seed=3, train=1, test=3)
    assert split.reference is not None
    row = np.array([37])
    reference = split.reference(split.test.factors(row)[0])
    assert reference == "bird:3:test:9:2"
    large = paint_bird(reference, 64).transpose(2, 0, 1) / 255
    assert np.abs(large - split.test.instances(row)[0]).max() < 0.01


def test_a_part_needs_a_bird() -> None:
    with pytest.raises(ValueError, match="need a bird"):
        marked_birds(train=0)
