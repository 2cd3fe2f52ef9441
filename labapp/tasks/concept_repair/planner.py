"""The parts of a plan that repair concepts, from a stimulus set and a study: which pictures are
drawn, which of them are foretold, and what practice is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labapp.errors import StimuliError
from labapp.stimuli import answer_files, interventions
from labapp.stimuli.interventions import AS_IT_IS, Answers
from labapp.stimuli.library import StimulusSet
from labapp.stimuli.manifest import Photo
from labapp.study import assignment
from labapp.study.planner import Planner
from labapp.study.stimulus_stages import (
    IncompatibleStimuliError,
    check_kind,
    fitting,
    set_of,
)
from labapp.tasks.concept_repair.draws import NATURAL, PRACTICE, pictures_at
from labapp.tasks.concept_repair.plan import (
    PERFECT,
    TASK,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedChange,
    PlannedClass,
    PlannedItem,
    Repaired,
    Sample,
    changes,
    packed,
    rules_of,
)
from labapp.tasks.concept_repair.study import ConceptRepairStages

FORETOLD = {"none": 0, "half": 1, "all": 2}
"""Of how many of every two pictures changes are foretold."""
BELIEFS = 0.8, 0.97
"""Between which the practised model's belief lies in what it takes for true."""


@dataclass(frozen=True)
class Repairing:
    """A stimulus set as one stage repairs it, for one participant.

    Attributes
    ----------
    stages : what the study says.
    repaired : what the parts share.
    items, practice : the pictures in their order.
    """

    stages: ConceptRepairStages
    repaired: Repaired
    items: tuple[PlannedItem, ...]
    practice: tuple[PlannedItem, ...]

    def part(self, number: int, of: int) -> ConceptRepairPart:
        """The stage; number, of: its number, among how many."""
        return self._part(f"stage-{number}", f"Stage {number}", "stage", number, of)

    def practice_part(self, part_id: str, number: int, of: int) -> ConceptRepairPart:
        """The practice before the stage of that number."""
        return self._part(part_id, "Practice", "practice", number, of)

    def _part(
        self, part_id: str, title: str, role: Literal["stage", "practice"], number: int, of: int
    ) -> ConceptRepairPart:
        stage = role == "stage"
        shared = self.repaired if stage else _perfect(self.repaired)
        return ConceptRepairPart(
            id=part_id,
            title=title,
            role=role,
            number=number,
            of=of,
            repaired=shared,
            instruction=self.stages.instruction,
            items=self.items if stage else self.practice,
            item_limit_s=self.stages.time_limit_s,
            think_aloud=self.stages.think_aloud,
        )

    def grid(self, number: int, of: int) -> ConceptGridPart:
        """The grid behind the stage."""
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


def repairing_at(place: int, planner: Planner) -> Repairing:
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
    repairing: Repairing = planner.memory[key]
    return repairing


@dataclass(frozen=True)
class _Draws:
    """The draws of one stage for one participant."""

    stages: ConceptRepairStages
    planner: Planner
    place: int

    def _purpose(self, what: str) -> tuple[str, ...]:
        planner = self.planner
        return planner.study.id, planner.participant, f"{TASK} {self.place}", what

    def _shuffled(self, items: Sequence[PlannedItem], what: str) -> tuple[PlannedItem, ...]:
        return assignment.shuffled(items, self.planner.seed, *self._purpose(what))

    def repairing(self, stimuli: StimulusSet, number: int) -> Repairing:
        """Raises IncompatibleStimuliError for what does not fit together."""
        check_kind(stimuli, TASK, "interventions")
        if self.stages.grid and len(stimuli.manifest.concepts) < 2:
            raise IncompatibleStimuliError(
                "grid",
                f"the stimulus set {stimuli.manifest.id} has one concept alone, and the grid asks "
                "which concept also changes another",
                "Write grid: false.",
            )
        answers = _answers(stimuli)
        repaired = self._repaired(stimuli, number)
        drawn = pictures_at(self.place, self.planner)
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
        items = self._shuffled(self._foreseen(chosen, repaired), "order")
        practice = self._practice(drawn[PRACTICE], repaired) if self.stages.practice else ()
        return Repairing(self.stages, repaired, items, practice)

    def _foreseen(self, items: Sequence[PlannedItem], repaired: Repaired) -> Sequence[PlannedItem]:
        """The pictures with those marked whose changes are foretold: of half of them half of each
        kind, as far as that goes, because they stand in groups here."""
        stages = self.stages
        if stages.instruction == "foresight":
            return self._given(items, repaired, "given")
        mixed = [
            item
            for kind in dict.fromkeys((item.sample, item.item) for item in items)
            for item in self._shuffled(
                [each for each in items if (each.sample, each.item) == kind], f"foresee {kind}"
            )
        ]
        coin = int(assignment.generator(self.planner.seed, *self._purpose("coin")).integers(2))
        return [
            item.model_copy(update={"foresee": (place + coin) % 2 < FORETOLD[stages.foresee]})
            for place, item in enumerate(mixed)
        ]

    def _given(
        self, items: Sequence[PlannedItem], repaired: Repaired, what: str
    ) -> tuple[PlannedItem, ...]:
        """The pictures with a change each: every second one changes the answer, where any does."""
        rng = assignment.generator(self.planner.seed, *self._purpose(what))
        out = []
        for place, item in enumerate(self._shuffled(items, f"{what} order")):
            before = int(item.table[0].argmax())
            every = list(changes(len(repaired.concepts)))
            wanted = [
                change for change in every if (_after(item, change) != before) == (place % 2 == 0)
            ]
            among = wanted or every
            given = among[int(rng.integers(len(among)))]
            out.append(item.model_copy(update={"foresee": True, "given": given}))
        return tuple(out)

    def _practice(self, chosen: Sequence[Photo], repaired: Repaired) -> tuple[PlannedItem, ...]:
        """Pictures of a model without leaks that has one concept wrong in two of three. Where half
        of the stage is foretold, every second one is here: both ways are met before it."""
        if not all(class_.concepts for class_ in repaired.classes):
            raise IncompatibleStimuliError(
                "practice",
                "perfect switches need classes that say which concepts make them, and those of "
                f"the stimulus set {repaired.stimuli} do not",
                "Leave practice out, or give the classes of the set their `concepts`.",
            )
        rules = rules_of(repaired.concepts, tuple(known.concepts for known in repaired.classes))
        both = interventions.first_overlap(rules)
        if both is not None:
            first, second = (repaired.classes[place].id for place in both)
            raise IncompatibleStimuliError(
                "practice",
                "perfect switches need classes of which no state of the concepts makes two, and in "
                f"the stimulus set {repaired.stimuli} one state makes {first} and {second}",
                "Leave practice out, or tell these classes apart in the `concepts` of the set: by "
                "one that is on in one of them and off in the other.",
            )
        rng = assignment.generator(self.planner.seed, *self._purpose("beliefs"))
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
            return self._given(out, repaired, "practised")
        return tuple(out)

    def _drawn_names(self, names: Sequence[str]) -> list[str]:
        """The names in a participant's own order, one further on with each stage: so that no class
        keeps its name from one stage to the next."""
        study, participant = self.planner.study.id, self.planner.participant
        drawn = assignment.shuffled(names, self.planner.seed, study, participant, TASK, "names")
        every = [place for place, _, _ in self.planner.in_all_sessions(ConceptRepairStages)]
        by = every.index(self.place) % len(drawn)
        return [*drawn[by:], *drawn[:by]]

    def _repaired(self, stimuli: StimulusSet, number: int) -> Repaired:
        manifest, model = stimuli.manifest, stimuli.manifest.concept_model
        assert model is not None  # `check_kind` refuses a set without
        language = self.planner.study.language
        classes = [class_.in_language(language) for class_ in manifest.classes]
        names = [class_.name for class_ in classes]
        if self.stages.class_names == "drawn":
            if not manifest.invented:
                raise IncompatibleStimuliError(
                    "class_names",
                    f"the names of the stimulus set {manifest.id} are not invented: given to other "
                    "classes they would be wrong",
                    "Write class_names: as_listed.",
                )
            names = self._drawn_names(names)
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


def _perfect(repaired: Repaired) -> Repaired:
    """The same concepts and classes of the model of practice."""
    nothing_known: dict[str, Any] = {"scores": {}, "purity": (), "oracle": (), "model_sha256": None}
    return repaired.model_copy(update={"model": PERFECT, **nothing_known})


def _answers(stimuli: StimulusSet) -> Answers:
    """The table of answers of a set that fits together."""
    manifest = stimuli.manifest
    assert manifest.answers is not None
    try:
        answers = answer_files.read(stimuli.folder, manifest.answers)
    except StimuliError as error:
        raise IncompatibleStimuliError("stimuli", error.what.rstrip("."), error.todo) from error
    wanted = (len(manifest.photos), 3 ** len(manifest.concepts), len(manifest.classes))
    if answers.shape != wanted:
        raise IncompatibleStimuliError(
            "stimuli",
            f"the answers of the stimulus set {manifest.id} have the shape {answers.shape}, and "
            f"{wanted} is needed",
            f"Correct it; `labapp stimuli check {stimuli.folder}` names everything.",
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
        answers=packed(answers),
    )


def _after(item: PlannedItem, change: PlannedChange) -> int:
    """The place of the class that the model answers after a change at the beginning."""
    state = [AS_IT_IS] * len(item.beliefs)
    state[change.concept] = change.to
    return int(item.table[interventions.place(state)].argmax())
