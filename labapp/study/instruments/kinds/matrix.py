"""Several rows that are rated on one scale. What is stored is the number of each rated row."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict

from labapp.study.instruments.items import Compound, Listed, Option, Rows
from labapp.study.instruments.kinds.rating import OnScale, Scale


class Matrix(Compound, OnScale, Listed):
    """Several rows on one scale, which is the questionnaire's `scale` unless the item has its own.
    In tables and scores each row is a rating `<id>_<id of the row>`.

    Attributes
    ----------
    rows : the rows to rate, each with an `id` and a `text`.
    """

    shares_scale: ClassVar[bool] = True
    pictured: ClassVar[bool] = False
    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema["required"].remove("points")  # of the instrument
    )

    kind: Literal["matrix"]
    rows: Rows

    def listed(self) -> tuple[Option, ...]:
        return self.rows

    def parts(self) -> tuple[Scale, ...]:
        fields = ("points", "first", "low", "high", "middle", "labels", "numbers")
        scale = {name: getattr(self, name) for name in fields}
        return tuple(self.as_part(Scale, row.id, row.text, **scale) for row in self.rows)

    def check(self, value: Any) -> dict[str, int]:
        rated = self.take(value, (row.id for row in self.rows))
        return {row: self.point(number) for row, number in rated.items()}

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, int]:
        return {row.id: self.simulated_point(rng, leaning) for row in self.rows}
