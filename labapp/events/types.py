"""Whether the fields of a stored payload hold what its kind says they hold.

A journal's hashes can be right and its values wrong: it may have been changed by somebody who made
the hashes anew, or by a program that is none of ours. Readers count on the types, so these are
checked before a payload is made. A journal has thousands of payloads, so the check is an expression
that is compiled once a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from labapp.events.registry import Payload

_EXACT = 2**53
_WHOLE = (-(2**63), 2**63 - 1)
_INDEX = (0, 2**31 - 1)
_NUMBER = (1, 2**31 - 1)
_FRAMES = (0, 2**32 - 1)

LIMITS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("index", "dimension", "z_seq", "box", "page", "option", "choice"), _INDEX),
    **dict.fromkeys(("correct", "screens_left", "photos", "solved", "side_px", "hits"), _INDEX),
    **dict.fromkeys(("segment", "attempt", "sequence", "mask", "seq"), _NUMBER),
    **dict.fromkeys(("first_frame", "frames", "at_frame", "lost_frames", "crc32"), _FRAMES),
    **dict.fromkeys(("gap_from_ns", "from_ns", "duration_ns", "asleep_ns"), (0, _WHOLE[1])),
    "nominal_rate": (1, 1_000_000),
    "channels": (1, 64),
}
"""Least and greatest value of whole numbers by the name of their field, whatever the kind; others
have 64 bits. Beyond these nothing can be counted, looked up or read."""
UNLIMITED = frozenset({"seed"})
"""`--seed` takes any whole number."""

_LISTS = (list, tuple)
_HOLDING = frozenset({list, tuple, dict})
_NAMES = {"LISTS": _LISTS, "len": len, "all": all, "str": str, "int": int, "float": float}
_NAMES |= {"bool": bool, "dict": dict}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def problem(cls: type[Payload], fields: Mapping[str, Any]) -> str | None:
    """What is wrong with the first field that does not hold its type, in words; None where all do.

    fields: by name, as they are stored; those a kind lacks, and those it does not have, are not
    looked at.
    """
    hints = _hints(cls)
    for name, value in fields.items():
        if name in hints and not _holds(hints[name], value, name):
            return f"its {name} is {_short(value)}; {_wanted(hints[name], name)} is needed"
    return None


def checker(cls: type[Payload]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether all fields are there and hold their types; false also of the rarer types that
    `problem` allows. False, or KeyError, where a field is missing."""
    looks = [
        f"{name!r} in fields" if hint is Any else _look(hint, f"fields[{name!r}]", name)
        for name, hint in _hints(cls).items()
    ]
    code = f"lambda fields: {' and '.join(looks) or 'True'}"
    check: Callable[[Mapping[str, Any]], bool] = eval(code, dict(_NAMES))
    return check


def scalar(cls: type[Payload]) -> bool:
    """Whether every field is a text, a number, true or false, or nothing."""
    plain = {str, int, float, bool, NoneType}
    return all(plain >= {hint, *get_args(hint)} - {_union(hint)} for hint in _hints(cls).values())


def bounded(cls: type[Payload]) -> bool:
    """Whether no field takes a whole number beyond 64 bits."""
    return all(
        name not in UNLIMITED and not _inside(hint) & {Any, dict}
        for name, hint in _hints(cls).items()
    )


def _inside(hint: Any) -> set[Any]:
    """A type and those that it is made of."""
    return {get_origin(hint) or hint}.union(*map(_inside, get_args(hint)))


def tupler(cls: type[Payload]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Makes fields that hold their types those of a payload: `tuples`, without a look at what can
    hold no list."""
    fields = (
        f"{name!r}: {_tupled(hint, f'fields[{name!r}]')}" for name, hint in _hints(cls).items()
    )
    code = f"lambda fields: {{{', '.join(fields)}}}"
    made: Callable[[Mapping[str, Any]], dict[str, Any]] = eval(code, {"tuples": tuples})
    return made


def _tupled(hint: Any, value: str) -> str:
    """An expression for `tuples(value)`, by the type that the value holds."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is not tuple and not _inside(hint) & {Any, dict, tuple}:
        return value
    if origin is tuple and not any(map(get_args, arguments)) and Any not in arguments:
        return f"tuple({value})"
    if origin is tuple and arguments[-1] is Ellipsis and get_origin(arguments[0]) is tuple:
        each = _tupled(arguments[0], "each")
        return f"tuple(map(tuple, {value}))" if each == "tuple(each)" else f"tuples({value})"
    return f"tuples({value})"


def tuples(value: Any) -> Any:
    """A value with every list in it as a tuple."""
    # Without a call for each number: a plan has thousands.
    if isinstance(value, list | tuple):
        return tuple([tuples(item) if type(item) in _HOLDING else item for item in value])
    if isinstance(value, dict):
        return {key: tuples(item) for key, item in value.items()}
    return value


def _union(hint: Any) -> Any:
    return hint if get_origin(hint) in (Union, UnionType) else None


def _hints(cls: type[Payload]) -> dict[str, Any]:
    """The types of a kind's fields by name, in their order."""
    if cls not in _HINTS:
        hints = get_type_hints(cls)
        _HINTS[cls] = {name: hints[name] for name in cls.__dataclass_fields__}
    return _HINTS[cls]


_HINTS: dict[type, dict[str, Any]] = {}


def _limits(name: str) -> tuple[int, int]:
    return LIMITS.get(name, _WHOLE)


def _look(hint: Any, value: str, name: str, depth: int = 0) -> str:
    """An expression that is true where `value` holds the type; names are walked anew at each."""
    at = f"v{depth}"
    inner, arguments = f"i{depth}", get_args(hint)
    origin = get_origin(hint)
    if hint is Any:
        return "True"
    if hint is str or hint is bool:
        return f"{value}.__class__ is {hint.__name__}"
    if hint is int:
        low, high = _limits(name)
        limits = "" if name in UNLIMITED else f" and {low} <= {at} <= {high}"
        return f"(({at} := {value}).__class__ is int{limits})"
    if hint is float:
        # JSON has no infinity; a whole number can still be none that a float holds.
        whole = f"{at}.__class__ is int and {-_EXACT} <= {at} <= {_EXACT}"
        return f"(({at} := {value}).__class__ is float or {whole})"
    if origin in (Union, UnionType):
        (some,) = (argument for argument in arguments if argument is not NoneType)
        return f"(({at} := {value}) is None or {_look(some, at, name, depth + 1)})"
    if origin is dict:
        each = _look(arguments[1], inner, name, depth + 1)
        every = "" if each == "True" else f" and all([{each} for {inner} in {at}.values()])"
        return f"(({at} := {value}).__class__ is dict{every})"
    if origin is not tuple:
        raise TypeError(f"a payload has no field of type {hint}")
    if arguments[-1] is Ellipsis:
        each = _look(arguments[0], inner, name, depth + 1)
        return f"(({at} := {value}).__class__ in LISTS and all([{each} for {inner} in {at}]))"
    each = " and ".join(
        _look(argument, f"{at}[{place}]", name, depth + 1)
        for place, argument in enumerate(arguments)
    )
    return f"(({at} := {value}).__class__ in LISTS and len({at}) == {len(arguments)} and {each})"


def _holds(hint: Any, value: Any, name: str) -> bool:
    """The same, told slowly; types that are derived from these fit as well."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint in (str, bool):
        return isinstance(value, hint)
    if hint in (int, float):
        if isinstance(value, bool) or not isinstance(value, int if hint is int else int | float):
            return False
        if isinstance(value, float):
            return isfinite(value)
        low, high = _limits(name) if hint is int else (-_EXACT, _EXACT)
        return name in UNLIMITED or low <= value <= high
    if origin is dict:
        return isinstance(value, dict) and all(
            _holds(arguments[1], item, name) for item in value.values()
        )
    if origin is tuple:
        if not isinstance(value, _LISTS):
            return False
        types = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        return len(types) == len(value) and all(
            _holds(item, inner, name) for item, inner in zip(types, value, strict=True)
        )
    return any(
        value is None if kind is NoneType else _holds(kind, value, name) for kind in arguments
    )


def _wanted(hint: Any, name: str) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is int and name in LIMITS:
        return f"a whole number from {LIMITS[name][0]} to {LIMITS[name][1]}"
    if origin in (Union, UnionType):
        return " or ".join(
            "null" if kind is NoneType else _wanted(kind, name) for kind in arguments
        )
    if origin is tuple:
        return f"a list ({_wanted(arguments[0], name)} each)"
    return "an object" if origin is dict else _WORDS.get(hint, "another value")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
