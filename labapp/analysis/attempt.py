"""An attempt at a question of any task: when it ran, and whether it counts in its stage's metrics.

One rule for all tasks: what was never shown, what was broken off, what the moderator cut off and
what was asked again does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from labapp.clock import NS
from labapp.events import Body, Event

if TYPE_CHECKING:
    from labapp.analysis.task_records import RecordedPart

Key = tuple[str, int, int]
"""Stage, number of the question, attempt."""

INTERRUPTED = "interrupted"
"""The outcome of an attempt whose end was never recorded, or was broken off by a pause."""
BEGAN_AGAIN = "its stage began again"
REPEATED = "repeated in a later attempt"


class Attempt:
    """One attempt, while its events come in and after.

    Times are in ns, working time but for those that say session; None where the thing did not
    happen. superseded: why another attempt counts instead.
    """

    part: RecordedPart

    def __init__(self, key: Key) -> None:
        self.key = key
        self.trial, self.attempt = key[1:]
        self.started_session_ns: int | None = None
        self.started_ns: int | None = None
        self.outcome: str | None = None
        self.superseded: str | None = None

    def take(self, event: Event, body: Body, working: int) -> None:
        """Take in an event of this attempt at working time `working` in ns."""

    @property
    def complete(self) -> bool:
        """Whether all was said that makes it count, whatever ended it."""
        return False

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count in the stage's metrics."""
        if self.superseded is not None:
            return self.superseded
        if self.started_ns is None:
            return "never shown"
        if self.complete:
            return None
        if self.outcome in (None, INTERRUPTED):
            return "interrupted before its end"
        if self.outcome == "stage_skipped":
            return "cut off when the moderator skipped the stage"
        return None

    @property
    def started_session_s(self) -> float | None:
        """Session time of its appearance."""
        return None if self.started_session_ns is None else self.started_session_ns / NS

    @property
    def planned_session_s(self) -> float | None:
        """Session time at which it appeared, or was to appear; None where nobody knows."""
        return self.started_session_s

    def since_start(self, working: int | None) -> float | None:
        """Seconds from its appearance."""
        if working is None or self.started_ns is None:
            return None
        return (working - self.started_ns) / NS


def supersede(attempts: Mapping[Key, Attempt], counts: Mapping[str | None, int]) -> None:
    """Mark the attempts instead of which a later one counts; counts: stage -> the first attempt
    that counts, where the stage began again."""
    latest = {(stage, trial): number for stage, trial, number in attempts}
    for (stage, trial, number), attempt in attempts.items():
        if number < counts.get(stage, 1):
            attempt.superseded = BEGAN_AGAIN
        elif number != latest[stage, trial]:
            attempt.superseded = REPEATED
