"""Interventions: what a concept is set to, and the curves, by hand on a model of three lines."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.training import (
    Interventions,
    intervene,
    interventions,
    probabilities,
)
from labapp.models.metrics.roc import class_accuracy, class_auc
from labapp.models.stimuli.interventions import place
from tests.models.concepts.conftest import BOTTLENECKS, rows_of

CONCEPTS = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
CODES = np.array([[0.9, 0.8], [0.2, 0.1], [0.4, 0.3], [0.1, 0.6]])
"""Row 1 has the first concept wrong, row 2 the second, row 3 also the second."""


def by_bits(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class 2 c1 + c2 of the codes above 1/2."""
    return np.eye(4)[2 * (codes[:, 0] > 0.5) + (codes[:, 1] > 0.5)] * 5


@pytest.fixture
def ready() -> Interventions:
    wrong = (CODES > 0.5) != (CONCEPTS == 1)
    labels = 2 * CONCEPTS[:, 0] + CONCEPTS[:, 1]
    return Interventions(
        CODES, CONCEPTS, labels, wrong, np.array([[0.0, 1.0], [0.0, 1.0]]), by_bits
    )


def test_the_curves_of_a_small_model(ready: Interventions) -> None:
    np.testing.assert_array_equal(ready.fixed(), [0.25, 0.5, 1.0])
    np.testing.assert_array_equal(ready.alone(), [0.5, 0.75])
    np.testing.assert_array_equal(ready.subsets(), [0.25, 0.625, 1.0])
    np.testing.assert_array_equal(ready.wrong_only(), [0.25, 1.0, 1.0])


def test_a_table_has_the_answer_in_every_state(ready: Interventions) -> None:
    table = ready.answers()
    assert table.shape == (4, 9, 4)
    np.testing.assert_allclose(table.astype(float).sum(axis=2), 1.0, atol=1e-3)
    # Row 1 believes neither; with the first concept on it says [1 0], with both on [1 1].
    assert table[1, place((0, 0))].argmax() == 0
    assert table[1, place((2, 0))].argmax() == 2
    assert table[1, place((2, 2))].argmax() == 3


def test_a_trained_model_answers_in_its_table_as_it_does_when_asked(
    models: dict[str, ConceptModel],
) -> None:
    for name in BOTTLENECKS:
        model = models[name]
        rows = rows_of(model)
        ready = interventions(model, rows)
        table = ready.answers()
        for setting in ({}, {0: 1}, {0: 0, 2: 1}):
            state = [0 if j not in setting else 1 + setting[j] for j in range(3)]
            asked = probabilities(model.intervened(rows, setting))
            np.testing.assert_allclose(table[:, place(state)], asked, atol=1e-3)
        every = [set_ for m in range(4) for set_ in combinations(range(3), m)]
        asked = [intervene(model, rows, chosen) for chosen in every]
        right = [(logits.argmax(axis=1) == rows.labels_of).mean() for logits in asked]
        classes = np.eye(asked[0].shape[1])[rows.labels_of]
        areas = [roc_auc_score(classes, softmax(logits, axis=1)) for logits in asked]
        for scores, score in ((right, class_accuracy), (areas, class_auc)):
            of = dict(zip(every, scores, strict=True))
            means = [np.mean([of[s] for s in every if len(s) == m]) for m in range(4)]
            np.testing.assert_allclose(ready.subsets(score), means)
            np.testing.assert_allclose(ready.fixed(score), [of[tuple(range(m))] for m in range(4)])
            np.testing.assert_allclose(ready.alone(score), [of[(j,)] for j in range(3)])
