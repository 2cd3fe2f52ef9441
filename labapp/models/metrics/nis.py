"""NIS, the niche impurity score: how well codes together predict concepts that none stands for.

Paper 001, Definitions 3.3 to 3.6. One network predicts all concepts from all codes. Then the codes
that correlate with a concept, its niche, are masked, and the score is how well the others predict
it.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import (
    Concepts,
    RowDivision,
    Score,
    check_count,
    concepts,
    divide_rows,
    generator,
    join_rows,
    join_vectors,
    outputs_of,
    refusal,
)
from labapp.models.metrics.roc import roc_auc

_refuse = partial(refusal, "NIS cannot be computed")

HIDDEN = 20
BATCH = 512
EPOCHS = 1000
PUBLISHED_STATE = 1
STEPS = 20
"""Of beta from 0 to 1."""


def nis(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    train: tuple[ArrayLike, ArrayLike] | None = None,
    hidden: int = HIDDEN,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The niche impurity score, lower is better: 0.5125 if nothing outside a concept's niche
    tells of it and each concept has a perfect code (1/2, and 0.0125 because at beta = 1 nothing is
    masked), 1 where codes that do not correlate with a concept suffice to predict it. A network
    that is wrong without the niche scores less, also below 1/2.

    By this definition the hand-made codes of the paper's Table 1 come out in the other order than
    published: pure ones at 0.512, impure ones at 0.480. The published order is that of
    `as_published`.

    Definition 3.5 as printed masks the complement of the niche; its explanation, and the released
    code, mask the niche itself, and so does this. A masked code is 0 for every row.

    The network takes codes as they are: unit and origin of a code count, also because 0 may be far
    from anything it has seen. Raises MetricError: see `inputs.check_vectors` and
    `concepts.concepts`; training rows of other codes or concepts, or with classes that are not on
    both sides; as published, a concept with more than two classes; no hidden unit; or a seed
    outside its range.

    Parameters
    ----------
    codes : real numbers, shape (n, C), or (n, C, d) for codes of d numbers each, which are masked
        together; any number of codes. One that takes one value only is in no niche.
    factors : the concepts: columns of classes, shape (n, K). One with more than two classes is
        predicted class by class, its area under the ROC curve the mean over its classes, and its
        correlations are those of the classes' numbers. See `concepts.concepts`.
    train : codes and factors of other rows, to fit the network on and to take correlations from;
        `codes` are then all test rows. So are Figures 4 and 5 of the paper, by its released code;
        by default, and as in Figure 3 and Table 1, the rows of `codes` are divided.
    hidden : units of each of the two hidden layers.
    seed : of the division into 80 % training and 20 % test rows, and of the network; 0 to 2^32 - 1.
    as_published : as the released code behind paper 001. The probabilities of the K concepts, each
        predicted without its niche, pass through a softmax across concepts before a concept's area
        is taken, which mixes concepts; beta ends at 0.95, so that the score is at most 0.95 and
        0.475 by chance; and the network's random state is always 1. Two classes only. Correlations
        of vectors are absolute here too: that path of the released code does not run.

    Returns
    -------
    Score with the parts
        niching : (C, K), the nicher: the largest |Pearson correlation| of a code's d numbers with a
            concept among the training rows.
        betas : (B,), the thresholds 0, 0.05, ..., 1: a niche is the codes above.
        impurity : (B, K), the area under the ROC curve of each concept without its niche, on the
            test rows.
        per_factor : (K,), its integral over beta by the trapezoid rule; the score is their mean.
        epochs : how many the network was trained; it stops at 1,000 at the latest.
    """
    c, f, learnt = join_vectors(codes, factors, train)
    rng = generator(seed)
    check_count("hidden", hidden, 1)
    targets = concepts(f)
    if as_published and max(targets.classes) > 2:
        raise _refuse(
            "the released code supports only concepts with two classes",
            "Leave as_published out, or divide the concepts into two classes.",
        )
    division = join_rows(targets, learnt) if learnt else divide_rows(targets, rng)
    state = PUBLISHED_STATE if as_published else seed
    network = _Predictor(c, targets, division, hidden, state)
    niching = nicher(c[division.train], targets.labels[division.train])
    betas = np.arange(STEPS + (0 if as_published else 1)) / STEPS
    measured = network.impurity_as_published if as_published else network.impurity
    impurity = np.array([measured(niching > beta) for beta in betas])
    per_factor = np.trapezoid(impurity, betas, axis=0)
    return Score(
        metric="nis",
        score=float(per_factor.mean()),
        parts={
            "niching": niching,
            "betas": betas,
            "impurity": impurity,
            "per_factor": per_factor,
            "epochs": float(network.epochs),
        },
        settings={
            "hidden": [hidden, hidden],
            "batch": BATCH,
            "most_epochs": EPOCHS,
            "network_state": state,
            "softmax_across_concepts": as_published,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c) - learnt,
            **({"training_rows": learnt} if learnt else {}),
            "scikit_learn": sklearn.__version__,
        },
    )


def nicher(codes: Float64, labels: NDArray[np.int64]) -> Float64:
    """The largest |Pearson correlation| of the d numbers of each code (n, C, d) with each column of
    labels (n, K): float64 (C, K), 0 to 1. A number that does not vary correlates with nothing."""
    n, count, d = codes.shape
    columns = codes.reshape(n, -1)
    correlation = np.abs(_unit(columns).T @ _unit(labels.astype(np.float64)))
    return np.asarray(correlation.reshape(count, d, -1).max(axis=1).clip(0, 1))


def _unit(columns: Float64) -> Float64:
    """Columns less their mean, of length 1; 0 if a column does not vary."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    # First to 0 to 1, because squares of tiny differences underflow.
    scaled = (columns - low) / np.where(low < high, high - low, 1.0)
    scaled = np.where(low < high, scaled - scaled.mean(axis=0), 0.0)
    return np.asarray(scaled / np.where(low < high, np.linalg.norm(scaled, axis=0), 1.0))


class _Predictor:
    """The network of all concepts, fitted, asked about the test rows without some codes."""

    def __init__(
        self, codes: Float64, targets: Concepts, division: RowDivision, hidden: int, state: int
    ) -> None:
        train = division.train
        self._test = codes[division.test]
        self._labels = targets.labels[division.test]
        # A concept of two classes has one output, of m classes m.
        self._outputs = np.split(
            np.arange(sum(map(outputs_of, targets.classes))),
            np.cumsum([outputs_of(classes) for classes in targets.classes])[:-1],
        )
        self._model = _fit_network(
            codes[train].reshape(len(train), -1), _indicators(targets, train), hidden, state
        )
        self._known: dict[tuple[int, bytes], Float64] = {}

    @property
    def epochs(self) -> int:
        return int(self._model.n_iter_)

    def probabilities(self, concept: int, niche: NDArray[np.bool_]) -> Float64:
        """Of the classes of a concept (test rows, outputs), the codes in `niche` (C,) being 0."""
        key = (concept, niche.tobytes())
        # Most thresholds pass no code: the niche is the one before.
        if key not in self._known:
            masked = np.where(niche[:, None], 0.0, self._test).reshape(len(self._test), -1)
            shares = self._model.predict_proba(masked)
            # With one output in all, scikit-learn gives the probability of both classes.
            single = len(self._outputs) == 1 and len(self._outputs[0]) == 1
            self._known[key] = shares[:, [1]] if single else shares[:, self._outputs[concept]]
        return self._known[key]

    def impurity(self, niches: NDArray[np.bool_]) -> Float64:
        """The area of each concept (K,) without its niche, a column of `niches` (C, K)."""
        areas = []
        for concept, niche in enumerate(niches.T):
            shares = self.probabilities(concept, niche)
            first = 1 if shares.shape[1] == 1 else 0
            classes = np.arange(first, first + shares.shape[1])
            areas.append(roc_auc(shares.T, self._labels[:, concept] == classes[:, None]).mean())
        return np.array(areas)

    def impurity_as_published(self, niches: NDArray[np.bool_]) -> Float64:
        """The same through a softmax across concepts, row by row."""
        shares = [self.probabilities(concept, niche) for concept, niche in enumerate(niches.T)]
        mixed = softmax(np.concatenate(shares, axis=1), axis=1)
        return roc_auc(mixed.T, self._labels.T == 1)


def _fit_network(inputs: Float64, targets: NDArray[np.int64], hidden: int, state: int) -> Any:
    model = MLPClassifier(
        (hidden, hidden), batch_size=min(BATCH, len(inputs)), max_iter=EPOCHS, random_state=state
    )
    # Its steps are small: on more threads they would wait for each other most of the time.
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        # That it stopped at the last epoch is said in the parts.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(inputs, targets[:, 0] if targets.shape[1] == 1 else targets)


def _indicators(targets: Concepts, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 and 1, shape (rows, outputs): the second of two classes, or each of more."""
    columns = [
        labels == kind
        for labels, classes in zip(targets.labels[rows].T, targets.classes, strict=True)
        for kind in ([1] if classes == 2 else range(classes))
    ]
    return np.stack(columns, axis=1).astype(np.int64)
