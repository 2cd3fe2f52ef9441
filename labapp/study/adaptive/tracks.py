"""Tracks of a rule that take turns: what a plan holds of them, and how far a session has come.

The plan has the rule, the levels, what each track asks and the order of turns. The journal has each
decision (`level.chosen`, `track.ended`); where a session is resumed or replayed, they hold, and
`find_doubts` compares them with what the rule decides by the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isclose, sqrt

from labapp.base.documents import Strict
from labapp.record.events import Payload
from labapp.record.events.trials import LevelChosen, TrackEnded
from labapp.study.adaptive import AnyRule
from labapp.study.adaptive.counting import Criterion
from labapp.study.adaptive.rule import Estimate, Levels, Progress

CRITERION, REACHED, MISSED = "criterion", "reached", "missed"
THRESHOLD = "threshold"
NOT_REACHED = "criterion_missed"
"""How a part ends that ends the session."""


class PlannedTrack(Strict):
    """A track. about: what it asks about, such as a method; start: its first level, from 1; items:
    what is shown at its trials, as places from 1 in the part's own list, and again from the
    first."""

    about: str
    start: int
    items: tuple[int, ...]


@dataclass(frozen=True)
class Tracking:
    """How far the tracks have come.

    Attributes
    ----------
    tracks : of each track.
    turn : how many turns of the plan are over.
    chosen : what was decided for the trial that is drawn or drawn next; None before it is decided.
    """

    tracks: tuple[Progress, ...]
    turn: int = 0
    chosen: LevelChosen | None = None

    @property
    def over(self) -> bool:
        return all(track.over for track in self.tracks)


class Tracks(Strict):
    """The tracks of a part. levels: ascending, the higher the easier; turns: whose turn it is, as
    numbers of tracks from 1; a track that is over is left out."""

    rule: AnyRule
    levels: tuple[float, ...]
    tracks: tuple[PlannedTrack, ...]
    turns: tuple[int, ...]

    @cached_property
    def scale(self) -> Levels:
        return Levels(self.levels, self.rule.scale)

    @property
    def most(self) -> int:
        """The most trials that all tracks have together."""
        return self.rule.trials * len(self.tracks)

    @property
    def words(self) -> str:
        """Its rule, and how many tracks there are, for `labapp studies show`."""
        number = len(self.tracks)
        return f"{self.rule.method}, {number} tracks" if number > 1 else self.rule.method

    def begin(self) -> Tracking:
        begun = (self.rule.begin(self.scale, track.start - 1) for track in self.tracks)
        return Tracking(tuple(begun))

    def choose(self, state: Tracking) -> LevelChosen | None:
        """What is asked next, None if all tracks are over; what was decided already holds."""
        if state.chosen is not None:
            return state.chosen
        due = (number for number in self.turns[state.turn :] if not state.tracks[number - 1].over)
        number = next(due, None)
        if number is None:
            return None
        track, progress = self.tracks[number - 1], state.tracks[number - 1]
        return LevelChosen(
            track=number,
            level=progress.level + 1,
            value=self.levels[progress.level],
            item=track.items[len(progress.answers) % len(track.items)],
            state=self._describe(progress),
        )

    def answer(self, state: Tracking, right: bool | None) -> Tracking:
        """After an answer to what was chosen. right: None for "I don't know"."""
        assert state.chosen is not None
        at, level = state.chosen.track - 1, state.chosen.level - 1
        counts = False if right is None and self.rule.dont_know == "wrong" else right
        asked = replace(state.tracks[at], level=level)
        after = self.rule.after(self.scale, asked, counts)
        tracks = (*state.tracks[:at], after, *state.tracks[at + 1 :])
        return Tracking(tracks, self._turn(state))

    def end(self, before: Tracking, after: Tracking) -> TrackEnded | None:
        """The event that ends the answered track, if it is over."""
        assert before.chosen is not None
        progress = after.tracks[before.chosen.track - 1]
        if not progress.over:
            return None
        return TrackEnded(before.chosen.track, progress.over, self._describe(progress))

    def apply(self, state: Tracking, payload: Payload) -> Tracking:
        """Take in a decision."""
        return replace(state, chosen=payload) if isinstance(payload, LevelChosen) else state

    def _turn(self, state: Tracking) -> int:
        """How many turns are over after what was chosen was answered."""
        assert state.chosen is not None
        for place in range(state.turn, len(self.turns)):
            if self.turns[place] == state.chosen.track:
                return place + 1
        return state.turn

    def _describe(self, progress: Progress) -> dict[str, float]:
        """Nine digits: what lies beyond differs between machines."""
        state = self.rule.describe(self.scale, progress)
        return {name: float(f"{value:.9g}") for name, value in state.items()}

    def ahead(self, state: Tracking) -> Iterator[LevelChosen]:
        """What may be asked next but one: after a right answer, a wrong one, and none."""
        if state.chosen is not None:
            after = (self.choose(self.answer(state, right)) for right in (True, False, None))
            yield from filter(None, after)

    def find_outcome(self, state: Tracking) -> str:
        """How a part ends whose tracks are over."""
        ends = isinstance(self.rule, Criterion) and self.rule.missed == "end"
        return NOT_REACHED if ends and MISSED in self.results(state).values() else "completed"

    def find_threshold(self, progress: Progress) -> Estimate | None:
        return self.rule.find_threshold(self.scale, progress)

    def average(self, estimates: Sequence[Estimate | None]) -> tuple[float | None, float | None]:
        """The threshold of a part and its standard error, by those of its tracks: their mean on
        the scale; None if a track has none."""
        known = [estimate for estimate in estimates if estimate is not None]
        if not known or len(known) < len(estimates):
            return None, None
        value = self.scale.value(sum(each.x for each in known) / len(known))
        errors = [each.se for each in known if each.se is not None]
        if len(errors) < len(known):
            return value, None
        return value, sqrt(sum(error**2 for error in errors)) / len(known)

    def results(self, state: Tracking) -> dict[str, str | float]:
        """What conditions of later items can name (`labapp.study.results`)."""
        if isinstance(self.rule, Criterion):
            reached = all(track.over == CRITERION for track in state.tracks)
            return {CRITERION: REACHED if reached else MISSED}
        threshold, _ = self.average([self.find_threshold(track) for track in state.tracks])
        return {} if threshold is None else {THRESHOLD: threshold}


class FollowedTracks:
    """The tracks of a part by its journal, and where its rule decides differently.

    Attributes
    ----------
    state : how far they have come.
    doubts : what contradicts the rule, in words.
    """

    def __init__(self, tracks: Tracks) -> None:
        self.tracks = tracks
        self.doubts: list[str] = []
        self.begin()

    def begin(self) -> None:
        """From the beginning: the stage begins, or begins again."""
        self.state = self.tracks.begin()
        self._due: TrackEnded | None = None

    def decide(self, payload: LevelChosen | TrackEnded, seq: int) -> None:
        """Take in a decision. seq: of its event."""
        if isinstance(payload, TrackEnded):
            expected: Payload | None = self._due
            self._due = None
        else:
            expected = self.tracks.choose(replace(self.state, chosen=None))
            if self._due is not None:
                self.doubts.append(f"before event {seq} track {self._due.track} was to end")
                self._due = None
        if why := find_difference(payload, expected):
            self.doubts.append(f"event {seq} ({payload.kind}) decides {why}")
        self.state = self.tracks.apply(self.state, payload)

    def answer(self, right: bool | None) -> None:
        """Take in an answer to what was chosen."""
        if self.state.chosen is not None:
            before, self.state = self.state, self.tracks.answer(self.state, right)
            self._due = self.tracks.end(before, self.state)


def find_difference(recorded: LevelChosen | TrackEnded, expected: Payload | None) -> str:
    """How a decision differs from the one that the rule makes; empty if they agree."""
    if not isinstance(expected, LevelChosen | TrackEnded) or expected.kind != recorded.kind:
        return "what its rule does not decide there"
    own, other = recorded.state, expected.state
    if own.keys() != other.keys() or not all(
        isclose(own[name], other[name], rel_tol=1e-6, abs_tol=1e-9) for name in own
    ):
        return f"by {own}, and the answers lead to {other}"
    fields, wanted = recorded.as_dict() | {"state": 0}, expected.as_dict() | {"state": 0}
    return "" if fields == wanted else f"{fields}, and its rule {wanted}"
