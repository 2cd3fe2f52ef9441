"""Names of dials in the report: words, agreement and figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from labapp.analysis import load
from labapp.base.report.drawing import ReportFigure
from labapp.coding.agreement.measure import DRAWS, SEED
from labapp.record.events import Source
from labapp.session.bids.export import export
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.records import dials_of
from labapp.tasks.reconstruction.report.contents import of_study
from labapp.tasks.reconstruction.report.labels.figures import SIDE_BY_SIDE, plates
from labapp.tasks.reconstruction.report.labels.sheet import (
    NOTHING,
    LabelResults,
    NamedModels,
    NameRatings,
    agreement,
    collect_names,
    count_covered,
    coverage,
    find,
    order,
)
from tests.analysis.sessions import stage_row
from tests.tasks.reconstruction_report.labels.cohort import (
    TC5,
    TC10,
    cohort,
    names_of,
    row_of,
    session,
    tables,
)
from tests.tasks.reconstruction_report.labels.test_tables import faint


def stages_of(rows: list[dict[str, Any]]) -> list[ReconstructionPart]:
    return [ReconstructionPart.model_validate(row) for row in rows]


def texts(found: NamedModels, model: str, dial: int) -> list[str]:
    (one,) = [one for one in found.models if one.model == model]
    return [name.text for name in one.dials[dial - 1].names]


def test_the_table_of_dials_holds_those_that_nobody_named() -> None:
    rows = tables([session("P01", {"mnist8k/ss5": {1: "digit"}})]).dials
    assert rows["dimension"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rows["dial"].tolist() == ["discrete", *["continuous"] * 5]
    assert rows["values"].tolist()[0] == 10
    assert rows["low"].isna().tolist() == [True, *[False] * 5]
    assert set(rows["distance"]) == {"mnist"}
    assert rows["labels_editable"].all()
    assert rows["card_sha256"].nunique() == 1


def test_a_dial_met_by_many_is_one_row_and_one_of_another_version_another() -> None:
    made = cohort({"mnist8k/tc5": TC5})
    assert len(tables(made).dials) == 5
    made.append(session("P06", {"mnist8k/tc5": {}}, cards={"mnist8k/tc5": "f" * 64}))
    assert len(tables(made).dials) == 10


def test_names_of_a_later_version_of_the_study_count_where_an_earlier_one_took_none() -> None:
    made = [
        session("P01", {"mnist8k/tc5": {}}, labels_editable=False),
        session("P02", {"mnist8k/tc5": {1: "thick"}}),
    ]
    assert sorted(tables(made).dials["labels_editable"]) == [False] * 5 + [True] * 5
    assert texts(names_of(made), "mnist8k/tc5", 1) == ["thick"]


def test_of_practice_no_dial_is_named() -> None:
    rows = [stage_row(labels_editable=False), stage_row("practice", role="practice")]
    found = list(dials_of(stages_of(rows), {}))
    assert [dial.part.labels_editable for dial in found] == [False] * 3
    assert {dial.card_sha256 for dial in found} == {None}


def test_the_last_name_counts_and_an_empty_one_takes_it_away() -> None:
    made = [session("P01", {"mnist8k/tc5": {1: "thick", 2: "", 3: "slant"}})]
    found = names_of(made)
    assert [texts(found, "mnist8k/tc5", dial) for dial in (1, 2, 3, 4)] == [
        ["thick"],
        [],
        ["slant"],
        [],
    ]


def test_names_come_by_model_as_in_the_paper() -> None:
    people = {"mnist8k/ss5": {1: ("a",)}, "mnist8k/ae5": {1: ("b",)}, "mnist8k/tc5": {1: ("c",)}}
    found = names_of(cohort(people, people=1))
    assert [one.model for one in found.models] == ["mnist8k/ae5", "mnist8k/tc5", "mnist8k/ss5"]
    assert [dial.title for dial in found.models[2].dials][:2] == ["Discrete 1", "Continuous 1"]
    assert order("lab/ae5")[0] > order("dsprites/gt")[0] > order("mnist8k/ig5")[0]


def test_coverage_is_of_those_who_met_the_model() -> None:
    made = cohort({"mnist8k/tc5": TC5})
    made.append(session("P06", {"mnist8k/ss5": {1: "digit"}}))  # met another model only
    found = names_of(made)
    tc5 = next(one for one in found.models if one.model == "mnist8k/tc5")
    assert len(tc5.met) == 5
    assert [coverage(tc5, dial) for dial in tc5.dials] == [0.8, 0.6, 0.6, 0.6, 0.6]
    assert count_covered(tc5) == 1
    assert tc5.people == {"P01", "P02", "P03", "P04"}


def test_who_does_not_count_has_no_name_and_met_no_model() -> None:
    made = cohort({"mnist8k/tc5": TC5}, people=2)
    unfinished = session("P09", {"mnist8k/tc5": {1: "left early"}})
    unfinished.rows.pop()  # session.completed
    found = names_of([*made, unfinished])
    assert found.models[0].met == {"P01", "P02"}
    assert "left early" not in texts(found, "mnist8k/tc5", 1)


def test_two_sessions_of_one_participant_are_one_person() -> None:
    one = session("P01", {"mnist8k/tc5": {1: "thick"}})
    again = session("P01", {"mnist8k/tc5": {1: "thin"}})
    again.session = "2"
    again.rows[0] = (
        again.rows[0][0],
        again.rows[0][1],
        replace(again.rows[0][2], payload=replace(again.rows[0][2].payload, session="2")),
    )
    found = names_of([one, again])
    dial = found.models[0].dials[0]
    assert len(dial.names) == 2
    assert dial.people == {"P01"}
    assert dial.others(dial.names[0]) == ()


def test_where_names_could_not_be_given_there_is_no_coverage() -> None:
    made = [session("P01", {"mnist8k/tc5": {1: "thick"}})]
    closed = session("P01", {"mnist8k/ae5": {}}, study="closed", labels_editable=False)
    found = names_of([*made, closed])
    assert [one.model for one in found.models] == ["mnist8k/tc5"]
    assert names_of([closed]) == NamedModels()


def test_a_deidentified_copy_holds_no_names(tmp_path: Path) -> None:
    made = cohort({"mnist8k/tc5": TC5}, people=2)
    folders = [one.write(tmp_path / "data") for one in made]
    copy = export([folders[1]], tmp_path / "copy", deidentify=True)
    read = load([folders[0], copy])
    found = collect_names(read.included())
    assert found.withheld == {"names": 1}
    assert found.models[0].met == {"P01"}
    assert {name.participant for _, _, name in found.names} == {"P01"}
    # The copy says which model it was, so that its dials are the same ones.
    assert len(read.dials) == 5
    assert len(found.models[0].cards) == 1


def test_a_hash_that_was_withheld_is_none() -> None:
    made = session("P01", {"mnist8k/tc5": {}}, cards={"mnist8k/tc5": "[withheld]"})
    assert tables([made]).dials["card_sha256"].isna().all()


def test_the_plan_of_a_shipped_study_has_what_the_table_of_dials_needs() -> None:
    row = row_of("mnist8k/tc10")
    assert row["distance"] == "mnist"
    assert len(list(dials_of(stages_of([row]), {}))) == 10


@pytest.mark.parametrize("people", [0, 1])
def test_without_names_there_is_nothing(people: int) -> None:
    made = [session(f"P{n}", {"mnist8k/tc5": {}}) for n in range(1, people + 1)]
    assert names_of(made or [session("P9", {})]) == NamedModels()


def votes(raters: int) -> st.SearchStrategy[list[list[bool]]]:
    return st.integers(2, 30).flatmap(
        lambda n: st.lists(
            st.lists(st.booleans(), min_size=n, max_size=n), min_size=raters, max_size=raters
        )
    )


def mixed(says: list[list[bool]]) -> bool:
    return len({one for rater in says for one in rater}) == 2


@given(votes(2))
def test_kappa_of_two_is_cohens(says: list[list[bool]]) -> None:
    assume(mixed(says))
    found = agreement(says)
    assert found.name == "Cohen's kappa"
    assert found.kappa == pytest.approx(cohen_kappa_score(*says))
    table = np.zeros((2, 2))
    for one, other in zip(*says, strict=True):
        table[int(one), int(other)] += 1
    assert found.kappa == pytest.approx(cohens_kappa(table, return_results=False))
    assert found.percent == pytest.approx(100 * np.trace(table) / table.sum())


@given(st.integers(3, 5).flatmap(votes))
def test_kappa_of_more_is_fleisss(says: list[list[bool]]) -> None:
    assume(mixed(says))
    found = agreement(says)
    assert found.name == "Fleiss's kappa"
    table, _ = aggregate_raters(np.array(says).T.astype(int))
    assert found.kappa == pytest.approx(fleiss_kappa(table))
    assert found.percent == 100 * np.mean([len(set(one)) == 1 for one in zip(*says, strict=True)])


def test_by_hand() -> None:
    """Cohen's example: 20 both yes, 15 both no, 5 and 10 apart: 0.7 observed, 0.5 by chance."""
    one = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    found = agreement([one, other])
    assert (found.n, found.percent) == (50, 70)
    assert found.kappa == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high
    # The asymptotic interval of statsmodels is close to the bootstrap's where there are 50.
    asymptotic = cohens_kappa(np.array([[15, 10], [5, 20]]))
    assert found.low == pytest.approx(asymptotic.kappa_low, abs=0.05)
    assert found.high == pytest.approx(asymptotic.kappa_upp, abs=0.05)


@pytest.mark.parametrize("raters", [2, 3])
def test_the_interval_is_that_of_kappas_of_names_drawn(raters: int) -> None:
    rng = np.random.default_rng(3)
    says = rng.random((raters, 12)) < 0.6
    kinds, counts = np.unique(says.T, axis=0, return_counts=True)
    times = np.random.Generator(np.random.PCG64(SEED)).multinomial(12, counts / 12, DRAWS)
    drawn = []
    for draw in times:
        names = np.repeat(kinds, draw, axis=0).T
        if len(np.unique(names)) == 2:
            table, _ = aggregate_raters(names.T.astype(int))
            drawn.append(cohen_kappa_score(*names) if raters == 2 else fleiss_kappa(table))
    result = agreement(says.tolist())
    assert result.undefined == DRAWS - len(drawn)
    assert (result.low, result.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


@pytest.mark.parametrize("says", [True, False])
def test_undefined_where_all_say_the_same_of_all(says: bool) -> None:
    found = agreement([[says] * 4, [says] * 4])
    assert (found.percent, found.kappa, found.low) == (100, None, None)
    assert ("not consistent" in found.why_not) is not says


def test_one_rater_with_one_word_has_no_agreement_beyond_chance() -> None:
    found = agreement([[True] * 6, [True, False] * 3])
    assert found.kappa == pytest.approx(0)
    assert found.percent == 50


def test_draws_without_a_kappa_are_counted_and_left_out() -> None:
    found = agreement([[True] * 9 + [False], [True] * 9 + [False]])
    assert found.kappa == 1
    # A draw without the tenth name: (9 / 10) ** 10 of them.
    assert found.undefined == pytest.approx(DRAWS * 0.9**10, rel=0.15)
    assert (found.low, found.high) == (1, 1)


def test_without_an_interval_where_most_draws_have_no_kappa() -> None:
    """One name of each kind of two: half of the draws are of one kind."""
    found = agreement([[True, False], [True, False]])
    assert found.kappa == 1
    assert found.undefined == pytest.approx(DRAWS / 2, rel=0.1)


def test_without_names_there_is_nothing_of_agreement() -> None:
    found = agreement([[], []])
    assert (found.n, found.percent, found.kappa) == (0, None, None)
    assert found.why_not


def test_the_interval_is_always_the_same() -> None:
    says = [[True, False, True, True, False], [True, True, True, False, False]]
    assert agreement(says) == agreement(says)


DRAWN = True

TC = "mnist8k/tc5"


@pytest.fixture(scope="module")
def found() -> LabelResults:
    return find(tables(cohort({TC: TC5, "mnist8k/tc10": TC10})), measured=faint(3))


@pytest.fixture(scope="module")
def drawn(found: LabelResults) -> Sequence[ReportFigure]:
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
    said = "Coverage of each slider · names: "
    assert titles == [
        f"{said}1 participant",
        f"{said}1 participant, all simulated",
        f"{said}2 participants, 1 simulated",
    ]


def test_dials_with_little_effect_are_hatched_and_starred(
    found: LabelResults, drawn: Sequence[ReportFigure]
) -> None:
    ax = drawn[0].figure.axes[0]
    assert [bool(bar.get_hatch()) for bar in bars(ax)] == [False, False, True, False, False]
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [name.endswith(" *") for name in names] == [False, False, True, False, False]
    assert "hatched" in drawn[0].caption
    known = replace(found, effects=tuple(faint()(model) for model in found.models))
    assert "hatched" not in plates(known)[0].caption


def test_consistent_names_are_counted_beside_the_bars(found: LabelResults) -> None:
    assert found.sheet is not None
    says = {line.name.id: line.name.text.startswith("3-5") for line in found.sheet.lines}
    rated = replace(found, ratings=(NameRatings("a", says),))
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


def test_ids_on_one_page_are_of_one_figure_each(found: LabelResults) -> None:
    made = [session("P01", {TC: {1: "a"}}), session("P01", {TC: {1: "b"}}, study="other")]
    both = find(tables(made), measured=faint())
    html = "".join(part for study in both.studies for part in of_study(study, both))
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert html.count("<svg") == 2
