"""Questionnaires as files: one instrument a YAML, checked, versioned, in any language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from labapp.documents import parse_yaml, refusal
from labapp.study.schema import Strict


class Scale(Strict):
    """A rating from 1 to `points` between two anchors; nothing is preselected."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    text: str = Field(min_length=1)
    points: int = Field(ge=2, le=101)
    low: str
    high: str
    required: bool = True

    def check(self, value: Any) -> int:
        """The answer as stored. Raises ValueError outside 1..points."""
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self.points:
            raise ValueError(f"{self.id}: {value!r} is not one of 1 to {self.points}")
        return value


class Instrument(Strict):
    """A questionnaire that fits one screen."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    version: int = Field(ge=1)
    title: str
    instruction: str = ""
    source: str
    items: tuple[Scale, ...] = Field(min_length=1)

    @field_validator("items")
    @classmethod
    def _unique(cls, items: tuple[Scale, ...]) -> tuple[Scale, ...]:
        ids = [item.id for item in items]
        if len(set(ids)) != len(ids):
            raise ValueError("two items have the same id")
        return items

    def item(self, item_id: str) -> Scale:
        """Raises KeyError for an unknown item."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(item_id)

    def missing(self, answers: Mapping[str, Any]) -> tuple[Scale, ...]:
        """Required items without an answer."""
        return tuple(item for item in self.items if item.required and item.id not in answers)

    @classmethod
    def parse(cls, path: Path, content: bytes) -> Instrument:
        """Check an instrument file. Raises StudyError with line, key, found, allowed."""
        located = parse_yaml(path, content)
        try:
            return cls.model_validate(located.value)
        except ValidationError as error:
            raise refusal(path, located, error, "instrument", cls) from error
