"""Options that are put in order. What is stored is the place of each option, from 1; not yet placed
options are not in it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from labapp.study.instruments.items import Compound, Listed, SomeOptions, SomeWords
from labapp.study.instruments.kinds.number import Number


class Ranking(Compound, Listed):
    """Options that are put in order: the first that is chosen comes first. In tables and scores the
    place of each option is a number `<id>_<id of the option>`, 1 for the first.

    Attributes
    ----------
    options : the options to put in order, each with an `id` and a `text`.
    """

    kind: Literal["ranking"]
    text: SomeWords
    options: SomeOptions

    def parts(self) -> tuple[Number, ...]:
        fields = {"kind": "number", "low": 1, "high": len(self.options)}
        return tuple(
            self.as_part(Number, option.id, option.text, **fields) for option in self.options
        )

    def check(self, value: Any) -> dict[str, int]:
        places = self.take(value, (option.id for option in self.options))
        if sorted(places.values()) != list(range(1, len(places) + 1)):
            raise ValueError(f"{self.id}: {value!r} are not consecutive places from 1")
        return dict(sorted(places.items(), key=lambda placed: placed[1]))

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, int]:
        order = rng.permutation(len(self.options)).tolist()
        return self.check({self.options[at].id: place for place, at in enumerate(order, start=1)})
