"""Who gets which condition: the variables of a study, by participant number or drawn.

A drawn variable has cells. The emptiest cells are drawn first and ties are broken by lot, so that
every round draws without replacement; which cells are emptiest depends on earlier participants (see
`labapp.session.condition_assignment`). Variables stand as `{name}` in models and texts, and
`only_if` limits an item to some conditions (see `labapp.study.when`).

Seeded, recorded randomness of a study: generators by purpose, and counterbalanced orders.

Drawing dial states of a representation (paper 000, 3.1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator

from labapp.base.documents import WORD, Path_, Strict
from labapp.models.representations.space import BaseSampling, Discrete, LatentSpace, prior_of
from labapp.study.when import Value as Value
from labapp.study.when import as_tuple as as_tuple

VARIABLE = re.compile(r"\{(\w+)\}")
RESERVED = frozenset({"language", "number", "models", "stimuli", "sets", "manifests"})

T = TypeVar("T")
Scope = dict[str, Value]
"""Variables by name, where an item of the flow stands."""
Name = Annotated[str, Field(pattern=WORD)]


class ByNumber(Strict):
    """A variable with one value for odd and one for even participant numbers.

    Attributes
    ----------
    odd : its value for participants 1, 3, 5 …
    even : its value for participants 2, 4, 6 …
    """

    odd: Value
    even: Value

    def value(self, number: int) -> Value:
        return self.odd if number % 2 else self.even


class Cells(Strict):
    """A variable that is drawn.

    Attributes
    ----------
    cells : by name what can be drawn, each with values of further variables, the same ones in every
        cell.
    draw : how many a participant gets, in random order.
    included : participants each cell needs that count in the analysis; without it any number.
    """

    cells: dict[str, dict[Name, Value]] = Field(min_length=1, max_length=500)
    draw: int = Field(default=1, ge=1)
    included: int | None = Field(default=None, ge=1)

    @field_validator("cells")
    @classmethod
    def _same_variables(cls, cells: dict[str, dict[str, Value]]) -> dict[str, dict[str, Value]]:
        first, *others = cells
        for name in others:
            if cells[name].keys() != cells[first].keys():
                raise ValueError(f"the same variables in every cell; {first!r} and {name!r} differ")
        return cells


def _rule(value: Any) -> str:
    keys = type(value).model_fields if isinstance(value, Strict) else value
    # What is no object is told by the kind that it falls to.
    return (
        "drawn" if isinstance(keys, dict) and keys.keys() & Cells.model_fields else "odd and even"
    )


Rule = Annotated[
    Annotated[ByNumber, Tag("odd and even")] | Annotated[Cells, Tag("drawn")], Discriminator(_rule)
]
Assignment = dict[Name, Rule]


def check(assignment: Mapping[str, ByNumber | Cells]) -> None:
    """Raises ValueError if names clash or more cells are drawn than there are."""
    drawn = [name for name, rule in assignment.items() if isinstance(rule, Cells)]
    if len(drawn) > 1:
        raise ValueError(f"at most one drawn variable; there are {' and '.join(drawn)}")
    for rule in assignment.values():
        if isinstance(rule, Cells) and rule.draw > len(rule.cells):
            raise ValueError(f"a draw of at most {len(rule.cells)}, the number of cells")
    variables = names(assignment)
    for name in variables:
        if name in RESERVED or variables.count(name) > 1:
            raise ValueError(f"names that are not in use; {name!r} is")


def names(assignment: Mapping[str, ByNumber | Cells]) -> list[str]:
    """Every variable, those of the cells too."""
    variables = list(assignment)
    for rule in assignment.values():
        if isinstance(rule, Cells):
            variables += next(iter(rule.cells.values()))
    return variables


def values_of(
    assignment: Mapping[str, ByNumber | Cells], *, inside: bool
) -> dict[str, tuple[Value, ...]]:
    """Every value that each variable can have; inside: within `each`. What is drawn several times
    has no single value outside it."""
    values: dict[str, tuple[Value, ...]] = {}
    for name, rule in assignment.items():
        if isinstance(rule, ByNumber):
            values[name] = (rule.odd, rule.even)
        elif inside or rule.draw == 1:
            values[name] = tuple(rule.cells)
            for variable in next(iter(rule.cells.values())):
                values[variable] = tuple(cell[variable] for cell in rule.cells.values())
    return values


def cells_of(assignment: Mapping[str, ByNumber | Cells]) -> tuple[str, Cells] | None:
    """The drawn variable and its cells, if the study has one."""
    rules = ((name, rule) for name, rule in assignment.items() if isinstance(rule, Cells))
    return next(rules, None)


def by_number(assignment: Mapping[str, ByNumber | Cells], number: int) -> Scope:
    """The variables that a participant's number decides."""
    rules = assignment.items()
    return {name: rule.value(number) for name, rule in rules if isinstance(rule, ByNumber)}


def of_cell(name: str, rule: Cells, cell: str) -> Scope:
    """The variables of a drawn cell, its own name among them."""
    return {name: cell, **rule.cells[cell]}


def variants(assignment: Mapping[str, ByNumber | Cells]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Participant numbers and drawn cells that show every condition at least once."""
    numbers = (1, 2) if any(isinstance(r, ByNumber) for r in assignment.values()) else (1,)
    drawn = cells_of(assignment)
    for number in numbers:
        if drawn is None:
            yield number, ()
            continue
        names, count = list(drawn[1].cells), drawn[1].draw
        for start in range(0, len(names), count):
            yield number, tuple((names + names)[start : start + count])


def _name_levels(orders: Any) -> Any:
    """Levels are named as texts, also those that are numbers."""
    return (
        {str(key): names for key, names in orders.items()} if isinstance(orders, dict) else orders
    )


class OrderByGroup(Strict):
    """An order that depends on the participant's group.

    Attributes
    ----------
    by : a factor between participants, or another variable of the study.
    orders : by each of its levels the order, with everything in it once.
    """

    by: Name
    orders: Annotated[dict[str, tuple[Value, ...]], BeforeValidator(_name_levels)] = Field(
        min_length=1, max_length=100
    )

    def put(
        self, things: Sequence[T], scope: Mapping[str, Any], name: Callable[[T], str] = str
    ) -> tuple[T, ...]:
        """Things in the order of a participant with these variables; what the order does not name
        comes last. name: what the order calls one of them."""
        order = [str(each) for each in self.orders.get(str(scope.get(self.by)), ())]
        places = {each: place for place, each in enumerate(order)}
        return tuple(sorted(things, key=lambda thing: places.get(name(thing), len(places))))

    def faults(
        self, levels: Sequence[object] | None, names: Sequence[object]
    ) -> Iterator[tuple[Path_, str]]:
        """Where an order is missing, or has something else in it. levels: of `by`, None if they
        are not known; names: of what is put in order, none if that is not known."""
        known = None if levels is None else [str(level) for level in levels]
        wanted = [str(name) for name in names]
        for level, order in self.orders.items():
            if known is not None and level not in known:
                told = ", ".join(known)
                yield ("orders", level), f"{level!r} is not a level of {self.by}; there are: {told}"
            own = [str(name) for name in order]
            if wanted and sorted(own) != sorted(wanted):
                told = ", ".join(wanted)
                yield (
                    ("orders", level),
                    (f"found {', '.join(own)}; allowed: each of these once: {told}"),
                )
        for level in known or ():
            if level not in self.orders:
                yield ("orders",), f"there is no order for {self.by}: {level}"


def fill(template: str, scope: Mapping[str, Value]) -> str:
    """A name with its variables filled in. Raises KeyError with the name of an unknown one."""
    return VARIABLE.sub(lambda match: str(scope[match.group(1)]), template)


def fill_all(templates: Sequence[str], scope: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(fill(template, scope) for template in templates)


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A fresh generator for one draw, from the study's seed and what the draw is for.

    Equal arguments give equal draws on every machine; another participant, stage, trial or
    purpose gives an independent stream.
    """
    text = "\0".join(f"{type(p).__name__}:{p}" for p in (seed, *purpose))
    words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def make_balanced_rows(n: int) -> list[tuple[int, ...]]:
    """Orders of n conditions in which each stands equally often at each place and follows each
    other one equally often (Williams design: n rows for even n, 2n for odd; n = 1 gives one row).
    """
    first = [0]
    for step in range(1, n):
        previous = first[-1]
        first.append((previous + (step if step % 2 else -step)) % n)
    rows = [tuple((value + shift) % n for value in first) for shift in range(n)]
    if n % 2 and n > 1:
        rows += [row[::-1] for row in rows]
    return rows


def counterbalance_order(items: Sequence[T], seed: int, study: str, number: int) -> tuple[T, ...]:
    """The order for participant `number` (from 1): each block of participants goes through all
    balanced rows once, in an order shuffled per block."""
    rows = make_balanced_rows(len(items))
    block, place = divmod(number - 1, len(rows))
    shuffled = generator(seed, study, "counterbalance", block).permutation(len(rows))
    return tuple(items[index] for index in rows[int(shuffled[place])])


def shuffled(items: Sequence[T], seed: int, *purpose: str | int) -> tuple[T, ...]:
    """A seeded random order."""
    order = generator(seed, *purpose).permutation(len(items))
    return tuple(items[int(index)] for index in order)


def in_rounds(items: Sequence[T], count: int, seed: int, *purpose: str | int) -> tuple[T, ...]:
    """So many of the items in seeded random order: each once before any comes again."""
    rounds = -(-count // len(items))
    order = [item for turn in range(rounds) for item in shuffled(items, seed, *purpose, turn)]
    return tuple(order[:count])


def attempt_at(stage: str, attempt: int) -> str:
    """The purpose of a stage's draws at an attempt. A stage that begins again draws again, for its
    participant has seen the former questions."""
    return stage if attempt == 1 else f"{stage}, attempt {attempt}"


def draw_state(
    sampling: BaseSampling,
    model: str,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    """One dial state, on the dials' steps and inside their limits. Raises ValueError when
    the sampling cannot be done with what is given.

    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out`.
    """
    if sampling == "held_out":
        rows = sample_of(model, sample)
        return space.snap(rows[int(rng.integers(len(rows)))].tolist())
    if sampling == "prior":
        draw = prior_of(space)
        if draw is None:
            raise ValueError(f"{model} has no prior from which to draw")
        return space.snap(draw(rng))
    # Uniform within the limits: for representations without a sample (InfoGAN).
    return space.snap(
        tuple(
            float(rng.integers(dimension.k))
            if isinstance(dimension, Discrete)
            else float(rng.uniform(dimension.low, dimension.high))
            for dimension in space.dimensions
        )
    )


def sample_of(model: str, sample: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The held-out sample. Raises ValueError if there is none."""
    if sample is None or len(sample) == 0:
        raise ValueError(f"{model} has no held-out sample from which to draw")
    return sample
