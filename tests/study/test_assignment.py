"""Seeded orders and draws, and who gets what in a declared design."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.balance import measured
from labapp.base.errors import StudyFull
from labapp.study.allocation import Slot, Slots, cell_name, in_order, rows_of
from labapp.study.conditions import counterbalance_order, generator, make_balanced_rows, shuffled
from labapp.study.design import Design, Order
from tests.helpers.nightly import EVERYTHING


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("seed", [0, 20261120])
def test_every_block_of_participants_is_balanced(n: int, seed: int) -> None:
    items = tuple("abcdef"[:n])
    rows = len(make_balanced_rows(n))
    assert rows == (n if n % 2 == 0 else 2 * n)
    for block in range(3):
        orders = [
            counterbalance_order(items, seed, "study", block * rows + place + 1)
            for place in range(rows)
        ]
        assert all(sorted(order) == sorted(items) for order in orders)
        places = Counter((place, item) for order in orders for place, item in enumerate(order))
        assert set(places.values()) == {rows // n}
        follows = Counter(pair for order in orders for pair in pairwise(order))
        assert len(follows) == n * (n - 1)
        assert set(follows.values()) == {rows // n}


def test_one_condition_is_its_own_order() -> None:
    assert counterbalance_order(("a",), 1, "study", 5) == ("a",)


def test_blocks_are_shuffled_apart() -> None:
    orders = [
        tuple(counterbalance_order("abcd", 3, "study", n) for n in range(k, k + 4)) for k in (1, 5)
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert (
        len(
            {
                tuple(counterbalance_order("abcd", s, "study", n) for n in range(1, 5))
                for s in range(9)
            }
        )
        > 1
    )


purposes = st.lists(st.one_of(st.integers(), st.text()), max_size=4)


@given(st.integers(0, 2**63 - 1), purposes)
def test_equal_purposes_draw_equally(seed: int, purpose: list[str | int]) -> None:
    first, second = generator(seed, *purpose), generator(seed, *purpose)
    assert np.array_equal(first.integers(0, 1 << 62, 5), second.integers(0, 1 << 62, 5))
    assert shuffled(range(8), seed, *purpose) == shuffled(range(8), seed, *purpose)


@given(st.integers(0, 2**62), purposes, purposes)
def test_other_purposes_draw_otherwise(
    seed: int, one: list[str | int], other: list[str | int]
) -> None:
    if [(type(p), p) for p in one] == [(type(p), p) for p in other]:
        other = [*other, "more"]
    a, b = generator(seed, *one), generator(seed, *other)
    same = np.array_equal(a.integers(0, 1 << 62, 4), b.integers(0, 1 << 62, 4))
    # Only a NUL inside a text could make two purposes one; study ids and labels hold none.
    assert not same or any("\0" in str(p) for p in [*one, *other])


def test_a_draw_is_the_same_on_every_machine() -> None:
    assert generator(7, "P01", "stage-1", 1, "pair").integers(0, 1000, 4).tolist() == [
        239,
        203,
        4,
        612,
    ]


LEVELS = tuple("abc")

MODELS = tuple(f"m{n}" for n in range(6))


@st.composite
def designs(draw: Any) -> tuple[Design, int]:
    """A design of up to three factors between and three within, and its number of models."""
    between = {f"b{n}": LEVELS[: draw(st.integers(2, 3))] for n in range(draw(st.integers(0, 3)))}
    brought = [{f"w{n}": LEVELS[: draw(st.integers(2, 3))]} for n in range(draw(st.integers(0, 2)))]
    design = Design(
        between=between,
        within=("model", *brought),
        order=draw(st.sampled_from(["position", "williams", "latin-square"])),
        per_cell=draw(st.none() | st.integers(1, 14)),
    )
    return design, draw(st.integers(2, 6))


def orders(design: Design, slot: Slot, models: int, seed: int) -> dict[str, tuple[Any, ...]]:
    return {
        factor: in_order(
            design.order, MODELS[:models] if levels is None else levels, slot, seed, "s", factor
        )
        for factor, levels in design.within_levels.items()
    }


def apart(counts: Counter[Any], possible: int) -> int:
    return max(counts.values(), default=0) - (
        min(counts.values()) if len(counts) == possible else 0
    )


@settings(max_examples=60 if EVERYTHING else 8)
@given(data=st.data(), designed=designs(), seed=st.integers(0, 2**40))
def test_it_is_balanced_within_every_cell_whoever_drops_out(
    data: st.DataObject, designed: tuple[Design, int], seed: int
) -> None:
    design, models = designed
    rule = Slots(design)
    rng = data.draw(st.randoms(use_true_random=False))
    held: dict[str, str] = {}
    ever: set[str] = set()
    for number in range(data.draw(st.integers(0, 60))):
        label = f"P{number}"
        try:
            (held[label],) = rule.draw(Counter(held.values()), seed, "s", label)
        except StudyFull:
            assert design.per_cell is not None
            break
        ever.add(held[label])
        if rng.random() < 0.25:  # excluded, ended early or withdrawn
            del held[rng.choice(list(held))]
        now = [Slot.parse(slot) for slot in held.values()]
        assert len(set(now)) == len(now), "no slot has two participants"
        replacements = Counter(Slot.parse(slot).cell for slot in ever - set(held.values()))
        by_cell = Counter(slot.cell for slot in now)
        sizes = [by_cell[cell] for cell in rule.cells]
        assert max(sizes) - min(sizes) <= 1 + sum(replacements.values())
        if design.per_cell is not None:
            assert max(sizes) <= design.per_cell
        for cell in rule.cells:
            given = [orders(design, slot, models, seed) for slot in now if slot.cell == cell]
            for factor in design.within_levels if given else ():
                n = len(given[0][factor])
                places = Counter(
                    (at, level) for some in given for at, level in enumerate(some[factor])
                )
                assert apart(places, n * n) <= 1 + replacements[cell]
                if design.order == "williams" and n % 2 == 0:
                    pairs = Counter(pair for some in given for pair in pairwise(some[factor]))
                    assert apart(pairs, n * (n - 1)) <= 1 + replacements[cell]


@pytest.mark.parametrize("order", ["position", "williams", "latin-square"])
@pytest.mark.parametrize("n", range(1, 7))
def test_every_block_of_slots_is_balanced_in_full(order: Order, n: int) -> None:
    rows = rows_of(order, n)
    for block in range(3):
        slots = [Slot("hint: with", block * rows + place + 1) for place in range(rows)]
        made = [in_order(order, MODELS[:n], slot, 5, "s") for slot in slots]
        assert all(sorted(row) == sorted(MODELS[:n]) for row in made)
        places = Counter((at, level) for row in made for at, level in enumerate(row))
        assert set(places.values()) == {rows // n}
        pairs = Counter(pair for row in made for pair in pairwise(row))
        if order == "williams":
            assert len(pairs) == n * (n - 1)
            assert len(set(pairs.values())) <= 1


def test_squares_are_drawn_anew_for_each_block_and_cell() -> None:
    def block(cell: str, number: int) -> list[tuple[str, ...]]:
        first = 4 * number + 1
        slots = (Slot(cell, at) for at in range(first, first + 4))
        return [in_order("position", MODELS[:4], slot, 5, "s") for slot in slots]

    squares = {tuple(block(cell, number)) for cell in "abc" for number in range(4)}
    assert len(squares) >= 10
    assert len({frozenset(square) for square in squares}) > 4, "not one square shuffled"


def test_a_lot_belongs_to_the_slot_so_that_a_replacement_has_the_same_order() -> None:
    made = [in_order("random", MODELS, Slot("", number), 5, "s") for number in range(1, 40)]
    assert made == [in_order("random", MODELS, Slot("", number), 5, "s") for number in range(1, 40)]
    assert len(set(made)) > 30
    assert in_order("as_listed", MODELS, Slot("", 3), 5, "s") == MODELS


def test_the_number_alone_decides_where_laptops_know_nothing_of_each_other() -> None:
    design = Design(between={"hint": ("with", "without"), "dose": (1, 2, 3)}, within=("model",))
    rule = Slots(design)
    slots = [Slot.parse(rule.by_number(number, 3, "s")) for number in range(1, 61)]
    assert len(set(slots)) == 60
    for until in range(1, 61):
        counts = Counter(slot.cell for slot in slots[:until])
        assert apart(counts, 6) <= 1
    assert {slot.cell for slot in slots} == set(rule.cells)
    assert {slot.cell for slot in slots[:6]} == set(rule.cells)
    assert slots != [Slot.parse(rule.by_number(number, 4, "s")) for number in range(1, 61)]


@pytest.mark.parametrize("assign", ["slots", "number"])
def test_unequal_cells_are_filled_in_their_proportion(assign: str) -> None:
    """10 and 14: at any time each cell has its share, at most one participant apart; a participant
    who is replaced leaves the place to the next."""
    design = Design.model_validate(
        {
            "between": {"hint": ["with", "without"], "dose": [1, 2]},
            "per_cell": [{"of": {"hint": "with"}, "participants": 14}, {"participants": 10}],
        }
    )
    rule = Slots(design)
    assert rule.participants == 48
    assert rule.wanted is None
    assert rule.sizes == {cell: 14 if "without" not in cell else 10 for cell in rule.cells}
    held: Counter[str] = Counter()
    for number in range(1, 49):
        if assign == "slots":
            (slot,) = rule.draw(held, 3, "s", f"P{number}")
        else:
            slot = rule.by_number(number, 3, "s")
        assert held[slot] == 0
        held[slot] += 1
        cells = Counter(Slot.parse(each).cell for each in held)
        if assign == "slots":
            for cell, size in rule.sizes.items():
                assert abs(cells[cell] - number * size / 48) < 1.5
    assert cells == rule.sizes
    if assign == "slots":
        with pytest.raises(StudyFull, match=r"all places of each condition \(10, 14\)"):
            rule.draw(held, 3, "s", "P49")
        replaced = next(iter(held))
        del held[replaced]
        assert rule.draw(held, 3, "s", "P49") == (replaced,)


@pytest.mark.parametrize(
    ("per_cell", "what"),
    [
        ([{"of": {"hint": "wth"}, "participants": 14}, {"participants": 10}], "with, without"),
        ([{"of": {"hnt": "with"}, "participants": 14}, {"participants": 10}], "factors of between"),
        ([{"of": {"hint": "with"}, "participants": 14}], "no size for hint: without"),
        ([{"participants": 14}, {"participants": 10}], "a line that no cell needs"),
        ([{"participants": 0}], "greater than or equal to 1"),
    ],
)
def test_sizes_that_do_not_fit_the_cells_are_refused(per_cell: object, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Design.model_validate({"between": {"hint": ["with", "without"]}, "per_cell": per_cell})


def test_a_slot_is_read_from_its_text_whatever_levels_are_called() -> None:
    levels = ("a #1", "b, c: 2", "d")
    design = Design(between={"x": levels, "y": levels})
    rule = Slots(design)
    for cell, number in product(design.cells, (1, 12)):
        slot = Slot(cell_name(cell), number)
        assert Slot.parse(str(slot)) == slot
        assert rule.knows((str(slot),))
    assert Slot.parse("#3") == Slot("", 3)
    for text in ("", "x", "#", "#0", "#-1", "x #a"):
        with pytest.raises(ValueError, match="names no slot"):
            Slot.parse(text)
        assert not rule.knows((text,))


def test_the_benchmark_of_balance_holds_what_it_says() -> None:
    lines = list(measured(20, cells=2, models=3, participants=12, lost=0.2))
    assert [" slots " in line for line in lines] == [False, True]
    assert "20 of 20 within the rule, the worst 0 beyond it" in lines[1]
    assert "20 of 20" not in lines[0]
