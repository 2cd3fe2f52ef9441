"""The evidence map is the decision: its mean is the score, and it sees nothing beyond a patch."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.base.errors import ModelError
from labapp.models.explanations import bagnet as bags
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import UInt8
from tests.helpers.sample import sample
from tests.models.explanations.conftest import untrained


def test_the_mean_of_a_map_is_the_score(bagnet: Classifier, pictures: UInt8) -> None:
    few = pictures[:3]
    maps = bags.evidence(bagnet, few)
    assert maps.shape == (3, 20, 24, 24)
    assert maps.dtype == np.float32
    assert maps.std((2, 3)).min() > 1e-4
    assert np.abs(maps.mean((2, 3), dtype=np.float64) - bagnet.scores(few)).max() < 2e-6


@pytest.mark.parametrize("field", [17, 25, 33, 41])
def test_a_position_sees_its_field_and_no_more(field: int, pictures: UInt8) -> None:
    model = untrained({"name": "bagnet", "field": field})
    before = bags.evidence(model, pictures[:1])[0]
    at, reach = 48, field // 2
    for axis in sample((1, 2), (1,)):
        for offset, changes in (
            (reach, True), (-reach, True), (reach + 1, False), (-reach - 1, False)
        ):  # fmt: skip
            changed = pictures[:1].copy()
            pixel = [slice(None)] * 4
            pixel[axis + 1] = slice(at + offset, at + offset + 1)
            changed[tuple(pixel)] = 255 - changed[tuple(pixel)]
            after = bags.evidence(model, changed)[0]
            moved = bool((after[:, at // 4, at // 4] != before[:, at // 4, at // 4]).any())
            assert moved == changes, (axis, offset)
    assert model.card.checks.field == (field, field)  # type: ignore[union-attr]


def test_one_range_for_all_species_of_a_picture() -> None:
    maps = np.zeros((2, 20, 10, 10), np.float32)
    maps[0, 3] = np.linspace(-50, 0, 100).reshape(10, 10)
    maps[1] = 2
    found = bags.symmetric_range(maps)
    assert found.dtype == np.float32
    assert found[0] == pytest.approx(np.percentile(np.abs(maps[0]), 99))
    assert 0 < found[0] < 50
    assert found[1] == 2


def test_another_kind_of_classifier_is_refused(resnet: Classifier, pictures: UInt8) -> None:
    with pytest.raises(ModelError, match="birds/resnet is a "):
        bags.evidence(resnet, pictures)
