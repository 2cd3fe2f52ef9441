"""The rows that one session gives to every table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from math import fsum
from typing import Any

from labapp.analysis.column import STALLED, cells, elsewhere, of
from labapp.analysis.columns import CHANGES, DEVIATIONS, PARTICIPANTS, STAGES, TRIALS, table_columns
from labapp.analysis.declared import (
    DECLARED,
    POSITION,
    QUOTAS,
    SessionFactors,
    read_declared,
    with_declared,
)
from labapp.analysis.deviations import (
    UNFINISHED,
    Deviation,
    PartSpan,
    SessionTotals,
    fold_deviations,
    fold_notes,
    fold_totals,
    note_rows,
)
from labapp.analysis.inclusion import (
    InclusionStatus,
    Judged,
    conditions,
    find_failed_rules,
    fold_inclusion_status,
)
from labapp.analysis.merged import columns_of, with_merged
from labapp.analysis.questionnaires import (
    FAILED,
    AnswerRecord,
    ScoreRecord,
    answer_rows,
    fold_answers,
    fold_scores,
    item_rows,
    judge_checks,
    list_given_answers,
    scale_rows,
    score_row,
)
from labapp.analysis.speech_rows import SessionSpeech, speech_rows
from labapp.analysis.task_records import (
    INTERRUPTED,
    Attempt,
    Columns,
    Key,
    Parts,
    Ran,
    Row,
    TaskRecords,
    Traced,
    walk,
)
from labapp.analysis.tracks import TRACKS
from labapp.base.clock import NS
from labapp.base.errors import SessionError
from labapp.record.events import Event, Payload, Source
from labapp.record.events.lifecycle import (
    KeyboardGiven,
    PointerMoved,
    ProgramStalled,
    SegmentStarted,
    SkipTakenBack,
    WindowFocus,
)
from labapp.record.events.registry import Pauses, WorkingTime, frequent_kinds
from labapp.record.journal.decisions import Decision
from labapp.record.journal.merged import Merged
from labapp.study.consent import USES
from labapp.study.design import SESSION, Missing
from labapp.study.instruments import Instrument
from labapp.study.plugins.part import TrialsPart

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


def sum_stalls(
    stalls: Iterable[ProgramStalled], attempts: Iterable[Attempt], last_ns: int
) -> Mapping[Key, float]:
    """By attempt how long that lasted within it, in s, if it did; one without an end lasts to
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


Place = tuple[str | None, int | None, int | None]
"""Stage, question and attempt; of a whole stage only the first."""
SEQ = "seq"
"""The score of the Single Ease Question."""


def _has_agreed(use: str, session: SessionRecords) -> bool | None:
    return session.totals.agreed.get(use)


@dataclass(frozen=True)
class SessionRecords:
    """Everything the folds found in one session; source: the name of the file or folder; tasks:
    what each task of the plan found; coding: by table, what was said and how it was coded;
    codes_completed: by which codes somebody finished coding it."""

    source: str
    deidentified: bool
    totals: SessionTotals
    inclusion_status: InclusionStatus
    parts: Parts
    tasks: tuple[TaskRecords[Any, Any], ...]
    answers: tuple[AnswerRecord, ...]
    deviations: tuple[Deviation, ...]
    notes: tuple[Row, ...]
    pointer: tuple[Row, ...]
    keyboard_away: frozenset[Key]
    taken_back: Counter[Place]
    stalls: tuple[ProgramStalled, ...] = ()
    stalled_s: Mapping[Key, float] = field(default_factory=dict)
    instruments: Mapping[str, Instrument] = field(default_factory=dict)
    study_title: str | None = None
    coding: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    codes_completed: tuple[str, ...] = ()
    merged: tuple[Merged, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        events: Sequence[tuple[Event, Payload]],
        source: str,
        *,
        deidentified: bool = False,
        withdrawn: bool = False,
        decision: Decision | None = None,
        instruments: Mapping[str, Instrument] | None = None,
        study_title: str | None = None,
        speech: SessionSpeech | None = None,
        merged: tuple[Merged, ...] = (),
        tags: tuple[str, ...] = (),
    ) -> SessionRecords:
        """Fold all events of one session; withdrawn: see `fold_inclusion_status`; decision: by
        hand; instruments: its copies of the questionnaires, by id, for their words; study_title:
        as its copy of the study file has it; speech: what was said and how it was coded; merged:
        answers of other tools; tags: words that people gave it.

        Raises RecordError when its plan cannot be read, when something happened in a part that its
        task does not know, or when nobody says whose coding counts; SessionError for a kind of part
        that nobody knows.
        """
        totals = fold_totals(events)
        parts = Parts.of(totals.planned.plan)
        tasks = walk(events, parts)
        attempts = [attempt for task in tasks for attempt in task.attempts]
        assigned = conditions(totals.planned.assignment) or None
        coding = (
            {}
            if speech is None
            else speech_rows(speech, events, parts.with_trials, attempts, assigned)
        )
        # All other folds look past these anyway.
        frequent = frequent_kinds()
        events = [(event, payload) for event, payload in events if event.kind not in frequent]
        besides = [(event, payload) for event, payload in events if not payload.of_trial]
        deviations = [*fold_deviations(events), *_find_unended(totals, attempts)]
        deviations.sort(key=lambda deviation: deviation.session_s)
        # The recorder alone holds nobody up.
        stalled = (payload for _, payload in besides if isinstance(payload, ProgramStalled))
        stalls = [stall for stall in stalled if stall.who != RECORDER]
        records = cls(
            source,
            deidentified,
            totals,
            fold_inclusion_status(events, withdrawn=withdrawn),
            parts,
            tasks,
            tuple(fold_answers(besides)),
            tuple(deviations),
            tuple(note_rows(fold_notes(events), WorkingTime(event for event, _ in besides))),
            tuple(pointer_rows(besides)),
            trials_away(events, attempts),
            Counter(skips_taken_back(besides)),
            tuple(stalls),
            sum_stalls(stalls, attempts, round(totals.elapsed_s * NS)),
            instruments or {},
            study_title,
            coding,
            () if speech is None else speech.completed_codes,
            merged,
            tags,
        )
        failed = records.failed_rules()
        status = records.inclusion_status.failing(failed).decided(decision)
        return replace(records, inclusion_status=status)

    def failed_rules(self) -> tuple[str, ...]:
        """The names of the study's own rules of exclusion that the session fails."""
        rules = read_declared(self.factors.declared).exclude
        if not rules:
            return ()
        rows = self.rows()
        judged = Judged(
            tuple(list_given_answers(self.answers, self.parts)),
            rows["scores"],
            rows["trials"],
            rows["stages"],
            rows["participants"][0]["gap_s"],
            rows["participants"][0]["n_checks_failed"],
            self.totals.planned.assignment | {SESSION: self.totals.planned.session},
        )
        return find_failed_rules(rules, judged)

    @property
    def who(self) -> Row:
        planned = self.totals.planned
        return {
            "study": planned.study,
            "participant": planned.participant,
            "session": planned.session,
        }

    @cached_property
    def factors(self) -> SessionFactors:
        """The factors of the study's design, as the session met them."""
        return SessionFactors(self.totals.planned, self.parts.planned)

    @property
    def columns(self) -> Mapping[str, Columns]:
        """The columns of every table, those of the factors among them."""
        own = with_declared(table_columns(), [self.factors.declared])
        return with_merged(own, columns_of(self.merged)) if self.merged else own

    @property
    def traced(self) -> list[Traced]:
        """The attempts with snapshots, for the table of these."""
        return [attempt for task in self.tasks for attempt in task.traced()]

    def rows(self, wanted: Collection[str] | None = None) -> dict[str, list[Row]]:
        """By table, but for the snapshots (see `folding.snapshots`). wanted: only these tables.

        Raises SessionError for a row of a table, or a cell of a column, that is not there.
        """
        columns = self.columns
        wanted = columns.keys() if wanted is None else wanted
        of_tasks: dict[str, list[Row]] = {}
        for task in self.tasks:
            for name, rows in task.own_rows().items():
                of_tasks.setdefault(name, []).extend(rows if name in wanted else ())
        asked = self.parts.asked(self.instruments)
        listed = {known.id: tuple(item.id for item in known.items) for known in asked}
        given = {
            "trials": [
                row
                for _, task, attempts in self._stages()
                for row in self._trial_rows(task, attempts)
            ],
            "stages": [
                self._stage_row(part, task, attempts)
                for part, task, attempts in self._stages()
                if part.role == "stage" and part.id in self.totals.spans
            ],
            "answers": [
                row
                for answer in self.answers
                for row in answer_rows(answer, self.parts, listed.get(answer.instrument, ()))
            ],
            "scores": [score_row(score, self.parts) for score in self.scores],
            "items": list(item_rows(asked, self.totals.planned.language)),
            "scales": list(scale_rows(self.answers, self.parts, self._at_least)),
            "tracks": [cells(TRACKS, track) for task in self.tasks for track in task.walk_tracks()],
            "participants": [self._participant_row()],
            "deviations": [cells(DEVIATIONS, deviation) for deviation in self.deviations],
            "notes": list(self.notes),
            "pointer": list(self.pointer),
            **{name: list(rows) for name, rows in self.coding.items()},
            **of_tasks,
        }
        if strange := sorted(given.keys() - columns.keys()):
            raise _unknown(f"the table {strange[0]!r}")
        return {
            name: self._whole(name, given.get(name, []), frozenset(column.name for column in known))
            for name, known in columns.items()
            if name != "snapshots" and name in wanted
        }

    def _whole(self, table: str, rows: list[Row], names: frozenset[str]) -> list[Row]:
        """Rows with all that is told of each alike: who, whether it counts, and the keyboard."""
        shared: Row = {name: value for name, value in self.who.items() if name in names}
        if "included" in names:
            shared["included"] = self.inclusion_status.included
        shared |= {name: level for name, level in self.factors.between.items() if name in names}
        away, stalled = "keyboard_away" in names, STALLED.name in names and "trial" in names
        of_stages = "stage" in names and POSITION.name in names
        made = []
        for row in rows:
            whole = shared | row
            if of_stages:
                whole |= self.factors.within(row.get("stage"), row.get("about"))
            key: Any = (row.get("stage"), row.get("trial"), row.get("attempt"))
            if away:
                whole["keyboard_away"] = key in self.keyboard_away
            if stalled:
                whole[STALLED.name] = self.stalled_s.get(key, 0.0)
            if not whole.keys() <= names:
                strange = min(whole.keys() - names)
                raise _unknown(f"the column {strange!r} of the table {table!r}")
            made.append(whole)
        return made

    def _stages(self) -> Iterator[tuple[TrialsPart, TaskRecords[Any, Any], list[Attempt]]]:
        """Every stage and practice in the order of the plan, with its task and its attempts."""
        task_of = {part_id: task for task in self.tasks for part_id in task.parts}
        for part in self.parts.with_trials.values():
            if (task := task_of.get(part.id)) is not None:
                yield (
                    part,
                    task,
                    [attempt for attempt in task.attempts if attempt.part.id == part.id],
                )

    def _trial_rows(
        self, task: TaskRecords[Any, Any], attempts: Iterable[Attempt]
    ) -> Iterator[Row]:
        for attempt in attempts:
            taken_back = {"skips_taken_back": self.taken_back[attempt.key]}
            yield cells(_TRIALS, attempt) | taken_back | task.trial_row(attempt)

    def _stage_row(
        self, part: TrialsPart, task: TaskRecords[Any, Any], attempts: Sequence[Attempt]
    ) -> Row:
        span = self.totals.spans[part.id]
        taken_back = self.taken_back[(part.id, None, None)]
        n_trials = sum(not attempt.excluded for attempt in attempts)
        results = task.find_results(part)
        stage = StageRun(part, span, n_trials, self._seq(part.id), taken_back, results)
        ran = Ran(span.outcome, self.keyboard_away, self._missing)
        return cells(_STAGES, stage) | task.stage_row(part, attempts, ran)

    @property
    def _missing(self) -> Missing:
        return read_declared(self.factors.declared).missing

    @property
    def _at_least(self) -> int | None:
        scale_items = self._missing.scale_items
        return None if scale_items is None else scale_items.at_least

    @cached_property
    def scores(self) -> Sequence[ScoreRecord]:
        return fold_scores(self.answers, self.parts, self._at_least)

    def _seq(self, stage: str) -> float | None:
        """The submitted SEQ about a stage."""
        for score in self.scores:
            part = self.parts.questionnaires[score.part]
            if part.about == stage and score.score == SEQ and score.declared is not None:
                return score.value
        return None

    @property
    def stages(self) -> list[TrialsPart]:
        """The stages of the plan, by their numbers."""
        stages = (part for part in self.parts.with_trials.values() if part.role == "stage")
        return sorted(stages, key=lambda part: part.number)

    @cached_property
    def checks(self) -> list[str]:
        """What became of every attention check that was submitted."""
        return judge_checks(self.answers, self.parts)

    def lasting(self, kind: str, without: Collection[str] = ()) -> list[float]:
        """How long each deviation of a kind lasted, in s; without: parts of the plan."""
        own = (each for each in self.deviations if each.kind == kind and each.stage not in without)
        return [deviation.duration_s or 0.0 for deviation in own]

    def _participant_row(self) -> Row:
        row = cells(_PARTICIPANTS, self)
        if self.factors.declared:
            row[DECLARED.name] = self.factors.declared
            if read_declared(self.factors.declared).quotas:
                row[QUOTAS.name] = ";".join(self.totals.quotas) or None
        for task in self.tasks:
            row |= task.participant_row()
        for each in self.merged:
            row |= each.answers
        return row


@dataclass(frozen=True, slots=True)
class StageRun:
    """A stage that ran."""

    part: TrialsPart
    span: PartSpan
    n_trials: int
    seq: float | None
    skips_taken_back: int
    results: Mapping[str, Any]


_TRIALS = of(
    Attempt,
    *TRIALS,
    via=("part",),
    task="part.task",
    model="part.model",
    outcome="ended_by",
    duration_s=elsewhere,
    skips_taken_back=elsewhere,
)
_STAGES = of(
    StageRun,
    *STAGES,
    via=("span",),
    task="part.task",
    model="part.model",
    outcome=lambda stage: stage.span.outcome or UNFINISHED,
    n_planned="part.trials",
    threshold=lambda stage: stage.results.get("threshold"),
    threshold_se=lambda stage: stage.results.get("threshold_se"),
    criterion=lambda stage: stage.results.get("criterion"),
    **dict.fromkeys(
        (
            *("response_time_s", "n_answered", "n_correct", "correctness_rate"),
            *(column.name for column in CHANGES),
        ),
        elsewhere,
    ),
)
_PARTICIPANTS = of(
    SessionRecords,
    *PARTICIPANTS,
    via=("totals", "totals.planned", "inclusion_status"),
    complete=lambda session: session.totals.outcome == "completed",
    excluded_because=lambda session: ", ".join(session.inclusion_status.failed) or None,
    decided_by_hand="inclusion_status.decision.verdict",
    decision_reason=lambda session: session.inclusion_status.reason or None,
    phase=lambda session: session.totals.planned.phase or None,
    tags=lambda session: "; ".join(session.tags) or None,
    conditions=lambda session: conditions(session.totals.planned.assignment) or None,
    # A stage of several blocks has one.
    models=lambda session: ", ".join(
        model for _, model in dict.fromkeys((part.number, part.model) for part in session.stages)
    ),
    tasks=lambda session: ", ".join(dict.fromkeys(part.task for part in session.stages)),
    practice_asked=elsewhere,
    practice_correct=elsewhere,
    n_solved="inclusion_status.achieved.solved",
    n_correct="inclusion_status.achieved.correct",
    n_photos="inclusion_status.achieved.photos",
    n_stimuli="inclusion_status.achieved.stimuli",
    above_chance="inclusion_status.achieved.above_chance",
    n_checks=lambda session: len(session.checks),
    n_checks_failed=lambda session: session.checks.count(FAILED),
    payment_total="inclusion_status.payment.total",
    payment_currency="inclusion_status.payment.currency",
    **{f"consent_{use}": partial(_has_agreed, use) for use in USES},
    codes_completed=lambda session: ";".join(session.codes_completed) or None,
    assignment=lambda session: json.dumps(session.totals.planned.assignment, ensure_ascii=False),
    replicates_paper=lambda session: session.totals.planned.replicates.get("paper"),
    replicates_study=lambda session: session.totals.planned.replicates.get("study"),
    replicates_run=lambda session: session.totals.planned.replicates.get("run"),
    n_pauses=lambda session: len(session.lasting("paused")),
    paused_s=lambda session: sum(session.lasting("paused")),
    n_breaks=lambda session: len(session.totals.breaks),
    breaks_s=lambda session: fsum(rest or 0.0 for rest in session.totals.breaks.values()),
    n_stalls=lambda session: len(session.stalls),
    stalled_s=lambda session: fsum(
        (stall.duration_ns + stall.asleep_ns) / NS for stall in session.stalls
    ),
    n_gaps=lambda session: len(session.lasting("interrupted")),
    gap_s=lambda session: fsum(session.lasting("interrupted", without=session.totals.breaks)),
    focus_losses=lambda session: len(session.lasting("focus_lost")),
    n_deviations=lambda session: len(session.deviations),
    app_versions=lambda session: ", ".join(session.totals.app_versions),
    n_notes=lambda session: sum(row["corrects"] is None for row in session.notes),
    interview_s=lambda session: fsum(span.duration_s or 0.0 for span in session.totals.interviews),
)


def skips_taken_back(events: Iterable[tuple[Event, Payload]]) -> Iterator[Place]:
    """Where each skip was taken back: in a question by the participant, in a part, of whose rest it
    was, by the moderator."""
    for event, payload in events:
        if isinstance(payload, SkipTakenBack):
            yield event.key if payload.what == "trial" else (event.part_id, None, None)


def pointer_rows(events: Iterable[tuple[Event, Payload]]) -> Iterator[Row]:
    """Where the participant's pointer was, one row per stretch of its path."""
    for event, payload in events:
        if isinstance(payload, PointerMoved):
            yield {
                "stage": event.part_id,
                "trial": event.trial,
                "attempt": event.attempt,
                "began_s": payload.began_ns / NS,
                "width_px": payload.width,
                "height_px": payload.height,
                "t_ms": list(map(float, payload.t_ms)),
                "x_px": list(map(float, payload.x)),
                "y_px": list(map(float, payload.y)),
            }


def _find_unended(totals: SessionTotals, attempts: Iterable[Attempt]) -> list[Deviation]:
    """Attempts without an end, at the time they appeared or were to appear, or else at the
    session's end; and that the session has none."""
    deviations = [
        Deviation(
            "attempt_interrupted",
            totals.elapsed_s if (began_s := attempt.planned_session_s) is None else began_s,
            attempt.excluded_because or "",
            None,
            *attempt.key,
        )
        for attempt in attempts
        if attempt.outcome in (None, INTERRUPTED)
    ]
    if totals.outcome == UNFINISHED:
        deviations.append(Deviation("unfinished", totals.elapsed_s))
    return deviations


def _unknown(what: str) -> SessionError:
    return SessionError(
        f"A task of this session adds rows to {what}, which it does not describe.",
        safe="The session is untouched, and nothing was left out silently.",
        todo="Report it to the authors of the task's package: it is missing from their `tables`.",
    )
