"""The tasks that judge explanations, in a plan: their parts, and the questions about a photo.

Source: paper 003, section 3 and appendix D (the questions), and its released pages (the values that
answers are stored as). A question is named by its id, an answer is a whole number; options count
from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from labapp.base.documents import Strict
from labapp.models.stimuli.manifest import ColourMap, Kind, Scale
from labapp.study.plugins.part import PlannedPart, StimuliRef, TrialsPart

JudgingTask = Literal[
    "heatmap-distinction",
    "prototype-distinction",
    "prototype-agreement",
    "path-distinction",
    "path-agreement",
    "path-first-step",
]
TASKS: tuple[JudgingTask, ...] = get_args(JudgingTask)
WARM_UP = "warm-up"
"""The task of a warm-up in the tables, and what they have for its model."""

Rows = Literal["sorted", "shuffled"]

KIND_OF: dict[JudgingTask, Kind] = {
    "heatmap-distinction": "heatmaps",
    "prototype-distinction": "prototypes",
    "prototype-agreement": "prototypes",
    "path-distinction": "path",
    "path-agreement": "path",
    "path-first-step": "path",
}
"""The kind of stimulus set that a task needs."""

# Ids of questions.
OUTPUT, OUTPUT_CONFIDENCE = "output", "output_confidence"
DISTINCTION, DISTINCTION_CONFIDENCE = "distinction", "distinction_confidence"
AGREEMENT = "agreement"
FIRST, AFTER_ABSENT, AFTER_PRESENT = "step_1", "step_2_absent", "step_2_present"
FIRST_STEP = "first_step"
VERDICT, MISTAKE = "verdict", "mistake"
ABSENT, PRESENT = 1, 2
WRONG, RIGHT = 1, 2
SIMILARITY = "similarity_{}"
"""Of a row, counted from 1 as the plan has them."""


class PlannedRow(Strict):
    """A row of the plan; see `labapp.models.stimuli.manifest.Row`. of: class of the prototype;
    photo, box and crop: the prototype's. rank: from 1 among the rows of its class, as the model has
    them."""

    prototype: str
    of: str | None
    photo: str
    box: tuple[float, float, float, float] | None
    crop: str | None
    region: tuple[float, float, float, float] | None
    region_crop: str | None
    similarity: float | None
    rank: int | None
    present: bool | None = None

    def pictures(self) -> Iterator[str]:
        """The pictures it shows besides the photo that is judged."""
        yield self.photo
        yield from (ref for ref in (self.crop, self.region_crop) if ref is not None)


class PlannedFinal(Strict):
    """The last two steps of a path; see `labapp.models.stimuli.manifest.FinalSteps`."""

    first: PlannedRow
    absent: PlannedRow
    present: PlannedRow
    classes: tuple[str, str, str, str]


class PlannedPhoto(Strict):
    """A photo as this participant meets it, rows in the order they are shown."""

    id: str
    photo: str
    truth: str
    prediction: str
    options: tuple[str, ...] = ()
    heatmaps: tuple[str, ...] = ()
    rows: tuple[PlannedRow, ...] = ()
    final: PlannedFinal | None = None
    first_wrong: int | None = None
    strengths: tuple[float, ...] = ()
    facts: dict[str, float] = Field(default_factory=dict)

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.truth == self.prediction

    @property
    def picture(self) -> str:
        return self.photo

    @property
    def ends(self) -> tuple[str, ...]:
        """Classes of the four ends of the last two steps of a tree, absent-absent first."""
        return () if self.final is None else self.final.classes

    @property
    def wrong_at(self) -> int | None:
        """The first wrong step, from 1; None if none is."""
        return self.first_wrong

    def pictures(self) -> Iterator[str]:
        """The pictures that are shown with it, itself first."""
        yield self.photo
        yield from self.heatmaps
        final = self.final
        for row in (*self.rows, *((final.first, final.absent, final.present) if final else ())):
            yield from row.pictures()

    def rows_of(self, option: int) -> tuple[int, ...]:
        """Numbers (from 1) of the rows of an option (from 1)."""
        of = self.options[option - 1]
        return tuple(n for n, row in enumerate(self.rows, start=1) if row.of == of)


class ExplainedModel(Strict):
    """What the parts of one stimulus set share. names: class id -> what it is called on the screen;
    marks: class id -> the line it can be told by, shown in a labels version; accuracy: in
    percent; colour_map: of the heatmaps, empty if they are coloured already; scale: see
    `labapp.models.stimuli.manifest.Manifest`; invented: the names are made up."""

    stimuli: str
    manifest_sha256: str
    kind: Kind
    method: str
    classifier: str | None
    classifier_sha256: str | None
    accuracy: float
    classes_are: Literal["objects", "species"]
    invented: bool
    names: dict[str, str]
    marks: dict[str, str]
    scale: Scale | None
    colour_map: ColourMap | Literal[""]
    tree: str | None

    @property
    def reference(self) -> StimuliRef:
        return StimuliRef(self.manifest_sha256, self.stimuli)

    def classifiers(self) -> Iterator[tuple[str, str | None]]:
        """The explained classifier, where the set names one, with the hash of its weights."""
        if self.classifier:
            yield self.classifier, self.classifier_sha256

    def pictures(self, photos: Iterable[PlannedPhoto | None]) -> Iterator[str]:
        """The pictures that these photos are shown with, and the tree."""
        for photo in photos:
            if photo is not None:
                yield from photo.pictures()
        if self.tree is not None:
            yield self.tree


WORKED = frozenset({"correct", "incorrect", "preview", "tree"})
"""What the text on a method may name like pictures."""


class MethodPart(PlannedPart):
    """The introduction to a method: a text, whose pages may show the worked examples and the whole
    tree. A page with `![](correct)`, `![](incorrect)`, `![](preview)` or `![](tree)` in it shows
    that below its text. values: what stands in the text in braces."""

    text_pictures: ClassVar[frozenset[str]] = WORKED

    part: Literal["method"] = "method"
    document: str
    task: JudgingTask
    explained: ExplainedModel
    labels: bool
    correct: PlannedPhoto | None
    incorrect: PlannedPhoto | None
    values: dict[str, str]

    def classifiers(self) -> Iterator[tuple[str, str | None]]:
        return self.explained.classifiers()

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield self.explained.reference

    def stored_pictures(self) -> Iterator[str]:
        return self.explained.pictures((self.correct, self.incorrect))


class JudgingPart(TrialsPart):
    """A stage: photos of one set that are judged one after another.

    labels: the true class is told. rows: their order where a prediction is judged. description:
    the text that can be opened at any time.
    """

    text_pictures: ClassVar[frozenset[str]] = WORKED

    part: Literal["judging"] = "judging"
    role: Literal["stage"] = "stage"
    number: int
    of: int
    task: JudgingTask
    explained: ExplainedModel
    set: int
    labels: bool
    rows: Rows = "sorted"
    photos: tuple[PlannedPhoto, ...]
    description: str
    values: dict[str, str]
    time_limit_s: float | None
    think_aloud: bool

    @property
    def trials(self) -> int:
        return len(self.photos) if self.adaptive is None else self.adaptive.most

    @property
    def model(self) -> str:
        """Id of the classifier, else of the stimulus set."""
        return self.explained.classifier or self.explained.stimuli

    @property
    def method(self) -> str:
        return self.explained.method

    @property
    def invented(self) -> bool:
        return self.explained.invented

    @property
    def accuracy(self) -> float:
        """In percent, as the participant was told."""
        return self.explained.accuracy

    @cached_property
    def judged(self) -> Mapping[str, PlannedPhoto]:
        return {photo.id: photo for photo in self.photos}

    def steps_of(self, photo: str) -> int | None:
        """How many steps of a path were shown as decided; None if there is no path."""
        return len(self.judged[photo].rows) if self.explained.kind == "path" else None

    def documents(self) -> Iterator[str]:
        yield self.description

    def classifiers(self) -> Iterator[tuple[str, str | None]]:
        return self.explained.classifiers()

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield self.explained.reference

    def stored_pictures(self) -> Iterator[str]:
        return self.explained.pictures(self.photos)


class Exercise(Strict):
    """An exercise of the warm-up with the fruit decision tree: `picture` names the drawing, steps
    the model's answers on the way, each `attribute_answer`; prediction and truth are fruits;
    first_wrong: the first wrong step from 1, none if the model is right. attributes: among which
    the first mistake is asked for; empty for those of the steps. In the tables an exercise is a
    photo without rows."""

    options: ClassVar[tuple[str, ...]] = ()
    rows: ClassVar[tuple[PlannedRow, ...]] = ()
    ends: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[Mapping[str, float]] = {}

    id: str
    picture: str
    steps: tuple[str, ...]
    prediction: str
    truth: str
    first_wrong: int | None
    attributes: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes to choose the first mistake from."""
        return self.attributes or tuple(attribute_of(step) for step in self.steps)

    @property
    def mistake(self) -> int:
        """The first wrong one of them, from 1; one more than there are where none is."""
        if self.first_wrong is None:
            return len(self.asked) + 1
        return self.asked.index(attribute_of(self.steps[self.first_wrong - 1])) + 1

    @property
    def wrong_at(self) -> int | None:
        """`mistake`; None if the model is right."""
        return None if self.first_wrong is None else self.mistake

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.truth == self.prediction

    @model_validator(mode="after")
    def _name_its_mistake(self) -> Self:
        try:
            _ = self.mistake
        except (IndexError, ValueError) as error:
            raise ValueError(
                "its first wrong step is not among those that are asked about"
            ) from error
        return self


def attribute_of(step: str) -> str:
    """What a step asks about: `colour` of `colour_green`."""
    return step.partition("_")[0]


class WarmUpPart(TrialsPart):
    """Exercises with a decision tree before the ProtoTree studies: each is answered, handed in and
    explained. The first is worked already (its answers are shown)."""

    part: Literal["warm_up"] = "warm_up"
    role: Literal["practice"] = "practice"
    document: str
    worked: Exercise
    exercises: tuple[Exercise, ...]

    number: ClassVar[int] = 1
    task: ClassVar[str] = WARM_UP
    model: ClassVar[str] = WARM_UP
    method: ClassVar[str] = "decision tree"
    labels: ClassVar[bool] = False
    invented: ClassVar[bool] = False
    accuracy: ClassVar[None] = None
    set: ClassVar[int] = 0
    time_limit_s: ClassVar[None] = None
    think_aloud: ClassVar[bool] = False

    @property
    def trials(self) -> int:
        return len(self.exercises)

    @cached_property
    def judged(self) -> Mapping[str, Exercise]:
        return {exercise.id: exercise for exercise in self.exercises}

    def steps_of(self, exercise: str) -> int:
        """How many attributes there are to choose the first mistake from."""
        return len(self.judged[exercise].asked)


@dataclass(frozen=True, slots=True)
class PhotoQuestion:
    """A question about a photo. first, last: its answers; right: the right one, where there is
    one. row: the row a similarity is about, from 1."""

    id: str
    first: int
    last: int
    right: int | None = None
    row: int | None = None


def questions(task: JudgingTask, photo: PlannedPhoto) -> tuple[PhotoQuestion, ...]:
    """The questions about a photo in the order they are asked, whether or not they apply."""
    similar = tuple(
        PhotoQuestion(SIMILARITY.format(row), 1, 4, row=row)
        for row in range(1, len(photo.rows) + 1)
    )
    of = {name: place for place, name in enumerate(photo.options, start=1)}
    agreement = PhotoQuestion(AGREEMENT, 1, 4)
    match task:
        case "heatmap-distinction":
            last = len(photo.options)
            return (
                PhotoQuestion(OUTPUT, 1, last, of.get(photo.prediction)),
                PhotoQuestion(OUTPUT_CONFIDENCE, 1, 5),
                PhotoQuestion(DISTINCTION, 1, last, of.get(photo.truth)),
                PhotoQuestion(DISTINCTION_CONFIDENCE, 1, 5),
            )
        case "prototype-distinction":
            return (
                *similar,
                PhotoQuestion(DISTINCTION, 1, len(photo.options), of.get(photo.truth)),
                PhotoQuestion(DISTINCTION_CONFIDENCE, 1, 5),
            )
        case "prototype-agreement" | "path-agreement":
            return (*similar, agreement)
        case "path-first-step":
            return (PhotoQuestion(FIRST_STEP, 1, len(photo.rows) + 1), agreement)
        case "path-distinction":
            assert photo.final is not None
            first, second = divmod(photo.final.classes.index(photo.truth), 2)
            after = {AFTER_ABSENT: ABSENT, AFTER_PRESENT: PRESENT}
            return (
                PhotoQuestion(FIRST, ABSENT, PRESENT, first + 1),
                *(
                    PhotoQuestion(
                        name, ABSENT, PRESENT, second + 1 if first + 1 == answer else None
                    )
                    for name, answer in after.items()
                ),
                PhotoQuestion(DISTINCTION_CONFIDENCE, 1, 5),
            )


def exercise_questions(exercise: Exercise) -> tuple[PhotoQuestion, ...]:
    """The questions of an exercise: is the prediction wrong or right, how sure, what is the
    first mistake about (the last answer says: none)."""
    return (
        PhotoQuestion(VERDICT, WRONG, RIGHT, RIGHT if exercise.first_wrong is None else WRONG),
        PhotoQuestion(AGREEMENT, 1, 4),
        PhotoQuestion(MISTAKE, 1, len(exercise.asked) + 1, exercise.mistake),
    )


def applies(question: PhotoQuestion, answers: Mapping[str, int]) -> bool:
    """Whether a question is to be answered, given the answers so far."""
    needed = {AFTER_ABSENT: ABSENT, AFTER_PRESENT: PRESENT}.get(question.id)
    return needed is None or answers.get(FIRST) == needed


def options_of(task: JudgingTask, photos: Iterable[PlannedPhoto]) -> int:
    """How many classes there are to choose from: where the last two steps of a path are chosen,
    those at its four ends, whatever classes the set lists."""
    if task == "path-distinction":
        return 4
    return max((len(photo.options) for photo in photos), default=0) or 4


def find_chosen_class(photo: PlannedPhoto, answers: Mapping[str, int]) -> str | None:
    """The class that the participant believes correct; None if no answer says one."""
    if DISTINCTION in answers:
        return photo.options[answers[DISTINCTION] - 1]
    first = answers.get(FIRST)
    second = answers.get(AFTER_ABSENT if first == ABSENT else AFTER_PRESENT)
    if photo.final is None or first is None or second is None:
        return None
    return photo.final.classes[2 * (first - 1) + second - 1]
