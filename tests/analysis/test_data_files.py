"""Numbers for Excel, SPSS and Stata, read by the programs' own formats."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from openpyxl import load_workbook

from labapp.analysis import data_files, load
from labapp.analysis.analyze import DATA_FILES
from labapp.analysis.columns import table_columns
from labapp.analysis.data_files import NOT_ASKED, UNKNOWN, long, wide, write
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.sources import outcomes_of
from labapp.analysis.tables import Tables, build_frame
from labapp.session.simulation.simulation_job import simulate_study
from tests.analysis.design.studies import MODELS, study

TEXT = "=1+1\x07 " + "long " * 600
SCALE = {"1": "never", "2": "at times", "3": "always"}


def answer(participant: str, about: str, item: str, value: object, **more: Any) -> dict[str, Any]:
    return {
        "study": "own", "participant": participant, "session": "1", "stage": f"{about}-own",
        "about": about, "instrument": "own-scale", "item": item, "asked": value is not ...,
        "submitted": value is not ..., "value": value if isinstance(value, float) else None,
        "value_text": value if isinstance(value, str) else None, **more,
    }  # fmt: skip


@cache
def tables() -> Tables:
    """Twelve people who met three models, with a questionnaire after each stage and one at the end:
    its second question depends on the first."""
    made = study({"design": {"between": {"hint": ["with", "without"]}, "within": ["model"]}})
    rows = []
    for row in made.stages.itertuples():
        even = int(row.participant[1:]) % 2 == 0
        rows.append(answer(row.participant, row.stage, "often", float(1 + even)))
        rows.append(answer(row.participant, row.stage, "how-much", 3.0 if even else ...))
    rows += [answer(who, "", "remarks", TEXT) for who in made.participants["participant"]]
    items = [
        {"study": "own", "instrument": "own-scale", "item": item, "text": text, "answers": answers}
        for item, text, answers in (
            ("often", "How often?", json.dumps(SCALE)),
            ("how-much", "How much?", json.dumps(SCALE)),
            ("remarks", "Anything else?", None),
        )
    ]
    return replace(
        made,
        answers=build_frame(rows, table_columns()["answers"]),
        items=build_frame(items, table_columns()["items"]),
    )


def test_long_has_a_row_for_each_stage_and_wide_one_for_each_person() -> None:
    each, one = long(tables()).frame, wide(tables()).frame
    assert len(each) == 12 * 3
    assert len(one) == 12
    assert each["own_scale_often"].notna().all()
    plain = [re.sub(r"\W+", "_", model) for model in MODELS]
    for model, name in zip(MODELS, plain, strict=True):
        at = tables().stages.set_index(["model", "participant"]).loc[model]["completion_rate"]
        got = one.set_index("participant")[f"completion_rate_{name}"]
        assert got.to_dict() == at.to_dict()
    assert {f"own_scale_how_much_{name}" for name in plain} <= set(one)


def test_spss_has_labels_and_missing_values(tmp_path: Path) -> None:
    write(tables(), tmp_path, ["sav"])
    frame, meta = pyreadstat.read_sav(tmp_path / "long.sav", user_missing=True)
    assert meta.column_names_to_labels["own_scale_often"] == "How often?"
    assert meta.variable_value_labels["own_scale_often"] == {1: "never", 2: "at times", 3: "always"}
    assert meta.variable_value_labels["included"] == {0: "no", 1: "yes"}
    of_who_was_asked = frame[frame["own_scale_often"] == 2]["own_scale_how_much"]
    assert set(of_who_was_asked) == {3}
    assert set(frame[frame["own_scale_often"] == 1]["own_scale_how_much"]) == {NOT_ASKED}
    assert meta.missing_ranges["own_scale_how_much"] == [{"lo": NOT_ASKED, "hi": NOT_ASKED}]
    usual, _ = pyreadstat.read_sav(tmp_path / "long.sav")
    assert usual["own_scale_how_much"].isna().sum() == 18
    people, _ = pyreadstat.read_sav(tmp_path / "wide.sav")
    assert people["own_scale_remarks"].tolist() == [TEXT.replace("\x07", "␛").rstrip()] * 12


def test_stata_has_short_names_and_the_map_says_which(tmp_path: Path) -> None:
    write(tables(), tmp_path, ["dta"])
    frame, _ = pyreadstat.read_dta(tmp_path / "wide.dta", user_missing=True)
    assert all(re.fullmatch(r"[A-Za-z]\w{0,31}", name) for name in frame.columns)
    names = pd.read_csv(tmp_path / "variables.csv")
    names = names[names["layout"] == "wide"]
    assert list(names["in_stata"]) == list(frame.columns)
    changed = names[names["variable"] != names["in_stata"]]
    assert len(changed) == 3
    assert frame["own_scale_remarks"].tolist() == [TEXT.replace("\x07", "␛")] * 12
    asked = names.set_index("variable")["in_stata"]
    column = next(asked[name] for name in asked.index if name.startswith("own_scale_how_much_"))
    assert "a" in set(frame[column])


def test_a_text_that_is_too_long_is_cut_and_its_label_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(data_files.LONGEST_TEXT, "sav", 100)
    write(tables(), tmp_path, ["sav"])
    frame, meta = pyreadstat.read_sav(tmp_path / "wide.sav")
    assert meta.column_names_to_labels["own_scale_remarks"] == "Anything else? (cut)"
    assert {len(text.encode()) for text in frame["own_scale_remarks"]} <= {98, 99, 100}


def test_excel_has_data_variables_and_values(tmp_path: Path) -> None:
    write(tables(), tmp_path, ["xlsx"])
    book = load_workbook(tmp_path / "data.xlsx")
    assert book.sheetnames == ["Data", "Wide", "Variables", "Values"]
    data = pd.DataFrame(book["Data"].values)
    assert len(data) == 1 + 36
    heads = [cell.value for cell in book["Wide"][1]]
    cell = book["Wide"].cell(2, heads.index("own_scale_remarks") + 1)
    assert cell.data_type == "s", "a text that begins with = is no formula"
    assert cell.value == TEXT.replace("\x07", "␛")
    assert ("own_scale_often", 2, "at times") in set(book["Values"].values)
    rate = heads.index(next(name for name in heads if name.startswith("completion_rate")))
    assert isinstance(book["Wide"].cell(2, rate + 1).value, float | int)


def test_who_met_a_model_twice_has_columns_by_stage() -> None:
    made = tables()
    stages = made.stages.assign(model=MODELS[0])
    frame = wide(replace(made, stages=stages)).frame
    numbers = {name for name in frame if name.startswith("completion_rate_")}
    assert numbers == {f"completion_rate_stage_{n}" for n in (1, 2, 3)}


def test_a_questionnaire_that_came_twice_has_two_columns() -> None:
    made = tables()
    again = build_frame([answer("P01", "", "remarks", "later")], table_columns()["answers"])
    answers = pd.concat([made.answers, again], ignore_index=True)
    frame = wide(replace(made, answers=answers)).frame.set_index("participant")
    assert frame.loc["P01", "own_scale_remarks_2"] == "later"
    assert frame["own_scale_remarks_2"].notna().sum() == 1


def test_sessions_without_stages_and_questionnaires_are_rows_of_their_own(tmp_path: Path) -> None:
    made = tables()
    few = replace(made, stages=made.stages.iloc[:0], answers=made.answers.iloc[:0])
    assert len(long(few).frame) == len(wide(few).frame) == 12
    assert [path.name for path in write(few, tmp_path, list(data_files.FORMATS))] == [*DATA_FILES]


@pytest.mark.parametrize("name", ["with", "2nd", "a.b", "größe", ""])
def test_names_are_what_programs_take(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z]\w*", data_files._plain(name), re.ASCII)
    assert data_files._plain(name).lower() not in data_files.RESERVED


def test_a_score_with_the_name_of_an_item_is_a_column_of_its_own() -> None:
    made = tables()
    where = {key: made.stages.iloc[0][key] for key in ("study", "participant", "session", "stage")}
    score = {
        **where, "about": where["stage"], "stage": "own", "instrument": "own-scale",
        "score": "often", "value": 5.0, "meaning": "five times as much",
    }  # fmt: skip
    frame = long(replace(made, scores=build_frame([score], table_columns()["scores"]))).frame
    row = frame[frame["own_scale_often_score"].notna()].iloc[0]
    assert (row["own_scale_often"], row["own_scale_often_score"]) == (1.0, 5.0)


def test_what_was_asked_twice_has_its_change_and_what_was_not_known_a_code(tmp_path: Path) -> None:
    (tmp_path / "instruments").mkdir()
    (tmp_path / "instruments" / "mood.yaml").write_text(
        "id: mood\nversion: 1\ntitle: Mood\nsource: Ours\nitems:\n"
        '  - {id: sure, kind: slider, text: "How calm?", required: true, dont_know: No idea}\n'
    )
    (tmp_path / "study.yaml").write_text(
        "id: twice\ntitle: Twice\nversion: 1\nunnamed_texts: shipped\n"
        "flow:\n  - questionnaire: mood\n  - questionnaire: mood\n"
        "analysis: {outcomes: {primary: [sure]}}\n"
    )
    simulate_study(str(tmp_path / "study.yaml"), 30, "random", tmp_path / "data")
    made = load(tmp_path / "data")
    outcomes = outcomes_of(made, read_declaration(made, "twice"))
    (without_design,) = outcomes.left_out
    assert "no table" not in without_design.why, "another task has a column of that name"
    frame = wide(made).frame.set_index("participant")
    answers = made.answers.set_index(["stage", "participant"])
    before, after = (answers.loc[f"questionnaire-{time}"]["value"] for time in (1, 2))
    change = (after - before).reindex(frame.index)
    assert frame["mood_sure_2_change"].astype(float).equals(change.astype(float))
    unknown = answers.loc["questionnaire-2"]["dont_know"].reindex(frame.index)
    assert 0 < unknown.sum() < 30
    assert frame["mood_sure_2_dont_know"].tolist() == unknown.tolist()
    write(made, tmp_path, ["xlsx", "sav", "dta"])
    for ending, read, code in (
        ("sav", pyreadstat.read_sav, UNKNOWN),
        ("dta", pyreadstat.read_dta, "b"),
    ):
        coded, _ = read(tmp_path / f"wide.{ending}", user_missing=True)
        plain, _ = read(tmp_path / f"wide.{ending}")
        assert (coded["mood_sure_2"] == code).tolist() == unknown.tolist()
        assert plain["mood_sure_2"].isna().tolist() == unknown.tolist()
    sheet = pd.read_excel(tmp_path / "data.xlsx", sheet_name="Wide")
    assert sheet["mood_sure_2_dont_know"].tolist() == unknown.tolist()
