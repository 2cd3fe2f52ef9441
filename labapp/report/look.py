"""The look of figures, from what is asked for on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from labapp.errors import UsageError
from labapp.figure_style import FULL_IN, PALETTES, USUAL_FONT, USUAL_PALETTE, Look

UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
"""Inches of a unit of length."""
LEAST_IN, MOST_IN = 2.5, 20.0
LEAST_PT, MOST_PT = 4.0, 24.0
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*")
SAFE = "No analysis was made."


def look_of(
    width: str | None = None,
    font: str | None = None,
    size: str | None = None,
    palette: str | None = None,
) -> Look:
    """The look that is asked for.

    Parameters
    ----------
    width, size : of the figures, and of their text: a number with a unit of `UNITS`; a size without
        unit is in points.
    font : a family that is installed.
    palette : one of `PALETTES`.

    Raises
    ------
    UsageError : for a length that is none, a font that is not installed, an unknown palette.
    """
    inches = FULL_IN if width is None else _inches("--figure-width", width, "", "3.33in")
    if not LEAST_IN <= inches <= MOST_IN:
        raise UsageError(
            f"--figure-width {width}: figures are {LEAST_IN:g} to {MOST_IN:g} in wide.",
            safe=SAFE,
            todo="A column of a journal is 3.3 to 3.5 in wide, a page about 7 in.",
        )
    points = None if size is None else 72 * _inches("--figure-size", size, "pt", "8pt")
    if points is not None and not LEAST_PT <= round(points, 6) <= MOST_PT:
        raise UsageError(
            f"--figure-size {size}: text has {LEAST_PT:g} to {MOST_PT:g} pt.",
            safe=SAFE,
            todo="Most venues want 7 to 9 pt.",
        )
    if palette is not None and palette not in PALETTES:
        raise UsageError(
            f"There is no palette {palette!r}.",
            safe=SAFE,
            todo=f"There are: {', '.join(PALETTES)}.",
        )
    family = USUAL_FONT if font is None else _installed(font)
    return Look(inches, points, family, palette or USUAL_PALETTE)


def _inches(option: str, text: str, usual: str, example: str) -> float:
    match = _LENGTH.fullmatch(text.lower())
    unit = (match[2] or usual) if match else ""
    if match is None or unit not in UNITS:
        raise UsageError(
            f"{option} {text}: this is no length.",
            safe=SAFE,
            todo=f"Give a number and a unit ({', '.join(UNITS)}), such as {option} {example}.",
        )
    return float(match[1]) * UNITS[unit]


def _installed(name: str) -> str:
    """The family as the font calls itself. Raises UsageError with the families there are."""
    there = _families()
    if name.strip().lower() not in there:
        _look_again()
        there = _families()
    if name.strip().lower() in there:
        return there[name.strip().lower()]
    raise UsageError(
        f"The font {name!r} is not installed here.",
        safe=SAFE,
        todo=f"Install it, or name one of these: {_listed(there.values())}.",
    )


def _families() -> dict[str, str]:
    """The families there are, by their names in small letters."""
    from matplotlib.font_manager import fontManager  # slow to load

    return {str(font).lower(): str(font) for font in fontManager.get_font_names()}


def _look_again() -> None:
    """Find fonts that were installed after matplotlib wrote its list of them."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known:
            with suppress(OSError, RuntimeError):  # a file that is no font, or one of bitmaps
                fontManager.addfont(path)


def _listed(names: Iterable[str]) -> str:
    """Those of text, without those of symbols and mathematics, which matplotlib brings."""
    own = re.compile(r"STIX(Non|Size)|^cm|Symbol|Dingbat|Math|Icons|Awesome|GLYPHICONS", re.I)
    return ", ".join(sorted({name for name in names if not own.search(name)}, key=str.lower))
