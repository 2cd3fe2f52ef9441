"""What bringing in a file of another tool changes: told before it is done, then done at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import Mark, Round, Text, Unit
from labapp.coding.annotations.texts import TextsFile
from labapp.coding.annotations.units import UnitsFile
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
