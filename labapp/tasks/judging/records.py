"""What is recorded of judged photos, and its rows of tables: trials, stages, judgements and
similarities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from labapp.analysis.answered import mean
from labapp.analysis.column import INCLUDED, STALLED, WHO, number, seconds, text, whole, yes
from labapp.analysis.task_records import (
    INTERRUPTED,
    Attempt,
    Key,
    Ran,
    Row,
    TaskRecords,
    TaskTables,
    key_of,
)
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import PartEnded, PartRestarted
from labapp.record.events.trials import TrialEnded
from labapp.tasks.judging import events, plan

_WHERE = (
    text("stage", "id of the plan's part"),
    whole("stage_number", "place of the stage among the stages; of the warm-up 1"),
    text(
        "task",
        "heatmap-distinction, prototype-distinction, prototype-agreement, path-distinction, "
        "path-agreement, path-first-step, or warm-up (exercises with a decision tree)",
    ),
    text("method", "name of the explanation method"),
    yes("labels", "the true class was told"),
    yes("invented", "the names of the classes are made up: nobody knew them before"),
    whole("set", "number of the set of photos; empty in the warm-up"),
    whole("trial", "place of the photo in its stage, from 1"),
    whole("attempt", "attempt at the photo, from 1"),
    text("photo", "id of the photo, of the exercise in the warm-up"),
    text("truth", "id of the true class"),
    text("prediction", "id of the class that the model predicts"),
    yes("model_correct", "the model is right"),
)
_EXCLUDED = (
    yes("excluded", "an attempt that does not count"),
    text("excluded_because", "why it does not count"),
    INCLUDED,
)

ANSWERS_TO = (
    whole("output", "which class the model predicts: place among the options, from 1"),
    whole("output_confidence", "1 not confident at all to 5 completely confident", "1-5"),
    whole("distinction", "which class is correct: place among the options, from 1"),
    whole("distinction_confidence", "1 not confident at all to 5 completely confident", "1-5"),
    whole(
        "agreement",
        "what is thought of the prediction: 1 fairly, 2 somewhat confident that it is incorrect, "
        "3 somewhat, 4 fairly confident that it is correct",
        "1-4",
    ),
    whole("step_1", "the last step but one of the tree: 1 absent, 2 present"),
    whole("step_2_absent", "the last step, reached by absent: 1 absent, 2 present"),
    whole("step_2_present", "the last step, reached by present: 1 absent, 2 present"),
    whole(
        "first_step",
        "the first step disagreed with, from 1; one more than there are steps: agreed with all",
    ),
    whole("verdict", "warm-up: 1 the prediction is incorrect, 2 it is correct"),
    whole("mistake", "warm-up: the first mistake: 1 colour, 2 count, 3 shape, 4 none"),
)
"""A column a question, named like it; empty where it was not asked, or not answered."""

JUDGEMENTS = (
    *WHO,
    *_WHERE,
    text("picture", "the picture of the photo, as the stimulus set names it"),
    text(
        "options",
        "ids of the classes to choose from, in their order, with ; between them; with the last two "
        "steps of a tree those at their four ends, absent-absent first",
    ),
    whole("first_wrong", "the first step after which the true class is out of reach; empty: none"),
    whole("n_steps", "steps of the path that are shown as decided; empty without a path"),
    text("outcome", "judged, time_expired, stage_skipped (by the moderator) or interrupted"),
    yes("judged", "every question was answered and the answers were handed in"),
    *ANSWERS_TO,
    text("chosen", "id of the class believed correct; empty where none is chosen"),
    yes("believed_correct", "the agreement is 3 or 4"),
    yes("right_output", "the class that the model predicts was found"),
    yes(
        "right_distinction",
        "the correct class was found; with two steps of a tree: both answered as the model does",
    ),
    yes("right_agreement", "believed correct if and only if the model is right"),
    yes("right_first_step", "the first step disagreed with is the first wrong one (or none is)"),
    text(
        "first_step_error",
        "exact, too_early or too_late: the first step disagreed with against the first wrong one, "
        "agreement with all counting as one step after the last",
    ),
    yes("right_verdict", "warm-up: the prediction was rightly judged"),
    yes("right_mistake", "warm-up: the first wrong step was found"),
    seconds(
        "duration_s",
        "from the photo's appearance to the answers handed in, without pauses and gaps",
    ),
    seconds("elapsed_s", "the same with pauses and gaps"),
    seconds("first_answer_s", "from the photo's appearance to the first answer"),
    seconds("last_answer_s", "from the photo's appearance to the last answer"),
    whole("n_rated", "rows whose similarity was rated"),
    whole("n_changes", "answers after the first of each question"),
    whole("n_taken_back", "answers that were taken back because they no longer applied"),
    whole("n_species_opened", "times the rows of another class were opened"),
    whole("n_description_opened", "times the description of the method was opened"),
    seconds(
        "description_s",
        "how long the description was open over the photo, wherever it was opened, without pauses "
        "and gaps",
    ),
    whole("n_tree_opened", "times the picture of the whole tree was opened"),
    text("answered_with", "inputs that answered, with ; between them"),
    text("facts", "what else the stimulus set knows of the photo (JSON)"),
    seconds("started_session_s", "session time (pauses included) of the photo's appearance"),
    STALLED,
    *_EXCLUDED,
)

SIMILARITIES = (
    *WHO,
    *_WHERE,
    whole("row", "place of the row among all rows of the photo as planned, from 1"),
    whole("option", "place of the row's class among the options, from 1; empty without options"),
    text("of", "id of the class of the prototype; empty for a tree's"),
    text("prototype", "id of the prototype"),
    number("similarity", "similarity of region and prototype as the model has it"),
    whole("rank", "the same as a rank among the rows of the class, 1 the most similar"),
    yes("present", "decision of a tree at this step: the prototype is present"),
    whole(
        "rating", "rated by the participant: 1 not, 2 somewhat not, 3 somewhat similar, 4 similar"
    ),
    seconds("answered_s", "from the photo's appearance to the rating that counts"),
    whole("changes", "ratings after the first"),
    yes(
        "of_chosen",
        "distinction: the row is of the class that was chosen; agreement: the prediction was "
        "believed correct (3 or 4)",
    ),
    *_EXCLUDED,
)

JUDGING_STAGES = (
    text(
        "method", "name of the explanation method; empty in other tasks, as are the rest of these"
    ),
    yes("labels", "the true class was told"),
    whole("set", "number of the set of photos"),
    number("model_accuracy", "accuracy of the explained model as the participant was told", "%"),
    number("output_rate", "photos on which the predicted class was found / photos judged", "0-1"),
    number("agreement", "mean agreement", "1-4"),
    whole(
        "hits",
        "photos assigned as they are, when half of them are taken as believed correct by the "
        "highest ratings and ties by lot: what the participant was told",
    ),
    number("expected_hits", "the same without the lot, the mean over all ways to break the ties"),
    whole("n_ties", "photos among which the lot decided"),
)
"""Of stages that judge explanations, in the table of stages. There `n_correct` and
`correctness_rate` are of the correct class found or, with agreement, of predictions rightly
believed."""

TABLES = TaskTables(
    words={
        "tasks": "of explanations that are judged heatmap-distinction, prototype-distinction, "
        "prototype-agreement, path-distinction, path-agreement or path-first-step, and warm-up"
    },
    outcomes={"judged": "a photo"},
    own={"judgements": JUDGEMENTS, "similarities": SIMILARITIES},
    added={"stages": {"skips_taken_back": JUDGING_STAGES}},
)


JudgedPart = plan.JudgingPart | plan.WarmUpPart


@dataclass(slots=True)
class GivenAnswer:
    """One question about a photo. value: the answer that stands, None where it was taken back;
    at_ns: working time of the last answer; given: how often it was answered."""

    value: int | None
    at_ns: int
    given: int = 1


class PhotoRecord(Attempt):
    """One attempt at a photo. answers: question -> answer, of those that stand."""

    part: JudgedPart

    def __init__(self, part: JudgedPart, key: Key, drawn: events.PhotoDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.photo: plan.PlannedPhoto | plan.Exercise = part.judged[drawn.photo]
        self.judged_session_ns: int | None = None
        self.judged_ns: int | None = None
        self.last_ns: int | None = None
        self.first_answer_ns: int | None = None
        self.last_answer_ns: int | None = None
        self.questions: dict[str, GivenAnswer] = {}
        self.taken_back = 0
        self.species_opened = 0
        self.opened = {events.METHOD: 0, events.TREE: 0}
        self.description_ns = 0
        self.devices: list[str] = []
        self.final: Mapping[str, int] | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case events.PhotoShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case events.JudgementMade():
                self._judgement(payload, working)
            case events.PhotoJudged():
                self.final = dict(payload.answers)
                self.judged_session_ns, self.judged_ns = event.t_ns, working
            case events.SpeciesOpened():
                self.species_opened += 1
            case events.DescriptionOpened():
                self.opened[payload.what] = self.opened.get(payload.what, 0) + 1
        self.last_ns = working

    def _judgement(self, payload: events.JudgementMade, working: int) -> None:
        known = self.questions.get(payload.question)
        if payload.value is None:
            if known is not None:
                known.value = None
            self.taken_back += 1
            return
        if known is None:
            self.questions[payload.question] = GivenAnswer(payload.value, working)
        else:
            known.value, known.at_ns, known.given = payload.value, working, known.given + 1
        if payload.device not in self.devices:
            self.devices.append(payload.device)
        if self.first_answer_ns is None:
            self.first_answer_ns = working
        self.last_answer_ns = working

    @property
    def answers(self) -> Mapping[str, int]:
        if self.final is not None:
            return self.final
        return {
            name: question.value
            for name, question in self.questions.items()
            if question.value is not None
        }

    @property
    def judged(self) -> bool:
        """Whether the answers were handed in."""
        return self.final is not None

    complete = judged

    @property
    def response_s(self) -> float | None:
        """From the photo's appearance to the answers handed in."""
        return self.since_start(self.judged_ns)

    @property
    def correct(self) -> bool | None:
        """Whether what its task asks was answered rightly."""
        if not self.judged:
            return None
        told = rights(self)
        return next((told[name] for name in _MAIN if told[name] is not None), None)


BELIEVED = 3
"""Agreement from here on means: believed correct (paper 003, section 5.3)."""


def chosen(record: PhotoRecord) -> str | None:
    """Id of the class believed correct; None where none was chosen, or none can be."""
    answers, photo = record.answers, record.photo
    if plan.DISTINCTION in answers:
        return _named(record, photo.options, answers[plan.DISTINCTION])
    end = _end(record)
    return None if end is None else _named(record, photo.ends, end + 1)


def _named(record: PhotoRecord, among: Sequence[str], number: int) -> str:
    """The class of this number, from 1. Raises RecordError for an answer that nobody can give."""
    if not 1 <= number <= len(among):
        raise RecordError(
            f"In question {record.trial} of {record.part.id!r}, answer {number} was given where "
            f"there are {len(among)}.",
            safe="It was only read; nothing was changed.",
            todo="The journal was changed or made by something else than labapp: leave the "
            "session out.",
        )
    return among[number - 1]


def _end(record: PhotoRecord) -> int | None:
    """Which of the four ends of the last two steps was reached, from 0; absent-absent first."""
    answers = record.answers
    first = answers.get(plan.FIRST)
    second = answers.get(plan.AFTER_ABSENT if first == plan.ABSENT else plan.AFTER_PRESENT)
    if first is None or second is None or not record.photo.ends:
        return None
    return 2 * (first - 1) + second - 1


def believed_correct(record: PhotoRecord) -> bool | None:
    agreement = record.answers.get(plan.AGREEMENT)
    return None if agreement is None else agreement >= BELIEVED


def _against_first_wrong(record: PhotoRecord, question: str) -> int | None:
    """The first step named as wrong minus the one that is, in steps."""
    answer, wrong = record.answers.get(question), record.photo.wrong_at
    if answer is None:
        return None
    if wrong is None:  # the answer that says so comes after the last step
        wrong = (record.part.steps_of(record.photo.id) or 0) + 1
    return answer - wrong


def rights(record: PhotoRecord) -> Row:
    """The columns that say what was right; None where it was not answered, or has no right."""
    answers, photo = record.answers, record.photo
    output = answers.get(plan.OUTPUT)
    believed = believed_correct(record)
    end = _end(record)
    distinction: bool | None = None
    if plan.DISTINCTION in answers:
        distinction = chosen(record) == photo.truth
    elif end is not None:
        distinction = photo.ends.index(photo.truth) == end
    step = _against_first_wrong(record, plan.FIRST_STEP)
    mistake = _against_first_wrong(record, plan.MISTAKE)
    verdict = answers.get(plan.VERDICT)
    error = None
    if step is not None:
        error = "exact" if step == 0 else "too_early" if step < 0 else "too_late"
    return {
        "right_output": (
            None if output is None else _named(record, photo.options, output) == photo.prediction
        ),
        "right_distinction": distinction,
        "right_agreement": (
            # In the warm-up the rating is of confidence beside the verdict, and has no right.
            None if believed is None or plan.VERDICT in answers else believed == photo.correct
        ),
        "right_first_step": None if step is None else step == 0,
        "first_step_error": error,
        "right_verdict": None if verdict is None else (verdict == plan.RIGHT) == photo.correct,
        "right_mistake": None if mistake is None else mistake == 0,
    }


def _where(record: PhotoRecord) -> Row:
    part, photo = record.part, record.photo
    return {
        "stage": part.id,
        "stage_number": part.number,
        "task": part.task,
        "method": part.method,
        "labels": part.labels,
        "invented": part.invented,
        "set": part.set or None,
        "trial": record.trial,
        "attempt": record.attempt,
        "photo": photo.id,
        "truth": photo.truth,
        "prediction": photo.prediction,
        "model_correct": photo.correct,
        "excluded": record.excluded_because is not None,
        "excluded_because": record.excluded_because,
    }


def judgement_row(record: PhotoRecord) -> Row:
    photo, answers, elapsed = record.photo, record.answers, None
    if record.judged_session_ns is not None and record.started_session_ns is not None:
        elapsed = (record.judged_session_ns - record.started_session_ns) / NS
    ratings = _ratings(record)
    return {
        **_where(record),
        "picture": photo.picture,
        # At the last two steps of a tree, whatever classes the set lists besides.
        "options": ";".join(photo.ends or photo.options) or None,
        "first_wrong": photo.wrong_at,
        "n_steps": record.part.steps_of(photo.id),
        "outcome": record.outcome or INTERRUPTED,
        "judged": record.judged,
        **{column.name: answers.get(column.name) for column in ANSWERS_TO},
        "chosen": chosen(record),
        "believed_correct": believed_correct(record),
        **rights(record),
        "duration_s": record.response_s,
        "elapsed_s": elapsed,
        "first_answer_s": record.since_start(record.first_answer_ns),
        "last_answer_s": record.since_start(record.last_answer_ns),
        "n_rated": len(ratings),
        "n_changes": sum(question.given - 1 for question in record.questions.values()),
        "n_taken_back": record.taken_back,
        "n_species_opened": record.species_opened,
        "n_description_opened": record.opened[events.METHOD],
        "description_s": record.description_ns / NS,
        "n_tree_opened": record.opened[events.TREE],
        "answered_with": ";".join(record.devices) or None,
        "facts": json.dumps(dict(photo.facts)) if photo.facts else None,
        "started_session_s": record.started_session_s,
    }


def _ratings(record: PhotoRecord) -> dict[int, int]:
    """Ratings of similarity that stand, by the row's number from 1."""
    answers = record.answers
    names = {n: plan.SIMILARITY.format(n) for n in range(1, len(record.photo.rows) + 1)}
    return {n: answers[name] for n, name in names.items() if name in answers}


def similarity_rows(record: PhotoRecord) -> list[Row]:
    photo, believed, picked = record.photo, believed_correct(record), chosen(record)
    rows = []
    for place, rating in _ratings(record).items():
        row = photo.rows[place - 1]
        answer = record.questions.get(plan.SIMILARITY.format(place))
        of_chosen = believed if plan.DISTINCTION not in record.answers else row.of == picked
        rows.append(
            {
                **_where(record),
                "row": place,
                "option": photo.options.index(row.of) + 1 if row.of in photo.options else None,
                "of": row.of,
                "prototype": row.prototype,
                "similarity": row.similarity,
                "rank": row.rank,
                "present": row.present,
                "rating": rating,
                "answered_s": None if answer is None else record.since_start(answer.at_ns),
                "changes": None if answer is None else answer.given - 1,
                "of_chosen": of_chosen,
            }
        )
    return rows


class JudgingRecords(TaskRecords[JudgedPart, PhotoRecord]):
    """Every attempt at every photo, and at every exercise of a warm-up."""

    tables = TABLES
    begins = events.PhotoDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            events.PhotoShown,
            events.JudgementMade,
            events.PhotoJudged,
            events.SpeciesOpened,
            events.DescriptionOpened,
            events.DescriptionClosed,
            events.PerformanceComputed,
            PartEnded,
        )
    )

    def __init__(self, parts: Mapping[str, JudgedPart]) -> None:
        super().__init__(parts)
        self.performances: dict[str, events.PerformanceComputed] = {}
        self._descriptions = DescriptionTimes()

    def begin(
        self, part: JudgedPart, key: Key, event: Event, payload: events.PhotoDrawn
    ) -> PhotoRecord:
        if payload.photo not in part.judged:
            raise RecordError(
                f"Event {event.seq} of this session begins the photo {payload.photo!r}, which its "
                "plan does not have.",
                safe="The session is untouched.",
                todo="Check it with `labapp sessions verify`, and leave it out until then.",
            )
        return PhotoRecord(part, key, payload)

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        self._descriptions.take(payload, key_of(event), working_ns)
        if isinstance(payload, events.PerformanceComputed) and event.part_id is not None:
            self.performances[event.part_id] = payload  # the last, where the stage began again
        else:
            super().take(event, payload, working_ns)

    def end(self, working_ns: int) -> None:
        for key, spent_ns in self._descriptions.until(working_ns).items():
            if key in self.by_key:
                self.by_key[key].description_ns = spent_ns
        super().end(working_ns)

    def trial_row(self, attempt: PhotoRecord) -> Row:
        return {"duration_s": attempt.since_start(attempt.judged_ns or attempt.last_ns)}

    def stage_row(self, part: JudgedPart, attempts: Sequence[PhotoRecord], ran: Ran) -> Row:
        judged = [photo for photo in attempts if photo.excluded_because is None and photo.judged]
        performance = self.performances.get(part.id)
        told = [rights(photo) for photo in judged]
        main = [row[name] for row in told for name in _MAIN if row[name] is not None]
        output = [row["right_output"] for row in told if row["right_output"] is not None]
        agreed = [photo.answers.get(plan.AGREEMENT) for photo in judged]
        times = [photo.response_s for photo in judged]
        return {
            "n_answered": len(judged),
            "n_correct": sum(main),
            "correctness_rate": mean(main),
            "response_time_s": mean([time for time in times if time is not None]),
            "method": part.method,
            "labels": part.labels,
            "set": part.set,
            "model_accuracy": part.accuracy,
            "output_rate": mean(output),
            "agreement": mean([rating for rating in agreed if rating is not None]),
            "hits": None if performance is None else performance.hits,
            "expected_hits": None if performance is None else performance.expected_hits,
            "n_ties": (
                None if performance is None or performance.hits is None else len(performance.ties)
            ),
        }

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {
            "judgements": map(judgement_row, self.attempts),
            "similarities": chain.from_iterable(map(similarity_rows, self.attempts)),
        }


_MAIN = ("right_distinction", "right_agreement")
"""A task has one of the two."""


@dataclass(slots=True)
class DescriptionTimes:
    """How long the description of the method lay open over each photo on the screen.

    It can stay open from one photo to the next: each photo gets the time that fell to it.

    looked_at_ns: that time by photo, as working time in ns; photos without any are left out.
    """

    looked_at_ns: dict[Key, int] = field(default_factory=dict)
    _open: bool = False
    _photo: Key | None = None
    _before_ns: int = 0

    def take(self, payload: Payload, photo: Key | None, working_ns: int) -> None:
        """Take in an event of a stage or warm-up; photo: the attempt it is of; working_ns: working
        time at it, which stands still at the session's end."""
        self.until(working_ns)
        match payload:
            case events.DescriptionOpened():
                self._open = payload.what == events.METHOD
            case events.DescriptionClosed():
                self._open = False
            case events.PhotoShown():
                self._photo = photo
            case events.PhotoJudged() | TrialEnded():
                self._photo = None
            case PartEnded() | PartRestarted():
                self._open, self._photo = False, None

    def until(self, working_ns: int) -> dict[Key, int]:
        """`looked_at_ns` at a working time."""
        if self._open and self._photo is not None:
            spent = working_ns - self._before_ns
            self.looked_at_ns[self._photo] = self.looked_at_ns.get(self._photo, 0) + spent
        self._before_ns = working_ns
        return self.looked_at_ns
