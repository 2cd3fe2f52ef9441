"""Conditions: for whom a part of a session, an item of a questionnaire, or a rule of exclusion is.

A condition names variables of the study's design or assignment, and answers, each with the value or
the values of which one must be there, or with limits: `{age: {above: 17, below: 66}}`. Of several
names all must hold. `any`, `all` (lists of conditions) and `not` (a condition) put conditions
together. What was not asked or not answered has no value, and fulfils nothing named; inside `not`
that is true.

An answer to another questionnaire is called `questionnaire.item`; a variable has no point in its
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from labapp.base.documents import Path_, faults_at

Value = str | int | float | bool
"""What a variable, or an answer, can be."""
ANY, ALL, NOT = "any", "all", "not"
BELOW, ABOVE = "below", "above"
_EMPTY = "found nothing"
_ALLOWED = "variables and answers with their values, or `any`, `all` and `not`"


def _read(value: Any) -> dict[str, Any]:
    """A condition as it is kept. Raises ValidationError with the place of each fault."""
    faults: dict[Path_, str] = {}
    made = _condition(value, (), faults)
    if faults:
        empty = [place for place, what in faults.items() if what.startswith(_EMPTY)]
        raise faults_at(faults, empty)
    return made


def _condition(value: Any, place: Path_, faults: dict[Path_, str]) -> dict[str, Any]:
    if not isinstance(value, Mapping) or (place and not value):
        what = f"found {value!r}" if value != {} else _EMPTY
        faults[place] = f"{what}; allowed: {_ALLOWED}"
        return {}
    made: dict[str, Any] = {}
    for key, wanted in value.items():
        name, at = str(key), (*place, key)
        if name in (ANY, ALL):
            if not isinstance(wanted, list | tuple) or not wanted:
                faults[at] = f"found {wanted!r}; allowed: a list of conditions"
                continue
            inner = enumerate(wanted)
            made[name] = tuple(_condition(each, (*at, index), faults) for index, each in inner)
        elif name == NOT:
            made[name] = _condition(wanted, at, faults)
        elif isinstance(wanted, Mapping):
            made[name] = _limits(wanted, at, faults)
        else:
            listed = isinstance(wanted, list | tuple)
            for each in wanted if listed else (wanted,):
                if not isinstance(each, Value):
                    faults[at] = f"found {each!r}; allowed: a value, or a list of values"
            made[name] = tuple(wanted) if listed else wanted
    return made


def _limits(limits: Mapping[Any, Any], at: Path_, faults: dict[Path_, str]) -> dict[str, float]:
    for key, limit in limits.items():
        if key not in (BELOW, ABOVE):
            faults[(*at, key)] = f"found {key!r}; allowed: `{BELOW}` and `{ABOVE}`"
        elif isinstance(limit, bool) or not isinstance(limit, int | float):
            faults[(*at, key)] = f"found {limit!r}; allowed: a number"
    if not limits:
        faults[at] = f"{_EMPTY}; allowed: `{BELOW}`, `{ABOVE}`, or both"
    return dict(limits)


_VALUE = {"type": ["string", "number", "boolean"]}
_WANTED = {
    "anyOf": [
        _VALUE,
        {"type": "array", "items": _VALUE},
        {
            "type": "object",
            "properties": {BELOW: {"type": "number"}, ABOVE: {"type": "number"}},
            "additionalProperties": False,
        },
    ]
}
_SCHEMA = {
    "type": "object",
    "properties": {
        ANY: {"type": "array", "items": {"type": "object"}, "minItems": 1},
        ALL: {"type": "array", "items": {"type": "object"}, "minItems": 1},
        NOT: {"type": "object"},
    },
    "additionalProperties": _WANTED,
}
Condition = Annotated[dict[str, Any], BeforeValidator(_read), WithJsonSchema(_SCHEMA)]
"""A condition, as plain values; an empty one always holds."""
Known = Mapping[str, Value | tuple[Value, ...]]
"""What conditions can name: variables, and answers, each with its value or values."""


def as_tuple(value: Value | tuple[Value, ...] | None) -> tuple[Value, ...]:
    """One value, several or none, as several."""
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def holds(condition: Mapping[str, Any], known: Known) -> bool:
    """Whether a condition holds. Of what has several values, as an answer of several options, any
    of them may be the one that is wanted."""
    return all(_holds(name, wanted, known) for name, wanted in condition.items())


def _holds(name: str, wanted: Any, known: Known) -> bool:
    if name in (ANY, ALL):
        return (any if name == ANY else all)(holds(each, known) for each in wanted)
    if name == NOT:
        return not holds(wanted, known)
    values = as_tuple(known.get(name))
    if isinstance(wanted, Mapping):
        return any(_is_within(value, wanted) for value in values)
    return any(value in as_tuple(wanted) for value in values)


def _is_within(value: Value, limits: Mapping[str, float]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return limits.get(ABOVE, float("-inf")) < value < limits.get(BELOW, float("inf"))


def is_answer(name: str) -> bool:
    """Whether a condition names an item of a questionnaire, as `questionnaire.item`."""
    return "." in name


def settle(condition: Mapping[str, Any], known: Known) -> bool | dict[str, Any]:
    """What is left of a condition where some answers are not known (yet): the condition on these,
    or whether it holds where that is decided. Every variable is taken to be known."""
    parts = [_settle(name, wanted, known) for name, wanted in condition.items()]
    left = [part for part in parts if not isinstance(part, bool)]
    if False in parts or not left:
        return False not in parts
    return left[0] if len(left) == 1 else {ALL: tuple(left)}


def _settle(name: str, wanted: Any, known: Known) -> bool | dict[str, Any]:
    if name == NOT:
        inner = settle(wanted, known)
        return not inner if isinstance(inner, bool) else {NOT: inner}
    if name in (ANY, ALL):
        parts = [settle(each, known) for each in wanted]
        if (decisive := name == ANY) in parts:
            return decisive
        left = tuple(part for part in parts if not isinstance(part, bool))
        return {name: left} if left else not decisive
    if is_answer(name) and not as_tuple(known.get(name)):
        return {name: wanted}
    return _holds(name, wanted, known)


class Leaf(NamedTuple):
    """One name in a condition.

    Attributes
    ----------
    place : its path in the condition.
    name : of the variable or answer.
    wanted : its value or values, or its limits.
    always : whether the condition cannot hold unless this does.
    """

    place: Path_
    name: str
    wanted: Any
    always: bool


def leaves(
    condition: Mapping[str, Any], place: Path_ = (), *, always: bool = True
) -> Iterator[Leaf]:
    """Every name in a condition, those in `any`, `all` and `not` too."""
    for name, wanted in condition.items():
        at = (*place, name)
        if name in (ANY, ALL):
            for index, each in enumerate(wanted):
                yield from leaves(each, (*at, index), always=always and name == ALL)
        elif name == NOT:
            yield from leaves(wanted, at, always=False)
        else:
            yield Leaf(at, name, wanted, always)


def names(condition: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables and answers that a condition names, each once."""
    return tuple(dict.fromkeys(leaf.name for leaf in leaves(condition)))


def describe(condition: Mapping[str, Any]) -> str:
    """A condition in words, such as `hint is with and (age is above 17 or tool is not often)`."""
    return " and ".join(_describe(name, wanted) for name, wanted in condition.items())


def _describe(name: str, wanted: Any) -> str:
    if name in (ANY, ALL):
        inner = [describe(each) for each in wanted]
        joined = (" or " if name == ANY else " and ").join(inner)
        return f"({joined})" if len(inner) > 1 else joined
    if name == NOT:
        return f"not ({describe(wanted)})"
    if isinstance(wanted, Mapping):
        return f"{name} is " + " and ".join(f"{key} {limit:g}" for key, limit in wanted.items())
    return f"{name} is {' or '.join(map(str, as_tuple(wanted)))}"
