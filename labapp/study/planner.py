"""Makes the plan of one participant: every choice that the study leaves open is made here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from labapp.errors import SessionError, StudyError
from labapp.naming import reserved
from labapp.stimuli import library
from labapp.study import assignment, conditions, single_dimension, warm_up
from labapp.study.conditions import Scope
from labapp.study.consent import ConsentForm
from labapp.study.explained import StimuliOf
from labapp.study.flow import (
    BreakItem,
    ConsentItem,
    DebriefItem,
    InterviewItem,
    Item,
    MethodItem,
    PracticeItem,
    QuestionnaireItem,
    StagesItem,
    TextItem,
    TutorialItem,
    WarmUpItem,
    unrolled,
)
from labapp.study.label import LABEL
from labapp.study.loading import LoadedStudy, decoded, in_language
from labapp.study.plan import (
    BreakPart,
    ConsentPart,
    InterviewPart,
    PagesPart,
    Plan,
    PlannedPart,
    QuestionnairePart,
    QuestionsPart,
)
from labapp.study.representations import CIRCLES_PAIRS, PriorOf, Representations, SpaceOf
from labapp.study.rules import Incentive
from labapp.study.stages import (
    MODEL_ID,
    VISUALISATIONS,
    AnyStages,
    JudgingStages,
    SingleDimensionStages,
    Stages,
    UnmaskingStages,
)
from labapp.study.stimulus_stages import StimulusStages
from labapp.study.unmasking import OutputsOf, recorded_outputs


def participant_number(loaded: LoadedStudy, participant: str) -> int:
    """The number in a participant's label. Raises SessionError when the label does not fit."""
    number = loaded.study.participants.number(participant)
    if not LABEL.fullmatch(participant) or number is None or number < 1:
        example = loaded.study.participants.label(1)
        raise SessionError(
            f"{participant!r} is not a participant of this study: its participants are named "
            f"like {example}.",
            todo=f"Use a label like {example} (the study file's participants.pattern).",
        )
    return number


def realise(
    loaded: LoadedStudy,
    participant: str,
    session: str = "1",
    *,
    space_of: SpaceOf,
    prior_of: PriorOf = lambda model: False,
    stimuli_of: StimuliOf = library.load,
    outputs_of: OutputsOf = recorded_outputs,
    drawn: Sequence[str] = (),
    seed: int | None = None,
) -> Plan:
    """Make every choice of the study for one participant.

    space_of, prior_of: see `Representations`; stimuli_of: gives the stimulus sets, by default those
    that are installed; outputs_of: what the explained model makes of masked pictures, by default
    what the sets themselves say; drawn: names of the cells that were drawn, for a study that draws
    (see `labapp.session.allotment`); seed: replaces the study's own (simulations). Equal arguments
    give the equal plan.
    """
    study = loaded.study
    number = participant_number(loaded, participant)
    if not LABEL.fullmatch(session):
        raise SessionError(
            f"{session!r} is not a session label.", todo="Use letters and digits only, like 1."
        )
    if why := reserved(session):
        raise SessionError(
            f"{session!r} cannot be a session label: {why}.", todo="Use another, like 1."
        )
    used = study.seed if seed is None else seed
    shown = Representations(space_of, prior_of, str(loaded.path))
    planner = _Planner(
        loaded, participant, number, used, shown, stimuli_of, outputs_of, tuple(drawn)
    )
    parts = tuple(planner.parts())
    return Plan(participant, session, used, {"number": number, **planner.choices}, parts)


class _Planner:
    def __init__(
        self,
        loaded: LoadedStudy,
        participant: str,
        number: int,
        seed: int,
        shown: Representations,
        stimuli_of: StimuliOf,
        outputs_of: OutputsOf,
        drawn: tuple[str, ...],
    ) -> None:
        self.loaded = loaded
        self.study = study = loaded.study
        self.participant = participant
        self.number = number
        self.seed = seed
        self.shown = shown
        cells = conditions.cells_of(study.assignment)
        if len(drawn) != (cells[1].draw if cells else 0):
            raise ValueError(f"{study.id} does not draw {len(drawn)} cells")
        variables = conditions.by_number(study.assignment, number)
        self.flow = tuple(unrolled(study.flow, variables, cells, drawn))
        self.choices: dict[str, Any] = dict(variables)
        if cells is not None:
            self.choices[cells[0]] = list(drawn)
        self.groups = [item.stages for item, _ in self.flow if isinstance(item, StagesItem)]
        self.stages_in_all = sum(
            len(stages.models) if isinstance(stages, AnyStages) else 1 for stages in self.groups
        )
        self.stimuli = StimulusStages(
            loaded, self.flow, participant, number, seed, stimuli_of, outputs_of
        )
        self.stage = 0
        self._ids: dict[str, int] = {}

    def _text(self, template: str, scope: Scope) -> str:
        return in_language(
            conditions.fill(template, {"language": "{language}", **scope}), self.study.language
        )

    def _id(self, kind: str, *, numbered: bool = False) -> str:
        """An id that no other part has: numbered always, or from the second on."""
        self._ids[kind] = count = self._ids.get(kind, 0) + 1
        return f"{kind}-{count}" if numbered or count > 1 else kind

    def parts(self) -> Iterator[PlannedPart]:
        asks_consent = any(isinstance(item, ConsentItem) for item, _ in self.flow)
        if self.flow and not asks_consent:
            yield from self._incentive(self.flow[0][1], 0)
        for place, (item, scope) in enumerate(self.flow):
            match item:
                case ConsentItem():
                    yield self._consent(item.consent, self._text(item.consent.text, scope))
                    yield from self._incentive(scope, place)
                case TutorialItem():
                    yield self._tutorial(item, scope)
                case PracticeItem():
                    yield from self._practice(item, scope)
                case StagesItem(stages=JudgingStages() as stages):
                    yield from self._judging(stages, scope, place)
                case StagesItem(stages=UnmaskingStages() as stages):
                    yield from self._unmasking(stages, scope, place)
                case StagesItem(stages=Stages() | SingleDimensionStages() as stages):
                    yield from self._stages(stages, scope)
                case MethodItem():
                    if (told := self.stimuli.judged_near(place, ahead=True)) is None:
                        raise self._nothing_to_introduce(item, scope)
                    yield told.method(self._id("method"), self._document(item, scope))
                case WarmUpItem():
                    yield warm_up.fruits(self._id("warm-up"), self._document(item, scope))
                case QuestionnaireItem():
                    part_id = self._id("questionnaire", numbered=True)
                    yield self._ask(item.questionnaire, part_id, None, place, item.above)
                case BreakItem():
                    yield self._break(item.break_, item.at_least_s, scope)
                case InterviewItem():
                    yield InterviewPart(
                        id=self._id("interview", numbered=True),
                        title="Interview",
                        document=self._document(item, scope),
                        questions=item.guide(self.study.language),
                    )
                case TextItem() | DebriefItem():
                    yield self._pages(item, scope, place)

    def _break(self, document: str, at_least_s: float, scope: Scope) -> BreakPart:
        return BreakPart(
            id=self._id("break", numbered=True),
            title="Break",
            document=self._text(document, scope),
            at_least_s=at_least_s,
        )

    def _nothing_to_introduce(self, item: MethodItem, scope: Scope) -> StudyError:
        said = ", ".join(f"{name} = {value}" for name, value in scope.items())
        return StudyError(
            f"{self.loaded.path}: {item.method!r} introduces stages that judge explanations; with "
            f"{said or 'this flow'} there are none.",
            todo="Give the introduction the same only_if as the stages.",
        )

    def _consent(self, form: ConsentForm, name: str) -> ConsentPart:
        digest = hashlib.sha256(self.loaded.files[name]).hexdigest()
        return ConsentPart(
            id="consent",
            title="Consent",
            document=name,
            document_sha256=digest,
            sign=form.sign,
            items=form.items,
        )

    def _incentive(self, scope: Scope, place: int) -> Iterator[PagesPart]:
        """What is paid is told before anything is done for it: behind the consent, or first of all
        in a study that asks for none."""
        if (paid := self.study.incentive) is not None:
            judged = self.stimuli.judged_near(place, ahead=True)
            guessed = {} if judged is None else {n: judged.values[n] for n in ("options", "chance")}
            yield PagesPart(
                part="text",
                id="incentive",
                title="Payment",
                document=self._text(paid.text, scope),
                values=self._amounts() | guessed,
            )

    def _amounts(self) -> dict[str, str]:
        """What can be earned, in words; empty for what this study does not pay."""
        solves = any(isinstance(one, Stages) and not one.marks for one in self.groups)
        answers = any(isinstance(one, SingleDimensionStages) for one in self.groups)
        judges = any(isinstance(one, JudgingStages) for one in self.groups)
        paid = self.study.incentive or Incentive(text="-")
        earns = {
            "base": True,
            "per_solved": solves and paid.per_solved > 0,
            "per_correct": answers and paid.per_correct > 0,
            "per_above_chance": judges and paid.per_above_chance > 0,
        }
        return {
            name: paid.amount(getattr(paid, name)) if does else "" for name, does in earns.items()
        }

    def _pages(self, item: TextItem | DebriefItem, scope: Scope, place: int) -> PagesPart:
        if isinstance(item, DebriefItem):
            name = self._text(item.debrief, scope)
            return PagesPart(part="debrief", id="debrief", title="Debrief", document=name)
        name = self._text(item.text, scope)
        part_id = self._id("text", numbered=True)
        told = self.stimuli.told_at(place)
        return PagesPart(part="text", id=part_id, title="Text", document=name, values=told)

    def _document(self, item: Item, scope: Scope) -> str:
        return self._text(item.texts()[0], scope)

    def _tutorial(self, item: TutorialItem, scope: Scope) -> PlannedPart:
        document, part_id = self._document(item, scope), self._id("tutorial")
        if item.tutorial == "reconstruction":
            return self.shown.tutorial(part_id, document)
        space = self.shown.space_of(single_dimension.CIRCLES)
        dial = item.dial or (2 if self._improved else 1)
        return single_dimension.example(part_id, document, item.tutorial, space, dial - 1)

    @property
    def _improved(self) -> bool:
        return self.study.presentation == "improved"

    def _practice(self, item: PracticeItem, scope: Scope) -> Iterator[PlannedPart]:
        kind = item.practice.partition("-")[2]
        visualisation = next((known for known in VISUALISATIONS if known == kind), None)
        feedback = self._improved if item.feedback is None else item.feedback
        told = {"trials": str(len(CIRCLES_PAIRS))}
        if visualisation is not None:
            words = self.loaded.words
            told["feedback"] = words.get("practice_feedback", "") if feedback else ""
        yield PagesPart(
            part="text",
            id=self._id("practice-intro"),
            title="Before practice",
            document=self._document(item, scope),
            values=told,
        )
        part_id = self._id("practice")
        aloud = any(stages.think_aloud for stages in self.groups)
        if visualisation is None:
            yield self.shown.practice(part_id, think_aloud=aloud)
            return
        space = self.shown.space_of(single_dimension.CIRCLES)
        yield single_dimension.practice(
            part_id, visualisation, space, think_aloud=aloud, feedback=feedback
        )

    def _models(self, stages: Stages | SingleDimensionStages, scope: Scope) -> tuple[str, ...]:
        """The models of the stages in the participant's order."""
        models = conditions.fill_all(stages.models, scope)
        for model in models:
            if not MODEL_ID.fullmatch(model) or models.count(model) > 1:
                raise StudyError(
                    f"{self.loaded.path}: {', '.join(stages.models)} with "
                    f"{', '.join(f'{k} = {v}' for k, v in scope.items())} names the model "
                    f"{model!r}, which is no model's id or listed twice.",
                    todo="Correct models, or the values of the variables.",
                )
        if stages.order == "counterbalanced":
            return assignment.counterbalanced(models, self.seed, self.study.id, self.number)
        if stages.order == "random":
            return assignment.shuffled(
                models, self.seed, self.study.id, self.participant, "order", self.stage
            )
        return models

    def _stages(
        self, stages: Stages | SingleDimensionStages, scope: Scope
    ) -> Iterator[PlannedPart]:
        models = self._models(stages, scope)
        self.choices.setdefault("models", []).extend(models)
        for index, model in enumerate(models):
            self.stage += 1
            part, values = self._stage(stages, model)
            told = {"trials": str(part.trials), **values}
            yield self._before_stage(stages.between if index else stages.intro, scope, told)
            yield part
            for instrument in stages.after:
                yield self._ask(instrument, f"{part.id}-{instrument}", part.id)

    def _judging(self, stages: JudgingStages, scope: Scope, place: int) -> Iterator[PlannedPart]:
        judged = self.stimuli.judged_at(place)
        self.stage += 1
        shown = judged.explained
        self._chose(shown.stimuli, judged.set, shown.manifest_sha256)
        description = self._text(stages.description, scope)
        part = judged.stage(self.stage, self.stages_in_all, description)
        limit = stages.time_limit_min
        told = judged.values | {"per_above_chance": self._amounts()["per_above_chance"]}
        if limit is not None:
            told["minutes"] = f"{limit:g}"
        yield self._before_stage(stages.intro, scope, told)
        yield part
        for instrument in stages.after:
            yield self._ask(instrument, f"{part.id}-{instrument}", part.id, place)

    def _unmasking(
        self, stages: UnmaskingStages, scope: Scope, place: int
    ) -> Iterator[PlannedPart]:
        """The example, and the stage in its blocks with breaks between them."""
        self.stage += 1
        showing, at = self.stimuli.unmasked_at(place), (self.stage, self.stages_in_all)
        shared = showing.unmasked
        self._chose(shared.stimuli, shared.set, shared.manifest_sha256)
        told = self.stimuli.told_at(place)
        if stages.example is not None and (part := showing.practice(self._id("practice"), *at)):
            yield PagesPart(
                part="text",
                id=self._id("practice-intro"),
                title="Before the example",
                document=self._text(stages.example, scope),
                values=told,
            )
            yield part
        blocks = showing.blocks(self.stimuli.sequences_at(place), *at)
        yield self._before_stage(stages.intro, scope, told)
        for number, part in enumerate(blocks):
            if number and stages.breaks is not None:
                yield self._break(stages.breaks.text, stages.breaks.at_least_s, scope)
            yield part
        for instrument in stages.after:
            asked = f"stage-{self.stage}-{instrument}"
            yield self._ask(instrument, asked, blocks[-1].id, place)

    def _before_stage(self, document: str, scope: Scope, told: dict[str, str]) -> PagesPart:
        """The text before the present stage. told: what it may say besides its number."""
        return PagesPart(
            part="text",
            id=f"stage-{self.stage}-intro",
            title=f"Before stage {self.stage}",
            document=self._text(document, scope),
            values={"stage": str(self.stage), "stages": str(self.stages_in_all), **told},
        )

    def _chose(self, stimuli: str, number: int, manifest_sha256: str) -> None:
        """Write down which stimuli a stage shows."""
        for name, value in (("stimuli", stimuli), ("sets", number), ("manifests", manifest_sha256)):
            self.choices.setdefault(name, []).append(value)

    def _stage(
        self, stages: Stages | SingleDimensionStages, model: str
    ) -> tuple[QuestionsPart, dict[str, str]]:
        """A stage and what its introduction tells of it."""
        if isinstance(stages, SingleDimensionStages):
            purpose = (self.seed, self.study.id, self.participant)
            single = self.shown.single(stages, self.stage, self.stages_in_all, model, purpose)
            return single, {"times": str(stages.questions_per_dimension)}
        part = self.shown.stage(stages, self.stage, self.stages_in_all, model)
        limit = stages.time_limit_min
        return part, {
            "target": f"{part.target_alignment * 100:g}",
            "skip_after_s": f"{part.skip_after_s:g}",
            **({} if limit is None else {"minutes": f"{limit:g}"}),
        }

    def _ask(
        self,
        instrument: str,
        part_id: str,
        about: str | None,
        place: int | None = None,
        above: str | None = None,
    ) -> QuestionnairePart:
        """place: where it stands in the flow; above: the text above its questions."""
        judged = None if place is None else self.stimuli.judged_near(place, ahead=False)
        if judged is None and self.loaded.instruments[instrument].about_accuracy:
            raise StudyError(
                f"{self.loaded.path}: the questionnaire {instrument!r} asks about the accuracy of "
                "an explained model, and the study has none.",
                todo="Leave it out, or give the study stages that judge explanations.",
            )
        file = self.loaded.instruments[instrument]
        items = file.item_ids(self.stages_in_all)
        if file.order == "shuffled":
            items = assignment.shuffled(
                items, self.seed, self.study.id, self.participant, "items", instrument
            )
        as_listed = items == tuple(item.id for item in file.items)
        document = None
        if above is not None and place is not None:
            document = self._text(above, self.flow[place][1])
        return QuestionnairePart(
            id=part_id,
            title=file.title if document is None else self._heading(document) or file.title,
            instrument=instrument,
            about=about,
            items=() if as_listed else items,
            scoring=file.scoring,
            above=document,
            values={} if judged is None else judged.values,
        )

    def _heading(self, document: str) -> str:
        """The heading that a text begins with; empty where there is none."""
        first = decoded(self.loaded.files[document]).lstrip().partition("\n")[0]
        return first.removeprefix("# ").strip() if first.startswith("# ") else ""
