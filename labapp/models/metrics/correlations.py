"""How strongly the attributes of a task that say most of its labels go together.

Paper 001, Figure 1(a), shows it of the ten attributes of CUB-200-2011 with the greatest mutual
information with the species: concepts that people annotate are seldom independent, so that a
score of purity has to allow for what concepts tell of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.information import labels as classes
from labapp.models.metrics.information import shared_in_bins
from labapp.models.metrics.inputs import JSON, check_count, check_inputs, check_labels

TOP = 10
"""As in the figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """Of the chosen factors, those that tell most of the label first.

    Attributes
    ----------
    chosen : int64, shape (top,), their numbers, from 0.
    mutual_information : float64, shape (top,), with the label, nats.
    matrix : float64, shape (top, top), absolute Pearson correlations; 1 on the diagonal.
    """

    chosen: Int64
    mutual_information: Float64
    matrix: Float64

    @property
    def mean(self) -> float:
        """Of the pairs; NaN of a single factor, which has none."""
        count = len(self.chosen)
        pairs = count * (count - 1)
        return float((self.matrix.sum() - count) / pairs) if pairs else float("nan")

    def to_json(self, names: Sequence[str]) -> dict[str, JSON]:
        """Plain values, with the names of the chosen factors."""
        return {
            "factors": list(names),
            "chosen": self.chosen.tolist(),
            "mutual_information": self.mutual_information.tolist(),
            "correlations": self.matrix.tolist(),
            "mean": self.mean if len(self.chosen) > 1 else None,
        }


def correlations(factors: ArrayLike, labels: ArrayLike, *, top: int = TOP) -> Correlations:
    """The absolute correlations of the factors that share most with the labels.

    Parameters
    ----------
    factors : real numbers, shape (n, K), none of them constant; with more than 20 values, shared
        information is counted in 20 bins of equal width.
    labels : the label of each row, whole or other numbers that stand for classes, shape (n,).
    top : how many factors; all where there are fewer. Of equal ones, the first.

    Raises
    ------
    MetricError : see `inputs.check_inputs` and `inputs.check_labels`; or `top` below 1.
    """
    check_count("top", top, 1)
    f = check_inputs(factors, factors)[1]
    y = np.unique(check_labels(labels, len(f)), return_inverse=True)[1].reshape(-1)
    mutual = np.array([shared_in_bins(classes(column), y) for column in f.T])
    # Rounded, for sums of equal numbers in another order differ in the last digits.
    chosen = np.argsort(-mutual.round(12), kind="stable")[:top]
    matrix = np.abs(np.corrcoef(f[:, chosen], rowvar=False)).reshape(len(chosen), -1).clip(0, 1)
    np.fill_diagonal(matrix, 1.0)
    return Correlations(chosen, mutual[chosen], matrix)
