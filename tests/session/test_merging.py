"""Answers of another survey tool: matched exactly, kept beside the sessions, in every table."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from openpyxl import Workbook
from typer.testing import CliRunner

from labapp.analysis import data_files
from labapp.analysis.analyze import write
from labapp.analysis.tables import load as load_tables
from labapp.base.errors import LabappError, MergeError, RecordError, UsageError
from labapp.cli.main import app
from labapp.record.journal import anchor
from labapp.record.journal.merged import of_study
from labapp.record.journal.opening import iter_records, open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.merging import Merge, merge, prepare, study_in
from labapp.session.simulation.simulation_job import simulate
from labapp.session.withdrawal import withdraw
from labapp.study.loading import load
from tests.session.sessions import surroundings
from tests.session.test_survey import STUDY

ROWS = "pid;age;how was it?;score;fine\nP01;31;good;3,5;TRUE\nP02;27;=SUM(A1);4;false\n"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with three sessions of a study."""
    folder = tmp_path_factory.mktemp("recorded")
    study = folder / "surveyed.yaml"
    study.write_text(STUDY)
    around = surroundings(folder)
    for participant in ("P01", "P02", "P03"):
        simulate(load(study), participant, around, data=folder / "data", strategy="random")
    return folder / "data"


@pytest.fixture
def root(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "data"))


def prepared(root: Path, text: str = ROWS, **options: object) -> Merge:
    file = root.parent / "answers.csv"
    file.write_text(text)
    return prepare(file, root / "surveyed", "pid", **options)  # type: ignore[arg-type]


def merged_into(root: Path, text: str = ROWS, replace: bool = False, **options: object) -> Merge:
    made = prepared(root, text, **options)
    merge(made, root / "surveyed", replace_=replace)
    return made


def of_people(root: Path) -> dict[str, dict[str, object]]:
    people = load_tables(root).participants.set_index("participant")
    names = [name for name in people if name.startswith("survey_")]
    return people[names].astype(object).where(people[names].notna(), None).to_dict("index")


def test_answers_become_typed_columns_of_the_participants(root: Path) -> None:
    merged_into(root)
    names = [f"survey_{name}" for name in ("age", "how_was_it", "score", "fine")]
    assert of_people(root) == {
        "P01": dict(zip(names, (31, "good", 3.5, True), strict=True)),
        "P02": dict(zip(names, (27, "=SUM(A1)", 4.0, False), strict=True)),
        "P03": dict.fromkeys(names),
    }
    kinds = {column.name: column.kind for column in load_tables(root).columns["participants"]}
    assert [kinds[name] for name in names] == ["integer", "text", "number", "boolean"]
    assert not verified_problems(root)


def verified_problems(root: Path) -> list[str]:
    problems, _ = anchor.check(root / "surveyed")
    return problems


def test_an_analysis_has_them_in_every_file(root: Path, tmp_path: Path) -> None:
    merged_into(root)
    tables = load_tables(root)
    write(tables, tmp_path / "out")
    data_files.write(tables, tmp_path / "out", ["xlsx", "sav", "dta"])
    people = pd.read_csv(tmp_path / "out" / "participants.csv")
    assert list(people["survey_age"])[:2] == [31, 27]
    assert people["survey_how_was_it"][1] == "'=SUM(A1)", "no spreadsheet carries it out"
    described = pd.read_csv(tmp_path / "out" / "columns.csv").set_index("column")
    assert described.loc["survey_how_was_it", "meaning"] == "how was it?"
    for ending, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        frame, meta = read(tmp_path / "out" / f"wide.{ending}")
        assert list(frame["survey_score"])[:2] == [3.5, 4.0]
        assert meta.column_names_to_labels["survey_how_was_it"] == "how was it?"
    (remark,) = (remark for remark in tables.remarks if "answers.csv" in remark)
    assert "SHA-256" in remark
    assert "merged into 2 sessions" in remark, "the report has it among its sources"


@pytest.mark.parametrize(
    ("rows", "kind", "told"),
    [
        ("P9;1;a;1;true\n", "unknown", "line 2: 'P9' is not a participant of surveyed"),
        (" P01;1;a;1;true\n", "unknown", r"line 2: ' P01' .*did you mean P01\?"),
        ("p01;1;a;1;true\n", "unknown", r"line 2: 'p01' .*did you mean P01\?"),
        ("P01;1;a;1;true\nP01;2;b;2;true\n", "twice", r"line 2: P01 is in lines 2, 3\n  line 3"),
        (";1;a;1;true\n", "without-id", "line 2: the cell in pid is empty"),
    ],
)
def test_a_row_of_no_session_is_refused_or_left_out_by_name(
    root: Path, rows: str, kind: str, told: str
) -> None:
    text = ROWS.splitlines(keepends=True)[0] + rows
    with pytest.raises(MergeError, match=told) as refused:
        prepared(root, text)
    assert f"--leave-out {kind}" in refused.value.todo
    assert not (root / "surveyed" / "merged.jsonl").exists()
    made = prepared(root, text + "P02;5;x;2;true\n", leave_out=[kind])
    assert [name.split("_")[0] for name in made.given] == ["sub-P02"]
    assert {row.kind for row in made.left} == {kind}
    assert sum(line.startswith("Left out, line") for line in made.lines()) == len(made.left)


def test_the_same_file_changes_nothing_and_another_says_what_differs(root: Path) -> None:
    merged_into(root)
    log = root / "surveyed" / "merged.jsonl"
    before = log.read_bytes()
    again = merged_into(root)
    assert "Nothing changed" in "\n".join(again.lines())
    assert log.read_bytes() == before
    other = ROWS.replace("P01;31", "P01;32").replace("P02", "P03").replace(";fine", ";glad")
    with pytest.raises(MergeError, match="survey_age: 31 before, 32 now") as refused:
        merged_into(root, other)
    for what in ("New columns: survey_glad", "gone: survey_fine", "New sessions: sub-P03"):
        assert what in refused.value.what
    assert log.read_bytes() == before
    merged_into(root, other, replace=True)
    people = of_people(root)
    assert people["P01"]["survey_age"] == 32
    assert people["P02"]["survey_age"] is None, "the file has nothing of them any more"
    assert people["P03"]["survey_glad"] is False
    assert log.read_bytes().startswith(before), "what was there before is kept"
    assert not verified_problems(root)


def test_two_surveys_stand_beside_each_other(root: Path) -> None:
    merged_into(root)
    made = prepared(root, "pid,age\nP01,40\n", survey="later")
    merge(made, root / "surveyed")
    people = load_tables(root).participants
    assert list(people["survey_age"])[:1] == [31]
    assert list(people["later_age"])[:1] == [40]
    with pytest.raises(MergeError, match="survey 'later' already has a column later_age"):
        prepared(root, "pid,later_age\nP01,40\n", survey="third", own_names=True)
    with pytest.raises(MergeError, match="table of participants already has a column included"):
        prepared(root, "pid,included\nP01,40\n", own_names=True)


def test_who_withdrew_is_refused_and_removed(root: Path, tmp_path: Path) -> None:
    merged_into(root)
    (first,) = (root / "surveyed").glob("sub-P01*")
    withdraw(first, tmp_path / "private", delete=True)
    log = (root / "surveyed" / "merged.jsonl").read_text()
    assert "P01" not in log
    assert "P02" in log
    with pytest.raises(MergeError, match="P01 withdrew from the study"):
        prepared(root)
    assert prepared(root, leave_out=["withdrawn"]).left[0].kind == "withdrawn"
    assert not verified_problems(root)


def test_a_deidentified_bundle_has_what_may_be_shared(root: Path, tmp_path: Path) -> None:
    merged_into(root, share=["score"])
    own = export([root], tmp_path / "own")
    table = pd.read_csv(own / "phenotype" / "merged_survey.tsv", sep="\t", index_col=0)
    assert table.loc["sub-P01", "ses_1_survey_how_was_it"] == "good"
    described = json.loads((own / "phenotype" / "merged_survey.json").read_text())
    assert described["ses_1_survey_score"]["Description"] == "score"
    assert described["MeasurementToolMetadata"]["File"] == "answers.csv"
    given = export([root], tmp_path / "given", deidentify=True, private=tmp_path / "private")
    table = pd.read_csv(given / "phenotype" / "merged_survey.tsv", sep="\t", index_col=0)
    assert list(table) == ["ses_1_survey_score"]
    for file in given.rglob("*"):
        if file.is_file():
            assert b"answers.csv" not in file.read_bytes()
    for bundle in (own, given):
        assert verify(bundle).ok
        columns = load_tables(bundle).columns["participants"]
        assert [c.kind for c in columns if c.name == "survey_score"] == ["number"]
    assert "survey_age" not in load_tables(given).participants
    first = next(iter_records(given))
    assert [each.answers for each in first.merged] == [{"survey_score": 3.5}]


def test_a_changed_answer_is_noticed(root: Path) -> None:
    merged_into(root)
    log = root / "surveyed" / "merged.jsonl"
    log.write_text(log.read_text().replace('"survey_age": 31', '"survey_age": 13'))
    assert verified_problems(root)
    log.write_text(log.read_text() + "{\n")
    with pytest.raises(RecordError, match=r"merged.jsonl, line 3: it is damaged"):
        of_study(root / "surveyed")


def test_a_workbook_brings_its_dictionary(root: Path, tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for row in (["pid", "mood", "born"], ["P01", 2, "007"], ["P02", 1, "1990"], ["P03", None, ""]):
        sheet.append(row)
    variables = book.create_sheet("Variables")
    variables.append(["variable", "label"])
    variables.append(["mood", "How do you feel?"])
    values = book.create_sheet("Values")
    values.append(["variable", "value", "stands for"])
    for number, text in ((1, "bad"), (2, "good")):
        values.append(["mood", number, text])
    book.save(tmp_path / "answers.xlsx")
    made = prepare(tmp_path / "answers.xlsx", root / "surveyed", "pid")
    mood, born = made.columns
    assert (mood.kind, mood.label, mood.values) == (
        "integer",
        "How do you feel?",
        {"1": "bad", "2": "good"},
    )
    assert born.kind == "text", "a number does not begin with zeros"
    merge(made, root / "surveyed")
    data_files.write(load_tables(root), tmp_path, ["sav"])
    _, meta = pyreadstat.read_sav(tmp_path / "wide.sav")
    assert meta.column_names_to_labels["survey_mood"] == "How do you feel?"
    assert meta.variable_value_labels["survey_mood"] == {1.0: "bad", 2.0: "good"}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([["pid", "a"], ["P01", "=1+1"]], "has a formula"),
        ([["pid"], ["P01", 3]], "outside the named columns"),
    ],
)
def test_a_workbook_that_says_too_little_is_refused(
    root: Path, tmp_path: Path, cells: list[list[object]], told: str
) -> None:
    book = Workbook()
    assert book.active is not None
    for row in cells:
        book.active.append(row)
    book.save(tmp_path / "answers.xlsx")
    with pytest.raises(MergeError, match=told):
        prepare(tmp_path / "answers.xlsx", root / "surveyed", "pid")


def written_sav(path: Path, **columns: list[object]) -> Path:
    pyreadstat.write_sav(
        pd.DataFrame(columns),
        path,
        column_labels={"mood": "How do you feel?", "sex": ""},
        variable_value_labels={
            "mood": {1: "bad", 2: "good", -9: "refused"},
            "sex": {"f": "female"},
        },
        missing_ranges={"mood": [-9, {"lo": 90, "hi": 99}], "sex": ["x"]},
    )
    return path


def test_a_file_of_spss_brings_labels_and_leaves_missing_values_out(
    root: Path, tmp_path: Path
) -> None:
    path = written_sav(
        tmp_path / "answers.sav",
        pid=["P01", "P02", "P03"],
        mood=[2, -9, 95],
        sex=["f", "x", ""],
        rate=[0.25, None, 3.0],
        when=[datetime.fromisoformat("2026-03-01T09:30:00"), None, None],
        none=[None, None, None],
    )
    made = prepare(path, root / "surveyed", "pid")
    columns = {column.header: column for column in made.columns}
    assert {name: column.kind for name, column in columns.items()} == {
        "mood": "integer", "sex": "text", "rate": "number", "when": "text", "none": "text",
    }  # fmt: skip
    assert columns["mood"].label == "How do you feel?"
    assert columns["mood"].values == {"1": "bad", "2": "good", "-9": "refused"}
    assert columns["sex"].values == {"f": "female"}
    answers = {each.row: each.answers for each in made.given.values()}
    assert answers[1] == {
        "survey_mood": 2, "survey_sex": "f", "survey_rate": 0.25,
        "survey_when": "2026-03-01T09:30:00", "survey_none": None,
    }  # fmt: skip
    assert [answers[row]["survey_mood"] for row in (2, 3)] == [None, None]
    assert [answers[row]["survey_sex"] for row in (2, 3)] == [None, None]
    merge(made, root / "surveyed")
    assert not prepare(path, root / "surveyed", "pid").changes


def test_a_file_of_spss_that_cannot_be_read_is_refused(root: Path, tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"pid": pd.Series([], dtype=float)}), tmp_path / "n.sav")
    whole = written_sav(tmp_path / "answers.sav", pid=["P01"] * 99, mood=[1] * 99, sex=["f"] * 99)
    content = whole.read_bytes()
    for name, damaged, told in (
        ("csv.sav", b"pid,a\nP01,1\n", "not a readable SPSS file"),
        ("cut.sav", content[: len(content) // 2], "not a readable SPSS file"),
        ("empty.sav", b"", "not a readable SPSS file"),
        ("none.sav", (tmp_path / "n.sav").read_bytes(), "it has no rows"),
    ):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(MergeError, match=told) as refused:
            prepare(tmp_path / name, root / "surveyed", "pid")
        assert refused.value.safe == "Nothing was merged."
        assert refused.value.todo


def test_the_questions_of_qualtrics_are_labels(root: Path) -> None:
    ids = '"{""ImportId"":""pid""}","{""ImportId"":""QID1""}"'
    made = prepared(root, f"pid,Q1\nid,How old are you?\n{ids}\nP01,31\n")
    (column,) = made.columns
    assert (column.kind, column.label) == ("integer", "How old are you?")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pid,a\nP01,1,2\n", "line 2 has 3 cells"),
        ('pid,a\nP01,"1\n', "quoted cell that is never closed"),
        ("pid,a,A\nP01,1,2\n", "would both be called survey_A"),
        ("", "it is empty"),
        ("id,a\nP01,1\n", "the file has no column 'pid'"),
    ],
)
def test_a_file_that_is_no_table_is_refused(root: Path, text: str, told: str) -> None:
    with pytest.raises(LabappError, match=told):
        prepared(root, text)


def test_sessions_are_told_apart_by_a_column(tmp_path: Path) -> None:
    study = tmp_path / "surveyed.yaml"
    study.write_text(STUDY)
    around = surroundings(tmp_path)
    root = tmp_path / "data"
    for session in ("1", "2"):
        simulate(load(study), "P01", around, session=session, data=root, strategy="random")
    with pytest.raises(MergeError, match="P01 have several sessions"):
        prepared(root, "pid,s,a\nP01,1,5\n")
    made = prepared(root, "pid,s,a\nP01,1,5\nP01,2,6\n", session="s")
    answers = {folder.split("_")[1]: dict(each.answers) for folder, each in made.given.items()}
    assert answers == {"ses-1": {"survey_a": 5}, "ses-2": {"survey_a": 6}}


@pytest.fixture
def command(root: Path) -> list[str]:
    file = root.parent / "answers.csv"
    file.write_text(ROWS)
    return ["participants", "merge", str(file), "--by", "pid", "--data", str(root)]


def test_the_command_says_what_it_did(root: Path, command: list[str]) -> None:
    told = CliRunner().invoke(app, [*command, "--who", "Ada", "--missing", "27"])
    assert told.exit_code == 0, told.output
    assert "Merged 4 columns" in told.output
    (first,) = (root / "surveyed").glob("sub-P02*")
    (merged,) = open_record(first).merged
    assert (merged.by, merged.answers["survey_age"]) == ("Ada", None)
    again = CliRunner().invoke(app, [*command, "--missing", "27", "--json"])
    assert json.loads(again.output)["changed"] is False
    differs = CliRunner().invoke(app, command)
    assert isinstance(differs.exception, MergeError)


def test_the_study_is_named_where_there_are_several(root: Path) -> None:
    assert study_in(root, "") == root / "surveyed"
    shutil.copytree(root / "surveyed", root / "other")
    with pytest.raises(UsageError, match="several studies"):
        study_in(root, "")
    assert study_in(root, "other") == root / "other"
