"""Kinds that belong to the session as a whole: its plan, parts, pauses, moderator, windows.

Also the bases of the kinds that say whether the participant agreed to take part, whatever the form,
and the kinds of what can be taken back: a skip, the wish to leave, the end of a session.

Kinds that tell of the moderator: what was written down and corrected, and whether the console
named the representations.

Also who has the keyboard, which participant and moderator share, and where the participant's
pointer was, if the study records it.

The kind that tells which pictures of a stimulus set a session keeps. Kinds of what a session sends
over the Lab Streaming Layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, Any

from labapp.record.events.registry import (
    KEPT,
    Index,
    MessagePayload,
    Nanoseconds,
    Number,
    Payload,
    Whole,
    Word,
    kind,
    migration,
)


class Prompt(Payload):
    """Base of the kinds for something that the moderator said in words given by the study. It can
    be undone, but its words cannot be changed.

    Attributes
    ----------
    text : the words that were said.
    """

    text: str


class GuideQuestion(Prompt):
    """Base of the kinds for a question from a guide that the moderator asked.

    Attributes
    ----------
    question : its number in the guide, from 1.
    """

    question: Whole


@kind("note.corrected", durable=True)
class NoteCorrected(Payload):
    """The moderator changed something that was written down earlier; the earlier words remain in
    their event.

    Attributes
    ----------
    seq : number of the corrected note.added, deviation.noted, flag.added, prompt.given or
        interview.question_asked, never of another correction.
    text : the new words, empty if it was undone; events of the last three kinds can only be undone
        or, with their own words, restored.
    typing_began_ns : session time of the correction's first key.
    """

    seq: Number
    text: str
    typing_began_ns: Whole


@kind("blinding.set", durable=True)
class BlindingSet(Payload):
    """Whether the console hides from the moderator which representation is on the screen. Stored
    when a session is opened. Later, blind can only change from true to false, when the moderator is
    unblinded. A journal without one was recorded by an older version of labapp, or without a
    console.

    Attributes
    ----------
    blind : whether it is hidden from here on.
    """

    blind: bool


@kind("keyboard.given")
class KeyboardGiven(Payload):
    """The keyboard was given to somebody else. Until the first of these events, the participant has
    it. If another program has the keyboard, only window.focus shows this.

    Attributes
    ----------
    to : moderator or participant, who receives the key presses from here on.
    why : for the moderator: note, deviation, correction, reason or text (something is being typed
        on the console), question (the console asks something), console (it is in front of the
        participant's window on the only screen), window (the window system gave it to the console,
        for example after a click), refused (the window system does not give it to the participant).
        For the participant: enter, escape, idle (nothing was typed for a while), left (the field
        was left), answered (the question was closed), button, console (no longer in front), window.
    """

    to: Word
    why: Word


@kind("pointer.moved")
class PointerMoved(Payload):
    """A stretch of the pointer's path in the participant's window, at most 30 points a second, only
    while it moves.

    Attributes
    ----------
    began_ns : session time of the first point.
    width, height : of the window, in logical pixels.
    t_ms : of each point, milliseconds from the first.
    x, y : of each point, logical pixels from the window's upper left corner.
    """

    began_ns: Whole
    width: Whole
    height: Whole
    t_ms: tuple[Whole, ...]
    x: tuple[Whole, ...]
    y: tuple[Whole, ...]


@kind("session.planned", durable=True)
class SessionPlanned(Payload):
    """The first event: the study as planned for this participant, with all settings written out.

    Attributes
    ----------
    study, study_version : id and version of the study.
    study_sha256 : hash over all files of the study.
    participant, session : their labels.
    seed : from which everything is drawn at random.
    assignment : the value that this participant was assigned, for each variable of the study.
    presentation : how stages look: as_published or improved.
    language : of the texts, such as en.
    audio : whether sound is recorded: required, optional or off.
    plan : the parts of the session in order, each with all its settings.
    replicates : the published study that it replicates (paper, study, run); empty if it replicates
        none.
    declared : what the study declares about its design, exclusion, missing data, analysis and
        hypotheses, as in its file; empty if it declares nothing.
    pilot : whether it is a trial run, which is stored separately and never analysed with other
        sessions.
    phase : the phase of the study according to its file at that time; empty without phases.
    """

    study: Word
    study_version: Whole
    study_sha256: Word
    participant: Word
    session: Word
    seed: int
    assignment: Annotated[dict[str, Any], KEPT]
    presentation: Word
    language: Word
    audio: Word
    plan: Annotated[tuple[dict[str, Any], ...], KEPT]
    replicates: dict[str, Word] = field(default_factory=dict)
    declared: Annotated[dict[str, Any], KEPT] = field(default_factory=dict)
    pilot: bool = False
    phase: Word = ""


@kind("participant.simulated")
class ParticipantSimulated(Payload):
    """The participant is a program, not a person.

    Attributes
    ----------
    strategy : how it solves questions.
    share : the share of this strategy in its mixture; null without a mixture.
    careless : whether it answers without trying.
    traits : the values that characterise this participant.
    """

    strategy: str
    share: float | None
    careless: bool
    traits: dict[str, float]


@kind("segment.started", durable=True)
class SegmentStarted(Payload):
    """A run of the program on this session begins.

    Attributes
    ----------
    segment : its number, from 1.
    utc : when it began, according to the computer's clock.
    boot_id : the id of the computer's start, which shows whether it was restarted.
    app_version : the version of labapp.
    study_sha256 : hash over all files of the study, as in session.planned.
    gap_from_ns : session time of the last event of the previous run; the time from there to
        session.resumed is a gap. Null in the first run.
    boot_ns : the reading, at session time 0, of the computer's own clock, which nobody can set and
        which continues during sleep. Within the same boot_id, it shows how long a gap was. Null if
        the session does not run at the speed of that clock, and in older journals.
    gap_by : how the length of the gap was measured: `monotonic`, by that clock; `wall`, by the time
        of day, which may have been changed; empty without a gap, and in older journals.
    """

    segment: Number
    utc: Word
    boot_id: str
    app_version: Word
    study_sha256: Word
    gap_from_ns: Nanoseconds | None = None
    boot_ns: Whole | None = None
    gap_by: str = ""


@kind("program.stalled", durable=True, lane="alarms")
class ProgramStalled(Payload):
    """Something froze for more than a second: the computer slept, its disk was swapping, or a
    process was stopped. Stored as soon as it continues.

    Attributes
    ----------
    who : `program` if the windows froze; `computer` if the process that watches them froze, too;
        `recorder` if only the process that records the sound froze, which is not left out of any
        duration.
    from_ns : session time at which it was last known to be running.
    duration_ns : how long it was frozen, on the session's clock.
    asleep_ns : how long the computer slept in addition, which the session's clock does not count.
    left_out : whether duration_ns is left out of durations, as set in the study (stalls).
    """

    who: str
    from_ns: Nanoseconds
    duration_ns: Nanoseconds
    asleep_ns: Nanoseconds = 0
    left_out: bool = False


@kind("clock.changed", durable=True, lane="alarms")
class ClockChanged(Payload):
    """The computer's date and time were changed by an amount that differs from the time that had
    passed. This does not affect durations and the order of events; utc continues as before until
    the computer is restarted.

    Attributes
    ----------
    by_s : the number of seconds by which the computer's clock is ahead of where it would have been;
        negative if it was set back.
    certain : whether this is confirmed by another clock of the computer. False after a restart,
        when only the time of day shows how long the session was interrupted; by_s is then the least
        amount that is missing.
    """

    by_s: float
    certain: bool = True


@kind("segment.ended", durable=True)
class SegmentEnded(Payload):
    """A run of the program on this session ends properly.

    Attributes
    ----------
    reason : why it ends.
    """

    reason: str


@kind("session.paused", durable=True)
class SessionPaused(Payload):
    """The session is paused until session.resumed. Durations do not include this time.

    Attributes
    ----------
    reason : why it is paused.
    """

    reason: str


@kind("pause.explained", durable=True)
class PauseExplained(Payload):
    """The moderator gave the reason for a pause that had already begun.

    Attributes
    ----------
    reason : why it is paused, instead of the reason in session.paused.
    """

    reason: str


@kind("session.resumed", durable=True)
class SessionResumed(Payload):
    """A pause, or the gap after a crash, ends.

    Attributes
    ----------
    reason : what had interrupted the session.
    """

    reason: str


@kind("session.completed", version=2, durable=True)
class SessionCompleted(Payload):
    """Every part of the plan was completed. From version 2 on, durations do not include what
    follows."""


@kind("session.ended", version=2, durable=True)
class SessionEnded(Payload):
    """The session was ended before its plan was completed; session.reopened can undo this. From
    version 2 on, durations do not include what follows.

    Attributes
    ----------
    reason : why it was ended.
    withdrawal : empty, or keep or delete if the participant withdrew and said what should happen to
        the data.
    debriefed : whether the participant's window shows the debriefing.
    """

    reason: str
    withdrawal: Word = ""
    debriefed: bool = False


@migration("session.completed", 1)
@migration("session.ended", 1)
def _migrate_ended_from_1(payload: dict[str, Any]) -> dict[str, Any]:
    # The fields are the same: the version tells that time went on after the end.
    return payload


@kind("inclusion.decided", durable=True)
class InclusionDecided(Payload):
    """Whether the session counts according to the study's rules; stored when it ends.

    Attributes
    ----------
    included : whether the session counts.
    failed : the rules that were not met (completed, practice_correct, min_solved), withdrawn, and
        the names of the study's own exclusion rules that apply.
    facts : the numbers on which the first three of these are based.
    """

    included: bool
    failed: tuple[Word, ...]
    facts: dict[str, float]

    def failing(self, rules: Iterable[str]) -> InclusionDecided:
        """The same where the session fails rules of the study's own."""
        failed = tuple(dict.fromkeys((*self.failed, *rules)))
        return InclusionDecided(not failed, failed, self.facts)


@kind("payment.computed", durable=True)
class PaymentComputed(Payload):
    """The payment for the session, in a study that pays. Stored when the session ends for any
    reason, unless the participant did not agree to take part.

    Attributes
    ----------
    currency : the currency of the amounts.
    base : the amount for taking part.
    bonus : the amount for answers, in addition to the base.
    total : the sum of base and bonus.
    solved : questions of reconstruction stages that were solved.
    correct : questions of single-dimension stages that were answered correctly.
    photos : photos that were judged.
    above_chance : photos that were answered correctly, minus the number expected from guessing.
    """

    currency: Word
    base: float
    bonus: float
    total: float
    solved: Index
    correct: Index
    photos: Index = 0
    above_chance: float = 0.0


@kind("part.started", durable=True)
class PartStarted(Payload):
    """A part of the plan (consent, tutorial, practice, stage, questionnaire, debrief) begins.

    Attributes
    ----------
    index : its position in the plan, from 0.
    """

    index: Index


@kind("part.restarted", durable=True)
class PartRestarted(Payload):
    """An interrupted stage begins again with its first question, as set in the study
    (when_interrupted).

    Attributes
    ----------
    index : the stage's position in the plan, from 0.
    attempt : the attempt number of the questions from here on; earlier questions keep theirs.
    """

    index: Index
    attempt: Number


@kind("part.ended", durable=True)
class PartEnded(Payload):
    """A part of the plan ends.

    Attributes
    ----------
    index : its position in the plan, from 0.
    outcome : completed, time_expired, skipped, declined, check_failed or criterion_missed.
    """

    index: Index
    outcome: Word


@kind("part.skipped", durable=True)
class PartSkipped(Payload):
    """A part of the plan was skipped before it began, because the moderator skipped its stage or
    continued at a later part, or because it asks about a skipped stage.

    Attributes
    ----------
    index : its position in the plan, from 0.
    """

    index: Index


@kind("part.left_out", durable=True)
class PartLeftOut(Payload):
    """A part of the plan is not shown because of the participant's earlier answers, as set in the
    study (`only_if`).

    Attributes
    ----------
    index : its position in the plan, from 0.
    """

    index: Index


@kind("quota.counted", durable=True)
class QuotaCounted(Payload):
    """How many participants were counted in a quota of the study before this session.

    Attributes
    ----------
    quota : its name in the study.
    count : people who held a place in the study and were counted in the quota.
    limit : the largest number that the study accepts.
    """

    quota: Word
    count: Index
    limit: Number


@kind("quota.met", durable=True)
class QuotaMet(Payload):
    """According to the answers so far, the participant is counted in a quota of the study.

    Attributes
    ----------
    quota : its name in the study.
    full : whether the quota was already full.
    """

    quota: Word
    full: bool


@kind("page.turned", durable=True)
class PageTurned(Payload):
    """A page of a text, tutorial or questionnaire is on the screen.

    Attributes
    ----------
    page : the number of the page, from 0.
    """

    page: Index


@kind("note.added", durable=True, lane="notes")
class NoteAdded(Payload):
    """A moderator's note.

    Attributes
    ----------
    text : what was written.
    typing_began_ns : session time of its first key press.
    """

    text: str
    typing_began_ns: Whole


@kind("flag.added", durable=True, lane="flags")
class FlagAdded(Payload):
    """A moderator's flag, at the time of the key press.

    Attributes
    ----------
    number : the number of the key that was pressed.
    meaning : the meaning of the number in the study.
    """

    number: Whole
    meaning: str


@kind("deviation.noted", durable=True, lane="notes")
class DeviationNoted(Payload):
    """Something differed from the study's procedure, as written down by the moderator.

    Attributes
    ----------
    text : what was written.
    typing_began_ns : session time of its first key press.
    """

    text: str
    typing_began_ns: Whole


@kind("prompt.given", durable=True)
class PromptGiven(Prompt):
    """The moderator recorded a prompt to the participant."""

    text: str


def cause_of(code: str, about: str = "") -> str:
    """What makes two alarms one: what is raised again takes the place of the earlier alarm, and
    `alarm.cleared` ends it."""
    return f"{code} {about}".rstrip()


@kind("alarm.raised", durable=True, lane="alarms")
class AlarmRaised(MessagePayload):
    """Something needs the moderator's attention.

    Attributes
    ----------
    code : what it is, as a name that is the same in all versions.
    detail : what it is, in words for people.
    about : what it is about, such as the name of a quota, if alarms with this code can be about
        several things; otherwise left out.
    """

    code: Word
    detail: str
    message: dict[str, Any] = field(default_factory=dict)
    about: Word = ""
    sparse = ("message", "about")


@kind("alarm.cleared", durable=True)
class AlarmCleared(Payload):
    """The cause of an earlier alarm is gone.

    Attributes
    ----------
    code, about : the code of the alarm and what it is about.
    """

    code: Word
    about: Word = ""
    sparse = ("about",)


@kind("screen.changed", durable=True, lane="alarms")
class ScreenChanged(Payload):
    """A screen was removed or added.

    Attributes
    ----------
    change : removed or added.
    screen : its name.
    screens_left : the number of screens that are left.
    """

    change: Word
    screen: str
    screens_left: Index


@kind("window.focus")
class WindowFocus(Payload):
    """The participant's window lost or gained the keyboard focus.

    Attributes
    ----------
    focused : whether it has the focus from here on.
    """

    focused: bool


@kind("decoder.warmed", durable=True)
class DecoderWarmed(Payload):
    """A decoder is ready, with its measured time per picture.

    Attributes
    ----------
    model : its id.
    device : the device on which it decodes, such as cpu.
    threads : the number of threads with which it decodes.
    n : the number of pictures that were decoded for the measurement.
    median_ms, p99_ms : median and 99th percentile of the times of one picture, in milliseconds.
    card_sha256 : hash of the model card, which contains the hashes of the weights; empty without a
        card.
    backend, backend_version : the library that computes the decoder, and its version; empty in
        older journals.
    """

    model: Word
    device: Word
    threads: Whole
    n: Whole
    median_ms: float
    p99_ms: float
    card_sha256: Word = ""
    backend: Word = ""
    backend_version: Word = ""


@kind("environment.recorded", durable=True)
class EnvironmentRecorded(Payload):
    """The computer on which this run takes place.

    Attributes
    ----------
    environment : versions, machine, screens and their pixel ratio, devices.
    """

    environment: dict[str, Any]


class Agreement(Payload):
    """The participant agreed.

    Attributes
    ----------
    signed : by a click, a name or a drawn signature (click, name, drawn).
    uses : whether they agreed to each use of the data that was asked about separately.
    """

    signed: str
    uses: dict[str, bool]


class Refusal(Payload):
    """The participant did not agree."""


@kind("skip.requested", durable=True)
class SkipRequested(Payload):
    """A question was skipped by the participant, or the rest of a part by the moderator; until
    skip.confirmed, this can be undone, and a neutral page covers the question or part. Durations do
    not include the time from here to skip.taken_back or skip.confirmed. A pause, a crash or the end
    of the session undoes the skip, and the question continues.

    Attributes
    ----------
    what : trial or part.
    index : the part's position in the plan, from 0.
    to : for a part, the position in the plan at which the session continues, from 0, or the number
        of parts if nothing is left. The parts in between are skipped, too (see part.skipped). Null
        if only the rest of the part is skipped, as in all older versions.
    """

    what: Word
    index: Index
    to: Whole | None = None


@kind("skip.taken_back", durable=True, lane="alarms")
class SkipTakenBack(Payload):
    """The skip was undone, and the question or part continues as it was.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("skip.confirmed", durable=True)
class SkipConfirmed(Payload):
    """The skip was not undone in time; the events that follow from it come next.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("session.reopened", durable=True, lane="alarms")
class SessionReopened(Payload):
    """The moderator undid the end of the session before the console was closed. Durations do not
    include the time in between.

    Attributes
    ----------
    seq : number of the session.ended event that is undone, with everything that was decided and
        computed for it.
    """

    seq: Number


@kind("close.requested", version=2, durable=True, lane="alarms")
class CloseRequested(Payload):
    """The participant tried to leave the window (close button or Escape); nothing was closed. From
    version 2 on, the task stops, and durations do not include the time from here to
    close.withdrawn, or to a pause or the end of the session.

    Attributes
    ----------
    how : with the window's button (close) or with the key (escape).
    """

    how: str


@migration("close.requested", 1)
def _close_requested_from_1(payload: dict[str, Any]) -> dict[str, Any]:
    # The fields are the same: the version tells that time went on while the participant was asked.
    return payload


@kind("close.withdrawn", durable=True)
class CloseWithdrawn(Payload):
    """The participant who tried to leave the window continues."""


@kind("stimuli.kept", durable=True)
class StimuliStored(Payload):
    """The pictures that this session shows were copied into its folder.

    Attributes
    ----------
    stimuli : id of the stimulus set.
    manifest_sha256 : hash of the set's manifest.
    files : for each picture in the plan, the name of its file in `stimuli/`, which is its SHA-256.
    """

    stimuli: Word
    manifest_sha256: Word
    files: dict[str, Word]


@kind("lsl.opened", durable=True)
class LslOpened(Payload):
    """The session's events are sent over the Lab Streaming Layer from here on, unencrypted.

    Attributes
    ----------
    source_id : identifies recordings of the streams as those of this session; drawn at random, and
        the same in each run of a session.
    streams : their names.
    library : the version of liblsl that sends them.
    """

    source_id: str
    streams: tuple[str, ...]
    library: str


@kind("lsl.clock")
class LslClock(Payload):
    """The same moment on the session's clock and on that of LSL; stored again when the two drift
    apart.

    Attributes
    ----------
    session_ns : the moment in session time.
    lsl_s : the same moment on the clock of the time stamps in the streams, in seconds.
    """

    session_ns: Whole
    lsl_s: float


@kind("lsl.off", durable=True)
class LslOff(MessagePayload):
    """The session's events should be sent over the Lab Streaming Layer, but are not.

    Attributes
    ----------
    reason : why, in words.
    """

    reason: str
    message: dict[str, Any] = field(default_factory=dict)
