"""A skip that is taken back, and working time against a count made second by second."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events import Event
from labapp.record.events.commands import (
    AskToLeave,
    Command,
    EndSession,
    GiveConsent,
    HandIn,
    Next,
    Pause,
    Reopen,
    Resume,
    Skip,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Tick,
)
from labapp.record.events.lifecycle import (
    SegmentStarted,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.record.events.registry import Pauses
from labapp.session.machine import TAKE_BACK_NS, SessionMachine
from labapp.study.plugins import registry
from labapp.study.plugins.part import TrialsPart
from labapp.tasks.concept_repair.events import RepairDone, SetConcept, TickPair
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.plan import JudgingTask
from labapp.tasks.reconstruction.events import MoveDial, SelectDial
from tests.helpers.concepts import ConceptPlay, small_parts
from tests.helpers.play import NS, Play, stage_machine, stage_part, whole_machine
from tests.helpers.play_judging import JudgingPlay
from tests.helpers.play_single import SinglePlay
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import UnmaskingPlay

DRAWN = {
    "trial.drawn", "question.drawn", "photo.drawn", "stimulus.drawn", "concepts.drawn",
    "grid.drawn", "part.started",
}  # fmt: skip

PLAYS: dict[str, Callable[[], Any]] = {
    "reconstruction": lambda: Play(stage_machine(skip="always")).start(),
    "calibration": lambda: Play(stage_machine(skip="always", marks=True)).start(),
    "single-dimension": lambda: SinglePlay.of(1),
    "unmasking": UnmaskingPlay.of,
    "concept-repair": ConceptPlay.of,
    "concept-grid": lambda: ConceptPlay.of(small_parts()[1]),
    **{task: lambda task=task: JudgingPlay.of(task) for task in get_args(JudgingTask)},
    "warm-up": JudgingPlay.warm_up,
}

COMMANDS: tuple[Command, ...] = (
    Next(),
    HandIn(),
    MoveDial(1, 0.9, "mouse"),
    Judge("model", 1, "mouse"),
    Skip(),
    SetConcept(0, 1, "mouse"),
    TickPair(0, 1, "mouse"),
    RepairDone(),
    Tick(),
)


@pytest.fixture(params=PLAYS)
def play(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A stage of each task, some seconds into its first question."""
    made = PLAYS[request.param]()
    made.now_ns += 5 * NS
    yield made
    assert made.machine.fold(made.events) == made.state, "live and replayed are the same"


def kinds_since(play: Any, stored: int) -> list[str]:
    return [event.kind for event in play.events[stored:]]


def task_state(play: Any) -> Any:
    """What the task knows, without the clock."""
    return replace(play.state.part_state, pauses=None)


def test_nothing_of_what_comes_next_is_there_before_it_is_confirmed(play: Any) -> None:
    stored, working = len(play.events), play.working_ns()
    play.send(SkipStage())
    for command in COMMANDS:
        play.now_ns += NS // 10
        assert not play.send(command)
    assert kinds_since(play, stored) == ["skip.requested"]
    assert play.working_ns() == working, "the cover is in no duration"
    play.wait(3)
    assert kinds_since(play, stored)[:2] == ["skip.requested", "skip.confirmed"]
    assert "part.ended" in kinds_since(play, stored)
    assert play.events[stored + 1].t_ns == play.events[stored].t_ns + TAKE_BACK_NS


def test_taken_back_it_goes_on_as_it_was(play: Any) -> None:
    before, working = task_state(play), play.working_ns()
    stored, timed = len(play.events), play.machine.parts[play.state.index].timed
    play.send(SkipStage())
    play.now_ns += 2 * NS
    play.send(TakeBackSkip("part"))
    assert play.working_ns() == working
    since = kinds_since(play, stored)
    assert since[:2] == ["skip.requested", "skip.taken_back"]
    if timed:
        # What was on the screen has no reaction time any more: it is shown again.
        assert since[2:4] == ["trial.ended", "stimulus.drawn"]
        assert play.events[stored + 2].payload["outcome"] == "interrupted"
    else:
        assert since[2:] == []
        assert task_state(play) == before
    play.now_ns += 2 * TAKE_BACK_NS
    play.send(Tick())
    assert "skip.confirmed" not in play.kinds()


@pytest.mark.parametrize("end", ["pause", "crash", "end"])
def test_a_pause_a_crash_and_an_end_undo_it(play: Any, end: str) -> None:
    working = play.working_ns()
    play.send(SkipStage())
    play.now_ns += NS
    if end == "pause":
        play.send(Pause("knock"))
        play.now_ns += 7 * NS
        play.send(Resume("on"))
    elif end == "crash":
        play.crash(7)
        play.send(Resume("on"))
    else:
        play.send(EndSession("enough"))
        play.now_ns += 7 * NS
        play.send(Reopen(play.state.end_seq))
        assert play.state.pauses.paused, "who goes on has to be there first"
        play.send(Resume("on"))
    assert play.state.pending is None
    assert play.state.running
    assert play.working_ns() == working, "cover, pause and gap are counted out once"
    play.now_ns += 2 * TAKE_BACK_NS
    play.send(Tick())
    assert "part.ended" not in play.kinds()


def test_while_somebody_is_asked_whether_to_leave_nothing_moves(play: Any) -> None:
    before, working = task_state(play), play.working_ns()
    play.send(AskToLeave("escape"))
    stored = len(play.events)
    assert not play.send(AskToLeave("close")), "asked already"
    for command in COMMANDS:
        play.now_ns += NS
        assert not play.send(command)
    assert play.working_ns() == working
    play.send(StayHere())
    assert play.working_ns() == working
    assert kinds_since(play, stored)[0] == "close.withdrawn"
    if not play.machine.parts[play.state.index].timed:
        assert task_state(play) == before


def test_every_task_is_played() -> None:
    kinds = {
        kind
        for task_type in registry.task_types()
        for part in task_type.parts
        if issubclass(part, TrialsPart)
        for kind in registry.kinds_of(part)
    }
    played = {made().machine.parts[0].part for made in PLAYS.values()}
    assert played == kinds


def skipped(machine: SessionMachine) -> tuple[Play, Event]:
    """A question that was just skipped by its participant, and the last event."""
    play = Play(machine).start()
    play.now_ns += 5 * NS
    play.send(Skip())
    return play, play.events[-1]


def test_a_question_waits_before_it_is_left() -> None:
    play, last = skipped(stage_machine(skip="always"))
    assert (last.kind, last.payload, last.trial) == (
        "skip.requested",
        {"what": "trial", "index": 0, "to": None},
        1,
    )
    before = task_state(play)
    assert not play.send(Skip()), "a second Enter skips nothing more"
    assert not play.send(TakeBackSkip("part")), "it is no part that is skipped"
    play.send(TakeBackSkip("trial"))
    assert task_state(play) == before
    play.send(Skip())
    play.wait(3)
    assert play.kinds()[-4:] == ["skip.confirmed", "trial.ended", "trial.drawn", "trial.started"]
    ended = next(event for event in play.events if event.kind == "trial.ended")
    assert ended.payload == {"outcome": "skipped"}
    assert play.working_ns() == 5 * NS


def test_what_is_shown_as_published_is_skipped_at_once() -> None:
    part = stage_part(skip="always")
    machine = whole_machine(part)
    as_published = SessionMachine(machine.parts, machine.tasks, {}, takes_back=False)
    play = Play(as_published).start()
    for _ in range(3):
        play.send(Next())
    while play.trial is None:
        skip_stage(play) if play.state.index else play.send(GiveConsent())
    play.send(Skip())
    assert "skip.requested" not in [e.kind for e in play.events if e.part_id == part.id]
    assert [e.payload for e in play.events if e.kind == "trial.ended"] == [{"outcome": "skipped"}]


def test_a_moderator_who_skips_the_part_comes_before_the_participant() -> None:
    play, _ = skipped(stage_machine(skip="always"))
    play.now_ns += 2 * NS
    play.send(SkipStage())
    play.wait(2)
    assert "part.ended" not in play.kinds(), "three seconds from the moderator's"
    assert not play.send(TakeBackSkip("trial"))
    play.wait(1)
    assert play.state.ended == "completed"


def test_a_plan_that_is_done_is_not_reopened() -> None:
    play, _ = skipped(stage_machine(skip="always", trials=1))
    play.wait(3)
    assert play.state.ended == "completed"
    assert not play.send(Reopen(play.state.end_seq or 0))


def test_only_the_end_that_is_there_is_undone() -> None:
    play = Play(stage_machine()).start()
    play.send(EndSession("first"))
    first = play.state.end_seq
    assert not play.send(Reopen(1))
    play.send(Reopen(first or 0))
    play.send(Resume("on"))
    assert not play.send(Reopen(first or 0)), "it goes on already"
    play.send(EndSession("second"))
    assert not play.send(Reopen(first or 0))
    assert play.state.ended == "second"


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
