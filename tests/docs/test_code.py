"""Pages of the documentation: code that can be read, distances worked out, and pictures."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from labapp import __version__
from labapp.base.documents import parse_yaml
from labapp.base.report import kit
from labapp.models.representations.distance import ALIGNMENT_SLACK, NAMES, get_distance
from scripts import docs_animation, docs_figures, docs_gallery, docs_pictures, models_picture
from tests.helpers.recipes import DOCS, ROOT

CODE_ROOT = Path(__file__).resolve().parents[2]

PAGES = [
    page
    for page in (
        CODE_ROOT / "README.md",
        CODE_ROOT / "CONTRIBUTING.md",
        *sorted(CODE_ROOT.glob("docs/**/*.md")),
    )
    if page.parent.name not in ("recipes", "tutorials")
]

BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

READ = {
    "python": lambda code: compile(code, "page", "exec"),
    # As labapp reads what people write: what they copy from a page is read, too.
    "yaml": lambda code: parse_yaml(Path("block"), code.encode()),
    "json": json.loads,
    "toml": tomllib.loads,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CODE_ROOT)))
def test_every_block_of_code_can_be_read(page: Path) -> None:
    content = page.read_text("utf-8")
    assert content.count("\n```") % 2 == 0
    for language, code in BLOCK.findall(content):
        assert language in (*READ, "", "r", "sh", "text"), language
        if language in READ:
            READ[language](code)


X = np.array([0, 0.2, 0.6, 1], np.float32)

TARGET = np.array([0, 0.8, 0.4, 1], np.float32)


def test_every_distance_stands_in_the_guide_with_its_value() -> None:
    guide = (DOCS / "guide/models.md").read_text("utf-8")
    part = guide.partition("## Distances\n")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \| ([0-9.]+) \| ([^|]+) \|$", part)
    assert [name for name, *_ in rows] == list(NAMES)
    for name, formula, example, source in rows:
        assert f"{get_distance(name)(X, TARGET):.3f}" == example, name
        assert formula.strip()
        assert source.strip()
    assert f"target − {ALIGNMENT_SLACK:g}" in part
    assert get_distance("mse/0.04")(X, TARGET) == 1.0


def test_the_guide_says_when_points_and_lines_are_drawn() -> None:
    guide = (DOCS / "guide/analysis.md").read_text("utf-8")
    part = guide.partition("## What figures show\n")[2].partition("\n## ")[0]
    for words in (
        f"up to {kit.LINES_UP_TO} participants",
        f"up to {kit.POINTS_UP_TO} values",
        f"from {kit.BOX_FROM} values on",
        f"more than {kit.POINTS_UP_TO}",
        f"at most {kit.STEPS_UP_TO} different values",
    ):
        assert words in part, words


def test_the_extras_are_those_of_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text("utf-8")
    guide = (DOCS / "guide/models.md").read_text("utf-8")
    part = guide.partition("## Extras\n")[2].partition("\n## ")[0]
    for extra, brings in re.findall(r"`'labapp\[(\w+)\]'` \| ([^|]+) \|", part):
        (line,) = re.findall(rf"(?m)^{extra} = \[(.*)\]$", declared)
        packages = re.findall(r'"(\w+)>=', line)
        assert packages == [name.strip() for name in brings.split(",")], extra


PICTURES_ROOT = Path(__file__).resolve().parents[2]

FOLDER = PICTURES_ROOT / "docs" / "pictures"

PICTURES_PAGES = (PICTURES_ROOT / "README.md", *sorted((PICTURES_ROOT / "docs").rglob("*.md")))

FIGURES = {
    docs_figures.file_of(study, name): docs_figures.alternative(label)
    for study, drawn in docs_figures.drawn_on(docs_figures.PAGE.read_text("utf-8")).items()
    for name, label in drawn
}

SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]*)\)")
INLINE = re.compile(r"`[^`\n]*`")


def test_every_picture_is_drawn_by_a_script() -> None:
    drawn = {*docs_pictures.PICTURES, models_picture.FILE.name, docs_animation.FILE.name}
    drawn |= {docs_gallery.file_of(name) for name in docs_gallery.names()}
    drawn |= set(FIGURES)
    assert {path.name for path in FOLDER.iterdir()} == drawn
    assert docs_pictures.MAKERS.keys() == docs_pictures.PICTURES.keys()
    for make in docs_pictures.MAKERS.values():
        assert list(inspect.signature(make).parameters) == ["folder"]
    assert models_picture.FILE.parent == docs_pictures.OUT == docs_gallery.PICTURES == FOLDER
    assert docs_animation.FILE.stat().st_size < 600_000


def test_every_picture_is_shown_with_what_it_shows() -> None:
    shown = {
        (Path(target).name, told)
        for page in PICTURES_PAGES
        for told, target in SHOWN.findall(INLINE.sub("", page.read_text("utf-8")))
    }
    pictures = docs_pictures.PICTURES | {docs_animation.FILE.name: docs_animation.SHOWN}
    studies = {
        docs_gallery.file_of(name): docs_gallery.shown(name) for name in docs_gallery.names()
    }
    assert shown == set((pictures | studies | FIGURES).items())


def test_the_gallery_is_of_the_studies_as_they_are() -> None:
    """`python -m scripts.docs_gallery` writes it again."""
    assert docs_gallery.PAGE.read_text("utf-8") == docs_gallery.page()


def test_the_page_about_problems_has_every_check_of_the_doctor() -> None:
    code = (ROOT / "labapp" / "ui" / "doctor.py").read_text("utf-8")
    page = (DOCS / "guide" / "troubleshooting.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| (`[^|]*) \|", page)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(re.findall(r'Check\("(\w+)"', code))


def test_it_is_cited_with_its_version() -> None:
    page = (DOCS / "guide" / "cite.md").read_text("utf-8")
    assert f"version = {{{__version__}}}" in page
    assert f"(version {__version__})" in page
