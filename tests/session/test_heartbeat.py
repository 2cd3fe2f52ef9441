"""What stands still is noticed: the program, the computer, or neither; with real processes, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from labapp.base.clock import NS, FakeClock, SessionClock
from labapp.record.events import Event
from labapp.session.heartbeat import Heartbeat, Standstill
from labapp.session.resuming import continue_clock
from tests.helpers.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
MORNING = datetime(2026, 1, 2, 9, tzinfo=UTC)


class Room:
    """The clocks of a computer, and another process that stands still on demand."""

    def __init__(self) -> None:
        self.now = self.asleep = self.set_s = 0
        self.still: tuple[int, int] | None = (0, 0)
        self.asked = 0
        self.clock = FakeClock(utc=MORNING)
        self.heart = Heartbeat(
            self.clock,
            lambda: self,
            now_ns=lambda: self.now,
            boot_clock_ns=lambda: self.now + self.asleep,
            time_of_day=lambda: self.clock.utc() + timedelta(seconds=self.set_s),
        )
        self.heart.begin()

    def revive(self) -> None: ...
    def close(self) -> None: ...

    def stood_still(self) -> tuple[int, int] | None:
        self.asked += 1
        return self.still


def test_a_second_is_no_standstill_and_asks_nobody() -> None:
    room = Room()
    for _ in range(20):
        room.now += NS
        assert room.heart.look() is None
    assert not room.asked


def test_who_stood_still_is_told_by_the_other_process() -> None:
    room = Room()
    room.now += 20 * NS
    assert room.heart.look() == Standstill("program", 0, 20 * NS, 0)
    room.still, room.now = (20 * NS, 40 * NS), 40 * NS
    assert room.heart.look() == Standstill("computer", 20 * NS, 40 * NS, 0)
    room.still, room.now = (20 * NS, 40 * NS), 60 * NS  # that was the time before
    assert room.heart.look() == Standstill("program", 40 * NS, 60 * NS, 0)
    room.still, room.now = None, 80 * NS  # it stands still yet
    assert room.heart.look() == Standstill("computer", 60 * NS, 80 * NS, 0)
    assert room.heart.look() is None, "it is reported once"


def test_sleep_is_told_by_the_clock_that_goes_on_in_it() -> None:
    room = Room()
    room.now, room.asleep = NS // 4, 600 * NS
    assert room.heart.look() is None
    assert room.heart.detect_sleep() == Standstill("computer", NS // 4, NS // 4, 600 * NS)
    assert room.heart.detect_sleep() is None


def test_a_pause_that_was_meant_is_no_standstill() -> None:
    room = Room()
    room.now += 5 * NS
    room.heart.rest()
    assert room.heart.look() is None


def test_a_time_of_day_that_is_set_is_told_once_by_how_much() -> None:
    room = Room()
    room.set_s = 7200
    assert room.heart.clock_changed() == 7200
    assert room.heart.clock_changed() == 0
    room.set_s = -7200
    assert room.heart.clock_changed() == -14400


PROGRAM = """\
import os, sys, time
from labapp.base.clock import SessionClock
from labapp.session.heartbeat import BEAT_S, Heartbeat, OtherProcess
other = []
heart = Heartbeat(SessionClock(), lambda: other.append(OtherProcess()) or other[0])
heart.begin()
print(other[0].pid, flush=True)
while True:
    time.sleep(BEAT_S)
    if (still := heart.look()) is not None:
        print(still.who, (still.until_ns - still.from_ns) / 1e9, flush=True)
    heart.beat()
"""


def state_of(pid: int) -> str:
    """Z: it ended; empty: it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are stopped and looked at"
)
def test_real_processes_that_are_stopped_and_killed() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    try:
        other = int(program.stdout.readline())
        memory = Path(f"/proc/{other}/status").read_text()
        assert int(memory.split("RssAnon:")[1].split()[0]) < 8000, "kB: it is to be small"
        for stopped, who in (([program.pid], "program"), ([program.pid, other], "computer")):
            time.sleep(0.6)
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(2.0)
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
            seconds = "0"
            while float(seconds) <= 1.9:  # shorter ones are of a busy machine
                told, seconds = program.stdout.readline().split()
            assert told == who
        os.kill(program.pid, signal.SIGSTOP)
        os.kill(other, signal.SIGKILL)
        time.sleep(2.0)
        os.kill(program.pid, signal.SIGCONT)
        assert program.stdout.readline().split()[0] == "program", "nobody saw the computer stop"
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        wait_for(lambda: children.read_text().split() not in ([], [str(other)]))
        other = int(children.read_text().split()[-1])
        program.kill()
        program.wait()
        wait_for(lambda: state_of(other) in ("", "Z"))
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def past(*, boot_ns: int | None, utc: datetime, last_ns: int, asleep_ns: int = 0) -> list[Event]:
    """A run that began at session time 0 and broke off."""
    began = {"boot_id": "this", "boot_ns": boot_ns}
    told = [
        (0, "segment.started", began),
        (last_ns, "program.stalled", {"asleep_ns": asleep_ns}),
        (last_ns, "dial.moved", {}),
    ]
    stamp = utc.isoformat()
    return [
        Event(number, 1, t_ns, stamp, "system", kind, 1, None, None, None, payload)
        for number, (t_ns, kind, payload) in enumerate(told, 1)
    ]


@pytest.mark.parametrize("set_s", [0, 7200, -7200])
def test_on_one_start_of_the_computer_the_gap_is_right_whatever_the_time_of_day(set_s: int) -> None:
    events = past(boot_ns=1000, utc=MORNING, last_ns=30 * NS, asleep_ns=60 * NS)
    continued = continue_clock(
        events,
        1.0,
        boot_id="this",
        boot_clock_ns=lambda: 1000 + (30 + 60 + 16) * NS,
        time_of_day=lambda: MORNING + timedelta(seconds=16 + set_s),
    )
    assert continued.gap_by == "monotonic"
    assert continued.clock.now_ns() == pytest.approx(46 * NS, abs=5 * NS)
    assert (continued.clock.utc() - MORNING).total_seconds() == pytest.approx(16, abs=5)
    changed = continued.changed
    assert (changed.by_s if changed else 0) == set_s
    assert changed is None or changed.certain


@pytest.mark.parametrize(("wall_s", "passed_s", "told"), [(16, 16, False), (-7200, 0, True)])
def test_after_a_restart_of_the_computer_the_time_of_day_says_it_and_never_runs_back(
    wall_s: int, passed_s: int, told: bool
) -> None:
    continued = continue_clock(
        past(boot_ns=1000, utc=MORNING, last_ns=30 * NS),
        1.0,
        boot_id="another",
        time_of_day=lambda: MORNING + timedelta(seconds=wall_s),
    )
    assert continued.gap_by == "wall"
    assert continued.clock.now_ns() == pytest.approx((30 + passed_s) * NS, abs=5 * NS)
    assert continued.clock.utc() >= MORNING
    assert (continued.changed is not None) == told
    assert continued.changed is None or not continued.changed.certain


def test_an_older_journal_goes_on_by_the_time_of_day() -> None:
    continued = continue_clock(
        past(boot_ns=None, utc=MORNING, last_ns=30 * NS),
        1.0,
        boot_id="this",
        time_of_day=lambda: MORNING + timedelta(seconds=5),
    )
    assert (continued.gap_by, continued.changed) == ("wall", None)


def test_a_time_of_day_that_is_set_does_not_move_the_utc_of_a_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SessionClock()
    before = clock.utc()

    class Asked(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Asked:
            raise AssertionError("nobody asks it again")

    monkeypatch.setattr("labapp.base.clock.datetime", Asked)
    assert 0 <= (clock.utc() - before).total_seconds() < 60
