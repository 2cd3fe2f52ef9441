"""What a study file may say of its course: the items of `flow`, from consent to debrief."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationInfo,
    field_validator,
)

from labapp.documents import Strict
from labapp.study.conditions import Cells, Scope, Value, matches, of_cell
from labapp.study.consent import ConsentSetting
from labapp.study.stages import (
    JudgingStages,
    SingleDimensionStages,
    Stages,
    UnmaskingStages,
    Visualisation,
)

Guide = Annotated[
    tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...],
    Field(max_length=30),
]
"""Questions that a moderator asks, in their order."""


class Item(Strict):
    """only_if: variables with the value, or the values, for which the item is shown."""

    model_config = ConfigDict(populate_by_name=True)

    only_if: dict[str, tuple[Value, ...] | Value] = Field(default_factory=dict)

    def texts(self) -> tuple[str, ...]:
        """Names of the texts it shows, with `{language}` and variables in them."""
        return ()

    def instruments(self) -> tuple[str, ...]:
        return ()


class ConsentItem(Item):
    consent: ConsentSetting

    def texts(self) -> tuple[str, ...]:
        return (self.consent.text,)


class TutorialItem(Item):
    """dial: of the two of a single-dimension tutorial the one that its examples are about; by
    default the first as published, the second where the presentation is improved (the practice
    then asks about a dial that was not explained)."""

    tutorial: Literal["reconstruction"] | Visualisation
    dial: Literal[1, 2] | None = None

    @field_validator("dial")
    @classmethod
    def _of_examples(cls, dial: int | None, info: ValidationInfo) -> int | None:
        if dial is not None and info.data.get("tutorial") == "reconstruction":
            raise ValueError("only for exemplars or traversals: here all dials can be turned")
        return dial

    def texts(self) -> tuple[str, ...]:
        return (f"texts/{{language}}/tutorial-{self.tutorial}.md",)


class PracticeItem(Item):
    """intro: the text before it; None for the one that is named like the practice. feedback:
    whether the right answer of a single-dimension question is told after each; by default not as
    published, and told where the presentation is improved."""

    practice: Literal["circles", "circles-traversals", "circles-exemplars"]
    intro: str | None = None
    feedback: bool | None = None

    @field_validator("feedback")
    @classmethod
    def _of_questions(cls, feedback: bool | None, info: ValidationInfo) -> bool | None:
        if feedback is not None and info.data.get("practice") == "circles":
            raise ValueError("only for circles-exemplars or circles-traversals")
        return feedback

    def texts(self) -> tuple[str, ...]:
        return (self.intro or f"texts/{{language}}/practice-{self.practice}.md",)


class StagesItem(Item):
    stages: Annotated[
        Stages | SingleDimensionStages | JudgingStages | UnmaskingStages,
        Field(discriminator="task"),
    ]

    def texts(self) -> tuple[str, ...]:
        if isinstance(self.stages, JudgingStages):
            return (self.stages.intro, self.stages.description)
        if isinstance(self.stages, UnmaskingStages):
            return self.stages.texts()
        return (self.stages.intro, self.stages.between)

    def instruments(self) -> tuple[str, ...]:
        return self.stages.after


class QuestionnaireItem(Item):
    """above: a text above the questions. It may hold {method}, {accuracy} and, behind a task that
    judges explanations, what the participant achieved in it."""

    questionnaire: str
    above: str | None = None

    def texts(self) -> tuple[str, ...]:
        return () if self.above is None else (self.above,)

    def instruments(self) -> tuple[str, ...]:
        return (self.questionnaire,)


class MethodItem(Item):
    """The introduction to the method of the study's judging stages, with their worked examples."""

    method: str

    def texts(self) -> tuple[str, ...]:
        return (self.method,)


class WarmUpItem(Item):
    """Exercises with a decision tree over fruits, before the studies of a tree of prototypes."""

    warm_up: Literal["fruits"]

    def texts(self) -> tuple[str, ...]:
        return (f"texts/{{language}}/warm-up-{self.warm_up}.md",)


class TextItem(Item):
    text: str

    def texts(self) -> tuple[str, ...]:
        return (self.text,)


class BreakItem(Item):
    """A break: no duration counts it. at_least_s: before that only the moderator goes on."""

    break_: str = Field(alias="break")
    at_least_s: float = Field(default=0.0, ge=0, le=3600)

    def texts(self) -> tuple[str, ...]:
        return (self.break_,)


class InterviewItem(Item):
    """An interview, which the moderator ends. The text is on the participant's screen meanwhile.

    questions: the moderator's guide; where the study file is there in several languages, under
    each language its own. The first nine have a key each that stamps when they were asked.
    """

    interview: str
    questions: Guide | dict[str, Guide] = ()

    def texts(self) -> tuple[str, ...]:
        return (self.interview,)

    def guide(self, language: str) -> tuple[str, ...]:
        """The questions in one language."""
        return self.questions[language] if isinstance(self.questions, dict) else self.questions


class DebriefItem(Item):
    debrief: str

    def texts(self) -> tuple[str, ...]:
        return (self.debrief,)


class EachItem(Item):
    """A part of the flow that is gone through once for every drawn cell, with its variables."""

    each: str
    flow: tuple[InnerItem, ...] = Field(min_length=1, max_length=100)


KINDS: dict[str, type[Item]] = {
    "consent": ConsentItem,
    "tutorial": TutorialItem,
    "practice": PracticeItem,
    "stages": StagesItem,
    "questionnaire": QuestionnaireItem,
    "method": MethodItem,
    "warm_up": WarmUpItem,
    "text": TextItem,
    "break": BreakItem,
    "interview": InterviewItem,
    "debrief": DebriefItem,
    "each": EachItem,
}


def _flow_key(item: Any) -> str:
    """The kind of an item: the one of its keys that names a kind, else a key that names none."""
    if isinstance(item, BaseModel):
        return next(key for key, kind in KINDS.items() if type(item) is kind)
    keys = [str(key) for key in item] if isinstance(item, dict) else []
    return next((key for key in ("each", *KINDS) if key in keys), next(iter(keys), "nothing"))


InnerItem = Annotated[
    Annotated[TutorialItem, Tag("tutorial")]
    | Annotated[PracticeItem, Tag("practice")]
    | Annotated[StagesItem, Tag("stages")]
    | Annotated[QuestionnaireItem, Tag("questionnaire")]
    | Annotated[MethodItem, Tag("method")]
    | Annotated[WarmUpItem, Tag("warm_up")]
    | Annotated[TextItem, Tag("text")]
    | Annotated[BreakItem, Tag("break")]
    | Annotated[InterviewItem, Tag("interview")],
    Discriminator(_flow_key),
]
FlowItem = Annotated[
    Annotated[ConsentItem, Tag("consent")]
    | Annotated[TutorialItem, Tag("tutorial")]
    | Annotated[PracticeItem, Tag("practice")]
    | Annotated[StagesItem, Tag("stages")]
    | Annotated[QuestionnaireItem, Tag("questionnaire")]
    | Annotated[MethodItem, Tag("method")]
    | Annotated[WarmUpItem, Tag("warm_up")]
    | Annotated[TextItem, Tag("text")]
    | Annotated[BreakItem, Tag("break")]
    | Annotated[InterviewItem, Tag("interview")]
    | Annotated[DebriefItem, Tag("debrief")]
    | Annotated[EachItem, Tag("each")],
    Discriminator(_flow_key),
]
EachItem.model_rebuild()


Place = tuple[str | int, ...]
"""Where an item stands in the study file."""


def placed_items(flow: Sequence[Item]) -> Iterator[tuple[Place, Item]]:
    """Every item and where it stands, those inside `each` after it."""
    for index, item in enumerate(flow):
        yield ("flow", index), item
        if isinstance(item, EachItem):
            for at, inner in enumerate(item.flow):
                yield ("flow", index, "flow", at), inner


def items_of(flow: Sequence[Item]) -> Iterator[Item]:
    """Every item, those inside `each` after it."""
    return (item for _, item in placed_items(flow))


def unrolled(
    flow: Sequence[Item],
    variables: Mapping[str, Value],
    drawn: tuple[str, Cells] | None,
    cells: Sequence[str],
) -> Iterator[tuple[Item, Scope]]:
    """The items one participant goes through, with the variables at each.

    variables: those by participant number; drawn: the study's drawn variable; cells: the names of
    what was drawn. With a single cell its variables hold in the whole flow, with several only
    inside `each`.
    """
    scope = dict(variables)
    if drawn is not None and drawn[1].draw == 1:
        scope |= of_cell(*drawn, cells[0])
    for item in flow:
        if not matches(item.only_if, scope):
            continue
        if not isinstance(item, EachItem):
            yield item, scope
            continue
        assert drawn is not None
        for cell in cells:
            inside = scope | of_cell(*drawn, cell)
            yield from ((one, inside) for one in item.flow if matches(one.only_if, inside))
