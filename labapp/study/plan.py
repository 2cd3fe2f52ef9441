"""The plan of one session: the study's flow with every choice made and every setting spelled out.

The plan is the payload of the session's first event; a resumed session and every analysis read it
from there, never from the study file again. `labapp.study.planner` makes it.

The parts that any task may put around its own: texts, breaks and questionnaires.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from labapp.base.discovery import Catalogue
from labapp.base.documents import Strict
from labapp.record.events.lifecycle import SessionPlanned
from labapp.study.conditions import Value
from labapp.study.instruments.instrument import OLD_NAMES, RULES, once_a_stage, resolve_scoring
from labapp.study.instruments.kinds import ITEM_KINDS
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart, Questionnaire


@dataclass(frozen=True)
class Plan:
    """Who does what in which order. assignment: the choices made, for people and tables."""

    participant: str
    session: str
    seed: int
    assignment: dict[str, Any]
    parts: tuple[PlannedPart, ...]


def models_of(parts: Sequence[PlannedPart]) -> tuple[str, ...]:
    """Ids of the models a plan needs, in order of first use."""
    return tuple(dict.fromkeys(model for part in parts for model in part.models()))


def to_rows(parts: Sequence[PlannedPart]) -> tuple[dict[str, Any], ...]:
    """Parts as plain values for the first event."""
    return tuple(part.model_dump(mode="json") for part in parts)


def parts_of(planned: SessionPlanned) -> tuple[PlannedPart, ...]:
    """The parts back from the first event. Raises SessionError for a kind of part that nobody
    knows, RecordError where a row does not fit."""
    return tuple(map(registry.read_part, planned.plan))


def pictures_of(parts: Iterable[PlannedPart]) -> tuple[str, ...]:
    """Every picture that the parts of a plan show, each once, in the order they come."""
    return tuple(dict.fromkeys(name for part in parts for name in part.stored_pictures()))


class PagesPart(PlannedPart):
    """A text of one or more pages; `debrief` is the last screen."""

    introduces: ClassVar[bool] = True
    part: Literal["text", "debrief"]
    document: str
    values: dict[str, str] = Field(default_factory=dict)


class BreakPart(PlannedPart):
    """A break, from which the participant goes on after `at_least_s`, or the moderator at once."""

    rests: ClassVar[bool] = True
    part: Literal["break"] = "break"
    document: str
    at_least_s: float

    @property
    def lasts_s(self) -> float:
        return self.at_least_s


OURS = "labapp"
"""The package of what is shipped."""


class Brought(Strict):
    """What an instrument needs: a kind of items, or a scoring rule. package: the one that has it,
    which is labapp for a shipped kind whose answers are not recognised by their form."""

    name: str
    package: str

    def refuse(self, known: Catalogue[Any], what: str) -> None:
        """Raise ValueError where it is not there. what: who needs it."""
        if self.name not in known or (self.name in known.shipped) != (self.package == OURS):
            raise ValueError(
                f"{what} needs {known.noun} {self.name!r} of the package {self.package}, which is "
                f"not installed here or cannot be used. {known.left_out()}".strip()
            )


class QuestionnairePart(PlannedPart):
    """An instrument; `about` is the id of the stage it asks about, null for the whole session.

    Attributes
    ----------
    items : ids in the order they are asked where it is not the listed one, or where some are asked
        once a stage; empty for as listed.
    scoring : what the instrument declares of its scores
        (`labapp.study.instruments.instrument.Score`), so that a journal can be scored without it;
        in an older journal a name.
    per_stage : items that are asked once for each stage, with the stage's number behind `_` in
        `items`.
    drops_skipped : whether items of a stage that was skipped are left out; older plans asked them.
    about_person : whether it asks who the participant is.
    orders : by item the order of its options or rows, where they are shuffled.
    kinds : by item the kinds whose answers are not recognised by their form
        (`labapp.study.instruments.kinds`), so that they can be read without the instrument.
    rules : by score the rules that packages bring (`labapp.study.instruments.instrument`).
    variables : of the study's design or assignment, those on which it depends what is asked.
    checks : its attention checks, by item the cells of the answers that pass them.
    above : a text above the questions, with what stands in it in braces in `values`, or in what the
        participant achieved.
    """

    part: Literal["questionnaire"] = "questionnaire"
    instrument: str
    about: str | None
    items: tuple[str, ...] = ()
    scoring: str | dict[str, Any] | None = None
    per_stage: tuple[str, ...] = ()
    drops_skipped: bool = False
    about_person: bool = False
    orders: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    kinds: dict[str, Brought] = Field(default_factory=dict)
    rules: dict[str, Brought] = Field(default_factory=dict)
    variables: dict[str, Value] = Field(default_factory=dict)
    checks: dict[str, tuple[Value, ...]] = Field(default_factory=dict)
    above: str | None = None
    values: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _there(self) -> QuestionnairePart:
        for item, kind in self.kinds.items():
            kind.refuse(ITEM_KINDS, f"the item {item!r}")
        for score, rule in self.rules.items():
            rule.refuse(RULES, f"the score {score!r}")
        resolve_scoring(self.scoring)
        return self

    @model_serializer(mode="wrap")
    def _as_ever(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what most have nothing of: plans are compared by their bytes."""
        row: dict[str, Any] = serialize(self)
        rare = ("orders", "kinds", "rules", "per_stage", "drops_skipped", "variables", "checks")
        return {name: value for name, value in row.items() if name not in rare or value}

    @classmethod
    def migrated(cls, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """An older plan says nothing of scoring, when the one instrument that had a score was named
        like its function; of whom it asks about, which the instrument's name told; or of what is
        asked once a stage, which only shipped instruments told."""
        instrument = row.get("instrument")
        about_person = "demographics" in str(instrument).split("-")
        per_stage = () if "per_stage" in row else once_a_stage(str(instrument), row.get("items"))
        return {
            "scoring": instrument if instrument in OLD_NAMES else None,
            "about_person": about_person,
            "per_stage": per_stage,
            **row,
        }

    def belongs_to(self) -> str | None:
        return self.about

    def questionnaire(self) -> Questionnaire:
        return Questionnaire(
            self.instrument,
            self.about,
            self.scoring,
            self.per_stage,
            self.about_person,
            {item: kind.name for item, kind in self.kinds.items()},
            self.checks,
            self.items,
        )

    def documents(self) -> Iterator[str]:
        if self.above is not None:
            yield self.above

    def filled(self) -> Collection[str]:
        """Those, and what can be said of parts that were done before."""
        return {*self.values, *registry.value_names()}
