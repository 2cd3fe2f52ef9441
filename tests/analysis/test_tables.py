"""Loading sessions and bundles into tables, and writing them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.analyze import DICTIONARY, derived_columns, file_names, write
from labapp.analysis.columns import table_columns
from labapp.analysis.tables import frames
from labapp.base.errors import DataFolderError, ExportExists, RecordError
from labapp.record.events.lifecycle import NoteAdded, SessionCompleted
from labapp.session.bids.export import export
from tests.analysis.sessions import begin_trial, builder, end_trial
from tests.helpers.golden import golden_builder
from tests.helpers.journals import golden_session


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
    with pytest.raises(DataFolderError, match="cannot be written"):
        write(tables, place / "below")


def test_a_changed_journal_is_not_analysed(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / golden.name
    shutil.copytree(golden, copy)
    with closing(sqlite3.connect(copy / "journal.sqlite")) as connection, connection:
        connection.execute("UPDATE events SET t_ns = t_ns + 1 WHERE kind = 'trial.ended'")
    with pytest.raises(RecordError, match="not what was written"):
        load(copy)
