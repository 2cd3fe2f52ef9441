"""What is measured of a trained concept learner: plain numbers for the file of results."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from benchmarks.reproduction.figure_a1 import EPOCHS, WIDTHS
from benchmarks.reproduction.printing import metric
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.roc import class_auc

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

DIGITS = 5
CLIP = 1e-7
"""How near a probability may come to 0 and 1 before its logit is taken: float32 rounds to 1 from
about there on."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Codes of test and training rows with their concepts.

    Attributes
    ----------
    test, train : float64, shape (n, k) or (n, k, d).
    test_concepts, train_concepts : int64 0 or 1, shape (n, k).
    aligned : whether OIS aligns them with the concepts.
    bottleneck : "cbm" for probabilities, "cbm-logits" for logits of the concepts, else "".
    maps : whether the d numbers are a square map, which OIS reads by convolutions as published.
    """

    test: Float64
    test_concepts: Int64
    train: Float64
    train_concepts: Int64
    aligned: bool
    bottleneck: str = ""
    maps: bool = False


def purity(codes: Codes, seed: int) -> dict[str, Any]:
    """OIS, NIS, and |r| of every two codes that are numbers."""
    nis, rows = metric("nis"), (codes.test, codes.test_concepts)
    learnt = (codes.train, codes.train_concepts)
    niches = {
        "default": nis(*rows, seed=seed).score,
        "published": nis(*rows, seed=seed, as_published=True).score,
        "published_train": nis(*rows, seed=seed, as_published=True, train=learnt).score,
    }
    measured = {**single_codes(codes, seed), "nis": niches}
    if codes.test.ndim == 2:
        measured["correlations"] = correlations(codes.test)
    return measured


def own_oracle(codes: Codes, seed: int, **settings: Any) -> Score:
    """OIS of the test codes."""
    align = True if codes.aligned else None
    return metric("ois")(codes.test, codes.test_concepts, seed=seed, align=align, **settings)


def single_codes(codes: Codes, seed: int) -> dict[str, Any]:
    """OIS as given and in common coordinates; what each code tells beyond its concept; and which
    code stands for which concept."""

    def oracle(values: Float64, **settings: Any) -> Score:
        return own_oracle(replace(codes, test=values), seed, **settings)

    given = oracle(codes.test)
    maps = {"maps": True} if codes.maps else {}
    scores = {
        "given": given.score,
        "off_diagonal": _off_diagonal(np.asarray(given.parts["deviation"])),
        "published": oracle(codes.test, as_published=True, **maps).score,
        "ranks": oracle(codes.test, coordinates="ranks").score,
        "standardised": oracle(codes.test, coordinates="standardised").score,
    }
    if codes.bottleneck == "cbm":
        logits = np.asarray(logit(np.clip(codes.test, CLIP, 1 - CLIP)))
        scores["sigmoid"] = given.score
        scores["standardised_logits"] = oracle(logits, coordinates="standardised").score
    elif codes.bottleneck == "cbm-logits":
        scores["sigmoid"] = oracle(np.asarray(expit(codes.test))).score
        scores["standardised_logits"] = scores["standardised"]
    return {
        "ois": scores,
        "deviation": given.parts["deviation"],
        "alignment": given.parts["alignment"],
    }


def _off_diagonal(deviation: Float64) -> float:
    """OIS of the deviation with its diagonal put to 0: of what codes tell of others' concepts."""
    others = deviation - np.diag(np.diag(deviation))
    return 2 * float(np.linalg.norm(others)) / len(deviation)


def correlations(codes: Float64) -> Float64:
    """|Pearson's r| of every two codes, shape (k, k); 0 of one that takes a single value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        matrix = np.abs(np.corrcoef(codes.T))
    return np.asarray(np.nan_to_num(matrix))


def task(logits: Float64, labels: Int64) -> dict[str, float]:
    """Accuracy, and the area under the ROC curve of the classes, each against the others.

    logits : shape (n, classes), of which every class has a row.
    """
    return {
        "task_accuracy": float((logits.argmax(axis=1) == labels).mean()),
        "task_auc": float(class_auc(logits, labels)),
    }


def widths(codes: Codes, seed: int) -> dict[str, list[float]]:
    """OIS and NIS by the width of their helpers, and OIS by how long these are trained."""
    ois, nis = metric("ois"), metric("nis")
    rows = (codes.test, codes.test_concepts)
    return {
        "ois": [ois(*rows, seed=seed, hidden=units).score for units in WIDTHS],
        "nis": [nis(*rows, seed=seed, hidden=units).score for units in WIDTHS],
        "epochs": [ois(*rows, seed=seed, epochs=count).score for count in EPOCHS],
    }


@contextmanager
def unconverged() -> Iterator[None]:
    """Networks of scikit-learn may stop at their last epoch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def plain(value: Any) -> Any:
    """The same as JSON has it: arrays as lists, numbers rounded to `DIGITS` digits, NaN as null."""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return round(float(value), DIGITS) if np.isfinite(value) else None
    return value
