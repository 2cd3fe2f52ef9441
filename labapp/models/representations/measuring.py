"""Measures the quality of a model on its held-out split, for its card.

For an InfoGAN this is whether each value of its discrete code draws one digit: a support-vector
classifier, trained on the same digits as the model, labels pictures of random codes, and the values
of the code are matched one to one with the digits so that most labels agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets import mnist
from labapp.models.datasets.split import Float32, Float64, Int64, Rows, Split, chunks, divide
from labapp.models.representations.card import (
    CodeAgreement,
    Dci,
    Disentanglement,
    HeldOutError,
    HeldOutNll,
    ModelCard,
)
from labapp.models.representations.recipe import (
    InfoGan,
    Likelihood,
    PublishedScores,
    TrainedNetwork,
)
from labapp.models.representations.space import Discrete, LatentSpace

INSTANCES = 10_000
"""Most held-out rows on which disentanglement is measured."""
ROWS_SEED = 0
"""Seed of the draw of these rows. They are drawn because held-out rows are in the order of their
data set: the first 10,000 of dSprites are all squares."""

NOISE_SEED = 0
"""Seed of the draws from the posteriors for a sampled error; fixed, so that cards can be
checked."""
VARIANCE = 0.5
"""Variance of the Gaussian likelihood. With 1/2, the negative logarithm is the sum of squares and a
constant, which the Sinelines models minimise (see `objectives`)."""
CLIP = 1e-7
"""Probabilities of a decoder, float32, are kept this far from 0 and 1 in the likelihood."""
PICTURES = 2_000
"""Pictures of random codes that the classifier labels."""
MOST_TRAINED = 10_000
"""Most digits that the classifier is trained on, the first ones."""

# An RBF kernel with these has 97 % on digits it has not seen; a finer search changes little.
_C, _GAMMA = 5.0, 0.02


@dataclass(frozen=True, slots=True)
class QualityMeasures:
    """The measured fields of a card; those that do not apply are None."""

    held_out_error: HeldOutError | None = None
    held_out_nll: HeldOutNll | None = None
    disentanglement: Disentanglement | None = None
    code_agreement: CodeAgreement | None = None

    def fields(self) -> dict[str, Any]:
        """The fields by name, as `ModelCard.model_copy` takes them."""
        return {name: getattr(self, name) for name in self.__slots__}


def measure(
    card: ModelCard,
    decode: Callable[[Float32], Float32],
    latents: Float32,
    spread: Float32 | None,
    data: Split,
    *,
    published: PublishedScores,
) -> QualityMeasures:
    """Errors, and disentanglement or the agreement of codes with digits where they apply.

    Parameters
    ----------
    decode : float32 inputs (n, width) -> float32 instances.
    latents, spread : dial states of the held-out rows, row for row (see `encodings`); draws of the
        prior for an InfoGAN.
    """
    if isinstance(card.objective, InfoGan):
        return QualityMeasures(code_agreement=code_agreement(card.space, decode, latents, data))

    def errors(z: Float32) -> tuple[float, float]:
        squares, nats = held_out_errors(decode, card.space, z, data.held, likelihood_of(card))
        return round(squares, 6), round(nats, 6)

    mean = errors(latents)
    sampled = (None, None) if spread is None else errors(draw(latents, spread))
    return QualityMeasures(
        held_out_error=HeldOutError(mean=mean[0], sampled=sampled[0], published=published.error),
        held_out_nll=HeldOutNll(mean=mean[1], sampled=sampled[1]),
        disentanglement=_disentanglement(latents, data, published) if data.generative else None,
    )


def likelihood_of(card: ModelCard) -> Likelihood:
    """The likelihood by which a model's errors are measured; Gaussian for closed forms, as for the
    trained models of the same series."""
    source = card.made_by.source
    return source.likelihood if isinstance(source, TrainedNetwork) else "gaussian"


def _disentanglement(codes: Float32, data: Split, published: PublishedScores) -> Disentanglement:
    from labapp.models.metrics import mig

    rows = measured_rows(data.held)
    factors = data.held.factors(rows)
    result = codes[rows].astype(np.float64)
    return Disentanglement(
        instances=len(rows),
        mig=round(mig.mig(result, factors).score, 6),
        mig_published=published.mig,
        dci=_dci(result, factors, exchanged=False),
        dci_exchanged=_dci(result, factors, exchanged=True),
        dci_published=published.dci,
    )


def measured_rows(held: Rows) -> Int64:
    """Numbers of `INSTANCES` rows, drawn by `ROWS_SEED`, or of all where there are no more."""
    if len(held) <= INSTANCES:
        return np.arange(len(held))
    return divide(len(held), INSTANCES, ROWS_SEED)[1]


def _dci(codes: NDArray[np.float64], factors: NDArray[np.float64], *, exchanged: bool) -> Dci:
    from labapp.models.metrics import dci

    score = dci.dci(codes, factors, as_published=exchanged)
    return Dci(
        disentanglement=round(score.score, 6),
        completeness=round(float(score.parts["completeness"]), 6),
        informativeness=round(float(score.parts["informativeness_test"]), 6),
    )


def held_out_errors(
    decode: Callable[[Float32], Float32],
    space: LatentSpace,
    z: Float32,
    rows: Rows,
    likelihood: Likelihood,
) -> tuple[float, float]:
    """Means over the held-out rows of sum (x - decode(z))^2 (Table 2 of paper 000) and -ln p(x|z).
    Returns squared error, and negative log-likelihood in nats. `z`: dial states, float32, shape
    (len(rows), dimensions)."""
    squares = nats = 0.0
    for part in chunks(len(rows)):
        x = rows.instances(part).astype(np.float64)
        decoded = decode(space.encode_rows(z[part])).astype(np.float64)
        squares += float(np.square(x - decoded).sum())
        nats += float(_nats(likelihood, x, decoded).sum())
    return squares / len(rows), nats / len(rows)


def _nats(likelihood: Likelihood, x: Float64, decoded: Float64) -> Float64:
    if likelihood == "gaussian":
        constant = 0.5 * math.log(2.0 * math.pi * VARIANCE)
        return np.square(x - decoded) / (2.0 * VARIANCE) + constant
    p = np.clip(decoded, CLIP, 1.0 - CLIP)
    return -(x * np.log(p) + (1.0 - x) * np.log1p(-p))


def draw(mean: Float32, spread: Float32) -> Float32:
    """One draw from each posterior N(mean, spread^2), float32, the same at each call.

    A spread of 0 leaves its value alone: labels are not drawn.
    """
    noise = np.random.default_rng(NOISE_SEED).standard_normal(mean.shape)
    return (mean + spread * noise).astype(np.float32)


def code_agreement(
    space: LatentSpace, decode: Callable[[Float32], Float32], latents: Float32, data: Split
) -> CodeAgreement:
    """The agreement of the first, discrete dimension of `latents` with the digits it draws.

    Parameters
    ----------
    latents : draws of the prior, float32, shape (n, dimensions).
    data : MNIST, whose one factor is the digit.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.svm import SVC

    count = min(MOST_TRAINED, len(data.train))
    classifier = SVC(C=_C, gamma=_GAMMA)
    classifier.fit(*_labelled(data.train, count))
    held, names = _labelled(data.held, len(data.held))
    accuracy = float(np.mean(classifier.predict(held) == names))

    z = latents[:PICTURES]
    named = classifier.predict(_flat(decode(space.encode_rows(z))))
    codes = z[:, 0].astype(np.int64)
    code = space.dimensions[0]
    assert isinstance(code, Discrete)
    table = np.zeros((code.k, mnist.CLASSES), np.int64)
    np.add.at(table, (codes, named), 1)
    values, digits = linear_sum_assignment(table, maximize=True)
    return CodeAgreement(
        pictures=len(z),
        agreement=round(float(table[values, digits].sum()) / len(z), 4),
        digits=[int(digit) for digit in digits],
        classifier=f"support-vector machine, RBF kernel, C {_C:g}, gamma {_GAMMA:g}, "
        f"trained on {count:,} digits",
        classifier_accuracy=round(accuracy, 4),
    )


def _labelled(rows: Rows, count: int) -> tuple[Float32, NDArray[np.int64]]:
    chosen = np.arange(count)
    return _flat(rows.instances(chosen)), rows.factors(chosen)[:, 0].astype(np.int64)


def _flat(pictures: Float32) -> Float32:
    return pictures.reshape(len(pictures), -1)
