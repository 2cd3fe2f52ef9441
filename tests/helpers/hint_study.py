"""The example with staircases, a comprehension check, a picture, a sound and two languages."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.helpers.installed import EXAMPLE

STUDY = EXAMPLE.parent / "hint-study" / "hint-study.yaml"


def shorter(folder: Path, *changes: tuple[str, str]) -> Path:
    """The study in a folder with one question a model and four pictures a staircase, at most.
    changes: further texts in it by others."""
    path = Path(shutil.copytree(STUDY.parent, folder)) / STUDY.name
    text = path.read_text("utf-8")
    for old, new in (("trials: 16", "trials: 4"), ("trials: 2\n", "trials: 1\n"), *changes):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    return path
