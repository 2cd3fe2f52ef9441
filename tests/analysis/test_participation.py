"""The flow diagram: its boxes add up, and are those of the tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.analysis.participation import Flow, _drawn, flow_of
from labapp.base.figure_style import Look, looking
from labapp.base.report.drawing import ReportFigure
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import decide_by_hand
from tests.session.test_slots import slotted

DRAWN = True

DECLARED = json.dumps(
    {
        "exclude": {
            "attention": {"item": "check", "answer_not": 2},
            "slow": {"score": "s", "above": 9},
        }
    }
)
REASONS = ("withdrawn", "completed", "by_hand", "min_solved", "attention", "slow", "another")
sessions = st.lists(
    st.tuples(
        st.sampled_from(["completed", "declined", "ended"]),
        st.lists(st.sampled_from(REASONS), unique=True),
        st.sampled_from(["with", "without"]),
    ),
    min_size=1,
    max_size=30,
)


def rows(drawn: list[tuple[str, list[str], str]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "study": "own",
                "participant": f"P{number}",
                "outcome": outcome,
                "included": outcome != "declined" and not failed,
                "excluded_because": ", ".join(failed) or None,
                "declared": DECLARED,
                "factor_hint": level,
            }
            for number, (outcome, failed, level) in enumerate(drawn)
        ]
    )


@given(drawn=sessions)
def test_every_session_is_in_one_box(drawn: list[tuple[str, list[str], str]]) -> None:
    table = rows(drawn)
    flow = flow_of(table)
    assert flow.began == len(table)
    assert flow.declined + flow.left_out + flow.analysed == flow.began
    assert flow.analysed == table["included"].sum() == sum(flow.cells.values())
    assert flow.left_out == len(table) - table["included"].sum() - flow.declined


def test_a_session_stands_under_its_first_reason() -> None:
    drawn = [("completed", ["slow", "by_hand"], "with"), ("ended", ["completed", "slow"], "with")]
    drawn += [("completed", ["slow", "attention"], "without"), ("completed", [], "without")]
    flow = flow_of(rows(drawn))
    assert flow == Flow(
        4,
        0,
        {
            "Did not come to the end": 1,
            "Excluded by hand": 1,
            "attention: the participant answered otherwise than 2 to check": 1,
        },
        1,
        {"without": 1},
    )


@pytest.mark.parametrize("width", [10.0, 3.33])
def test_no_text_leaves_its_box(width: float) -> None:
    reasons = {"Withdrew": 1, "a-rule-with-a-long-name: the participant has a time below 2 s": 12}
    flow = Flow(800, 3, reasons, 784, {f"with, dose {n}": 196 for n in range(4)})
    with looking(Look(width_in=width)):
        figure = _drawn(flow)
    figure.canvas.draw()
    (ax,) = figure.axes
    boxes = [patch.get_window_extent() for patch in ax.patches if patch.get_width()]  # type: ignore[attr-defined]
    texts = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(texts) == 3 + 2 + 4
    for text in texts:
        assert any(
            box.x0 <= text.x0 and text.x1 <= box.x1 and box.y0 <= text.y0 and text.y1 <= box.y1
            for box in boxes
        )
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])


Ends = tuple[float, float, float, float]


def drawn_paths(width: float, cells: int) -> tuple[list[Ends], list[Ends]]:
    """The boxes of a diagram (left, top, right, bottom) and its lines (from x, y to x, y), in the
    points of its SVG."""
    reasons = {"Withdrew": 1, "slow": 2}
    flow = Flow(800, 3, reasons, 794, {f"cell {n}": 1 for n in range(cells)})
    with looking(Look(width_in=width)):
        svg = ReportFigure("flow", _drawn(flow), "", "").svg
    boxes, lines = [], []
    for path, look in re.findall(r'<path d="([^"]*)"[^>]*style="([^"]*)"', svg):
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
        if "fill: none" not in look:
            continue  # the ground, and the points of arrows
        if path.strip().endswith("z"):
            (left, right), (top, bottom) = ((min(at), max(at)) for at in zip(*points, strict=True))
            boxes.append((left, top, right, bottom))
        else:
            lines.append((*points[0], *points[-1]))
    return boxes, lines


@pytest.mark.parametrize("width", [10.0, 3.33])
@pytest.mark.parametrize("cells", [0, 1, 2, 3, 4, 5, 9, 12])
def test_lines_lead_from_the_first_box_to_every_other_and_through_none(
    width: float, cells: int
) -> None:
    boxes, lines = drawn_paths(width, cells)
    assert len(boxes) == 3 + 2 + cells
    near = 1.0  # an arrow ends just before its box

    def on(point: tuple[float, float], shape: Ends) -> bool:
        (left, right), (top, bottom) = sorted(shape[::2]), sorted(shape[1::2])
        return left - near <= point[0] <= right + near and top - near <= point[1] <= bottom + near

    reached, left_over = [boxes[0]], list(lines)
    while joined := [
        line
        for line in left_over
        if any(on(line[:2], shape) or on(shape[2:], line) for shape in reached)
    ]:
        left_over = [line for line in left_over if line not in joined]
        reached += [*joined, *(box for line in joined for box in boxes if on(line[2:], box))]
    assert not left_over
    assert set(boxes) <= set(reached)
    for left, top, right, bottom in boxes:
        for x, y, to_x, to_y in lines:
            across = min(right, max(x, to_x)) - max(left, min(x, to_x))
            down = min(bottom, max(y, to_y)) - max(top, min(y, to_y))
            assert across <= 0.1 or down <= 0.1, "a line goes through a box"


def test_the_diagram_stands_in_the_report_and_beside_it(tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=3)
    simulate_study(str(loaded.path), 5, "understanding", tmp_path / "data")
    first = min((tmp_path / "data" / "drawn").glob("sub-P01_*"))
    decide_by_hand(first, False, "fire alarm")
    analyze([tmp_path / "data"], tmp_path / "out")
    flow = flow_of(load([tmp_path / "data"]).participants)
    assert (flow.began, flow.reasons, flow.analysed) == (5, {"Excluded by hand": 1}, 4)
    assert sum(flow.cells.values()) == 4
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Flow of participants: began 5, recruited 5, not analysed 1, analysed 4" in report
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / "out" / "figures" / f"flow.{ending}").stat().st_size > 500
    captions: Any = (tmp_path / "out" / "figures" / "captions.md").read_text()
    assert "## flow\n\n**Flow of participants of drawn.**" in captions
