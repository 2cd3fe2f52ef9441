"""Bytes put away in memory or in a file, and what another process reads of them."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from labapp import leftovers
from labapp.analysis import store
from labapp.analysis.analyze import analyze
from labapp.analysis.store import Place, Store
from labapp.computing.processes import processes
from labapp.errors import DataFolderError
from tests.analysis.folding.test_workers import small

CONTENTS = [bytes([n]) * 90 for n in range(5)]


@pytest.fixture(params=[1_000, 100], ids=["in memory", "in a file"])
def filled(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Store, list[Place]]:
    monkeypatch.setattr(store, "IN_MEMORY", request.param)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Store()
    return made, [made.add(content) for content in CONTENTS]


def test_what_was_put_away_is_read_in_any_order(filled: tuple[Store, list[Place]]) -> None:
    made, places = filled
    assert [place.read() for place in reversed(places)] == CONTENTS[::-1]
    more = made.add(b"more")
    assert (more.read(), places[0].read()) == (b"more", CONTENTS[0])


def test_another_process_reads_the_same(filled: tuple[Store, list[Place]]) -> None:
    _, places = filled
    with processes(1) as pool:
        assert pool.submit(_read, places).result() == CONTENTS


def _read(places: list[Place]) -> list[bytes]:
    return [place.read() for place in places]


def test_a_reader_that_ends_leaves_the_file(
    filled: tuple[Store, list[Place]], tmp_path: Path
) -> None:
    made, places = filled
    copy = pickle.loads(pickle.dumps(places[3]))
    assert (copy.read(), len(list(tmp_path.iterdir()))) == (CONTENTS[3], int(made.in_file))
    del copy
    gc.collect()
    assert places[3].read() == CONTENTS[3], "the reader's end is not the store's"


def test_the_file_goes_with_the_store_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Store()
    made.add(b"something")
    assert [path.name[:13] for path in tmp_path.iterdir()] == ["labapp-store-"]
    del made
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_analysis_left_of_peoples_data_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    theirs = leftovers.prefix("store").replace(f"-{os.getpid()}-", f"-{ended.pid}-")
    left = tmp_path / f"{theirs}abc" / "bytes"
    left.parent.mkdir()
    left.write_bytes(b"what somebody said")
    made = Store()
    made.add(b"something")
    assert not left.parent.exists()
    assert made.in_file


def test_without_room_it_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "IN_MEMORY", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(DataFolderError, match=f"{tmp_path / 'none'}.*No such file") as refused:
        Store().add(b"something")
    assert "TMPDIR" in refused.value.todo


def _who(given: object, csv: Path, parquet: Path) -> None:
    csv.write_text(str(os.getpid()))


def _full(given: object, csv: Path, parquet: Path) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("memory", "workers", "here"), [(99, None, 1), (0, 1, 1), (0, None, 0)])
def test_another_process_writes_many_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, workers: int | None, here: bool
) -> None:
    session = small(tmp_path / "data", "P01")
    monkeypatch.setattr(store, "IN_MEMORY", memory * 1024)
    monkeypatch.setattr("labapp.analysis.analyze.write_snapshots", _who)
    analyze([session], tmp_path / "out", workers=workers)
    who = int((tmp_path / "out" / "snapshots.csv").read_text())
    assert (who == os.getpid()) == here


def test_what_it_writes_is_the_same_and_its_errors_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [small(tmp_path / "data", participant) for participant in ("P01", "P02")]
    analyze(sessions, tmp_path / "few")
    monkeypatch.setattr(store, "IN_MEMORY", 0)
    analyze(sessions, tmp_path / "many")
    for name in ("snapshots.csv", "snapshots.parquet"):
        few, many = ((tmp_path / where / name).read_bytes() for where in ("few", "many"))
        assert few == many
    monkeypatch.setattr("labapp.analysis.analyze.write_snapshots", _full)
    with pytest.raises(DataFolderError, match="No space left"):
        analyze(sessions, tmp_path / "full")
    assert not (tmp_path / "full").exists()
