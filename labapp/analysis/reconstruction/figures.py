"""The figures of the reconstruction paper (paper 000, Figures 6 to 10, A.11, A.12), for a page and
as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib as mpl

from labapp.analysis.columns import METRICS, SCORE_METRICS, SINGLE_METRICS, Metric
from labapp.analysis.parts import TASK as RECONSTRUCTION
from labapp.analysis.plate import Plate
from labapp.analysis.reconstruction.figures_boxes import boxes
from labapp.analysis.reconstruction.figures_changes import change
from labapp.analysis.reconstruction.figures_dimensions import dimensions
from labapp.analysis.reconstruction.figures_pairs import pairs
from labapp.analysis.reconstruction.figures_ratings import ratings
from labapp.analysis.reconstruction.panels import blocks_of
from labapp.analysis.reconstruction.results import Found
from labapp.figure_style import STYLE

RATINGS = tuple(one for one in SCORE_METRICS if one.column != "post_quiz_difficulty")
"""The difficulty after the quiz is in the tables only, as in the paper: the first model is easily
forgotten by then (A.3)."""
SEQ = tuple(metric for metric in METRICS if metric.column == "seq")


def plates(found: Sequence[Found]) -> list[Plate]:
    """Every figure for which there are values, of all studies."""
    studies = dict.fromkeys(one.group.study for one in found)
    return [
        plate
        for study in studies
        for plate in plates_of([one for one in found if one.group.study == study])
    ]


def plates_of(found: Sequence[Found]) -> list[Plate]:
    """The figures of one study; their names begin with its id."""
    with mpl.rc_context(STYLE):
        return list(_of(found))


def _of(found: Sequence[Found]) -> Iterator[Plate]:
    tasks = dict.fromkeys(one.group.task for one in found)
    for task in tasks:
        yield from _of_task([one for one in found if one.group.task == task])
    single = [one.group for one in found if one.group.task != RECONSTRUCTION]
    if single:
        name = f"{single[0].study}-dimensions"
        plate = dimensions(single, name, "Correctness by dial (the paper's Figure 7)")
        if plate is not None:
            yield plate


def _of_task(found: Sequence[Found]) -> Iterator[Plate]:
    group = found[0].group
    name = f"{group.study}-{group.task}"
    reconstructs = group.task == RECONSTRUCTION
    of = "" if reconstructs else f", {group.task.removeprefix('single-dimension-')}"
    metrics: tuple[Metric, ...] = METRICS if reconstructs else SINGLE_METRICS
    if blocks := blocks_of(found, metrics):
        said = f"Metrics by model{of} (as the paper's Figures 6 and 8)"
        yield boxes(blocks, f"{name}-metrics", said)
        if several := [block for block in blocks if len(block.group.models) > 1]:
            number = "A.11" if reconstructs else "A.12"
            said = f"Differences between models{of} (as the paper's Figure {number})"
            yield pairs(several, f"{name}-differences", said)
        said = f"Change over questions{of} (as the paper's Figure 10)"
        if (plate := change(blocks, f"{name}-changes", said)) is not None:
            yield plate
    if blocks_of(found, RATINGS):
        said = f"Ratings by model{of} (as the paper's Figure 9)"
        yield ratings(blocks_of(found, (*RATINGS, *SEQ)), f"{name}-ratings", said)
