"""What of a study may be compared: by codebook, tier and round, the marks of each rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.model import Assignment, Mark, RaterMarks, Round, SessionAnnotations
from labapp.coding.annotations.redaction import joined

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
        Whose session it is: what one participant says hangs together, in whichever session.
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
    """By session the number of its participant, from 0 in the order in which they appear."""
    return _numbered((session.study, session.participant) for session in sessions)


def session_numbers(sessions: Iterable[CodedSession]) -> list[int]:
    """By session its own number, likewise."""
    return _numbered((session.study, session.name) for session in sessions)


def _numbered(names: Iterable[tuple[str, str]]) -> list[int]:
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


@dataclass(frozen=True, slots=True)
class Coding:
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
    codings: tuple[Coding, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who coded it, by name."""
        return tuple(sorted({rater for coding in self.codings for rater in coding.marks}))


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is compared, and what is not.

    Attributes
    ----------
    tiers : by codebook, version, tier and round.
    left_out : what is not compared and why, a sentence each.
    """

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
    """Sort the marks of sessions into what may be compared.

    Parameters
    ----------
    sessions : of one study or several.
    codebooks : the versions by their SHA-256.
    """
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
            work.left_out[f"{name}: nobody gave a code of this tier ({phase})"] += len(of_session)
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
            work.left_out[f"{rater.rater}: no person gave these marks"] += 1
        return
    if (looked := _looked_into(rater, codebooks)) is not None:
        work.left_out[
            f"{rater.rater}: opened {looked.id}, version {looked.version}, and gave no code of it, "
            "having coded by another codebook; not taken as coded by it"
        ] += 1
    for sha, round_ in _kinds(rater):
        own = [mark for mark in rater.marks if (mark.codebook, mark.round) == (sha, round_)]
        if round_ == "reconciled":
            work.left_out[
                f"{rater.rater}: what was settled after talking about it is no agreement"
            ] += 1
            continue
        status = rater.status_of(round_)
        if round_ == "independent" and status != "locked":
            work.left_out[
                f"{rater.rater}: independent coding that is not locked yet ({status}); it is "
                "compared once nothing of it can change any more (labapp code lock)"
            ] += 1
            continue
        codebook = codebooks.get(sha)
        if codebook is None:
            work.left_out[
                f"{rater.rater}: marks by a version of a codebook that is not in the study "
                f"({sha[:12] or 'none named'})"
            ] += 1
            continue
        phase: Phase = "training" if round_ == "training" else "independent"
        session = sessions[number]
        assigned = _stretches(session, rater.rater, phase)
        within = [mark for mark in own if any(_meets(mark, stretch) for stretch in assigned)]
        if outside := len(own) - len(within):
            work.left_out[
                f"{rater.rater}, {session.name}: {outside} marks outside of what was to be coded"
            ] += 1
        if len(_versions(rater, round_, codebook, codebooks)) > 1:
            work.partial.add((sha, phase, number, rater.rater))
            work.left_out[
                f"{rater.rater}, {session.name}: coded by several versions of {codebook.id}; what "
                "has no code by one of them is taken as not coded by it, and spans are not compared"
            ] += 1
        known = {tier.name for tier in codebook.tiers}
        if strange := sorted({mark.tier for mark in own} - known):
            work.left_out[
                f"{rater.rater}: marks of {', '.join(strange)}, which the codebook {codebook.id} "
                "does not have"
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


def _looked_into(rater: RaterMarks, codebooks: Mapping[str, Codebook]) -> Codebook | None:
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
        Coding(
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
    assigned = joined(
        (entry.t0_ns, entry.t1_ns)
        for entry in session.assignments
        if (entry.session, entry.rater, entry.round) == (session.name, rater, phase)
    )
    return tuple(assigned) or ((session.begin_ns, session.end_ns),)
