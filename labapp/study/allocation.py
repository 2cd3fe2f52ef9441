"""Who gets what: the cells that a study draws, or the slots of its declared design.

A slot is a place of one participant: a combination of the levels between participants (a cell), and
a number in it, which decides the orders of the factors within. Every cell has the same sequence of
orders in blocks that are balanced in themselves, shuffled apart. Slots are handed out from the
first; one whose participant is replaced is handed out again, condition and order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count, product
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from labapp.base.errors import StudyFull
from labapp.base.messages import Message
from labapp.study import conditions
from labapp.study.conditions import Cells, Scope, generator, make_balanced_rows, shuffled
from labapp.study.design import MODEL, SESSION, Design, Level, Order
from labapp.study.flow import unroll
from labapp.study.plugins.item import Item

if TYPE_CHECKING:
    from labapp.study.schema import Study

T = TypeVar("T")

SLOT = "slot"
"""The entry of an assignment that names the participant's slot."""
Turns = Mapping[str, Sequence[Scope]]
"""By variable, the values with which `each` goes through it, in the participant's order."""


class Rule(ABC):
    """Says what a participant gets where that depends on those before.

    Attributes
    ----------
    variable : what the places are called.
    sizes : by cell the participants that it needs, included; None for any number.
    draws : how many cells a participant gets.
    """

    variable: str
    draws: int

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, int] | None:
        """By cell the participants that it needs, included; None for any number."""

    @property
    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""

    @abstractmethod
    def cell_of(self, place: str) -> str:
        """The cell of a place, which may be one that the study had once."""

    @abstractmethod
    def draw(
        self, counts: Mapping[str, int], seed: int, study: str, participant: str
    ) -> tuple[str, ...]:
        """The places of one participant, in the order they are gone through.

        counts: participants included or running by place. Raises StudyFull when no cell is open.
        """

    @abstractmethod
    def endless(self) -> Rule:
        """The same without an end: all are wanted, however many a cell needs."""

    @property
    def title(self) -> str:
        """What the places are called, for people."""
        return self.variable

    def knows(self, places: Sequence[str]) -> bool:
        """Whether somebody could get these places."""
        return len(places) == self.draws and all(
            self.cell_of(place) in self.cells for place in places
        )

    naming = "Give the same number of names, separated by commas."

    def at_order(self, condition: str | None, number: int) -> str | None:
        """The text of a condition, and of an order where the place decides that."""
        return condition

    def named(self, text: str) -> tuple[str, ...] | None:
        """The places that a text names; None if it names none."""
        places = tuple(text.split(","))
        return places if self.knows(places) else None

    @property
    def participants(self) -> int | None:
        """How many participants the whole study needs; None if there is no end to it."""
        sizes = self.sizes
        return None if sizes is None else -(-sum(sizes.values()) // self.draws)

    @property
    def wanted(self) -> int | None:
        """How many each cell needs, where all need as many; None for any number."""
        sizes = {*(self.sizes or {}).values()}
        return sizes.pop() if len(sizes) == 1 else None

    def find_emptiest(self, held: Mapping[str, int], lot: Sequence[str]) -> list[str]:
        """The cells from the emptiest, as a share of what they need; a lot decides among cells
        alike."""
        sizes = self.sizes
        if sizes is None:
            return sorted(lot, key=lambda cell: held.get(cell, 0))
        return sorted(lot, key=lambda cell: Fraction(held.get(cell, 0), sizes[cell]))

    def is_full(self, cell: str, held: Mapping[str, int]) -> bool:
        """Whether a cell has as many as it needs."""
        return self.sizes is not None and held.get(cell, 0) >= self.sizes[cell]

    def _full(self, study: str) -> StudyFull:
        sizes = sorted(set((self.sizes or {}).values()))
        return StudyFull(
            Message("study_full", study=study, places=", ".join(map(str, sizes))),
            safe="Recorded sessions are untouched, and no session was started.",
            todo=f"`labapp studies show {study}` shows who occupies the places. An interrupted "
            "session frees its place when it is resumed and ended, or when it is "
            "withdrawn.",
        )


@dataclass(frozen=True)
class DrawnCells(Rule):
    """The drawn variable of a study without a declared design, and its cells."""

    variable: str
    rule: Cells

    @property
    def sizes(self) -> dict[str, int] | None:
        included = self.rule.included
        return None if included is None else dict.fromkeys(self.cells, included)

    @property
    def draws(self) -> int:  # type: ignore[override]
        return self.rule.draw

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(self.rule.cells)

    def cell_of(self, place: str) -> str:
        return place

    def draw(
        self, counts: Mapping[str, int], seed: int, study: str, participant: str
    ) -> tuple[str, ...]:
        """The emptiest cells. If fewer cells are open than a participant gets, the emptiest of the
        full ones are added, so that a study whose places cannot be divided evenly still comes to an
        end."""
        lot = shuffled(self.cells, seed, study, participant, "cells")
        emptiest = self.find_emptiest(counts, lot)
        if self.is_full(emptiest[0], counts):
            raise self._full(study)
        return shuffled(emptiest[: self.draws], seed, study, participant, "order of cells")

    def endless(self) -> DrawnCells:
        return DrawnCells(self.variable, self.rule.model_copy(update={"included": None}))


class Slot(NamedTuple):
    """A place of a declared design. cell: its name; number: in the cell, from 1."""

    cell: str
    number: int

    def __str__(self) -> str:
        return f"{self.cell} #{self.number}".strip()

    @classmethod
    def parse(cls, text: str) -> Slot:
        """From its text. Raises ValueError for a text that is none."""
        cell, _, number = text.rpartition("#")
        if not number.isdigit() or int(number) < 1:
            raise ValueError(f"{text!r} names no slot")
        return cls(cell.strip(), int(number))


def cell_name(cell: Mapping[str, Level]) -> str:
    """A combination of levels in words, such as `dose: 1, hint: with`; by the names of the factors,
    for a journal does not keep their order."""
    return ", ".join(f"{factor}: {level}" for factor, level in sorted(cell.items()))


@dataclass(frozen=True)
class Slots(Rule):
    """The slots of a declared design. ends: whether cells need as many as the design says, or any
    number."""

    design: Design
    ends: bool = True
    variable: str = SLOT
    draws: int = 1

    @cached_property
    def levels(self) -> dict[str, dict[str, Level]]:
        """By name of a cell the levels of the factors between participants."""
        return {cell_name(cell): cell for cell in self.design.cells}

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(self.levels)

    @cached_property
    def sizes(self) -> dict[str, int] | None:
        sizes = self.design.sizes if self.ends else None
        return None if sizes is None else dict(zip(self.cells, sizes, strict=True))

    def cell_of(self, place: str) -> str:
        try:
            return Slot.parse(place).cell
        except ValueError:
            return place

    def draw(
        self, counts: Mapping[str, int], seed: int, study: str, participant: str
    ) -> tuple[str, ...]:
        """The first free slot of the emptiest cell; a lot decides among cells alike."""
        held: dict[str, int] = dict.fromkeys(self.cells, 0)
        for place, number in counts.items():
            if (cell := self.cell_of(place)) in held:
                held[cell] += number
        lot = shuffled(self.cells, seed, study, participant, "cells")
        emptiest = self.find_emptiest(held, lot)[0]
        if self.is_full(emptiest, held):
            raise self._full(study)
        slots = (str(Slot(emptiest, number)) for number in count(1))
        return (next(slot for slot in slots if not counts.get(slot)),)

    naming = "Give one of them, or one of its slots with the number at the end, such as #3."

    def at_order(self, condition: str | None, number: int) -> str | None:
        cell = self.cells[0] if condition is None else self.cell_of(condition)
        return str(Slot(cell, number))

    def named(self, text: str) -> tuple[str, ...] | None:
        slot = text if text and text not in self.levels else str(Slot(text, 1))
        return (slot,) if self.knows((slot,)) and slot != self.cell_of(slot) else None

    @property
    def title(self) -> str:
        return " × ".join(sorted(self.design.between)) or "the slots"

    def by_number(self, number: int, seed: int, study: str) -> str:
        """The slot of a participant, which depends only on the number: every block of consecutive
        numbers has each cell once, or as often as its size is to the others'."""
        sizes = self.design.sizes or (1,) * len(self.cells)
        often = [size // gcd(*sizes) for size in sizes]
        cells = [cell for cell, times in zip(self.cells, often, strict=True) for _ in range(times)]
        block, place = divmod(number - 1, len(cells))
        order = shuffled(cells, seed, study, "cells", block)
        cell = order[place]
        before = block * cells.count(cell) + order[:place].count(cell)
        return str(Slot(cell, before + 1))

    def endless(self) -> Slots:
        return Slots(self.design, ends=False)


def rule_of(study: Study) -> Rule | None:
    """What hands out places in turn; None in a study where the number decides, or nothing does."""
    if study.design is not None:
        return slots_of(study.design) if study.design.assign == "slots" else None
    drawn = conditions.cells_of(study.assignment)
    return None if drawn is None else DrawnCells(*drawn)


def read_cells(assignment: Mapping[str, Any]) -> tuple[str, ...]:
    """The cells in a session's assignment: its slot, or the one variable with several values."""
    if isinstance(slot := assignment.get(SLOT), list | tuple):
        return tuple(map(str, slot))
    lists = (cells for name, cells in assignment.items() if name not in conditions.RESERVED)
    return next((tuple(map(str, cells)) for cells in lists if isinstance(cells, list | tuple)), ())


def slots_of(design: Design) -> Slots | None:
    """The slots of a design; None if nothing depends on the place of a participant."""
    return Slots(design) if design.between or design.within else None


def variants(study: Study) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Participant numbers and drawn places that show every condition at least once."""
    if study.design is None:
        yield from conditions.variants(study.assignment)
        return
    slots = slots_of(study.design)
    for number, cell in enumerate(slots.cells if slots is not None else ("",), start=1):
        if slots is None or study.design.assign == "number":
            yield number, ()
        else:
            yield 1, (str(Slot(cell, 1)),)


def sessions_of(study: Study) -> tuple[str, ...]:
    """The labels of all sessions for which people come."""
    labels = () if study.design is None else study.design.sessions
    return tuple(map(str, labels)) or (study.first_session,)


@dataclass(frozen=True)
class AllocationPlace:
    """What a participant's place decides.

    Attributes
    ----------
    scope : the variables that hold in the whole flow.
    turns : what `each` goes through.
    choices : of it, what people and tables are told.
    slot : of a declared design; None without.
    """

    scope: Scope
    turns: Turns
    choices: dict[str, object]
    slot: Slot | None = None


def place_of(
    study: Study,
    number: int,
    drawn: Sequence[str],
    session: str | None = None,
    seed: int | None = None,
) -> AllocationPlace:
    """What the participant with a number and these drawn places gets. Raises ValueError for places
    that the study does not hand out."""
    used = study.seed if seed is None else seed
    rule = rule_of(study)
    if len(drawn) != (0 if rule is None else rule.draws):
        raise ValueError(f"{study.id} does not draw {len(drawn)} places")
    if study.design is not None:
        label = study.first_session if session is None else session
        return _of_design(study, study.design, number, drawn, label, used)
    scope = conditions.by_number(study.assignment, number)
    choices: dict[str, object] = dict(scope)
    cells = conditions.cells_of(study.assignment)
    if cells is None:
        return AllocationPlace(scope, {}, choices)
    choices[cells[0]] = list(drawn)
    turns = [conditions.of_cell(*cells, cell) for cell in drawn]
    return AllocationPlace(
        scope | (turns[0] if cells[1].draw == 1 else {}), {cells[0]: turns}, choices
    )


def _of_design(
    study: Study, design: Design, number: int, drawn: Sequence[str], session: str, seed: int
) -> AllocationPlace:
    slots = slots_of(design)
    scope: Scope = {}
    if design.sessions:
        labels = (label for label in design.sessions if str(label) == session)
        scope[SESSION] = next(labels, session)
    if slots is None:
        return AllocationPlace(scope, {}, {})
    name = drawn[0] if drawn else slots.by_number(number, seed, study.id)
    slot = Slot.parse(name)
    scope |= slots.levels[slot.cell]
    turns: dict[str, list[Scope]] = {}
    orders: dict[str, object] = {}
    for factor, levels in design.within_levels.items():
        if levels is not None:
            ordered = by_design(design, levels, slot, seed, study.id, factor)
            turns[factor] = [{factor: level} for level in ordered]
            orders[factor] = [str(level) for level in ordered]
    return AllocationPlace(
        scope, turns, {**slots.levels[slot.cell], SLOT: [str(slot)], **orders}, slot
    )


def by_design(
    design: Design, levels: Sequence[T], slot: Slot, seed: int, study: str, factor: str = MODEL
) -> tuple[T, ...]:
    """The levels of a factor in the order that a design gives a slot."""
    if (by_group := design.orders.get(factor)) is not None:
        return by_group.put(levels, Slots(design).levels[slot.cell])
    return in_order(design.order, levels, slot, seed, study, factor)


def in_order(
    order: Order, levels: Sequence[T], slot: Slot, seed: int, study: str, factor: str = MODEL
) -> tuple[T, ...]:
    """The levels of a factor in the order of a slot."""
    if order == "as_listed":
        return tuple(levels)
    if order == "random":
        return shuffled(tuple(levels), seed, study, "order", factor, *slot)
    if not levels:
        return ()
    block, place = divmod(slot.number - 1, rows_of(order, len(levels)))
    rows = _block(order, len(levels), seed, study, factor, slot.cell, block)
    return tuple(levels[at] for at in rows[place])


def models_of(flow: Iterable[tuple[Item, Scope]]) -> tuple[str, ...]:
    """Every model that the stages of a flow compare, in the order in which they are listed."""
    named = (
        conditions.fill_all(stages.compared(), scope)
        for item, scope in flow
        if (stages := item.task_stages()) is not None
    )
    return tuple(dict.fromkeys(model for models in named for model in models))


def models_by_cell(study: Study) -> dict[str, tuple[str, ...]]:
    """By name of a cell the models that its participants compare. Raises KeyError for an unknown
    variable in the name of a model."""
    models: dict[str, dict[str, None]] = {}
    for (number, drawn), session in product(variants(study), sessions_of(study)):
        place = place_of(study, number, drawn, session)
        cell = "" if place.slot is None else place.slot.cell
        met = models_of(unroll(study.flow, place.scope, place.turns))
        models.setdefault(cell, {}).update(dict.fromkeys(met))
    return {cell: tuple(met) for cell, met in models.items()}


def models_met(study: Study) -> tuple[str, ...]:
    """Every model that anybody compares; () where one depends on an unknown variable."""
    try:
        by_cell = models_by_cell(study).values()
    except KeyError:
        return ()
    return tuple(dict.fromkeys(model for models in by_cell for model in models))


def count_listed(study: Study) -> int:
    """The largest number of models between which nothing else of a participant changes: those of
    different rounds of an `each` come in its order."""
    most = 0
    for (number, drawn), session in product(variants(study), sessions_of(study)):
        place = place_of(study, number, drawn, session)
        rounds: dict[frozenset[object], list[tuple[Item, Scope]]] = {}
        for item, scope in unroll(study.flow, place.scope, place.turns):
            rounds.setdefault(frozenset(scope.items()), []).append((item, scope))
        most = max([most, *(len(models_of(each)) for each in rounds.values())])
    return most


def rows_of(order: Order, n: int) -> int:
    """How many orders of n levels make a block that is balanced in itself."""
    if order == "williams":
        return len(make_balanced_rows(n))
    return n if order in ("position", "latin-square") else 1


@lru_cache(maxsize=1024)
def _block(
    order: Order, n: int, seed: int, study: str, factor: str, cell: str, block: int
) -> tuple[tuple[int, ...], ...]:
    """The orders of a block. Its first n, and then its next n, have each level once at each place,
    so that places are at most one apart wherever a block is cut off."""
    rng = generator(seed, study, "slots", factor, cell, block)
    cyclic = [tuple((row + place) % n for place in range(n)) for row in range(n)]
    rows = make_balanced_rows(n) if order == "williams" else cyclic
    if order == "position":
        levels, places = rng.permutation(n), rng.permutation(n)
        rows = [tuple(int(levels[row[int(place)]]) for place in places) for row in rows]
    squares = [rows[at : at + n] for at in range(0, len(rows), n)]
    return tuple(
        squares[int(square)][int(row)]
        for square in rng.permutation(len(squares))
        for row in rng.permutation(n)
    )
