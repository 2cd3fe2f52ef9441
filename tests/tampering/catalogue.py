"""The catalogue: every way of tampering that verify is held to, each with what is told of it.

A manipulation is a function that changes copies of `places.Places`, and returns what to verify
where that is not the first place it needs. Its first line says what somebody did. `told`: part of a
problem that must be told; `noted`: part of a note (the check is passed, but says so); `unnoticed`:
why nothing can be noticed yet, which a later version should make shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.tampering import places as made
from tests.tampering.places import Places

Do = Callable[[Places], Path]
Change = Callable[[Places], Path | None]

INSIDER = "all hashes were made anew by who can run the program; no key seals them yet"
BACKUP = "everything is as it was on that day, the anchor too; only a copy elsewhere would tell"
MODULES = ("journal", "database", "sound", "files", "bundle", "archive", "annotations")


@dataclass(frozen=True)
class Manipulation:
    """needs: the fields of `Places` that it changes or verifies, which are copied for it."""

    name: str
    sentence: str
    do: Do
    needs: tuple[str, ...]
    told: str = ""
    noted: str = ""
    unnoticed: str = ""


_CATALOGUE: dict[str, Manipulation] = {}


def manipulation(
    *needs: str, told: str = "", noted: str = "", unnoticed: str = "", reseal: bool = False
) -> Callable[[Change], Change]:
    """Put a function into the catalogue, under its name. reseal: the manifest is made to fit."""

    def add(change: Change) -> Change:
        def do(places: Places) -> Path:
            first: Path = getattr(places, needs[0])
            path = change(places) or first
            if reseal:
                made.reseal(places.bundle)
            return path

        assert bool(told) + bool(noted) + bool(unnoticed) == 1, change.__name__
        name = change.__name__.replace("_", " ")
        assert name not in _CATALOGUE, name
        sentence = " ".join((change.__doc__ or "").split())
        _CATALOGUE[name] = Manipulation(name, sentence, do, needs, told, noted, unnoticed)
        return change

    return add


def catalogue() -> list[Manipulation]:
    """All of them, in their order."""
    for module in MODULES:
        import_module(f"tests.tampering.with_{module}")
    return list(_CATALOGUE.values())
