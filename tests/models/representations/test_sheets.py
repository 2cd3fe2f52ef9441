"""Traversal sheets: what is decoded, and where everything goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from labapp.models.representations import sheets
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.package import load_package
from labapp.models.representations.sheets import SheetLayout, SheetSizes, lay_out
from tests.helpers.packages import ring_model

MEASURES = SheetSizes(label=90, cell_width=44, cell_height=40, marks=20, gap=3, group=20, row=8)


def test_a_row_turns_one_dial_and_leaves_the_others() -> None:
    decoder = ring_model("mnist8k/ss5", 5, discrete=10)
    sheet = sheets.traversals(decoder)
    assert [row.dimension for row in sheet.rows] == list(decoder.space.dimensions)
    known = {tuple(decoder.space.snap([float(v) for v in row])) for row in decoder.latents}
    shapes = []
    for index, row in enumerate(sheet.rows):
        for instances in row.instances:
            fitting = [
                state
                for state in known
                if all(
                    np.array_equal(instance, _decoded(decoder, state, index, value))
                    for value, instance in zip(row.values, instances, strict=True)
                )
            ]
            assert fitting, "every state is one of the sample, with this dial turned"
        shapes.append(row.instances.shape)
    assert shapes == [(2, 10, 28, 28), *[(3, 7, 28, 28)] * 5]


def _decoded(
    decoder: LoadedDecoder, state: tuple[float, ...], index: int, value: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    turned = list(state)
    turned[index] = value
    return np.asarray(decoder.decode(decoder.space.encode(turned)[None])[0])


def test_a_continuous_dial_goes_from_low_to_high_in_equal_steps_of_its_own() -> None:
    decoder = load_package("sinelines/gt")
    for index, row in enumerate(sheets.traversals(decoder).rows):
        at = {name: float(values[index]) for name, values in decoder.percentiles.items()}
        assert len(row.values) == 7
        assert at[1] <= row.values[0] + 0.005 <= at[5] + 0.01
        assert at[95] - 0.01 <= row.values[-1] - 0.005 <= at[99]
        steps = [b - a for a, b in pairwise(row.values)]
        assert max(steps) - min(steps) <= 0.0201, "rounded to the dial's step, no more"
        assert [decoder.space.dimensions[index].snap(v) for v in row.values] == list(row.values)


def test_a_discrete_dial_goes_through_its_values_as_often_as_there_is_room() -> None:
    shapes = {}
    for k in (2, 3, 10, 20, 21, 30):
        row = sheets.traversals(ring_model("mnist8k/odd", 2, discrete=k)).rows[0]
        shapes[k] = row.instances.shape[:2]
        assert len(set(row.values)) == len(row.values)
        assert (row.values[0], row.values[-1]) == (0, k - 1)
    assert shapes == {2: (3, 2), 3: (3, 3), 10: (2, 10), 20: (1, 20), 21: (1, 21), 30: (1, 21)}


def test_a_model_has_one_sheet() -> None:
    decoder = ring_model("dsprites/vae", 5)
    one, other = sheets.traversals(decoder), sheets.traversals(decoder)
    for a, b in zip(one.rows, other.rows, strict=True):
        np.testing.assert_array_equal(a.instances, b.instances)


def test_a_small_sample_gives_what_it_has() -> None:
    decoder = ring_model("dsprites/vae", 5)
    few = replace(decoder, latents=decoder.latents[:2])
    assert {len(row.instances) for row in sheets.traversals(few).rows} == {2}


def test_what_a_sheet_says_of_itself() -> None:
    assert "prior" in sheets.traversals(load_package("sinelines/gt")).about(3)
    assert "−10 to 10" in sheets.traversals(load_package("sinelines/gt")).about(3)
    assert "held-out sample" in sheets.traversals(ring_model("mnist8k/ae5", 5)).about(3)


@pytest.mark.parametrize("model", ["circles/gt", "sinelines/gt", "mnist8k/ss10"])
def test_nothing_on_a_sheet_overlaps(model: str) -> None:
    decoder = ring_model(model, 10, 10) if model.startswith("mnist") else load_package(model)
    layout = lay_out(sheets.traversals(decoder), MEASURES)
    corners = sorted((cell.y, cell.x) for cell in layout.cells)
    for (y, x), (next_y, next_x) in pairwise(corners):
        beside = next_y == y and next_x >= x + MEASURES.cell_width + MEASURES.gap - 1e-9
        below = next_y >= y + MEASURES.cell_height + MEASURES.row - 1e-9
        assert beside or below
    assert min(cell.x for cell in layout.cells) == MEASURES.label
    assert max(cell.x for cell in layout.cells) + MEASURES.cell_width == layout.width
    assert max(cell.y for cell in layout.cells) + MEASURES.cell_height == layout.height
    rows = {cell.y for cell in layout.cells}
    assert [y for y, _ in layout.labels] == sorted(rows)
    for mark in layout.marks:
        assert mark.y + MEASURES.marks in rows, "marks stand right above a row"


def test_marks_stand_above_the_first_row_of_each_kind() -> None:
    layout = lay_out(sheets.traversals(ring_model("mnist8k/ss5", 2, discrete=4)), MEASURES)
    assert _said(layout) == [["1", "2", "3", "4"] * 3, ["Low", "Medium", "High"] * 3]
    of_row = {y: [cell.x for cell in layout.cells if cell.y == y] for y, _ in layout.labels}
    first, second, *_ = of_row.values()
    above = {mark.text: mark.x - MEASURES.cell_width / 2 for mark in reversed(layout.marks)}
    assert [above[text] for text in ("1", "4")] == [first[0], first[3]]
    assert [above[text] for text in ("Low", "Medium", "High")] == [second[0], second[3], second[6]]


def _said(layout: SheetLayout) -> list[list[str]]:
    tops = sorted({mark.y for mark in layout.marks})
    return [
        [mark.text for mark in sorted(layout.marks, key=lambda m: m.x) if mark.y == top]
        for top in tops
    ]


def test_states_that_do_not_fit_are_left_out() -> None:
    sheet = sheets.traversals(ring_model("mnist8k/ss5", 2, discrete=10))
    whole = lay_out(sheet, MEASURES)
    assert whole.states == 3
    assert lay_out(sheet, MEASURES, room=whole.width).states == 3
    less = lay_out(sheet, MEASURES, room=whole.width - 1)
    assert less.states == 2
    assert less.width <= whole.width - 1
    for room in (0.0, 700.0):
        narrow = lay_out(sheet, MEASURES, room=room)
        assert narrow.states == 1
        assert len(narrow.cells) == 10 + 2 * 7, "one state is always there"


@pytest.mark.parametrize(
    ("side", "shown"), [(8, 8), (128, 128), (200, 100), (256, 128), (512, 128)]
)
def test_large_pictures_are_made_smaller_for_a_sheet(side: int, shown: int) -> None:
    x = np.random.default_rng(0).random((2, side, side, 3)).astype(np.float32)
    smaller = sheets._smaller(x)
    assert smaller.shape == (2, shown, shown, 3)
    times = side // shown
    first = x[0, :times, :times].mean(axis=(0, 1))
    assert smaller[0, 0, 0] == pytest.approx(first, abs=1e-6)
