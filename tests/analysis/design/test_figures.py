"""The figure of outcomes says what the table of cells says, for every design."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from labapp.analysis.column import ends_of, range_unit
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.analyses import VALUES, Cell, StudyAnalyses, _cell_row, analyse
from labapp.analysis.design.contents import DefaultFindings, factors_of, outcomes_figure, panels_of
from labapp.analysis.design.layout import Layout
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import DESIGN


def analysed(declared: dict[str, Any], **more: Any) -> StudyAnalyses:
    tables = study(declared, **more)
    return analyse(tables.included(), read_declaration(tables, "own"), by_trials=False)


def means(figure: Figure) -> list[float]:
    """What the marks of the cells say, panel by panel."""
    return [
        float(y)
        for ax in figure.axes
        for line in ax.lines
        if line.get_markersize() == 5.5
        for y in np.asarray(line.get_ydata(), dtype=float)
    ]


def test_every_declared_outcome_has_a_panel_with_the_means_of_its_cells() -> None:
    declared = deepcopy(DESIGN)
    declared["analysis"]["transform"] = {}  # type: ignore[index]
    results = analysed(declared)
    plate = outcomes_figure(results)
    assert plate is not None
    titles = [ax.get_title(loc="left") for ax in plate.figure.axes]
    assert [title.split(" · ")[0] for title in titles] == [
        "completion_rate", "response_time_s",
    ]  # fmt: skip
    expected = [
        cell.values.mean() * (100 if a.outcome.unit == "0-1" else 1)
        for a in results.analyses
        for cell in a.cells
    ]
    assert [ax.get_ylabel().replace("\n", " ") for ax in plate.figure.axes] == [
        "completion_rate, %", "response_time_s, s",
    ]  # fmt: skip
    assert sorted(means(plate.figure)) == pytest.approx(sorted(expected))
    (legend,) = plate.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["hint: with", "hint: without"]


def test_transformed_values_are_told_in_the_unit_of_the_outcome() -> None:
    results = analysed(deepcopy(DESIGN))
    plate = outcomes_figure(results)
    assert plate is not None
    times = next(a for a in results.analyses if a.outcome.name == "response_time_s")
    assert times.transform == "log"
    told = means(plate.figure)
    for cell in times.cells:
        assert np.exp(cell.values.mean()) == pytest.approx(min(told, key=lambda y: abs(
            y - np.exp(cell.values.mean()))))  # fmt: skip


def test_a_third_factor_has_panels_of_its_own() -> None:
    declared = {
        "design": {
            "between": {"hint": ["with", "without"], "zoom": ["with", "without"]},
            "within": ["model"],
        },
        "analysis": {"outcomes": {"primary": ["response_time_s"]}},
    }
    tables = study(declared, n=16)
    crossed = {}
    for name in ("participants", "stages", "trials"):
        rows = getattr(tables, name)
        numbers = rows["participant"].str[1:].astype(int)
        crossed[name] = rows.assign(factor_zoom=np.where(numbers % 4 < 2, "with", "without"))
    tables = replace(tables, **crossed)
    results = analyse(tables.included(), read_declaration(tables, "own"), by_trials=False)
    (analysis,) = results.analyses
    assert [factor.name for factor in factors_of(analysis)] == [
        "model", "factor_hint", "factor_zoom",
    ]  # fmt: skip
    assert panels_of(analysis) == [{"factor_zoom": "with"}, {"factor_zoom": "without"}]
    plate = outcomes_figure(results)
    assert plate is not None
    assert [ax.get_title(loc="left") for ax in plate.figure.axes] == [
        "response_time_s · reconstruction · zoom: with",
        "response_time_s · reconstruction · zoom: without",
    ]
    expected = [cell.values.mean() for cell in analysis.cells]
    assert sorted(means(plate.figure)) == pytest.approx(sorted(expected))


def test_what_nothing_declares_has_no_figure() -> None:
    tables = study()
    results = analyse(tables.included(), read_declaration(tables, "own"), by_trials=False)
    assert outcomes_figure(results) is None
    assert DefaultFindings({"own": results}).drawn == {}


def test_an_interval_is_that_of_students_t() -> None:
    row = _cell_row(Cell({}, np.array([1.0, 2.0, 3.0, 6.0])))
    assert (row.mean, row.low, row.high) == pytest.approx((3.0, -0.437435, 6.437435), abs=1e-5)
    alone = _cell_row(Cell({}, np.array([2.0])))
    assert (alone.mean, alone.low, alone.high) == (2.0, None, None)
    assert _cell_row(Cell({}, np.empty(0))).mean is None


def test_a_unit_says_its_ends() -> None:
    rows = pd.DataFrame({"low": [-3.0, -3.0, None], "high": [3.0, 3.0, None]})
    assert range_unit(rows) == "-3 to 3"
    assert ends_of("-3 to 3") == (-3.0, 3.0)
    assert range_unit(rows.assign(low=1.0, high=7.0)) == "1-7"
    assert ends_of("1-7") == (1.0, 7.0)
    assert ends_of("%") == (0.0, 100.0)
    assert range_unit(rows.iloc[:0]) == ""
    assert ends_of("s") is ends_of("") is None


def test_a_panel_with_one_factor_looks_like_the_legend() -> None:
    declared = {
        "design": {"between": {"hint": ["with", "without"]}, "within": ["model"]},
        "analysis": {"outcomes": {"primary": ["completion_rate", "response_time_s"]}},
    }
    both, single = analysed(declared).analyses
    (factor,) = single.outcome.layout.between
    alone = replace(
        single,
        outcome=replace(single.outcome, layout=Layout((factor,))),
        cells=tuple(Cell({factor.name: level}, single.cells[0].values) for level in factor.levels),
        rows=tuple(single.select(VALUES)[:2]),
    )
    plate = outcomes_figure(StudyAnalyses("s", analysed(declared).declaration, [both, alone]))
    assert plate is not None
    drawn = [
        [line.get_color() for line in ax.lines if line.get_markersize() == 5.5]
        for ax in plate.figure.axes
    ]
    assert drawn[0] == drawn[1], "the levels have their colours without the other factor, too"
    assert [ax.get_xlabel() for ax in plate.figure.axes] == ["model", "hint"]
