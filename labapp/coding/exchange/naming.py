"""Ids for what other tools call by any text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

_LONGEST = 60
_ALPHABETS = {
    "äöüæœøþđłı": "ae oe ue ae oe o th d l i",
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя": (
        "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya"
    ),
    "αβγδεζηθικλμνξοπρσςτυφχψω": "a v g d e z i th i k l m n x o p r s s t y f ch ps o",
}
_LATIN = {
    letter: latin.strip("-")
    for letters, written in _ALPHABETS.items()
    for letter, latin in zip(letters, written.split(), strict=True)
}
_NAMED = re.compile(r"(?:LETTER|SYLLABLE) (?:SMALL |FINAL )?([A-Z]+)$")
"""Of characters that Unicode names by their sound, such as HIRAGANA LETTER KA."""


def id_of(text: str, otherwise: str, taken: Container[str]) -> str:
    """A text as an id, which a codebook writes in small Latin letters, digits and underscores.
    Other scripts are transliterated; a character without a sound of its own, as 感, becomes its
    number in Unicode.

    Parameters
    ----------
    text : what the other tool calls it.
    otherwise : what the id begins with where the text does not begin with a letter.
    taken : ids that others have.
    """
    letters = map(_latin, unicodedata.normalize("NFC", text.casefold()))
    word = re.sub(r"[^a-z0-9]+", "_", "".join(letters)).strip("_")
    if not word or not word[0].isalpha():
        word = f"{otherwise}_{word}".rstrip("_")
    number, own = 1, word[:_LONGEST]
    while own in taken:
        number += 1
        own = f"{word[:_LONGEST]}_{number}"
    return own


def _latin(letter: str) -> str:
    """A letter in Latin letters; anything else as it is."""
    if letter.isascii() or letter in _LATIN:
        return _LATIN.get(letter, letter)
    if named := _NAMED.search(unicodedata.name(letter, "")):
        return named[1].lower()
    plain = unicodedata.normalize("NFKD", letter)
    if plain != letter:
        return "".join(map(_latin, plain))
    if unicodedata.category(letter).startswith("M"):  # a mark on a letter
        return ""
    return f"u{ord(letter):x}" if letter.isalpha() else " "
