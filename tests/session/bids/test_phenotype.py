"""Questionnaires as phenotype tables: choices, descriptions, texts; whole and de-identified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.record.events.commands import Next
from labapp.record.events.trials import QuestionnaireSubmitted
from labapp.record.journal.opening import open_record
from labapp.session.bids.contents import WITHHELD
from labapp.session.bids.derived import Phenotypes
from labapp.session.bids.export import export
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.machine import Answer
from tests.analysis.sessions import stage_row
from tests.helpers.bids import validator_errors
from tests.helpers.journals import SessionBuilder
from tests.helpers.questionnaires import questionnaire_study
from tests.session.sessions import begin_session

OWN = {"chosen": ["woman", "self_described"], "described": "zebra\twords"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One participant who answered two questionnaires."""
    folder = tmp_path_factory.mktemp("asked")
    study = questionnaire_study(folder / "study", ["demographics", "comments", "nasa-tlx"])
    one = begin_session(folder, study=study)
    for item, value in (("gender", OWN), ("age", {"chosen": ["from_70"]})):
        one.runner.send(Answer(item, value))
    one.runner.send(Next())
    one.runner.send(Answer("comments", "first line\nsecond"))
    one.runner.send(Next())
    one.close("test over")
    return one.folder.path


def table(bundle: Path, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The one row of a questionnaire by column, and its sidecar."""
    text = (bundle / "phenotype" / f"{name}.tsv").read_text()
    header, row = (line.split("\t") for line in text.splitlines())
    sidecar = json.loads((bundle / "phenotype" / f"{name}.json").read_text())
    assert set(header) == set(sidecar) - {"MeasurementToolMetadata"}
    return dict(zip(header, row, strict=True)), sidecar


def test_choices_and_descriptions_have_columns_of_their_own(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
    row, sidecar = table(bundle, "demographics")
    gender = "ses_1_questionnaire_1_gender"
    assert row[gender] == "woman;self_described"
    assert row[f"{gender}_described"] == "zebra words"
    assert "self_described = Prefer to self-describe" in sidecar[gender]["Description"]
    age = "ses_1_questionnaire_1_age"
    assert row[age] == "from_70"
    assert sidecar[age]["Levels"]["from_70"] == "70 and above"
    row, _ = table(bundle, "comments")
    assert row["ses_1_questionnaire_2_comments"] == "first line second"


@pytest.mark.parametrize("deidentify", [False, True])
def test_the_tables_are_valid_bids(session: Path, tmp_path: Path, deidentify: bool) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=deidentify)
    assert validator_errors(bundle) == []


def test_two_versions_of_an_instrument_are_both_told(session: Path, tmp_path: Path) -> None:
    study = questionnaire_study(tmp_path / "study", ["demographics"])
    shipped = (resources.assets() / "instruments" / "demographics.yaml").read_text()
    later = study.parent / "instruments" / "demographics.yaml"
    later.parent.mkdir(exist_ok=True)
    text = shipped.replace("version: 2", "version: 3").replace("from_70", "old")
    assert text.count("old") > shipped.count("old")
    later.write_text(text)
    one = begin_session(tmp_path, study=study, participant="P02")
    one.runner.send(Answer("age", {"chosen": ["old"]}))
    one.runner.send(Next())
    one.close("test over")
    bundle = export([session, one.folder.path], tmp_path / "bundle")
    sidecar = json.loads((bundle / "phenotype" / "demographics.json").read_text())
    assert sidecar["MeasurementToolMetadata"]["Version"] == [2, 3]
    assert {"old", "from_70"} <= sidecar["ses_1_questionnaire_1_age"]["Levels"].keys()


def test_nothing_written_is_in_a_deidentified_copy(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    assert not (bundle / "phenotype" / "demographics.tsv").exists()
    row, _ = table(bundle, "comments")
    assert row["ses_1_questionnaire_2_comments"] == WITHHELD
    for path in bundle.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for said in (b"zebra", b"first line", b"from_70\t", b"woman;"):
                assert said not in content, path


def test_of_an_older_session_the_shipped_declarations_hold_word_for_word(tmp_path: Path) -> None:
    """Its instruments declare nothing yet; one that was changed is not the shipped one any more."""
    study = questionnaire_study(tmp_path / "study", ["nasa-tlx-weights", "synthetic-end"])
    own = study.parent / "instruments"
    own.mkdir(exist_ok=True)
    for name in ("nasa-tlx-weights", "synthetic-end"):
        text = (resources.assets() / "instruments" / f"{name}.yaml").read_text()
        text = text.replace(", identifying: no", "").replace("    identifying: no\n", "")
        (own / f"{name}.yaml").write_text(text.replace("    identifying: yes\n", ""))
    one = begin_session(tmp_path, study=study)
    pairs = [item.id for item in instrument_of(own / "nasa-tlx-weights.yaml").items]
    for pair in pairs:
        one.runner.send(Answer(pair, {"chosen": [pair.split("_or_")[0]]}))
    one.runner.send(Next())
    one.runner.send(Next())
    one.close("test over")
    bundle = export([one.folder.path], tmp_path / "bundle", deidentify=True)
    row, _ = table(bundle, "nasa-tlx-weights")
    assert row["ses_1_questionnaire_1_effort_or_frustration"] == "effort"


def instrument_of(path: Path) -> Instrument:
    return Instrument.parse(path, path.read_bytes())


def test_no_answer_takes_the_place_of_another(tmp_path: Path) -> None:
    """Items may have any ids, and a stage may be asked about twice."""
    asked = {"part": "questionnaire", "title": "Own", "instrument": "own", "about": "stage-1"}
    builder = SessionBuilder()
    builder.plan([stage_row(), {"id": "first", **asked}, {"id": "again", **asked}])
    slider = {"value": 30.0, "touched": True}
    answers = {"model": 5, "pace": slider, "pace_touched": 6, "why": "so"}
    for at, part in ((10, "first"), (20, "again"), (30, "again")):
        given = answers | {"model": at}
        builder.at(at, QuestionnaireSubmitted("own", 1, given), part)
    phenotypes = Phenotypes()
    phenotypes.add(open_record(builder.write(tmp_path)), {})
    (own,) = phenotypes.finished()
    (row,) = own.table.rows
    assert row == {
        "participant_id": "sub-P01",
        "ses_1_stage_1_model": "mnist8k/ss2",
        "ses_1_stage_1_model_2": 10,
        "ses_1_stage_1_pace": 30.0,
        "ses_1_stage_1_pace_touched": True,
        "ses_1_stage_1_pace_touched_2": 6,
        "ses_1_stage_1_why": "so",
        "ses_1_again_model": "mnist8k/ss2",
        "ses_1_again_model_2": 30,
        "ses_1_again_pace": 30.0,
        "ses_1_again_pace_touched": True,
        "ses_1_again_pace_touched_2": 6,
        "ses_1_again_why": "so",
    }
    assert [column.name for column in own.table.columns] == ["participant_id", *sorted(row)[1:]]
    said = {column.name: column.description for column in own.table.columns}
    assert said["ses_1_again_why"] == (
        "The answer to why (about stage-1 in session 1, in part again)"
    )
