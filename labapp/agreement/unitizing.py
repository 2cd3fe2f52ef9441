"""The older alpha for stretches of time, for comparison with papers that give it.

Notes
-----
Krippendorff, Content Analysis, 2nd edition (2004), pp. 251-256. It compares each category by itself
and counts how far the ends of stretches are apart; u-alpha of `labapp.agreement.continuum` has
taken its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labapp.agreement.continuum import Continuum, Span


@dataclass(frozen=True, slots=True)
class UnitizingAlpha:
    """The older alpha of a category, or of several.

    Attributes
    ----------
    observed, expected : disagreement; of several categories their sums.
    """

    observed: float
    expected: float

    @property
    def value(self) -> float | None:
        """Alpha; None where no disagreement is expected."""
        return 1 - self.observed / self.expected if self.expected else None


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    length: int
    coded: bool


def unitizing_alpha(continuum: Continuum, codes: Sequence[str] = ()) -> UnitizingAlpha:
    """The older alpha of what raters coded of one stretch of time.

    Parameters
    ----------
    continuum : with two raters or more.
    codes : the categories; by default all that were given.

    Raises
    ------
    ValueError : there are fewer than two raters.
    """
    if len(continuum.raters) < 2:
        raise ValueError("two raters or more are compared")
    given = {span.code for spans in continuum.raters for span in spans}
    observed = expected = 0.0
    for code in codes or sorted(given):
        raters = [
            _sections(continuum, [span for span in spans if span.code == code])
            for spans in continuum.raters
        ]
        observed += _observed(raters, continuum.end - continuum.start)
        expected += _expected(raters, continuum.end - continuum.start)
    return UnitizingAlpha(observed, expected)


def _sections(continuum: Continuum, spans: Sequence[Span]) -> list[_Section]:
    """Stretches of a code and the gaps between them."""
    sections: list[_Section] = []
    at = continuum.start
    for span in sorted(spans):
        if span.start > at:
            sections.append(_Section(at, span.start - at, False))
        sections.append(_Section(span.start, span.end - span.start, True))
        at = span.end
    if continuum.end > at:
        sections.append(_Section(at, continuum.end - at, False))
    return sections


def _observed(raters: Sequence[Sequence[_Section]], length: int) -> float:
    total = sum(
        _difference(one, other)
        for i, first in enumerate(raters)
        for j, second in enumerate(raters)
        if i != j
        for one in first
        for other in second
    )
    return total / (len(raters) * (len(raters) - 1) * length**2)


def _difference(one: _Section, other: _Section) -> int:
    apart = one.start - other.start
    if one.coded and other.coded:
        if -one.length < apart < other.length:
            return int(apart**2 + (apart + one.length - other.length) ** 2)
        return 0
    if one.coded and 0 <= apart <= other.length - one.length:
        return int(one.length**2)
    if other.coded and 0 <= -apart <= one.length - other.length:
        return int(other.length**2)
    return 0


def _expected(raters: Sequence[Sequence[_Section]], length: int) -> float:
    sections = [section for rater in raters for section in rater]
    coded = [section.length for section in sections if section.coded]
    gaps = [section.length for section in sections if not section.coded]
    total = sum(
        (len(coded) - 1) / 3 * (2 * own**3 - 3 * own**2 + own)
        + own**2 * sum(gap - own + 1 for gap in gaps if gap >= own)
        for own in coded
    )
    whole = len(raters) * length
    pairs = whole * (whole - 1) - sum(own * (own - 1) for own in coded)
    return 2 / length * total / pairs if pairs else 0.0
