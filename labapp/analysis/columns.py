"""Every column of every table: its name, type, unit and meaning.

The tables are built from here, and so is the dictionary (`columns.csv`) written beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labapp.analysis.deviations import MEANINGS
from labapp.analysis.inclusion import RULES
from labapp.analysis.movement import DEVICES

Kind = Literal["text", "integer", "number", "boolean", "numbers"]
"""numbers: one number a dimension, in the order of the dials."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    unit: str = ""


def _text(name: str, meaning: str) -> Column:
    return Column(name, "text", meaning)


def _whole(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "integer", meaning, unit)


def _number(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "number", meaning, unit)


def _seconds(name: str, meaning: str) -> Column:
    return Column(name, "number", meaning, "s")


def _yes(name: str, meaning: str) -> Column:
    return Column(name, "boolean", meaning)


def _each(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "numbers", meaning, unit)


WHO = (
    _text("study", "id of the study"),
    _text("participant", "label of the participant (a pseudonym)"),
    _text("session", "label of the session"),
)
WHERE = (
    _text("stage", "id of the plan's part"),
    _whole("stage_number", "place of the stage among the stages (of the practice: 1)"),
)
INCLUDED = _yes("included", "the session counts, see the table participants")
TRIAL = (
    _whole("trial", "number of the question in its stage, from 1"),
    _whole("attempt", "attempt at the question, from 1"),
)

TASKS = (
    "reconstruction, calibration (reconstruction without a target, in which marks are made), "
    "single-dimension-traversals or single-dimension-exemplars"
)

SINGLE_TRIALS = (
    _whole("dimension", "the dial asked about, from 1"),
    _text("dimension_name", "the representation's own name of the dimension"),
    _text("regime", "low, medium or high, from which the value was drawn; empty where discrete"),
    _number("shown_value", "the dial's value in the picture asked about"),
    _text("right_choice", "low, medium or high; of a discrete dial the index of its value, from 0"),
    _text("choice", "the choice that counts, written likewise"),
    _yes("correct", "the answer handed in was the right choice"),
    _whole(
        "confidence", "“I'm confident I'm right”, 1 strongly disagree to 5 strongly agree", "1-5"
    ),
    _whole("understanding", "“The dial makes sense”, 1 to 5 likewise", "1-5"),
    _seconds(
        "response_s",
        "from the pictures' appearance to the answer handed in, without pauses and gaps: the "
        "response time of this task",
    ),
    _seconds("first_choice_s", "from the pictures' appearance to the first choice"),
    _whole("choice_changes", "choices after the first"),
    _whole("rating_changes", "ratings after the first of each statement"),
    _whole("resamples", "times other examples were asked for"),
)
"""Of single-dimension questions only; empty in other rows."""

TRIALS = (
    *WHO,
    *WHERE,
    _text("task", TASKS),
    _text("role", "stage or practice"),
    _text("model", "id of the representation"),
    *TRIAL,
    _text(
        "outcome",
        "solved, marked (a calibration's question that was left once both were marked), skipped "
        "(by the participant), answered (a single-dimension question), time_expired, "
        "stage_skipped (by the moderator) or interrupted (no end recorded)",
    ),
    _seconds(
        "duration_s",
        "from the pictures' appearance to the end of the question, without pauses and gaps; the "
        "response time of reconstruction where it ended by Next or Skip",
    ),
    _seconds("solved_s", "from the pictures' appearance to the alignment"),
    _seconds(
        "active_s",
        "active time: each stretch between two activities counts for at most the part's "
        "inactivity limit",
    ),
    _seconds(
        "active_s_as_published",
        "active time as the published application counts it: the gaps between snapshots shorter "
        "than the inactivity limit",
    ),
    _number(
        "slide_distance",
        "total movement; a change of a discrete dimension counts 1",
        "full slider widths",
    ),
    _each("slide_distance_by_dimension", "the same for each dimension", "full slider widths"),
    _number(
        "error_auc_sum",
        "integral over time of the sum over pixels of squared differences, constant between "
        "snapshots, idle time included",
        "sum of squares x s",
    ),
    _number(
        "error_auc_mean",
        "the same with the mean over pixels",
        "mean of squares x s",
    ),
    _number("alignment_start", "alignment at the start", "0-1"),
    _number("alignment_final", "alignment at the end", "0-1"),
    _number("target_alignment", "alignment that was asked for; empty in a calibration", "0-1"),
    _yes("aligned_at_start", "start and target agreed from the start (kept, flagged)"),
    _seconds("skip_offered_s", "from the pictures' appearance to the offer to skip"),
    _each("slides", "runs of moves of each dial"),
    _each("selections", "times each dial was taken hold of"),
    _whole("dimension_switches", "moves of another dial than the one moved before"),
    _whole("direction_reversals", "moves of the same dial the other way"),
    _whole("overlay_toggles", "changes between side by side and overlay"),
    _whole("label_edits", "edits of dial names"),
    _whole("n_moves", "dial movements, coalesced to one a frame"),
    *(
        _number(f"moved_by_{device}", f"share of the moves by {device}", "0-1")
        for device in DEVICES
    ),
    _whole("n_snapshots", "snapshots of the question (table snapshots)"),
    _each("z_start", "dial state at the start"),
    _each("z_target", "the target's dial state"),
    _each("z_end", "dial state at the end"),
    _seconds("started_session_s", "session time (pauses included) of the start"),
    *SINGLE_TRIALS,
    _yes("excluded", "not counted in the stage's metrics"),
    _text("excluded_because", "why it is not counted"),
    INCLUDED,
)

_CHANGES = (
    _whole("change_questions", "questions in each of the two groups of the changes"),
    _number("change_completion_rate", "last minus first questions", "0-1"),
    _seconds("change_response_time_s", "last minus first questions"),
    _number("change_slide_distance", "last minus first questions", "full slider widths"),
    _number("change_error_auc_sum", "last minus first questions, a question", "sum of squares x s"),
    _number(
        "change_error_auc_mean", "last minus first questions, a question", "mean of squares x s"
    ),
    _number("change_correctness_rate", "last minus first questions", "0-1"),
)
"""The published definition is of reconstruction (Figure 10). For the single-dimension task it holds
for what both kinds of question have, the response time, and for correctness in place of completion;
the other columns are empty there, and that of correctness is empty for reconstruction."""

STAGES = (
    *WHO,
    *WHERE,
    _text("task", TASKS),
    _text("model", "id of the representation"),
    _text("outcome", "completed, time_expired, skipped (by the moderator) or unfinished"),
    _whole("n_planned", "questions planned"),
    _whole("n_trials", "questions that count"),
    _whole("n_solved", "of these, solved; empty in a calibration"),
    _number(
        "completion_rate",
        "solved / planned questions; / counted questions where the moderator skipped the stage or "
        "it has no end; empty in a calibration",
        "0-1",
    ),
    _seconds(
        "response_time_s",
        "mean over questions that ended by Next or Skip; single-dimension: mean time to the answer "
        "handed in",
    ),
    _number("slide_distance", "mean a question", "full slider widths"),
    _number("error_auc_sum", "summed over the questions", "sum of squares x s"),
    _number("error_auc_mean", "summed over the questions", "mean of squares x s"),
    _whole("n_answered", "questions of the single-dimension task that were handed in"),
    _whole("n_correct", "of these, answered correctly"),
    _number("correctness_rate", "correct / handed in", "0-1"),
    _number("confidence", "mean of “I'm confident I'm right”", "1-5"),
    _number("understanding", "mean of “The dial makes sense”", "1-5"),
    _number("seq", "Single Ease Question, 1 very easy to 7 very difficult", "1-7"),
    _seconds("duration_s", "working time of the stage"),
    *_CHANGES,
    INCLUDED,
)

ANSWERS = (
    *WHO,
    _text("stage", "id of the plan's part"),
    _text("about", "id of the stage it asks about, empty for the whole session"),
    _text("model", "representation of that stage"),
    _text("instrument", "id of the questionnaire"),
    _whole("instrument_version", "its version, once submitted"),
    _text("item", "id of the item"),
    _text("kind", "rating, choice or written"),
    _number("value", "the answer that counts, where it is a number"),
    _text(
        "value_text",
        "the answer that counts, where it is not a number: what was written, or the ids of the "
        "chosen options with ; between them",
    ),
    _text("described", "what was written beside the chosen option, in the answer that counts"),
    _number("first_value", "the first response, where it is a number"),
    _text("first_value_text", "the first response, where it is not a number"),
    _whole("changes", "responses after the first"),
    _seconds("first_s", "from the questionnaire's appearance to the first response"),
    _seconds("last_s", "from the questionnaire's appearance to the last response"),
    _seconds("submitted_s", "from the questionnaire's appearance to its submission"),
    _yes("submitted", "the questionnaire was submitted with this answer"),
)

SCORES = (
    *WHO,
    _text("stage", "id of the plan's part"),
    _text("about", "id of the stage it asks about, empty for the whole session"),
    _text("model", "representation of that stage"),
    _text("instrument", "id of the questionnaire"),
    _whole("instrument_version", "its version"),
    _text("score", "name of the score; for items scored as they are, the id of the item"),
    _number("value", "the score; a score whose answers are not all there has no row"),
    _number("low", "least value the score can have"),
    _number("high", "greatest value the score can have"),
    _text("meaning", "what the score is and what its ends mean"),
)

LABELS = (
    *WHO,
    *WHERE,
    _text("model", "id of the representation"),
    _whole("dimension", "the dial, from 1 as on the screen"),
    _text("dimension_name", "the representation's own name of the dimension"),
    _whole("trial", "question during which it was typed"),
    _seconds("session_s", "session time (pauses included) of the edit"),
    _text("text", "what was typed; empty takes the name away"),
    _yes("final", "the last edit of this dial in this stage"),
)

MARKS = (
    *WHO,
    _text("stage", "id of the plan's part, a calibration"),
    _text("model", "id of the representation"),
    *TRIAL,
    _text("mark", "far: “far away”, close: “close enough”"),
    _number("alignment", "alignment of the picture that was on the screen", "0-1"),
    _seconds("trial_s", "from the pictures' appearance to the mark, without pauses and gaps"),
    _yes("excluded", "of a question that does not count, see the table trials"),
)

PARTICIPANTS = (
    *WHO,
    _whole("study_version", "version of the study file"),
    _text("study_sha256", "hash of the study file"),
    _text("started_utc", "when the session began"),
    _text("outcome", "completed, ended_early, declined or unfinished"),
    _text("ended_reason", "why it ended early"),
    _yes("complete", "every part of the plan was done"),
    _yes(
        "included",
        "it counts, as the session decided at its end by the study's rules; without that decision "
        "(unfinished, or recorded by an older labapp): it was completed; nobody counts who "
        "withdrew, in the session or later",
    ),
    _text(
        "excluded_because",
        "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items()),
    ),
    _text("conditions", "the study's variables for this participant, drawn cells in their order"),
    _yes("simulated", "a program took part, not a person"),
    _text("models", "representations in the order of the stages"),
    _whole("practice_asked", "single-dimension questions of the practice; empty without them"),
    _whole("practice_correct", "of these, answered correctly"),
    _whole("n_solved", "reconstruction questions solved, practice not counted"),
    _whole("n_correct", "single-dimension questions answered correctly, practice not counted"),
    _number("payment_total", "what the session earned, base and bonus; empty without payment"),
    _text("payment_currency", "currency of the payment"),
    _text("assignment", "the choices made for this participant (JSON)"),
    _whole("seed", "seed of the study"),
    _text("presentation", "as_published or improved"),
    _text("language", "language of the texts"),
    _seconds("duration_s", "working time: without pauses and gaps"),
    _seconds("elapsed_s", "session time: with pauses and gaps"),
    _whole("n_pauses", "pauses"),
    _seconds("paused_s", "their sum"),
    _whole("n_breaks", "breaks of the plan that were taken; they are no pauses"),
    _seconds("breaks_s", "their sum, as far as they came to an end"),
    _whole("n_gaps", "times the program stopped and the session was resumed"),
    _seconds(
        "gap_s",
        "time from each stop to going on, summed, outside pauses and breaks: with duration_s, "
        "paused_s and breaks_s it makes up elapsed_s",
    ),
    _seconds("sound_s", "length of the sound recorded"),
    _seconds("sound_lost_s", "of this, lost and filled with silence"),
    _text("no_sound_because", "why there is no sound"),
    _whole("focus_losses", "times the participant's window lost the keyboard focus"),
    _whole("n_deviations", "rows of this session in the table of deviations"),
    _whole("n_events", "events in the journal"),
    _text("app_versions", "versions of labapp that recorded it"),
    _yes("deidentified", "read from a copy without free text and demographics"),
    _text("source", "file name of the session or bundle it was read from"),
)

DEVIATIONS = (
    *WHO,
    _text("stage", "part that ran"),
    *TRIAL,
    _text("kind", "; ".join(f"{kind}: {meaning}" for kind, meaning in MEANINGS.items())),
    _seconds("session_s", "session time (pauses included)"),
    _seconds("duration_s", "how long it lasted, or how much sound was lost"),
    _text("detail", "what was recorded about it"),
)

SNAPSHOTS = (
    *WHO,
    _text("stage", "id of the plan's part"),
    _text("model", "id of the representation"),
    *TRIAL,
    _whole("snapshot", "number of the snapshot in its question, from 1"),
    _seconds("t_s", "from the pictures' appearance, without pauses and gaps"),
    _each("z", "dial state"),
    _whole("dimension", "the active dial, from 1"),
    _whole("direction", "-1, 0 (none, or a discrete dial) or +1"),
    _number("alignment", "alignment", "0-1"),
    _number("error_sum", "sum over pixels of squared differences"),
    _number("error_mean", "mean over pixels of squared differences"),
)

COLUMNS: dict[str, tuple[Column, ...]] = {
    "trials": TRIALS,
    "stages": STAGES,
    "answers": ANSWERS,
    "scores": SCORES,
    "labels": LABELS,
    "marks": MARKS,
    "participants": PARTICIPANTS,
    "deviations": DEVIATIONS,
    "snapshots": SNAPSHOTS,
}
"""By table, in the order they are written."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the stages as the report shows it: column of the table, title, unit, factor
    from the table's unit to that one, decimals, and the fixed limits of its scale, if any."""

    column: str
    title: str
    unit: str
    factor: float = 1.0
    decimals: int = 1
    limits: tuple[float, float] | None = None


METRICS = (
    Metric("completion_rate", "Completion rate", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s a question"),
    Metric("slide_distance", "Slide distance", "slider widths a question", decimals=2),
    Metric("error_auc_sum", "Error AUC, sum", "sum of squares × s, a stage"),
    Metric("error_auc_mean", "Error AUC, mean", "mean of squares × s, a stage", decimals=2),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""

CALIBRATION_METRICS = METRICS[1:]
"""A calibration has no questions that are completed."""

SINGLE_METRICS = (
    Metric("correctness_rate", "Correctness", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s a question"),
    Metric("confidence", "Confidence", "1–5", limits=(1, 5), decimals=2),
    Metric("understanding", "Dial makes sense", "1–5", limits=(1, 5), decimals=2),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""The same for stages of the single-dimension task."""
