"""The tables that the report shows of the unmasking study; all of it is in the table statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from labapp.analysis.task_records import Row
from labapp.report.formats import decimal
from labapp.report.listing import NONE, records
from labapp.report.page import Html, table, two_lines
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report.overall import Overall
from labapp.tasks.unmasking.report.results import MODEL, PEOPLE, Found
from labapp.tasks.unmasking.report.words import ms, rows_of, two_digits, unbroken, with_interval


def results(sentences: Iterable[tuple[str, str, str]]) -> Html:
    """What was found, beside what the paper says."""
    rows = [(name, unbroken(here), unbroken(result) or NONE) for name, here, result in sentences]
    return table(
        ("Result", two_lines("Here", "in brackets: 95 % intervals"), "Paper"),
        rows,
    )


def by_method(result: Found, means: Overall) -> Html:
    """A row a method, over all masks and images."""
    ranks = result.ranks.overall
    rows = []
    for row in rows_of(means.methods):
        own = {
            rank["who"]: with_interval(rank["rank"], rank["low"], rank["high"], two_digits)
            for rank in rows_of(ranks[ranks["method"] == row["method"]])
        }
        rows.append(
            (
                two_lines(result.group.methods[row["method"]], f"n = {row['n']:,}"),
                *(_ends(row, name) for name in ("labels", "accuracy", "of_labels")),
                two_lines(_value(row["ms"], ms), f"median {_value(row['median_ms'], ms)}"),
                own.get(PEOPLE, NONE),
                own.get(MODEL, NONE),
                _ends(row, "repeated"),
            )
        )
    return table(
        (
            "Method",
            two_lines("A class named", "% of annotations"),
            two_lines("Correct", "% of annotations"),
            two_lines("Correct", "% of labels"),
            two_lines("Reaction time", "mean"),
            two_lines("Rank, people", "1 = best"),
            two_lines("Rank, model", "1 = best"),
            two_lines("Wrong prediction repeated", "% where it is wrong"),
        ),
        rows,
        numeric=range(1, 8),
        caption="Over all masks and images; below each value, or in brackets, its 95 % interval. "
        "Where it is wrong: on the whole image.",
    )


def classes(result: Found) -> Html:
    """Table 1: how many images there are of each class."""
    rows = [
        (
            row["class"],
            NONE if row["n"] is None else f"{row['n']:,}",
            row["n_shown"],
            paper.IMAGES.get(row["class"], NONE),
        )
        for row in records(result.classes)
    ]
    return table(
        (
            "Class",
            two_lines("Chosen from", "images"),
            two_lines("Shown", "images"),
            two_lines("Paper", "images of CK+"),
        ),
        rows,
        numeric=(1, 2, 3),
        caption="Images by class, as in Biessmann and Refiano 2019, Table 1.",
    )


def model(result: Found) -> Html:
    """Table 2: how the model does on the images that these were chosen from."""
    rows = []
    for row in rows_of(result.report):
        printed = paper.MODEL.get(row["class"])
        cells: list[object] = [row["class"] or "average, weighted by support"]
        for name in ("precision", "recall", "f1"):
            beside = NONE if printed is None else f"{getattr(printed, name):.2f}"
            own = decimal(row[name], 2) if np.isfinite(row[name]) else NONE
            cells.append(two_lines(own, f"paper {beside}"))
        beside = NONE if printed is None else f"{printed.support}"
        rows.append([*cells, two_lines(f"{row['support']:,}", f"paper {beside}")])
    return table(
        ("Class", "Precision", "Recall", "F1", two_lines("Support", "images")),
        rows,
        numeric=range(1, 5),
        caption="The model on the images from which those of the study were chosen, as in "
        "Biessmann and Refiano 2019, Table 2. The paper's values are of another model and of "
        "other images.",
    )


def _ends(row: Row, name: str) -> object:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if not np.isfinite(value):
        return NONE
    if not np.isfinite(low):
        return decimal(100 * value, 1)
    return two_lines(
        decimal(100 * value, 1), f"{decimal(100 * low, 1)} to {decimal(100 * high, 1)}"
    )


def _value(value: float, form: Callable[[float], str]) -> str:
    return form(value) if np.isfinite(value) else NONE
