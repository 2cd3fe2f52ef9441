"""Model packages for tests of where models are found; no torch is needed to read them."""

from __future__ import annotations

from pathlib import Path

from labapp import resources
from labapp.representations import card


def copied(root: Path, model: str, *, of: str = "sinelines/gt", models: Path | None = None) -> Path:
    """A copy of a closed form under an id of its own; returns its folder. models: where `of` is
    taken from, by default the shipped ones."""
    folder = root / model
    folder.mkdir(parents=True)
    text = ((models or resources.models()) / of / card.CARD).read_text(encoding="utf-8")
    (folder / card.CARD).write_text(text.replace(f"id: {of}", f"id: {model}"), encoding="utf-8")
    return folder
