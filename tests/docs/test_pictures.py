"""Every picture of the documentation is drawn by a script, and shown with what it shows."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from scripts import docs_pictures, models_picture

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]*)\)")


def test_every_picture_is_drawn_by_a_script() -> None:
    drawn = {*docs_pictures.PICTURES, models_picture.FILE.name}
    assert {path.name for path in FOLDER.iterdir()} == drawn
    assert docs_pictures.MAKERS.keys() == docs_pictures.PICTURES.keys()
    for make in docs_pictures.MAKERS.values():
        assert list(inspect.signature(make).parameters) == ["folder"]
    assert models_picture.FILE.parent == docs_pictures.OUT == FOLDER


def test_every_picture_is_shown_with_what_it_shows() -> None:
    shown = {
        (Path(target).name, told)
        for page in PAGES
        for told, target in SHOWN.findall(page.read_text("utf-8"))
    }
    assert shown == set(docs_pictures.PICTURES.items())
