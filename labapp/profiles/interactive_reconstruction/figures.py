"""The figures of the reconstruction paper (paper 000, Figures 6 to 10, A.11, A.12), for a page and
as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl

from labapp.analysis.columns import Metric
from labapp.figure_style import STYLE
from labapp.profiles.interactive_reconstruction.drawings import (
    BOXES,
    CHANGES,
    DIMENSIONS,
    PAIRS,
    RATINGS,
)
from labapp.profiles.interactive_reconstruction.figures_boxes import boxes
from labapp.profiles.interactive_reconstruction.figures_changes import change
from labapp.profiles.interactive_reconstruction.figures_dimensions import dimensions
from labapp.profiles.interactive_reconstruction.figures_pairs import pairs
from labapp.profiles.interactive_reconstruction.figures_ratings import ratings
from labapp.profiles.interactive_reconstruction.groups import SCORE_METRICS
from labapp.profiles.interactive_reconstruction.panels import blocks_of
from labapp.profiles.interactive_reconstruction.results import Found
from labapp.report.drawing import Plate
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.metrics import METRICS
from labapp.tasks.single_dimension.report.metrics import SINGLE_METRICS

RATED = tuple(one for one in SCORE_METRICS if one.column != "post_quiz_difficulty")
"""The difficulty after the quiz is in the tables only, as in the paper: the first model is easily
forgotten by then (A.3)."""
SINGLE = "single-dimension-"
SEQ = tuple(one for one in METRICS if one.column == "seq")


def plates(found: Sequence[Found]) -> list[Plate]:
    """Every figure for which there are values, by study and task; for notebooks too. Their names
    begin with study and task."""
    tasks = dict.fromkeys((one.group.study, one.group.task) for one in found)
    return [
        made
        for key in tasks
        for made in by_kind(
            [one for one in found if (one.group.study, one.group.task) == key]
        ).values()
    ]


def by_kind(found: Sequence[Found]) -> Mapping[str, Plate]:
    """The figures of one study and task, by what they are of: BOXES and so on."""
    drawn = {kind: draw(kind, found) for kind in _DRAW}
    return {kind: made for kind, made in drawn.items() if made is not None}


def draw(kind: str, found: Sequence[Found]) -> Plate | None:
    """One figure of one study and task; None where there are no values for it. kind: BOXES, PAIRS,
    CHANGES, DIMENSIONS or RATINGS."""
    if not found:
        return None
    with mpl.rc_context(STYLE):
        return _DRAW[kind](found)


def _boxes(found: Sequence[Found]) -> Plate | None:
    blocks = blocks_of(found, _metrics(found))
    said = f"Metrics by model{_of(found)} (as the paper's Figures 6 and 8)"
    return boxes(blocks, _name(found, BOXES), said) if blocks else None


def _pairs(found: Sequence[Found]) -> Plate | None:
    blocks = [one for one in blocks_of(found, _metrics(found)) if len(one.group.models) > 1]
    number = "A.11" if _reconstructs(found) else "A.12"
    said = f"Differences between models{_of(found)} (as the paper's Figure {number})"
    return pairs(blocks, _name(found, PAIRS), said) if blocks else None


def _changes(found: Sequence[Found]) -> Plate | None:
    blocks = blocks_of(found, _metrics(found))
    said = f"Change over questions{_of(found)} (as the paper's Figure 10)"
    return change(blocks, _name(found, CHANGES), said)


def _dimensions(found: Sequence[Found]) -> Plate | None:
    if _reconstructs(found):
        return None
    said = f"Correctness by dial{_of(found)} (as the paper's Figure 7)"
    return dimensions([one.group for one in found], _name(found, DIMENSIONS), said)


def _ratings(found: Sequence[Found]) -> Plate | None:
    if not blocks_of(found, RATED):
        return None
    said = f"Ratings by model{_of(found)} (as the paper's Figure 9)"
    return ratings(blocks_of(found, (*RATED, *SEQ)), _name(found, RATINGS), said)


def _reconstructs(found: Sequence[Found]) -> bool:
    return found[0].group.task == RECONSTRUCTION


def _metrics(found: Sequence[Found]) -> Sequence[Metric]:
    return METRICS if _reconstructs(found) else SINGLE_METRICS


def _name(found: Sequence[Found], kind: str) -> str:
    return f"{found[0].group.study}-{found[0].group.task}-{kind}"


def _of(found: Sequence[Found]) -> str:
    """Which of the tasks, where it is not the paper's own."""
    return "" if _reconstructs(found) else f", {found[0].group.task.removeprefix(SINGLE)}"


_DRAW: Mapping[str, Callable[[Sequence[Found]], Plate | None]] = {
    BOXES: _boxes,
    PAIRS: _pairs,
    CHANGES: _changes,
    DIMENSIONS: _dimensions,
    RATINGS: _ratings,
}
