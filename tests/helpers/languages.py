"""Studies in other languages: a translated one, and one whose every word is marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from labapp.base import resources

MARKED = "qq"
"""A language made for tests: English between brackets, so that what no text holds is seen."""


def translated(study: Path, language: str) -> Path:
    """The study file, changed to be in a language."""
    lines = [line for line in study.read_text().splitlines() if not line.startswith("language:")]
    study.write_text("\n".join([*lines, f"language: {language}", ""]))
    return study


def mark(text: str) -> str:
    return f"⟦{text}⟧"


def write_marked(folder: Path) -> None:
    """All texts and instruments in the marked language, in the folder of a study."""
    assets = resources.assets()
    texts, instruments = folder / "texts" / MARKED, folder / "instruments"
    texts.mkdir(parents=True)
    instruments.mkdir()
    for path in (assets / "texts" / "en").glob("*.md"):
        (texts / path.name).write_text(path.read_text().replace("# ", f"# {mark('')} "))
    words = yaml.safe_load((assets / "texts" / "en" / "participant.yaml").read_text())
    own = {key: said if key == "decimal_mark" else mark(said) for key, said in words.items()}
    (texts / "participant.yaml").write_text(yaml.safe_dump(own, allow_unicode=True))
    for path in (assets / "instruments").glob("*.yaml"):
        marked = _marked(yaml.safe_load(path.read_text()))
        (instruments / path.name).write_text(yaml.safe_dump(marked, allow_unicode=True))


def _marked(value: Any) -> Any:
    """A document with only the marked words where it has words in several languages."""
    if isinstance(value, dict):
        if set(value) == {"en", "de"}:
            return {MARKED: mark(value["en"])}
        return {key: _marked(one) for key, one in value.items()}
    return [_marked(one) for one in value] if isinstance(value, list) else value
