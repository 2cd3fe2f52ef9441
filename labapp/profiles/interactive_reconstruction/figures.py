"""The figures of the reconstruction paper (paper 000, Figures 6 to 10, A.11, A.12), for a page and
as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl

from labapp.analysis.by_task import CHANGE
from labapp.analysis.columns import Metric
from labapp.figure_style import style
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
from labapp.report.drawing import ReportFigure
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.metrics import METRICS
from labapp.tasks.single_dimension.report.metrics import SINGLE_METRICS

RATED = tuple(metric for metric in SCORE_METRICS if metric.column != "post_quiz_difficulty")
"""The difficulty after the quiz is in the tables only, as in the paper: the first model is easily
forgotten by then (A.3)."""
SINGLE = "single-dimension-"
SEQ = tuple(metric for metric in METRICS if metric.column == "seq")


def plates(results: Sequence[Found]) -> list[ReportFigure]:
    """Every figure for which there are values, by study and task; for notebooks too. Their names
    begin with study and task."""
    tasks = dict.fromkeys((result.group.study, result.group.task) for result in results)
    return [
        made
        for key in tasks
        for made in by_kind(
            [result for result in results if (result.group.study, result.group.task) == key]
        ).values()
    ]


def by_kind(results: Sequence[Found]) -> Mapping[str, ReportFigure]:
    """The figures of one study and task, by what they are of: BOXES and so on."""
    drawn = {kind: draw(kind, results) for kind in _DRAW}
    return {kind: made for kind, made in drawn.items() if made is not None}


def draw(kind: str, results: Sequence[Found]) -> ReportFigure | None:
    """One figure of one study and task; None where there are no values for it. kind: BOXES, PAIRS,
    CHANGES, DIMENSIONS or RATINGS."""
    if not results:
        return None
    with mpl.rc_context(style()):
        return _DRAW[kind](results)


def _boxes(results: Sequence[Found]) -> ReportFigure | None:
    blocks = blocks_of(results, _metrics(results))
    text = f"Metrics by model{_of(results)}"
    return boxes(blocks, _name(results, BOXES), text) if blocks else None


def _pairs(results: Sequence[Found]) -> ReportFigure | None:
    blocks = [
        block
        for block in blocks_of(results, _metrics(results))
        if block.group.follows and len(block.group.models) > 1
    ]
    text = f"Differences between models{_of(results)}"
    return pairs(blocks, _name(results, PAIRS), text) if blocks else None


def _changes(results: Sequence[Found]) -> ReportFigure | None:
    blocks = blocks_of(results, _metrics(results))
    text = f"{CHANGE}{_of(results)}"
    return change(blocks, _name(results, CHANGES), text)


def _dimensions(results: Sequence[Found]) -> ReportFigure | None:
    if _reconstructs(results):
        return None
    text = f"Correctness by dial{_of(results)}"
    return dimensions([result.group for result in results], _name(results, DIMENSIONS), text)


def _ratings(results: Sequence[Found]) -> ReportFigure | None:
    if not blocks_of(results, RATED):
        return None
    text = f"Ratings by model{_of(results)}"
    return ratings(blocks_of(results, (*RATED, *SEQ)), _name(results, RATINGS), text)


def _reconstructs(results: Sequence[Found]) -> bool:
    return results[0].group.task == RECONSTRUCTION


def _metrics(results: Sequence[Found]) -> Sequence[Metric]:
    return METRICS if _reconstructs(results) else SINGLE_METRICS


def _name(results: Sequence[Found], kind: str) -> str:
    return f"{results[0].group.study}-{results[0].group.task}-{kind}"


def _of(results: Sequence[Found]) -> str:
    """Which of the tasks, where it is not the paper's own."""
    return "" if _reconstructs(results) else f", {results[0].group.task.removeprefix(SINGLE)}"


_DRAW: Mapping[str, Callable[[Sequence[Found]], ReportFigure | None]] = {
    BOXES: _boxes,
    PAIRS: _pairs,
    CHANGES: _changes,
    DIMENSIONS: _dimensions,
    RATINGS: _ratings,
}
