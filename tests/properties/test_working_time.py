"""Working time, active time and the skip offer against a count made second by second."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events import Event
from labapp.record.events.commands import Pause, Resume
from labapp.record.events.lifecycle import (
    SegmentStarted,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.record.events.registry import Pauses
from labapp.tasks.reconstruction.events import MoveDial, SelectDial
from tests.helpers.play import NS, Play, stage_machine

MS = 1_000_000


@dataclass
class Timeline:
    """Stretches of session time in ms in which the session stood still."""

    now: int = 0
    last_event: int = 0
    since: int | None = None

    def __post_init__(self) -> None:
        self.still: list[range] = []

    def pause(self) -> None:
        if self.since is None:
            self.since = self.now

    def crash(self) -> None:
        if self.since is None:
            self.since = self.last_event

    def resume(self) -> None:
        if self.since is not None:
            self.still.append(range(self.since, self.now))
            self.since = None

    def working(self) -> int:
        """Milliseconds counted one by one."""
        stretches = [*self.still, *([] if self.since is None else [range(self.since, self.now)])]
        return sum(not any(ms in still for still in stretches) for ms in range(self.now))


@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["pause", "resume", "crash", "other"])),
        max_size=12,
    ),
    st.integers(0, 40),
)
def test_working_time_is_what_a_clock_that_stops_would_show(
    course: list[tuple[int, str]], rest: int
) -> None:
    line, pauses = Timeline(), Pauses()
    for number, (wait, what) in enumerate(course, 1):
        line.now += wait
        payload = {
            "pause": SessionPaused("break"),
            "resume": SessionResumed("on"),
            "crash": SegmentStarted(2, "", "", "", "", line.last_event * MS),
            "other": WindowFocus(True),
        }[what]
        event = Event(
            number,
            1,
            line.now * MS,
            "",
            "system",
            payload.kind,
            1,
            None,
            None,
            None,
            payload.as_dict(),
        )
        pauses = pauses.apply(event)
        getattr(line, what, lambda: None)()
        line.last_event = line.now
        assert pauses.working_ns(event.t_ns) == line.working() * MS
    line.now += rest
    assert pauses.working_ns(line.now * MS) == line.working() * MS


moves = st.lists(
    st.tuples(
        st.sampled_from([0.02, 0.05, 0.1, 0.5, 1.0, 2.9, 3.0, 3.1, 4.0, 7.5]),
        st.sampled_from(["move", "move", "back", "other", "select", "pause", "crash"]),
    ),
    min_size=1,
    max_size=40,
)


class Hands:
    """Does what the course says, and notes the working times (ns) of what counts as activity."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.value = {1: 0.0, 2: 0.0}
        self.moved: list[tuple[int, int, int]] = []
        self.active: list[int] = []
        assert play.trial is not None
        assert play.trial.started_ns is not None
        self.start = play.trial.started_ns

    def do(self, what: str) -> None:
        play, now = self.play, self.play.working_ns()
        match what:
            case "move" | "back" | "other":
                dimension = 2 if what == "other" else 1
                trial = play.trial
                assert trial is not None
                # Alternates within the limits, so that every command is a change of the dial.
                value = trial.z[dimension] + (-0.01 if what == "back" else 0.01)
                inside = 0.02 < value < 0.98
                target = value if inside else 0.5
                if play.send(MoveDial(dimension, target, "mouse")):
                    sign = 1 if target > trial.z[dimension] else -1
                    self.moved.append((now, dimension, sign))
                    self.active.append(now)
            case "select":
                play.send(SelectDial(2, "keyboard"))
                self.active.append(now)
            case "pause":
                play.send(Pause("break"))
                play.now_ns += 11 * NS
                play.send(Resume("on"))
            case "crash":
                play.crash(5.0)
                play.send(Resume("on"))


def active_ns(times: list[int], start: int, now: int, inactivity: int) -> int:
    """Time that lies within `inactivity` after the start or an activity: a union of stretches."""
    covered, total = start, 0
    for time in [start, *times]:
        begin, end = max(time, covered), min(time + inactivity, now)
        total += max(0, end - begin)
        covered = max(covered, end)
    return total


def reached_at(times: list[int], start: int, inactivity: int, wanted: int) -> int:
    """The working time at which active time reaches `wanted`, or a time never reached."""
    covered, total = start, 0
    for time in [start, *times]:
        begin, end = max(time, covered), time + inactivity
        if total + max(0, end - begin) >= wanted:
            return begin + wanted - total
        total += max(0, end - begin)
        covered = max(covered, end)
    return 1 << 62


@settings(deadline=None)
@given(moves, st.sampled_from([2.0, 3.0, 5.0, 10.0]))
def test_active_time_pauses_after_three_idle_seconds_and_brings_skip(
    course: list[tuple[float, str]], skip_after_s: float
) -> None:
    play = Play(stage_machine(skip_after_s=skip_after_s, labels_editable=False)).start()
    hands = Hands(play)
    for wait_s, what in course:
        play.wait(wait_s)
        hands.do(what)
        trial = play.trial
        assert trial is not None
        expected = active_ns(hands.active, hands.start, play.working_ns(), 3 * NS)
        assert trial.active.at(play.working_ns()) == expected
    due = reached_at(hands.active, hands.start, 3 * NS, round(skip_after_s * NS))
    offers = [event for event in play.events if event.kind == "skip.offered"]
    if due <= play.working_ns():
        (offer,) = offers
        before = [e for e in play.events if e.seq <= offer.seq]
        pauses = Pauses()
        for event in before:
            pauses = pauses.apply(event)
        assert pauses.working_ns(offer.t_ns) == due
        assert offer.payload["active_s"] == skip_after_s
    else:
        assert not offers


def snapshots(moved: list[tuple[int, int, int]], start: int) -> list[int]:
    """Times of the published application's snapshots, for pictures decoded at once."""
    taken, last = [start], None
    for time, dimension, sign in moved:
        if (dimension, sign) != last or time - taken[-1] >= NS // 10:
            taken.append(time)
        last = (dimension, sign)
    return taken


@settings(deadline=None)
@given(moves, st.sampled_from([1.0, 2.0, 5.0]))
def test_active_time_as_published_adds_up_short_gaps_between_snapshots(
    course: list[tuple[float, str]], skip_after_s: float
) -> None:
    machine = stage_machine(active_time="as_published", skip_after_s=skip_after_s)
    play = Play(machine).start()
    hands = Hands(play)
    offered_when: int | None = None
    for wait_s, what in course:
        play.wait(wait_s)
        hands.do(what)
        taken = snapshots(hands.moved, hands.start)
        gaps = [b - a for a, b in itertools.pairwise(taken)]
        expected = sum(gap for gap in gaps if gap < 3 * NS)
        trial = play.trial
        assert trial is not None
        assert trial.active.total_ns == expected
        assert trial.skip_offered == (expected >= skip_after_s * NS)
        if trial.skip_offered and offered_when is None:
            offered_when = taken[-1]
            assert play.events[-1].kind == "skip.offered"
