"""What a session sends over LSL: received by another process, as a lab's recorder does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from labapp.base.clock import NS, SessionClock
from labapp.base.errors import JournalError, LslError
from labapp.record import lsl
from labapp.record.events import Event, Source, payload_of
from labapp.record.events.commands import AddNote, Resume
from labapp.record.events.lifecycle import LslOff
from labapp.record.events.registry import Payload, frequent_kinds
from labapp.record.events.trials import Comparison
from labapp.record.lsl import LEFT_OUT, SessionStreams, marker
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.session.withdrawal import withdraw
from tests.end_to_end.conftest import Labapp
from tests.end_to_end.conftest import labapp as labapp
from tests.helpers.live import LoopScheduler
from tests.session.sessions import opened, resume_session

SHORT = Path(__file__).parents[2] / "end_to_end" / "short.yaml"
LATEST_S = 0.02
MOST_OF_THEM = 0.9


class Receiver:
    """The program beside this file, receiving; `rows` are what came, once the run is over."""

    def __init__(self, out: Path) -> None:
        script = str(Path(__file__).with_name("receiver.py"))
        self._out = out
        self._file = out.open("wb")
        self._process = subprocess.Popen([sys.executable, script, "3"], stdout=self._file)
        self.found: list[str] = []

    def wait_found(self) -> None:
        while b"\n" not in self._out.read_bytes():
            assert self._process.poll() is None, "nothing was found"
            time.sleep(0.01)
        self.found = json.loads(self._out.read_bytes().splitlines()[0])["found"]

    def rows(self) -> list[dict[str, Any]]:
        assert self._process.wait(60) == 0
        return [json.loads(line) for line in self._out.read_bytes().splitlines()[1:]]

    def hang(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._file.close()


@contextmanager
def receiving(folder: Path) -> Iterator[Receiver]:
    receiver = Receiver(folder / "received.jsonl")
    try:
        yield receiver
    finally:
        receiver.kill()


def live(tmp_path: Path, **changes: Any) -> OpenSession:
    study = tmp_path / "short.yaml"
    study.write_text(SHORT.read_text().replace(", sinelines/vae", ""))
    values = {"study": study, "clock": SessionClock(), "make_scheduler": LoopScheduler}
    return opened(tmp_path, **{**values, "make_streams": SessionStreams, **changes})


def play(session: OpenSession, until: int | None = None) -> None:
    """A simulated participant, on the real clock; until so many events, else to the end."""
    runner = session.runner
    driver = Driver(
        runner, session.give_consent, "knowing", 1, session.planned.participant, FAST, paints=True
    )
    driver.start()
    scheduler = runner.scheduler
    assert isinstance(scheduler, LoopScheduler)
    scheduler.run(
        lambda: runner.finished if until is None else runner.journal.committed_seq >= until
    )
    driver.stop()


def stamp_of(rows: Sequence[Event], event: Event) -> float:
    """The time on LSL's clock that the journal says an event of the first run has."""
    clock = next(row for row in rows if row.kind == "lsl.clock").payload
    return float(clock["lsl_s"]) + (event.t_ns - int(clock["session_ns"])) / NS


def marked(events: Sequence[Event]) -> list[Event]:
    silent = frequent_kinds() | LEFT_OUT
    return [e for e in events if e.kind not in silent and e.kind != "session.planned"]


@pytest.fixture
def late_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not get its turn in the last moment before the streams are gone."""
    monkeypatch.setattr(lsl, "LINGER_S", 2.0)
    monkeypatch.setattr(lsl, "JOIN_S", 20.0)


@pytest.mark.usefixtures("late_receiver")
def test_another_process_gets_every_marker_in_order_and_in_time(tmp_path: Path) -> None:
    session = live(tmp_path)
    with receiving(tmp_path) as receiver:
        receiver.wait_found()
        assert receiver.found == ["labapp-alignment", "labapp-dials", "labapp-events"]
        session.begin()
        session.runner.send(AddNote("Ann Smith is tired", 0), Source.MODERATOR)
        assert session.runner.streams is not None
        assert session.runner.streams.received
        play(session)
        session.close("completed")
        rows = receiver.rows()
    events = read_verified_events(session.folder.path)
    came = {name: [row for row in rows if row["stream"] == name] for name in receiver.found}

    markers = [json.loads(row["sample"][0]) for row in came["labapp-events"]]
    expected = [json.loads(marker(event)) for event in marked(events)]
    assert markers == expected
    assert {row["type"] for row in came["labapp-events"]} == {"Markers"}
    assert {"segment.started", "trial.ended", "note.added", "segment.ended"} <= {
        row["kind"] for row in markers
    }
    for event, row in zip(marked(events), came["labapp-events"], strict=True):
        assert row["stamp"] == pytest.approx(stamp_of(events, event), abs=1e-4)
    assert all(row["came"] >= row["stamp"] for row in came["labapp-events"])
    # Other programs may keep this machine busy for a moment: that of the receiver is left out, and
    # of the sender's there is no tenth.
    steady = [row for row in came["labapp-events"] if row["steady"] > LATEST_S]
    late = sorted(row["came"] - row["stamp"] for row in steady)
    assert len(late) > 10
    assert late[int(len(late) * MOST_OF_THEM)] <= LATEST_S, late[-20:]

    moves = [payload_of(e).moved_dial() for e in events]
    expected_dials = [list(map(float, move)) for move in moves if move is not None]
    assert len(expected_dials) > 10
    assert [row["sample"] for row in came["labapp-dials"]] == [
        pytest.approx(move, abs=1e-6) for move in expected_dials
    ]
    compared = [p.alignment for p in map(payload_of, events) if isinstance(p, Comparison)]
    assert [row["sample"][0] for row in came["labapp-alignment"]] == pytest.approx(
        compared, abs=1e-6
    )
    for name in receiver.found:
        stamps = [row["stamp"] for row in came[name]]
        assert stamps == sorted(stamps)

    (opened_row,) = (e for e in events if e.kind == "lsl.opened")
    assert {row["source"] for row in rows} == {
        f"{opened_row.payload['source_id']}-{name}" for name in receiver.found
    }
    sent = json.dumps(rows)
    for private in ("Ann", "Smith", "P01", str(tmp_path)):
        assert private not in sent


@pytest.mark.usefixtures("late_receiver")
def test_a_resumed_session_is_the_same_source_and_goes_on(tmp_path: Path) -> None:
    session = live(tmp_path)
    session.begin()
    play(session, until=30)
    session.close("interrupted")
    again = {"make_scheduler": LoopScheduler, "make_streams": SessionStreams}
    session = resume_session(tmp_path, session.folder.path, **again)
    with receiving(tmp_path) as receiver:
        receiver.wait_found()
        session.begin()
        session.runner.send(Resume("on"), Source.MODERATOR)
        play(session)
        session.close("completed")
        rows = receiver.rows()
    events = read_verified_events(session.folder.path)
    sources = {e.payload["source_id"] for e in events if e.kind == "lsl.opened"}
    assert len(sources) == 1
    got = [json.loads(r["sample"][0])["seq"] for r in rows if r["stream"] == "labapp-events"]
    assert got == [e.seq for e in marked(events) if e.segment == 2]
    clock = next(e for e in events if e.kind == "lsl.clock" and e.segment == 2).payload
    by_seq = {e.seq: e for e in events}
    for row in rows:
        if row["stream"] == "labapp-events":
            event = by_seq[json.loads(row["sample"][0])["seq"]]
            expected = clock["lsl_s"] + (event.t_ns - clock["session_ns"]) / NS
            assert row["stamp"] == pytest.approx(expected, abs=1e-4)


def test_a_run_without_lsl_after_one_with_it_says_so(tmp_path: Path) -> None:
    session = live(tmp_path)
    session.begin()
    session.close("interrupted")
    session = resume_session(tmp_path, session.folder.path, make_scheduler=LoopScheduler)
    session.begin()
    assert session.runner.streams is None
    session.close("interrupted")
    (off,) = (e for e in read_verified_events(session.folder.path) if e.kind == "lsl.off")
    assert off.payload["reason"].startswith("This run began without LSL")


def test_a_whole_simulated_session_through_the_windows(labapp: Labapp, tmp_path: Path) -> None:
    study = tmp_path / "short.yaml"
    study.write_text(
        SHORT.read_text()
        .replace(", sinelines/vae", "")
        .replace("silence_prompt_s: 5", "silence_prompt_s: 5, lsl: required")
    )
    with receiving(tmp_path) as receiver:
        simulated = ("--simulate", "knowing", "--audio", "off", "--windowed")
        done = labapp("run", study, "--participant", "P01", *simulated)
        assert done.returncode == 0, done.stderr
        receiver.wait_found()
        rows = receiver.rows()
    (folder,) = (tmp_path / "data" / "short").glob("sub-*")
    events = read_verified_events(folder)
    got = [json.loads(r["sample"][0])["seq"] for r in rows if r["stream"] == "labapp-events"]
    # The program does not wait for receivers: this one may have found the streams a moment later.
    expected = [e.seq for e in marked(events)]
    assert got == expected[len(expected) - len(got) :]
    assert len(got) > len(expected) / 2


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be halted here")
def test_a_recorder_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    session = live(tmp_path)
    with receiving(tmp_path) as receiver:
        receiver.wait_found()
        session.begin()
        receiver.hang()
        play(session)
        begun = time.monotonic()
        session.close("completed")
        assert time.monotonic() - begun < lsl.JOIN_S
    events = read_verified_events(session.folder.path)
    assert events[-2].kind == "session.completed"
    assert "alarm.raised" not in {e.kind for e in events}


class Failing:
    """An outlet of a network that is gone."""

    def push_sample(self, sample: object, stamp: float) -> None:
        raise RuntimeError("gone")

    def have_consumers(self) -> bool:
        return False


def test_what_fails_meanwhile_is_an_alarm_once_and_the_session_goes_on(tmp_path: Path) -> None:
    session = live(tmp_path)
    sender = session.runner.streams
    assert isinstance(sender, SessionStreams)
    sender._outlets = dict.fromkeys(lsl.NAMES, Failing())
    session.begin()
    play(session)
    session.close("completed")
    events = read_verified_events(session.folder.path)
    (alarm,) = (e for e in events if e.kind == "alarm.raised")
    assert alarm.payload["code"] == "lsl_failed"
    assert alarm.payload["detail"] == "Events are no longer sent over LSL: gone"
    assert events[-2].kind == "session.completed"


def refuse(source: str, clock: object, emit: object) -> SessionStreams:
    raise LslError("The LSL streams could not be opened: forbidden")


def test_streams_that_cannot_be_opened(tmp_path: Path) -> None:
    session = live(tmp_path, make_streams=refuse)
    session.begin()
    session.close("interrupted")
    (off,) = (e for e in read_verified_events(session.folder.path) if e.kind == LslOff.kind)
    assert off.payload["reason"] == "The LSL streams could not be opened: forbidden"
    with pytest.raises(LslError, match="forbidden"):
        live(tmp_path, make_streams=refuse, streams_required=True, participant="P02")


def test_a_clock_that_drifts_is_journalled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[Payload] = []
    monkeypatch.setattr(lsl, "CLOCK_S", 0.05)
    sender = SessionStreams("drifts", SessionClock(), stored.append)
    try:
        real = sender._lsl.local_clock
        shift_s = 0.0

        class Shifted:
            """LSL's clock as on a machine where it is none of Python's."""

            @staticmethod
            def local_clock() -> float:
                return float(real()) + shift_s

        sender._lsl = Shifted()  # type: ignore[assignment]
        for expected in (1, 2, 3):
            deadline = SessionClock()
            while len(stored) < expected:
                assert deadline.now_ns() < 10 * NS
            shift_s += 0.5
    finally:
        sender.close()
    shifts = [
        b.lsl_s - a.lsl_s - (b.session_ns - a.session_ns) / NS  # type: ignore[attr-defined]
        for a, b in pairwise(stored)
    ]
    assert shifts[:2] == pytest.approx([0.5, 0.5], abs=0.01)


def test_the_last_of_a_closed_journal_is_no_crash() -> None:
    def closed(payload: Payload) -> None:
        raise JournalError("closed")

    sender = SessionStreams("closed", SessionClock(), closed)
    sender.close()
    sender.close()
    assert not sender._thread.is_alive()
    assert not sender.received


def test_a_withdrawal_says_that_events_were_sent(tmp_path: Path) -> None:
    session = live(tmp_path)
    session.begin()
    session.close("interrupted")
    (row,) = (e for e in read_verified_events(session.folder.path) if e.kind == "lsl.opened")
    report = withdraw(session.folder.path, tmp_path / "private", delete=True)
    told = "\n".join(report.lines())
    assert "The session’s events were sent over LSL" in told
    assert row.payload["source_id"] in told
