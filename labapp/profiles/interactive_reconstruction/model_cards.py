"""What model cards say of the models that were compared: the first columns of Table 2, what the
paper calls models like these, and what they are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from labapp.representations.card import installed, published_as
from labapp.representations.data import DspritesData, MnistData, SinelinesData
from labapp.tasks.reconstruction.report.labels.names import PAPER


@dataclass(frozen=True, slots=True)
class Facts:
    """mse: sum of squared errors an instance of held-out data, of sampled encodings where there is
    a posterior; dci, mig: disentanglement, DCI as the paper's code computes it. None where a card
    has none."""

    mse: float | None = None
    dci: float | None = None
    mig: float | None = None


def facts(model: str) -> Facts | None:
    """Of the model package with this id that is installed here; None without a card that can be
    read. Sessions name their models by id and by the hash of the card."""
    card = installed(model)
    if card is None:
        return None
    error, tangled = card.held_out_error, card.disentanglement
    return Facts(
        mse=None if error is None else error.as_published,
        dci=None if tangled is None else tangled.dci_exchanged.disentanglement,
        mig=None if tangled is None else tangled.mig,
    )


def published_name(model: str) -> str:
    """How the paper calls the model that this one is or stands for, as its card says; empty of any
    other, whatever its id."""
    return published_as(model, PAPER)


def shown_name(model: str) -> str:
    """As the paper calls it, else its id."""
    return published_name(model) or model


def not_published(model: str) -> str:
    """Why a model that stands for one of the paper's is not that one, by its card; empty where
    nothing says so: it was trained as the paper's were, is one of them, imported, or stands for
    none."""
    card = installed(model)
    data = None if card is None or not published_name(model) else card.data
    match data:
        case None | SinelinesData():
            return ""
        case MnistData():
            if data.digits == "all":
                return ""
            return f"trained on {data.trained_on:,} digits of MNIST, not on 60,000 as in the paper."
        case DspritesData():
            if data.pictures == "official":
                return ""
            return "trained on pictures that labapp drew, not on the official ones."
    assert_never(data)
