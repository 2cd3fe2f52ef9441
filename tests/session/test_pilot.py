"""A pilot is kept apart: beside the data folder, in no count, in no analysis of the others."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from labapp.analysis.sources import PILOTS
from labapp.analysis.tables import load as tables_of
from labapp.base import durable
from labapp.base.errors import BundleError, ParticipantTaken, RecordError, UsageError
from labapp.base.resources import pilot_root
from labapp.cli.main import app
from labapp.coding.annotations.model import annotations_folder
from labapp.record.journal.decisions import add_comment, forget_comments, moves
from labapp.record.journal.opening import line as describe_line
from labapp.record.journal.sessions import SessionIndex, list_problems, list_sessions, summary
from labapp.session import withdrawal
from labapp.session.bids.export import export
from labapp.session.condition_assignment import count_held_cells, people_of, session_states
from labapp.session.folder import list_taken_labels, next_free, next_pilot
from labapp.session.opening import OpenSession
from labapp.session.private import consents
from labapp.session.withdrawal import decide_by_hand, move_pilot, withdraw
from labapp.study.loading import load
from tests.helpers.drawn import drawn_study
from tests.helpers.skips import skip_stage
from tests.session.sessions import begin_session


def agreed(tmp_path: Path, participant: str = "P01", *, pilot: bool) -> OpenSession:
    data = tmp_path / "data"
    folder = pilot_root(data) if pilot else data
    session = begin_session(tmp_path, data=folder, participant=participant, pilot=pilot)
    session.give_consent(f"Name of {'pilot' if pilot else 'study'} {participant}")
    session.close("interrupted")
    return session


def test_it_takes_no_label_and_no_place(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, pilot=True)
    assert pilot.planned.pilot
    data, study = tmp_path / "data", load("quickstart").study
    assert pilot.folder.path.is_relative_to(tmp_path / "data-pilot")
    assert list_taken_labels(data, "quickstart") == {}
    assert next_free(data, study) == "P01"
    assert next_pilot(data, study) == "pilotP01"
    assert not agreed(tmp_path, pilot=False).planned.pilot


def test_its_signature_is_kept_and_deleted_apart(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, pilot=True)
    agreed(tmp_path, pilot=False)
    secret = tmp_path / "private"
    assert [c.name for c in consents(secret, "quickstart")] == ["Name of study P01"]
    assert [c.name for c in consents(secret, "quickstart.pilot")] == ["Name of pilot P01"]
    withdraw(pilot.folder.path, secret, delete=True)
    assert [c.name for c in consents(secret, "quickstart")] == ["Name of study P01"]
    assert consents(secret, "quickstart.pilot") == []


def test_an_analysis_leaves_it_out_and_says_so_or_takes_nothing_else(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, "P02", pilot=True).folder.path
    other = agreed(tmp_path, pilot=False).folder.path
    tables = tables_of([pilot, other])
    assert list(tables.participants["participant"]) == ["P01"]
    assert any(pilot.name in note and "pilots" in note for note in tables.remarks)
    tables = tables_of([pilot, other], pilot=True)
    assert list(tables.participants["participant"]) == ["P02"]
    assert any(other.name in note and "no pilots" in note for note in tables.remarks)
    assert tables.remarks[0] == PILOTS, "whoever reads the report sees it first"
    with pytest.raises(RecordError, match="are pilots"):
        tables_of(pilot)
    with pytest.raises(RecordError, match="are no pilots"):
        tables_of(other, pilot=True)


def test_a_bundle_holds_one_kind(tmp_path: Path) -> None:
    pilot = agreed(tmp_path, "P02", pilot=True).folder.path
    other = agreed(tmp_path, pilot=False).folder.path
    with pytest.raises(BundleError, match="some are not"):
        export([other, pilot], tmp_path / "mixed")
    assert not (tmp_path / "mixed").exists()
    bundle = export([pilot], tmp_path / "pilots")
    with pytest.raises(RecordError, match="are pilots"):
        tables_of(bundle)
    assert len(tables_of(bundle, pilot=True).participants) == 1


def test_without_a_participant_only_a_pilot_begins(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["run", "quickstart", "--data", str(tmp_path)])
    assert isinstance(said.exception, UsageError)
    assert "--pilot" in said.exception.todo


def over(tmp_path: Path, participant: str, *, pilot: bool) -> Path:
    """A session that was gone through to its end, by skipping."""
    data = tmp_path / "data"
    session = begin_session(
        tmp_path, data=pilot_root(data) if pilot else data, participant=participant, pilot=pilot
    )
    session.give_consent(f"Name of {participant}")
    while not session.runner.finished:
        skip_stage(session.runner)
    session.close("completed")
    return session.folder.path


def test_a_pilot_gets_a_label_that_no_participant_ever_gets(tmp_path: Path) -> None:
    data, study = tmp_path / "data", load("quickstart").study
    assert next_pilot(data, study) == "pilotP01"
    first = over(tmp_path, "pilotP01", pilot=True)
    assert (next_pilot(data, study), next_free(data, study)) == ("pilotP02", "P01")
    move_pilot(first, True, "a person took part")
    assert (next_pilot(data, study), next_free(data, study)) == ("pilotP02", "P01")
    assert study.participants.number("pilotP07") == 7, "its order is that of the number"
    assert study.participants.own_number("pilotP07") is None


def test_a_pilot_is_moved_into_the_study_and_back(tmp_path: Path) -> None:
    """Analysis, lists, exports and remarks follow; the reason is shown."""
    data = tmp_path / "data"
    own = over(tmp_path, "P01", pilot=False)
    path = over(tmp_path, "pilotP01", pilot=True)
    add_comment(path, "the first one")
    decide_by_hand(path, True, "complete")
    with pytest.raises(UsageError, match="needs a reason"):
        move_pilot(path, True, " ")
    with pytest.raises(UsageError, match="among the pilots already"):
        move_pilot(path, False, "no")
    with pytest.raises(UsageError, match="not recorded as a pilot"):
        move_pilot(own, False, "no")
    moved, lines = move_pilot(path, True, "the tick was left on")
    assert moved == data / "quickstart" / path.name
    assert "counts in the study" in lines[0]
    (line,) = [line for line in list_sessions(data) if line.participant == "pilotP01"]
    assert (line.pilot, line.moved) == (False, "the tick was left on")
    assert (line.decision, line.comments) == ("included", ("the first one",))
    assert SessionIndex(data).read()[0].moved == "the tick was left on"
    assert "moved from the pilots" in "\n".join(map(describe_line, list_sessions(data)))
    assert not list_problems(data)
    tables = tables_of(data / "quickstart")
    assert list(tables.participants["participant"]) == ["P01", "pilotP01"]
    assert any("the tick was left on" in note for note in tables.remarks)
    bundle = export([own, moved], tmp_path / "bundle", deidentify=True)
    assert len(tables_of(bundle).participants) == 2
    assert "the tick" not in "".join(
        file.read_text("utf-8") for file in bundle.rglob("*.json") if file.is_file()
    )
    back, _ = move_pilot(moved, False, "it was a trial after all")
    assert back == path
    assert [line.participant for line in list_sessions(data)] == ["P01"]
    (line,) = list_sessions(pilot_root(data))
    assert (line.pilot, line.moved) == (True, "it was a trial after all")
    assert line.exported, "it was exported as one of the study"
    assert (line.decision, line.comments) == ("included", ("the first one",))
    with pytest.raises(RecordError, match="are pilots"):
        tables_of(path)
    moved, _ = move_pilot(back, True, "no, it counts")
    assert [m.reason for m in moves(moved.parent).values()] == ["no, it counts"]
    lines_there = (moved.parent / "decisions.jsonl").read_text("utf-8").splitlines()
    assert len(lines_there) == 4, "each decision stays, once"


def test_a_moved_pilot_holds_its_place(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, cells="ab", draw=1)
    study, data = loaded.path, tmp_path / "data"
    session = begin_session(
        tmp_path, data=pilot_root(data), participant="pilotP01", pilot=True, study=study
    )
    session.give_consent("Somebody")
    session.close("interrupted")
    path = session.folder.path
    assert session_states(data / loaded.study.id) == []
    moved, _ = move_pilot(path, True, "it counts")
    (row,) = session_states(data / loaded.study.id)
    assert (row.folder, row.state) == (path.name, "open")
    assert count_held_cells(people_of(data, loaded.study))[row.cells[0]] == 1
    assert session_states(pilot_root(data) / loaded.study.id) == []
    move_pilot(moved, False, "it does not")
    assert session_states(data / loaded.study.id) == []
    assert [row.state for row in session_states(pilot_root(data) / loaded.study.id)] == ["open"]


def test_a_label_stays_one_persons(tmp_path: Path) -> None:
    """Where somebody gave a pilot the label of a participant."""
    over(tmp_path, "P01", pilot=False)
    path = over(tmp_path, "P01", pilot=True)
    with pytest.raises(ParticipantTaken, match="already has a participant P01"):
        move_pilot(path, True, "it counts")
    assert path.is_dir()
    free = over(tmp_path, "P07", pilot=True)
    assert move_pilot(free, True, "it counts")[0].is_dir()


def test_a_withdrawal_of_a_moved_pilot_deletes_everything(tmp_path: Path) -> None:
    path = over(tmp_path, "pilotP01", pilot=True)
    add_comment(path, "a remark")
    secret = tmp_path / "private"
    moved, _ = move_pilot(path, True, "it counts")
    withdraw(moved, secret, delete=True)
    assert consents(secret, "quickstart.pilot") == []
    for log in tmp_path.rglob("*.jsonl"):
        if log.name != "withdrawn.jsonl":
            assert path.name not in log.read_text("utf-8"), log


@pytest.mark.parametrize("killed_at", range(6))
def test_a_move_that_is_killed_anywhere_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    """Each change of the disk in turn is the last one; the same call completes it."""
    path = over(tmp_path, "pilotP01", pilot=True)
    add_comment(path, "a remark")
    notes = annotations_folder(path)
    notes.mkdir(parents=True)
    (notes / "units.jsonl").write_text("")
    before = (path / "journal.sqlite").read_bytes()
    changes = 0

    def counting(original: Any) -> Any:
        def change(*args: Any, **more: Any) -> Any:
            nonlocal changes
            if changes == killed_at:
                raise KeyboardInterrupt
            changes += 1
            return original(*args, **more)

        return change

    with monkeypatch.context() as patched:
        patched.setattr("labapp.base.durable.add_line", counting(durable.add_line))
        patched.setattr(Path, "rename", counting(Path.rename))
        patched.setattr(withdrawal, "forget_comments", counting(forget_comments))
        with suppress(KeyboardInterrupt):
            move_pilot(path, True, "it counts")
    goal = tmp_path / "data" / "quickstart" / path.name
    assert path.is_dir() != goal.is_dir(), "in one of the two places, whole"
    here = path if path.is_dir() else goal
    assert (here / "journal.sqlite").read_bytes() == before
    if here == path:
        assert summary(path).pilot, "what was not moved is what it was"
        move_pilot(path, True, "it counts")
    assert summary(goal).comments == ("a remark",)
    assert not summary(goal).pilot
    assert (annotations_folder(goal) / "units.jsonl").is_file()


def test_the_command_moves_it(tmp_path: Path) -> None:
    path = over(tmp_path, "pilotP01", pilot=True)
    data = str(tmp_path / "data")

    def move(to: str, *more: str) -> Any:
        arguments = ["sessions", "move", path.name, "--to", to, "--data", data, *more]
        return CliRunner().invoke(app, arguments)

    assert isinstance(move("study").exception, UsageError)
    assert "counts in the study" in move("study", "--reason", "it counts").output
    said = move("pilots", "--reason", "a trial", "--json").output
    assert json.loads(said)["pilot"] is True
    assert path.is_dir()
