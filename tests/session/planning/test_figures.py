"""The figures of a plan."""

from __future__ import annotations

import pytest

from labapp.session.planning import figures


@pytest.mark.parametrize(
    ("panels", "lowest"), [(3, {0, 1, 2}), (4, set(range(4))), (7, {3, 4, 5, 6})]
)
def test_the_lowest_panel_of_each_column_says_what_the_axis_is_of(
    panels: int, lowest: set[int]
) -> None:
    figure, axes = figures._grid(panels, 2.0)
    figure.canvas.draw()
    said = {
        n
        for n, ax in enumerate(axes)
        if any(one.label1.get_visible() for one in ax.xaxis.majorTicks)
    }
    assert said == lowest
