"""Drawn cells: covered evenly whatever becomes of the sessions, by several programs at once."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import FakeClock
from labapp.base.errors import DataFolderError, ParticipantTaken, StudyFull
from labapp.record.events import Event
from labapp.record.events.commands import DeclineConsent, EndSession, Resume
from labapp.record.journal.layout import MAKING
from labapp.session import condition_assignment, folder, opening
from labapp.session.condition_assignment import (
    count_held_cells,
    coverage,
    outcome,
    people_of,
    preview,
    session_states,
)
from labapp.session.overview import next_free, overview
from labapp.session.resuming import recover
from labapp.session.withdrawal import withdraw
from labapp.study.allocation import DrawnCells
from labapp.study.conditions import Cells
from labapp.study.loading import LoadedStudy, load
from tests.helpers.drawn import begun, drawn_study, ended, interrupted
from tests.session.sessions import new_session, resume_session, surroundings

ROOT = Path(__file__).parents[2]


def rule(cells: int, draw: int, included: int | None) -> DrawnCells:
    names = [f"c{n}" for n in range(cells)]
    made = Cells(cells={name: {"x": 1} for name in names}, draw=draw, included=included)
    return DrawnCells("condition", made)


@given(seed=st.integers(0, 2**40))
def test_the_pilot_covers_each_of_six_cells_exactly_once(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(3):
        drawn = rule(6, 2, 1).draw(counts, seed, "pilot", f"P{number}")
        assert len(set(drawn)) == 2
        counts.update(drawn)
    assert set(counts.values()) == {1}
    with pytest.raises(StudyFull, match=r"all places of each condition \(1\) are taken"):
        rule(6, 2, 1).draw(counts, seed, "pilot", "P3")


@given(data=st.data(), cells=st.integers(1, 7), wanted=st.integers(1, 4))
def test_it_never_gets_stuck_whoever_drops_out(data: Any, cells: int, wanted: int) -> None:
    count = data.draw(st.integers(1, cells))
    made, seed = rule(cells, count, wanted), data.draw(st.integers(0, 99))
    losses = data.draw(st.integers(0, 12))
    holding: list[tuple[str, ...]] = []
    number = 0
    while True:
        counts = Counter(cell for drawn in holding for cell in drawn)
        number += 1
        try:
            drawn = made.draw(counts, seed, "study", f"P{number}")
        except StudyFull:
            if not losses or not holding:
                break
        else:
            assert len(set(drawn)) == count
            holding.append(drawn)
        if losses and holding and data.draw(st.booleans()):
            losses -= 1
            holding.pop(data.draw(st.integers(0, len(holding) - 1)))
    assert all(counts[cell] >= wanted for cell in made.cells)
    places = -(-cells * wanted // count)
    assert len(holding) == places, "nobody is asked to come for nothing"


def test_a_start_that_was_killed_before_it_had_its_name_holds_its_place(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, "ab", draw=1)
    path = interrupted(loaded, tmp_path, "P01")
    path.rename(path.with_name(f"{MAKING}{path.name}"))
    session = begun(loaded, tmp_path, "P02")
    session.close("test over")
    held = {
        row.participant: row.cells for row in session_states(tmp_path / "data" / loaded.study.id)
    }
    assert sorted(held.values()) == [("a",), ("b",)]


def test_the_lot_decides_among_the_emptiest() -> None:
    drawn = [rule(3, 1, None).draw({}, 0, "s", f"P{n}") for n in range(60)]
    assert {cell for (cell,) in drawn} == {"c0", "c1", "c2"}
    assert drawn == [rule(3, 1, None).draw({}, 0, "s", f"P{n}") for n in range(60)]
    orders = {rule(2, 2, None).draw({}, 0, "s", f"P{n}") for n in range(20)}
    assert orders == {("c0", "c1"), ("c1", "c0")}
    full = {"c0": 900, "c1": 901, "c2": 900}
    assert rule(3, 1, None).draw(full, 0, "s", "P1") != ("c1",), "without end"


def event(kind: str, **payload: Any) -> Event:
    return Event(1, 1, 0, "", "system", kind, 1, None, None, None, payload)


PLANNED = event("session.planned")
DONE, LEFT = event("session.completed"), event("session.ended", reason="tired", withdrawal="")
AWAY = event("session.ended", reason="", withdrawal="keep")
COUNTS, COUNTS_NOT = (event("inclusion.decided", included=said) for said in (True, False))


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([PLANNED], "open"),
        ([PLANNED, COUNTS, DONE], "included"),
        ([PLANNED, COUNTS_NOT, DONE], "excluded"),
        ([PLANNED, COUNTS_NOT, LEFT], "ended"),
        ([PLANNED, COUNTS, LEFT], "included"),
        ([PLANNED, COUNTS_NOT, AWAY], "withdrawn"),
        ([PLANNED, DONE], "included"),
        ([PLANNED, LEFT], "ended"),
        ([PLANNED, event("consent.declined"), COUNTS_NOT, LEFT], "declined"),
    ],
)
def test_what_becomes_of_a_session(events: list[Event], state: str) -> None:
    assert outcome(events, running=False) == state


def states(tmp_path: Path, loaded: LoadedStudy) -> dict[str, str]:
    return {
        row.name.participant: row.state
        for row in session_states(tmp_path / "data" / loaded.study.id)
    }


def test_who_may_not_resume_holds_nothing(tmp_path: Path) -> None:
    blocking = drawn_study(tmp_path, included=9, lines="when_interrupted: block")
    running = begun(blocking, tmp_path, "P01")
    assert states(tmp_path, blocking) == {"P01": "open"}
    running.close("interrupted")
    assert states(tmp_path, blocking) == {"P01": "ended"}
    patient = drawn_study(tmp_path / "other", included=9)
    path = interrupted(patient, tmp_path, "P02")
    interrupted(blocking, tmp_path, "P03")  # writes down what became of the others
    assert states(tmp_path, blocking)["P02"] == "open", "the study as it was then lets it go on"
    again = resume_session(tmp_path, path)
    again.begin()
    for command in (Resume("goes on"), EndSession("tired")):
        again.runner.send(command)
    again.close("ended")
    assert states(tmp_path, blocking) == {"P01": "ended", "P02": "ended", "P03": "ended"}


def test_a_further_session_is_in_the_same_condition(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path, cells="abcdef", included=1), tmp_path / "data"
    first = begun(loaded, tmp_path, "P01")
    cells = first.planned.assignment["condition"]
    first.close("interrupted")
    for label in ("P02", "P03"):
        interrupted(loaded, tmp_path, label)
    again = begun(loaded, tmp_path, "P01", session="2")
    assert again.planned.assignment["condition"] == cells, "though the study is full"
    again.runner.send(EndSession("tired"))
    again.close("ended")
    assert set(count_held_cells(people_of(data, loaded.study)).values()) == {1}, (
        "one person, one place"
    )
    covered = coverage(data, loaded)
    assert covered is not None
    assert {cell: dict(count) for cell, count in covered.counts().items()} == {
        cell: {"running": 1} for cell in "abcdef"
    }
    with pytest.raises(StudyFull):
        begun(loaded, tmp_path, "P04")


def test_what_seemed_to_have_ended_is_looked_at_again(tmp_path: Path) -> None:
    """As where another machine does not see the lock of a session that is running."""
    loaded = drawn_study(tmp_path, included=9, lines="when_interrupted: block")
    running = begun(loaded, tmp_path, "P01")
    lock = running.folder.path / "session.lock"
    lock.rename(tmp_path / "unseen")
    interrupted(loaded, tmp_path, "P02")
    assert states(tmp_path, loaded)["P01"] == "ended"
    (tmp_path / "unseen").rename(lock)
    assert states(tmp_path, loaded)["P01"] == "open"
    running.close("interrupted")


def test_a_condition_of_another_name_is_told(tmp_path: Path) -> None:
    data = tmp_path / "data"
    interrupted(drawn_study(tmp_path, cells="ab", draw=1), tmp_path, "P01")
    ((cell,),) = (
        row.cells
        for row in session_states(data / drawn_study(tmp_path, cells="ab", draw=1).study.id)
    )
    later = drawn_study(tmp_path, cells="xy", draw=1)
    covered = coverage(data, later)
    assert covered is not None
    told = f"In conditions that the study no longer has: {cell} (1)."
    assert told in "\n".join(covered.lines())
    assert covered.to_json()["former"] == {cell: 1}
    assert count_held_cells(covered.people) == {cell: 1}
    assert len(overview(str(later.path), 6, data).plans) == 2, "both places are open"


def test_who_did_not_agree_was_not_recruited(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path, included=9, consent=True), tmp_path / "data"
    session = begun(loaded, tmp_path, "P01")
    session.runner.send(DeclineConsent())
    session.close("declined")
    ended(loaded, tmp_path, "P02")
    covered = coverage(data, loaded)
    assert covered is not None
    assert states(tmp_path, loaded) == {"P01": "declined", "P02": "ended"}
    assert covered.retention() == (0, 1)
    assert "1 declined" in "\n".join(covered.lines())
    assert not count_held_cells(covered.people)


def test_sessions_hold_their_cells_until_they_end_otherwise(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    ended(loaded, tmp_path, "P01")
    assert preview(data, loaded, "P02") == preview(data, loaded, "P02"), "nothing is reserved"
    first = preview(data, loaded, "P02")
    running = begun(loaded, tmp_path, "P02")
    assert tuple(running.planned.assignment["condition"]) == first
    path = interrupted(loaded, tmp_path, "P03")
    ended(loaded, tmp_path, "P04", "keep")
    assert states(tmp_path, loaded) == {
        "P01": "ended",
        "P02": "open",
        "P03": "open",
        "P04": "withdrawn",
    }
    assert set(count_held_cells(people_of(data, loaded.study)).values()) == {1}
    assert len(count_held_cells(people_of(data, loaded.study))) == 4
    running.close("interrupted")
    last = begun(loaded, tmp_path, "P05")
    with pytest.raises(StudyFull):
        begun(loaded, tmp_path, "P06")
    assert not list(data.glob("*/sub-P06*")), "nothing was made"
    withdraw(path, tmp_path / "private", delete=True)
    again = begun(loaded, tmp_path, "P06")
    freed = set(coverage(data, loaded).sessions[2].cells)  # type: ignore[union-attr]
    assert set(again.planned.assignment["condition"]) == freed
    for session in (last, again):
        session.close("test over")


@pytest.mark.parametrize("damage", [None, b"", b"not a database, and long enough to be read" * 40])
def test_a_lost_or_damaged_table_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    ended(loaded, tmp_path, "P01", "delete")
    ended(loaded, tmp_path, "P02")
    interrupted(loaded, tmp_path, "P03")
    before = session_states(data / loaded.study.id)
    table = data / "drawn" / condition_assignment.ASSIGNMENTS
    table.unlink()
    if damage is not None:
        table.write_bytes(damage)
    assert [
        (row.folder, set(row.cells), row.state) for row in session_states(data / loaded.study.id)
    ] == [(row.folder, set(row.cells), row.state) for row in before]
    interrupted(loaded, tmp_path, "P04")
    assert len(count_held_cells(people_of(data, loaded.study))) == 4


def killed_in_the_midst(table: Path) -> None:
    """Leave the table as a program that is killed while SQLite writes it."""
    with closing(sqlite3.connect(table)) as connection:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("DELETE FROM allotted")
        rows = [(f"sub-X{n}_ses-1_20260102T030405Z", "[]" + " " * 99, "open") for n in range(999)]
        connection.executemany("INSERT INTO allotted VALUES (?, ?, ?)", rows)
        journal = table.with_name(f"{table.name}-journal")
        half = {path: path.read_bytes() for path in (table, journal)}
        connection.rollback()
    for path, content in half.items():
        path.write_bytes(content)


def test_a_program_that_was_killed_while_it_stored_stops_nobody(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    interrupted(loaded, tmp_path, "P01")
    before = session_states(data / loaded.study.id)
    killed_in_the_midst(data / "drawn" / condition_assignment.ASSIGNMENTS)
    assert session_states(data / loaded.study.id) == before
    killed_in_the_midst(data / "drawn" / condition_assignment.ASSIGNMENTS)
    interrupted(loaded, tmp_path, "P02")
    assert set(states(tmp_path, loaded)) == {"P01", "P02"}


def test_a_table_of_something_else_is_passed_over(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    interrupted(loaded, tmp_path, "P01")
    before = session_states(data / loaded.study.id)
    for row in (("notes", '["a"]', "open"), ("sub-P09_ses-1_20260102T030405Z", "?", "open")):
        with (
            closing(sqlite3.connect(data / "drawn" / condition_assignment.ASSIGNMENTS)) as table,
            table,
        ):
            table.execute("INSERT INTO allotted VALUES (?, ?, ?)", row)
        assert session_states(data / loaded.study.id) == before


def test_a_table_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    (data / "drawn" / condition_assignment.ASSIGNMENTS).mkdir(parents=True)
    with pytest.raises(DataFolderError, match="assignments"):
        begun(loaded, tmp_path, "P01")
    (data / "drawn" / condition_assignment.ASSIGNMENTS).rmdir()
    (data / "drawn" / condition_assignment.ASSIGNMENTS_LOCK).unlink(missing_ok=True)
    (data / "drawn" / condition_assignment.ASSIGNMENTS_LOCK).mkdir()
    with pytest.raises(DataFolderError, match=r"assignments\.lock cannot be used"):
        begun(loaded, tmp_path, "P01")
    assert not folder.list_taken_labels(data, "drawn")


def test_a_disk_that_is_full_in_the_midst_of_it_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    interrupted(loaded, tmp_path, "P01")
    before = session_states(data / loaded.study.id)

    def small(path: Path, values: Any) -> None:
        with closing(sqlite3.connect(path)) as table, table:
            (pages,) = table.execute("PRAGMA page_count").fetchone()
            table.execute(f"PRAGMA max_page_count={pages}")
            table.execute("CREATE TABLE more AS SELECT zeroblob(9999)")

    with monkeypatch.context() as patched:
        patched.setattr(condition_assignment, "_replace_rows", small)
        with pytest.raises(DataFolderError, match="The disk is full"):
            begun(loaded, tmp_path, "P02")
    assert list(folder.list_taken_labels(data, "drawn")) == ["P01"]
    assert session_states(data / loaded.study.id) == before
    interrupted(loaded, tmp_path, "P02")


def test_a_session_that_never_began_holds_nothing_once_closed(
    tmp_path: Path,
) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    clock = FakeClock()
    made = opening.create(
        loaded, "P01", surroundings(tmp_path), data=data, make_clock=lambda start: clock
    )
    assert states(tmp_path, loaded) == {"P01": "open"}
    copy = tmp_path / "copy"
    shutil.copytree(made.folder.path, copy, ignore=shutil.ignore_patterns("*.lock"))
    made.close("never shown")
    assert states(tmp_path, loaded) == {}
    copy.rename(made.folder.path)  # as a killed program leaves it: its plan can be gone on with
    assert states(tmp_path, loaded) == {"P01": "open"}


def test_a_folder_that_vanished_is_told(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path), tmp_path / "data"
    path = interrupted(loaded, tmp_path, "P01")
    interrupted(loaded, tmp_path, "P02")  # now the first is known to have begun
    path.rename(tmp_path / "elsewhere")
    assert states(tmp_path, loaded)["P01"] == "gone"
    told = "\n".join(overview(str(loaded.path), 1, data).lines())
    assert f"{path.name} is missing, although nobody withdrew" in told
    (tmp_path / "elsewhere").rename(path)
    assert states(tmp_path, loaded)["P01"] == "open"
    recover(path)


def test_the_condition_that_was_prepared_for_may_be_taken_meanwhile(tmp_path: Path) -> None:
    loaded, data = drawn_study(tmp_path, cells="ab", draw=1), tmp_path / "data"
    prepared = preview(data, loaded, "P01")
    other = next(
        f"P{n:02d}" for n in range(2, 40) if preview(data, loaded, f"P{n:02d}") == prepared
    )
    interrupted(loaded, tmp_path, other)
    with pytest.raises(condition_assignment.ConditionTaken):
        begun(loaded, tmp_path, "P01", prepared=prepared)
    assert "P01" not in folder.list_taken_labels(data, "drawn")
    begun(loaded, tmp_path, "P01", prepared=preview(data, loaded, "P01")).close("test over")


def test_a_person_takes_part_in_one_of_related_studies(tmp_path: Path) -> None:
    one = drawn_study(tmp_path / "one", included=9)
    text = one.path.read_text().replace("id: drawn", "id: other\nrelated: [drawn]")
    (tmp_path / "other.yaml").write_text(text)
    other = load(tmp_path / "other.yaml")
    interrupted(one, tmp_path, "P01")
    ended(one, tmp_path, "P02", "delete")
    for participant in ("P01", "P02"):
        with pytest.raises(ParticipantTaken, match=f"{participant} took part in drawn"):
            folder.refuse_taken(tmp_path / "data", other, participant, "1")
        with pytest.raises(ParticipantTaken, match=f"{participant} took part in drawn"):
            begun(other, tmp_path, participant)
    assert next_free(other, tmp_path / "data", 2) == ["P03", "P04"]
    interrupted(other, tmp_path, "P03")
    with pytest.raises(ParticipantTaken, match="P03 took part in other"):
        interrupted(one, tmp_path, "P03")
    assert next_free(one, tmp_path / "data", 2) == ["P04", "P05"]
    alone = drawn_study(tmp_path / "alone", included=9).study.model_copy(update={"id": "draw"})
    assert folder.list_refused(tmp_path / "data", alone) == {}, "a part of the name is another name"


def test_a_shipped_study_is_related_without_any_session_left(tmp_path: Path) -> None:
    crowd, aloud = load("mnist-crowd"), load("mnist-think-aloud")
    assert "mnist-crowd" in aloud.study.related
    clock, data = FakeClock(), tmp_path / "data"
    home = new_session(data, aloud, "P01", "1", clock)
    alone = crowd.study.model_copy(update={"related": ()})
    assert folder.list_refused(data, alone) == {"P01": "mnist-think-aloud"}
    (data / "mnist-think-aloud" / "withdrawn.jsonl").write_text(
        json.dumps({"session": home.path.name, "utc": "", "data": "deleted", "cells": []}) + "\n"
    )
    shutil.rmtree(home.path)
    assert folder.list_refused(data, alone) == {"P01": "mnist-think-aloud"}


def started(loaded: LoadedStudy, folder: Path) -> subprocess.Popen[str]:
    """Another program that starts sessions until the study is full, and prints their names."""
    command = [sys.executable, "-m", "tests.helpers.drawn", str(loaded.path), str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ)


def test_several_programs_at_once_fill_the_cells_evenly(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, cells="abcd", draw=1, included=4)
    programs = [started(loaded, tmp_path) for _ in range(3)]
    names = [program.communicate(timeout=100)[0].split() for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0]
    everyone = [name for own in names for name in own]
    assert len(everyone) == 16
    assert len({name.split("_")[0] for name in everyone}) == 16, "no participant twice"
    counts = count_held_cells(people_of(tmp_path / "data", loaded.study))
    assert counts == {"a": 4, "b": 4, "c": 4, "d": 4}


def test_a_program_that_is_killed_keeps_no_more_than_it_began(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, cells="abcd", draw=2, included=12)
    killed = [started(loaded, tmp_path) for _ in range(2)]
    for program in killed:
        assert program.stdout is not None
        program.stdout.readline()  # in the midst of the next one now
        program.kill()
        program.communicate()
    last = started(loaded, tmp_path)
    last.communicate(timeout=100)
    assert last.returncode == 0
    rows = session_states(tmp_path / "data" / loaded.study.id)
    assert {row.state for row in rows} == {"open"}
    assert count_held_cells(people_of(tmp_path / "data", loaded.study)) == dict.fromkeys("abcd", 12)
