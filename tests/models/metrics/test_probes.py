"""The probes of concepts and of a task, and completeness: on codes whose answers are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import MetricError
from labapp.models.metrics.probes import completeness, completeness_of, concept_probe, task_probe
from tests.models.metrics.made import array

TRUTH = np.array(list(product((0.0, 1.0), repeat=3)) * 50)
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=TRUTH.shape)
PARITY = TRUTH.sum(axis=1) % 2
"""No concept tells of it; all three together decide it."""
FIRST = TRUTH[:, 0]


def test_concepts_that_are_spread_over_codes_are_read() -> None:
    spread = TRUTH @ np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.5], [0.5, 1.0, -1.0]])
    found = concept_probe(spread, TRUTH, epochs=30)
    assert found.score == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_array_equal(array(found, "accuracy"), np.ones(3))
    np.testing.assert_allclose(array(found, "chance"), 0.5, atol=0.1)


def test_codes_of_noise_tell_nothing() -> None:
    found = concept_probe(NOISE, TRUTH, epochs=3)
    # Four times the SD of an area of 80 rows is 0.26.
    np.testing.assert_allclose(array(found, "per_factor"), 0.5, atol=0.26)


def test_each_concept_has_its_own_score() -> None:
    found = concept_probe(np.stack([FIRST, NOISE[:, 0]], axis=1), TRUTH, epochs=10)
    areas = array(found, "per_factor")
    assert areas[0] == 1.0
    assert areas[1:].max() < 0.76
    assert found.score == pytest.approx(areas.mean())


def test_codes_of_several_numbers_and_concepts_of_more_classes() -> None:
    number = TRUTH @ [1.0, 2.0, 4.0]
    found = concept_probe(TRUTH[:, None, :], np.stack([number, FIRST], axis=1), epochs=40)
    np.testing.assert_array_equal(array(found, "accuracy"), np.ones(2))
    assert array(found, "chance")[0] < 0.2


def test_the_task_is_told_from_codes_and_from_factors() -> None:
    found = task_probe(FIRST[:, None], TRUTH, labels=PARITY, epochs=40)
    # A single concept says nothing of the parity; the three of them say it all.
    assert found.score == pytest.approx(0.5, abs=0.26)
    assert array(found, "factors_auc") == 1.0
    assert array(found, "factors_accuracy") == 1.0
    leaking = task_probe((FIRST + 2 * PARITY)[:, None], TRUTH[:, :1], labels=PARITY, epochs=10)
    assert leaking.score == 1.0
    assert array(leaking, "factors_auc") < 0.76


def test_other_rows_to_learn_from() -> None:
    some, others = TRUTH[:200], TRUTH[200:]
    found = concept_probe(others, others, train=(some, some), epochs=15)
    assert (found.settings["rows"], found.settings["training_rows"]) == (200, 200)
    assert found.score == 1.0
    # Of codes that mean the opposite, what is learnt is wrong.
    assert concept_probe(1 - others, others, train=(some, some), epochs=15).score < 0.01
    told = task_probe(
        1 - others, others, labels=others[:, 0], train=(some, some, some[:, 0]), epochs=15
    )
    assert told.score < 0.01 < 0.99 < array(told, "factors_auc")
    assert told.settings["training_rows"] == 200


def test_coordinates_are_those_of_the_rows_to_learn_from() -> None:
    some, others = TRUTH[:200], TRUTH[200:]
    far = {"train": (1e6 + some, some), "epochs": 10}
    given_as_is = concept_probe(1e6 + others, others, **far)
    standardised = concept_probe(1e6 + others, others, coordinates="standardised", **far)
    assert standardised.score == 1.0 > given_as_is.score
    # A single class among the rows to score: where the mean is taken decides.
    assert standardised.settings["coordinates"] == "standardised"


def test_equal_arguments_give_equal_scores_and_the_seed_counts() -> None:
    codes = TRUTH + NOISE
    one, two, three = (concept_probe(codes, TRUTH, epochs=2, seed=seed) for seed in (1, 1, 2))
    assert one.to_json() == two.to_json()
    assert one.score != three.score


def test_completeness_is_what_the_accuracies_make_of_it() -> None:
    telling = PARITY[:, None]
    whole = completeness(telling, TRUTH[:, :1], labels=PARITY, epochs=20)
    chance = float(array(whole, "chance"))
    assert whole.score == 1.0
    assert 0.5 <= chance < 0.65
    assert "always right" in whole.notes[0]
    # The first concept says nothing of the parity.
    assert abs(float(array(whole, "factors"))) < 0.5
    weak = completeness(telling, TRUTH[:, :1], labels=PARITY, epochs=20, network_accuracy=0.8)
    assert weak.score == pytest.approx((1 - chance) / (0.8 - chance))
    assert weak.notes == ()
    # The released code takes both labels to be as frequent.
    published, plain = (
        completeness(TRUTH, TRUTH[:, :1], labels=PARITY, epochs=2, as_published=as_published)
        for as_published in (True, False)
    )
    assert array(published, "chance") == 0.5
    assert float(array(published, "factors")) > float(array(plain, "factors"))


@given(st.floats(0, 1), st.floats(0.51, 1), st.floats(0.01, 0.5))
def test_completeness_is_0_at_chance_and_1_at_the_network(
    accuracy: float, network: float, chance: float
) -> None:
    assert completeness_of(network, network, chance) == 1.0
    assert completeness_of(chance, network, chance) == 0.0
    more = completeness_of(min(1.0, accuracy + 0.1), network, chance)
    assert more >= completeness_of(accuracy, network, chance)


def test_refusals() -> None:
    with pytest.raises(MetricError, match="and the chance level is"):
        completeness_of(0.9, 0.5, 0.5)
    with pytest.raises(MetricError, match=r"accuracy is 1\.1"):
        completeness_of(0.9, 1.1, 0.5)
    with pytest.raises(MetricError, match=r"labels have shape \(399,\)"):
        task_probe(TRUTH, TRUTH, labels=PARITY[1:])
    with pytest.raises(MetricError, match="every label is 1"):
        task_probe(TRUTH, TRUTH, labels=np.ones(400))
    with pytest.raises(MetricError, match="labels: column 0 is 9 in only one row"):
        task_probe(TRUTH, TRUTH, labels=np.where(np.arange(400) == 5, 9, PARITY))
    with pytest.raises(MetricError, match="codes to learn from have 2 x 1 numbers per row"):
        concept_probe(TRUTH, TRUTH, train=(TRUTH[:, :2], TRUTH))
    with pytest.raises(MetricError, match="occurs only among the rows to learn from"):
        task_probe(TRUTH, TRUTH, labels=PARITY, train=(TRUTH, TRUTH, PARITY + 2 * FIRST))
