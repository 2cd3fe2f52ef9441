"""One of several options, or any number of them.

What is stored is `{"chosen": [ids of options], "described": text}`, where `described` stands only
beside the chosen option that is described in one's own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field, field_validator

from labapp.base.documents import refuse_again
from labapp.study.conditions import Value, as_tuple
from labapp.study.instruments.items import DESCRIBED_LONGEST, REMARK, Listed, Option, clean_text
from labapp.study.plugins.bids import Column


def with_shared_options(schema: dict[str, Any]) -> None:
    """In a file an option may be the id of one that the instrument shares."""
    options = schema["properties"]["options"]
    options["items"] = {"anyOf": [options["items"], {"type": "string"}]}


class Choosing(Listed):
    """What asks to choose.

    Attributes
    ----------
    options : the answers to choose from, or the id of options that the questionnaire shares.
    """

    own_words = frozenset({"chosen"})
    chooses: ClassVar[bool] = True
    more: ClassVar[Mapping[str, str]] = {"described": "In their own words"}
    model_config = ConfigDict(json_schema_extra=with_shared_options)

    options: tuple[Option, ...] = Field(min_length=2, max_length=40)

    @field_validator("options")
    @classmethod
    def _distinct(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        ids = [option.id for option in options]
        refuse_again(ids, key=("id",))
        if sum(option.describe for option in options) > 1:
            raise ValueError("at most one option with describe")
        return options

    def answer_words(self) -> dict[str, str]:
        return {option.id: option.text for option in self.options}

    def offered(self) -> tuple[str, ...]:
        return tuple(option.id for option in self.options)

    @property
    def title(self) -> str:
        return self.name or self.text or " / ".join(option.text for option in self.options)

    def check(self, value: Any) -> dict[str, Any]:
        """The options in their order, and the description where one of them takes one. A tuple,
        as events give lists back: a session folded again is then equal to the live one."""
        if not isinstance(value, Mapping) or set(value) - {"chosen", "described"}:
            raise ValueError(f"{self.id}: {value!r} is not a choice")
        wanted, described = value.get("chosen"), value.get("described", "")
        known = {option.id: option for option in self.options}
        if (
            not isinstance(wanted, Sequence)
            or isinstance(wanted, str)
            or any(not isinstance(option, str) or option not in known for option in wanted)
        ):
            raise ValueError(f"{self.id}: {wanted!r} are not among {', '.join(known)}")
        chosen = [option for option in self.options if option.id in wanted]
        if len(chosen) > 1 and (not self.several or any(option.alone for option in chosen)):
            raise ValueError(f"{self.id}: {wanted!r} cannot be chosen together")
        checked: dict[str, Any] = {"chosen": tuple(option.id for option in chosen)}
        if any(option.describe for option in chosen):
            checked["described"] = clean_text(described, DESCRIBED_LONGEST, lines=False)
        return checked

    def values(self, value: Any) -> tuple[Value, ...]:
        return tuple(value["chosen"]) if value is not None else ()

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return self.check({"chosen": values if self.several else values[:1]})

    def answered(self, value: Any) -> bool:
        return value is not None and bool(value["chosen"])

    def said(self, value: Any) -> str:
        words = self.answer_words()
        listed = ", ".join(words[option] for option in value["chosen"])
        return f"{listed}: {value['described']}" if value.get("described") else listed

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        """The options as one cell."""
        described = {"described": value["described"]} if "described" in value else {}
        return {"": ";".join(value["chosen"]), **described}

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, Any]:
        first = self.options[int(rng.integers(len(self.options)))]
        chosen = [first]
        if self.several and not first.alone and rng.random() < 0.3:
            others = [option for option in self.options if option is not first and not option.alone]
            chosen += others[: int(rng.integers(len(others) + 1))]
        value: dict[str, Any] = {"chosen": [option.id for option in chosen]}
        if any(option.describe for option in chosen):
            value["described"] = REMARK
        return self.check(value)


class OneChoice(Choosing):
    """One of several options."""

    at_once: ClassVar[bool] = True

    def one_of(self) -> tuple[str, ...]:
        return self.offered()

    def column(self, where: str) -> Column:
        return Column("", f"{self.title} ({where})", levels=self.answer_words())


class Choice(OneChoice):
    """One of several options."""

    kind: Literal["choice"]


class Choices(Choosing):
    """Any number of several options."""

    several: ClassVar[bool] = True

    kind: Literal["choices"]

    def right_cells(self) -> tuple[Value, ...]:
        right = as_tuple(self.right)
        return (self.cells(self.answer_of(right))[""],) if right else ()

    def column(self, where: str) -> Column:
        levels = ", ".join(f"{option.id} = {option.text}" for option in self.options)
        chosen = "all that were chosen, with ; between them"
        return Column("", f"{self.title} ({where}; {chosen}; {levels})")
