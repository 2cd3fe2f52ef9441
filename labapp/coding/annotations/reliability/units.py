"""Codes and values of units as tables of ratings: a row a unit, a column a rater."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labapp.coding.agreement.ratings import Ratings, ratings_of
from labapp.coding.annotations.model import Mark, Unit
from labapp.coding.annotations.reliability.gathering import (
    CodedSession,
    Coding,
    TierCoding,
    participant_numbers,
    session_numbers,
)

NO_CODE = "(no code)"
"""What an optional tier has where a rater left a unit without a code."""

PRESENCE = ("absent", "present")
"""Of one code against all others."""


@dataclass(frozen=True, slots=True)
class CodedUnit:
    """A unit and what each rater gave to it.

    Attributes
    ----------
    codes : by rater; None where a rater was not to code the unit, or left it out.
    values : by rater the values given with codes.
    """

    session: CodedSession
    unit: Unit
    codes: tuple[frozenset[str] | None, ...]
    values: tuple[dict[str, int], ...]


@dataclass(frozen=True, slots=True)
class UnitTable:
    """The units of a tier that somebody coded.

    Attributes
    ----------
    raters : the columns.
    rows : in order of sessions and time.
    remarks : what was left out and why, a sentence each.
    """

    raters: tuple[str, ...]
    rows: tuple[CodedUnit, ...]
    remarks: tuple[str, ...]

    def of(self, raters: Sequence[str]) -> UnitTable:
        """The same by some of the raters, units that two of them coded."""
        columns = [self.raters.index(rater) for rater in raters]
        rows = (
            CodedUnit(
                row.session,
                row.unit,
                tuple(row.codes[at] for at in columns),
                tuple(row.values[at] for at in columns),
            )
            for row in self.rows
        )
        several = tuple(row for row in rows if sum(each is not None for each in row.codes) > 1)
        return UnitTable(tuple(raters), several, self.remarks)

    def codes(self, scale: Sequence[str], optional: bool) -> Ratings:
        """One code a unit, of a tier on which one holds at a time."""
        return self._ratings(
            [
                [None if c is None else next(iter(c), NO_CODE) for c in row.codes]
                for row in self.rows
            ],
            [*scale, NO_CODE] if optional else scale,
        )

    def sets(self) -> Ratings:
        """All codes of a unit as a set."""
        rows: list[list[Hashable | None]] = [list(row.codes) for row in self.rows]
        return self._ratings(rows)

    def presence(self, code: str) -> Ratings:
        """Whether a unit has a code, as `PRESENCE`."""
        rows = [
            [None if c is None else PRESENCE[code in c] for c in row.codes] for row in self.rows
        ]
        return self._ratings(rows, PRESENCE)

    def values_of(self, code: str, scale: Sequence[int]) -> Ratings:
        """The values given with a code."""
        rows = [[values.get(code) for values in row.values] for row in self.rows]
        return self._ratings(rows, scale)

    def _ratings(
        self, rows: Sequence[Sequence[Hashable | None]], scale: Sequence[Hashable] | None = None
    ) -> Ratings:
        if not rows:
            nothing = np.empty((0, len(self.raters)), np.int64)
            none = np.empty(0, np.int64)
            return Ratings(nothing, tuple(scale or ()), none, none)
        sessions = [row.session for row in self.rows]
        return ratings_of(
            rows, scale, participant_numbers(sessions), session_numbers(sessions)
        ).comparable()


def unit_table(tier: TierCoding, *, everybody: bool = False) -> UnitTable:
    """The units of frozen segmentations with what raters gave to them.

    Parameters
    ----------
    tier : a tier whose codes are given to units.
    everybody : whether units of all speakers are compared, not the participant's alone.
    """
    raters = tier.raters
    rows: list[CodedUnit] = []
    remarks: list[str] = []
    for coding in tier.codings:
        segmentation = coding.session.annotations.segmentation
        if not segmentation.frozen:
            remarks.append(
                f"{coding.session.name}: its units are not frozen, so that raters may have coded "
                "different ones; it is left out."
            )
            continue
        ids = {unit.id for unit in segmentation.units}
        if gone := sum(mark.unit not in ids for own in coding.marks.values() for mark in own):
            remarks.append(
                f"{coding.session.name}: {gone} marks are left out, whose units have since been "
                "changed."
            )
        by_unit: dict[tuple[str, str | None], list[Mark]] = {}
        for rater, own in coding.marks.items():
            for mark in own:
                by_unit.setdefault((rater, mark.unit), []).append(mark)
        for unit in segmentation.units:
            if everybody or unit.speaker == "participant":
                row = _coded(tier, coding, unit, raters, by_unit)
                if any(codes is not None for codes in row.codes):
                    rows.append(row)
    return UnitTable(raters, tuple(rows), tuple(remarks))


def _coded(
    tier: TierCoding,
    coding: Coding,
    unit: Unit,
    raters: Sequence[str],
    by_unit: Mapping[tuple[str, str | None], list[Mark]],
) -> CodedUnit:
    codes: list[frozenset[str] | None] = []
    values: list[dict[str, int]] = []
    for rater in raters:
        marks = by_unit.get((rater, unit.id), [])
        if tier.tier.exclusive and len(marks) > 1:  # of files that were joined: the last one holds
            marks = [max(marks, key=lambda mark: (mark.utc, mark.id))]
        none: frozenset[str] | None = None
        whole = rater in coding.marks and rater not in coding.partial
        if tier.tier.optional and whole and coding.covers(rater, unit.t0_ns):
            none = frozenset()
        codes.append(frozenset(mark.code for mark in marks) or none)
        values.append({mark.code: mark.value for mark in marks if mark.value is not None})
    return CodedUnit(coding.session, unit, tuple(codes), tuple(values))
