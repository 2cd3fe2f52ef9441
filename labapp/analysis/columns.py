"""Every column of every table: its name, type, unit and meaning.

Here stand those of all tasks; `table_columns` puts in those that each task brings, and what tasks
say of shared ones in the place of names in braces. The tables are
built from them, and so is the dictionary (`columns.csv`) written beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from labapp.analysis.column import (
    INCLUDED,
    STALLED,
    TRIAL,
    WHERE,
    WHO,
    Column,
    columns_in,
    each,
    number,
    of,
    seconds,
    text,
    whole,
    yes,
)
from labapp.analysis.deviations import KINDS as NOTE_KINDS
from labapp.analysis.deviations import MEANINGS, Deviation
from labapp.analysis.inclusion import RULES
from labapp.analysis.questionnaires import TABLES as QUESTIONNAIRES
from labapp.analysis.speech_rows import TABLES as SPEECH
from labapp.analysis.task_records import Columns, TaskTables, records_class
from labapp.analysis.tracks import TRACKS
from labapp.base.errors import SetupError
from labapp.base.report.labels import current_labels
from labapp.study.plugins import registry

MODEL = "id of the representation; for judged explanations, of the classifier or the stimulus set"
TRIALS = (
    *WHO,
    *WHERE,
    text("task", "{tasks_with_dials}; {tasks}"),
    text("role", "stage or practice"),
    text("model", MODEL),
    *TRIAL,
    *columns_in("""
        text outcome: {outcomes}
        seconds duration_s: from the pictures' appearance to the end of the question, without pauses
            and gaps; {durations}
        whole skips_taken_back: times the participant skipped the question and undid it
        seconds started_session_s: session time (pauses included) of the start
    """),
    STALLED,
    *columns_in("""
        yes keyboard_away: for part of the trial, the moderator or another program had the
            participant's keyboard
        yes excluded: not counted in the stage's metrics
        text excluded_because: why it is not counted
    """),
    INCLUDED,
)

# The published definition of the changes is of reconstruction (Figure 10). For the
# single-dimension task it holds for what both kinds of question have, the response time, and
# for correctness in place of completion; the other columns are empty there, and that of
# correctness is empty for reconstruction.
CHANGES = (
    whole("change_questions", "questions in each of the two groups of the changes"),
    number("change_completion_rate", "last minus first questions", "0-1"),
    seconds("change_response_time_s", "last minus first questions"),
    number("change_slide_distance", "last minus first questions", "full slider widths"),
    number(
        "change_error_auc_sum", "last minus first questions, per question", "sum of squares x s"
    ),
    number(
        "change_error_auc_mean", "last minus first questions, per question", "mean of squares x s"
    ),
    number("change_correctness_rate", "last minus first questions", "0-1"),
)

STAGES = (
    *WHO,
    *WHERE,
    text("task", "{tasks_with_dials}; {tasks}"),
    text("model", MODEL),
    *columns_in("""
        text outcome: completed, time_expired, skipped (by the moderator) or unfinished
        whole n_planned: questions planned
        whole n_trials: questions that count
        seconds response_time_s: mean time to answer; to Next or Skip if no answer is given
        whole n_answered: questions, photos or masked pictures that were answered
        whole n_correct: how many of them were answered correctly; “I don't know” is not correct
        number correctness_rate [0-1]: share of answers that are correct
        number threshold: threshold of an adaptive stage, as a level of its rule; for several
            tracks, the mean on their scale; empty where that of a track lies beyond the levels
        number threshold_se: standard error of the threshold; unless the scale is linear, of its
            natural logarithm
        text criterion: for adaptive stages that last until enough answers are right: reached or
            missed
        number seq [1-7]: Single Ease Question, 1 very easy to 7 very difficult
        seconds duration_s: working time of the stage
        whole skips_taken_back: times the moderator skipped the rest of the stage and undid it; for
            single questions, see the table trials
    """),
    *CHANGES,
    INCLUDED,
)

ANSWERS = (
    *WHO,
    *columns_in("""
        text stage: id of the plan's part
        text about: id of the stage it asks about, empty for the whole session
        text model: representation of that stage
        text instrument: id of the questionnaire
        whole instrument_version: its version, once submitted
        yes about_person: the questionnaire asks who the participant is
        text item: id of the item
        whole place: the item's place in the order that the participant saw, from 1; the table items
            has its place in the file
        text kind: rating, slider, choice or written, or another kind of item
        yes asked: the item was asked; false if its conditions left it out when the questionnaire
            was submitted: then no answer to it counts, and it was not skipped
        text check: for an attention or comprehension check: passed or failed, once submitted; empty
            for other items
        whole check_attempts: how often the answer to a comprehension check was judged
        whole plays: how often sounds and videos of the item and its options were started from
            the beginning
        yes heard: every sound and video that was started was played to its end at least once
        number value: the answer that counts, if it is a number
        yes dont_know: the answer that counts is “I don't know”, which has no value
        yes touched: for a slider: it was moved or confirmed; if it was not, it has no value
        text value_text: the answer that counts, if it is not a number: what was written, or the ids
            of the chosen options, separated by ;
        text described: what was written next to the chosen option, in the answer that counts
        number first_value: the first response, if it is a number
        text first_value_text: the first response, if it is not a number
        whole changes: responses after the first: how often the participant changed the answer
        seconds response_s: from the appearance of the item's page to the first response
        seconds first_s: from the questionnaire's appearance to the first response
        seconds last_s: from the questionnaire's appearance to the last response
        seconds submitted_s: from the questionnaire's appearance to its submission
        yes submitted: the questionnaire was submitted with this answer; false if withheld
    """),
)

SCORES = (
    *WHO,
    *columns_in("""
        text stage: id of the plan's part
        text about: id of the stage it asks about, empty for the whole session
        text model: representation of that stage
        text instrument: id of the questionnaire
        whole instrument_version: its version
        text score: name of the score; for items scored as they are, the id of the item (for an item
            asked once per stage, without the stage's number)
        number value: the score; a score with missing answers has no row
        number low: lowest possible value of the score
        number high: highest possible value of the score
        text meaning: what the score is and what its ends mean
    """),
)

PARTICIPANTS = (
    *WHO,
    *columns_in("""
        whole study_version: version of the study file
        text study_sha256: hash of the study file
        text study_title: title of the study, from the session's copy of its file
        text started_utc: when the session began; a date up to 1925 was shifted for
            de-identification
        text outcome: completed, ended_early, declined or unfinished
        text ended_reason: why it ended early
        yes complete: every part of the plan was done
        yes included: the session counts, as decided at its end by the study's rules; without that
            decision (unfinished, or recorded by an older version of labapp): it was completed; a
            session does not count if the participant withdrew or completed fewer sessions than the
            study needs
    """),
    text("excluded_because", "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items())),
    *columns_in("""
        text decided_by_hand: excluded or included: what the researcher decided about the session,
            overriding the rules; empty without a decision
        text decision_reason: the reason for that decision; empty in de-identified copies
        text phase: the phase of the study, from its file at the start; empty without phases
        text tags: words added to the session later, separated by semicolons; empty in de-identified
            copies
        text conditions: the study's variables for this participant, drawn cells in their order
        yes simulated: the participant was simulated
        text strategy: how that program solved questions (understanding, partial, ascent, random,
            explanation, knowing); empty for people and for sessions recorded by an older version of
            labapp
        text models: what is studied, in the order of the stages: representations, the explained
            models, or stimulus sets that name no model
        text tasks: the tasks of the stages, in their order
        whole practice_asked: {practice_asked}
        whole practice_correct: {practice_correct}
        whole n_solved: {solved}
        whole n_correct: {correct}
        whole n_photos: {photos}
        whole n_stimuli: {stimuli}
        number above_chance [photos]: {above_chance}
        whole n_checks: attention and comprehension checks that were answered in questionnaires
        whole n_checks_failed: how many of these checks were failed
        number payment_total: what the session earned, base and bonus; empty without payment
        text payment_currency: currency of the payment
        text consent_signed: how the consent form was signed (click, name, drawn); empty without
        yes consent_audio: agreed to a recording of the voice; empty if this was not asked
            separately
        yes consent_transcript: agreed to a transcript of what was said; also empty if not asked
            separately
        yes consent_quote: agreed to be quoted without a name; also empty if not asked separately
        yes consent_share_audio: agreed to share the sound; also empty if not asked separately
        yes consent_video: agreed to a video; also empty if not asked separately
        text codes_completed: ids of the codes in the codebooks with which someone finished coding
            the session, separated by ;
        text assignment: the choices made for this participant (JSON)
        whole seed: seed of the study
        text presentation: as_published or improved
        text replicates_paper: the paper whose study is repeated; empty if there is none
        text replicates_study: which study of that paper
        text replicates_run: how the study in the paper was run: crowd (people on their own, over
            the internet) or
            lab
        text language: language of the texts
        seconds duration_s: working time: without pauses and gaps
        seconds elapsed_s: session time: with pauses and gaps
        whole n_pauses: number of pauses
        seconds paused_s: total length of the pauses
        whole n_breaks: planned breaks that were taken; they do not count as pauses
        seconds breaks_s: total length of the breaks that ended
        whole n_stalls: times the program or the computer froze for more than a second
        seconds stalled_s: total length of the freezes, including the computer's sleep
        whole n_gaps: times the program stopped and the session was resumed
        seconds gap_s: total time from each stop to resuming, outside pauses and breaks; together
            with duration_s, paused_s, breaks_s and the stalls that the study leaves out, it adds up
            to elapsed_s
        seconds sound_s: length of the sound recorded
        seconds sound_lost_s: how much of the sound was lost and replaced by silence
        text no_sound_because: why there is no sound, at the end of the session
        whole focus_losses: times the participant's window lost the keyboard focus
        whole n_deviations: rows of this session in the table of deviations
        whole n_events: events in the journal
        text app_versions: versions of labapp that recorded it
        yes blind: the console hid from the moderator which representation was on the screen, from
            the beginning; empty if the journal does not say (an older version of labapp, or no
            console)
        seconds unblinded_s: session time from which the console named the representations after
            all; empty if it never did, or was not blind
        whole n_notes: number of the moderator's notes (rows of the table notes, without
            corrections)
        seconds interview_s: working time of interviews, included in duration_s
        yes deidentified: read from a copy without free text and demographics
        text source: file name of the session or bundle it was read from
    """),
)

DEVIATIONS = of(
    Deviation,
    *WHO,
    text("stage", "part that ran"),
    *TRIAL,
    text("kind", "; ".join(f"{kind}: {meaning}" for kind, meaning in MEANINGS.items())),
    seconds("session_s", "session time (pauses included)"),
    seconds("duration_s", "how long it lasted, or how much sound was lost"),
    text("detail", "what was recorded about it"),
    whole("seq", "number of its event in the journal; empty if no event records it"),
)

NOTES = (
    *WHO,
    *columns_in("""
        seconds onset_s: session time (pauses included) of the first keystroke of a note, deviation
            or correction, or of the key of a flag, prompt or question
        seconds working_s: the same in working time, without pauses and gaps
        seconds kept_s: session time at which it was saved (Enter)
    """),
    text("kind", "; ".join(f"{kind}: {meaning}" for kind, meaning in NOTE_KINDS.items())),
    text("text", "its original words; in a correction, the new ones"),
    text("text_now", "its words after all corrections; empty if it was taken back"),
    yes("taken_back", "it was taken back, and not given again"),
    whole("number", "number of the flag, or of the question in the interview guide"),
    text("stage", "part that ran at its onset"),
    *TRIAL,
    *columns_in("""
        text source: who wrote it: moderator, observer (at another computer), or simulated
        whole seq: number of its event in the journal
        whole corrects: for a correction, the seq of the note that it corrects; rows where it is
            empty are the notes themselves, with their current words in text_now
    """),
)

SNAPSHOTS = (
    *WHO,
    text("stage", "id of the plan's part"),
    text("model", "id of the representation"),
    *TRIAL,
    whole("snapshot", "number of the snapshot in its question, from 1"),
    seconds("t_s", "from the pictures' appearance, without pauses and gaps"),
    each("z", "positions of the sliders"),
    whole("dimension", "the active slider, from 1"),
    whole("direction", "-1, 0 (none, or a discrete slider) or +1"),
    number("alignment", "alignment", "0-1"),
    number("error_sum", "sum over pixels of squared differences"),
    number("error_mean", "mean over pixels of squared differences"),
)

POINTER = (
    *WHO,
    text("stage", "part that ran"),
    *TRIAL,
    seconds("began_s", "session time of the first point (pauses included)"),
    whole("width_px", "width of the participant's window in logical pixels"),
    whole("height_px", "its height"),
    each("t_ms", "time of each point, from the first", "ms"),
    each("x_px", "position of each point, from the left edge of the window", "logical pixels"),
    each("y_px", "position of each point, from the upper edge of the window", "logical pixels"),
)
"""A row a stretch of the pointer's path; only in studies that record it."""

_FIRST = {
    "trials": TRIALS,
    "stages": STAGES,
    "answers": ANSWERS,
    "scores": SCORES,
    **QUESTIONNAIRES,
}
_LAST = {
    "tracks": TRACKS,
    "participants": PARTICIPANTS,
    "deviations": DEVIATIONS,
    "notes": NOTES,
    **SPEECH,
    "pointer": POINTER,
    "snapshots": SNAPSHOTS,
}


def table_columns() -> Mapping[str, Columns]:
    """The columns of every table, by table in the order they are written: those of all tasks,
    between them those of each task. Raises SetupError if tasks of several packages take the same
    name, or a column stands behind one that is not there."""
    return _columns_with(list_task_tables())


def list_task_tables() -> tuple[TaskTables, ...]:
    """What each task type brings, in their order."""
    classes = map(records_class, registry.task_types())
    return tuple(records.tables for records in classes if records is not None)


_ROW_IS = {
    "trials": "an attempt at a question",
    "stages": "a stage of a participant",
    "answers": "an answer to an item of a questionnaire",
    "scores": "a score of a questionnaire",
    "items": "an item of a questionnaire, as it is worded",
    "scales": "an item of a score that is a mean or a sum",
    "tracks": "a track of an adaptive stage",
    "participants": "a session",
    "deviations": "something that did not go as planned",
    "notes": "a note, flag or prompt of the moderator",
    "utterances": "a unit of speech",
    "codes_all": "a code that a rater gave",
    "codes": "a code of the final coding",
    "coded": "a code of the final coding, with what the participant did",
    "pointer": "a stretch of the path of the pointer",
    "snapshots": "a change of a picture in a question",
}


def row_meanings() -> dict[str, str]:
    """What a row of each table is, in words; tables of packages that do not say it are left out."""
    own = {name: words for tables in list_task_tables() for name, words in tables.row_is.items()}
    return _ROW_IS | own


NO_OUTCOMES = ("scores", "snapshots", "pointer", "deviations", "notes", "items", "scales")
"""Tables whose columns are no outcomes: scores are named by themselves."""


def outcome_columns() -> Iterator[tuple[str, Column]]:
    """Every number of a table that can be an outcome, with its table."""
    for table, columns in table_columns().items():
        for column in columns if table not in NO_OUTCOMES else ():
            if column.kind in ("number", "integer", "boolean"):
                yield table, column


@lru_cache(maxsize=4)
def _columns_with(brought: tuple[TaskTables, ...]) -> Mapping[str, Columns]:
    unheard = {name for tables in brought for name in tables.words} - _BETWEEN.keys()
    if unheard:
        raise _clash(f"no shared column has words of tasks called {min(unheard)!r}")
    words = {
        **registry.achievements(),
        "outcomes": _outcomes(brought),
        **{
            name: between.join(tables.words[name] for tables in brought if name in tables.words)
            for name, between in _BETWEEN.items()
        },
    }

    def describe(column: Column) -> Column:
        """With what the tasks say of it in the place of a name in braces."""
        meaning = column.meaning
        for name, of_tasks in words.items():
            meaning = meaning.replace(f"{{{name}}}", of_tasks)
        return replace(column, meaning=meaning)

    made: dict[str, Columns] = dict(_FIRST)
    for tables in brought:
        for name, columns in tables.own.items():
            if name in made or name in _LAST:
                raise _clash(f"the table {name!r} already exists")
            made[name] = columns
    made |= _LAST
    for name in (*_FIRST, *_LAST):
        added = [tables.added.get(name, {}) for tables in brought]
        made[name] = _with_added(name, tuple(map(describe, made[name])), added)
    for table, shared in (
        (name, tables.shared[name]) for tables in brought for name in tables.shared
    ):
        known = {column.name for column in made.get(table, ())}
        if unknown := sorted(shared.keys() - known):
            raise _clash(f"the table {table!r} has no shared column {unknown[0]!r}")
    if strange := sorted({name for tables in brought for name in tables.added} - made.keys()):
        raise _clash(f"there is no table {strange[0]!r} to add columns to")
    return made


_BETWEEN = {"tasks_with_dials": ", ", "tasks": "; ", "durations": "; "}
"""The names in braces for which tasks have words (`TaskTables.words`), and what stands between the
words of two tasks."""


def _outcomes(brought: Sequence[TaskTables]) -> str:
    """How trials end: as tasks say of theirs, then as those of any task can."""
    own: dict[str, list[str]] = {}
    for tables in brought:
        for outcome, words in tables.outcomes.items():
            own.setdefault(outcome, []).append(words)
    unended = own.pop("interrupted", [])
    own |= {"time_expired": [], "stage_skipped": ["by the moderator"]}
    listed = [
        f"{outcome} ({' or '.join(filter(None, words))})" if any(words) else outcome
        for outcome, words in own.items()
    ]
    return f"{', '.join(listed)} or interrupted ({', or '.join(('no end recorded', *unended))})"


def _with_added(table: str, shared: Columns, added: Sequence[Mapping[str, Columns]]) -> Columns:
    """The shared columns, each with those behind it that tasks add there."""
    names = {column.name for column in shared}
    if strange := sorted({behind for columns_added in added for behind in columns_added} - names):
        raise _clash(f"the table {table!r} has no shared column {strange[0]!r}")
    columns = tuple(
        column
        for place in shared
        for column in (
            place,
            *(new for columns_added in added for new in columns_added.get(place.name, ())),
        )
    )
    if len({column.name for column in columns}) < len(columns):
        raise _clash(f"two columns of the table {table!r} have the same name")
    return columns


def _clash(why: str) -> SetupError:
    return SetupError(
        f"The tables of the installed tasks contradict each other: {why}.",
        safe="Nothing was read or written.",
        todo="`labapp plugins list` shows which packages provide tasks. Uninstall the one that "
        "does not fit, and report this to its authors.",
    )


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the stages as the report shows it: column of the table, title, unit, factor
    from the table's unit to that one, decimals, and the fixed limits of its scale, if any.
    by_dataset: its size depends on a data set's pictures, so that each has an axis of its own."""

    column: str
    title: str
    unit: str
    factor: float = 1.0
    decimals: int = 1
    limits: tuple[float, float] | None = None
    by_dataset: bool = False

    @property
    def called(self) -> str:
        """What reports call it: the study's label, else its title."""
        labels = current_labels()
        return (labels.label(self.column) if labels is not None else "") or self.title
