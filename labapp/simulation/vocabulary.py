"""What simulated participants type as the name of a dial, and how long that takes them.

These are a participant's words, not the window's: short, lower case, and not the same from one to
the next, so that raters have to see that "tilt" and "slant" say the same.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

NOTHING = "nothing"

ENGLISH = MappingProxyType(
    {
        "across": ("left-right", "left/right", "horizontal"),
        "down": ("up-down", "up/down", "vertical"),
        "place": ("position", "moves it", "where it is"),
        "size": ("size", "bigger/smaller", "how big"),
        "brightness": ("brightness", "light/dark", "shade"),
        "thickness": ("thickness", "thick", "line thickness"),
        "stretch": ("width", "stretch", "narrow/wide"),
        "slant": ("slant", "tilt", "lean"),
        "turn": ("rotation", "rotate", "turns it"),
        "form": ("shape", "form", "changes shape"),
        "choice": ("which shape", "kind of shape", "picks the shape"),
        "height": ("height", "up-down", "how high"),
        "slope": ("slope", "steepness", "tilt"),
        "waves_height": ("wave height", "amplitude", "how tall the waves are"),
        "waves_closeness": ("wave spacing", "frequency", "how close the waves are"),
        "waves": ("waves", "waviness", "how wavy"),
        NOTHING: ("nothing", "does nothing", "no effect"),
    }
)
GERMAN = MappingProxyType(
    {
        "across": ("links-rechts", "links/rechts", "waagerecht"),
        "down": ("hoch-runter", "oben/unten", "senkrecht"),
        "place": ("Position", "verschiebt es", "wo es ist"),
        "size": ("Größe", "größer/kleiner", "wie groß"),
        "brightness": ("Helligkeit", "hell/dunkel", "Farbton"),
        "thickness": ("Dicke", "dick", "Strichdicke"),
        "stretch": ("Breite", "Streckung", "schmal/breit"),
        "slant": ("Neigung", "Schräge", "kippt"),
        "turn": ("Drehung", "drehen", "dreht es"),
        "form": ("Form", "Gestalt", "ändert die Form"),
        "choice": ("welche Form", "Art der Form", "wählt die Form"),
        "height": ("Höhe", "hoch-runter", "wie hoch"),
        "slope": ("Steigung", "Gefälle", "Neigung"),
        "waves_height": ("Wellenhöhe", "Amplitude", "wie hoch die Wellen sind"),
        "waves_closeness": ("Wellenabstand", "Frequenz", "wie dicht die Wellen sind"),
        "waves": ("Wellen", "Welligkeit", "wie wellig"),
        NOTHING: ("nichts", "tut nichts", "keine Wirkung"),
    }
)
"""By what a dial is known to change (see `naming`): what people may call it."""

THINK_S, POINT_S, HOME_S, KEY_S = 1.35, 1.1, 0.4, 0.28
"""Seconds to make up one's mind, to point at the name with the mouse, to bring a hand from the
mouse to the keyboard or back, and for a key: the keystroke-level model (Card, Moran and Newell
1980), whose average typist who is no secretary does 40 words a minute."""


def words_of(language: str) -> MappingProxyType[str, tuple[str, ...]]:
    """Those of a study's language, such as de or de-AT; whoever's language is not here types
    English."""
    return GERMAN if language.partition("-")[0] == "de" else ENGLISH


def vocabulary(language: str, rng: np.random.Generator) -> dict[str, str]:
    """One participant's word for each change; nobody calls the same thing by two names."""
    words = words_of(language)
    return {meaning: words[meaning][int(rng.integers(len(words[meaning])))] for meaning in words}


def typing_s(text: str, thinking: float) -> float:
    """Seconds to give a dial a name, at a person's pace: to decide, point, type it over the old one
    (which a click selects) and press Enter. thinking: see `Person`."""
    return THINK_S * thinking + POINT_S + 2 * HOME_S + KEY_S * (len(text) + 1)
