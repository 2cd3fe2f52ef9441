"""When the participant's keyboard was away, and which trials that fell into: a fold over one
session.

It was away while the moderator had it (`keyboard.given`) and while the participant's window did not
have it (`window.focus`), pauses aside. What a trial measures of time may then be wrong: a press
that went elsewhere is repeated late, or made with the mouse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labapp.analysis.task_records import Key
from labapp.clock import NS
from labapp.events import Body, Event, Source
from labapp.events.durations import Pauses
from labapp.events.keyboard import KeyboardGiven
from labapp.events.lifecycle import SegmentStarted, WindowFocus
from labapp.events.trials import TrialEnded
from labapp.tasks.unmasking.events import ResponseGiven, StimulusShown

MODERATOR = "moderator"


@dataclass(frozen=True, slots=True)
class KeyboardAway:
    """spans: session times in ns, from and until, ascending; ends: of each attempt the time of what
    ended it: its timed response, else the end of its trial; onsets: of timed stimuli."""

    spans: tuple[tuple[int, int], ...]
    onsets: dict[Key, int]
    ends: dict[Key, int]
    until_ns: int

    def within(self, from_ns: int, until_ns: int) -> bool:
        """Whether it was away at any time between two session times, both included."""
        return any(start <= until_ns and end >= from_ns for start, end in self.spans)

    def fell_into(self, key: Key, started_ns: int) -> bool:
        """Whether it was away during an attempt that started then."""
        started_ns = self.onsets.get(key, started_ns)
        return self.within(started_ns, self.ends.get(key, self.until_ns))


def fold_keyboard(events: Iterable[tuple[Event, Body]]) -> KeyboardAway:
    """When the keyboard was away in a session, and when its attempts ended.

    A program has no keyboard: of a simulated participant there is no such time. A run of the
    program begins with the keyboard at the participant's.
    """
    spans: list[tuple[int, int]] = []
    onsets: dict[Key, int] = {}
    ends: dict[Key, int] = {}
    pauses = Pauses()
    lent = unfocused = simulated = False
    since: int | None = None
    now_ns = 0
    for event, body in events:
        pauses = pauses.apply(event)
        now_ns = event.t_ns
        simulated = simulated or event.source == Source.SIMULATED
        match body:
            case SegmentStarted():
                lent = unfocused = False
            case KeyboardGiven():
                lent = body.to == MODERATOR
            case WindowFocus():
                unfocused = not body.focused
        if event.stage is not None and event.trial is not None and event.attempt is not None:
            key = (event.stage, event.trial, event.attempt)
            match body:
                case StimulusShown():
                    onsets[key] = body.painted_ns
                case ResponseGiven():
                    ends[key] = body.input_ns
                case TrialEnded():
                    ends.setdefault(key, event.t_ns)
        away = (lent or unfocused) and not pauses.paused
        if away and since is None:
            since = now_ns
        elif not away and since is not None:
            spans.append((since, now_ns if pauses.open_since_ns is None else pauses.open_since_ns))
            since = None
    if since is not None:
        spans.append((since, now_ns))
    return KeyboardAway(() if simulated else tuple(spans), onsets, ends, now_ns)


def trials_away(
    events: Sequence[tuple[Event, Body]], started: Iterable[tuple[Key, float | None]]
) -> frozenset[Key]:
    """The attempts into which it fell that the keyboard was away.

    started : each attempt with the session time in s of its start, None where it never appeared.
    """
    away = fold_keyboard(events)
    if not away.spans:
        return frozenset()
    return frozenset(
        key
        for key, seconds in started
        if seconds is not None and away.fell_into(key, round(seconds * NS))
    )
