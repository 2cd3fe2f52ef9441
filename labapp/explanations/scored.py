"""The methods that give every pixel a score, by name. Nothing here needs torch."""

from __future__ import annotations

from typing import Literal, get_args

Scoring = Literal["gradient", "guided_backprop", "lrp"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
NAMES: dict[Scoring, str] = {
    "gradient": "Gradient",
    "guided_backprop": "Guided backpropagation",
    "lrp": "LRP",
}
"""As tables and figures call them (paper 004, figure 1)."""
