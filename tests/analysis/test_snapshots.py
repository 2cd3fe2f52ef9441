"""The large table: kept packed, read when asked for, written without being unpacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis import Tables, load
from labapp.analysis import snapshots as packed
from labapp.analysis.analyze import stage_output
from labapp.analysis.snapshots import SnapshotFile, Snapshots, get_attached
from labapp.analysis.writing_snapshots import as_text, write_snapshots
from tests.analysis.folding.test_workers import small
from tests.helpers.journals import golden_session
from tests.helpers.sample import examples

WHO = ("golden", "P01", "1")


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return load([golden_session(tmp_path / "data"), small(tmp_path / "data", "P02")])


def packing(tables: Tables) -> Snapshots:
    found = get_attached(tables)
    assert isinstance(found, Snapshots)
    return found


def test_one_session_is_that_part_of_all(tables: Tables) -> None:
    one = tables.snapshots_of(*WHO)
    whole = tables.snapshots
    chosen = whole[whole["participant"] == "P01"]
    assert 0 < len(one) < len(whole)
    pd.testing.assert_frame_equal(one, chosen.reset_index(drop=True))
    assert tables.snapshots_of("golden", "P09", "1").empty


def test_studies_and_inclusion_choose_packed_sessions(tables: Tables) -> None:
    assert len(packing(tables.of_study("golden")).sessions) == 2
    assert len(packing(tables.of_study("another")).sessions) == 0
    counted = tables.included()
    assert {who[1] for who, _ in packing(counted).sessions} == set(counted.trials["participant"])


def test_a_frame_may_be_given_instead(tables: Tables) -> None:
    frames = tables.by_name()
    given = Tables.of(frames, frames["snapshots"])
    pd.testing.assert_frame_equal(given.snapshots, tables.snapshots)
    assert len(given.snapshots_of(*WHO)) == len(tables.snapshots_of(*WHO))
    assert len(given.of_study("another").snapshots) == 0


@pytest.mark.parametrize("group", [1, 7, 100_000])
def test_files_are_as_pandas_writes_them(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int
) -> None:
    monkeypatch.setattr(packed, "GROUP", group)
    write_snapshots(get_attached(tables), tmp_path / "a.csv", tmp_path / "a.parquet")
    plain = tables.snapshots
    plain.assign(z=[str(list(z)) for z in plain["z"]]).to_csv(tmp_path / "b.csv", index=False)
    plain.to_parquet(tmp_path / "b.parquet", index=False)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    one, other = (pd.read_parquet(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    pd.testing.assert_frame_equal(one, other)


def test_a_frame_is_written_likewise(tables: Tables, tmp_path: Path) -> None:
    write_snapshots(get_attached(tables), tmp_path / "a.csv", tmp_path / "a.parquet")
    write_snapshots(tables.snapshots, tmp_path / "b.csv", tmp_path / "b.parquet")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_no_snapshot_at_all_is_a_file_with_a_head(tmp_path: Path) -> None:
    write_snapshots(Snapshots([], SnapshotFile()), tmp_path / "a.csv", tmp_path / "a.parquet")
    assert (tmp_path / "a.csv").read_text().startswith("study,participant,session,")
    assert pd.read_parquet(tmp_path / "a.parquet").empty


def test_nothing_is_overwritten(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(OSError):
        write_snapshots(get_attached(tables), tmp_path / "a.csv", tmp_path / "a.parquet")
    assert (tmp_path / "a.csv").read_text() == "mine"


@examples(20)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=200))
def test_numbers_are_as_python_writes_them(numbers: Sequence[float]) -> None:
    batch = pa.record_batch({"x": numbers, "z": [[x, x] for x in numbers]})
    wanted = "".join(f'{x!r},"[{x!r}, {x!r}]"\n' for x in numbers)
    # A part of a batch, too.
    assert as_text(batch.slice(1)) == "".join(wanted.splitlines(True)[1:]).encode()
    assert as_text(batch) == wanted.encode()


def test_what_is_staged_appears_at_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with stage_output(out, "report.html") as folder:
        (folder / "report.html").write_text("whole")
        (folder / "figures").mkdir()
        (folder / "figures" / "one.svg").write_text("drawn")
        assert [path.name for path in out.iterdir()] == [folder.name]
    assert sorted(path.name for path in out.iterdir()) == ["figures", "report.html"]


def _written(out: Path, meanwhile: Callable[[], object]) -> None:
    with stage_output(out, "report.html") as folder:
        (folder / "report.html").write_text("ours")
        if isinstance(said := meanwhile(), BaseException):
            raise said


def test_what_was_broken_off_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine").write_text("mine")
    for out in (tmp_path / "new", tmp_path / "old"):
        with pytest.raises(KeyboardInterrupt):
            _written(out, KeyboardInterrupt)
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["mine"]


def test_what_somebody_made_meanwhile_is_kept(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        _written(tmp_path, lambda: (tmp_path / "report.html").write_text("theirs"))
    assert (tmp_path / "report.html").read_text() == "theirs"
