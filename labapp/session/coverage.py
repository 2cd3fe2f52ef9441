"""How far a study that hands out places has come: who holds each, and how many are still wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from labapp.base.errors import StudyFull
from labapp.session.condition_assignment import CellAssignment, cells_of, held_counts, people_of
from labapp.study import allocation
from labapp.study.allocation import Rule, Slot, Slots, rule_of
from labapp.study.design import MODEL, Design
from labapp.study.loading import LoadedStudy
from labapp.study.people import HOLDING, PEOPLE_WORDS, Person, counted


@dataclass(frozen=True)
class Coverage:
    """The people of a study by the places they hold.

    Attributes
    ----------
    rule : hands out the places.
    people : everybody so far, with their sessions and places.
    """

    rule: Rule
    people: Sequence[Person[CellAssignment]]

    @property
    def sessions(self) -> list[CellAssignment]:
        """Every session so far."""
        return [row for person in self.people for row in person.sessions]

    def counts(self) -> dict[str, Counter[str]]:
        """People by cell, then by state."""
        counts: dict[str, Counter[str]] = {cell: Counter() for cell in self.rule.cells}
        for person in self.people:
            for cell in {self.rule.cell_of(place) for place in cells_of(person)}:
                if cell in counts:  # else see `former`
                    counts[cell][person.state] += 1
        return counts

    def beyond(self) -> dict[str, int]:
        """Cells that more people hold than are wanted, and how many do."""
        held = {cell: sum(count[s] for s in HOLDING) for cell, count in self.counts().items()}
        wanted = self.rule.wanted
        return {cell: n for cell, n in held.items() if wanted is not None and n > wanted}

    def former(self) -> dict[str, int]:
        """Sessions by cells that the study had once, and has no more (or calls otherwise): they
        fill no place."""
        cells = (self.rule.cell_of(place) for row in self.sessions for place in row.cells)
        counts = Counter(cell for cell in cells if cell not in self.rule.cells)
        return dict(sorted(counts.items()))

    @property
    def complete(self) -> bool:
        """Whether every cell has its included participants."""
        wanted = self.rule.wanted
        counts = self.counts().values()
        return wanted is not None and all(count["included"] >= wanted for count in counts)

    def retention(self) -> tuple[int, int]:
        """People who are included, of all who came to an end. Who did not agree to take part was
        never recruited, here as in the report."""
        ends = counted(self.people)
        still_open = ("running", "awaited", "declined", "gone")
        over = sum(n for state, n in ends.items() if state not in still_open)
        return ends.get("included", 0), over

    def upcoming(self, labels: Iterable[str], seed: int, study: str) -> dict[str, tuple[str, ...]]:
        """The places the next participants would get if all of them were included, until the study
        is full."""
        counts = held_counts(self.people)
        out: dict[str, tuple[str, ...]] = {}
        for label in labels:
            try:
                out[label] = self.rule.draw(counts, seed, study, label)
            except StudyFull:
                break
            counts.update(out[label])
        return out

    def to_json(self) -> dict[str, Any]:
        included, over = self.retention()
        cells = {cell: {s: of[s] for s in PEOPLE_WORDS} for cell, of in self.counts().items()}
        return {
            "variable": self.rule.variable,
            "draw": self.rule.draws,
            "wanted": self.rule.wanted,
            "complete": self.complete,
            "included": included,
            "finished": over,
            "cells": cells,
            "former": self.former(),
            "beyond": self.beyond(),
            "gone": [row.folder for row in self.sessions if row.state == "gone"],
        }

    def lines(self) -> list[str]:
        wanted = self.rule.wanted
        always = ("running", "excluded", "ended", "withdrawn")
        out = [f"Coverage of {self.rule.title}:"]
        width = max(map(len, self.rule.cells))
        for cell, count in self.counts().items():
            of = f" of {wanted}" if wanted is not None else ""
            others = [
                f"{count[state]} {words}"
                for state, words in PEOPLE_WORDS.items()
                if state in always or (count[state] and state not in ("included", "gone"))
            ]
            name = f"{cell:{width}}  " if cell else ""
            out.append(f"  {name}{count['included']}{of} included, {', '.join(others)}")
        if former := self.former():
            listed = ", ".join(f"{cell} ({n})" for cell, n in former.items())
            out.append(f"  Of conditions that the study does not have any more: {listed}.")
        included, over = self.retention()
        if over:
            share = f"{included / over * 100:.0f} %"
            out.append(f"  Retention: {included} of {over} participants who finished ({share}).")
        for cell, n in self.beyond().items():
            named = f" of {cell}" if cell else ""
            out.append(f"  {n} participants hold the {wanted} places{named}.")
        for person in self.people:
            free = "" if person.holds else ": its condition is free again"
            out += [
                f"  {row.folder} is gone, and nobody withdrew{free}."
                for row in person.sessions
                if row.state == "gone"
            ]
        return out


@dataclass(frozen=True)
class SlotLine:
    """A slot of a design: its orders, and who has had it.

    Attributes
    ----------
    slot : its cell and number.
    orders : by factor within participants its levels in the slot's order.
    people : those who have had it, the first one first.
    """

    slot: Slot
    orders: Mapping[str, tuple[str, ...]]
    people: Sequence[Person[CellAssignment]]

    @property
    def held(self) -> bool:
        return any(person.holds for person in self.people)

    @property
    def open(self) -> bool:
        """Whether it was handed out and waits for a replacement."""
        return bool(self.people) and not self.held

    def to_json(self) -> dict[str, Any]:
        return {
            "slot": str(self.slot),
            "cell": self.slot.cell,
            "number": self.slot.number,
            "orders": {factor: list(levels) for factor, levels in self.orders.items()},
            "state": "held" if self.held else "open replacement" if self.open else "free",
            "people": [person.to_json() for person in self.people],
        }

    def text(self) -> str:
        who = ", ".join(
            f"{person.participant} {PEOPLE_WORDS[person.state]}" for person in self.people
        )
        state = who if self.held else f"{who}; open for a replacement" if who else "free"
        orders = "; ".join(" → ".join(levels) for levels in self.orders.values())
        return f"#{self.slot.number:<3} {orders + '  ' if orders else ''}{state}"


@dataclass(frozen=True)
class Allocation(Coverage):
    """Who has which slot of a declared design, and how even that is now.

    Attributes
    ----------
    design : the design.
    models : by cell the models that its participants compare.
    seed, study : of the orders.
    """

    design: Design
    models: Mapping[str, tuple[str, ...]]
    seed: int
    study: str

    @cached_property
    def slots(self) -> list[SlotLine]:
        """Every slot up to the last that was handed out, or that is wanted."""
        rows: dict[Slot, list[Person[CellAssignment]]] = {}
        for person in sorted(self.people, key=lambda person: person.sessions[0].name.utc):
            for place in cells_of(person):
                if self.rule.knows((place,)):
                    rows.setdefault(Slot.parse(place), []).append(person)
        out = []
        for cell in self.rule.cells:
            last = max((slot.number for slot in rows if slot.cell == cell), default=0)
            for number in range(1, max(last, self.rule.wanted or 0) + 1):
                slot = Slot(cell, number)
                out.append(SlotLine(slot, self.orders(slot), rows.get(slot, ())))
        return out

    def orders(self, slot: Slot) -> dict[str, tuple[str, ...]]:
        """By factor within participants its levels in the order of a slot."""
        levels = {
            factor: self.models[slot.cell] if own is None else tuple(map(str, own))
            for factor, own in self.design.within_levels.items()
        }
        return {
            factor: allocation.in_order(self.design.order, own, slot, self.seed, self.study, factor)
            for factor, own in levels.items()
        }

    @cached_property
    def places(self) -> dict[str, dict[str, dict[str, list[int]]]]:
        """By cell, factor and level: how many participants who count, or are running, meet the
        level first, second …"""
        out: dict[str, dict[str, dict[str, list[int]]]] = {}
        for cell in self.rule.cells:
            held = [line.orders for line in self.slots if line.slot.cell == cell and line.held]
            for factor, levels in self.orders(Slot(cell, 1)).items():
                table = {level: [0] * len(levels) for level in sorted(levels)}
                for orders in held:
                    for place, level in enumerate(orders[factor]):
                        table[level][place] += 1
                out.setdefault(cell, {})[factor] = table
        return out

    def apart(self, cell: str, factor: str) -> int:
        """How much more often a level stands at a place than another one, at most."""
        counts = [n for row in self.places[cell][factor].values() for n in row]
        return max(counts) - min(counts)

    def follow_apart(self, cell: str, factor: str) -> int:
        """The same of how often a level follows another one directly."""
        levels = self.orders(Slot(cell, 1))[factor]
        pairs = Counter({(a, b): 0 for a in levels for b in levels if a != b})
        for line in self.slots:
            if line.slot.cell == cell and line.held:
                pairs.update(pairwise(line.orders[factor]))
        return max(pairs.values(), default=0) - min(pairs.values(), default=0)

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "order": self.design.order,
            "slots": [line.to_json() for line in self.slots],
            "open replacements": sum(line.open for line in self.slots),
            "places": self.places,
            "balance": {
                cell: {
                    factor: {
                        "places apart": self.apart(cell, factor),
                        "successions apart": self.follow_apart(cell, factor),
                    }
                    for factor in self.design.within_levels
                }
                for cell in self.rule.cells
            },
            "promised": self.promise,
        }

    @property
    def promise(self) -> str:
        """What is balanced by the design, and when."""
        if self.design.order in ("random", "as_listed") or not self.design.within:
            orders = "" if not self.design.within else f" Orders are {self.design.order}."
            return f"Cells are at most one participant apart, plus one an open replacement.{orders}"
        return (
            "Within every cell each level stands equally often at each place, at most one apart, "
            "plus one an open replacement; cells likewise. This holds of the places handed out: "
            "whom the analysis excludes afterwards may upset it."
        )

    def lines(self) -> list[str]:
        out = super().lines()
        free = sum(line.open for line in self.slots)
        out += ["", "Slots (place of one participant: condition and order):"]
        cell = None
        for line in self.slots:
            if line.slot.cell != cell:
                cell = line.slot.cell
                out += [f"  {cell}"] * bool(cell)
            out.append(f"    {line.text()}")
        if self.design.within:
            out += ["", "Balance now, by places (of those included or running):"]
            for name, factors in self.places.items():
                for factor, table in factors.items():
                    apart = self.apart(name, factor)
                    where = f"{name}; " if name else ""
                    out.append(f"  {where}{factor}: at most {apart} apart")
                    width = max(map(len, table))
                    out += [
                        f"    {level:{width}}  {'  '.join(map(str, counts))}"
                        for level, counts in table.items()
                    ]
        out += ["", f"Open replacements: {free}. {self.promise}"]
        return out


def coverage(data: Path, loaded: LoadedStudy) -> Coverage | None:
    """The coverage of a study's places so far; None in a study that hands out none."""
    rule = rule_of(loaded.study)
    if rule is None:
        return None
    study = loaded.study
    everybody = people_of(data, study)
    if study.design is None or not isinstance(rule, Slots):
        return Coverage(rule, everybody)
    models = allocation.models_by_cell(study) if MODEL in study.design.within_levels else {}
    return Allocation(rule, everybody, study.design, models, study.seed, study.id)
