"""The events.tsv of a task: one row a stage, question, movement and picture, on one timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labapp.analysis.judging.parts import JudgedPhoto
from labapp.analysis.parts import Parts
from labapp.bundle import unmasking
from labapp.bundle.tsv import Column, Table, seconds
from labapp.bundle.unmasking import Place, Stimulus
from labapp.events import Body, Event
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartEnded, PartRestarted, PartStarted
from labapp.events.trials import TrialEnded
from labapp.tasks.judging.events import JudgementMade, PhotoDrawn, PhotoShown
from labapp.tasks.judging.plan import SIMILARITY
from labapp.tasks.reconstruction.events import TrialStarted
from labapp.tasks.single_dimension.events import QuestionShown
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.state import ANSWERED

Cells = dict[str, Any]

COMMON = (
    Column("onset", "Session time at which it happened or began.", "s", format="number"),
    Column(
        "duration",
        "How long it lasted in session time, pauses and gaps included; 0 for moments, n/a where no "
        "end was recorded.",
        "s",
        format="number",
    ),
)
WORKING = Column(
    "working_duration", "The duration without pauses, breaks and the gaps after crashes.", "s"
)
SEQ = Column("seq", "Number of the row in the session's journal (sourcedata) that begins it.")

TASK_TYPES = {
    "stage": "A stage, or the practice, from its first question to its end.",
    "trial": "A question, from the pictures' appearance to Next, Skip or its end otherwise.",
    "dial_selected": "A dial was taken hold of.",
    "dial_moved": "A dial stands at a new value.",
    "picture": "The picture of the dials was decoded and compared with the target.",
    "solved": "The alignment reached the target; the dials are locked.",
    "mark": "The participant of a calibration said how near the pictures are.",
    "overlay": "Switched between side by side (false) and overlay (true).",
    "label": "A dial was renamed.",
    "skip_offered": "Skip became available.",
    "time_expired": "The time limit of the stage was reached.",
}
KIND_TYPES = {
    "dial.selected": "dial_selected",
    "dial.moved": "dial_moved",
    "picture.decoded": "picture",
    "trial.solved": "solved",
    "alignment.marked": "mark",
    "overlay.toggled": "overlay",
    "label.edited": "label",
    "skip.offered": "skip_offered",
    "stage.time_expired": "time_expired",
}
SINGLE_TYPES = {
    "stage": TASK_TYPES["stage"],
    "trial": "A question, from its pictures' appearance to Next or its end otherwise.",
    "choice": "A choice was taken or changed.",
    "rating": "A rating was given or changed.",
    "more_examples": "Other examples were asked for and shown.",
    "answer": "Choice and ratings were handed in; the right choice was told.",
    "time_expired": TASK_TYPES["time_expired"],
}
SINGLE_KIND_TYPES = {
    "choice.made": "choice",
    "rating.made": "rating",
    "examples.redrawn": "more_examples",
    "answer.given": "answer",
    "stage.time_expired": "time_expired",
}
JUDGING_TYPES = {
    "stage": TASK_TYPES["stage"],
    "trial": "A photo, or an exercise of the warm-up, from its appearance to its end.",
    "judgement": "A question about the photo was answered, or its answer changed or taken back.",
    "judged": "The answers were handed in.",
    "species_opened": "The rows of another class were opened.",
    "description_opened": "The description of the method, or the whole tree, was opened.",
    "description_closed": "And closed.",
    "time_expired": TASK_TYPES["time_expired"],
}
JUDGING_KIND_TYPES = {
    "judgement.made": "judgement",
    "photo.judged": "judged",
    "species.opened": "species_opened",
    "description.opened": "description_opened",
    "description.closed": "description_closed",
    "stage.time_expired": "time_expired",
}


def _opening(types: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns that the timelines of all tasks begin with."""
    return (
        *COMMON,
        Column("trial_type", "What happened.", levels=types),
        Column("stage", "Id of the plan's part."),
        Column("model", "Id of the representation."),
        Column("trial", "Number of the question in its stage, from 1."),
        Column("attempt", "Attempt at the question, from 1."),
        WORKING,
        Column(
            "outcome",
            "How the stage or question ended, restarted for a stage that was interrupted and began "
            "again; n/a where no end was recorded.",
        ),
    )


SINGLE_COLUMNS = (
    *_opening(SINGLE_TYPES),
    Column("item", "rating: confidence or understanding."),
    Column(
        "value",
        "choice, answer: the choice, from 0 (low, medium, high; of a discrete dial the index of "
        "its value); rating: 1 to 5; more_examples: how often in this question; time_expired: the "
        "limit in s.",
    ),
    Column("device", "Input that chose or rated: mouse, keyboard, simulated."),
    Column("correct", "answer: whether it was the right choice."),
    SEQ,
)
JUDGING_COLUMNS = (
    *_opening(JUDGING_TYPES),
    Column("photo", "trial: id of the photo, or of the exercise."),
    Column(
        "item",
        "judgement: the question, similarity_N for the N-th row of the photo as planned; "
        "description: method or tree.",
    ),
    Column(
        "value",
        "judgement: the answer, n/a where it was taken back; species_opened: place of the class "
        "among the options, from 1; time_expired: the limit in s.",
    ),
    Column("device", "Input that answered: mouse, keyboard, simulated."),
    Column("prototype", "judgement of a row: id of its prototype."),
    Column("prototype_class", "judgement of a row: id of the class of its prototype."),
    Column("model_similarity", "judgement of a row: its similarity as the model has it."),
    Column("model_rank", "The same as a rank among the rows of its class, 1 the most similar."),
    SEQ,
)
UNMASKING_COLUMNS = (*_opening(unmasking.UNMASKING_TYPES), *unmasking.UNMASKING_COLUMNS, SEQ)
TASK_COLUMNS = (
    *_opening(TASK_TYPES),
    Column("dimension", "The dial, from 1 as on the screen."),
    Column(
        "value",
        "dial_moved: the dial's new value (of a discrete dial the index, from 0); mark: far (far "
        "away) or close (close enough); overlay: on or not; skip_offered: active time in s; "
        "time_expired: the limit in s.",
    ),
    Column(
        "device", "Input that moved or took the dial: mouse, keyboard, wheel, touch, simulated."
    ),
    Column("alignment", "Alignment with the target, 1 - distance.", "0-1"),
    Column("error_sum", "Sum over pixels of squared differences from the target's picture."),
    Column("error_mean", "Mean over pixels of squared differences from the target's picture."),
    Column("z_seq", "Dial state of the question that a picture belongs to (changes, from 1)."),
    Column("text", "What was typed, on one line."),
    SEQ,
)


RESTARTED = "restarted"
"""Outcome of a stage that was interrupted and began again: the next row of its id goes on."""
NO_PARTS = Parts({}, {})


class Lasting:
    """Something that lasts: its cells, and when it began in session and working time (ns)."""

    def __init__(self, cells: Cells, t_ns: int, working_ns: int) -> None:
        self.cells, self.t_ns, self.working_ns = cells, t_ns, working_ns

    def close(self, t_ns: int, working_ns: int, outcome: str | None) -> None:
        self.cells["duration"] = seconds(t_ns - self.t_ns)
        self.cells["working_duration"] = seconds(working_ns - self.working_ns)
        self.cells["outcome"] = outcome


def task_timeline(
    events: Iterable[tuple[Event, Body]],
    models: Mapping[str, str],
    columns: Sequence[Column],
    kinds: Mapping[str, str],
    parts: Parts = NO_PARTS,
    stimuli: Mapping[Place, Stimulus] | None = None,
) -> Table:
    """The rows of the stages of one task.

    events: of the whole session, with their bodies (pauses are needed too); models: id of the
    representation by id of the stage; kinds: type of the row by kind of event; parts: what is
    known of the plan; stimuli: its masked pictures.
    """
    pauses = Pauses()
    rows: list[Cells] = []
    stages: dict[str, Lasting] = {}
    trials: dict[tuple[str, int | None, int | None], Lasting] = {}
    photos: dict[tuple[str, int | None, int | None], str] = {}
    drawn: dict[tuple[str, int | None, int | None], StimulusDrawn] = {}
    for event, body in events:
        pauses = pauses.apply(event)
        stage = event.stage
        if stage is None or stage not in models:
            continue
        working = pauses.working_ns(event.t_ns)
        key = (stage, event.trial, event.attempt)
        cells: Cells = {
            "onset": seconds(event.t_ns),
            "duration": "0",
            "stage": stage,
            "model": models[stage],
            "trial": event.trial,
            "attempt": event.attempt,
            "seq": event.seq,
        }
        match body:
            case PartStarted() | PartRestarted():
                if stage in stages:
                    stages[stage].close(event.t_ns, working, RESTARTED)
                rows.append(cells | {"trial_type": "stage", "duration": None})
                stages[stage] = Lasting(rows[-1], event.t_ns, working)
            case QuestionShown():
                rows.append(cells | {"trial_type": "trial", "duration": None})
                trials[key] = Lasting(rows[-1], event.t_ns, working)
            case PhotoDrawn():
                photos[key] = body.photo
            case PhotoShown():
                shown = {"trial_type": "trial", "duration": None, "photo": photos[key]}
                rows.append(cells | shown)
                trials[key] = Lasting(rows[-1], event.t_ns, working)
            case StimulusDrawn():
                drawn[key] = body
            case StimulusShown():
                stimulus = (stimuli or {}).get((stage, event.trial or 0))
                shown = unmasking.trial_cells(drawn[key], body, stimulus)
                rows.append(cells | {"trial_type": "trial", "duration": None, **shown})
                painted = body.painted_ns
                trials[key] = Lasting(rows[-1], painted, pauses.working_ns(painted))
            case ResponseGiven() if key in trials:
                # It ends the stimulus, by the time of its input.
                trial, at = trials.pop(key), body.input_ns
                part = parts.unmasked[stage]
                answer = unmasking.answer_cells(trial.cells, trial.t_ns, body, part)
                trial.close(at, pauses.working_ns(at), ANSWERED)
                rows.append(cells | {"trial_type": kinds[event.kind], **answer})
            case TrialStarted():
                rows.append(cells | {"trial_type": "trial", "duration": None, **_measured(body)})
                trials[key] = Lasting(rows[-1], event.t_ns, working)
            case PartEnded() if stage in stages:
                stages[stage].close(event.t_ns, working, body.outcome)
            case TrialEnded() if key in trials:
                trials[key].close(event.t_ns, working, body.outcome)
            case _ if event.kind in kinds:
                row = cells | {"trial_type": kinds[event.kind], **_details(event)}
                if isinstance(body, JudgementMade) and stage in parts.judged:
                    row |= _rated(body, parts.judged[stage].photos[photos[key]])
                rows.append(row)
    return Table(columns, rows)


def _rated(body: JudgementMade, photo: JudgedPhoto) -> Cells:
    """What a rating of similarity is about."""
    for number, row in enumerate(photo.rows, start=1):
        if body.question == SIMILARITY.format(number):
            return {
                "prototype": row.prototype,
                "prototype_class": row.of,
                "model_similarity": row.similarity,
                "model_rank": row.rank,
            }
    return {}


def _measured(body: TrialStarted) -> Cells:
    return {
        "alignment": body.alignment,
        "error_sum": body.error_sum,
        "error_mean": body.error_mean,
        "z_seq": 0,
    }


def _details(event: Event) -> Cells:
    payload = event.payload
    cells: Cells = {
        name: payload[name]
        for name in ("alignment", "error_sum", "error_mean", "z_seq", "device", "value", "text")
        if name in payload
    }
    cells |= {name: payload[name] for name in ("item", "correct") if name in payload}
    for name in ("question", "what"):
        if name in payload:
            cells["item"] = payload[name]
    if "dimension" in payload:
        cells["dimension"] = payload["dimension"] + 1
    for name in ("on", "active_s", "limit_s", "choice", "number", "mark", "option"):
        if name in payload:
            cells["value"] = payload[name]
    return cells
