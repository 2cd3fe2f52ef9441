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
    """Base of the kinds with which the moderator said something that the study has the words for:
    it can be taken back, and not be put into other words.

    Attributes
    ----------
    text : the words that were said.
    """

    text: str


class GuideQuestion(Prompt):
    """Base of the kinds with which the moderator asked a question of a guide.

    Attributes
    ----------
    question : its number in the guide, from 1.
    """

    question: Whole


@kind("note.corrected", durable=True)
class NoteCorrected(Payload):
    """What the moderator wrote down reads otherwise from now on; the former words stay where they
    are.

    Attributes
    ----------
    seq : number of the corrected note.added, deviation.noted, flag.added, prompt.given or
        interview.question_asked, never of another correction.
    text : how it reads now, empty where it is taken back; the last three kinds are taken back or,
        with their own words, given again.
    typing_began_ns : session time of the correction's first key.
    """

    seq: Number
    text: str
    typing_began_ns: Whole


@kind("blinding.set", durable=True)
class BlindingSet(Payload):
    """Whether the console hides from the moderator which representation is on the screen. Stored as
    a session opens; later only blind false follows blind true: the moderator was unblinded at this
    time. A journal without one was recorded by an older labapp, or without a console.

    Attributes
    ----------
    blind : whether it is hidden from here on.
    """

    blind: bool


@kind("keyboard.given")
class KeyboardGiven(Payload):
    """The keyboard changed hands; until the first of these events the participant has it. Where
    another program has the keyboard, window.focus alone says so.

    Attributes
    ----------
    to : moderator or participant, to whom keys count from here on.
    why : of the moderator: note, deviation, correction, reason or text (something is typed on the
        console), question (the console asks something), console (it is in front of the
        participant's window, on the only screen), window (the window system put it there, as a
        click into the console can do), refused (the window system does not let the participant have
        it). Of the participant: enter, escape, idle (nothing was typed for a while), left (the
        field was left), answered (the question was closed), button, console (no longer in front),
        window.
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
    """The first event: the study as realised for this participant, every setting spelled out.

    Attributes
    ----------
    study, study_version : id and version of the study.
    study_sha256 : hash over all files of the study.
    participant, session : their labels.
    seed : from which everything is drawn.
    assignment : by variable of the study what this participant got.
    presentation : how stages look: as_published or improved.
    language : of the texts, such as en.
    audio : whether sound is recorded: required, optional or off.
    plan : the parts of the session in order, each with all its settings.
    replicates : the published study that it repeats (paper, study, run); empty where it repeats
        none.
    declared : what the study says of its design, exclusion, missing data, analysis and hypotheses,
        as in its file; empty where it says nothing of it.
    pilot : whether it is a trial run, which is kept apart and never analysed with the others.
    phase : of the study, as its file said then; empty where it said none.
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
    """A program takes part, not a person.

    Attributes
    ----------
    strategy : how it solves questions.
    share : of its mixture; null where it was not drawn from one.
    careless : whether it does not try.
    traits : what makes this participant.
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
    utc : when it began, by the computer's clock.
    boot_id : of the computer's start, so that a restart is seen.
    app_version : the version of labapp.
    study_sha256 : hash over all files of the study, as in session.planned.
    gap_from_ns : session time of the last event of the run before; the time from there until
        session.resumed is a gap. Null in the first run.
    boot_ns : what the computer's own clock, which nobody can set and which counts sleep, too,
        would have shown at session time 0. With the same boot_id it says how long a gap was. Null
        where the session does not run at the speed of that clock, and in older journals.
    gap_by : what says how long the gap was: `monotonic`, that clock; `wall`, the time of day, which
        somebody may have set; empty without a gap, and in older journals.
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
    """Something stood still for more than a second: the computer slept, its disk swapped, or a
    process was stopped. Written as soon as it goes on.

    Attributes
    ----------
    who : `program`, the windows stood still; `computer`, and so did the process that watches them;
        `recorder`, only the process that records the sound, which no duration leaves out.
    from_ns : session time at which it was last seen moving.
    duration_ns : how long it stood still, on the session's clock.
    asleep_ns : how long the computer slept besides, which the session's clock does not count.
    left_out : whether durations leave duration_ns out, as the study says (stalls).
    """

    who: str
    from_ns: Nanoseconds
    duration_ns: Nanoseconds
    asleep_ns: Nanoseconds = 0
    left_out: bool = False


@kind("clock.changed", durable=True, lane="alarms")
class ClockChanged(Payload):
    """The computer's date and time were set, and not by as much as time had passed. Durations and
    the order of events do not follow them; utc goes on as before within one start of the computer.

    Attributes
    ----------
    by_s : by how many seconds the computer's clock is ahead of where it would have been; negative
        where it was set back.
    certain : whether another clock of the computer says so. False after a restart, when nothing
        but the time of day tells how long the session was interrupted: by_s is then what is
        missing at least.
    """

    by_s: float
    certain: bool = True


@kind("segment.ended", durable=True)
class SegmentEnded(Payload):
    """A run of the program on this session ends in an orderly way.

    Attributes
    ----------
    reason : why it ends.
    """

    reason: str


@kind("session.paused", durable=True)
class SessionPaused(Payload):
    """The session stands still until session.resumed; no duration counts this time.

    Attributes
    ----------
    reason : why it stands still.
    """

    reason: str


@kind("pause.explained", durable=True)
class PauseExplained(Payload):
    """The moderator says why the session is paused; the pause itself began before.

    Attributes
    ----------
    reason : why it is paused, in place of the reason of session.paused.
    """

    reason: str


@kind("session.resumed", durable=True)
class SessionResumed(Payload):
    """A pause, or the gap after a crash, ends.

    Attributes
    ----------
    reason : what had stopped it.
    """

    reason: str


@kind("session.completed", version=2, durable=True)
class SessionCompleted(Payload):
    """Every part of the plan was completed. From version 2 on, no duration counts what follows."""


@kind("session.ended", version=2, durable=True)
class SessionEnded(Payload):
    """The session was ended before its plan was done; session.reopened can undo it. From version 2
    on, no duration counts what follows.

    Attributes
    ----------
    reason : why it was ended.
    withdrawal : empty, or keep or delete where the participant withdrew and said what is to become
        of the data.
    debriefed : the participant's window shows the debriefing.
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
    """Whether the session counts, by the study's rules; written as it ends.

    Attributes
    ----------
    included : whether it counts.
    failed : the rules that it does not meet (completed, practice_correct, min_solved), withdrawn,
        and the names of the study's own rules of exclusion that it fails.
    facts : what the first three of these were judged by.
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
    """What the session earned, in a study that pays; written as it ends, however it ends, unless
    the participant did not agree to take part.

    Attributes
    ----------
    currency : in which the amounts are.
    base : for taking part.
    bonus : for answers, above the base.
    total : base and bonus.
    solved : questions of reconstruction stages that were solved.
    correct : questions of single-dimension stages that were answered rightly.
    photos : photos that were judged.
    above_chance : photos that were answered rightly beyond what guessing gets right.
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
    index : its place in the plan, from 0.
    """

    index: Index


@kind("part.restarted", durable=True)
class PartRestarted(Payload):
    """A stage that was interrupted begins again with its first question, as the study says
    (when_interrupted).

    Attributes
    ----------
    index : the stage's place in the plan, from 0.
    attempt : of the questions from here on; those before keep theirs.
    """

    index: Index
    attempt: Number


@kind("part.ended", durable=True)
class PartEnded(Payload):
    """A part of the plan ends.

    Attributes
    ----------
    index : its place in the plan, from 0.
    outcome : completed, time_expired, skipped, declined, check_failed or criterion_missed.
    """

    index: Index
    outcome: Word


@kind("part.skipped", durable=True)
class PartSkipped(Payload):
    """A part of the plan that had not begun is left out: the moderator skipped its stage or
    continued at a later part, or it asks about a stage that was skipped.

    Attributes
    ----------
    index : its place in the plan, from 0.
    """

    index: Index


@kind("part.left_out", durable=True)
class PartLeftOut(Payload):
    """A part of the plan is not shown, because of what the participant answered before, as the
    study says (`only_if`).

    Attributes
    ----------
    index : its place in the plan, from 0.
    """

    index: Index


@kind("quota.counted", durable=True)
class QuotaCounted(Payload):
    """How many participants fell under a quota of the study before this session.

    Attributes
    ----------
    quota : its name in the study.
    count : people who held a place of the study, and fell under it.
    limit : how many the study takes at most.
    """

    quota: Word
    count: Index
    limit: Number


@kind("quota.met", durable=True)
class QuotaMet(Payload):
    """By what was answered so far, the participant falls under a quota of the study.

    Attributes
    ----------
    quota : its name in the study.
    full : whether the quota was full already.
    """

    quota: Word
    full: bool


@kind("page.turned", durable=True)
class PageTurned(Payload):
    """A page of a text, tutorial or questionnaire is on the screen.

    Attributes
    ----------
    page : which one, from 0.
    """

    page: Index


@kind("note.added", durable=True, lane="notes")
class NoteAdded(Payload):
    """A moderator's note.

    Attributes
    ----------
    text : what was written.
    typing_began_ns : session time of its first key.
    """

    text: str
    typing_began_ns: Whole


@kind("flag.added", durable=True, lane="flags")
class FlagAdded(Payload):
    """A moderator's flag, at the time of the key press.

    Attributes
    ----------
    number : of its key.
    meaning : what the study says that the number stands for.
    """

    number: Whole
    meaning: str


@kind("deviation.noted", durable=True, lane="notes")
class DeviationNoted(Payload):
    """Something went otherwise than the study says, as the moderator wrote it down.

    Attributes
    ----------
    text : what was written.
    typing_began_ns : session time of its first key.
    """

    text: str
    typing_began_ns: Whole


@kind("prompt.given", durable=True)
class PromptGiven(Prompt):
    """The moderator recorded having prompted the participant."""

    text: str


def cause_of(code: str, about: str = "") -> str:
    """What makes two alarms one: what is raised again takes the place of the earlier alarm, and
    `alarm.cleared` ends it."""
    return f"{code} {about}".rstrip()


@kind("alarm.raised", durable=True, lane="alarms")
class AlarmRaised(MessagePayload):
    """Something needs the moderator.

    Attributes
    ----------
    code : what it is, by a name that stays the same in all versions.
    detail : what it is, in words for people.
    about : what it is about, where there can be alarms of this code about several things, such as
        the name of a quota; left out elsewhere.
    """

    code: Word
    detail: str
    message: dict[str, Any] = field(default_factory=dict)
    about: Word = ""
    sparse = ("message", "about")


@kind("alarm.cleared", durable=True)
class AlarmCleared(Payload):
    """The condition of an earlier alarm is over.

    Attributes
    ----------
    code, about : of the alarm.
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
    screens_left : how many there are now.
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
    device : on which it decodes, such as cpu.
    threads : with how many it decodes.
    n : pictures that were decoded for the measurement.
    median_ms, p99_ms : median and 99th percentile of the times of one picture, in milliseconds.
    card_sha256 : hash of the model card, which holds the hashes of the weights; empty where there
        is no card.
    backend, backend_version : what computes the decoder, with its version; empty in older journals.
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
    """Where this run takes place.

    Attributes
    ----------
    environment : versions, machine, screens and their pixel ratio, devices.
    """

    environment: dict[str, Any]


class Agreement(Payload):
    """The participant agreed.

    Attributes
    ----------
    signed : how: by a click, a name or a drawn signature (click, name, drawn).
    uses : whether they agreed to each use of the data that was asked one by one.
    """

    signed: str
    uses: dict[str, bool]


class Refusal(Payload):
    """The participant did not agree."""


@kind("skip.requested", durable=True)
class SkipRequested(Payload):
    """A question was skipped by the participant, or the rest of a part by the moderator; until
    skip.confirmed it can be taken back, and a neutral page covers it. No duration counts the time
    from here to skip.taken_back or skip.confirmed. A pause, a crash or the end of the session
    undoes it: the question goes on.

    Attributes
    ----------
    what : trial or part.
    index : the part's place in the plan, from 0.
    to : of a part, the place in the plan at which the session continues, from 0; the number of
        parts where nothing is left. The parts in between are skipped too, see part.skipped. Null
        where only the rest of the part is skipped, as in all older versions.
    """

    what: Word
    index: Index
    to: Whole | None = None


@kind("skip.taken_back", durable=True, lane="alarms")
class SkipTakenBack(Payload):
    """The skip was taken back: the question, or the part, goes on as it was.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("skip.confirmed", durable=True)
class SkipConfirmed(Payload):
    """The skip was not taken back in time; what it leads to follows.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("session.reopened", durable=True, lane="alarms")
class SessionReopened(Payload):
    """The moderator took the end of the session back before the console was closed. No duration
    counts the time in between.

    Attributes
    ----------
    seq : number of the session.ended that is undone, with what was decided and computed for it.
    """

    seq: Number


@kind("close.requested", version=2, durable=True, lane="alarms")
class CloseRequested(Payload):
    """The participant tried to leave the window (close button or Escape); nothing was closed. From
    version 2 on, no duration counts the time from here to close.withdrawn, or to a pause or the end
    of the session, and the task stands still.

    Attributes
    ----------
    how : by the window's button (close) or the key (escape).
    """

    how: str


@migration("close.requested", 1)
def _close_requested_from_1(payload: dict[str, Any]) -> dict[str, Any]:
    # The fields are the same: the version tells that time went on while the participant was asked.
    return payload


@kind("close.withdrawn", durable=True)
class CloseWithdrawn(Payload):
    """The participant who tried to leave the window goes on."""


@kind("stimuli.kept", durable=True)
class StimuliStored(Payload):
    """The pictures this session shows were put into its folder.

    Attributes
    ----------
    stimuli : id of the stimulus set.
    manifest_sha256 : hash of the set's manifest.
    files : by picture, as the plan names it, the name of its file in `stimuli/`, which is its
        SHA-256.
    """

    stimuli: Word
    manifest_sha256: Word
    files: dict[str, Word]


@kind("lsl.opened", durable=True)
class LslOpened(Payload):
    """The session's events are sent over the Lab Streaming Layer from here on, unencrypted.

    Attributes
    ----------
    source_id : by which recordings of the streams are known as this session's; drawn at random, and
        the same in each run of a session.
    streams : their names.
    library : the version of liblsl that sends them.
    """

    source_id: str
    streams: tuple[str, ...]
    library: str


@kind("lsl.clock")
class LslClock(Payload):
    """One moment on the session's clock and on that of LSL; a further one where they drift apart.

    Attributes
    ----------
    session_ns : the moment as session time.
    lsl_s : the same on the clock that time stamps in the streams are of, in seconds.
    """

    session_ns: Whole
    lsl_s: float


@kind("lsl.off", durable=True)
class LslOff(MessagePayload):
    """The session's events were to be sent over the Lab Streaming Layer, and are not.

    Attributes
    ----------
    reason : why, in words.
    """

    reason: str
    message: dict[str, Any] = field(default_factory=dict)
