"""How far a study with drawn cells has come: who holds each cell, and how many are still wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.errors import StudyFull
from labapp.session.condition_assignment import CellAssignment, cell_assignments, draw, held_counts
from labapp.study.conditions import Cells, cells_of
from labapp.study.loading import LoadedStudy

_SHOWN = ("included", "running", "excluded", "ended", "withdrawn", "declined", "gone")
_WORDS = {"ended": "ended early"}


@dataclass(frozen=True)
class Coverage:
    """The sessions of a study by the cells they hold.

    Attributes
    ----------
    variable : the drawn one.
    rule : its cells.
    sessions : every one so far, and its cells.
    """

    variable: str
    rule: Cells
    sessions: Sequence[CellAssignment]

    def counts(self) -> dict[str, Counter[str]]:
        """Participants by cell, then by state; one that can be resumed counts as running. Of
        several sessions the one that counts most."""
        best: dict[tuple[str, str], str] = {}
        for row in self.sessions:
            state: str = "running" if row.state in ("reserved", "open") else row.state
            for cell in row.cells:
                other = best.setdefault((cell, row.participant), state)
                best[cell, row.participant] = min(state, other, key=_SHOWN.index)
        counts: dict[str, Counter[str]] = {cell: Counter() for cell in self.rule.cells}
        for (cell, _), state in best.items():
            if cell in counts:  # else see `former`
                counts[cell][state] += 1
        return counts

    def former(self) -> dict[str, int]:
        """Sessions by cells that the study had once, and has no more (or calls otherwise): they
        fill no place."""
        cells = (cell for row in self.sessions for cell in row.cells)
        counts = Counter(cell for cell in cells if cell not in self.rule.cells)
        return dict(sorted(counts.items()))

    @property
    def places(self) -> int | None:
        """How many participants the whole study needs; None where there is no end to it."""
        wanted = self.rule.included
        return None if wanted is None else -(-wanted * len(self.rule.cells) // self.rule.draw)

    @property
    def complete(self) -> bool:
        """Whether every cell has its included participants."""
        wanted = self.rule.included
        counts = self.counts().values()
        return wanted is not None and all(count["included"] >= wanted for count in counts)

    def retention(self) -> tuple[int, int]:
        """Sessions that are included, of all that came to an end. Who did not agree to take part
        was never recruited, here as in the report."""
        ends = Counter(row.state for row in self.sessions)
        over = sum(ends[state] for state in ("included", "excluded", "ended", "withdrawn"))
        return ends["included"], over

    def upcoming(self, labels: Iterable[str], seed: int, study: str) -> dict[str, tuple[str, ...]]:
        """The cells the next participants would get if all of them were included, until the study
        is full."""
        counts = held_counts(self.sessions)
        out: dict[str, tuple[str, ...]] = {}
        for label in labels:
            try:
                out[label] = draw(self.rule, counts, seed, study, label)
            except StudyFull:
                break
            counts.update(out[label])
        return out

    def to_json(self) -> dict[str, Any]:
        included, over = self.retention()
        cells = {cell: {s: count[s] for s in _SHOWN} for cell, count in self.counts().items()}
        return {
            "variable": self.variable,
            "draw": self.rule.draw,
            "wanted": self.rule.included,
            "complete": self.complete,
            "included": included,
            "finished": over,
            "cells": cells,
            "former": self.former(),
            "gone": [row.folder for row in self.sessions if row.state == "gone"],
        }

    def lines(self) -> list[str]:
        wanted = self.rule.included
        out = [f"Coverage of {self.variable}:"]
        width = max(map(len, self.rule.cells))
        for cell, count in self.counts().items():
            of = f" of {wanted}" if wanted is not None else ""
            others = [f"{count[s]} {_WORDS.get(s, s)}" for s in _SHOWN[1:5]]
            others += [f"{count['declined']} declined"] * bool(count["declined"])
            out.append(f"  {cell:{width}}  {count['included']}{of} included, {', '.join(others)}")
        if former := self.former():
            listed = ", ".join(f"{cell} ({n})" for cell, n in former.items())
            out.append(f"  Of conditions that the study does not have any more: {listed}.")
        included, over = self.retention()
        if over:
            share = f"{included / over * 100:.0f} %"
            out.append(f"  Retention: {included} of {over} finished sessions ({share}).")
        out += [
            f"  {row.folder} is gone, and nobody withdrew: its condition is free again."
            for row in self.sessions
            if row.state == "gone"
        ]
        return out


def coverage(data: Path, loaded: LoadedStudy) -> Coverage | None:
    """The coverage of a study's cells so far; None in a study that draws none."""
    drawn = cells_of(loaded.study.assignment)
    return None if drawn is None else Coverage(*drawn, cell_assignments(data, loaded))
