"""What reaches beyond an axis says so, and many values or rows stay readable."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from labapp.base.report import kit
from labapp.base.report.drawing import INTERVAL, finish
from labapp.base.report.listing import FOLDED_FROM, SHOWN_ROWS, limited


def _heads(figure: Figure) -> list[tuple[str, float, float]]:
    """The arrowheads at the edges."""
    (ax,) = figure.axes
    heads = []
    for line in ax.lines:
        if line.get_label() == INTERVAL and line.get_marker() in tuple("<>^v"):
            x, y = (float(np.ravel(of)[0]) for of in line.get_data())
            heads.append((str(line.get_marker()), x, y))
    return heads


@pytest.mark.parametrize("upside_down", [False, True])
def test_an_interval_that_is_cut_at_the_axis_ends_in_an_arrowhead(upside_down: bool) -> None:
    figure = Figure()
    ax = figure.subplots()
    kit.vertical_interval(ax, [1, 2, 3], [-5, 20, 30], [40, 110, 60])
    kit.horizontal_interval(ax, (-20, 50), 50)
    ax.errorbar(8, 95, yerr=30)
    ax.set(xlim=(0, 10), ylim=(100, 0) if upside_down else (0, 100))
    finish(figure)
    finish(figure)
    below, above = ("^", "v") if upside_down else ("v", "^")
    assert sorted(_heads(figure)) == sorted(
        [(below, 1, 0), (above, 2, 100), ("<", 0, 50), (">", 10, 50), (above, 8, 100)]
    )


def test_an_interval_within_the_axis_has_none() -> None:
    figure = Figure()
    ax = figure.subplots()
    kit.vertical_interval(ax, [1, 2], [0, np.nan], [100, 120])
    ax.set(xlim=(0, 10), ylim=(0, 100))
    finish(figure)
    assert not _heads(figure)


@pytest.mark.parametrize("lying", [False, True])
def test_many_people_on_few_values_are_a_point_a_value(lying: bool) -> None:
    ax = Figure().subplots()
    values = np.repeat([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [2, 8, 40, 60, 50, 40])
    kit.cloud(ax, 1.0, values, 0.1, lying=lying)
    along = [np.ravel(line.get_xdata() if lying else line.get_ydata()) for line in ax.lines]
    assert [float(value[0]) for value in along] == [0, 20, 40, 60, 80, 100]
    sizes = [line.get_markersize() for line in ax.lines]
    assert sizes.index(max(sizes)) == 3
    assert sizes[1] / sizes[0] == pytest.approx(2), "the area counts people"
    few, none = Figure().subplots(), Figure().subplots()
    kit.cloud(few, 1.0, values[: kit.POINTS_UP_TO], 0.1)
    assert sum(np.size(line.get_xdata()) for line in few.lines) == kit.POINTS_UP_TO
    kit.cloud(none, 1.0, np.linspace(0, 100, 200), 0.1)
    assert not none.lines, "200 points beside each other say nothing"


def test_long_lists_are_folded_away() -> None:
    def listed(n: int) -> str:
        return str(limited(("Participant", "Answer"), [(f"P{i}", "yes") for i in range(n)]))

    assert "<details>" not in listed(FOLDED_FROM - 1)
    assert f"<summary>The list of {FOLDED_FROM} entries</summary>" in listed(FOLDED_FROM)
    long = listed(SHOWN_ROWS + 7)
    assert "7 more rows are in the tables beside this page." in long
    assert long.index("<details>") < long.index("7 more rows")
