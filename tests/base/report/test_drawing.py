"""Names beside the axes of figures, what is drawn, and the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from labapp.base.figure_style import Look, looking
from labapp.base.report import kit
from labapp.base.report.drawing import (
    LONGEST_NAMES,
    ReportFigure,
    add_heading,
    shortened,
)

WORDS = st.text("ab-", min_size=1, max_size=120)


@given(st.lists(WORDS, unique=True, min_size=1, max_size=12))
def test_names_are_short_and_stay_apart(names: list[str]) -> None:
    short = shortened(names)
    assert len(set(short)) == len(names)
    assert all(len(name) <= max(LONGEST_NAMES) for name in short)
    assert all(new == old for new, old in zip(short, names, strict=True) if "…" not in new)


def test_nothing_of_a_name_says_which_model_it_is() -> None:
    assert shortened(["a/vae", "a/ae"]) == ["a/vae", "a/ae"]
    assert shortened(["a/vae", "b/vae", "alone"]) == ["a/vae", "b/vae", "alone"]
    middle = shortened(["x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50])
    assert [name[-3:] for name in middle] == ["… 1", "… 2"]


def test_nothing_is_burnt_into_a_figure_that_belongs_into_its_caption(tmp_path: Path) -> None:
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2])
    add_heading(figure, "Metrics by model", "a-study", 8, 8)
    plate = ReportFigure("one", figure, "Metrics by model", "A point is a participant.")
    paths = plate.save(tmp_path)
    assert [path.suffix for path in paths] == [".svg", ".png", ".pdf"]
    assert "a-study" not in paths[0].read_text("utf-8")
    assert plate.told == (
        "**Metrics by model · a-study: 8 participants, all simulated.** A point is a participant."
    )


def test_points_and_lines_end_where_they_cannot_be_told_apart() -> None:
    def marks(n: int) -> tuple[int, int]:
        ax = Figure().subplots()
        kit.strips(ax, np.random.default_rng(1).normal(size=(n, 2)), joined=True)
        most = max(len(np.atleast_1d(line.get_xdata())) for line in ax.lines)
        return most, len(ax.collections)

    few, some, many = marks(8), marks(kit.POINTS_UP_TO), marks(800)
    assert few[0] == 8
    assert some[0] == kit.POINTS_UP_TO
    assert many[0] < 10, "the box alone"
    assert few[1] == some[1] + 1 == many[1] + 1, "the lines of participants"


@pytest.mark.parametrize("width", [3.33, 10.0])
@pytest.mark.parametrize("count", [2, 6, 12, 30])
def test_names_leave_room_for_what_is_drawn(count: int, width: float) -> None:
    """A figure without room warns, and warnings are errors here."""
    models = [f"concepts/shapes-graded-logits-of-a-lab-16-8-{number}" for number in range(count)]
    values = np.random.default_rng(0).uniform(0, 100, (5, count))
    panels = [kit.StripPanel(name, "0–100", values, (0.0, 100.0)) for name in "ab"]
    with looking(Look(width_in=width)):
        drawing = kit.strip_panels(panels, models, "names", "Workload by model", 2)
    assert drawing.svg.count("<g id=") > 2 * count
