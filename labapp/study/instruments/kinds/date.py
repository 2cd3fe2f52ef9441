"""A date that is typed. What is stored is the date as `YYYY-MM-DD`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from labapp.study.instruments.items import SomeWords, Typed
from labapp.study.plugins.bids import Column

_WRITTEN = (
    re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"),
    re.compile(r"(?P<day>[0-9]{1,2})\.\s?(?P<month>[0-9]{1,2})\.\s?(?P<year>[0-9]{4})"),
)
"""As ISO 8601 has it, and as German does. With strokes nobody knows which number is the month."""
_YEARS = 50
"""Where a bound is missing, simulated participants stay within so many years of the other one."""


class Date(Typed):
    """A date that is typed, as 2026-11-28 or 28.11.2026.

    Attributes
    ----------
    earliest : the earliest possible date (default: any).
    latest : the latest possible date (default: any).
    """

    own_words: ClassVar[frozenset[str]] = frozenset({""})

    kind: Literal["date"]
    text: SomeWords
    earliest: date | None = None
    latest: date | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.earliest is not None and self.latest is not None and self.earliest > self.latest:
            raise ValueError("earliest before latest")
        return self

    def read(self, typed: str) -> str | None:
        known = next((match for each in _WRITTEN if (match := each.fullmatch(typed))), None)
        if known is None:
            return None
        try:
            day = date(*(int(known[part]) for part in ("year", "month", "day")))
        except ValueError:
            return None
        early = self.earliest is not None and day < self.earliest
        late = self.latest is not None and day > self.latest
        return None if early or late else day.isoformat()

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and self.read(value) == value

    def column(self, where: str) -> Column:
        return Column("", f"{self.title} ({where}; year, month and day)")

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> str:
        span = timedelta(days=round(365.25 * _YEARS))
        latest = self.latest or (self.earliest + span if self.earliest else date(2026, 1, 1))
        earliest = self.earliest or latest - span
        days = int(rng.integers((latest - earliest).days + 1))
        return (earliest + timedelta(days=days)).isoformat()
