"""Figures of reports are made and not drawn: what is drawn is tested by the tests of figures.

Laying out and drawing a page's figures takes nine tenths of the time of a page. A conftest.py
imports the fixture for its folder; a module with `DRAWN = True` has its figures drawn, and so has
every module in `make nightly`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from labapp.base.report import drawing
from tests.helpers.nightly import EVERYTHING

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c63600000000200015b0a3a1b0000000049454e44ae426082"
)
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n%%EOF\n"


def words_of(figure: Figure) -> str:
    """An `<svg>` element with the words of a figure, none of them in its place."""
    width, height = figure.get_size_inches() * 72
    words = [text.get_text() for text in figure.findobj(Text) if text.get_text().strip()]
    lines = "\n".join(f"<text>{html.escape(text, quote=False)}</text>" for text in words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.2f}pt" height="{height:.2f}pt" '
        f'viewBox="0 0 {width:.2f} {height:.2f}">\n{lines}\n</svg>\n'
    )


def save(figure: drawing.ReportFigure, folder: Path) -> list[Path]:
    """The files of a figure, with its words alone."""
    paths = [folder / f"{figure.name}.{ending}" for ending in ("svg", "png", "pdf")]
    contents = (f"{drawing.DECLARATION}{figure.svg}".encode(), PNG, PDF)
    for path, content in zip(paths, contents, strict=True):
        with path.open("xb") as file:
            file.write(content)
    return paths


@contextmanager
def without_drawing(drawn: bool = False) -> Iterator[None]:
    """For a fixture that several modules share."""
    with pytest.MonkeyPatch.context() as patch:
        if not (EVERYTHING or drawn):
            patch.setattr(drawing, "svg_text", words_of)
            patch.setattr(drawing.ReportFigure, "save", save)
        yield


@pytest.fixture(autouse=True, scope="module")
def undrawn(request: pytest.FixtureRequest) -> Iterator[None]:
    with without_drawing(getattr(request.module, "DRAWN", False)):
        yield
