"""Areas under ROC curves against scikit-learn, and at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from labapp.models.metrics.roc import class_auc, roc_auc
from tests.helpers.sample import examples, sample
from tests.models.metrics.made import seeds


@examples(60)
@given(seed=seeds, levels=st.integers(1, 40), share=st.floats(0.05, 0.95))
def test_many_at_once_are_scikit_learns_one_by_one(seed: int, levels: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (3, 4, 50)).astype(float)
    positive = rng.random((4, 50)) < share
    positive[:, 0], positive[:, 1] = True, False
    found = roc_auc(scores, positive)
    assert found.shape == (3, 4)
    for i, j in sample(list(np.ndindex(3, 4)), [(0, 0), (1, 2), (2, 3)]):
        assert found[i, j] == pytest.approx(roc_auc_score(positive[j], scores[i, j]), abs=1e-12)


def test_by_hand() -> None:
    truth = np.array([True, False, True, False])
    assert roc_auc(np.array([4.0, 1, 3, 2]), truth) == 1
    assert roc_auc(np.array([1.0, 4, 2, 3]), truth) == 0
    assert roc_auc(np.array([4.0, 3, 2, 1]), truth) == 0.75
    assert roc_auc(np.ones(4), truth) == 0.5


@pytest.mark.parametrize("only", [True, False])
def test_one_class_alone_has_no_curve(only: bool) -> None:
    assert np.isnan(roc_auc(np.arange(5.0), np.full(5, only)))


@examples(30)
@given(seed=seeds, classes=st.integers(3, 6))
def test_more_classes_are_scikit_learns_one_against_the_rest(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(2, 60, classes))
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, 60 - classes)])
    wanted = [
        roc_auc_score(labels, softmax(one, axis=1), multi_class="ovr", average="macro")
        for one in logits
    ]
    np.testing.assert_allclose(class_auc(logits, labels), wanted, atol=1e-12)


def test_one_logit_is_that_of_the_second_class() -> None:
    labels = np.array([0, 1, 0, 1])
    assert class_auc(np.array([[-5.0], [3], [-1], [2]]), labels) == 1
