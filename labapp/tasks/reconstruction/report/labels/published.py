"""What paper 000 says of names of dials (6.2.2), and what can be counted in its Tables 1 and A.4.

Which names were bold (consistent) is not set against ours: it was up to the experimenters, and how
they judged is not told.
"""

from __future__ import annotations

from dataclasses import dataclass

from labapp.representations.card import installed, published_as
from labapp.representations.data import MnistData

NAME, PAPER = "ross2021", "000"
"""How studies name the published study in `analysis.profile`, and its paper in `replicates`."""
PARTICIPANTS = 5
"""Who met each model (5.1.3)."""
COVERED = 0.8
"""A dial is covered when this share of the participants named it (6.2.2)."""

_NAMES = {
    "ae5": (1, 1, 1, 1, 0),
    "tc5": (4, 3, 3, 3, 3),
    "ss5": (4, 4, 5, 4, 4, 4),
    "ae10": (1, 0, 0, 2, 0, 0, 1, 0, 0, 0),
    "tc10": (4, 4, 2, 2, 3, 5, 5, 3, 2, 3),
    "ss10": (3, 3, 2, 4, 5, 1, 4, 3, 2, 2, 4),
}
"""Names in each row of the tables, the discrete dimension first; a row that is not there has 0."""
_NAMED_ANY = {"ae": 20, "tc": 100, "ss": 100}
"""Per cent of the users who "were able to assign labels to any" dimension (6.2.2), D = 5 and 10
together."""

TEXT = (
    "Ross et al. 2021, 6.2.2: “on average, only 20% of users were able to assign labels to any AE "
    "dimensions, but 100% were able to do so for at least one SS or TC dimension, with all "
    "dimensions at D = 5 and many at D = 10 having at least 80% coverage”. Counted in its Tables 1 "
    "and A.4 (5 participants a model): at D = 5 that coverage holds of every dimension of SS, and "
    "of one of the five of TC, the others having 3 names; and one dimension of AE at D = 10 has "
    "two names, so that at least 2 of 5 named one there."
)
"""What the paper says beside what its tables show."""


@dataclass(frozen=True, slots=True)
class Published:
    """Of one model of the paper. names: in each row of its table; named_any: per cent of users with
    at least one name, over both D; same_model: ours was imported, or trained on all digits."""

    names: tuple[int, ...]
    named_any: int
    same_model: bool

    @property
    def covered(self) -> int:
        """Dials that at least `COVERED` of the participants named; one name a participant."""
        return sum(n >= COVERED * PARTICIPANTS for n in self.names)


def published(model: str) -> Published | None:
    """Of the model that ours is or stands for, as its card says, if the paper tells its names."""
    own = published_as(model, PAPER)
    card = installed(model)
    if own not in _NAMES or card is None or card.dataset != "mnist":
        return None
    imported = card.origin is not None
    full = isinstance(card.data, MnistData) and card.data.digits == "all"
    return Published(_NAMES[own], _NAMED_ANY[own.rstrip("0123456789")], imported or full)
