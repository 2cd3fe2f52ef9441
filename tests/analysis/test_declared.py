"""What sessions say of their study's design, and its factors as columns of the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.analysis.analyze import DICTIONARY, dictionary, write
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import PREFIX, declared_of, factor_column
from labapp.base.errors import RecordError
from labapp.record.events.lifecycle import PartEnded, PartStarted, SessionCompleted
from labapp.session.bids.export import export
from labapp.study.design import Declared
from labapp.study.schema import Study
from tests.analysis.sessions import begin_trial, builder, end_trial, stage_row
from tests.helpers.journals import SessionBuilder

DECLARED = {
    "design": {
        "between": {"hint": ["with", "without"], "dose": [1, 2]},
        "within": ["model", {"feedback": ["none", "full"]}],
    },
    "analysis": {"correction": "fdr"},
}


def session(root: Path, participant: str, hint: str, declared: dict[str, Any], **more: Any) -> Path:
    """A session of two stages, whose feedback was full in the second."""
    made = SessionBuilder(study_files=None, participant=participant)
    levels = [{"levels": {"feedback": level}} if declared else {} for level in ("none", "full")]
    made.plan(
        [
            stage_row("stage-1", role="practice", **levels[0]) | {"id": "practice"},
            stage_row("stage-1", **levels[0]),
            stage_row("stage-2", number=2, **levels[1]),
        ],
        assignment={"number": 1, "hint": hint, "dose": 2},
        declared=declared,
        **more,
    )
    made.segment(0, 1)
    begin_trial(made, 1)
    made.at(1, PartStarted(1), "stage-1")
    end_trial(made, 3)
    made.at(3, PartEnded(1, "completed"), "stage-1")
    made.at(3, PartStarted(2), "stage-2")
    made.at(4, SessionCompleted())
    return made.write(root)


def test_factors_are_columns_of_every_table(tmp_path: Path) -> None:
    tables = load(
        [session(tmp_path, f"P0{n}", hint, DECLARED) for n, hint in ((1, "with"), (2, "without"))]
    )
    for name, frame in tables.by_name().items():
        assert list(frame.columns) == [column.name for column in tables.columns[name]], name
        if list(frame.columns[:3]) == ["study", "participant", "session"] and name != "snapshots":
            assert list(frame.columns[3:5]) == ["factor_dose", "factor_hint"]
    stages = tables.stages
    assert stages["factor_hint"].tolist() == ["with"] * 2 + ["without"] * 2
    assert set(stages["factor_dose"]) == {"2"}
    assert stages["factor_feedback"].tolist() == ["none", "full"] * 2
    assert stages["position"].tolist() == [1, 2] * 2
    assert str(stages["position"].dtype) == "Int64"
    assert tables.trials["factor_feedback"].tolist() == ["none"] * 2
    assert json.loads(tables.participants["declared"][0]) == DECLARED
    meanings = dictionary(tables).set_index(["table", "column"])["meaning"]
    assert meanings["trials", "factor_hint"].endswith("of the study's design: with, without")


def test_files_have_the_columns_of_factors(tmp_path: Path) -> None:
    tables = load(session(tmp_path, "P01", "with", DECLARED))
    written = write(tables, tmp_path / "out")
    told = pd.read_csv(tmp_path / "out" / DICTIONARY)
    for path in written:
        if path.suffix == ".csv" and path.name != DICTIONARY:
            own = told[told["table"] == path.stem]
            assert list(pd.read_csv(path).columns) == list(own["column"]), path.name


def test_a_study_that_declares_nothing_has_the_tables_it_had(tmp_path: Path) -> None:
    tables = load(session(tmp_path, "P01", "with", {}))
    assert tables.columns == table_columns()
    declared = declared_of(tables, "golden")
    assert dict(declared) == {"study": "golden", "versions": (1,), "others": {}, **dict(Declared())}
    assert declared.remark == ""


def test_studies_with_and_without_a_design_stand_in_one_table(tmp_path: Path) -> None:
    made = builder(participant="P09", study="other")
    begin_trial(made, 1)
    made.at(4, SessionCompleted())
    tables = load([session(tmp_path, "P01", "with", DECLARED), made.write(tmp_path)])
    trials = tables.trials.set_index("study")
    assert trials["factor_hint"].dropna().to_dict() == {"golden": "with"}
    assert list(trials.columns[2:6]) == [
        "factor_dose",
        "factor_hint",
        "factor_feedback",
        "position",
    ]


def test_the_declaration_of_the_latest_version_is_followed_and_others_are_named(
    tmp_path: Path,
) -> None:
    later = {**DECLARED, "analysis": {"correction": "none"}}
    tables = load(
        [
            session(tmp_path, "P01", "with", DECLARED),
            session(tmp_path, "P02", "with", later, study_version=2),
            session(tmp_path, "P03", "with", later, study_version=3),
        ]
    )
    declared = declared_of(tables, "golden")
    assert declared.analysis.correction == "none"
    assert declared.design is not None
    assert declared.design.between["dose"] == (1, 2)
    assert declared.versions == (2, 3)
    assert declared.others == {1: ("analysis",)}
    assert "follows version 3; what differs in version 1: analysis" in declared.remark
    assert declared_of(tables, "nobody").versions == ()


def test_what_a_newer_labapp_declares_is_no_traceback(tmp_path: Path) -> None:
    newer = {"design": {"between": {"hint": ["a", "b"]}, "shape": "round"}}
    with pytest.raises(RecordError, match="cannot be read"):
        load(session(tmp_path, "P01", "a", newer))


def test_a_bundle_has_the_same_factors(tmp_path: Path) -> None:
    folder = session(tmp_path, "P01", "with", DECLARED)
    given = load(folder).stages
    for reduced in (False, True):
        bundle = export([folder], tmp_path / f"b{reduced}", deidentify=reduced, private=tmp_path)
        pd.testing.assert_frame_equal(load(bundle).stages, given)
        assert declared_of(load(bundle), "golden") == declared_of(load(folder), "golden")


def test_no_column_of_ours_begins_like_that_of_a_factor() -> None:
    names = {column.name for columns in table_columns().values() for column in columns}
    assert not [name for name in names if name.startswith(PREFIX)]
    assert {"position", "declared"}.isdisjoint(names)
    assert [factor_column(name) for name in ("hint", "model", "session")] == [
        "factor_hint",
        "model",
        "session",
    ]


def test_the_first_event_declares_the_keys_of_the_study() -> None:
    for name, field in Declared.model_fields.items():
        assert Study.model_fields[name].annotation == field.annotation
