"""Copies of shipped texts and questionnaires in a study's folder, as `studies new` makes them."""

from __future__ import annotations

import shutil
from pathlib import Path

from labapp.base import resources


def put_beside(folder: Path) -> Path:
    """Copy every shipped text and questionnaire that is not there yet; returns the folder."""
    for file in (
        *resources.assets().glob("texts/*/*.md"),
        *resources.assets().glob("instruments/*"),
    ):
        target = folder / file.relative_to(resources.assets())
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(file, target)
    return folder
