"""What kept a participant from answering: the keyboard was away, with the moderator or with another
program, or the computer stood still."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from labapp.analysis.task_records import Attempt, Key
from labapp.clock import NS
from labapp.events import Event, Payload, Source
from labapp.events.durations import Pauses
from labapp.events.keyboard import KeyboardGiven
from labapp.events.lifecycle import ProgramStalled, SegmentStarted, WindowFocus

MODERATOR, RECORDER = "moderator", "recorder"


def spans_away(events: Iterable[tuple[Event, Payload]]) -> list[tuple[int, int]]:
    """When the keyboard was away in a session: session times in ns, from and until, ascending.

    It was away while the moderator had it (`keyboard.given`) and while the participant's window did
    not have it (`window.focus`), pauses aside. What a trial measures of time may then be wrong: a
    press that went elsewhere is repeated late, or made with the mouse.

    A program has no keyboard: of a simulated participant there is no such time. A run of the
    program begins with the keyboard at the participant's.
    """
    spans: list[tuple[int, int]] = []
    pauses = Pauses()
    lent = unfocused = False
    since: int | None = None
    now_ns = 0
    for event, payload in events:
        pauses = pauses.apply(event)
        now_ns = event.t_ns
        if event.source == Source.SIMULATED:
            return []
        match payload:
            case SegmentStarted():
                lent = unfocused = False
            case KeyboardGiven():
                lent = payload.to == MODERATOR
            case WindowFocus():
                unfocused = not payload.focused
        away = (lent or unfocused) and not pauses.paused
        if away and since is None:
            since = now_ns
        elif not away and since is not None:
            spans.append((since, now_ns if pauses.open_since_ns is None else pauses.open_since_ns))
            since = None
    if since is not None:
        spans.append((since, now_ns))
    return spans


def within(spans: Iterable[tuple[int, int]], from_ns: int, until_ns: int) -> bool:
    """Whether any of them falls between two session times, both included."""
    return any(start <= until_ns and end >= from_ns for start, end in spans)


def stalls_of(events: Iterable[tuple[Event, Payload]]) -> list[ProgramStalled]:
    """When the program, and the participant with it, stood still; the recorder alone holds nobody
    up."""
    stalls = (payload for _, payload in events if isinstance(payload, ProgramStalled))
    return [stall for stall in stalls if stall.who != RECORDER]


def stalled_s(
    stalls: Iterable[ProgramStalled], attempts: Iterable[Attempt], last_ns: int
) -> Mapping[Key, float]:
    """By attempt how long that lasted within it, in s, where it did; one without an end lasts to
    that of the session, at last_ns."""
    seconds: dict[Key, float] = {}
    for stall, attempt in product(stalls, attempts):
        begins = attempt.started_session_ns
        ends = last_ns if attempt.ended_session_ns is None else attempt.ended_session_ns
        until_ns = stall.from_ns + stall.duration_ns
        if begins is None or not begins <= until_ns or not stall.from_ns <= ends:
            continue
        within_ns = max(0, min(until_ns, ends) - max(stall.from_ns, begins)) + stall.asleep_ns
        seconds[attempt.key] = seconds.get(attempt.key, 0.0) + within_ns / NS
    return seconds


def trials_away(
    events: Sequence[tuple[Event, Payload]], attempts: Iterable[Attempt]
) -> frozenset[Key]:
    """The attempts into which it fell that the keyboard was away; one without an end lasts to that
    of the session."""
    spans = spans_away(events)
    last_ns = events[-1][0].t_ns
    return frozenset(
        attempt.key
        for attempt in attempts
        if attempt.started_session_ns is not None
        and within(
            spans,
            attempt.started_session_ns,
            last_ns if attempt.ended_session_ns is None else attempt.ended_session_ns,
        )
    )
