"""The file of snapshots: what is added to it, and what another process reads of it."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from labapp.analysis import snapshots
from labapp.analysis.analyze import analyze
from labapp.analysis.folding.folded import SCHEMA, pack_table
from labapp.analysis.snapshots import SnapshotFile
from labapp.base import leftovers
from labapp.base.errors import DataFolderError
from labapp.base.parallel.processes import processes
from tests.analysis.folding.test_workers import small

TABLES = [
    pa.Table.from_pylist(
        [
            {"study": "s", "participant": f"P{n}", "trial": row, "z": [n / 7, row / 3], "t_s": 0.1}
            for row in range(1 + n)
        ],
        SCHEMA,
    )
    for n in range(5)
]


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SnapshotFile:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = SnapshotFile()
    parts = [made.add(pack_table(table, "lz4")) for table in TABLES]
    assert parts == [(n, 1 + n) for n in range(5)]
    assert made.add(b"") == (None, 0)
    return made


def test_what_was_added_is_read_in_any_order(filled: SnapshotFile) -> None:
    back = list(filled.tables([4, 2, 0]))
    assert back == [TABLES[4], TABLES[2], TABLES[0]]
    assert [table.schema for table in back] == [SCHEMA] * 3
    assert list(filled.tables([])) == []


def test_another_process_reads_the_same(filled: SnapshotFile) -> None:
    with processes(1) as pool:
        assert pool.submit(_read, filled).result() == TABLES


def _read(file: SnapshotFile) -> list[pa.Table]:
    return list(file.tables(range(5)))


def test_a_reader_that_ends_leaves_the_file(filled: SnapshotFile) -> None:
    copy = pickle.loads(pickle.dumps(filled))
    assert list(copy.tables([3])) == [TABLES[3]]
    del copy
    gc.collect()
    assert list(filled.tables([3])) == [TABLES[3]], "the reader's end is not the file's"


def test_nothing_is_left_of_a_file_that_nobody_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = SnapshotFile()
    assert list(made.tables([])) == []
    assert not list(tmp_path.iterdir())
    made.add(pack_table(TABLES[1]))
    assert [path.name[:13] for path in tmp_path.iterdir()] == ["labapp-store-"]
    del made
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_analysis_left_of_peoples_data_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    theirs = leftovers.prefix("store").replace(f"-{os.getpid()}-", f"-{ended.pid}-")
    left = tmp_path / f"{theirs}abc" / "snapshots.parquet"
    left.parent.mkdir()
    left.write_bytes(b"what somebody said")
    SnapshotFile().add(pack_table(TABLES[0]))
    assert not left.parent.exists()


def test_without_room_it_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(DataFolderError, match=f"{tmp_path / 'none'}.*No such file") as refused:
        SnapshotFile().add(pack_table(TABLES[0]))
    assert "TMPDIR" in refused.value.todo


def _who(given: object, csv: Path, parquet: Path) -> None:
    csv.write_text(str(os.getpid()))


def _full(given: object, csv: Path, parquet: Path) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("many", "workers", "here"), [(99_999, None, 1), (0, 1, 1), (0, None, 0)])
def test_another_process_writes_many_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int, workers: int | None, here: bool
) -> None:
    session = small(tmp_path / "data", "P01")
    monkeypatch.setattr(snapshots, "MANY", many)
    monkeypatch.setattr("labapp.analysis.analyze.write_snapshots", _who)
    # What takes longest is not the point.
    monkeypatch.setattr("labapp.analysis.analyze.report", lambda *_, **__: "")
    monkeypatch.setattr("labapp.analysis.analyze._draw", lambda *_: None)
    analyze([session], tmp_path / "out", workers=workers)
    who = int((tmp_path / "out" / "snapshots.csv").read_text())
    assert (who == os.getpid()) == here


def test_what_it_writes_is_the_same_and_its_errors_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [small(tmp_path / "data", participant) for participant in ("P01", "P02")]
    analyze(sessions, tmp_path / "few")
    monkeypatch.setattr(snapshots, "MANY", 0)
    analyze(sessions, tmp_path / "many")
    for name in ("snapshots.csv", "snapshots.parquet"):
        few, many = ((tmp_path / where / name).read_bytes() for where in ("few", "many"))
        assert few == many
    monkeypatch.setattr("labapp.analysis.analyze.write_snapshots", _full)
    with pytest.raises(DataFolderError, match="No space left"):
        analyze(sessions, tmp_path / "full")
    assert not (tmp_path / "full").exists()
