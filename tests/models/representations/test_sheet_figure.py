"""The sheet as a PNG file: what stands where, and what is never overwritten."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.transforms import Bbox

from labapp.base.errors import ModelError
from labapp.models.representations import sheet_figure, sheets
from labapp.models.representations.package import load_package
from labapp.models.representations.sheets import TraversalSheet
from tests.helpers.packages import ring_model


def sheet_of(model: str) -> TraversalSheet:
    if model.startswith("mnist"):
        return sheets.traversals(ring_model(model, 10, discrete=10))
    return sheets.traversals(load_package(model))


def pixels_of(content: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Red, green and blue, uint8 (height, width, 3)."""
    return (imread(io.BytesIO(content), format="png")[..., :3] * 255).round().astype(np.uint8)


@pytest.mark.parametrize("model", ["circles/gt", "sinelines/gt", "mnist8k/ss10"])
def test_no_text_touches_another_or_a_picture(model: str) -> None:
    figure = sheet_figure.figure_of(sheet_of(model))
    texts = [text.get_window_extent() for text in figure.axes[0].texts]
    height = figure.bbox.height
    measures, layout = sheet_figure.sheet_layout(sheet_of(model))
    left, top = sheet_figure.MARGIN, sheet_figure.MARGIN + sheet_figure.HEAD
    cells = [
        Bbox.from_bounds(
            left + cell.x,
            height - top - cell.y - measures.cell_height,
            measures.cell_width,
            measures.cell_height,
        )
        for cell in layout.cells
    ]
    for one, other in combinations(texts, 2):
        assert not one.overlaps(other)
    for text in texts:
        assert not any(text.overlaps(cell) for cell in cells)
        assert figure.bbox.contains(*text.min)
        assert figure.bbox.contains(*text.max)


def test_the_pictures_are_the_decoded_ones_pixel_by_pixel() -> None:
    sheet = sheet_of("mnist8k/ss10")
    drawn = pixels_of(sheet_figure.draw(sheet))
    _, layout = sheet_figure.sheet_layout(sheet)
    for cell in layout.cells[:: len(layout.cells) // 7]:
        y = round(cell.y) + sheet_figure.MARGIN + sheet_figure.HEAD
        x = round(cell.x) + sheet_figure.MARGIN
        shown = drawn[y : y + 56 : 2, x : x + 56 : 2, 0]
        np.testing.assert_array_equal(shown, np.rint(cell.instance * 255).astype(np.uint8))


def test_charts_stay_in_their_frames() -> None:
    sheet = sheet_of("sinelines/gt")
    higher = [replace(row, instances=row.instances * 4) for row in sheet.rows]
    sheet = replace(sheet, rows=tuple(higher))
    drawn = pixels_of(sheet_figure.draw(sheet)).astype(int)
    blue = (drawn[..., 2] - drawn[..., 0]) > 60
    measures, layout = sheet_figure.sheet_layout(sheet)
    inside = np.zeros_like(blue)
    for cell in layout.cells:
        y = round(cell.y) + sheet_figure.MARGIN + sheet_figure.HEAD
        x = round(cell.x) + sheet_figure.MARGIN
        place = np.s_[y : y + round(measures.cell_height), x : x + round(measures.cell_width)]
        beyond = np.abs(cell.instance) > sheet.chart.high
        assert blue[place].any() or beyond.all()
        inside[place] = True
    assert any((np.abs(cell.instance) > sheet.chart.high).any() for cell in layout.cells)
    assert not (blue & ~inside).any()


def test_the_same_sheet_gives_the_same_bytes() -> None:
    assert sheet_figure.draw(sheet_of("circles/gt")) == sheet_figure.draw(sheet_of("circles/gt"))


def test_a_file_is_written_once_and_another_never_overwritten(tmp_path: Path) -> None:
    sheet = sheet_of("circles/gt")
    path = tmp_path / "dials.png"
    assert sheet_figure.write(sheet, path) == path
    before = path.stat().st_mtime_ns
    assert sheet_figure.write(sheet, path) == path, "the same sheet again is no conflict"
    assert path.stat().st_mtime_ns == before
    path.write_bytes(b"somebody's notes")
    with pytest.raises(ModelError) as caught:
        sheet_figure.write(sheet, path)
    assert "--out" in caught.value.todo
    assert path.read_bytes() == b"somebody's notes"


@pytest.mark.parametrize("name", ["folder.png", "no/such/folder/sheet.png", "sheet.jpg"])
def test_what_cannot_be_written_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ModelError) as caught:
        sheet_figure.write(sheet_of("circles/gt"), tmp_path / name)
    assert caught.value.todo


def test_long_names_are_cut_rather_than_run_into_the_pictures() -> None:
    sheet = sheet_of("circles/gt")
    dial = replace(sheet.rows[0].dimension, name="a dial with quite a name")
    long = replace(
        sheet,
        model="m" * 200,
        title="A title that goes on " * 20,
        rows=(replace(sheet.rows[0], dimension=dial), *sheet.rows[1:]),
    )
    texts = sheet_figure.figure_of(long).axes[0].texts
    right = {text.get_text(): text.get_window_extent().x1 for text in texts}
    assert max(right.values()) <= sheet_figure.figure_of(long).bbox.width - sheet_figure.MARGIN
    (name,) = [text for text in right if text.startswith("a dial")]
    assert name.endswith("…")
    assert right[name] < sheet_figure.MARGIN + sheet_figure.LABEL
