"""Stretches that raters set themselves, as continua that several of them coded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.agreement.continuum import ATOM_NS, Continuum, Span, instants, labels_at
from labapp.agreement.ratings import MISSING, Ratings
from labapp.annotations.model import Mark
from labapp.annotations.reliability.gathering import (
    CodedSession,
    Coding,
    TierCoding,
    participant_numbers,
    session_numbers,
)
from labapp.annotations.reliability.units import PRESENCE

Chosen = Callable[[Mark], bool]


@dataclass(frozen=True, slots=True)
class SharedStretch:
    """Session time that the same raters were to code.

    Attributes
    ----------
    session : of which.
    raters : two or more.
    t0, t1 : from and to, in whole atoms of time.
    spans : by rater, cut to the stretch, in whole atoms of time.
    points : by rater moments with their codes.
    """

    session: CodedSession
    raters: tuple[str, ...]
    t0: int
    t1: int
    spans: tuple[tuple[Span, ...], ...]
    points: tuple[tuple[tuple[int, str], ...], ...]

    def of_code(self, code: str) -> SharedStretch:
        """One code alone; stretches of a rater that overlap are one."""
        spans = tuple(
            tuple(_joined([span for span in own if span.code == code])) for own in self.spans
        )
        points = tuple(tuple(point for point in own if point[1] == code) for own in self.points)
        return SharedStretch(self.session, self.raters, self.t0, self.t1, spans, points)

    @property
    def overlapping(self) -> bool:
        """Whether stretches of a rater overlap."""
        return any(b.start < a.end for own in self.spans for a, b in pairwise(sorted(own)))


def shared_stretches(tier: TierCoding, raters: Sequence[str]) -> tuple[SharedStretch, ...]:
    """What two or more of these raters were to code.

    Parameters
    ----------
    tier : a tier whose codes are given to spans.
    raters : who is compared.
    """
    return tuple(stretch for coding in tier.codings for stretch in _shared(coding, tuple(raters)))


def continua(stretches: Sequence[SharedStretch]) -> tuple[list[Continuum], list[int]]:
    """For u-alpha, with the number of the participant of each."""
    parts = [Continuum(each.t0, each.t1, each.spans) for each in stretches]
    return parts, participant_numbers(each.session for each in stretches)


def at_instants(stretches: Sequence[SharedStretch], step: int) -> Ratings:
    """What two raters have at every instant of a grid that begins with each stretch.

    step: of the grid, in whole atoms of time.
    """
    labels: dict[frozenset[str], int] = {}
    codes: list[NDArray[np.int64]] = []
    for stretch in stretches:
        grid = instants(stretch.t0, stretch.t1 - 1, step)
        codes.append(np.stack([labels_at(own, grid, labels) for own in stretch.spans], axis=1))
    return _ratings(stretches, codes, tuple(labels))


def in_windows(stretches: Sequence[SharedStretch], step: int) -> Ratings:
    """Whether raters have a moment in each window of a grid that begins with each stretch, as
    `PRESENCE`.

    step: length of a window, in whole atoms of time.
    """
    codes: list[NDArray[np.int64]] = []
    columns = sorted({rater for stretch in stretches for rater in stretch.raters})
    for stretch in stretches:
        present = np.full((-(-(stretch.t1 - stretch.t0) // step), len(columns)), MISSING, np.int64)
        for rater, own in zip(stretch.raters, stretch.points, strict=True):
            present[:, columns.index(rater)] = 0
            hit = [(t - stretch.t0) // step for t, _ in own]
            present[hit, columns.index(rater)] = 1
        codes.append(present)
    return _ratings(stretches, codes, PRESENCE)


def _ratings(
    stretches: Sequence[SharedStretch], codes: Sequence[NDArray[np.int64]], scale: tuple[Any, ...]
) -> Ratings:
    """codes: of each stretch, (n_units, n_raters)."""
    sessions = [stretch.session for stretch in stretches]
    units = [len(own) for own in codes]
    return Ratings(
        np.concatenate(codes),
        scale,
        np.repeat(np.array(participant_numbers(sessions), np.int64), units),
        np.repeat(np.array(session_numbers(sessions), np.int64), units),
    )


def differences(stretch: SharedStretch) -> Iterator[tuple[int, int, tuple[frozenset[str], ...]]]:
    """Where raters have different codes: from and to, in whole atoms of time, and what each has."""
    edges = {stretch.t0, stretch.t1}
    edges.update(edge for own in stretch.spans for span in own for edge in span[:2])
    pending: tuple[int, int, tuple[frozenset[str], ...]] | None = None
    for begin, end in pairwise(sorted(edges)):
        codes = tuple(
            frozenset(span.code for span in own if span.start <= begin < span.end)
            for own in stretch.spans
        )
        if pending is not None and (pending[1], pending[2]) == (begin, codes):
            pending = (pending[0], end, codes)
            continue
        if pending is not None:
            yield pending
        pending = (begin, end, codes) if len(set(codes)) > 1 else None
    if pending is not None:
        yield pending


def _shared(coding: Coding, raters: tuple[str, ...]) -> Iterator[SharedStretch]:
    present = [r for r in raters if r in coding.marks and r not in coding.partial]
    edges = sorted({edge for rater in present for pair in coding.stretches[rater] for edge in pair})
    for t0, t1 in pairwise(edges):
        here = tuple(rater for rater in present if coding.covers(rater, t0))
        begin, end = t0 // ATOM_NS, t1 // ATOM_NS
        if len(here) < 2 or begin == end:
            continue
        yield SharedStretch(
            coding.session,
            here,
            begin,
            end,
            tuple(tuple(_spans(coding.marks[rater], begin, end)) for rater in here),
            tuple(tuple(_points(coding.marks[rater], begin, end)) for rater in here),
        )


def _spans(marks: Sequence[Mark], begin: int, end: int) -> Iterator[Span]:
    for mark in sorted(marks, key=lambda mark: (mark.t0_ns, mark.t1_ns)):
        t0, t1 = max(begin, mark.t0_ns // ATOM_NS), min(end, mark.t1_ns // ATOM_NS)
        if t0 < t1:
            yield Span(t0, t1, mark.code)


def _points(marks: Sequence[Mark], begin: int, end: int) -> Iterator[tuple[int, str]]:
    for mark in marks:
        if mark.t0_ns == mark.t1_ns and begin <= mark.t0_ns // ATOM_NS < end:
            yield mark.t0_ns // ATOM_NS, mark.code


def _joined(spans: Sequence[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in sorted(spans):
        if last is not None and span.start < last.end:
            last = last._replace(end=max(last.end, span.end))
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last
