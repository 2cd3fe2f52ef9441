"""The one monotonic clock of a session.

Every event, audio block and timer of a session is on this clock: nanoseconds since the session
began, continued over restarts. `time.perf_counter_ns` is the machine's monotonic clock on every
platform we run on. On Linux and macOS it stands still while the computer sleeps; `boot_ns` goes on.

UTC is written next to it for people. It is read once, when the clock is made, and goes on by
`boot_ns`: when somebody sets the computer's clock, UTC in the journal neither jumps nor runs back.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

NS = 1_000_000_000
_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)
if sys.platform == "darwin":
    _BOOT_CLOCK = time.CLOCK_MONOTONIC  # which goes on in sleep there, other than on Linux


def boot_ns() -> int:
    """Nanoseconds on a clock that nobody can set and that goes on while the computer sleeps."""
    return time.perf_counter_ns() if _BOOT_CLOCK is None else time.clock_gettime_ns(_BOOT_CLOCK)


class Clock(Protocol):
    """What a session needs to know about time."""

    def now_ns(self) -> int:
        """Nanoseconds since the session began."""

    def utc(self) -> datetime:
        """The wall clock, time zone UTC."""

    def from_perf_ns(self, perf_ns: int) -> int:
        """Session time of a `time.perf_counter_ns` reading."""

    def real_seconds(self, session_ns: int) -> float:
        """How long a span of session time takes in the room, in seconds (timers need it)."""


class SessionClock:
    """The real clock.

    Parameters
    ----------
    start_ns : session time at construction; a resumed session goes on where it stopped.
    speed : session seconds per real second; other than 1 only in simulations without sound.
    utc : the time of day at construction, if it is not the computer's own (a resumed session
        goes on from what it knows).
    """

    def __init__(self, start_ns: int = 0, speed: float = 1.0, utc: datetime | None = None) -> None:
        if speed <= 0:
            raise ValueError(f"speed must be above 0, found {speed}")
        self._origin = time.perf_counter_ns()
        self._looked, self._slept = self._origin, boot_ns() - self._origin
        began = (datetime.now(UTC) if utc is None else utc).timestamp()
        self._epoch_s = began - (self._origin + self._slept) / NS
        self._start = start_ns
        self.speed = speed

    def now_ns(self) -> int:
        return self.from_perf_ns(time.perf_counter_ns())

    def utc(self) -> datetime:
        now = time.perf_counter_ns()
        if now - self._looked > NS:  # every event asks: the clock that counts sleep takes longer
            # In this order: whatever comes between the two readings looks like less sleep.
            self._looked, slept = now, boot_ns() - time.perf_counter_ns()
            if slept - self._slept > NS // 2:
                self._slept = slept
        return datetime.fromtimestamp(self._epoch_s + (now + self._slept) / NS, UTC)

    def boot_zero_ns(self) -> int | None:
        """What `boot_ns` would have shown at session time 0, had this run begun there; None if
        session time does not pass as the computer's."""
        return boot_ns() - self.now_ns() if self.speed == 1.0 else None

    def from_perf_ns(self, perf_ns: int) -> int:
        elapsed = perf_ns - self._origin
        return self._start + (elapsed if self.speed == 1.0 else int(elapsed * self.speed))

    def real_seconds(self, session_ns: int) -> float:
        return session_ns / NS / self.speed


class FakeClock:
    """A clock that stands still until told: for tests and for simulations without windows."""

    def __init__(self, now_ns: int = 0, utc: datetime | None = None) -> None:
        self._now = now_ns
        self._epoch = utc or datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        there = self._epoch.astimezone(UTC)
        self._midnight = there.replace(hour=0, minute=0, second=0, microsecond=0)
        self._since_midnight = (there - self._midnight) // timedelta(microseconds=1)
        self._day = (-1, "")

    def now_ns(self) -> int:
        return self._now

    def utc(self) -> datetime:
        return self._epoch + timedelta(microseconds=self._now / 1000)

    def utc_text(self) -> str:
        """As `utc_text` of `utc`, in a third of the time."""
        seconds, micro = divmod(self._since_midnight + round(self._now / 1000), 1_000_000)
        day, second = divmod(seconds, 86_400)
        if day != self._day[0]:
            self._day = day, f"{self._midnight + timedelta(days=day):%Y-%m-%dT}"
        hour, minute = divmod(second // 60, 60)
        return f"{self._day[1]}{hour:02d}:{minute:02d}:{second % 60:02d}.{micro:06d}Z"

    def from_perf_ns(self, perf_ns: int) -> int:
        return perf_ns

    def real_seconds(self, session_ns: int) -> float:
        return session_ns / NS

    def advance(self, seconds: float) -> None:
        self._now += round(seconds * NS)

    def set_ns(self, now_ns: int) -> None:
        if now_ns < self._now:
            raise ValueError(f"time cannot run backwards: {now_ns} is before {self._now}")
        self._now = now_ns


def utc_text(moment: datetime) -> str:
    """ISO 8601 with microseconds and Z, for example 2026-01-02T03:04:05.000000Z."""
    # Every event has one, and `strftime` takes five times as long.
    there = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return there.isoformat(timespec="microseconds")[:-6] + "Z"


def utc_label(moment: datetime) -> str:
    """The compact form used in folder names, for example 20260102T030405Z."""
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
