"""Coverage as figures: the right bars, marked without colour too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from labapp.base.report.drawing import ReportFigure
from labapp.record.events import Source
from labapp.tasks.reconstruction.report.contents import of_study
from labapp.tasks.reconstruction.report.labels.figures import SIDE_BY_SIDE, plates
from labapp.tasks.reconstruction.report.labels.sheet import NOTHING, Found, Rating, find
from tests.tasks.reconstruction_report.labels.cohort import TC5, TC10, cohort, session, tables
from tests.tasks.reconstruction_report.labels.test_tables import faint

DRAWN = True

TC = "mnist8k/tc5"


@pytest.fixture(scope="module")
def found() -> Found:
    return find(tables(cohort({TC: TC5, "mnist8k/tc10": TC10})), measured=faint(3))


@pytest.fixture(scope="module")
def drawn(found: Found) -> Sequence[ReportFigure]:
    return plates(found)


def bars(ax: Axes) -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def test_a_bar_is_as_long_as_the_share_that_named_the_dial(drawn: Sequence[ReportFigure]) -> None:
    ax = drawn[0].figure.axes[0]
    assert [bar.get_width() for bar in bars(ax)] == pytest.approx([80, 60, 60, 60, 60])
    assert [text.get_text() for text in ax.texts] == ["4", "3", "3", "3", "3"]
    assert ax.get_title(loc="left") == "mnist8k/tc5, n = 5"


def test_a_figure_of_programs_says_so_by_itself() -> None:
    program = session("P02", {TC: {1: "thickness"}}, source=Source.SIMULATED)
    person = session("P01", {TC: {1: "thick"}})
    titles = [
        plates(find(tables(made), measured=faint()))[0].figure.get_label()
        for made in ([person], [program], [person, program])
    ]
    said = "Coverage of each dial · names: "
    assert titles == [
        f"{said}1 participant",
        f"{said}1 participant, all simulated",
        f"{said}2 participants, 1 simulated",
    ]


def test_dials_with_little_effect_are_hatched_and_starred(
    found: Found, drawn: Sequence[ReportFigure]
) -> None:
    ax = drawn[0].figure.axes[0]
    assert [bool(bar.get_hatch()) for bar in bars(ax)] == [False, False, True, False, False]
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [name.endswith(" *") for name in names] == [False, False, True, False, False]
    assert "hatched" in drawn[0].caption
    known = replace(found, effects=tuple(faint()(model) for model in found.models))
    assert "hatched" not in plates(known)[0].caption


def test_consistent_names_are_counted_beside_the_bars(found: Found) -> None:
    assert found.sheet is not None
    says = {line.name.id: line.name.text.startswith("3-5") for line in found.sheet.lines}
    rated = replace(found, ratings=(Rating("a", says),))
    plate = plates(rated)[0]
    shown = [text.get_text() for text in plate.figure.axes[0].texts]
    assert shown == ["4", "3", "3", "3 (2 ✓)", "3"]
    assert "every rater" in plate.caption


def test_there_is_one_for_each_study_and_size_of_model(
    drawn: Sequence[ReportFigure], tmp_path: Path
) -> None:
    assert [plate.name for plate in drawn] == ["labels-names-5", "labels-names-10"]
    assert not plates(NOTHING)
    made = [session("P01", {TC: {1: "a"}}), session("P01", {TC: {1: "b"}}, study="other")]
    both = plates(find(tables(made), measured=faint()))
    assert [plate.name for plate in both] == ["labels-names-5", "labels-other-5"]
    assert [path.suffix for path in both[0].save(tmp_path)] == [".svg", ".png", ".pdf"]


def test_many_models_take_several_rows() -> None:
    four = {f"mnist8k/{name}": {1: ("a",)} for name in ("ae5", "vae5", "tc5", "ss5")}
    (plate,) = plates(find(tables(cohort(four, people=1)), measured=faint()))
    shown = [ax for ax in plate.figure.axes if ax.get_visible()]
    assert len(shown) == 4
    assert len(plate.figure.axes) == 2 * SIDE_BY_SIDE
    assert {ax.get_ylim() for ax in shown} == {(5.6, -0.6)}


def test_ids_on_one_page_are_of_one_figure_each(found: Found) -> None:
    made = [session("P01", {TC: {1: "a"}}), session("P01", {TC: {1: "b"}}, study="other")]
    both = find(tables(made), measured=faint())
    html = "".join(part for study in both.studies for part in of_study(study, both))
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert html.count("<svg") == 2
