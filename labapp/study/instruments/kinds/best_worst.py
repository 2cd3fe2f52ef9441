"""The best and the worst of several options. What is stored is the option chosen as each."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from labapp.study.instruments.items import Compound, Listed, SomeOptions, SomeWords
from labapp.study.instruments.kinds.choice import Choice

ENDS = ("best", "worst")


class BestWorst(Compound, Listed):
    """The best and the worst of several options (best-worst scaling; Louviere, Flynn and Marley,
    2015). In tables the two are choices `<id>_best` and `<id>_worst`.

    Attributes
    ----------
    options : the options, each with an `id` and a `text`; at least three.
    best : the heading for choosing the best option, such as \"matters most\".
    worst : the heading for choosing the worst option.
    """

    own_words: ClassVar[frozenset[str]] = frozenset(ENDS)
    chooses: ClassVar[bool] = True

    kind: Literal["best_worst"]
    text: SomeWords
    options: SomeOptions
    best: SomeWords
    worst: SomeWords

    def parts(self) -> tuple[Choice, ...]:
        options = tuple(option.model_dump() for option in self.options)
        return tuple(
            self.as_part(Choice, end, getattr(self, end), kind="choice", options=options)
            for end in ENDS
        )

    def check(self, value: Any) -> dict[str, str]:
        chosen = self.take(value, ENDS)
        known = [option.id for option in self.options]
        if wrong := [each for each in chosen.values() if each not in known]:
            raise ValueError(f"{self.id}: {wrong[0]!r} is not among {', '.join(known)}")
        if len(set(chosen.values())) < len(chosen):
            raise ValueError(f"{self.id}: the best cannot also be the worst")
        return chosen

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, str]:
        best, worst = rng.permutation(len(self.options))[:2].tolist()
        return {"best": self.options[best].id, "worst": self.options[worst].id}
