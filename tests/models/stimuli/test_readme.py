"""The example of the documentation is a set, in both its forms."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from labapp.models.stimuli import importing, library, pictures, sources
from labapp.models.stimuli.manifest import Manifest

README = library.shipped_folder() / "README.md"


def blocks() -> dict[str, str]:
    """The files of the example, by name: a fenced block each, named in the line above."""
    text = README.read_text("utf-8")
    found = re.findall(r"`([\w.]+)`[^`\n]*:\n\n```\w+\n(.*?)```", text, re.DOTALL)
    assert [name for name, _ in found] == [
        "manifest.json", "set.json", "classes.csv", "photos.csv"
    ]  # fmt: skip
    return dict(found)


def written(folder: Path, names: list[str]) -> Path:
    """The example with its pictures, made up."""
    for name in names:
        (folder / name).write_text(blocks()[name], "utf-8")
    random = np.random.default_rng(0)
    for part in ("photos", "maps"):
        (folder / part).mkdir()
    for ref in set(re.findall(r"photos/\d\.jpg", blocks()["manifest.json"])):
        photo = random.integers(0, 255, (300, 300, 3), np.uint8)
        (folder / ref).write_bytes(pictures.jpeg(photo))
    for ref in set(re.findall(r"maps/[\w-]+\.png", blocks()["manifest.json"])):
        (folder / ref).write_bytes(pictures.png(random.integers(0, 255, (7, 7), np.uint8)))
    return folder


def test_both_forms_are_the_same_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    for name in ("json", "tables"):
        (tmp_path / name).mkdir()
    as_json = written(tmp_path / "json", ["manifest.json"])
    as_tables = written(tmp_path / "tables", ["set.json", "classes.csv", "photos.csv"])
    folder, found = importing.import_set(as_json)
    assert found.warnings == [
        "set 1: the model is right about 1 of 1 photos",
        "set 2: the model is right about 0 of 1 photos",
    ]
    assert importing.read_checked(as_tables).manifest == library.load("cats-and-dogs").manifest
    assert (folder / "maps" / "4-dog.png").is_file()


def test_every_column_and_key_is_documented() -> None:
    text = README.read_text("utf-8")
    for name, columns in sources.COLUMNS.items():
        described = text.split(f"**{name}**")[1].split("\n\n")[0]
        assert all(f"`{column}`" in described for column in columns), name
    assert json.loads(blocks()["set.json"]).keys() < Manifest.model_fields.keys()
