"""What stood still: the program, or the whole computer.

The thread of the windows beats a few times a second. Before the program does anything, it looks how
long ago that was: after more than a second it had stood still, for whatever reason (a stopped
process, a disk that swaps, a computer that slept). Another process, `labapp.session.bystander`,
then says whether it had stood still as well. Two clocks show whether the computer slept: one of
them goes on during sleep.
"""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from labapp.base.clock import Clock, boot_ns
from labapp.base.installation import script_command, wait_or_kill
from labapp.session import bystander
from labapp.session.bystander import STILL_NS

BEAT_S = 0.25
ANSWER_S = 0.5
"""How long the program waits for the other process to say whether it had stood still, too."""
CHANGED_S = 1.0
"""A time of day that moves by more against the computer's own clock was set."""


class Standstill(NamedTuple):
    """Who stood still, between which readings of `time.perf_counter_ns`, and how long the computer
    slept besides; see `labapp.record.events.lifecycle.ProgramStalled`."""

    who: str
    from_ns: int
    until_ns: int
    asleep_ns: int


class OtherProcess:
    """The other process, started when it is needed and again when somebody ended it."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._child = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            script_command(Path(bystander.__file__)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        threading.Thread(
            target=self._read, args=(child,), name="labapp-bystander", daemon=True
        ).start()
        return child

    def _read(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        with child.stdout as pipe:
            for line in pipe:
                self._answers.put(line)

    @property
    def pid(self) -> int:
        return self._child.pid

    def revive(self) -> None:
        """Start it again if somebody ended it."""
        if self._child.poll() is not None:
            self._child = self._start()

    def stood_still(self) -> tuple[int, int] | None:
        """When it last stood still, by `time.perf_counter_ns`; None if it does not answer, for
        then it stands still now. One that somebody ended saw nothing stand still."""
        while not self._answers.empty():
            self._answers.get_nowait()
        try:
            assert self._child.stdin is not None
            self._child.stdin.write(b"?")
            began, ended = map(int, self._answers.get(timeout=ANSWER_S).split())
        except (OSError, queue.Empty):
            return None if self._child.poll() is None else (0, 0)  # the next beat starts another
        return began, ended

    def close(self) -> None:
        """End it."""
        child = self._child
        with suppress(OSError):
            assert child.stdin is not None
            child.stdin.close()
        wait_or_kill(child, ANSWER_S)


class Heartbeat:
    """Notices what stands still, and a time of day that is set.

    Parameters
    ----------
    clock : of the session.
    start : makes the other process.
    now_ns, boot_clock_ns, time_of_day : the computer's clocks: `time.perf_counter_ns`, one that
        goes on in sleep, and the one that people read.
    """

    def __init__(
        self,
        clock: Clock,
        start: Callable[[], OtherProcess] = OtherProcess,
        *,
        now_ns: Callable[[], int] = time.perf_counter_ns,
        boot_clock_ns: Callable[[], int] = boot_ns,
        time_of_day: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._clock, self._start = clock, start
        self._now_ns, self._boot_ns, self._time_of_day = now_ns, boot_clock_ns, time_of_day
        self._other: OtherProcess | None = None
        self._last_ns = 0
        self._slept_ns = self._boot_ns() - self._now_ns()
        self._ahead_s = 0.0

    def begin(self) -> None:
        """From now on a standstill is noticed."""
        self._other = self._start()
        self.rest()
        self._ahead_s = self._ahead()

    def rest(self) -> None:
        """Note that the time until now was intended: nothing was frozen."""
        self._newly_slept()
        self._last_ns = self._now_ns()

    def beat(self) -> None:
        """A few times a second, from the thread that is watched; `look` first."""
        if self._other is not None:
            self._other.revive()

    def look(self) -> Standstill | None:
        """What has stood still since the last look. Quick: it is asked before every command."""
        if self._other is None:
            return None
        before, now = self._last_ns, self._now_ns()
        self._last_ns = now
        if now - before <= STILL_NS:
            return None
        asleep = self._newly_slept()
        return Standstill(self._who(before, now, asleep), before, now, asleep)

    def detect_sleep(self) -> Standstill | None:
        """Whether the computer slept although its other clock shows no gap; asked at a beat."""
        asleep = self._newly_slept()
        if asleep <= STILL_NS:
            return None
        return Standstill("computer", self._last_ns, self._last_ns, asleep)

    def _newly_slept(self) -> int:
        """How much further the clock came that goes on in sleep. It is read first: whatever comes
        between the two readings looks like less sleep, and what was seen once is not seen again."""
        slept = self._boot_ns() - self._now_ns()
        newly = slept - self._slept_ns
        self._slept_ns = max(self._slept_ns, slept)
        return newly if newly > STILL_NS else 0

    def _who(self, before: int, now: int, asleep: int) -> str:
        if asleep or self._other is None:
            return "computer"
        still = self._other.stood_still()
        self._last_ns = self._now_ns()
        if still is None:
            return "computer"
        together = min(now, still[1]) - max(before, still[0])
        return "computer" if 2 * together > now - before else "program"

    def clock_changed(self) -> float:
        """By how many seconds the time of day was set since the last call; 0 if it was not."""
        ahead = self._ahead()
        changed = ahead - self._ahead_s
        if abs(changed) <= CHANGED_S:
            return 0.0
        self._ahead_s = ahead
        return changed

    def _ahead(self) -> float:
        """How far the time of day is ahead of the session's, in s."""
        return (self._time_of_day() - self._clock.utc()).total_seconds()

    def close(self) -> None:
        """End the other process."""
        if self._other is not None:
            self._other.close()
            self._other = None
