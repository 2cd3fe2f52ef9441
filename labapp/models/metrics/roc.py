"""Areas under ROC curves and accuracies, of many predictions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import rankdata

from labapp.models.datasets.split import Float64, Int64


def roc_auc(scores: Float64, positive: NDArray[np.bool_]) -> Float64:
    """The share of pairs of a positive and a negative row in which the positive one scores higher,
    an equal score counting half (Mann and Whitney, 1947): the area under the ROC curve. Returns
    float64, shape (...), 0 to 1. NaN if the rows are all positive or all negative: there is no
    curve.

    scores : shape (..., n).
    positive : shape (..., n), any that broadcasts against `scores`.
    """
    ranks = rankdata(scores, axis=-1)
    positives = np.broadcast_to(positive, ranks.shape)
    count = positives.sum(axis=-1)
    pairs = count * (ranks.shape[-1] - count)
    higher = (ranks * positives).sum(axis=-1) - count * (count + 1) / 2
    return np.where(pairs > 0, higher / np.maximum(pairs, 1), np.nan)


def class_auc(logits: Float64, labels: Int64) -> Float64:
    """How well logits tell classes, float64 of shape (...).

    Parameters
    ----------
    logits : shape (..., n, outputs). One output is the logit of class 1 of two; more are those of
        as many classes, of which the softmax is taken.
    labels : int64, shape (n,), the class of each row.

    With more than two classes, the plain mean of the areas of each class against all others (paper
    001, 3.1). NaN if a class has no row.
    """
    if logits.shape[-1] == 1:
        return roc_auc(logits[..., 0], labels == 1)
    shares = np.moveaxis(softmax(logits, axis=-1), -1, -2)
    each = roc_auc(shares, labels == np.arange(shares.shape[-2])[:, None])
    return np.asarray(each.mean(axis=-1))


def class_accuracy(logits: Float64, labels: Int64) -> Float64:
    """The share of rows whose class is the likeliest by their logits, float64 of shape (...).

    Parameters
    ----------
    logits, labels : as in `class_auc`. One output says class 1 if it is above 0.
    """
    likeliest = logits[..., 0] > 0 if logits.shape[-1] == 1 else logits.argmax(axis=-1)
    return np.asarray((likeliest == labels).mean(axis=-1))
