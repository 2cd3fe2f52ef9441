"""How an instance of a model is drawn."""

from __future__ import annotations

from typing import Literal

Display = Literal["series", "image", "binary_image", "colour"]
"""A chart of (points,); a grey picture of (rows, columns), as it is or rounded to black and white;
a picture of red, green and blue, (rows, columns, 3)."""
