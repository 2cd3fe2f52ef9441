"""The parts of a plan that repair concepts, from a stimulus set and a study: which pictures are
drawn, which of them are foretold, and what practice is made of.

No picture is seen twice, over all stages and their practice, of all sessions of the study's design.
Sets of several models share pictures, and one picture can be of another type for another model. So
the pictures of all stages are drawn together: as an assignment of pictures to the places that want
them, whose costs are drawn (`scipy.optimize.linear_sum_assignment`). It fills every place if that
can be done at all, and where sets share nothing each choice is as probable as any other.

A stage may also take its pictures, each with the change that is forecast, from a file of the study
that was drawn before anybody took part (`DrawnChanges`).

What a study file may say of concept repair. The examples before the practice: of every concept a
picture with it and one without, which are shown nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from labapp.base.documents import Strict
from labapp.base.errors import LabappError, StimuliError
from labapp.models.stimuli import check, interventions, score_files
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON, Answers
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Concept, ItemType, Photo
from labapp.study import conditions
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.plugins.part import PlannedPart, StimuliRef
from labapp.study.stages import StimulusStages
from labapp.study.stimulus_stages import (
    IncompatibleStimuliError,
    check_kind,
    fitting,
    photos_of,
    set_of,
)
from labapp.tasks.concept_repair.plan import (
    PERFECT,
    TASK,
    ConceptGridPart,
    ConceptRepairPart,
    Instruction,
    PlannedChange,
    PlannedClass,
    PlannedItem,
    Repaired,
    Sample,
    after_change,
    encode_answers,
    rules_of,
)


class Items(Strict):
    """How many pictures of the set are drawn for a participant, by what corrections do to them; see
    `item` and `natural` of a stimulus set of interventions.

    Attributes
    ----------
    repair : pictures that become right when the wrong concepts are corrected.
    control : pictures in which everything is already right.
    trap : pictures that stay or become wrong when every concept is corrected.
    unrepairable : pictures in which all concepts are right but the answer is wrong.
    natural : pictures drawn regardless of the model's answer.
    """

    repair: int = Field(default=6, ge=0, le=200)
    control: int = Field(default=6, ge=0, le=200)
    trap: int = Field(default=0, ge=0, le=200)
    unrepairable: int = Field(default=0, ge=0, le=200)
    natural: int = Field(default=0, ge=0, le=200)

    @model_validator(mode="after")
    def _some(self) -> Items:
        if not sum(self.model_dump().values()):
            raise ValueError("no pictures at all; at least one number must be above 0")
        return self


class DrawnChanges(Strict):
    """Pictures and changes that were drawn before anybody took part: a file of the study, a table
    of comma-separated values with the columns `stimuli`, `phase` and `changes`; the changes of a
    row have spaces between them, each the id of a picture, of a concept, and on or off, with :
    between.

    Attributes
    ----------
    file : the name of the file, with variables of the study in it where participants have lists of
        their own, such as `changes/my-study/{list}.csv`.
    phase : which rows of the file belong to the stage, such as exposure or test.
    """

    file: str = Field(min_length=1, max_length=300)
    phase: str = Field(min_length=1, max_length=100)


class Practice(Strict):
    """Pictures before the stage, of a model whose switches change nothing but what they say.

    Attributes
    ----------
    text : the text before them.
    items : how many.
    """

    text: str
    items: int = Field(default=5, ge=1, le=50)


class ConceptRepairStages(StimulusStages):
    """Concept repair (after paper 001, section 4.1): a model says what it sees of a picture,
    concept by concept, and what it takes the picture for; the participant sets concepts and
    watches.

    Attributes
    ----------
    instruction : `repair`: correct what the model sees wrongly; `audit`: confirm or correct every
        concept; `foresight`: each picture comes with one given change, and the participant
        forecasts what the model then says.
    foresee : for how many of the pictures each change is forecast before its result is shown.
    items : the number of pictures of each type; leave it out if `changes` lists the pictures.
    changes : for `foresight`: the pictures and changes, if they were drawn in advance. Without it,
        both are drawn for each participant, and every second change alters the answer.
    answers : whether the model's answer is shown after it was forecast (`shown`), or not at all
        (`withheld`), so that participants learn nothing from it.
    practice : practice pictures before the stage (default: none).
    examples : whether each concept is shown before the practice or the stage, in two pictures of
        the set, one with it and one without. These do not appear again in the session.
    grid : whether the participant marks, after the stage, which concepts also change others.
    time_limit_s : seconds after which a picture is left; null for no limit.
    class_names : names as in the set, or assigned to the classes at random for each participant
        and stage (`drawn`), for sets with invented names.
    """

    task: Literal["concept-repair"]
    instruction: Instruction = "repair"
    foresee: Literal["none", "half", "all"] = "none"
    items: Items = Items()
    changes: DrawnChanges | None = None
    answers: Literal["shown", "withheld"] = "shown"
    practice: Practice | None = None
    examples: bool = False
    grid: bool = True
    time_limit_s: float | None = Field(default=60, gt=0, le=3600)
    class_names: Literal["as_listed", "drawn"] = "as_listed"

    @property
    def plannable(self) -> bool:
        return True

    def texts(self) -> tuple[str, ...]:
        practice = () if self.practice is None else (self.practice.text,)
        changes = () if self.changes is None else (self.changes.file,)
        return (*practice, *changes, self.intro)

    @model_validator(mode="after")
    def _check_foresight(self) -> ConceptRepairStages:
        if self.instruction == "foresight" and self.foresee != "all":
            raise ValueError(
                "with instruction: foresight, every change is forecast; use foresee: all"
            )
        if self.instruction != "foresight" and (self.changes or self.answers == "withheld"):
            raise ValueError("`changes`, and answers: withheld, with instruction: foresight alone")
        if self.changes is not None and "items" in self.model_fields_set:
            raise ValueError("either `items` or `changes`")
        return self


FORETOLD = {"none": 0, "half": 1, "all": 2}
"""Of how many of every two pictures changes are foretold."""
BELIEFS = 0.8, 0.97
"""Between which the practised model's belief lies in what it takes for true."""


@dataclass(frozen=True)
class RepairStage:
    """A stimulus set as one stage repairs it, for one participant; the pictures in their order."""

    stages: ConceptRepairStages
    repaired: Repaired
    items: tuple[PlannedItem, ...]
    practice: tuple[PlannedItem, ...]

    def part(self, number: int, of: int) -> ConceptRepairPart:
        """The stage; number, of: its number, among how many."""
        return self._part(f"stage-{number}", f"Stage {number}", "stage", number, of)

    def practice_part(self, part_id: str, number: int, of: int) -> ConceptRepairPart:
        return self._part(part_id, "Practice", "practice", number, of)

    def _part(
        self, part_id: str, title: str, role: Literal["stage", "practice"], number: int, of: int
    ) -> ConceptRepairPart:
        stage = role == "stage"
        perfect = self.repaired.model_copy(
            update={
                "model": PERFECT,
                "model_sha256": None,
                "scores": {},
                "purity": (),
                "oracle": (),
            }
        )
        return ConceptRepairPart(
            id=part_id,
            title=title,
            role=role,
            number=number,
            of=of,
            repaired=self.repaired if stage else perfect,
            instruction=self.stages.instruction,
            items=self.items if stage else self.practice,
            item_limit_s=self.stages.time_limit_s,
            think_aloud=self.stages.think_aloud,
        )

    def grid(self, number: int, of: int) -> ConceptGridPart:
        return ConceptGridPart(
            id=f"stage-{number}-grid",
            title=f"Stage {number}, grid",
            number=number,
            of=of,
            repaired=self.repaired,
            about=f"stage-{number}",
            think_aloud=self.stages.think_aloud,
        )

    def values(self) -> dict[str, str]:
        """What texts around the stage may say in braces."""
        limit = self.stages.time_limit_s
        concepts = self.repaired.concepts
        return {
            "pictures": str(len(self.items)),
            "concepts": ", ".join(concept.name for concept in concepts),
            "concept_count": str(len(concepts)),
            "class_count": str(len(self.repaired.classes)),
            "seconds": "" if limit is None else f"{limit:g}",
            "practice_pictures": str(len(self.practice)) if self.practice else "",
        }


def repairing_at(place: int, planner: Planner) -> RepairStage:
    """What is repaired at a place of the flow, worked out once."""
    key = (TASK, place)
    if key not in planner.memory:
        item, scope = planner.flow[place]
        stages = item.task_stages()
        assert isinstance(stages, ConceptRepairStages)
        with fitting(stages, planner):
            stimuli, number = set_of(stages, scope, planner)
            draws = _Draws(stages, planner, place)
            planner.memory[key] = draws.repairing(stimuli, number)
    repairing: RepairStage = planner.memory[key]
    return repairing


@dataclass(frozen=True)
class _Draws:
    stages: ConceptRepairStages
    planner: Planner
    place: int

    def _purpose(self, what: str) -> tuple[str, ...]:
        planner = self.planner
        return planner.study.id, planner.participant, f"{TASK} {self.place}", what

    def _shuffle(self, items: Sequence[PlannedItem], what: str) -> tuple[PlannedItem, ...]:
        return conditions.shuffled(items, self.planner.seed, *self._purpose(what))

    def repairing(self, stimuli: StimulusSet, number: int) -> RepairStage:
        """Raises IncompatibleStimuliError for what does not fit together."""
        check_kind(stimuli, TASK, "interventions")
        if self.stages.grid and len(stimuli.manifest.concepts) < 2:
            raise IncompatibleStimuliError(
                "grid",
                f"the stimulus set {stimuli.manifest.id} has only one concept, but the grid asks "
                "which concept also changes another",
                "Write grid: false.",
            )
        answers = _answers(stimuli)
        single = answers.shape[1] != interventions.counts(len(stimuli.manifest.concepts))[0]
        if single and self.stages.instruction != "foresight":
            raise IncompatibleStimuliError(
                "instruction",
                f"the stimulus set {stimuli.manifest.id} has only the answers to single changes",
                "Write instruction: foresight, or name a set with the answers in every state.",
            )
        repaired = self._make_repaired(stimuli, number)
        drawn = pictures_at(self.place, self.planner)
        practice = self._practice(drawn[PRACTICE], repaired) if self.stages.practice else ()
        if self.stages.changes is not None:
            listed = self._listed(self.stages.changes, stimuli, answers)
            return RepairStage(self.stages, repaired, self._shuffle(listed, "order"), practice)
        chosen = [
            _item(
                photo,
                answers[stimuli.manifest.photos.index(photo)],
                "natural" if kind == NATURAL else "matched",
            )
            for kind, photos in drawn.items()
            if kind != PRACTICE
            for photo in photos
        ]
        items = self._shuffle(self._foreseen(chosen, repaired), "order")
        return RepairStage(self.stages, repaired, items, practice)

    def _listed(
        self, changes: DrawnChanges, stimuli: StimulusSet, answers: Answers
    ) -> list[PlannedItem]:
        """The pictures with the changes that the study's file has for this participant."""
        manifest = stimuli.manifest
        places = {photo.id: place for place, photo in enumerate(manifest.photos)}
        concepts = [concept.id for concept in manifest.concepts]
        _, scope = self.planner.flow[self.place]
        examples = find_reserved_pictures(self.planner)
        out = []
        for listed in listed_changes(changes, manifest.id, scope, self.planner):
            if listed.picture not in places or listed.concept not in concepts:
                raise IncompatibleStimuliError(
                    "changes",
                    f"{changes.file} contains the picture {listed.picture!r} and the concept "
                    f"{listed.concept!r}, but the stimulus set {manifest.id} does not have both",
                    "Draw the file again for this set.",
                )
            place = places[listed.picture]
            given = PlannedChange(concept=concepts.index(listed.concept), to=listed.to)
            shown = stimuli.identity_of(manifest.photos[place].photo)
            if find_listed_pictures(self.planner)[shown] > 1 or shown in examples:
                raise IncompatibleStimuliError(
                    "changes",
                    f"{changes.file} shows the picture {listed.picture!r} of the stimulus set "
                    f"{manifest.id} to {self.planner.participant} more than once, or as an example",
                    "Draw the file again, so that nobody sees a picture twice.",
                )
            item = _item(manifest.photos[place], answers[place], "matched")
            out.append(self._given(item, given))
        return out

    def _given(self, item: PlannedItem, given: PlannedChange) -> PlannedItem:
        withheld = self.stages.answers == "withheld" and item.sample != "practice"
        return item.model_copy(update={"foresee": True, "given": given, "withheld": withheld})

    def _foreseen(self, items: Sequence[PlannedItem], repaired: Repaired) -> Sequence[PlannedItem]:
        """The pictures with those marked whose changes are foretold: of half of them half of each
        kind, as far as that goes, because they stand in groups here."""
        stages = self.stages
        if stages.instruction == "foresight":
            return self._assign_changes(items, repaired, "given")
        mixed = [
            item
            for kind in dict.fromkeys((item.sample, item.item) for item in items)
            for item in self._shuffle(
                [each for each in items if (each.sample, each.item) == kind], f"foresee {kind}"
            )
        ]
        coin = int(conditions.generator(self.planner.seed, *self._purpose("coin")).integers(2))
        return [
            item.model_copy(update={"foresee": (place + coin) % 2 < FORETOLD[stages.foresee]})
            for place, item in enumerate(mixed)
        ]

    def _assign_changes(
        self, items: Sequence[PlannedItem], repaired: Repaired, what: str
    ) -> tuple[PlannedItem, ...]:
        """The pictures with a change each: every second one changes the answer, where any does."""
        rng = conditions.generator(self.planner.seed, *self._purpose(what))
        out = []
        for place, item in enumerate(self._shuffle(items, f"{what} order")):
            before = int(item.table[0].argmax())
            every = [
                PlannedChange(concept=concept, to=to)
                for concept in range(len(repaired.concepts))
                for to in (OFF, ON)
            ]
            wanted = [
                change for change in every if (_after(item, change) != before) == (place % 2 == 0)
            ]
            among = wanted or every
            out.append(self._given(item, among[int(rng.integers(len(among)))]))
        return tuple(out)

    def _practice(self, chosen: Sequence[Photo], repaired: Repaired) -> tuple[PlannedItem, ...]:
        """Pictures of a model without leaks that has one concept wrong in two of three. Where half
        of the stage is foretold, every second one is here: both ways are met before it."""
        if not all(class_.concepts for class_ in repaired.classes):
            raise IncompatibleStimuliError(
                "practice",
                "perfect switches need classes that state which concepts define them, but "
                f"those of the stimulus set {repaired.stimuli} do not",
                "Leave practice out, or add `concepts` to the classes of the set.",
            )
        rules = rules_of(repaired.concepts, tuple(known.concepts for known in repaired.classes))
        both = interventions.first_overlap(rules)
        if both is not None:
            first, second = (repaired.classes[place].id for place in both)
            raise IncompatibleStimuliError(
                "practice",
                "perfect switches need classes that the concepts distinguish, but in the "
                f"stimulus set {repaired.stimuli} the same state of the concepts defines "
                f"{first} and {second}",
                "Leave practice out, or distinguish these classes in the `concepts` of the "
                "set, by a concept that is on in one of them and off in the other.",
            )
        rng = conditions.generator(self.planner.seed, *self._purpose("beliefs"))
        out = []
        for place, photo in enumerate(chosen):
            sure = rng.uniform(*BELIEFS, len(photo.concepts)).round(2)
            order = [int(n) for n in rng.permutation(len(photo.concepts))]
            truth = [class_.id for class_ in repaired.classes].index(photo.truth)
            right = [
                float(p if there else round(1 - p, 2))
                for p, there in zip(sure, photo.concepts, strict=True)
            ]
            beliefs, table = right, interventions.without_leaks(rules, right)
            for wrong in order if place % 3 < 2 else ():
                turned = [*right[:wrong], round(1 - right[wrong], 2), *right[wrong + 1 :]]
                tried = interventions.without_leaks(rules, turned)
                if int(tried[0].argmax()) != truth:
                    beliefs, table = turned, tried
                    break
            practised = photo.model_copy(update={"beliefs": tuple(beliefs)})
            item = _item(practised, table, "practice")
            foresee = (place + 1) % 2 < FORETOLD[self.stages.foresee]
            out.append(item.model_copy(update={"foresee": foresee}))
        if self.stages.instruction == "foresight":
            return self._assign_changes(out, repaired, "practised")
        return tuple(out)

    def _draw_names(self, names: Sequence[str]) -> list[str]:
        """The names in a participant's own order, one further on with each stage, so that no class
        keeps its name from one stage to the next; stages of drawn changes with one model, such as
        its exposure and its test, have the same."""
        study, participant = self.planner.study.id, self.planner.participant
        drawn = conditions.shuffled(names, self.planner.seed, study, participant, TASK, "names")
        sets_at: dict[int, int | str] = {}
        for place, item, scope in self.planner.in_all_sessions(ConceptRepairStages):
            stages = item.task_stages()
            if isinstance(stages, ConceptRepairStages):
                listed = stages.changes is not None
                sets_at[place] = conditions.fill(stages.stimuli, scope) if listed else place
        sets = list(dict.fromkeys(sets_at.values()))
        by = sets.index(sets_at[self.place]) % len(drawn)
        return [*drawn[by:], *drawn[:by]]

    def _make_repaired(self, stimuli: StimulusSet, number: int) -> Repaired:
        manifest, model = stimuli.manifest, stimuli.manifest.concept_model
        assert model is not None  # `check_kind` refuses a set without
        language = self.planner.study.language
        classes = [class_.in_language(language) for class_ in manifest.classes]
        names = [class_.name for class_ in classes]
        if self.stages.class_names == "drawn":
            if not manifest.invented:
                raise IncompatibleStimuliError(
                    "class_names",
                    f"the names of the stimulus set {manifest.id} are not invented, so they "
                    "would be wrong for other classes",
                    "Write class_names: as_listed.",
                )
            names = self._draw_names(names)
        return Repaired(
            stimuli=manifest.id,
            manifest_sha256=stimuli.sha256,
            set=number,
            model=model.model,
            model_sha256=model.sha256,
            learner=model.learner,
            task_accuracy=model.task_accuracy,
            concept_accuracy=model.concept_accuracy,
            scores=model.scores,
            purity=model.purity,
            oracle=model.oracle,
            concepts=tuple(concept.in_language(language) for concept in manifest.concepts),
            classes=tuple(
                PlannedClass(id=class_.id, name=name, marks=class_.marks, concepts=class_.concepts)
                for class_, name in zip(classes, names, strict=True)
            ),
        )


def _answers(stimuli: StimulusSet) -> Answers:
    """The table of answers of a set that fits together."""
    manifest = stimuli.manifest
    assert manifest.answers is not None
    try:
        answers = score_files.read_answers(stimuli.folder, manifest.answers)
    except StimuliError as error:
        raise IncompatibleStimuliError("stimuli", error.what.rstrip("."), error.todo) from error
    wanted = [
        (len(manifest.photos), rows, len(manifest.classes))
        for rows in interventions.counts(len(manifest.concepts))
    ]
    if answers.shape not in wanted:
        raise IncompatibleStimuliError(
            "stimuli",
            f"the answers of the stimulus set {manifest.id} have the shape {answers.shape}, but "
            f"it must be {wanted[0]} or, for single changes, {wanted[1]}",
            f"Correct it. `labapp stimuli check {stimuli.folder}` lists all errors.",
        )
    return answers


def _item(photo: Photo, answers: Answers, sample: Sample) -> PlannedItem:
    return PlannedItem(
        photo=photo.id,
        picture=photo.photo,
        truth=photo.truth,
        concepts=photo.concepts,
        beliefs=photo.beliefs,
        item=None if sample == "practice" else photo.item,
        sample=sample,
        foresee=False,
        single=len(answers) != interventions.counts(len(photo.concepts))[0],
        answers=encode_answers(answers),
    )


def _after(item: PlannedItem, change: PlannedChange) -> int:
    """The place of the class that the model answers after a change at the beginning."""
    state = after_change((AS_IT_IS,) * len(item.beliefs), change.concept, change.to)
    return int(item.table[interventions.row_of(state, item.rows)].argmax())


@dataclass(frozen=True)
class ListedChange:
    """A picture and its change, as a file has them. to: off or on, as in `PlannedChange`."""

    picture: str
    concept: str
    to: int


COLUMNS = ["stimuli", "phase", "changes"]
STATES = {"off": OFF, "on": ON}


@lru_cache(maxsize=128)
def read_changes(text: str) -> dict[tuple[str, str], tuple[ListedChange, ...]]:
    """What a file of drawn changes has, by stimulus set and phase. Raises ValueError, with the
    line."""
    rows = [line.split(",") for line in text.splitlines()]  # no cell has a comma
    if not rows or rows[0] != COLUMNS:
        raise ValueError(f"line 1: the columns must be {', '.join(COLUMNS)}")
    out: dict[tuple[str, str], tuple[ListedChange, ...]] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS):
            raise ValueError(f"line {line}: {len(row)} cells, but {len(COLUMNS)} are needed")
        stimuli, phase, changes = row
        if (stimuli, phase) in out:
            raise ValueError(f"line {line}: the same stimuli and phase as in an earlier line")
        parts = [change.split(":") for change in changes.split()]
        if not parts or any(len(part) != 3 or part[2] not in STATES for part in parts):
            raise ValueError(
                f"line {line}: changes must have the form PICTURE:CONCEPT:on or PICTURE:CONCEPT:off"
            )
        out[stimuli, phase] = tuple(ListedChange(at, of, STATES[to]) for at, of, to in parts)
    return out


def listed_changes(
    changes: DrawnChanges, stimuli: str, scope: Scope, planner: Planner
) -> tuple[ListedChange, ...]:
    """The changes of a participant's list for one stage. Raises IncompatibleStimuliError."""
    file = conditions.fill(changes.file, scope)
    todo = "Correct the file, or draw it again."
    try:
        known = read_changes(planner.loaded.text(file))
    except ValueError as error:
        raise IncompatibleStimuliError("changes", f"{file}, {error}", todo) from error
    try:
        return known[stimuli, changes.phase]
    except KeyError as error:
        raise IncompatibleStimuliError(
            "changes",
            f"{file} has no row for the stimulus set {stimuli} and the phase {changes.phase!r}",
            todo,
        ) from error


TYPES: tuple[ItemType, ...] = ("repair", "control", "trap", "unrepairable")
NATURAL, PRACTICE = "natural", "practice"
MISSING = 1e4
"""Cost of a place without a picture; those of pictures are below 1."""


@dataclass(frozen=True)
class Wanted:
    """So many pictures of one kind at one place of the flow.

    Attributes
    ----------
    kind : a type of picture, `NATURAL` or `PRACTICE`.
    photos : those that fit, by what their picture shows.
    """

    place: int
    kind: str
    count: int
    photos: dict[str, Photo]


def pictures_at(place: int, planner: Planner) -> dict[str, tuple[Photo, ...]]:
    """The pictures that this participant sees at a place of the flow, by kind.

    Raises IncompatibleStimuliError if some are missing.
    """
    key = (TASK, "pictures")
    if key not in planner.memory:
        planner.memory[key] = list(_draw_photos(planner))
    every: list[tuple[Wanted, tuple[Photo, ...]]] = planner.memory[key]
    own = [(wanted, drawn) for wanted, drawn in every if wanted.place == place]
    if not own:
        list(_list_wanted(place, *planner.flow[place], planner))  # raises what is wrong with it
    for wanted, drawn in own:
        if missing := wanted.count - len(drawn):
            fitting, examples = len(wanted.photos), bool(find_reserved_pictures(planner))
            raise IncompatibleStimuliError(
                PRACTICE if wanted.kind == PRACTICE else "items",
                f"{wanted.count} pictures of the kind {wanted.kind!r} are needed, but the set "
                f"has {fitting or 'none'}{' that are no examples' if examples else ''}; "
                f"{missing} {'is' if missing == 1 else 'are'} missing, because nobody sees a "
                "picture twice, and other stages and the practice need pictures, too",
                "Ask for fewer here or in another stage, or choose a larger stimulus set.",
            )
    return {wanted.kind: drawn for wanted, drawn in own}


def _draw_photos(planner: Planner) -> Iterator[tuple[Wanted, tuple[Photo, ...]]]:
    """What was drawn for it, in random order; fewer where pictures are missing."""
    from scipy.optimize import linear_sum_assignment  # slow to load

    every: list[Wanted] = []
    for place, item, scope in planner.in_all_sessions(ConceptRepairStages):
        # What is wrong with another stage is said when that one is planned.
        with suppress(IncompatibleStimuliError, LabappError):
            every += list(_list_wanted(place, item, scope, planner))
    # Where pictures are missing, practice goes without first, and then later stages.
    every.sort(key=lambda wanted: (wanted.kind == PRACTICE, wanted.place))
    slots = [number for number, wanted in enumerate(every) for _ in range(wanted.count)]
    shown = sorted({picture for wanted in every for picture in wanted.photos})
    if not slots:
        yield from ((wanted, ()) for wanted in every)
        return
    draws = conditions.generator(
        planner.seed, planner.study.id, planner.participant, TASK, "pictures"
    )
    random = draws.random((len(every), len(shown)))
    there = np.array([[picture in wanted.photos for picture in shown] for wanted in every])
    cost = np.where(there, random, MISSING * (1 + len(every)))[slots]
    without = MISSING * (len(every) - np.array(slots, np.float64))
    rows, columns = linear_sum_assignment(
        np.hstack([cost, np.broadcast_to(without[:, None], (len(slots), len(slots)))])
    )
    for number, wanted in enumerate(every):
        own = [
            column
            for slot, column in zip(rows, columns, strict=True)
            if slots[slot] == number and column < len(shown)
        ]
        own.sort(key=lambda column: float(random[number, column]))
        yield wanted, tuple(wanted.photos[shown[column]] for column in own)


def _list_wanted(place: int, item: Item, scope: Scope, planner: Planner) -> Iterator[Wanted]:
    """What one place of the flow wants. Raises IncompatibleStimuliError, and what reading its set
    raises."""
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    stimuli, number = set_of(stages, scope, planner)
    check_kind(stimuli, TASK, "interventions")
    taken = find_reserved_pictures(planner) | find_listed_pictures(planner).keys()
    by_picture = {}
    for photo in photos_of(stimuli, number):
        try:
            picture = stimuli.identity_of(photo.photo)
        except StimuliError as error:
            raise IncompatibleStimuliError("stimuli", error.what.rstrip("."), error.todo) from error
        if picture not in taken:
            by_picture[picture] = photo
    for kind in (*TYPES, NATURAL) if stages.changes is None else ():
        own = {
            picture: photo
            for picture, photo in by_picture.items()
            if kind == (NATURAL if photo.natural else photo.item)
        }
        yield Wanted(place, kind, getattr(stages.items, kind), own)
    if stages.practice is not None:
        yield Wanted(place, PRACTICE, stages.practice.items, by_picture)


class PlannedExample(Strict):
    """A concept in two pictures. off, on: their names in the set; others: in how many other
    concepts they differ; differing: what these are called (empty in plans of earlier versions)."""

    concept: Concept
    off: str
    on: str
    others: int = Field(ge=0)
    differing: tuple[str, ...] = ()


class ConceptExamplesPart(PlannedPart):
    """The examples of one stage's concepts. number, of: of that stage, among how many."""

    introduces: ClassVar[bool] = True
    part: Literal["concept_examples"] = "concept_examples"
    number: int
    of: int
    stimuli: str
    manifest_sha256: str
    examples: tuple[PlannedExample, ...] = Field(min_length=1)

    def stage_place(self) -> tuple[int, int]:
        return self.number, self.of

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield StimuliRef(self.manifest_sha256, self.stimuli)

    def stored_pictures(self) -> Iterator[str]:
        for example in self.examples:
            yield from (example.off, example.on)


def examples_of(place: int, planner: Planner, number: int, of: int) -> ConceptExamplesPart:
    """The examples before the stage at a place of the flow.

    Raises StudyError if the set has no pictures that show a concept.
    """
    item, scope = planner.flow[place]
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    with fitting(stages, planner):
        stimuli, _ = set_of(stages, scope, planner)
        pairs = _pairs_at(item, scope, planner)
    language = planner.study.language
    concepts = [known.in_language(language) for known in stimuli.manifest.concepts]
    return ConceptExamplesPart(
        id=planner.new_id("practice-examples"),
        title="Examples of the concepts",
        number=number,
        of=of,
        stimuli=stimuli.id,
        manifest_sha256=stimuli.sha256,
        examples=tuple(
            PlannedExample(
                concept=concepts[pair.concept],
                off=pair.off.photo,
                on=pair.on.photo,
                others=len(pair.differing),
                differing=tuple(concepts[place].name for place in pair.differing),
            )
            for pair in pairs
        ),
    )


def find_reserved_pictures(planner: Planner) -> frozenset[str]:
    """What the pictures show that this participant sees as examples, before whatever stage
    (`labapp.models.stimuli.pictures.identity_of`): none of them is a picture of any stage or
    practice. What is wrong with the examples of a stage is said by `examples_of`, when it is
    planned."""
    key = (TASK, "reserved")
    if key not in planner.memory:
        shown: set[str] = set()
        for _, item, scope in planner.in_all_sessions(ConceptRepairStages):
            stages = item.task_stages()
            if isinstance(stages, ConceptRepairStages) and stages.examples:
                with suppress(IncompatibleStimuliError, LabappError):
                    names = check.find_reserved_pictures(_pairs_at(item, scope, planner))
                    stimuli, _ = set_of(stages, scope, planner)
                    shown.update(map(stimuli.identity_of, names))
        planner.memory[key] = frozenset(shown)
    reserved: frozenset[str] = planner.memory[key]
    return reserved


def find_listed_pictures(planner: Planner) -> Counter[str]:
    """How often this participant sees each picture that a file of changes names, by what it shows.
    What is wrong with a file is said when its stage is planned."""
    key = (TASK, "listed")
    if key not in planner.memory:
        shown: Counter[str] = Counter()
        for _, item, scope in planner.in_all_sessions(ConceptRepairStages):
            stages = item.task_stages()
            if isinstance(stages, ConceptRepairStages) and stages.changes is not None:
                with suppress(IncompatibleStimuliError, LabappError):
                    stimuli, _ = set_of(stages, scope, planner)
                    names = {photo.id: photo.photo for photo in stimuli.manifest.photos}
                    shown.update(
                        stimuli.identity_of(names[listed.picture])
                        for listed in listed_changes(stages.changes, stimuli.id, scope, planner)
                        if listed.picture in names
                    )
        planner.memory[key] = shown
    listed: Counter[str] = planner.memory[key]
    return listed


def _pairs_at(item: Item, scope: Scope, planner: Planner) -> tuple[check.ReferencePair, ...]:
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    stimuli, number = set_of(stages, scope, planner)
    check_kind(stimuli, TASK, "interventions")
    try:
        return check.reference_pairs(stimuli.manifest, number)
    except ValueError as error:
        raise IncompatibleStimuliError(
            "examples",
            f"examples of the stimulus set {stimuli.id} cannot be chosen: {error}",
            "Leave `examples` out, or choose another stimulus set.",
        ) from error
