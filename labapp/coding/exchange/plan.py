"""What bringing in a file of another tool changes: told before it is done, then done at once.

What of a file is here already, what differs, and what is new.

Things meet by their ids where the file's stamp says that they went out from here, else by what they
are and when: to the file's precision. A three-way comparison tells what was changed in the other
tool from what was changed here since: the latter stays.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from labapp.base.reading.values import Budget
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import Mark, Round, Text, Unit
from labapp.coding.annotations.texts import TextsFile
from labapp.coding.annotations.units import UnitsFile
from labapp.coding.exchange.model import Annotation, Thing, Utterance
from labapp.coding.times import time_text

What = Literal[
    "mark added", "mark moved", "mark recoded", "mark changed", "mark removed", "mark cut",
    "unit made", "unit changed", "unit removed", "unit proposed", "text written",
]  # fmt: skip
UnitChange = tuple[str, tuple[str, ...], tuple[Unit, ...]]
"""What it is, which ids go, and what comes; see `labapp.coding.annotations.model.Proposal`."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is changed.

    Attributes
    ----------
    t0_ns, t1_ns : session time, as it will be; of what goes, as it was.
    about : of a mark its tier and code, of a unit its speaker, of a text its words.
    before : what differed before, in words; empty for what is new.
    id : of the mark or unit.
    """

    what: What
    t0_ns: int
    t1_ns: int
    about: str
    before: str = ""
    id: str = ""

    def __str__(self) -> str:
        begin, end = time_text(self.t0_ns, 3), time_text(self.t1_ns, 3)
        time = begin if self.t0_ns == self.t1_ns else f"{begin}–{end}"
        was = f"  (was {self.before})" if self.before else ""
        return f"{self.what:13}  {time}  {self.about}{was}"

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "what": self.what,
            "t0_s": self.t0_ns / 1e9,
            "t1_s": self.t1_ns / 1e9,
            "about": self.about,
            "before": self.before,
            "id": self.id,
        }


@dataclass(frozen=True)
class Plan:
    """What bringing in a file changes.

    Attributes
    ----------
    times : whose time the file has, in words, and why.
    units : of frozen units each becomes a proposal.
    freeze : whether the units are made now, and frozen.
    unchanged : how many marks are in the file as they are here.
    lost : what is not brought over, each in words.
    """

    file: str
    sha256: str
    format: str
    session: str
    rater: str
    times: tuple[str, ...]
    codebook: Codebook
    new_codebook: bool
    round: Round
    put: tuple[Mark, ...] = ()
    removed: tuple[str, ...] = ()
    units: tuple[UnitChange, ...] = ()
    freeze: bool = False
    texts: tuple[Text, ...] = ()
    steps: tuple[Step, ...] = ()
    unchanged: int = 0
    lost: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is changed."""
        return not (self.put or self.removed or self.units or self.texts)

    @property
    def source(self) -> dict[str, str]:
        """As files of annotations say where changes came from: no name, which may be a person's."""
        return {"sha256": self.sha256, "format": self.format}

    def summary(self) -> str:
        """How much is changed, in a line."""
        parts = []
        for what, count in Counter(step.what for step in self.steps).items():
            noun, did = what.split()
            parts.append(f"{count} {noun if count == 1 else noun + 's'} {did}")
        same = "1 mark as it is" if self.unchanged == 1 else f"{self.unchanged} marks as they are"
        return ", ".join([*parts, same])

    def lines(self) -> list[str]:
        """For people."""
        told = [f"{self.file} → {self.session}, marks of {self.rater}", *self.times]
        if self.new_codebook:
            codes = ", ".join(code.id for code in self.codebook.codes)
            told.append(f"The study has no codebook: one is made of the codes {codes}.")
        if self.freeze:
            told.append("The units are frozen: codes are given to them.")
        told += [str(step) for step in self.steps]
        told += [f"not brought over: {why}" for why in self.lost]
        return [*told, f"{self.summary()}."]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "format": self.format,
            "session": self.session,
            "rater": self.rater,
            "times": list(self.times),
            "codebook": self.codebook.id,
            "new_codebook": self.new_codebook,
            "freeze": self.freeze,
            "steps": [step.to_json() for step in self.steps],
            "unchanged": self.unchanged,
            "lost": list(self.lost),
        }


class OpenFiles(Protocol):
    """The files of annotations that a plan changes, each opened when it is asked for."""

    @property
    def units_file(self) -> UnitsFile:
        """Raises AnnotationError."""

    @property
    def texts_file(self) -> TextsFile:
        """Raises AnnotationError."""

    @property
    def marks_file(self) -> MarksFile:
        """Raises AnnotationError while units are not frozen, and codes are given to them."""


def apply(plan: Plan, files: OpenFiles) -> list[str]:
    """Do what a plan says; a codebook that it makes is there by now.

    Returns
    -------
    `units`, `texts` and `marks`: which files were changed, in this order, one step each.

    Raises
    ------
    AnnotationError : a file is open elsewhere, or cannot be so; what was done before in other files
        is taken back.
    """
    # All are opened before anything is changed; marks, which need frozen units, behind those.
    units = files.units_file if plan.units else None
    texts = files.texts_file if plan.texts else None
    marks = files.marks_file if (plan.put or plan.removed) and not plan.freeze else None
    done: list[tuple[str, MarksFile | UnitsFile | TextsFile]] = []
    try:
        if units is not None:
            units.bring_in(plan.units, plan.source, freeze=plan.freeze)
            done.append(("units", units))
        if texts is not None:
            texts.put_all(plan.texts, plan.source)
            done.append(("texts", texts))
        if plan.put or plan.removed:
            marks = files.marks_file if marks is None else marks
            marks.bring_in(plan.put, plan.removed, plan.source)
            done.append(("marks", marks))
    except BaseException:
        for _, file in reversed(done):
            file.undo()
        raise
    return [name for name, _ in done]


def told(things: Sequence[str], count: int = 3) -> str:
    """The first of many, in words."""
    more = f" and {len(things) - count} more" if len(things) > count else ""
    return ", ".join(things[:count]) + more


MOMENT_NS = 1_000_000
"""A format without points has stretches of a millisecond in their place."""
ALIKE = 0.5
"""Of the longer of two stretches, how much they share at least to be the same one moved."""


class Ruler:
    """Compares times of a file. precision_ns: what its format rounds to."""

    def __init__(self, precision_ns: int) -> None:
        self.tolerance = precision_ns // 2 + 1
        self.moment = MOMENT_NS if precision_ns >= MOMENT_NS else self.tolerance

    def same(self, a_ns: int, b_ns: int) -> bool:
        """Whether two times are one to the file's precision."""
        return abs(a_ns - b_ns) <= self.tolerance

    def same_stretch(self, a: Utterance | Annotation, b: Utterance | Annotation) -> bool:
        """Whether two stretches or points are one to the file's precision."""
        both_short = max(a.t1_ns - a.t0_ns, b.t1_ns - b.t0_ns) <= self.moment + self.tolerance
        return self.same(a.t0_ns, b.t0_ns) and (both_short or self.same(a.t1_ns, b.t1_ns))


def overlap(a: Utterance | Annotation, b: Utterance | Annotation) -> float:
    """How much of the longer of two stretches they share, from 0 to 1."""
    shared = min(a.t1_ns, b.t1_ns) - max(a.t0_ns, b.t0_ns)
    longer = max(a.t1_ns - a.t0_ns, b.t1_ns - b.t0_ns)
    return shared / longer if shared > 0 and longer > 0 else 0.0


class Pairs:
    """What arrived, paired with what is here.

    Attributes
    ----------
    of : from places in what arrived to places in what is here.
    """

    def __init__(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        ours: Callable[[str], bool],
        budget: Budget,
    ) -> None:
        """Pair by ids. ours: whether an id that a file has is one that went out from here. budget:
        for how often things are compared, which raises TooMuch."""
        self._budget = budget
        self.of: dict[int, int] = {}
        self._taken: set[int] = set()
        places = {thing.id: place for place, thing in enumerate(here)}
        for number, thing in enumerate(arrived):
            place = places.get(thing.id) if thing.id and ours(thing.id) else None
            if place is not None and place not in self._taken:
                self._pair(number, place)

    def _pair(self, number: int, place: int) -> None:
        self.of[number] = place
        self._taken.add(place)

    def by(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        fits: Callable[[Thing, Thing], bool],
        ruler: Ruler,
        skip: Iterable[int] = (),
    ) -> None:
        """Pair what is left and fits, and is at the same times."""
        skipped = set(skip)
        begins = sorted((thing.t0_ns, place) for place, thing in enumerate(here))
        at = [begin for begin, _ in begins]
        for number, thing in enumerate(arrived):
            if number in self.of or number in skipped:
                continue
            first = bisect_left(at, thing.t0_ns - ruler.tolerance)
            last = bisect_right(at, thing.t0_ns + ruler.tolerance)
            self._budget.compare(last - first)
            for _, place in begins[first:last]:
                other = here[place]
                if place in self._taken or not ruler.same_stretch(thing, other):
                    continue
                if fits(thing, other):
                    self._pair(number, place)
                    break

    def by_overlap(
        self,
        arrived: Sequence[Thing],
        here: Sequence[Thing],
        fits: Callable[[Thing, Thing], bool],
        skip: Iterable[int] = (),
    ) -> None:
        """Pair what is left, fits and shares most of its time, what shares most first."""
        skipped = set(skip)
        # By how long they are, in powers of two: of what is half as long, or twice, no pair shares
        # most of its time. So one that is long is not compared with all that are short.
        sizes: dict[int, list[tuple[int, int]]] = {}
        for place, other in enumerate(here):
            if place not in self._taken and other.t1_ns > other.t0_ns:
                size = (other.t1_ns - other.t0_ns).bit_length()
                sizes.setdefault(size, []).append((other.t0_ns, place))
        for begins in sizes.values():
            begins.sort()
        shares = []
        for number, thing in enumerate(arrived):
            length = thing.t1_ns - thing.t0_ns
            if number in self.of or number in skipped or length <= 0:
                continue
            for size in range(length.bit_length() - 1, length.bit_length() + 2):
                begins = sizes.get(size, [])
                first = bisect_left(begins, (thing.t0_ns - (1 << size), 0))
                last = bisect_left(begins, (thing.t1_ns, 0))
                self._budget.compare(last - first)
                for _, place in begins[first:last]:
                    share = overlap(thing, here[place])
                    if share >= ALIKE and fits(thing, here[place]):
                        shares.append((-share, number, place))
        for _, number, place in sorted(shares):
            if number not in self.of and place not in self._taken:
                self._pair(number, place)

    def alone(self, here: Sequence[Thing]) -> list[Thing]:
        """What is here and did not arrive."""
        return [thing for place, thing in enumerate(here) if place not in self._taken]


class Before:
    """What things were like when a file went out. were: digests by ids."""

    def __init__(self, were: Mapping[str, str], brought_in: Iterable[str] = ()) -> None:
        """brought_in: ids of what came from a file before: what a later one says of it holds."""
        self._were = were
        self._free = frozenset(brought_in)

    def changed_here(self, own_id: str, now: str) -> bool:
        """Whether something was changed here since, other than by a file."""
        return own_id in self._were and own_id not in self._free and self._were[own_id] != now

    def changed_there(self, own_id: str, arrived: str) -> bool:
        """Whether something was changed in the other tool."""
        return self._were.get(own_id) != arrived
