"""What is recorded of judged photos, and its rows of tables: trials, stages, judgements and
similarities."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from labapp.analysis.answered import mean
from labapp.analysis.column import (
    INCLUDED,
    STALLED,
    WHO,
    Column,
    columns_in,
    of,
    since_start,
    text,
    through,
    whole,
    yes,
)
from labapp.analysis.task_records import (
    Attempt,
    Key,
    Ran,
    TaskRecords,
    TaskTables,
    key_of,
    not_planned,
)
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import PartEnded, PartRestarted
from labapp.record.events.trials import TrialEnded
from labapp.tasks.judging import events, plan

BELIEVED = 3
"""Agreement from here on means: believed correct (paper 003, section 5.3)."""
JudgedPart = plan.JudgingPart | plan.WarmUpPart


@dataclass(slots=True)
class GivenAnswer:
    """One question about a photo. value: the answer that stands, None if it was taken back;
    at_ns: working time of the last answer; given: how often it was answered."""

    value: int | None
    at_ns: int
    given: int = 1


class PhotoRecord(Attempt):
    """One attempt at a photo. answers: question -> answer, of those that stand."""

    part: JudgedPart
    photo: plan.PlannedPhoto | plan.Exercise
    judged_session_ns: int | None = None
    judged_ns: int | None = None
    last_ns: int | None = None
    first_answer_ns: int | None = None
    last_answer_ns: int | None = None
    n_taken_back = 0
    n_species_opened = 0
    description_ns = 0
    final: Mapping[str, int] | None = None

    def __init__(self, part: JudgedPart, key: Key, drawn: events.PhotoDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.photo = part.judged[drawn.photo]
        self.questions: dict[str, GivenAnswer] = {}
        self.opened = {events.METHOD: 0, events.TREE: 0}
        self.devices: list[str] = []

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
                self.n_species_opened += 1
            case events.DescriptionOpened():
                self.opened[payload.what] = self.opened.get(payload.what, 0) + 1
        self.last_ns = working

    def _judgement(self, payload: events.JudgementMade, working: int) -> None:
        known = self.questions.get(payload.question)
        if payload.value is None:
            if known is not None:
                known.value = None
            self.n_taken_back += 1
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
        if (right := self.right_distinction) is not None:  # a task has one of the two
            return right
        return self.right_agreement

    def named(self, among: Sequence[str], number: int) -> str:
        """The class of this number, from 1. Raises RecordError if there is none."""
        if not 1 <= number <= len(among):
            raise RecordError(
                f"In question {self.trial} of {self.part.id!r}, answer {number} was given, but "
                f"there are only {len(among)}.",
                safe="It was only read; nothing was changed.",
                todo="The journal was changed or created by another program, so leave the "
                "session out.",
            )
        return among[number - 1]

    @property
    def _end(self) -> int | None:
        """Which of the four ends of the last two steps was reached, from 0; absent-absent first."""
        answers = self.answers
        first = answers.get(plan.FIRST)
        second = answers.get(plan.AFTER_ABSENT if first == plan.ABSENT else plan.AFTER_PRESENT)
        if first is None or second is None or not self.photo.ends:
            return None
        return 2 * (first - 1) + second - 1

    @property
    def chosen(self) -> str | None:
        """Id of the class believed correct; None if none was chosen, or none can be."""
        answers, photo = self.answers, self.photo
        if plan.DISTINCTION in answers:
            return self.named(photo.options, answers[plan.DISTINCTION])
        end = self._end
        return None if end is None else self.named(photo.ends, end + 1)

    @property
    def believed_correct(self) -> bool | None:
        agreement = self.answers.get(plan.AGREEMENT)
        return None if agreement is None else agreement >= BELIEVED

    @property
    def right_output(self) -> bool | None:
        output = self.answers.get(plan.OUTPUT)
        if output is None:
            return None
        return self.named(self.photo.options, output) == self.photo.prediction

    @property
    def right_distinction(self) -> bool | None:
        if plan.DISTINCTION in self.answers:
            return self.chosen == self.photo.truth
        end = self._end
        return None if end is None else self.photo.ends.index(self.photo.truth) == end

    @property
    def right_agreement(self) -> bool | None:
        believed = self.believed_correct
        # In the warm-up the rating is of confidence beside the verdict, and has no right.
        if believed is None or plan.VERDICT in self.answers:
            return None
        return believed == self.photo.correct

    def against_first_wrong(self, question: str) -> int | None:
        """The first step named as wrong minus the one that is, in steps."""
        answer, wrong = self.answers.get(question), self.photo.wrong_at
        if answer is None:
            return None
        if wrong is None:  # the answer that says so comes after the last step
            wrong = (self.part.steps_of(self.photo.id) or 0) + 1
        return answer - wrong

    def first_wrong_found(self, question: str) -> bool | None:
        """Whether that step was named; None if it was not asked."""
        step = self.against_first_wrong(question)
        return None if step is None else step == 0

    @property
    def first_step_error(self) -> str | None:
        step = self.against_first_wrong(plan.FIRST_STEP)
        if step is None:
            return None
        return "exact" if step == 0 else "too_early" if step < 0 else "too_late"

    @property
    def right_verdict(self) -> bool | None:
        verdict = self.answers.get(plan.VERDICT)
        return None if verdict is None else (verdict == plan.RIGHT) == self.photo.correct

    @property
    def elapsed_s(self) -> float | None:
        if self.judged_session_ns is None or self.started_session_ns is None:
            return None
        return (self.judged_session_ns - self.started_session_ns) / NS

    @property
    def ratings(self) -> dict[int, int]:
        """Ratings of similarity that stand, by the row's number from 1."""
        answers = self.answers
        names = {n: plan.SIMILARITY.format(n) for n in range(1, len(self.photo.rows) + 1)}
        return {n: answers[name] for n, name in names.items() if name in answers}

    def walk_rated_rows(self) -> Iterator[RatedRow]:
        """The rows of prototypes whose similarity was rated."""
        for place, rating in self.ratings.items():
            given = self.questions.get(plan.SIMILARITY.format(place))
            yield RatedRow(self, place, self.photo.rows[place - 1], rating, given)


@dataclass(frozen=True, slots=True)
class RatedRow:
    """A row of prototypes whose similarity was rated. place: from 1, as planned; given: None if
    it was handed in without an event of its own."""

    photo: PhotoRecord
    place: int
    row: plan.PlannedRow
    rating: int
    given: GivenAnswer | None

    @property
    def option(self) -> int | None:
        options = self.photo.photo.options
        return options.index(self.row.of) + 1 if self.row.of in options else None

    @property
    def of_chosen(self) -> bool | None:
        if plan.DISTINCTION in self.photo.answers:
            return self.row.of == self.photo.chosen
        return self.photo.believed_correct


@dataclass(frozen=True, slots=True)
class JudgedStage:
    """The photos of a stage that count and were judged; performance: None if none was
    computed."""

    part: JudgedPart
    photos: Sequence[PhotoRecord]
    performance: events.PerformanceComputed | None

    @property
    def right(self) -> list[bool]:
        """Of each photo with a right answer, whether it was given."""
        return [right for photo in self.photos if (right := photo.correct) is not None]

    @property
    def n_ties(self) -> int | None:
        told = self.performance
        return None if told is None or told.hits is None else len(told.ties)


_WHERE = of(
    PhotoRecord,
    text("stage", "id of the plan's part", "part.id"),
    whole("stage_number", "place of the stage among the stages; of the warm-up 1"),
    text(
        "task",
        "heatmap-distinction, prototype-distinction, prototype-agreement, path-distinction, "
        "path-agreement, path-first-step, or warm-up (exercises with a decision tree)",
    ),
    text("method", "name of the explanation method"),
    yes("labels", "the true class was shown"),
    yes("invented", "the names of the classes are invented, so nobody knew them before"),
    whole("set", "number of the set of photos; empty in the warm-up"),
    whole("trial", "place of the photo in its stage, from 1"),
    whole("attempt", "attempt at the photo, from 1"),
    text("photo", "id of the photo, of the exercise in the warm-up", "photo.id"),
    text("truth", "id of the true class"),
    text("prediction", "id of the class that the model predicts"),
    yes("model_correct", "the model is right", "photo.correct"),
    via=("part", "photo"),
    stage_number="part.number",
    set=lambda row: row.part.set or None,
)
_EXCLUDED = of(
    PhotoRecord,
    yes("excluded", "an attempt that does not count"),
    text("excluded_because", "why it does not count"),
    INCLUDED,
)

ANSWERS_TO = (
    *columns_in("""
        whole output: which class the model predicts: place among the options, from 1
        whole output_confidence [1-5]: 1 not confident at all to 5 completely confident
        whole distinction: which class is correct: place among the options, from 1
        whole distinction_confidence [1-5]: 1 not confident at all to 5 completely confident
        whole agreement [1-4]: opinion about the prediction: 1 fairly, 2 somewhat confident that it
            is incorrect, 3 somewhat, 4 fairly confident that it is correct
        whole step_1: the last step but one of the tree: 1 absent, 2 present
        whole step_2_absent: the last step, reached by absent: 1 absent, 2 present
        whole step_2_present: the last step, reached by present: 1 absent, 2 present
        whole first_step: the first step that the participant disagreed with, from 1; the number of
            steps plus 1: agreed with all
        whole verdict: warm-up: 1 the prediction is incorrect, 2 it is correct
        whole mistake: warm-up: the first mistake: 1 colour, 2 count, 3 shape, 4 none
    """),
)
"""One column per question, named like it; empty if it was not asked, or not answered."""


def _answer_to(column: Column) -> Column:
    return replace(column, get=lambda row: row.answers.get(column.name))


JUDGEMENTS = of(
    PhotoRecord,
    *WHO,
    *_WHERE,
    *columns_in("""
        text picture: the picture of the photo, by its name in the stimulus set
        text options: ids of the classes to choose from, in their order, separated by semicolons;
            for the last two steps of a tree, the classes at their four ends, absent-absent first
        whole first_wrong: the first step after which the true class is out of reach; empty if there
            is none
        whole n_steps: steps of the path that are shown as decided; empty without a path
        text outcome: judged, time_expired, stage_skipped (by the moderator) or interrupted
        yes judged: every question was answered and the answers were submitted
    """),
    *map(_answer_to, ANSWERS_TO),
    *columns_in("""
        text chosen: id of the class believed correct; empty if none was chosen
        yes believed_correct: the agreement is 3 or 4
        yes right_output: the class that the model predicts was found
        yes right_distinction: the correct class was found; for two steps of a tree: both were
            answered like the model
        yes right_agreement: believed correct if and only if the model is right
        yes right_first_step: the first step disagreed with is the first wrong one (or none is)
        text first_step_error: exact, too_early or too_late: the first step disagreed with compared
            with the first wrong one, where agreement with all counts as one step after the last
        yes right_verdict: warm-up: the prediction was judged correctly
        yes right_mistake: warm-up: the first wrong step was found
        seconds duration_s: from the photo's appearance to the submission of the answers, without
            pauses and gaps
        seconds elapsed_s: the same with pauses and gaps
    """),
    since_start("first_answer_s", "from the photo's appearance to the first answer"),
    since_start("last_answer_s", "from the photo's appearance to the last answer"),
    whole("n_rated", "rows whose similarity was rated", get=lambda row: len(row.ratings)),
    *columns_in("""
        whole n_changes: answers after the first of each question
        whole n_taken_back: answers that were taken back because they no longer applied
        whole n_species_opened: times the rows of another class were opened
        whole n_description_opened: times the description of the method was opened
        seconds description_s: how long the description was open over the photo, wherever it was
            opened, without pauses and gaps
        whole n_tree_opened: times the picture of the whole tree was opened
        text answered_with: input devices used for answers, separated by ;
        text facts: what else the stimulus set contains about the photo (JSON)
        seconds started_session_s: session time (pauses included) of the photo's appearance
    """),
    STALLED,
    *_EXCLUDED,
    via=("photo",),
    options=lambda row: ";".join(row.photo.ends or row.photo.options) or None,
    first_wrong="photo.wrong_at",
    n_steps=lambda row: row.part.steps_of(row.photo.id),
    outcome="ended_by",
    right_first_step=lambda row: row.first_wrong_found(plan.FIRST_STEP),
    right_mistake=lambda row: row.first_wrong_found(plan.MISTAKE),
    duration_s="response_s",
    n_changes=lambda row: sum(question.given - 1 for question in row.questions.values()),
    n_description_opened=lambda row: row.opened[events.METHOD],
    description_s=lambda row: row.description_ns / NS,
    n_tree_opened=lambda row: row.opened[events.TREE],
    answered_with=lambda row: ";".join(row.devices) or None,
    facts=lambda row: json.dumps(dict(row.photo.facts)) if row.photo.facts else None,
)

SIMILARITIES = of(
    RatedRow,
    *WHO,
    *through("photo", *_WHERE),
    whole("row", "place of the row among all rows of the photo as planned, from 1", get="place"),
    *columns_in("""
        whole option: place of the row's class among the options, from 1; empty without options
        text of: id of the class of the prototype; empty for a tree's
        text prototype: id of the prototype
        number similarity: similarity of region and prototype as the model has it
        whole rank: the same as a rank among the rows of the class, 1 the most similar
        yes present: decision of a tree at this step: the prototype is present
        whole rating: rated by the participant: 1 not, 2 somewhat not, 3 somewhat similar, 4 similar
        seconds answered_s: from the photo's appearance to the rating that counts
        whole changes: ratings after the first
        yes of_chosen: distinction: the row is of the class that was chosen; agreement: the
            prediction was believed correct (3 or 4)
    """),
    *through("photo", *_EXCLUDED),
    via=("row",),
    answered_s=lambda row: row.given and row.photo.since_start(row.given.at_ns),
    changes=lambda row: row.given and row.given.given - 1,
)

JUDGING_STAGES = of(
    JudgedStage,
    *columns_in("""
        text method: name of the explanation method; empty in other tasks, as are the rest of these
        yes labels: the true class was told
        whole set: number of the set of photos
        number model_accuracy [%]: accuracy of the explained model, as shown to the participant
        number output_rate [0-1]: share of photos on which the predicted class was found
        number agreement [1-4]: mean agreement
        whole hits: photos assigned correctly, if the half with the highest ratings is taken as
            believed correct and ties are decided by lot: the number shown to the participant
        number expected_hits: expected number of hits; mean over all ways to break the ties
        whole n_ties: photos decided by lot
    """),
    via=("part", "performance"),
    model_accuracy="part.accuracy",
    output_rate=lambda stage: mean(photo.right_output for photo in stage.photos),
    agreement=lambda stage: mean(photo.answers.get(plan.AGREEMENT) for photo in stage.photos),
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
    row_is={
        "judgements": "an attempt at judging a photo",
        "similarities": "a row of prototypes that was rated",
    },
    rows={
        "judgements": lambda records: records.attempts,
        "similarities": lambda records: (
            row for photo in records.attempts for row in photo.walk_rated_rows()
        ),
    },
    added={"stages": {"skips_taken_back": JUDGING_STAGES}},
    shared={
        "trials": {"duration_s": lambda photo: photo.since_start(photo.judged_ns or photo.last_ns)},
        "stages": {
            "n_answered": lambda stage: len(stage.photos),
            "n_correct": lambda stage: sum(stage.right),
            "correctness_rate": lambda stage: mean(stage.right),
            "response_time_s": lambda stage: mean(photo.response_s for photo in stage.photos),
        },
    },
)


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

    achieved = "judged"

    def __init__(self, parts: Mapping[str, JudgedPart]) -> None:
        super().__init__(parts)
        self.performances: dict[str, events.PerformanceComputed] = {}
        self._descriptions = DescriptionTimes()

    def begin(
        self, part: JudgedPart, key: Key, event: Event, payload: events.PhotoDrawn
    ) -> PhotoRecord:
        if payload.photo not in part.judged:
            raise not_planned(event, f"begins the photo {payload.photo!r}")
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

    def stage(self, part: JudgedPart, attempts: Sequence[PhotoRecord], ran: Ran) -> JudgedStage:
        judged = [photo for photo in attempts if photo.judged and not photo.excluded]
        return JudgedStage(part, judged, self.performances.get(part.id))


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
