"""The result of every metric: a number, the parts it was made from, and the settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


# Without eq: the parts hold arrays, whose == is no truth value.
@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """A metric's result.

    Attributes
    ----------
    metric : the metric's name on the command line, for example "mig".
    score : the number that carries the metric's name.
    parts : numbers and float64 arrays by name. Where they occur, `per_code` has shape (C,),
        `per_factor` shape (K,), and a matrix shape (C, K): codes downwards, factors across. A NaN
        stands only where the metric's docstring says that a part is undefined.
    settings : everything that the score depends on besides the data, as plain values.
    notes : what these data make it necessary to say beside the score, a sentence each.
    """

    metric: str
    score: float
    parts: Mapping[str, float | Float64]
    settings: Mapping[str, JSON]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """Plain values for a model card or a file; arrays become lists, an undefined part null.
        "notes" is there where there are some."""
        values: dict[str, JSON] = {
            "metric": self.metric,
            "score": self.score,
            "parts": {name: _plain(np.asarray(part).tolist()) for name, part in self.parts.items()},
            "settings": dict(self.settings),
        }
        return {**values, "notes": list(self.notes)} if self.notes else values


def _plain(value: float | list[JSON]) -> JSON:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]  # type: ignore[arg-type]
    return value if math.isfinite(value) else None
