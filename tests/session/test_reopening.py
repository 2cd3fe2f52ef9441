"""The end of a session can be taken back until its console is closed, and every reader knows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labapp.analysis import load
from labapp.base.clock import NS, Clock, FakeClock
from labapp.base.errors import AudioError, SessionError
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddNote,
    EndSession,
    Reopen,
    Resume,
    Skip,
    StayHere,
    TakeBackSkip,
)
from labapp.record.events.lifecycle import InclusionDecided
from labapp.record.journal.decisions import withdrawals
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import list_sessions
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import session_states
from labapp.session.opening import EmitBody, OpenSession
from labapp.session.resuming import finished, read_verified_events, recover
from tests.helpers.drawn import drawn_study
from tests.helpers.rooms import SilentRecorder
from tests.helpers.skips import skip_stage
from tests.session.sessions import begin_session, opened, resume_session


def begun(tmp_path: Path, **more: object) -> OpenSession:
    """A session of the quick start in its tutorial."""
    session = opened(tmp_path, **more)  # type: ignore[arg-type]
    session.begin()
    session.give_consent("Somebody")
    return session


def end(session: OpenSession, withdrawal: str = "") -> None:
    session.runner.send(EndSession("too early", withdrawal), Source.MODERATOR)
    assert session.runner.finished


def reopen(session: OpenSession, after_s: float = 60.0) -> None:
    clock = session.runner.clock
    assert isinstance(clock, FakeClock)
    clock.advance(after_s)
    session.runner.send(Reopen(session.runner.state.end_seq or 0), Source.MODERATOR)
    assert not session.runner.finished


def sounds(session: OpenSession) -> list[str]:
    events = read_verified_events(session.folder.path)
    return [event.payload["file"] for event in events if event.kind == "audio.started"]


def to_the_end(session: OpenSession) -> None:
    session.runner.send(Resume("on"), Source.MODERATOR)
    while session.runner.part is not None:
        skip_stage(session.runner, Source.MODERATOR)
    assert session.runner.state.ended == "completed"


def copied(session: OpenSession, to: Path) -> Path:
    """What is on the disk now, as a kill would leave it."""
    shutil.copytree(session.folder.path.parent.parent, to)
    return to / session.folder.path.parent.name / session.folder.path.name


def test_a_session_that_was_reopened_goes_on_and_is_whole(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    working = session.runner.state.pauses.working_ns(session.runner.clock.now_ns())
    reopen(session)
    runner = session.runner
    assert runner.state.pauses.paused, "somebody has to be there before it goes on"
    assert runner.state.pauses.working_ns(runner.clock.now_ns()) == working
    to_the_end(session)
    session.close("completed")
    path = session.folder.path
    assert verify(path).problems == []
    (listed,) = list_sessions(tmp_path / "data")
    assert (listed.state, listed.withdrawn) == ("complete", "")
    tables = load([path])
    participant = tables.participants.iloc[0]
    assert (participant["outcome"], participant["ended_reason"]) == ("completed", "")
    early = tables.deviations[tables.deviations["kind"] == "ended_early"]
    assert early["duration_s"].tolist() == [60.0]
    assert participant["duration_s"] == pytest.approx(working / NS, abs=1e-6)
    bundle = export([path], tmp_path / "bundle")
    assert verify(bundle).problems == []
    (timeline,) = bundle.glob("sub-*/ses-*/beh/*_task-session_events.tsv")
    assert "session.reopened" in timeline.read_text()
    assert load([bundle]).participants.iloc[0]["outcome"] == "completed"


def test_what_was_decided_at_an_end_that_is_undone_does_not_count(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session, "keep")
    assert session.runner.state.withdrawal == "keep"
    reopen(session)
    session.close("interrupted")
    path = session.folder.path
    events = read_verified_events(path)
    assert InclusionDecided.kind in [event.kind for event in events]
    assert not finished(events)
    assert withdrawals(path.parent) == {}
    (listed,) = list_sessions(tmp_path / "data")
    assert (listed.state, listed.withdrawn) == ("interrupted", "")
    participant = load([path]).participants.iloc[0]
    assert participant["outcome"] == "unfinished"
    assert "withdrawn" not in str(participant["excluded_because"])
    recover(path)
    again = resume_session(tmp_path, path)
    again.begin()
    assert again.runner.state.pauses.paused
    to_the_end(again)
    again.close("completed")
    assert open_record(path).state == "complete"


def test_who_dies_between_end_and_closing_leaves_a_session_that_ended(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    session.runner.send(AddNote("said goodbye", 0), Source.MODERATOR)
    path = copied(session, tmp_path / "killed")
    recover(path)
    (listed,) = list_sessions(tmp_path / "killed")
    assert listed.state == "ended_early"
    with pytest.raises(SessionError):
        resume_session(tmp_path, path)
    assert [event.kind for event in read_verified_events(path)].count("note.added") == 1
    session.close("over")


def test_nothing_is_deleted_before_the_console_is_closed(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session, "delete")
    assert session.folder.path.is_dir()
    assert withdrawals(session.folder.path.parent) == {}
    reopen(session)
    session.close("interrupted")
    assert session.folder.path.is_dir(), "the decision was taken back"
    left = begun(tmp_path, participant="P02")
    end(left, "delete")
    left.close("over")
    assert not left.folder.path.exists()


def test_the_place_is_held_until_the_console_is_closed(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path / "study")
    session = begin_session(tmp_path, study=loaded.path)

    def state() -> str:
        (row,) = session_states(tmp_path / "data" / loaded.study.id)
        return row.state

    for withdrawal in ("", "keep"):
        end(session, withdrawal)
        assert state() == "open"
        reopen(session)
        assert state() == "open"
    end(session)
    killed = copied(session, tmp_path / "killed")
    session.close("over")
    assert state() == "ended"
    (row,) = session_states(killed.parent.parent / loaded.study.id)
    assert row.state == "ended", "looked at again after a crash"


def test_sound_stops_with_the_end_and_goes_on_in_another_file(tmp_path: Path) -> None:
    made: list[Recording] = []

    class Recording(SilentRecorder):
        def __init__(self, *rest: object) -> None:
            super().__init__(*rest)  # type: ignore[arg-type]
            made.append(self)
            self.running = False

        def start(self) -> None:
            super().start()
            self.running = True

        def stop(self, timeout_s: float = 5.0) -> None:
            self.running = False

        def again(self) -> Recording:
            assert not self.running, "until it is stopped it may begin another file itself"
            other = Recording(self.folder, self.segment, self.emit, self.clock)
            other.take = "-2"
            return other

    def maker(folder: object, segment: int, emit: EmitBody, clock: Clock) -> Recording:
        return Recording(folder, segment, emit, clock)

    session = begun(tmp_path, make_recorder=maker)
    assert session.recording
    end(session)
    session.stop_sound()
    assert not session.recording
    assert not made[0].running
    session.stop_sound()
    reopen(session)
    assert session.recording
    assert [recorder.running for recorder in made] == [False, True]
    session.close("over")
    assert not made[1].running
    assert sounds(session) == ["audio/segment-01.wav", "audio/segment-01-2.wav"]


def test_sound_that_does_not_stop_in_time_is_recorded_again_after_the_end(tmp_path: Path) -> None:
    class Hanging(SilentRecorder):
        def stop(self, timeout_s: float = 5.0) -> None:
            raise AudioError("The sound recording did not end.")

    session = begun(tmp_path, make_recorder=Hanging)
    end(session)
    with pytest.raises(AudioError):
        session.stop_sound()
    reopen(session)
    assert session.recording
    session.close("over")
    assert sounds(session) == ["audio/segment-01.wav", "audio/segment-01-2.wav"]


def test_nobody_is_asked_and_nothing_waits_after_the_end(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    stored = session.runner.journal.committed_seq
    for command in (Skip(), TakeBackSkip("trial"), StayHere(), Resume("on"), EndSession("again")):
        session.runner.send(command)
    assert session.runner.journal.committed_seq == stored
    session.close("over")
