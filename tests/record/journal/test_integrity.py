"""Whatever is changed in a journal is found, and the place is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labapp.base.errors import RecordError
from labapp.record.events import GENESIS
from labapp.record.journal.layout import COLUMNS, JOURNAL
from labapp.record.journal.read import Row, check_chain, check_journal, check_rows, read_rows
from tests.helpers.journals import golden_session
from tests.helpers.nightly import examples


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return read_rows(golden_session(tmp_path_factory.mktemp("golden")))


def test_the_golden_journal_is_whole(rows: list[Row], tmp_path: Path) -> None:
    assert check_rows(rows, "journal") == []
    assert check_chain(rows) is None
    assert check_journal(golden_session(tmp_path)) == []
    assert check_journal(golden_session(tmp_path / "killed", wal=True)) == []


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_cell_is_named(rows: list[Row], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.sampled_from(Row._fields[: len(COLUMNS)]))
    old = getattr(rows[index], column)
    if isinstance(old, str):
        at = data.draw(st.integers(0, len(old) - 1))
        new: object = old[:at] + chr(ord(old[at]) ^ 1) + old[at + 1 :]
    else:
        new = (old or 0) + data.draw(st.sampled_from((-1, 1, 2**20)))
    damaged = [*rows]
    damaged[index] = rows[index]._replace(**{column: new})
    problems = check_rows(damaged, "j")
    assert any(f"event {rows[index].seq}" in p.place or column == "seq" for p in problems), problems
    assert check_chain(damaged) is not None


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_removed_row_is_a_gap(rows: list[Row], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 2))
    problems = check_rows(rows[:index] + rows[index + 1 :], "j")
    assert any(f"event {index + 1} is missing" in p.what for p in problems)


def test_several_missing_rows_are_one_gap(rows: list[Row]) -> None:
    problems = check_rows(rows[:40] + rows[50:], "j")
    assert [str(p) for p in problems] == [
        "j, event 51: a gap: events 41 to 50 are missing before it"
    ]


def test_swapped_rows_are_out_of_order(rows: list[Row]) -> None:
    swapped = [*rows[:9], rows[10], rows[9], *rows[11:]]
    assert any("out of order" in p.what for p in check_rows(swapped, "j"))


def test_a_rewritten_chain_still_shows_running_back_and_strange_segments(rows: list[Row]) -> None:
    """Somebody who makes the hashes anew cannot make time run back unseen."""
    changed = [*rows]
    changed[100] = changed[100]._replace(t_ns=5)
    changed[150] = changed[150]._replace(segment=7)
    previous = GENESIS
    for index, row in enumerate(changed):
        changed[index] = row._replace(hash=row.chained(previous))
        previous = changed[index].hash
    told = [str(p) for p in check_rows(changed, "j")]
    assert any("event 101: its time 5 ns lies before" in t for t in told)
    assert any("event 151: segment 7 follows segment 1" in t for t in told)


def test_one_changed_row_in_the_file_is_one_problem(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    connection = sqlite3.connect(folder / JOURNAL)
    with connection:
        connection.execute('UPDATE events SET payload = \'{"text":"other"}\' WHERE seq = 111')
    connection.close()
    told = [str(problem) for problem in check_journal(folder)]
    assert (
        f"{JOURNAL}, event 111: the hash chain is broken: this row (note.added) was changed" in told
    )
    assert all("event 111" in line for line in told)


def test_a_cut_off_file_is_damage(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(content[: len(content) // 2])
    try:
        problems = [str(problem) for problem in check_journal(folder)]
    except RecordError as error:
        problems = [error.what]
    assert problems


def test_no_rows() -> None:
    assert [str(p) for p in check_rows([], "j")] == ["j: it holds no event"]
