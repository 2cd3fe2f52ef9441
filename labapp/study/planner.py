"""The plan of one participant: every choice that the study leaves open is made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any

from labapp.base.discovery import Catalogue
from labapp.base.errors import LabappError, LabelRefused, StudyError
from labapp.base.naming import LABEL, find_name_problem
from labapp.models.representations.package import tasks_of
from labapp.models.stimuli import library
from labapp.models.stimuli.masked_pictures import find_recorded_outputs
from labapp.study import allocation, conditions
from labapp.study.conditions import Scope
from labapp.study.design import MODEL
from labapp.study.flow import unroll
from labapp.study.inclusion import Incentive
from labapp.study.instruments.instrument import RULES
from labapp.study.instruments.kinds import ITEM_KINDS
from labapp.study.loading import LoadedStudy, decode_text, in_language
from labapp.study.plan import BreakPart, Brought, PagesPart, Plan, QuestionnairePart
from labapp.study.plugins import registry
from labapp.study.plugins.item import Item, TaskStages
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.registry import Values
from labapp.study.representations import PriorOf, Representations, SpaceOf, TasksOf
from labapp.study.stimulus_stages import PredictMasked, StimuliOf
from labapp.study.when import settle


def participant_number(loaded: LoadedStudy, participant: str) -> int:
    """The number in a participant's label. Raises SessionError when the label does not fit."""
    number = loaded.study.participants.number(participant)
    if not LABEL.fullmatch(participant) or number is None or number < 1:
        example = loaded.study.participants.label(1)
        raise LabelRefused(
            f"{participant!r} is not a participant of this study, whose participants have "
            f"labels like {example}.",
            todo=f"Use a label like {example} (the study file's participants.pattern).",
        )
    return number


def realise(
    loaded: LoadedStudy,
    participant: str,
    session: str | None = None,
    *,
    space_of: SpaceOf,
    prior_of: PriorOf = lambda model: False,
    tasks_of: TasksOf = tasks_of,
    stimuli_of: StimuliOf = library.load,
    predict_masked: PredictMasked = find_recorded_outputs,
    drawn: Sequence[str] = (),
    seed: int | None = None,
    errors: list[LabappError] | None = None,
) -> Plan:
    """Make every choice of the study for one participant.

    Parameters
    ----------
    session : its label, by default the study's first.
    space_of, prior_of, tasks_of : see `Representations`; the last by default reads the cards of
        the installed models.
    stimuli_of : gives the stimulus sets, by default those that are installed.
    predict_masked : what the explained model makes of masked pictures, by default what the sets
        themselves say.
    drawn : names of the cells, or of the slot, that were drawn, for a study that draws (see
        `labapp.session.condition_assignment`).
    seed : replaces the study's own (simulations). Equal arguments give the equal plan.
    errors : gets what is wrong with items of the flow, whose parts are then left out; without it
        the first such error is raised.
    """
    study = loaded.study
    number = participant_number(loaded, participant)
    session = study.first_session if session is None else session
    if not LABEL.fullmatch(session):
        raise LabelRefused(
            f"{session!r} is not a session label.",
            todo="A session label may contain only letters and digits, for example 1.",
        )
    if why := find_name_problem(session):
        raise LabelRefused(
            f"{session!r} cannot be a session label: {why}.", todo="Use another, like 1."
        )
    labels = [] if study.design is None else [str(label) for label in study.design.sessions]
    if labels and session not in labels:
        raise LabelRefused(
            f"{session!r} is not a session of {study.id}, which has these sessions: "
            f"{', '.join(labels)}.",
            todo="Use one of these, or add it to `sessions` of the study's design.",
        )
    used = study.seed if seed is None else seed
    representations = Representations(
        cache(space_of), cache(prior_of), cache(tasks_of), str(loaded.path)
    )
    sessions = labels or [session]
    at = {label: allocation.place_of(study, number, drawn, label, used) for label in sessions}
    planner = Planner(
        loaded,
        participant,
        number,
        used,
        representations,
        stimuli_of,
        predict_masked,
        errors,
        at,
        session,
    )
    parts = tuple(planner.parts())
    return Plan(participant, session, used, {"number": number, **planner.choices}, parts)


@dataclass(eq=False, repr=False)
class Planner:
    """Makes the parts of one participant's plan; task types ask it for all that parts share.

    Attributes
    ----------
    loaded : the study with its files.
    study : Study
        The study file's content.
    participant : the participant's label; `number` is the number in it.
    seed : of every draw, with a purpose of its own for each.
    representations : latent spaces of the models.
    stimuli_of, predict_masked, errors
        See `realise`.
    at_sessions, session
        The participant's places by session, and the label of this session.
    flow : tuple of (Item, dict)
        What this participant goes through, with the variables at each item.
    choices : what was chosen for this participant, for people and tables.
    stage : int
        Number of the last stage, from 1; `stages_in_all` of how many.
    memory : what a task worked out for a place of the flow and needs again for the texts around it;
        the task chooses the keys, which begin with its name.
    """

    loaded: LoadedStudy
    participant: str
    number: int
    seed: int
    representations: Representations
    stimuli_of: StimuliOf
    predict_masked: PredictMasked
    errors: list[LabappError] | None
    at_sessions: InitVar[Mapping[str, allocation.AllocationPlace]]
    session: InitVar[str]

    def __post_init__(
        self, at_sessions: Mapping[str, allocation.AllocationPlace], session: str
    ) -> None:
        self.study = study = self.loaded.study
        self.place = place = at_sessions[session]
        flows = {}
        for label, each in at_sessions.items():
            random = conditions.generator(self.seed, self.participant, label, "interruptions")
            flows[label] = tuple(unroll(study.flow, each.scope, each.turns, random))
        self.flow = flows[session]
        before = list(flows)[: list(flows).index(session)]
        self._first = -sum(len(flows[label]) for label in before)
        self._all_sessions = tuple(chain.from_iterable(flows.values()))
        self.choices: dict[str, Any] = dict(place.choices)
        self.groups = [group for item, _ in self.flow if (group := item.task_stages()) is not None]
        self.stages_in_all = sum(group.stages for group in self.groups)
        self.stage = 0
        self.memory: dict[tuple[Any, ...], Any] = {}
        self._ids: dict[str, int] = {}

    @property
    def improved(self) -> bool:
        """Whether the study is presented better than it was published."""
        return self.study.presentation == "improved"

    @property
    def thinks_aloud(self) -> bool:
        """Whether any stage asks the participant to think aloud."""
        return any(group.think_aloud for group in self.groups)

    def parts(self) -> Iterator[PlannedPart]:
        """All parts, in their order. The text on what is paid comes right after the consent, or
        first in a study that asks for none."""
        introduced = not self.flow
        factors = () if self.study.design is None else self.study.design.within_levels
        for place, (item, scope) in enumerate(self.flow):
            with self._locate_errors(item):
                if not introduced and not item.first_only:
                    yield from self._incentive(scope, place)
                    introduced = True
                task_type = registry.task_type_of_item(item)
                levels = {factor: str(scope[factor]) for factor in factors if factor in scope}
                own: dict[str, Any] = {"levels": levels} if levels else {}
                if isinstance(left := settle(item.only_if, scope), dict):
                    own["only_if"] = left
                for part in task_type.plan(item.task_stages() or item, scope, place, self):
                    judged = part.has_trials and (part.measures or item.task_stages() is None)
                    named = {"named": item.name} if item.name and judged else {}
                    yield part.model_copy(update=own | named) if own or named else part
                if not introduced:
                    yield from self._incentive(scope, place)
                    introduced = True

    @contextmanager
    def _locate_errors(self, item: Item) -> Iterator[None]:
        """Give what is wrong with an item its file and line; go on without its parts where every
        error is collected."""
        try:
            yield
        except StudyError as error:
            located = self.loaded.mistake(item, error)
            if self.errors is None:
                raise located from error
            self.errors.append(located)
        except LookupError:
            # What an item lacks because another one could not be read is no mistake of its own.
            if not self.errors:
                raise
            self.errors.append(self.errors[0])

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Every model that the participant's stages compare, as the study lists them."""
        return allocation.models_of(self.flow)

    def in_order(self, models: tuple[str, ...]) -> tuple[str, ...]:
        """Models of stages in this participant's order, by the declared design: all stages follow
        the same order."""
        design, slot = self.study.design, self.place.slot
        if design is None or slot is None or MODEL not in design.within_levels:
            return models
        order = allocation.by_design(design, self.models, slot, self.seed, self.study.id)
        return tuple(sorted(models, key=order.index))

    def text(self, template: str, scope: Scope) -> str:
        """The name of a text with its variables and the language filled in."""
        return in_language(
            conditions.fill(template, {"language": "{language}", **scope}), self.study.language
        )

    def new_id(self, kind: str, *, numbered: bool = False) -> str:
        """An id that no other part has: numbered always, or from the second on."""
        self._ids[kind] = count = self._ids.get(kind, 0) + 1
        return f"{kind}-{count}" if numbered or count > 1 else kind

    def next_stage(self) -> tuple[int, int]:
        """The number of the next stage, and of how many."""
        self.stage += 1
        return self.stage, self.stages_in_all

    def before_stage(self, document: str, scope: Scope, values: Values) -> PagesPart:
        """The text before the present stage. values: what it may say besides its number."""
        return PagesPart(
            part="text",
            id=f"stage-{self.stage}-intro",
            title=f"Before stage {self.stage}",
            document=self.text(document, scope),
            values={"stage": str(self.stage), "stages": str(self.stages_in_all), **values},
        )

    def before_practice(self, document: str, title: str, values: Values) -> PagesPart:
        """The text before a practice, or an example. document: its name, filled in."""
        return PagesPart(
            part="text",
            id=self.new_id("practice-intro"),
            title=title,
            document=document,
            values=values,
        )

    def count_trials(self, part: PlannedPart) -> str:
        """How many trials a part has, for texts: `up to 40` where a rule chooses them."""
        number = str(part.trial_count())
        up_to = self.loaded.words.get("up_to", "{number}")
        return up_to.format(number=number) if part.chooses else number

    def rest(self, document: str, at_least_s: float, scope: Scope) -> BreakPart:
        """A break; at_least_s: seconds before which only the moderator goes on."""
        return BreakPart(
            id=self.new_id("break", numbered=True),
            title="Break",
            document=self.text(document, scope),
            at_least_s=at_least_s,
        )

    def places(self, *classes: type[TaskStages]) -> list[int]:
        """Where in the flow stages of these classes stand, from 0."""
        return [
            place
            for place, (item, _) in enumerate(self.flow)
            if isinstance(item.task_stages(), classes)
        ]

    def in_all_sessions(self, *classes: type[TaskStages]) -> list[tuple[int, Item, Scope]]:
        """Stages of these classes in all sessions of this participant, with the variables at each.
        Their places are those in `flow`; in earlier sessions they are below 0, in later ones behind
        its end."""
        return [
            (place, item, scope)
            for place, (item, scope) in enumerate(self._all_sessions, self._first)
            if isinstance(item.task_stages(), classes)
        ]

    def nearest(self, place: int, *classes: type[TaskStages], ahead: bool) -> int | None:
        """The place of the stages that an item tells of: those ahead of it (or it) or, for what
        follows stages, those before it; where there are none on that side, the nearest on the
        other."""
        at = self.places(*classes)
        before = [index for index in at if index < place or (index == place and not ahead)]
        behind = [index for index in at if index not in before]
        near = behind[:1] + before[-1:] if ahead else before[-1:] + behind[:1]
        return near[0] if near else None

    def values_near(self, place: int, *, ahead: bool) -> Values:
        """The values that an item's text may name in braces, about the stages nearest to it (see
        `nearest`). Every task may give some; those of the nearest stages come last, and win."""
        near = {
            at: task_type
            for task_type in registry.task_types()
            if task_type.stages
            and (at := self.nearest(place, *task_type.stages, ahead=ahead)) is not None
        }
        values: Values = {}
        for at in sorted(near, key=lambda at: -abs(at - place)):
            item, scope = self.flow[at]
            values |= near[at].values_around(item.task_stages(), scope, at, self)
        return values

    def amounts(self) -> Values:
        """What can be earned, in words; empty for what this study does not pay."""
        paid = self.study.incentive or Incentive(text="-")
        earns = frozenset({"base"}).union(*(group.earns for group in self.groups))
        values = {}
        for name in ("base", "per_solved", "per_correct", "per_above_chance"):
            value = getattr(paid, name)
            pays = name in earns and (name == "base" or value > 0)
            values[name] = paid.amount(value) if pays else ""
        return values

    def _incentive(self, scope: Scope, place: int) -> Iterator[PagesPart]:
        if (paid := self.study.incentive) is not None:
            yield PagesPart(
                part="text",
                id="incentive",
                title="Payment",
                document=self.text(paid.text, scope),
                values=self.values_near(place, ahead=True) | self.amounts(),
            )

    def chose(self, **values: Any) -> None:
        """Write down what a stage shows, each in a list over all stages."""
        for name, value in values.items():
            self.choices.setdefault(name, []).append(value)

    def ask_after(
        self, stages: TaskStages, stage_id: str, about: str, place: int
    ) -> Iterator[QuestionnairePart]:
        """What is asked after a stage. about: id of the part that is asked about."""
        for instrument in stages.after:
            yield self.ask(instrument, f"{stage_id}-{instrument}", about, place)

    def ask(
        self, instrument: str, part_id: str, about: str | None, place: int, above: str | None = None
    ) -> QuestionnairePart:
        """A questionnaire. place: where it stands in the flow; above: the text above its questions.

        Raises StudyError for one that asks about the accuracy of a model if nothing says it.
        """
        values = self.values_near(place, ahead=False)
        file = self.loaded.instruments[instrument]
        if file.about_accuracy and "accuracy" not in values:
            raise StudyError(
                f"{self.loaded.path}: the questionnaire {instrument!r} asks about the accuracy "
                "of an explained model, but the study does not explain a model.",
                todo="Remove it, or add stages to the study in which explanations are judged.",
            )
        items = file.sampled(
            file.item_ids(self.stages_in_all),
            lambda ids, number: conditions.shuffled(
                ids, self.seed, self.study.id, self.participant, "sample", instrument, number
            ),
        )
        scope = self.flow[place][1]
        if isinstance(file.order, conditions.OrderByGroup):
            items = file.order.put(items, scope, lambda item: file.item(item).id)
        elif file.order == "shuffled":
            items = conditions.shuffled(
                items, self.seed, self.study.id, self.participant, "items", instrument
            )
        as_listed = items == tuple(item.id for item in file.items)
        document = None if above is None else self.text(above, scope)
        return QuestionnairePart(
            id=part_id,
            title=file.title if document is None else self._heading(document) or file.title,
            instrument=instrument,
            about=about,
            items=() if as_listed else items,
            scoring=file.planned_scores(),
            per_stage=(repeated := tuple(item.id for item in file.items if item.repeat)),
            drops_skipped=bool(repeated),
            about_person=file.about_person,
            orders=file.orders(items, self._shuffle_options),
            kinds=_select_needed(
                ITEM_KINDS, file.kinds(items), [item for item in items if file.item(item).dont_know]
            ),
            rules=_select_needed(RULES, file.rules),
            variables={name: scope[name] for name in file.variables() if name in scope},
            checks=file.checks(items),
            above=document,
            values=values,
        )

    def _shuffle_options(self, ids: Sequence[str], item: str) -> Sequence[str]:
        """The ids of an item's options in an order of the participant's own."""
        return conditions.shuffled(ids, self.seed, self.study.id, self.participant, "options", item)

    def _heading(self, document: str) -> str:
        """The heading that a text begins with; empty if there is none."""
        first = decode_text(self.loaded.files[document]).lstrip().partition("\n")[0]
        return first.removeprefix("# ").strip() if first.startswith("# ") else ""


PLACEHOLDERS: Values = {
    "stage": "the number of the stage that the text stands before, from 1",
    "stages": "how many stages the participant has in all",
    "base": "what is paid for taking part; empty in a study that pays nothing",
    "per_solved": "what is paid for each question solved; empty where nothing is",
    "per_correct": "what is paid for each right answer; empty where nothing is",
    "per_above_chance": (
        "what is paid for each photo answered rightly beyond what guessing gets right; empty where "
        "nothing is"
    ),
}
"""What the names in braces stand for that texts of any task can say."""


def _select_needed(
    catalogue: Catalogue[Any], names: Mapping[str, str], always: Sequence[str] = ()
) -> dict[str, Brought]:
    """Those of the names that a plan states, by what has them: what packages bring, and the kinds
    of items whose answers are not always recognised by their form. always: those that are stated
    anyway."""
    return {
        key: Brought(name=name, package=catalogue.package(name))
        for key, name in names.items()
        if key in always
        or name not in catalogue.shipped
        or not getattr(catalogue[name], "form", name)
    }
