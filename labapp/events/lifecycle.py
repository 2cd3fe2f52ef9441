"""Kinds that belong to the session as a whole: its plan, parts, pauses, moderator, windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

from labapp.events.moderation import Prompt
from labapp.events.registry import MessagePayload, Payload, kind, migration


@kind("session.planned", durable=True)
class SessionPlanned(Payload):
    """The first event: the study as realised for this participant, every setting spelled out.
    replicates: the published study that it repeats (paper, study, run), empty where it repeats
    none; declared: what the study says of its design, exclusion, missing data, analysis and
    hypotheses, as in its file, empty where it says nothing of it; pilot: whether it is a trial run,
    which is kept apart and never analysed with the others."""

    study: str
    study_version: int
    study_sha256: str
    participant: str
    session: str
    seed: int
    assignment: dict[str, Any]
    presentation: str
    language: str
    audio: str
    plan: tuple[dict[str, Any], ...]
    replicates: dict[str, str] = field(default_factory=dict)
    declared: dict[str, Any] = field(default_factory=dict)
    pilot: bool = False


@kind("participant.simulated")
class ParticipantSimulated(Payload):
    """A program takes part, not a person. strategy: how it solves questions, see
    labapp.simulation.names; share: of its mixture, null where it was not drawn from one; careless:
    it does not try; traits: what makes this participant, see labapp.simulation.person.Person."""

    strategy: str
    share: float | None
    careless: bool
    traits: dict[str, float]


@kind("segment.started", durable=True)
class SegmentStarted(Payload):
    """A run of the program on this session begins. gap_from_ns: session time of the last event of
    the run before, null in the first; the time from there until session.resumed is a gap."""

    segment: int
    utc: str
    boot_id: str
    app_version: str
    study_sha256: str
    gap_from_ns: int | None = None


@kind("segment.ended", durable=True)
class SegmentEnded(Payload):
    """A run of the program on this session ends in an orderly way."""

    reason: str


@kind("session.paused", durable=True)
class SessionPaused(Payload):
    """The session stands still until session.resumed; no duration counts this time."""

    reason: str


@kind("session.resumed", durable=True)
class SessionResumed(Payload):
    """A pause, or the gap after a crash, ends."""

    reason: str


@kind("session.completed", version=2, durable=True)
class SessionCompleted(Payload):
    """Every part of the plan was done. From version 2 on, no duration counts what follows."""


@kind("session.ended", version=2, durable=True)
class SessionEnded(Payload):
    """The session was ended before its plan was done; session.reopened can undo it. withdrawal:
    empty, or keep or delete where the participant withdrew and said what is to become of the data.
    From version 2 on, no duration counts what follows."""

    reason: str
    withdrawal: str = ""


@migration("session.completed", 1)
@migration("session.ended", 1)
def _ended_from_1(payload: dict[str, Any]) -> dict[str, Any]:
    # The fields are the same: the version tells that time went on after the end.
    return payload


@kind("inclusion.decided", durable=True)
class InclusionDecided(Payload):
    """Whether the session counts, by the study's rules; written as it ends. failed: the rules that
    it does not meet (completed, practice_correct, min_solved), withdrawn, and the names of the
    study's own rules of exclusion that it fails; facts: what the first three were judged by, see
    labapp.study.inclusion.Achieved."""

    included: bool
    failed: tuple[str, ...]
    facts: dict[str, float]

    def failing(self, rules: Iterable[str]) -> InclusionDecided:
        """The same where the session fails rules of the study's own."""
        failed = tuple(dict.fromkeys((*self.failed, *rules)))
        return replace(self, included=not failed, failed=failed)


@kind("payment.computed", durable=True)
class PaymentComputed(Payload):
    """What the session earned, in a study that pays; written as it ends, however it ends, unless
    the participant did not agree to take part. bonus: for questions of stages, of which solved
    (reconstruction) and correct (single-dimension), and of photos judged above_chance were answered
    rightly beyond what guessing gets right; total: base and bonus."""

    currency: str
    base: float
    bonus: float
    total: float
    solved: int
    correct: int
    photos: int = 0
    above_chance: float = 0.0


@kind("part.started", durable=True)
class PartStarted(Payload):
    """A part of the plan (consent, tutorial, practice, stage, questionnaire, debrief) begins."""

    index: int


@kind("part.restarted", durable=True)
class PartRestarted(Payload):
    """A stage that was interrupted begins again with its first question, as the study says
    (when_interrupted). attempt: of the questions from here on; those before keep theirs."""

    index: int
    attempt: int


@kind("part.ended", durable=True)
class PartEnded(Payload):
    """A part of the plan ends. outcome: completed, time_expired, skipped or declined."""

    index: int
    outcome: str


@kind("page.turned", durable=True)
class PageTurned(Payload):
    """A page of a text, tutorial or questionnaire is on the screen (counted from 0)."""

    page: int


@kind("note.added", durable=True)
class NoteAdded(Payload):
    """A moderator's note; typing_began_ns is the session time of its first key."""

    text: str
    typing_began_ns: int


@kind("flag.added", durable=True)
class FlagAdded(Payload):
    """A moderator's flag with the study's meaning for its number, at the time of the key press."""

    number: int
    meaning: str


@kind("deviation.noted", durable=True)
class DeviationNoted(Payload):
    """Something went otherwise than the study says, as the moderator wrote it down;
    typing_began_ns is the session time of the first key."""

    text: str
    typing_began_ns: int


@kind("prompt.given", durable=True)
class PromptGiven(Prompt):
    """The moderator recorded having prompted the participant."""

    text: str


@kind("alarm.raised", durable=True)
class AlarmRaised(MessagePayload):
    """Something needs the moderator. code is stable, detail is for people; message: code and values
    of the detail where it is one of the program's own sentences with values in it."""

    code: str
    detail: str
    message: dict[str, Any] = field(default_factory=dict)


@kind("alarm.cleared", durable=True)
class AlarmCleared(Payload):
    """The condition of an earlier alarm is over."""

    code: str


@kind("screen.changed", durable=True)
class ScreenChanged(Payload):
    """A screen was removed or added. change: removed or added."""

    change: str
    screen: str
    screens_left: int


@kind("window.focus")
class WindowFocus(Payload):
    """The participant's window lost or gained the keyboard focus."""

    focused: bool


@kind("decoder.warmed", durable=True)
class DecoderWarmed(Payload):
    """A decoder is ready, with its measured time per picture. card_sha256: hash of the model card,
    which holds the hashes of the weights; empty where there is no card. backend, backend_version:
    what computes the decoder, with its version; empty in older journals."""

    model: str
    device: str
    threads: int
    n: int
    median_ms: float
    p99_ms: float
    card_sha256: str = ""
    backend: str = ""
    backend_version: str = ""


@kind("environment.recorded", durable=True)
class EnvironmentRecorded(Payload):
    """Where this run takes place: versions, machine, screens and their pixel ratio, devices."""

    environment: dict[str, Any]
