"""The session as one pure state machine: its plan, and the task of the part that runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from labapp.base.clock import NS
from labapp.base.messages import Message, encode_message
from labapp.record.events import Event, Payload, UnstampedEvent, commands, payload_of
from labapp.record.events.lifecycle import (
    Agreement,
    AlarmRaised,
    BlindingSet,
    CloseRequested,
    CloseWithdrawn,
    DeviationNoted,
    FlagAdded,
    NoteAdded,
    NoteCorrected,
    PageTurned,
    PartEnded,
    PartLeftOut,
    PartRestarted,
    PartSkipped,
    PartStarted,
    PauseExplained,
    PaymentComputed,
    ProgramStalled,
    Prompt,
    PromptGiven,
    QuotaCounted,
    QuotaMet,
    SegmentStarted,
    SessionCompleted,
    SessionEnded,
    SessionPaused,
    SessionReopened,
    SessionResumed,
    SkipConfirmed,
    SkipRequested,
    SkipTakenBack,
)
from labapp.record.events.look import Look
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import SoundPlayed, SoundState, TextSoundPlayed
from labapp.study import inclusion, results
from labapp.study.inclusion import Achieved, Incentive, Inclusion, Tally
from labapp.study.plugins import registry
from labapp.study.plugins.item import EarlyDebrief
from labapp.study.plugins.machine import PartMachine, State
from labapp.study.plugins.part import PlannedPart, stages_of
from labapp.study.plugins.registry import Words
from labapp.study.quotas import Quota, find_met
from labapp.study.when import holds

TrialKey = tuple[str | None, int | None, int | None]
"""Part, trial and attempt."""
Decision = Sequence[UnstampedEvent]
"""What a command comes to; empty if it is refused."""
TAKE_BACK_NS = 3 * NS
"""Session time in which a skip can be taken back."""


ENDING = {"check_failed": "comprehension check failed", "criterion_missed": "criterion not reached"}
"""Why a session ends with a part, by how that ends."""


class PartRecord(State, frozen=True):
    """When a part ran (session time in ns) and how it ended; None while it has not."""

    started_ns: int | None = None
    ended_ns: int | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a part that later texts may mention. value: see `PartMachine.result`."""

    index: int
    value: Any


class Annotation(State, frozen=True):
    """What the moderator noted: its first text and its present one. own_words: the moderator wrote
    it, and can change it; a text of the study can only be taken back or given again."""

    text: str
    now: str
    own_words: bool


@dataclass(frozen=True, slots=True)
class PendingSkip:
    """A skip that can still be taken back. what: trial or part; until_ns: session time at which it
    is confirmed; to: the place in the plan at which the session continues then, None for the next
    part."""

    what: str
    until_ns: int
    to: int | None = None


class SessionState(State, frozen=True):
    """How far a session has come.

    Attributes
    ----------
    index : the part that runs or ran last, -1 before the first.
    part_state : that part's state.
    tally : what was achieved so far.
    ended : None, `completed`, or why it was ended early.
    end_seq : of the event that says so.
    withdrawal : keep or delete, as a participant who withdrew wants done with the data.
    debriefed : the debriefing is shown at the early end.
    pending : a skip that can still be taken back.
    goal : the place in the plan at which the last skip made the session continue, if it said so.
    broken_off : a run of the program ended before its session did, and nobody has gone on since.
    result : of the last part whose result later texts may mention.
    agreed : whether the participant agreed to each use of the data that was asked one by one.
    noted : by the seq of its event.
    blind : whether the console hides what is on the screen, None if the journal does not say.
    look : what the participant's window shows besides.
    sounds : what became of the sounds of the part's texts, by their names.
    answers : what the parts so far left for those after them, see `PartMachine.answers` and
        `PartMachine.results`.
    rights : by id of a part that conditions name, see `PartMachine.rights`.
    full, met : the study's quotas that were full when the session began, and those that the
        participant falls under.
    previewed : whether it is shown without a participant, who might not be asked all of it.
    """

    records: tuple[PartRecord, ...]
    segment: int = 0
    pauses: Pauses = Pauses()
    index: int = -1
    part_state: Any = None
    tally: Tally = Tally()
    ended: str | None = None
    end_seq: int | None = None
    withdrawal: str = ""
    debriefed: bool = False
    pending: PendingSkip | None = None
    goal: int | None = None
    broken_off: bool = False
    result: Result | None = None
    agreed: Mapping[str, bool] = msgspec.field(default_factory=dict)
    noted: Mapping[int, Annotation] = msgspec.field(default_factory=dict)
    blind: bool | None = None
    look: Look = Look()
    sounds: Mapping[str, SoundState] = msgspec.field(default_factory=dict)
    answers: Mapping[str, Any] = msgspec.field(default_factory=dict)
    rights: Mapping[str, Sequence[bool]] = msgspec.field(default_factory=dict)
    full: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    previewed: bool = False

    @property
    def running(self) -> bool:
        """Whether a part is on the screen."""
        if self.ended is not None or self.index < 0:
            return False
        record = self.records[self.index]
        return record.started_ns is not None and record.outcome is None


@dataclass(eq=False, repr=False)
class SessionMachine:
    """The state machine of a session.

    Attributes
    ----------
    parts : the plan.
    tasks : their state machines.
    flags : the study's meanings by number.
    rules : whom the study includes.
    incentive : what it pays, if anything.
    restarts : whether a stage that was broken off begins again.
    takes_back : whether a participant can take a skip back.
    stalls : what becomes of a standstill of the program, see `labapp.study.schema.Study`.
    debriefs : when the last part, a debriefing, is shown at an early end.
    quotas : of the study, by name; variables: of its design, as the participant has them.
    """

    parts: Sequence[PlannedPart]
    tasks: Sequence[PartMachine[Any]]
    flags: Mapping[int, str]
    rules: Inclusion = field(default_factory=Inclusion)
    incentive: Incentive | None = None
    restarts: bool = field(default=False, kw_only=True)
    takes_back: bool = field(default=True, kw_only=True)
    stalls: str = field(default="leave-out", kw_only=True)
    debriefs: EarlyDebrief = field(default="never", kw_only=True)
    quotas: Mapping[str, Quota] = field(default_factory=dict, kw_only=True)
    variables: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def initial(self) -> SessionState:
        return SessionState(tuple(PartRecord() for _ in self.parts))

    def fold(self, events: Iterable[Event]) -> SessionState:
        """The state after a journal's events (resume, replay, tests)."""
        state = self.initial()
        for event in events:
            state = self.apply(state, event, payload_of(event))
        return state

    def part(self, state: SessionState) -> PlannedPart | None:
        """The part that runs, if any."""
        return self.parts[state.index] if state.running else None

    def wants_begin(self, state: SessionState) -> bool:
        """Whether the next part, or the next question of the running one, is due."""
        if state.ended is not None or state.pauses.held or state.segment == 0:
            return False
        return not state.running or self.tasks[state.index].wants_begin(state.part_state)

    def next_deadline(self, state: SessionState) -> int | None:
        """Session time in ns of the next Tick, or None."""
        if not state.running:
            return None
        if state.pending is not None:
            return state.pending.until_ns
        return (
            None if state.pauses.held else self.tasks[state.index].next_deadline(state.part_state)
        )

    def can_reopen(self, state: SessionState) -> bool:
        """Whether the end can be undone, i.e. came before the plan was completed."""
        early = state.ended not in (None, "completed")
        return early and state.end_seq is not None and not self._has_declined(state)

    def can_debrief(self, state: SessionState) -> bool:
        """Whether the debriefing can be shown at an early end: a participant who met no task reads
        nothing of it, unless the study says so."""
        if self.debriefs != "begun":
            return self.debriefs == "always"
        task = not any(part.has_trials for part in self.parts)
        for part, record in zip(self.parts, state.records, strict=True):
            if part.consents or part.introduces:
                continue
            task = task or part.questionnaire() is None  # what is asked before a task is none
            if task and record.started_ns is not None:
                return True
        return False

    def decide(self, state: SessionState, command: commands.Command, now_ns: int) -> Decision:
        if type(command).__module__ != commands.__name__ and self._is_undisturbed(state):
            return self._decide_task(state, command, now_ns)
        match command:  # the moderator can note things after the end, too
            case commands.AddNote(text, began) if text.strip():
                return (self._add_trial_key(state, NoteAdded(text.strip(), began)),)
            case commands.AddDeviation(text, began) if text.strip():
                return (self._add_trial_key(state, DeviationNoted(text.strip(), began)),)
            case commands.AddFlag(number):
                meaning = self.flags.get(number)
                return (self._add_trial_key(state, FlagAdded(number, meaning)),) if meaning else ()
            case commands.GivePrompt(text):
                return (self._add_trial_key(state, PromptGiven(text)),)
            case commands.CorrectNote():
                return self._correct(state, command)
            case commands.Unblind():
                return (UnstampedEvent(BlindingSet(False)),) if state.blind else ()
            case commands.MovePointer(key, path):
                return (UnstampedEvent(path, *key),)
            case commands.PlayTextSound() if state.running:
                return self._play(state, command, now_ns)
            case commands.ShowLook(look) if (payload := state.look.toward(look)) is not None:
                return (self._add_trial_key(state, payload),)
            case commands.Reopen(seq) if seq == state.end_seq and self.can_reopen(state):
                return self._reopen(state, seq)
        if state.ended is not None:
            return ()
        match command:
            case commands.Pause(reason):
                return () if state.pauses.paused else (UnstampedEvent(SessionPaused(reason)),)
            case commands.ExplainPause(reason) if state.pauses.paused and reason.strip():
                return (UnstampedEvent(PauseExplained(reason.strip())),)
            case commands.Resume(reason):
                return self._resume(state, reason, "completed")
            case commands.EndSession(reason, withdrawal, debrief):
                shown = debrief and self.can_debrief(state)
                return self._end(state, SessionEnded(reason, withdrawal, shown))
            case commands.StandStill():
                return self._record_standstill(state, command)
            case commands.AskToLeave(how):
                leaving = state.pauses.leaving
                return () if leaving else (self._add_trial_key(state, CloseRequested(how)),)
            case commands.StayHere() if state.pauses.leaving:
                return (self._add_trial_key(state, CloseWithdrawn()),)
            case commands.SkipStage(index) if index not in (None, state.index):
                return ()  # the session has gone on meanwhile
            case commands.SkipStage(to=to) if to not in (None, *self.later(state)):
                return ()
            case commands.Begin() if not state.running:
                return () if state.pauses.held else self._next_part(state)
        if command.settles_leaving and state.pauses.leaving and state.running:
            ended = self.tasks[state.index].decide(state.part_state, command, now_ns)
            return (self._add_trial_key(state, CloseWithdrawn()), *ended) if ended else ()
        if not state.running or (state.pauses.leaving and not command.while_leaving):
            return ()
        if self.parts[state.index].rests:
            return self._decide_break(state, command, now_ns)
        if state.pauses.paused:
            return ()
        pending = state.pending
        if pending is not None and not (
            isinstance(command, commands.SkipStage) and pending.what == "trial"
        ):
            return self._pending(state, pending, command, now_ns)
        return self._decide_task(state, command, now_ns)

    def _is_undisturbed(self, state: SessionState) -> bool:
        """Whether a task's own commands are for the part on the screen and nothing besides."""
        if state.pauses.holds or state.pending is not None or not state.running:
            return False
        return not self.parts[state.index].rests

    def _play(self, state: SessionState, command: commands.PlayTextSound, now_ns: int) -> Decision:
        now = state.sounds.get(command.sound, SoundState())
        heard_ns = self.hearing_ns(state, now_ns)
        if (asked := now.ask(command.action, heard_ns, command.seconds)) is None:
            return ()
        payload = TextSoundPlayed(command.sound, command.action, *asked, command.audible)
        return (self._add_trial_key(state, payload),)

    def hearing_ns(self, state: SessionState, t_ns: int) -> int:
        """The time by which sounds of texts play: in a break, which holds the working time, that
        of the session."""
        part = self.part(state)
        return t_ns if part is not None and part.rests else state.pauses.working_ns(t_ns)

    def _decide_task(self, state: SessionState, command: commands.Command, now_ns: int) -> Decision:
        """What the part on the screen makes of a command; a skip is pending first.

        A participant cannot take a skip back if the study is shown as it was published, nor
        where reaction times are measured, which a cover would change.
        """
        events = self.tasks[state.index].decide(state.part_state, command, now_ns)
        timed = self.parts[state.index].timed
        if events and isinstance(command, commands.SkipStage):
            skip = SkipRequested("part", state.index, command.to)
        elif events and isinstance(command, commands.Skip) and self.takes_back and not timed:
            skip = SkipRequested("trial", state.index)
        else:
            return events
        return (self._add_trial_key(state, skip),)

    def later(self, state: SessionState) -> range:
        """The places in the plan, its end among them, at which the session can continue instead of
        with the part that runs. Nothing is recorded without consent: it is never passed over."""
        first = state.index + 1
        if state.index < 0 or self.parts[state.index].consents:
            return range(first, first)
        places = range(first, len(self.parts))
        consent = next((place for place in places if self.parts[place].consents), len(self.parts))
        return range(first, consent + 1)

    def _skip_parts(self, begin: int, end: int | None) -> Decision:
        """Parts that are skipped before they began."""
        places = range(begin, begin if end is None else end)
        return [UnstampedEvent(PartSkipped(place), self.parts[place].id) for place in places]

    def _pending(
        self, state: SessionState, skip: PendingSkip, command: commands.Command, now_ns: int
    ) -> Decision:
        """While a skip can be taken back, nothing else happens."""
        match command:
            case commands.TakeBackSkip(what) if what == skip.what:
                return (self._add_trial_key(state, SkipTakenBack(what)),)
            case commands.ConfirmSkip():
                pass
            case commands.Tick() if now_ns >= skip.until_ns:
                pass
            case _:
                return ()
        skipped = commands.SkipStage() if skip.what == "part" else commands.Skip()
        led_to = self.tasks[state.index].decide(state.part_state, skipped, now_ns)
        # Together: a crash leaves all of it in the journal, or none.
        over = self._skip_parts(state.index + 1, skip.to)
        return (self._add_trial_key(state, SkipConfirmed(skip.what)), *led_to, *over)

    def _reopen(self, state: SessionState, seq: int) -> Decision:
        """The session goes on where it was, in a pause, for the participant has to be there
        first."""
        pause = UnstampedEvent(SessionPaused("the end was taken back"))
        return (UnstampedEvent(SessionReopened(seq)), *(() if state.pauses.paused else (pause,)))

    def _next_part(self, state: SessionState) -> Decision:
        if self._has_declined(state):
            end = SessionEnded("consent declined", debriefed=self.debriefs == "always")
            return self._end(state, end)
        outcome = state.records[state.index].outcome if state.index >= 0 else None
        if (why := ENDING.get(outcome or "")) is not None:
            return self._end(state, SessionEnded(why, debriefed=self.can_debrief(state)))
        if reached := self._reach_quotas(state):
            return reached
        index = state.index + 1
        if index == len(self.parts):
            return self._end(state, SessionCompleted())
        part = self.parts[index]
        if not (state.previewed or holds(part.only_if, state.answers)):
            return (UnstampedEvent(PartLeftOut(index), part.id),)
        if self._about_skipped(state, index):
            return self._skip_parts(index, index + 1)
        started = UnstampedEvent(PartStarted(index), self.parts[index].id)
        if self.parts[index].rests:
            # No duration counts it; its part's key tells it from a pause by the moderator.
            return (started, UnstampedEvent(SessionPaused("break"), self.parts[index].id))
        return (started,)

    def _reach_quotas(self, state: SessionState) -> Decision:
        """What the session says of quotas that the participant falls under by now. The moderator
        reads of one that is full; if the study says so, the session ends for it."""
        met = find_met(self.quotas, {**self.variables, **state.answers})
        reached = [name for name in met if name not in state.met]
        events = [UnstampedEvent(QuotaMet(name, name in state.full)) for name in reached]
        full = [name for name in reached if name in state.full]
        for name in full:
            what = Message("quota_full", quota=name)
            alarm = AlarmRaised("quota_full", str(what), encode_message(what), name)
            events.append(UnstampedEvent(alarm))
        if ending := [name for name in full if self.quotas[name].full == "end"]:
            debriefed = self.can_debrief(state)
            end = SessionEnded(f"quota full: {', '.join(ending)}", debriefed=debriefed)
            events += self._end(state, end)
        return events

    def _about_skipped(self, state: SessionState, index: int) -> bool:
        """Whether a part asks about a stage that was skipped: there is nothing to ask then, unless
        the moderator continued at what is asked about it."""
        about = self.parts[index].belongs_to()
        goal = len(self.parts) if state.goal is None else state.goal
        if goal < len(self.parts) and self.parts[goal].belongs_to() == about:
            return False
        return about is not None and any(
            part.id == about and record.outcome == "skipped"
            for part, record in zip(self.parts, state.records, strict=True)
        )

    def _find_skipped_stages(self, state: SessionState) -> set[int]:
        """The numbers of the stages of which every block was skipped."""
        records = zip(self.parts, state.records, strict=True)
        outcomes = {part.id: record.outcome for part, record in records}
        return {
            number
            for number, blocks in stages_of(self.parts).items()
            if all(outcomes[block.id] in ("skipped", inclusion.LEFT_OUT) for block in blocks)
        }

    def _end(self, state: SessionState, end: SessionCompleted | SessionEnded) -> Decision:
        """What the session came to, and its end."""
        achieved = self._sum_achievements(state)
        withdrawn = isinstance(end, SessionEnded) and bool(end.withdrawal)
        completed = isinstance(end, SessionCompleted)
        decided = inclusion.decide(self.rules, achieved, completed=completed, withdrawn=withdrawn)
        paid = None if self._has_declined(state) else self.payment(state)
        return (
            UnstampedEvent(decided),
            *([UnstampedEvent(paid)] if paid else []),
            UnstampedEvent(end),
        )

    def _sum_achievements(self, state: SessionState) -> Achieved:
        return inclusion.sum_achievements(self.parts, state.tally)

    def _has_declined(self, state: SessionState) -> bool:
        return state.index >= 0 and state.records[state.index].outcome == "declined"

    def payment(self, state: SessionState) -> PaymentComputed | None:
        """What was earned so far; None in a study that pays nothing."""
        paid = self.incentive
        return (
            None if paid is None else inclusion.compute_payment(paid, self._sum_achievements(state))
        )

    def result_values(self, state: SessionState, words: Words) -> dict[str, str]:
        """The values that a text can use about the outcomes of earlier parts: every name of every
        task type, empty if there is no value."""
        values = dict.fromkeys(registry.value_names(), "")
        if (result := state.result) is not None:
            part = self.parts[result.index]
            values |= registry.task_type_of(part).values(part, result.value, words)
        return values

    def _resume(self, state: SessionState, reason: str, outcome: str) -> Decision:
        """A pause ends; with it the break that the plan asked for."""
        if not state.pauses.paused:
            return ()
        resumed = UnstampedEvent(SessionResumed(reason))
        if (rest := self.part(state)) is not None and rest.rests:
            return (resumed, UnstampedEvent(PartEnded(state.index, outcome), rest.id))
        return (resumed, *self._restart(state))

    def _restart(self, state: SessionState) -> Decision:
        """The stage that was broken off begins again, where the study says so.

        Only a stage: a practice, a text and a questionnaire go on, for nothing is measured there
        that an interruption spoils.
        """
        part, task = self.part(state), self.tasks[state.index]
        if not (self.restarts and state.broken_off and part is not None and part.measures):
            return ()
        if task.trial(state.part_state) is None:
            return ()
        again = PartRestarted(state.index, task.attempt(state.part_state) + 1)
        payloads = (*task.closing(state.part_state), again)
        return tuple(UnstampedEvent(payload, part.id) for payload in payloads)

    def _decide_break(
        self, state: SessionState, command: commands.Command, now_ns: int
    ) -> Decision:
        """In a break the session pauses; its end is the pause's end, too."""
        ends = self.tasks[state.index].decide(state.part_state, command, now_ns)
        if not ends:
            return ()
        if isinstance(command, commands.SkipStage):
            over = self._skip_parts(state.index + 1, command.to)
            asked = SkipRequested("part", state.index, command.to), SkipConfirmed("part")
            skip = [self._add_trial_key(state, payload) for payload in asked] if over else []
            return (UnstampedEvent(SessionResumed("break skipped")), *skip, *ends, *over)
        return (UnstampedEvent(SessionResumed("break over")), *ends)

    def _record_standstill(self, state: SessionState, still: commands.StandStill) -> Decision:
        """What stood still, and the end of an attempt at a question that is asked again for it."""
        stalled = ProgramStalled(
            still.who,
            still.from_ns,
            still.duration_ns,
            still.asleep_ns,
            left_out=self.stalls != "keep",
        )
        ends: Sequence[Payload] = ()
        if self.stalls == "repeat-question" and state.running and not state.pauses.held:
            ends = self.tasks[state.index].asked_again(state.part_state)
        return tuple(self._add_trial_key(state, payload) for payload in (stalled, *ends))

    def _correct(self, state: SessionState, wish: commands.CorrectNote) -> Decision:
        """A correction of what was noted, where it changes anything."""
        noted, text = state.noted.get(wish.seq), wish.text.strip()
        if noted is None or text == noted.now:
            return ()
        if text and text != noted.text and not noted.own_words:
            return ()
        return (self._add_trial_key(state, NoteCorrected(wish.seq, text, wish.typing_began_ns)),)

    def _add_trial_key(self, state: SessionState, payload: Payload) -> UnstampedEvent:
        """A moderator's event carries the trial it falls into."""
        return UnstampedEvent(payload, *self.trial_key(state))

    def trial_key(self, state: SessionState) -> TrialKey:
        """The part that runs and, where it asks questions, the trial and attempt; else None."""
        part = self.part(state)
        if part is None:
            return (None, None, None)
        trial = self.tasks[state.index].trial(state.part_state)
        return (part.id, None, None) if trial is None else (part.id, *trial)

    def apply(self, state: SessionState, event: Event, payload: Payload) -> SessionState:
        ran, pending = state.running, state.pending
        if ran and payload.of_trial and not payload.begins:
            # Of the session it says nothing but what the trial came to.
            part_state = self.tasks[state.index].apply(state.part_state, event, payload)
            tally = state.tally if payload.frequent else state.tally.apply(event, payload)
            return replace(state, part_state=part_state, tally=tally)
        pauses, tally = state.pauses.apply(event), state.tally.apply(event, payload)
        if pauses is not state.pauses or tally is not state.tally:
            state = replace(state, pauses=pauses, tally=tally)
        if state.pending is not None and "skip" not in state.pauses.holds:
            state = replace(state, pending=None)
        match payload:
            case _ if not _of_session(type(payload)):  # type: ignore[arg-type] # a class has a hash
                pass
            case SegmentStarted():
                broken_off = payload.gap_from_ns is not None
                state = replace(state, segment=payload.segment, broken_off=broken_off)
            case SessionResumed():
                state = replace(state, broken_off=False)
            case Agreement():
                state = replace(state, agreed=payload.uses)
            case SessionCompleted():
                state = replace(state, ended="completed", end_seq=event.seq)
            case SessionEnded():
                ended = replace(state, ended=payload.reason, end_seq=event.seq)
                withdrawal, shown = payload.withdrawal, payload.debriefed
                state = replace(ended, withdrawal=withdrawal, debriefed=shown)
            case SessionReopened():
                state = replace(state, ended=None, end_seq=None, withdrawal="", debriefed=False)
            case SkipRequested():
                until_ns = event.t_ns + TAKE_BACK_NS
                state = replace(state, pending=PendingSkip(payload.what, until_ns, payload.to))
            case SkipConfirmed() if pending is not None:
                state = replace(state, goal=pending.to)
            case BlindingSet():
                state = replace(state, blind=payload.blind)
            case NoteAdded() | DeviationNoted():
                state = _with_note(state, event.seq, Annotation(payload.text, payload.text, True))
            case FlagAdded(meaning=text) | Prompt(text=text):
                state = _with_note(state, event.seq, Annotation(text, text, False))
            case NoteCorrected() if (noted := state.noted.get(payload.seq)) is not None:
                state = _with_note(state, payload.seq, replace(noted, now=payload.text))
            case PartStarted():
                task = self.tasks[payload.index]
                begun = task.told(task.initial(state.pauses), state.answers)
                begun = task.without_stages(begun, self._find_skipped_stages(state))
                begun = task.at_page(begun, 0) if state.previewed else begun
                return replace(
                    state,
                    look=state.look.after(payload),
                    sounds={},
                    index=payload.index,
                    records=_put(state.records, payload.index, PartRecord(started_ns=event.t_ns)),
                    part_state=task.apply(begun, event, payload),
                )
            case QuotaCounted() if payload.count >= payload.limit:
                state = replace(state, full=state.full | {payload.quota})
            case QuotaMet():
                state = replace(state, met=state.met | {payload.quota})
            case PartSkipped():
                return self._passing_over(state, payload.index, "skipped")
            case PartLeftOut():
                return self._passing_over(state, payload.index, inclusion.LEFT_OUT)
        if isinstance(payload, TextSoundPlayed):
            state = _after_sound(state, self.hearing_ns(state, event.t_ns), payload)
        elif state.sounds and (
            isinstance(payload, PageTurned | PartEnded)
            or (isinstance(payload, SoundPlayed) and payload.action == "play")
        ):
            heard_ns = self.hearing_ns(state, event.t_ns)
            stopped = {name: sound.stopped(heard_ns) for name, sound in state.sounds.items()}
            state = replace(state, sounds=stopped)
        if (look := state.look.after(payload)) is not state.look:
            state = replace(state, look=look)
        if not (state.running or ran):  # the end concerns the part, too: it can be taken back
            return state
        task = self.tasks[state.index]
        if isinstance(payload, PartRestarted):
            return replace(state, part_state=task.restarted(state.part_state, payload.attempt))
        state = replace(state, part_state=task.apply(state.part_state, event, payload))
        if isinstance(payload, PartEnded):
            if (result := task.result(state.part_state)) is not None:
                state = replace(state, result=Result(state.index, result))
            state = replace(state, answers={**state.answers, **task.answers(state.part_state)})
            if self.parts[state.index].named:
                state = self._with_results(state)
            record = replace(
                state.records[payload.index], ended_ns=event.t_ns, outcome=payload.outcome
            )
            state = replace(state, records=_put(state.records, payload.index, record))
        return state

    def _with_results(self, state: SessionState) -> SessionState:
        """The state with what later parts may depend on of the part that ended, all blocks of its
        stage together."""
        part, task = self.parts[state.index], self.tasks[state.index]
        rights = {**state.rights, part.id: task.rights(state.part_state)}
        stages = stages_of(self.parts).values()
        blocks = next((blocks for blocks in stages if part in blocks), [part])
        every = [right for block in blocks for right in rights.get(block.id, ())]
        named = dict(task.results(state.part_state))
        if every:
            named[results.RIGHT] = sum(every) / len(every)
        answers = {f"{part.named}.{name}": (value,) for name, value in named.items()}
        return replace(state, answers={**state.answers, **answers}, rights=rights)

    def _passing_over(self, state: SessionState, index: int, outcome: str) -> SessionState:
        """The state after a part was skipped, or left out, before it began. Texts behind a stage
        that nobody saw have nothing to tell of how it went."""
        result = None if self.parts[index].has_trials else state.result
        return replace(
            state,
            index=index,
            records=_put(state.records, index, PartRecord(outcome=outcome)),
            part_state=self.tasks[index].initial(state.pauses),
            result=result,
        )


_OF_SESSION = (
    *(SegmentStarted, SessionResumed, SessionCompleted, SessionEnded, SessionReopened, Agreement),
    *(SkipRequested, SkipConfirmed, PartStarted, PartSkipped, PartLeftOut),
    *(QuotaCounted, QuotaMet),
    *(BlindingSet, NoteAdded, DeviationNoted, FlagAdded, Prompt, NoteCorrected),
)


@cache
def _of_session(payload: type[Payload]) -> bool:
    """Whether events of a class say something of the session, besides the part that runs."""
    return issubclass(payload, _OF_SESSION)


def _put(records: tuple[PartRecord, ...], index: int, record: PartRecord) -> tuple[PartRecord, ...]:
    return (*records[:index], record, *records[index + 1 :])


def _after_sound(state: SessionState, heard_ns: int, payload: TextSoundPlayed) -> SessionState:
    """One sound of a text plays at a time."""
    sounds = {name: sound.stopped(heard_ns) for name, sound in state.sounds.items()}
    after = state.sounds.get(payload.sound, SoundState()).after(payload, heard_ns)
    return replace(state, sounds={**sounds, payload.sound: after})


def _with_note(state: SessionState, seq: int, noted: Annotation) -> SessionState:
    return replace(state, noted={**state.noted, seq: noted})
