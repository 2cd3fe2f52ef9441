"""What model cards say of the models that were compared: the first columns of Table 2."""

from __future__ import annotations

from dataclasses import dataclass

from labapp import resources
from labapp.errors import LabappError
from labapp.representations import card


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
    for root in resources.model_roots():
        folder = root / model
        if not (folder / card.CARD).is_file():
            continue
        try:
            model_card = card.read(folder)
        except LabappError:
            return None
        error, tangled = model_card.held_out_error, model_card.disentanglement
        return Facts(
            mse=None if error is None else error.as_published,
            dci=None if tangled is None else tangled.dci_exchanged.disentanglement,
            mig=None if tangled is None else tangled.mig,
        )
    return None
