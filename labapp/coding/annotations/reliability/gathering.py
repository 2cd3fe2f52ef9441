"""What of a study may be compared: by codebook, tier and round, the marks of each rater.

Codes and values of units as tables of ratings: one row per unit, one column per rater.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from labapp.coding.agreement.measure import Ratings, ratings_of
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.model import (
    Assignment,
    Mark,
    RaterMarks,
    Round,
    SessionAnnotations,
    Unit,
)
from labapp.coding.annotations.texts import join_ranges

Phase = Literal["independent", "training"]
"""Of a round that is compared: what is reported, and what the raters learnt on."""

Stretch = tuple[int, int]
"""Session time from and to in nanoseconds; the end does not belong to it."""


@dataclass(frozen=True, slots=True)
class CodedSession:
    """A session with its annotations.

    Attributes
    ----------
    participant : str
        Whose session it is: what one participant says is not independent, in whichever session.
    begin_ns, end_ns : session time in which marks may lie.
    """

    study: str
    participant: str
    annotations: SessionAnnotations
    begin_ns: int
    end_ns: int
    assignments: tuple[Assignment, ...] = ()

    @property
    def name(self) -> str:
        return self.annotations.session


def participant_numbers(sessions: Iterable[CodedSession]) -> list[int]:
    """The number of each session's participant, from 0 in order of appearance."""
    return _number_names((session.study, session.participant) for session in sessions)


def session_numbers(sessions: Iterable[CodedSession]) -> list[int]:
    """By session its own number, likewise."""
    return _number_names((session.study, session.name) for session in sessions)


def _number_names(names: Iterable[tuple[str, str]]) -> list[int]:
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


@dataclass(frozen=True, slots=True)
class SessionCoding:
    """The coding of a tier in a session.

    Attributes
    ----------
    marks : by rater, those of the tier; a rater who coded and gave none has an empty tuple.
    stretches : by rater what he or she was to code, in order of time.
    partial : raters who coded the session by several versions of the codebook, so that what has no
        code by this one may have one by another.
    """

    session: CodedSession
    marks: Mapping[str, tuple[Mark, ...]]
    stretches: Mapping[str, tuple[Stretch, ...]]
    partial: frozenset[str] = frozenset()

    def covers(self, rater: str, t_ns: int) -> bool:
        """Whether a rater was to code that time."""
        return any(t0 <= t_ns < t1 for t0, t1 in self.stretches.get(rater, ()))


@dataclass(frozen=True, slots=True)
class TierCoding:
    """Everything that is compared together: a tier by one version of a codebook, in one round."""

    codebook: Codebook
    tier: Tier
    phase: Phase
    codings: tuple[SessionCoding, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who coded it, by name."""
        return tuple(sorted({rater for coding in self.codings for rater in coding.marks}))


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is compared, and what is not. tiers: by codebook, version, tier and round; left_out:
    what is not compared and why, a sentence each."""

    tiers: tuple[TierCoding, ...]
    left_out: tuple[str, ...]


@dataclass(slots=True)
class _Gathering:
    tiers: dict[tuple[str, str, Phase], dict[int, dict[str, list[Mark]]]] = field(
        default_factory=dict
    )
    left_out: Counter[str] = field(default_factory=Counter)
    partial: set[tuple[str, Phase, int, str]] = field(default_factory=set)


def gather(sessions: Sequence[CodedSession], codebooks: Mapping[str, Codebook]) -> Gathered:
    """Sort the marks of sessions into what may be compared. sessions: of one study or several;
    codebooks: the versions by their SHA-256."""
    work = _Gathering()
    for number, session in enumerate(sessions):
        for rater in session.annotations.raters.values():
            _sort(work, sessions, number, rater, codebooks)
    tiers = []
    for (sha, tier, phase), of_session in work.tiers.items():
        book = codebooks[sha]
        if any(marks for raters in of_session.values() for marks in raters.values()):
            tiers.append(_tier_coding(work, book, tier, phase, sessions, of_session))
        else:
            name = f"{tier} of {book.id}, version {book.version}"
            work.left_out[f"{name}: nobody used a code of this tier ({phase})"] += len(of_session)
    tiers.sort(
        key=lambda each: (
            each.codebook.id,
            each.codebook.version,
            each.codebook.sha256,
            each.phase == "training",
            each.codebook.tiers.index(each.tier),
        )
    )
    left_out = tuple(
        f"{text} ({times} session{'s' * (times != 1)})." for text, times in work.left_out.items()
    )
    return Gathered(tuple(tiers), left_out)


def _sort(
    work: _Gathering,
    sessions: Sequence[CodedSession],
    number: int,
    rater: RaterMarks,
    codebooks: Mapping[str, Codebook],
) -> None:
    """Put the marks of a rater in a session where they belong."""
    if rater.machine:
        if rater.marks:
            work.left_out[f"{rater.rater}: these marks were not made by a person"] += 1
        return
    if (looked := _find_unused_codebook(rater, codebooks)) is not None:
        work.left_out[
            f"{rater.rater}: opened {looked.id}, version {looked.version}, but coded with "
            "another codebook and used none of its codes; not counted as coded with it"
        ] += 1
    for sha, round_ in _kinds(rater):
        own = [mark for mark in rater.marks if (mark.codebook, mark.round) == (sha, round_)]
        if round_ == "reconciled":
            work.left_out[
                f"{rater.rater}: what was settled after a discussion does not count as agreement"
            ] += 1
            continue
        status = rater.status_of(round_)
        if round_ == "independent" and status != "locked":
            work.left_out[
                f"{rater.rater}: independent coding that is not locked yet ({status}); it is "
                "compared once it is locked: *Raters*, *Mark done or lock…* on the Coding page "
                "(labapp code lock)"
            ] += 1
            continue
        codebook = codebooks.get(sha)
        if codebook is None:
            work.left_out[
                f"{rater.rater}: marks made with a version of a codebook that is not in the "
                f"study ({sha[:12] or 'none named'})"
            ] += 1
            continue
        phase: Phase = "training" if round_ == "training" else "independent"
        session = sessions[number]
        assigned = _stretches(session, rater.rater, phase)
        within = [mark for mark in own if any(_meets(mark, stretch) for stretch in assigned)]
        if outside := len(own) - len(within):
            work.left_out[
                f"{rater.rater}, {session.name}: {outside} marks outside the part that was to "
                "be coded"
            ] += 1
        if len(_versions(rater, round_, codebook, codebooks)) > 1:
            work.partial.add((sha, phase, number, rater.rater))
            work.left_out[
                f"{rater.rater}, {session.name}: coded with several versions of {codebook.id}; "
                "what has no code from a version counts as not coded with it, and spans are "
                "not compared"
            ] += 1
        known = {tier.name for tier in codebook.tiers}
        if strange := sorted({mark.tier for mark in own} - known):
            work.left_out[
                f"{rater.rater}: marks with {', '.join(strange)}, which the codebook "
                f"{codebook.id} does not contain"
            ] += 1
        for tier in codebook.tiers:
            of_session = work.tiers.setdefault((sha, tier.name, phase), {})
            of_session.setdefault(number, {})[rater.rater] = [
                mark for mark in within if mark.tier == tier.name
            ]


def _kinds(rater: RaterMarks) -> list[tuple[str, Round]]:
    """By which versions and in which rounds a rater coded a session; a rater who opened it and gave
    nothing at all in that round has coded it, too."""
    kinds = {(mark.codebook, mark.round) for mark in rater.marks}
    if rater.codebook and not any(round_ == rater.round for _, round_ in kinds):
        kinds.add((rater.codebook, rater.round))
    return sorted(kinds)


def _find_unused_codebook(rater: RaterMarks, codebooks: Mapping[str, Codebook]) -> Codebook | None:
    """The codebook that a rater opened last and gave nothing by, having coded by another one: it
    cannot be told whether there was nothing to code."""
    opened = codebooks.get(rater.codebook)
    used = {mark.codebook for mark in rater.marks if mark.round == rater.round}
    if not used or opened is None or _versions(rater, rater.round, opened, codebooks):
        return None
    return opened


def _versions(
    rater: RaterMarks, round_: Round, codebook: Codebook, codebooks: Mapping[str, Codebook]
) -> set[str]:
    """The versions of a codebook by which a rater gave marks in a round."""
    used = {mark.codebook for mark in rater.marks if mark.round == round_}
    return {sha for sha in used if (book := codebooks.get(sha)) and book.id == codebook.id}


def _tier_coding(
    work: _Gathering,
    codebook: Codebook,
    name: str,
    phase: Phase,
    sessions: Sequence[CodedSession],
    of_session: Mapping[int, Mapping[str, Sequence[Mark]]],
) -> TierCoding:
    tier = next(tier for tier in codebook.tiers if tier.name == name)
    codings = tuple(
        SessionCoding(
            sessions[number],
            {rater: tuple(marks) for rater, marks in sorted(raters.items())},
            {rater: _stretches(sessions[number], rater, phase) for rater in raters},
            frozenset(r for r in raters if (codebook.sha256, phase, number, r) in work.partial),
        )
        for number, raters in sorted(of_session.items())
    )
    return TierCoding(codebook, tier, phase, codings)


def _meets(mark: Mark, stretch: Stretch) -> bool:
    """Whether a mark is of a stretch: a mark on a unit by its beginning, others by any part."""
    begin, end = stretch
    if mark.unit is not None or mark.t0_ns == mark.t1_ns:
        return begin <= mark.t0_ns < end
    return mark.t0_ns < end and begin < mark.t1_ns


def _stretches(session: CodedSession, rater: str, phase: Phase) -> tuple[Stretch, ...]:
    """What a rater was to code, joined where it touches: the whole session where nothing was
    assigned."""
    assigned = join_ranges(
        (entry.t0_ns, entry.t1_ns)
        for entry in session.assignments
        if (entry.session, entry.rater, entry.round) == (session.name, rater, phase)
    )
    return tuple(assigned) or ((session.begin_ns, session.end_ns),)


NO_CODE = "(no code)"
"""What an optional tier has if a rater left a unit without a code."""

PRESENCE = ("absent", "present")
"""Of one code against all others."""


@dataclass(frozen=True, slots=True)
class CodedUnit:
    """A unit and what each rater gave to it.

    Attributes
    ----------
    codes : by rater; None if a rater was not to code the unit, or left it out.
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
    """The units of frozen segmentations with what raters gave to them. tier: a tier whose codes are
    given to units; everybody: whether units of all speakers are compared, not only the
    participant's."""
    raters = tier.raters
    rows: list[CodedUnit] = []
    remarks: list[str] = []
    for coding in tier.codings:
        segmentation = coding.session.annotations.segmentation
        if not segmentation.frozen:
            remarks.append(
                f"{coding.session.name}: its units are not frozen, so raters may have coded "
                "different ones. It is left out."
            )
            continue
        ids = {unit.id for unit in segmentation.units}
        if gone := sum(mark.unit not in ids for own in coding.marks.values() for mark in own):
            remarks.append(
                f"{coding.session.name}: {gone} marks are left out because their units have "
                "changed since."
            )
        by_unit: dict[tuple[str, str | None], list[Mark]] = {}
        for rater, own in coding.marks.items():
            for mark in own:
                by_unit.setdefault((rater, mark.unit), []).append(mark)
        for unit in segmentation.units:
            if everybody or unit.speaker == "participant":
                row = _collect_unit_codes(tier, coding, unit, raters, by_unit)
                if any(codes is not None for codes in row.codes):
                    rows.append(row)
    return UnitTable(raters, tuple(rows), tuple(remarks))


def _collect_unit_codes(
    tier: TierCoding,
    coding: SessionCoding,
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
