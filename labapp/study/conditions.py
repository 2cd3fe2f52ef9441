"""Who gets which condition: the variables of a study, by participant number or drawn.

A drawn variable has cells. The emptiest cells are drawn first and ties are broken by lot, so that
every round draws without replacement; which cells are emptiest depends on earlier participants (see
`labapp.session.condition_assignment`). Variables stand as `{name}` in models and texts, and
`only_if` limits an item to some conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, field_validator

from labapp.base.documents import WORD, Strict

VARIABLE = re.compile(r"\{(\w+)\}")
RESERVED = frozenset({"language", "number", "models", "stimuli", "sets", "manifests"})

Value = str | int | float | bool
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
    """Raises ValueError where names clash or more cells are drawn than there are."""
    drawn = [name for name, rule in assignment.items() if isinstance(rule, Cells)]
    if len(drawn) > 1:
        raise ValueError(f"one drawn variable at most; there are {' and '.join(drawn)}")
    for rule in assignment.values():
        if isinstance(rule, Cells) and rule.draw > len(rule.cells):
            raise ValueError(f"a draw of at most {len(rule.cells)}, as many as there are cells")
    variables = names(assignment)
    for name in variables:
        if name in RESERVED or variables.count(name) > 1:
            raise ValueError(f"names that are not taken; {name!r} is")


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


OnlyIf = dict[str, tuple[Value, ...] | Value]
"""By name the value, or the values, of which one must be there."""


def listed(value: Value | tuple[Value, ...] | None) -> tuple[Value, ...]:
    """One value, several or none, as several."""
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def matches(
    only_if: Mapping[str, Value | tuple[Value, ...]], scope: Mapping[str, Value | tuple[Value, ...]]
) -> bool:
    """Whether something is for participants with these variables; one that has several values, as
    an answer of several options, matches by any of them."""
    return all(
        any(value in listed(wanted) for value in listed(scope.get(name)))
        for name, wanted in only_if.items()
    )


def fill(template: str, scope: Mapping[str, Value]) -> str:
    """A name with its variables filled in. Raises KeyError with the name of an unknown one."""
    return VARIABLE.sub(lambda match: str(scope[match.group(1)]), template)


def fill_all(templates: Sequence[str], scope: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(fill(template, scope) for template in templates)
