"""How an instance of a model is drawn."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Display = Literal["series", "image", "binary_image", "colour"]
"""A chart of (points,); a grey picture of (rows, columns), as it is or rounded to black and white;
a picture of red, green and blue, (rows, columns, 3)."""


class Chart(NamedTuple):
    """The limits of the y axis on which a series is drawn; by default the published ones (paper
    000, 4.3)."""

    low: float = -10.0
    high: float = 10.0

    def above_middle(self, y: NDArray[np.float32], half: float) -> NDArray[np.floating]:
        """How far above the middle of a chart values are drawn, in the unit of `half`, half its
        height. Far outside they are cut off."""
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        inside = np.clip(y, middle - 3 * reach, middle + 3 * reach)
        above: NDArray[np.floating] = (inside - np.float32(middle)) * (half / reach)
        return above

    @property
    def zero(self) -> float | None:
        """Where 0 is: its share of half the height above the middle; None outside the chart."""
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        return -middle / reach if self.low < 0 < self.high else None


PUBLISHED_CHART = Chart()
