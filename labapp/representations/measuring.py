"""What a model card states of a model's quality, measured on its held-out split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import Int64, Rows, Split, divide
from labapp.representations import agreement, heldout
from labapp.representations.architectures import Likelihood, Trained
from labapp.representations.card import (
    CodeAgreement,
    Dci,
    Disentanglement,
    HeldOutError,
    HeldOutNll,
    ModelCard,
)
from labapp.representations.recipe import InfoGan, Published

Float32 = NDArray[np.float32]

INSTANCES = 10_000
"""Held-out rows, at most, that disentanglement is measured on."""

ROWS_SEED = 0
"""Which of them: drawn, because held-out rows keep the order of their data set. The first 10,000
of dSprites are all squares."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured fields of a card; those that do not apply are None."""

    held_out_error: HeldOutError | None = None
    held_out_nll: HeldOutNll | None = None
    disentanglement: Disentanglement | None = None
    code_agreement: CodeAgreement | None = None

    def fields(self) -> dict[str, Any]:
        """By name, as `ModelCard.model_copy` takes them."""
        return {name: getattr(self, name) for name in self.__slots__}


def measure(
    card: ModelCard,
    decode: Callable[[Float32], Float32],
    latents: Float32,
    spread: Float32 | None,
    data: Split,
    *,
    published: Published,
) -> Measured:
    """Errors, and disentanglement or the agreement of codes with digits where they apply.

    Parameters
    ----------
    decode : float32 inputs (n, width) -> float32 instances.
    latents, spread : dial states of the held-out rows, row for row (see `encodings`); draws of the
        prior for an InfoGAN.
    """
    if isinstance(card.objective, InfoGan):
        return Measured(code_agreement=agreement.measure(card.space, decode, latents, data))

    def errors(z: Float32) -> tuple[float, float]:
        squares, nats = heldout.errors(decode, card.space, z, data.held, likelihood_of(card))
        return round(squares, 6), round(nats, 6)

    mean = errors(latents)
    sampled = (None, None) if spread is None else errors(heldout.draw(latents, spread))
    return Measured(
        held_out_error=HeldOutError(mean=mean[0], sampled=sampled[0], published=published.error),
        held_out_nll=HeldOutNll(mean=mean[1], sampled=sampled[1]),
        disentanglement=_disentanglement(latents, data, published) if data.generative else None,
    )


def likelihood_of(card: ModelCard) -> Likelihood:
    """What the model's data are scored by; a closed form's series are Gaussian as its peers'."""
    source = card.made_by.source
    return source.likelihood if isinstance(source, Trained) else "gaussian"


def _disentanglement(codes: Float32, data: Split, published: Published) -> Disentanglement:
    from labapp.metrics import mig

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
    from labapp.metrics import dci

    score = dci.dci(codes, factors, as_published=exchanged)
    return Dci(
        disentanglement=round(score.score, 6),
        completeness=round(float(score.parts["completeness"]), 6),
        informativeness=round(float(score.parts["informativeness_test"]), 6),
    )
