"""Which names count, and who met the dials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis import load
from labapp.session.bids.export import export
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.records import dials_of
from labapp.tasks.reconstruction.report.labels.sheet import (
    NamedModels,
    coverage,
    covered,
    named,
    order,
)
from tests.analysis.sessions import stage_row
from tests.tasks.reconstruction_report.labels.cohort import (
    TC5,
    cohort,
    names_of,
    row_of,
    session,
    tables,
)


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
    assert covered(tc5) == 1
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
    found = named(read.included())
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
