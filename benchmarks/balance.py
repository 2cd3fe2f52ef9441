"""How often a study comes out balanced, orders crossed with conditions: drawn cells, and slots.

Many studies of other seeds are filled, without and with participants who are excluded and replaced,
as `labapp simulate` would. A study is balanced if within every cell no level stands more than one
time more often at a place than another, plus one for every place that waits for a replacement.

    python -m benchmarks.balance [--draws 500]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from labapp.study.allocation import DrawnCells, Rule, Slot, Slots, in_order
from labapp.study.conditions import Cells, counterbalance_order, generator
from labapp.study.design import Design

STUDY = "benchmark"
Orders = Callable[[str, int], tuple[str, ...]]
"""The order of a place's participant, by the place and the participant's number."""


@dataclass(frozen=True)
class Filled:
    """A study when its last participant has come: who is in it, and how many places are open."""

    orders: dict[str, list[tuple[str, ...]]]
    open: Counter[str]

    def apart(self, levels: Sequence[str]) -> int:
        """Above 0 where a cell is more uneven than it may be."""
        return max(self._apart(cell, levels) - 1 - self.open[cell] for cell in self.orders)

    def _apart(self, cell: str, levels: Sequence[str]) -> int:
        counts = Counter(
            (at, level) for order in self.orders[cell] for at, level in enumerate(order)
        )
        every = [counts[at, level] for at in range(len(levels)) for level in levels]
        return max(every) - min(every)


def fill(rule: Rule, order: Orders, seed: int, participants: int, lost: float) -> Filled:
    """A study of so many participants, of whom a share is lost once they have begun."""
    held: dict[str, tuple[str, tuple[str, ...]]] = {}
    ever: set[str] = set()
    for number in range(1, participants + 1):
        label = f"P{number:03d}"
        (place,) = rule.draw(Counter(place for place, _ in held.values()), seed, STUDY, label)
        ever.add(place)
        if generator(seed, label, "lost").random() >= lost:
            held[label] = place, order(place, number)
    cells: dict[str, list[tuple[str, ...]]] = {cell: [] for cell in rule.cells}
    for place, own in held.values():
        cells[rule.cell_of(place)].append(own)
    free = ever - {place for place, _ in held.values()}
    return Filled(cells, Counter(map(rule.cell_of, free)))


def measured(draws: int, cells: int, models: int, participants: int, lost: float) -> Iterator[str]:
    """A line a way of handing out places."""
    levels = tuple(f"m{n}" for n in range(models))
    names = tuple(f"c{n}" for n in range(cells))
    design = Design(between={"hint": names} if cells > 1 else {}, within=("model",))
    drawn = DrawnCells("hint", Cells(cells={name: {} for name in names}))
    ways: dict[str, tuple[Rule, Callable[[int], Orders]]] = {
        "drawn cells, order by number": (
            drawn,
            lambda seed: lambda place, number: counterbalance_order(levels, seed, STUDY, number),
        ),
        "slots": (
            Slots(design, None),
            lambda seed: (
                lambda place, number: in_order(design.order, levels, Slot.parse(place), seed, STUDY)
            ),
        ),
    }
    for name, (rule, order) in ways.items():
        filled = [fill(rule, order(seed), seed, participants, lost) for seed in range(draws)]
        beyond = [study.apart(levels) for study in filled]
        within = sum(apart <= 0 for apart in beyond)
        yield (
            f"{cells} cells, {models} models, {participants:3} participants, {lost:.0%} lost: "
            f"{name:29} {within} of {draws} within the rule, the worst "
            f"{max(0, *beyond)} beyond it"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    draws = parser.parse_args().draws
    for cells, models, participants in ((2, 3, 12), (2, 3, 24), (4, 4, 48), (9, 6, 108)):
        for lost in (0.0, 0.2):
            for line in measured(draws, cells, models, participants, lost):
                print(line, flush=True)


if __name__ == "__main__":
    main()
