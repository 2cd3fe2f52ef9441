"""The runner: waiting for the disk, decoding, timers, ending."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import FakeClock
from labapp.base.errors import AudioError, JournalError, NoMicrophone
from labapp.record.audio.devices import Device
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddNote,
    Command,
    DeclineConsent,
    EndSession,
    Next,
    Pause,
    Resume,
)
from labapp.record.events.lifecycle import WindowFocus
from labapp.record.journal import write as journal_module
from labapp.record.journal.read import check_journal, read_rows
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from labapp.session.runner import VirtualScheduler
from labapp.tasks.reconstruction.events import MoveDial
from tests.session.sessions import begin_session, opened, scheduler_of, spin, trial_of, watch


class Gate:
    """A disk that answers when a test lets it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.waiting = threading.Event()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()

    class Slow(sqlite3.Connection):
        def executemany(self, sql: str, rows: Any, /) -> sqlite3.Cursor:
            made.waiting.set()
            made.open.wait(30)
            made.waiting.clear()
            return super().executemany(sql, rows)

    connect = sqlite3.connect
    monkeypatch.setattr(
        journal_module.sqlite3, "connect", lambda *a, **k: connect(*a, factory=Slow, **k)
    )
    yield made
    made.open.set()


def test_nothing_goes_on_before_it_is_on_disk(
    begin: Callable[..., OpenSession], gate: Gate
) -> None:
    session = begin("tutorial", commit_timeout_s=0.01)
    runner, scheduler = session.runner, scheduler_of(session)
    seen = watch(session)
    clock = runner.clock
    assert isinstance(clock, FakeClock)
    told: list[bool] = []
    runner.listen(lambda: told.append(runner.stalled))
    gate.open.clear()
    runner.send(Next())
    assert [event.kind for event in seen] == ["page.turned"], "published at once"
    assert runner.state.part_state.page == 0, "but not gone on from"
    runner.send(Next())
    assert len(seen) == 1, "the next command waits its turn"
    before = clock.now_ns()
    scheduler.run(lambda: clock.now_ns() - before >= 1.5e9)
    assert not runner.stalled
    scheduler.run(lambda: clock.now_ns() - before >= 2.5e9)
    assert runner.stalled
    assert told == [True]
    assert [event.kind for event in seen] == ["page.turned", "alarm.raised"]
    assert seen[-1].payload["code"] == "journal_stalled"
    assert runner.state.part_state.page == 0
    gate.open.set()
    spin(session, lambda: len(seen) >= 4 and not runner._waiting)
    assert not runner.stalled
    assert [event.kind for event in seen][2:4] == ["alarm.cleared", "part.ended"]
    assert runner.part is not None
    assert runner.part.id == "practice-intro", "both pages of the tutorial were left"


def test_a_session_that_is_closed_while_the_disk_is_slow_leaves_no_timer(
    begin: Callable[..., OpenSession], gate: Gate
) -> None:
    session = begin("tutorial", commit_timeout_s=0.01)
    gate.open.clear()
    session.runner.send(Next())
    assert scheduler_of(session).next_ns < sys.maxsize, "it looks again at the disk"
    gate.open.set()
    session.close("over")
    assert scheduler_of(session).next_ns == sys.maxsize


def test_a_slow_disk_does_not_fill_the_queue_with_ticks(
    begin: Callable[..., OpenSession], gate: Gate, tmp_path: Path
) -> None:
    from tests.study.test_refusals import GOOD
    from tests.study.test_refusals import write_refusals as write

    limited = GOOD.replace("trials: 3", "trials: 3\n      time_limit_min: 0.01\n      skip: after")
    session = begin("stage-1", study=write(tmp_path, limited), commit_timeout_s=0.01)
    runner, scheduler = session.runner, scheduler_of(session)
    clock = runner.clock
    assert isinstance(clock, FakeClock)
    gate.open.clear()
    runner.send(AddNote("hm", 0), Source.MODERATOR)
    before = clock.now_ns()
    scheduler.run(lambda: clock.now_ns() - before >= 5e9)
    assert len(runner._queue) <= 1
    gate.open.set()
    spin(session, lambda: runner.part is None or runner.part.id != "stage-1")
    rows = read_verified_events(session.folder.path)
    assert [r.kind for r in rows].count("stage.time_expired") == 1


def test_what_was_not_sent_yet_goes_before_what_takes_the_screen(
    begin: Callable[..., OpenSession], gate: Gate
) -> None:
    session = begin("stage-1", commit_timeout_s=0.01)
    runner, seen = session.runner, watch(session)
    asked = []

    def pending_commands() -> list[Command]:
        asked.append(runner.state.pauses.paused)
        return [MoveDial(0, 0.5, "mouse"), MoveDial(0, 0.25, "mouse")]

    runner.ask_before_leaving(pending_commands)
    runner.send(AddNote("nothing ends by this", 0), Source.MODERATOR)
    assert not asked
    gate.open.clear()  # the disk is slow meanwhile
    pause, note = Pause("break"), AddNote("meanwhile", 0)
    runner.send(pause, Source.MODERATOR)
    runner.send(note, Source.MODERATOR)
    gate.open.set()

    # Not the last event: on a loaded machine the alarm of a stalled disk comes and goes after it.
    def noted() -> int:
        return [event.kind for event in seen].count("note.added")

    spin(session, lambda: noted() == 2 and not runner._waiting)
    kinds = ("dial.moved", "session.paused")
    kept = [(event.kind, event.source) for event in seen if event.kind in kinds]
    moved = ("dial.moved", "participant")
    assert kept == [moved, moved, ("session.paused", "moderator")]
    assert asked == [False]
    runner.send(pause, Source.MODERATOR)
    assert asked == [False], "nothing is taken away by a second pause"
    runner.ask_before_leaving(None)
    runner.send(EndSession("left"), Source.MODERATOR)
    assert asked == [False]
    spin(session, lambda: runner.finished)  # the disk may be slower than the patience above


def test_the_state_is_what_the_journal_folds_to(begin: Callable[..., OpenSession]) -> None:
    session = begin("stage-1")
    runner = session.runner
    target = trial_of(session).z_target
    for dimension, value in enumerate(target):
        runner.send(MoveDial(dimension, value, "mouse"))
    runner.send(AddNote("went at it one dial after another", 0), Source.MODERATOR)
    runner.send(Pause("break"), Source.MODERATOR)
    runner.emit(WindowFocus(False))
    runner.send(Resume("on"), Source.MODERATOR)
    runner.send(Next())
    state = runner.state
    session.close("test over")
    assert runner.machine.fold(read_verified_events(session.folder.path)) == state


def test_ending_early_is_an_event_and_keeps_everything(begin: Callable[..., OpenSession]) -> None:
    session = begin("stage-1")
    session.runner.send(EndSession("participant left"), Source.MODERATOR)
    assert session.runner.finished
    session.close("early")
    kinds = [row.kind for row in read_rows(session.folder.path)]
    assert kinds[-2:] == ["session.ended", "segment.ended"]
    session.close("again")
    assert len(read_rows(session.folder.path)) == len(kinds)
    with pytest.raises(JournalError):
        session.runner.emit(WindowFocus(True))


def test_what_happens_before_the_beginning_is_stored_after_it(tmp_path: Path) -> None:
    session = opened(tmp_path)
    session.runner.emit(WindowFocus(True))
    session.begin()
    session.close("test over")
    kinds = [row.kind for row in read_rows(session.folder.path)]
    assert kinds[:2] == ["session.planned", "segment.started"]
    assert kinds.count("window.focus") == 1
    assert not check_journal(session.folder.path)


def test_what_a_screen_asks_for_before_the_beginning_waits_for_it(tmp_path: Path) -> None:
    session = opened(tmp_path)
    session.runner.send(Pause("away"))
    assert [row.kind for row in read_rows(session.folder.path)] == ["session.planned"]
    session.begin()
    session.close("test over")
    kinds = [row.kind for row in read_rows(session.folder.path)]
    assert kinds[:2] == ["session.planned", "segment.started"]
    assert kinds.count("session.paused") == 1
    assert not check_journal(session.folder.path)


class Recorder:
    """A recorder that fails where a test says."""

    device = Device(0, "Test Mic", "ALSA", 1, 48000, True)

    def __init__(self, at_start: Exception | None = None, at_stop: Exception | None = None):
        self.at_start, self.at_stop = at_start, at_stop
        self.started = self.stopped = False

    def start(self) -> None:
        if self.at_start:
            raise self.at_start
        self.started = True

    def stop(self, timeout_s: float = 5.0) -> None:
        self.stopped = True
        if self.at_stop:
            raise self.at_stop

    def level(self) -> Any:
        return None

    def again(self) -> Recorder:
        return Recorder(self.at_start, self.at_stop)


def test_a_sound_system_that_hangs_at_the_end_does_not_cost_the_journal(tmp_path: Path) -> None:
    recorder = Recorder(at_stop=AudioError("hangs"))
    session = begin_session(tmp_path, make_recorder=lambda *_: recorder)
    with pytest.raises(AudioError, match="hangs"):
        session.close("test over")
    assert recorder.stopped
    (entry,) = json.loads(session.folder.environment.read_bytes())
    assert entry["microphone"] == {"name": "Test Mic", "host_api": "ALSA", "rate_hz": 48000}
    assert [row.kind for row in read_rows(session.folder.path)][-1] == "segment.ended"
    assert not session._lock.is_locked


def test_sound_is_recorded_from_consent_on(tmp_path: Path) -> None:
    recorder = Recorder()
    session = begin_session(tmp_path, make_recorder=lambda *_: recorder)
    assert not recorder.started
    assert not session.recording
    session.give_consent("Ada Lovelace")
    assert recorder.started
    assert session.recording
    session.close("test over")


def test_no_voice_is_recorded_of_somebody_who_declines(tmp_path: Path) -> None:
    recorder = Recorder()
    session = begin_session(tmp_path, make_recorder=lambda *_: recorder)
    session.runner.send(DeclineConsent())
    assert session.runner.state.ended == "consent declined"
    assert not recorder.started
    session.close("test over")


def test_a_missing_microphone_ends_only_a_study_that_needs_it(tmp_path: Path) -> None:
    from tests.study.test_refusals import GOOD
    from tests.study.test_refusals import write_refusals as write

    recorder = Recorder(at_start=NoMicrophone("There is no microphone."))
    session = begin_session(tmp_path, make_recorder=lambda *_: recorder)
    session.give_consent("Ada Lovelace")
    assert session.runner.part is not None
    assert session.no_sound == "There is no microphone."
    session.close("test over")
    kinds = [row.kind for row in read_rows(session.folder.path)]
    assert "audio.off" in kinds
    assert "alarm.raised" in kinds
    strict = write(tmp_path, GOOD + "recording: {audio: required}\n")
    session = begin_session(tmp_path, study=strict, make_recorder=lambda *_: recorder)
    session.give_consent("Ada Lovelace")
    assert session.runner.state.ended == "the microphone could not be opened"
    session.close("no sound")
    assert "session.ended" in [row.kind for row in read_rows(session.folder.path)]


@given(st.lists(st.floats(0, 100), max_size=20))
def test_timers_run_in_order_at_their_times(delays: list[float]) -> None:
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    ran: list[tuple[int, int]] = []
    for number, delay in enumerate(delays):
        scheduler.call_later(delay, lambda n=number: ran.append((clock.now_ns(), n)))  # type: ignore[misc]
    scheduler.run(lambda: False)
    assert ran == sorted((round(d * 1e9), n) for n, d in enumerate(delays))


def test_cancelled_timers_do_not_run_and_posts_run_before_time_goes_on() -> None:
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    ran: list[str] = []
    scheduler.call_later(1, lambda: ran.append("cancelled")).cancel()
    scheduler.call_later(1, lambda: scheduler.post(lambda: ran.append("posted")))
    scheduler.call_later(2, lambda: ran.append("later"))
    scheduler.run(lambda: len(ran) == 2)
    assert ran == ["posted", "later"]
    assert clock.now_ns() == 2_000_000_000
