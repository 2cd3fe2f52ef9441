"""Loading sessions and bundles into tables, and writing them; what lies beside a journal."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.analyze import DICTIONARY, derived_columns, dictionary, file_names, write
from labapp.analysis.answered import read_bundled_cards, with_replicates
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import PREFIX, factor_column, read_declaration
from labapp.analysis.tables import frames
from labapp.base import resources
from labapp.base.errors import DataFolderError, ExportExists, RecordError
from labapp.models.representations import card
from labapp.record.events.lifecycle import (
    NoteAdded,
    PartEnded,
    PartStarted,
    SessionCompleted,
    SessionPlanned,
)
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.design import Declared
from labapp.study.schema import Study
from tests.analysis.sessions import begin_trial, builder, end_trial, stage_row
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder, golden_session


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_session(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def bundle(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export([golden], tmp_path_factory.mktemp("bundles") / "bundle")


@pytest.fixture(scope="module")
def tables(golden: Path) -> Tables:
    """Of the golden session; for tests that only look at them."""
    return load(golden)


def small(root: Path, participant: str, study: str = "golden") -> Path:
    made = builder(participant=participant, study=study)
    begin_trial(made, 1)
    end_trial(made, 3)
    made.at(4, SessionCompleted())
    return made.write(root)


def test_unknown_names_of_the_package_are_refused() -> None:
    import labapp.analysis

    with pytest.raises(AttributeError, match="nothing"):
        _ = labapp.analysis.nothing


def test_a_bundle_says_what_its_session_says(tables: Tables, bundle: Path) -> None:
    from_bundle = load([str(bundle)])
    for name, frame in tables.by_name().items():
        other = from_bundle.by_name()[name]
        if name == "participants":
            frame, other = frame.drop(columns="source"), other.drop(columns="source")
        pd.testing.assert_frame_equal(frame, other)
    assert from_bundle.participants["source"].item().endswith("(bundle)")


def test_several_sessions_come_by_study_and_participant(golden: Path, tmp_path: Path) -> None:
    second = small(tmp_path, "P02")
    other = small(tmp_path, "P01", study="another")
    tables = load([second, golden, other])
    assert list(tables.participants["study"]) == ["another", "golden", "golden"]
    assert list(tables.participants["participant"]) == ["P01", "P01", "P02"]
    assert tables.remarks == ()
    assert set(tables.of_study("another").trials["participant"]) == {"P01"}


def test_a_folder_of_sessions_is_all_of_them(tmp_path: Path) -> None:
    for label in ("P01", "P02"):
        small(tmp_path, label)
    assert len(load(tmp_path / "golden").participants) == 2
    assert len(load(tmp_path).participants) == 2


def test_a_folder_of_bundles_is_all_of_them(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    for label in ("P01", "P02"):
        export([small(tmp_path / "data", label)], exports / label, zip=label == "P02")
    (exports / "notes.txt").write_text("not ours")
    assert load(exports).participants["participant"].tolist() == ["P01", "P02"]
    assert not load(exports).remarks


def test_a_session_given_twice_is_read_once_with_a_note(
    golden: Path, tables: Tables, bundle: Path
) -> None:
    both = load([bundle, golden])
    assert len(both.participants) == 1
    (note,) = both.remarks
    assert "given twice" in note
    assert str(golden.parent) not in note, "the report says nothing of the folders of who made it"
    assert str(bundle.parent) not in note
    assert len(both.trials) == len(tables.trials)


def test_of_a_deidentified_copy_and_the_session_the_session_is_read(
    golden: Path, tables: Tables, tmp_path: Path
) -> None:
    copy = export([golden], tmp_path / "copy", deidentify=True)
    alone = load(copy)
    assert alone.participants["deidentified"].item()
    assert alone.stages["error_auc_sum"].tolist() == tables.stages["error_auc_sum"].tolist()
    assert "slant" not in alone.labels["text"].tolist()
    both = load([copy, golden])
    assert not both.participants["deidentified"].item()
    assert len(both.remarks) == 1


def test_the_longer_of_two_states_of_a_session_is_read(tmp_path: Path) -> None:
    early = golden_builder()
    early.rows = [row for row in early.rows if row[0] <= 60 * 10**9]
    early_folder = early.write(tmp_path / "early")
    late_folder = golden_session(tmp_path / "late")
    for order in ([early_folder, late_folder], [late_folder, early_folder]):
        tables = load(order)
        assert tables.participants["outcome"].tolist() == ["completed"]
        (note,) = tables.remarks
        assert "events earlier" in note
        assert f"early/golden/{early_folder.name} stops" in note, "names alike are told apart"
        assert str(tmp_path) not in note


def test_two_sessions_with_the_same_labels_are_refused(golden: Path, tmp_path: Path) -> None:
    changed = golden_builder()
    changed.at(1.2, NoteAdded("another one", 0))
    other = changed.write(tmp_path)
    with pytest.raises(RecordError, match=r"different sessions.*participant P01, session 1"):
        load([golden, other])


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        load(tmp_path / "missing")
    with pytest.raises(RecordError):
        load(tmp_path)


def test_progress_says_what_is_read(golden: Path, tmp_path: Path) -> None:
    said: list[tuple[float, str]] = []
    load([golden, small(tmp_path, "P02")], lambda share, what: said.append((share, what)))
    assert [share for share, _ in said] == [0.0, 0.5]
    assert "sub-P02" in said[1][1]


def test_tables_without_rows_have_their_columns_and_types() -> None:
    empty = frames({name: [] for name in table_columns()})
    for name, frame in empty.items():
        assert list(frame.columns) == [column.name for column in table_columns()[name]]
        assert frame.empty
    assert empty["trials"]["duration_s"].dtype == "float64"
    assert empty["trials"]["trial"].dtype == "Int64"


def test_every_column_is_described_once() -> None:
    for columns in table_columns().values():
        names = [column.name for column in columns]
        assert len(names) == len(set(names))
        assert all(column.meaning for column in columns)


def test_the_columns_that_scripts_rely_on() -> None:
    assert {column.name for column in table_columns()["trials"]} >= {
        "study",
        "participant",
        "session",
        "stage",
        "task",
        "model",
        "trial",
        "attempt",
        "outcome",
        "duration_s",
        "active_s",
        "slide_distance",
        "error_auc_sum",
        "error_auc_mean",
        "alignment_final",
    }


@pytest.fixture(scope="module")
def written(tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of the tables of a session in a folder that was not there."""
    return write(tables, tmp_path_factory.mktemp("written") / "new" / "out")


def test_parquet_gives_the_tables_back(tables: Tables, written: list[Path]) -> None:
    assert {path.name for path in written} == set(file_names())
    for name, frame in tables.by_name().items():
        back = pd.read_parquet(written[0].parent / f"{name}.parquet")
        assert list(back.columns) == list(frame.columns)
        assert len(back) == len(frame)
        assert back.notna().sum().tolist() == frame.notna().sum().tolist()
    schema = pq.read_schema(written[0].parent / "trials.parquet")
    assert str(schema.field("duration_s").type) == "double"
    assert str(schema.field("trial").type) == "int64"
    assert str(schema.field("excluded").type) == "bool"
    assert str(schema.field("z_start").type).startswith("list<")


def test_csv_gives_the_numbers_back(tables: Tables, written: list[Path]) -> None:
    folder = written[0].parent
    back = pd.read_csv(folder / "trials.csv")
    assert back["error_auc_sum"].tolist() == tables.trials["error_auc_sum"].tolist()
    assert [json.loads(cell) for cell in back["z_start"]] == tables.trials["z_start"].tolist()
    because = tables.trials["excluded_because"]
    assert back["excluded_because"].isna().tolist() == because.isna().tolist()
    assert back["excluded_because"].dropna().tolist() == because.dropna().tolist()
    assert because.isna().any(), "an empty cell is a missing value, not a text"
    assert b"\r" not in (folder / "trials.csv").read_bytes()
    dictionary = pd.read_csv(folder / DICTIONARY)
    assert len(dictionary) == sum(map(len, {**table_columns(), **derived_columns()}.values()))


def test_tables_without_rows_are_written_and_read_back(tmp_path: Path) -> None:
    tables = load(builder().write(tmp_path / "data"))
    write(tables, tmp_path / "out")
    assert list(pd.read_csv(tmp_path / "out" / "labels.csv").columns) == list(tables.labels)
    assert list(pd.read_parquet(tmp_path / "out" / "stages.parquet")) == list(tables.stages)


def test_nothing_is_overwritten(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(ExportExists, match=r"labels\.csv"):
        write(tables, tmp_path)
    assert (tmp_path / "labels.csv").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_a_file_in_the_place_of_the_folder(tables: Tables, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    with pytest.raises(ExportExists, match="is a file"):
        write(tables, place)
    with pytest.raises(DataFolderError, match="could not be written"):
        write(tables, place / "below")


def test_a_changed_journal_is_not_analysed(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / golden.name
    shutil.copytree(golden, copy)
    with closing(sqlite3.connect(copy / "journal.sqlite")) as connection, connection:
        connection.execute("UPDATE events SET t_ns = t_ns + 1 WHERE kind = 'trial.ended'")
    with pytest.raises(RecordError, match="was changed or damaged after it was written"):
        load(copy)


STUDY = """
id: own
title: Own
version: 1
unnamed_texts: shipped
seed: 8
{replicates}
flow:
  - stages: {{task: reconstruction, models: [lab/curves], trials: 1, skip: always}}
"""

REPEATS = 'replicates: {paper: "000", study: synthetic-crowd, run: crowd}'


def own_models(folder: Path) -> Path:
    """A folder of models with one of a lab's own that stands for a published one."""
    models = folder / "models"
    shutil.copytree(resources.models() / "sinelines/ae", models / "lab/curves")
    file = models / "lab/curves/model.yaml"
    file.write_text(file.read_text("utf-8").replace("id: sinelines/ae", "id: lab/curves"), "utf-8")
    return models


def simulated(folder: Path, replicates: str) -> Path:
    (folder / "own.yaml").write_text(STUDY.format(replicates=replicates), "utf-8")
    (session,) = simulate_study(str(folder / "own.yaml"), 1, "random", folder / "data", 2)
    return session


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = own_models(tmp_path)
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


@pytest.fixture(scope="module")
def repeating(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A session with the model, of a study that repeats a published one, and its bundle."""
    folder = tmp_path_factory.mktemp("repeating")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABAPP_MODELS", str(own_models(folder)))
        session = simulated(folder, REPEATS)
        return session, export([session], folder / "bundle")


def test_a_bundle_is_analysed_where_its_model_is_not_installed(
    repeating: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bundle = repeating
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(card, "_BUNDLED", {})
    assert (card.dataset_of("lab/curves"), card.find_published_name("lab/curves", "000")) == (
        card.UNKNOWN, "",
    )  # fmt: skip
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", bundle.parent, "bundle"))
    for place in (bundle, packed):
        monkeypatch.setattr(card, "_BUNDLED", {})
        load(place)
        assert card.dataset_of("lab/curves") == "sinelines"
        assert card.find_published_name("lab/curves", "000") == "ae"
    assert list(read_bundled_cards(bundle)) == ["lab/curves"]


def test_a_model_that_is_another_one_here_than_at_the_session_is_told(
    repeating: tuple[Path, Path], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, bundle = repeating
    assert load(session).remarks == ()
    file = models / "lab/curves/model.yaml"
    file.write_text(file.read_text("utf-8").replace("\ndataset: sinelines", "\ndataset: waves"))
    for place in (session, bundle):
        (note,) = load(place).remarks
        assert note.startswith("The model lab/curves that is installed here has a different card")
        assert "than at 1 session. " in note
        assert "from the installed model" in note
    assert card.dataset_of("lab/curves") == "waves", "as the note says"
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "elsewhere"))
    assert load(bundle).remarks == (), "the bundle's card speaks"
    assert card.dataset_of("lab/curves") == "sinelines"


@pytest.mark.parametrize(("replicates", "study"), [(REPEATS, "synthetic-crowd"), ("", None)])
def test_an_older_session_repeats_what_its_study_file_says(
    replicates: str,
    study: str | None,
    repeating: tuple[Path, Path],
    models: Path,
    tmp_path: Path,
) -> None:
    session = repeating[0] if replicates else simulated(tmp_path, replicates)
    record = open_record(session)
    (event, planned), *rest = record.payloads()
    assert isinstance(planned, SessionPlanned)
    older = [(event, replace(planned, replicates={})), *rest]
    (_, read), *others = with_replicates(older, record)
    assert isinstance(read, SessionPlanned)
    assert read.replicates.get("study") == study
    assert others == rest
    assert load(session).participants["replicates_study"].dropna().tolist() == (
        [study] if study else []
    )


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
    declared = read_declaration(tables, "golden")
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
    declared = read_declaration(tables, "golden")
    assert declared.analysis.correction == "none"
    assert declared.design is not None
    assert declared.design.between["dose"] == (1, 2)
    assert declared.versions == (2, 3)
    assert declared.others == {1: ("analysis",)}
    assert "follows version 3. It differs in version 1: analysis" in declared.remark
    assert read_declaration(tables, "nobody").versions == ()


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
        assert read_declaration(load(bundle), "golden") == read_declaration(load(folder), "golden")


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
    derived = {"models", "adaptive", "interrupts"}  # what its stages list
    for name, field in Declared.model_fields.items():
        if name in derived:
            continue
        assert Study.model_fields[name].annotation == field.annotation
