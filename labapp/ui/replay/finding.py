"""Finding codes by name, and units by their words, notes and memos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from labapp.annotations.codebook import Code, Codebook
from labapp.annotations.model import Mark, Text, Unit
from labapp.ui.replay.coding_rows import clock

Source = Literal["text", "note", "memo"]
AROUND = 40
"""Characters that are shown on both sides of what matched."""


@dataclass(frozen=True, slots=True)
class Match:
    """A place that matched.

    Attributes
    ----------
    t_ns : session time to go to.
    unit : the unit there.
    source : str
        Where it stands: in a text, a moderator's note, or a memo.
    excerpt : what matched, with some words around it.
    """

    t_ns: int
    unit: str | None
    source: Source
    excerpt: str

    @property
    def time(self) -> str:
        """As it is shown."""
        return clock(self.t_ns)


def find_codes(codebook: Codebook, wanted: str) -> list[Code]:
    """Codes in use whose name or id has every word; those that begin so come first."""
    words = wanted.casefold().split()
    codes = [
        code
        for code in codebook.codes
        if not code.retired
        and all(word in f"{code.name} {code.id} {code.when}".casefold() for word in words)
    ]
    first = words[0] if words else ""

    def rank(code: Code) -> tuple[int, int]:
        name = code.name.casefold()
        if name.startswith(first):
            return 0, len(name)
        return (1, len(name)) if first in name or first in code.id else (2, len(name))

    return sorted(codes, key=rank)


def find_places(
    units: Sequence[Unit],
    texts: dict[str, Text],
    notes: Iterable[Mark],
    memos: Iterable[Mark],
    wanted: str,
) -> list[Match]:
    """Every place in words, notes and memos that has all words of what is wanted, by time."""
    words = wanted.casefold().split()
    if not words:
        return []
    matches: list[Match] = []

    def look(t_ns: int, unit: str | None, source: Source, text: str) -> None:
        folded = text.casefold()
        if all(word in folded for word in words):
            matches.append(Match(t_ns, unit, source, excerpt(text, words[0])))

    for unit in units:
        if (text := texts.get(unit.id)) is not None:
            look(unit.t0_ns, unit.id, "text", text.text)
    for mark in notes:
        look(mark.t0_ns, None, "note", mark.memo)
    for mark in memos:
        if mark.memo:
            look(mark.t0_ns, mark.unit, "memo", mark.memo)
    return sorted(matches, key=lambda match: (match.t_ns, match.source))


def excerpt(text: str, word: str) -> str:
    """The part of a text around the first place of a word."""
    place = max(0, text.casefold().find(word))
    begin, end = max(0, place - AROUND), min(len(text), place + len(word) + AROUND)
    return ("…" if begin else "") + text[begin:end].strip() + ("…" if end < len(text) else "")
