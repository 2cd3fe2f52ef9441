"""The look of figures on paper, for matplotlib: the report's and the sheets of models.

Ink on white with the colours of the screens; no colour carries meaning alone. The report's figures
have the width, font, size of text and palette that a venue wants (`FigureLook`): what draws them
asks `style`, `figure_width`, `points_of` and `panels_across`, and names colours by what they are
for (`INK`, `ACCENT` …), which each palette has its own of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cycler import cycler

ACCENT, INK, SECONDARY, HAIRLINE = "C0", "C1", "C2", "C3"
"""Colours by their place in the palette: valid where a figure is drawn with `style` or `STYLE`."""
SERIES = ("C4", "C5", "C6", "C7")
"""More colours, of a third line in a panel and those after it."""
FULL_IN = 10.0
"""The width that figures have if none is asked for, in inches."""
FULL_PT = 9.0
"""The size of their text, in points."""
COLUMN_PT, NARROW_IN = 8.0, 6.0
"""The size of text in figures narrower than this, if none is asked for."""
LEAST_PT = 7.0
"""No text is smaller, unless the size asked for is."""
USUAL_FONT = "DejaVu Sans"
"""Comes with matplotlib."""


@dataclass(frozen=True)
class Palette:
    """Colours as #RRGGBB. series: of a third line in a panel and those after it; differences: from
    the least to the greatest, white is no difference, and the ends differ in grey too; more, less:
    what these ends are called."""

    accent: str
    ink: str
    secondary: str
    hairline: str
    series: tuple[str, str, str, str]
    differences: tuple[str, str, str, str, str]
    more: str = "Orange"
    less: str = "blue"

    @property
    def cycle(self) -> tuple[str, ...]:
        """By the places that `ACCENT`, `INK` … name."""
        return (self.accent, self.ink, self.secondary, self.hairline, *self.series)


USUAL_PALETTE = "labapp"
PALETTES: Mapping[str, Palette] = MappingProxyType(
    {
        USUAL_PALETTE: Palette(
            "#1F5FD6", "#1F2328", "#57606A", "#D8DEE4",
            ("#C77B1E", "#7A3E9D", "#1A7F37", "#CF222E"),
            ("#0B3C8C", "#6F9AD9", "#FFFFFF", "#F6CE94", "#E8962E"),
        ),
        # Okabe and Ito, "Color Universal Design": told apart with every kind of colour vision.
        "okabe-ito": Palette(
            "#0072B2", "#000000", "#595959", "#D9D9D9",
            ("#D55E00", "#CC79A7", "#009E73", "#E69F00"),
            ("#005A8C", "#56B4E9", "#FFFFFF", "#F3CF80", "#E69F00"),
        ),
        "greys": Palette(
            "#595959", "#000000", "#737373", "#D9D9D9",
            ("#8C8C8C", "#404040", "#A6A6A6", "#262626"),
            ("#333333", "#8C8C8C", "#FFFFFF", "#E0E0E0", "#BFBFBF"),
            "Light grey", "dark grey",
        ),
    }
)  # fmt: skip
"""By name. Okabe and Ito's colours are those of their web page of 2008."""


@dataclass(frozen=True)
class FigureLook:
    """How figures of a report look.

    Attributes
    ----------
    width_in : width of every figure, in inches.
    size_pt : size of its text, in points; None: by the width.
    font : the family of its text; what it lacks is written in DejaVu Sans.
    palette : one of `PALETTES`.
    """

    width_in: float = FULL_IN
    size_pt: float | None = None
    font: str = USUAL_FONT
    palette: str = USUAL_PALETTE

    @property
    def points(self) -> float:
        """Size of the text, in points."""
        return self.size_pt or (FULL_PT if self.width_in >= NARROW_IN else COLUMN_PT)

    @property
    def style(self) -> dict[Any, Any]:
        """The settings of matplotlib."""
        colours = PALETTES[self.palette]
        fonts = list(dict.fromkeys([self.font, USUAL_FONT, "Arial"]))
        return {
            "font.family": fonts[:-1] if self.font != USUAL_FONT else "sans-serif",
            "font.sans-serif": fonts,
            "font.size": self.points,
            "axes.titlesize": self.points * 10 / FULL_PT,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.edgecolor": colours.secondary,
            "axes.labelcolor": colours.ink,
            "axes.prop_cycle": cycler(color=colours.cycle),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.8,
            "xtick.color": colours.secondary,
            "ytick.color": colours.secondary,
            "xtick.labelcolor": colours.ink,
            "ytick.labelcolor": colours.ink,
            "text.color": colours.ink,
            # Names are of studies and people: a $ in them begins no formula.
            "text.parse_math": False,
            # Hinted text is wider or narrower by up to 5 % at another resolution, and would not fit
            # where it was measured to fit.
            "text.hinting": "none",
            "svg.fonttype": "none",
            "svg.hashsalt": "labapp",
        }


USUAL_LOOK = FigureLook()
STYLE: dict[Any, Any] = USUAL_LOOK.style
"""Of figures that look the same for everybody, such as the sheets of models."""
_LOOK: ContextVar[FigureLook] = ContextVar("look of figures", default=USUAL_LOOK)


@contextmanager
def looking(look: FigureLook) -> Iterator[None]:
    """Draw with a look."""
    token = _LOOK.set(look)
    try:
        yield
    finally:
        _LOOK.reset(token)


def look() -> FigureLook:
    """The look to draw with."""
    return _LOOK.get()


def style() -> dict[Any, Any]:
    """The settings of matplotlib to draw with."""
    return look().style


def figure_width() -> float:
    """The width of a figure, in inches."""
    return look().width_in


def points_of(size: float) -> float:
    """A size of text that is meant for a figure of 10 inches, in points of the figure drawn: never
    below `LEAST_PT`, or the size asked for if that is smaller."""
    own = look().points
    return max(size * own / FULL_PT, min(LEAST_PT, own, size))


def panels_across(most: int) -> int:
    """So many panels beside each other, of `most` in a figure of 10 inches."""
    return min(most, max(1, round(most * figure_width() / FULL_IN)))


def colours() -> Palette:
    """The palette to draw with."""
    return PALETTES[look().palette]
