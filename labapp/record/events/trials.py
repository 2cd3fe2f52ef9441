"""Kinds that the trials of all tasks share.

What kinds of tasks about dials have in common.

The plan's row of a part that asks about dials has a list of them, `dimensions`.

Kinds of questionnaires: answers as they are given, and as they are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from labapp.record.events.registry import KEPT, Index, Number, Payload, Whole, Word, kind


@kind("trial.ended", durable=True, of_trial=True)
class TrialEnded(Payload):
    """The question is over.

    Attributes
    ----------
    outcome : solved, marked (a calibration's), skipped (by the participant), answered (a
        single-dimension question, a stimulus), interrupted (a timed stimulus, which is shown
        again), time_expired or stage_skipped (by the moderator).
    """

    outcome: Word


@kind("stage.time_expired", durable=True)
class StageTimeExpired(Payload):
    """The stage's time limit was reached.

    Attributes
    ----------
    limit_s : the limit, in seconds.
    """

    limit_s: float


@kind("level.chosen", durable=True)
class LevelChosen(Payload):
    """The rule of an adaptive stage chose the level of the next trial, and the trial was drawn.

    Attributes
    ----------
    track : the track of this trial, from 1 in the order of the plan.
    level : its position among the plan's levels, from 1; higher levels are easier.
    value : the level itself, in the stage's unit.
    item : what is shown at this level, as a position in the plan's list, from 1.
    state : the named values on which the rule's decision is based, such as the reversals so far or
        the threshold.
    """

    track: Number
    level: Number
    value: float
    item: Number
    state: Annotated[dict[str, float], KEPT]

    def misfit(self, part: Mapping[str, Any]) -> str:
        adaptive = part.get("adaptive") or {}
        for what, number, of in (("track", self.track, "tracks"), ("level", self.level, "levels")):
            if not number <= len(adaptive.get(of, ())):
                return f"the plan has no {what} {number} in this part"
        return ""


@kind("track.ended", durable=True, of_trial=True)
class TrackEnded(Payload):
    """The rule of an adaptive stage ended a track.

    Attributes
    ----------
    track : the number of the track, from 1 in the order of the plan.
    because : reversals, se, criterion, or trials if the largest number of trials was reached.
    state : the values on which the rule's decision is based, as in level.chosen.
    """

    track: Number
    because: Word
    state: Annotated[dict[str, float], KEPT]

    def misfit(self, part: Mapping[str, Any]) -> str:
        known = len((part.get("adaptive") or {}).get("tracks", ()))
        return "" if self.track <= known else f"the plan has no track {self.track} in this part"


class Comparison(Payload):
    """Base of the kinds that say how near the picture of a trial is to its target.

    Attributes
    ----------
    alignment : of picture and target, 0-1, 1 where they are alike.
    """

    alignment: float


class TargetShown(Comparison):
    """Base of the kinds with which a trial that has a target comes onto the screen.

    Attributes
    ----------
    aligned_at_start : what the participant begins with and the target agree already.
    """

    aligned_at_start: bool


class DialTurned(Payload):
    """Base of the kinds with which a hand has brought a dial of a picture to a new value.

    Attributes
    ----------
    dimension : which dial, from 0.
    value : where it stands now.
    """

    dimension: Index
    value: float


def no_dial(part: Mapping[str, Any], dimension: int) -> str:
    """Why a part has no dial of a number, from 0; empty if it has."""
    count = len(part.get("dimensions", ()))
    if 0 <= dimension < count:
        return ""
    return f"{part['id']!r} has {count} sliders and no slider {dimension} (counted from 0)"


def no_dial_state(part: Mapping[str, Any], z: Sequence[float]) -> str:
    """Why a part has no such dial state; empty if it can. z: one number per dial."""
    count = len(part.get("dimensions", ()))
    return "" if len(z) == count else f"it has a state with {len(z)} sliders, not {count}"


@kind("response.changed", durable=True)
class ResponseChanged(Payload):
    """An answer to an item of a questionnaire was given or changed; the last answer counts.

    Attributes
    ----------
    instrument, item : the ids of the questionnaire and the item.
    value : the number of a rating; the text of a written answer at the time it was stored; or the
        ids of the chosen options, as `chosen`, with the text written next to one of them, as
        `described`.
    """

    instrument: Word
    item: Word
    value: Any


@kind("check.answered", durable=True)
class CheckAnswered(Payload):
    """The answer to a comprehension check was judged when the participant continued.

    Attributes
    ----------
    instrument, item : the ids of the questionnaire and the item.
    attempt : the number of the attempt, from 1.
    passed : whether the answer is right.
    """

    instrument: Word
    item: Word
    attempt: Whole
    passed: bool


@kind("sound.played", durable=True)
class SoundPlayed(Payload):
    """The sound or video of an item of a questionnaire, or of one of its options, was started,
    paused or played to its end.

    Attributes
    ----------
    instrument, item : the ids of the questionnaire and the item.
    action : `play`, `pause` or `end`.
    play : the number of the play, from 1; continuing after a pause does not begin a new one.
    at_s : the position in the sound or video, in seconds from its beginning.
    audible : whether a loudspeaker was open.
    option : the id of the option; left out if the sound or video belongs to the item itself.
    """

    instrument: Word
    item: Word
    action: Word
    play: Whole
    at_s: float
    audible: bool
    option: Word = ""
    sparse = ("option",)


@kind("text.sound_played", durable=True)
class TextSoundPlayed(Payload):
    """A sound or video in a text was started, paused or played to its end. It stops when its page
    is left.

    Attributes
    ----------
    sound : its name in the study's folder.
    action : `play`, `pause` or `end`.
    play : the number of the play, from 1; continuing after a pause does not begin a new one.
    at_s : the position in the sound or video, in seconds from its beginning.
    audible : whether a loudspeaker was open.
    """

    sound: Word
    action: Word
    play: Whole
    at_s: float
    audible: bool


SoundAction = Literal["play", "pause", "end"]


@dataclass(frozen=True, slots=True)
class SoundState:
    """What became of a sound.

    Attributes
    ----------
    plays : how often it was started from its beginning.
    at_s : where in it the last play began or stopped.
    since_ns : working time since which it plays; None while it does not.
    heard : whether it was heard to its end.
    """

    plays: int = 0
    at_s: float = 0.0
    since_ns: int | None = None
    heard: bool = False

    @property
    def playing(self) -> bool:
        return self.since_ns is not None

    def position(self, working_ns: int) -> float:
        """Where it is at a working time, in seconds from its beginning."""
        since_ns = working_ns if self.since_ns is None else self.since_ns
        return self.at_s + (working_ns - since_ns) / 1e9

    def can_play(self, plays: int | None = None) -> bool:
        """Whether it can be started, or go on. plays: how often it can be started."""
        return not self.playing and (self.at_s > 0 or plays is None or self.plays < plays)

    def ask(
        self, action: SoundAction, working_ns: int, seconds: float, plays: int | None = None
    ) -> tuple[int, float] | None:
        """Which play it is then, and where in it; None if that cannot be. seconds: how long it
        lasts."""
        if action == "play":
            return (self.plays + (self.at_s == 0), self.at_s) if self.can_play(plays) else None
        if not self.playing:
            return None
        at_s = seconds if action == "end" else min(self.position(working_ns), seconds)
        return self.plays, round(at_s, 3)

    def after(self, payload: SoundPlayed | TextSoundPlayed, working_ns: int) -> SoundState:
        """What it is after an event."""
        ended = payload.action == "end"
        return SoundState(
            payload.play,
            0.0 if ended else payload.at_s,
            working_ns if payload.action == "play" else None,
            self.heard or ended,
        )

    def stopped(self, working_ns: int) -> SoundState:
        """Paused where it is."""
        return replace(self, at_s=self.position(working_ns), since_ns=None)


@kind("questionnaire.submitted", durable=True)
class QuestionnaireSubmitted(Payload):
    """The participant submitted a questionnaire with these answers.

    Attributes
    ----------
    instrument, instrument_version : the questionnaire's id and version.
    answers : the answer to each item, as in response.changed.
    not_asked : the items that were left out by their conditions, in the order of the questionnaire.
        Earlier answers to these items are not among the answers. The field is missing if there are
        no such items.
    """

    instrument: Word
    instrument_version: Whole
    answers: dict[str, Any]
    not_asked: tuple[Word, ...] = ()
    sparse = ("not_asked",)
