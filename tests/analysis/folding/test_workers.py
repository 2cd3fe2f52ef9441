"""Folding in this process, in several and on a cluster: the same tables, the same errors."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.analyze import analyze
from labapp.analysis.folding import folded
from labapp.base.errors import RecordError
from labapp.record.events.lifecycle import SessionCompleted
from labapp.session.bids.export import export
from tests.analysis.sessions import begin_trial, builder, end_trial
from tests.helpers.clusters import local_cluster
from tests.helpers.journals import golden_session

LABELS = ("P04", "P02", "P03")


def small(root: Path, participant: str) -> Path:
    made = builder(participant=participant, study="golden")
    begin_trial(made, 1)
    end_trial(made, 3)
    made.at(4, SessionCompleted())
    return made.write(root)


def broken(folder: Path, where: Path) -> Path:
    copy = where / folder.name
    shutil.copytree(folder, copy)
    with closing(sqlite3.connect(copy / "journal.sqlite")) as connection, connection:
        connection.execute("UPDATE events SET t_ns = t_ns + 1 WHERE kind = 'trial.ended'")
    return copy


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A session, a bundle of two and a zip."""
    root = tmp_path_factory.mktemp("sessions")
    two = [small(root / "data", label) for label in LABELS[:2]]
    return [
        golden_session(root / "golden"),
        export(two, root / "two"),
        export([small(root / "data", LABELS[2])], root / "one", zip=True),
    ]


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_cluster(tmp_path_factory.mktemp("dask")) as made:
        yield made.scheduler_address


def assert_same(one: Tables, other: Tables) -> None:
    assert one.remarks == other.remarks
    for name, frame in one.by_name().items():
        pd.testing.assert_frame_equal(frame, other.by_name()[name], check_exact=True)


def test_processes_and_a_cluster_give_the_tables_of_this_process(
    sessions: list[Path], dask: str
) -> None:
    alone = load(sessions)
    assert list(alone.participants["participant"]) == ["P01", "P02", "P03", "P04"]
    assert len(alone.snapshots) > 0
    told: list[float] = []
    assert_same(alone, load(sessions, lambda share, what: told.append(share), workers=2))
    assert told == [0, 0.25, 0.5, 0.75], "progress is told in order"
    assert_same(alone, load(sessions, dask=dask))


def test_the_files_are_the_same_to_the_byte(
    sessions: list[Path], dask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tables are compared: the page and the pictures, which take longest, are not.
    monkeypatch.setattr("labapp.analysis.analyze.report", lambda *_, **__: "")
    monkeypatch.setattr("labapp.analysis.analyze._draw", lambda *_: None)
    analyze(sessions, tmp_path / "alone", workers=1)
    analyze(sessions, tmp_path / "dask", dask=dask)
    tables = [path for path in (tmp_path / "alone").iterdir() if path.suffix != ".html"]
    for path in tables:
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "dask" / path.name).read_bytes(), path.name


def test_a_broken_journal_is_the_same_clear_error_everywhere(
    sessions: list[Path], dask: str, tmp_path: Path
) -> None:
    given = [*sessions[1:], broken(sessions[0], tmp_path)]
    said = []
    for how in ({"workers": 1}, {"workers": 2}, {"dask": dask}):
        with pytest.raises(
            RecordError, match="was changed or damaged after it was written"
        ) as raised:
            load(given, **how)  # type: ignore[arg-type]
        said.append(str(raised.value))
    assert len(set(said)) == 1
    assert "labapp sessions verify" in said[0]


def test_a_session_given_twice_is_noticed_whoever_reads_it(
    sessions: list[Path], tmp_path: Path
) -> None:
    again = export([sessions[0]], tmp_path / "again")
    tables = load([*sessions, again], workers=2)
    assert len(tables.participants) == 4
    assert "given twice" in tables.remarks[0]


def test_as_many_processes_as_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded, "cores", lambda: 4)
    assert [folded.fitting(n) for n in (0, 1, 11, 24, 36, 1000)] == [1, 1, 1, 2, 3, 4]
