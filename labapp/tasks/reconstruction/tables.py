"""The columns that reconstruction brings: its measures, names of dials, dials and marks."""

from __future__ import annotations

from labapp.analysis.column import TRIAL, WHERE, WHO, each, number, seconds, text, whole, yes
from labapp.analysis.task_records import TaskTables
from labapp.tasks.reconstruction.movement import DEVICES

_MEASURES = (
    seconds("solved_s", "from the pictures' appearance to the alignment"),
    seconds(
        "active_s",
        "active time: each stretch between two activities counts for at most the part's "
        "inactivity limit",
    ),
    seconds(
        "active_s_as_published",
        "active time as the published application counts it: the gaps between snapshots shorter "
        "than the inactivity limit",
    ),
    number(
        "slide_distance",
        "total movement; a change of a discrete dimension counts 1",
        "full slider widths",
    ),
    each("slide_distance_by_dimension", "the same for each dimension", "full slider widths"),
    number(
        "error_auc_sum",
        "integral over time of the sum over pixels of squared differences, constant between "
        "snapshots, idle time included",
        "sum of squares x s",
    ),
    number(
        "error_auc_mean",
        "the same with the mean over pixels",
        "mean of squares x s",
    ),
    number("alignment_start", "alignment at the start", "0-1"),
    number("alignment_final", "alignment at the end", "0-1"),
    number("target_alignment", "alignment that was asked for; empty in a calibration", "0-1"),
    yes("aligned_at_start", "solved before the first move, and so not counted"),
    whole(
        "redrawn",
        "pairs drawn before this one that were solved before the first move, and that nobody saw",
    ),
    seconds("skip_offered_s", "from the pictures' appearance to the offer to skip"),
)
_MOVEMENTS = (
    each("slides", "runs of moves of each dial"),
    each("selections", "times each dial was taken hold of"),
    whole("dimension_switches", "moves of another dial than the one moved before"),
    whole("direction_reversals", "moves of the same dial the other way"),
    whole("overlay_toggles", "changes between side by side and overlay"),
    whole("label_edits", "edits of dial names"),
    whole("n_moves", "dial movements, coalesced to one a frame"),
    *(number(f"moved_by_{device}", f"share of the moves by {device}", "0-1") for device in DEVICES),
    whole("n_snapshots", "snapshots of the question (table snapshots)"),
    each("z_start", "dial state at the start"),
    each("z_target", "the target's dial state"),
    each("z_end", "dial state at the end"),
)
_SOLVED = (
    whole("n_solved", "of these, solved; empty in a calibration"),
    number(
        "completion_rate",
        "solved / planned questions; / counted questions where the moderator skipped the stage or "
        "it has no end; without questions solved before the first move, and without those that the "
        "participant skipped, where the study leaves them out; empty in a calibration",
        "0-1",
    ),
)
_ERRORS = (
    number("slide_distance", "mean a question", "full slider widths"),
    number("error_auc_sum", "summed over the questions", "sum of squares x s"),
    number("error_auc_mean", "summed over the questions", "mean of squares x s"),
)

LABELS = (
    *WHO,
    *WHERE,
    text("model", "id of the representation"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    whole("trial", "question during which it was typed"),
    seconds("session_s", "session time (pauses included) of the edit"),
    text("text", "what was typed; empty takes the name away"),
    yes("final", "the last edit of this dial in this stage"),
)

DIALS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    text("card_sha256", "hash of its model card; empty where the session recorded none"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    text("dial", "continuous (a slider) or discrete (a choice)"),
    number("low", "least value of a slider"),
    number("high", "greatest value of a slider"),
    whole("values", "values of a choice"),
    text("distance", "the study's distance between two pictures, by its name"),
    yes("labels_editable", "participants could name the dial"),
)
"""What the dials of the stages are, whether anybody named them or not: a row a dial of each model,
whoever met it. Practice is left out."""

MARKS = (
    *WHO,
    text("stage", "id of the plan's part, a calibration"),
    text("model", "id of the representation"),
    *TRIAL,
    text("mark", "far: “far away”, close: “close enough”"),
    number("alignment", "alignment of the picture that was on the screen", "0-1"),
    seconds("trial_s", "from the pictures' appearance to the mark, without pauses and gaps"),
    yes("excluded", "of a question that does not count, see the table trials"),
)

TABLES = TaskTables(
    words={
        "tasks_with_dials": "reconstruction, calibration (reconstruction without a target, "
        "in which marks are made)",
        "durations": "the response time of reconstruction where it ended by Next or Skip",
    },
    outcomes={
        "solved": "",
        "marked": "a calibration's question that was left once both were marked",
        "skipped": "by the participant",
    },
    own={"labels": LABELS, "dials": DIALS, "marks": MARKS},
    added={
        "trials": {"duration_s": _MEASURES, "skips_taken_back": _MOVEMENTS},
        "stages": {"n_trials": _SOLVED, "response_time_s": _ERRORS},
    },
    distinct={
        "dials": ("study", "model", "card_sha256", "dimension", "distance", "labels_editable")
    },
)
