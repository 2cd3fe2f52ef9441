"""Methods that give every pixel a score, and classes, by name. Nothing here needs torch."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, get_args

Scoring = Literal["gradient", "guided_backprop", "lrp"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
NAMES: dict[Scoring, str] = {
    "gradient": "Gradient",
    "guided_backprop": "Guided backpropagation",
    "lrp": "LRP",
}
"""As tables and figures call them (paper 004, figure 1)."""


def ids_of(names: Sequence[str]) -> tuple[str, ...]:
    """What the classes of a model are called in manifests and tables: `Anger (CK+)` is anger-ck."""
    plain = [_plain(name) for name in names]
    return tuple(
        id_ if id_ and plain.count(id_) == 1 else f"class-{n}" for n, id_ in enumerate(plain, 1)
    )


def _plain(name: str) -> str:
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.]+", "-", ascii_).strip("-._").lower()[:100]
