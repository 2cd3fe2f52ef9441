"""The effect of each dial, where the model that the sessions met is installed here.

The tables of sessions hold no pictures; the decoder has to draw some. Models are looked up by id,
and taken only where the hash of the model card is the one that the sessions recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from labapp.errors import ModelError
from labapp.reading import files
from labapp.tasks.reconstruction.report.labels.names import Model

if TYPE_CHECKING:
    from labapp.representations.effects import DialEffect


@dataclass(frozen=True, slots=True)
class Effects:
    """of: each dial's, in the order of the dials; empty where they are not known, and why_not says
    why."""

    of: tuple[DialEffect, ...] = ()
    why_not: str = ""


Measure = Callable[[Model], Effects]


def measure(model: Model) -> Effects:
    """Load the model and turn its dials (`representations.effects`)."""
    from labapp.representations.card import CARD
    from labapp.representations.package import find, load_package

    if len(model.cards) != 1:
        why = "several versions of it were met" if model.cards else "its hash was not recorded"
        return Effects(why_not=why)
    try:
        card = find(model.model) / CARD
        if sha256(files.content(card)).hexdigest() not in model.cards:
            return Effects(why_not="the model installed here under this id is another one")
        decoder = load_package(model.model, "cpu")
    except ModelError as error:
        return Effects(why_not=error.what.rstrip("."))
    if len(decoder.space) != len(model.dials):
        return Effects(why_not="the model installed here has other dials")
    from labapp.representations.effects import effects

    distances = {dial.distance for dial in model.dials}
    return Effects(effects(decoder, distances.pop() if len(distances) == 1 else None))
