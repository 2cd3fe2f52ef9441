"""What model cards say of the models that were compared: the first columns of Table 2, what the
paper calls models like these, and what they are not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from labapp.representations.architectures import ClosedForm
from labapp.representations.card import ContinuousDial, ModelCard, installed
from labapp.representations.data import DspritesData, MnistData, SinelinesData

OBJECTIVES = {
    "ae": "ae",
    "vae": "vae",
    "infogan": "ig",
    "tcvae": "tc",
    "ss-tcvae": "ss",
    "gt": "gt",
}
"""What the paper calls a model, by the objective that it was trained for."""
_OWN = re.compile(r"(?:published-)?([a-z]+?)(\d*)(?:-full)?")


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
    """How the paper calls a model like this: ss5 of digits with a labelled dial and five others.

    An imported model has no objective in its card: it is called as the published files call it,
    which is how its id ends, and so is a model that is not installed here.
    """
    card = installed(model)
    if card is not None and (name := _by_card(card)):
        return name
    own = model.partition("/")[2] or model
    match = _OWN.fullmatch(own)
    return own if match is None else match[1] + match[2]


def _by_card(card: ModelCard) -> str:
    if card.objective is None:
        return "gt" if isinstance(card.made_by.source, ClosedForm) else ""
    sliders = sum(isinstance(dial, ContinuousDial) for dial in card.dimensions)
    # Only of the digits it has models with different numbers of dimensions.
    number = str(sliders) if isinstance(card.data, MnistData) else ""
    return OBJECTIVES[card.objective.name] + number


def not_published(model: str) -> str:
    """Why a model is none of the paper's, by its card; empty where nothing says so: it was trained
    as the paper's were, or is one of them, imported."""
    card = installed(model)
    data = None if card is None else card.data
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
