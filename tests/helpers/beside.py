"""Copies of shipped texts and questionnaires in a study's folder, as `studies new` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from labapp.base import resources


@cache
def _shipped() -> dict[Path, bytes]:
    assets = resources.assets()
    files = (*assets.glob("texts/*/*.md"), *assets.glob("instruments/*"))
    return {file.relative_to(assets): file.read_bytes() for file in files}


def put_beside(folder: Path) -> Path:
    """Copy every shipped text and questionnaire that is not there yet; returns the folder."""
    for parent in {name.parent for name in _shipped()}:
        (folder / parent).mkdir(parents=True, exist_ok=True)
    for name, content in _shipped().items():
        with suppress(FileExistsError), (folder / name).open("xb") as stream:
            stream.write(content)
    return folder


def write_flow(path: Path, flow: Sequence[Any], language: str, when_interrupted: str) -> Path:
    """The file of a study, called like it, that records no sound; returns its path."""
    study = {
        "id": path.stem,
        "title": "A study for tests",
        "version": 1,
        "language": language,
        "recording": {"audio": "off"},
        "when_interrupted": when_interrupted,
        "flow": flow,
    }
    path.write_text(yaml.safe_dump(study, allow_unicode=True, sort_keys=False), "utf-8")
    return path
