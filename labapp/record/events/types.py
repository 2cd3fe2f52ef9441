"""What the fields of events can hold.

A field says it in its annotation, and msgspec checks it wherever an event is read. Here are names
for the whole numbers of labapp's own events, and the words for a value that a field cannot hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from labapp.record.events.registry import Payload

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Any whole number of 64 bits, such as a session time in nanoseconds. No table holds a larger."""
Nanoseconds = Annotated[int, Meta(ge=0, le=2**63 - 1, extra={"unit": "ns"})]
"""A duration, or a session time that is not negative."""
Index = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""A place that counts from 0, or how many there are of something."""
Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""A number that counts from 1."""
Frames = Annotated[int, Meta(ge=0, le=2**32 - 1, extra={"unit": "frames"})]
"""Frames of sound: a WAV file has no more."""
Crc32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""A checksum."""
Hertz = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "Hz"})]
"""A sampling rate."""
Channels = Annotated[int, Meta(ge=1, le=64)]
"""Channels of sound."""

KEPT = Meta(extra={"privacy": "kept"})
"""Marks a field whose text de-identified copies keep: the program or the study says it, never a
person. The text of any other field is withheld."""
WRITTEN = Meta(extra={"privacy": "written"})
"""Marks a field with what a person wrote."""
Word = Annotated[str, KEPT]
"""A text of the program's or the study's own, such as an id, a code or the name of an input."""
Written = Annotated[str, WRITTEN]
"""A text that a person wrote."""

_HOLDING = frozenset({list, tuple, dict})
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_WORDS |= {dict: "an object", list: "a list", tuple: "a list", NoneType: "null"}


_HINTS: dict[type, dict[str, Any]] = {}
_LOOSE: dict[type, tuple[str, ...]] = {}


def hints(cls: type[Payload]) -> dict[str, Any]:
    """The types of a kind's fields by name, in their order, with their bounds."""
    if cls not in _HINTS:
        known = get_type_hints(cls, include_extras=True)
        _HINTS[cls] = {name: known[name] for name in cls.__struct_fields__}
    return _HINTS[cls]


def problem(cls: type[Payload], fields: Mapping[str, Any]) -> str:
    """What is wrong with the first field whose value its kind cannot hold, in words; empty where
    all can be held. fields: by name, as they are stored."""
    for name, hint in hints(cls).items():
        try:
            if name in fields:
                msgspec.convert(fields[name], hint)
        except msgspec.ValidationError:
            return f"its {name} is {_short(fields[name])}; {_wanted(hint)} is needed"
    return ""


def kept(cls: type[Payload]) -> frozenset[str]:
    """The fields whose text de-identified copies keep."""
    return frozenset(name for name, hint in hints(cls).items() if _marked(hint, KEPT))


def written(cls: type[Payload]) -> frozenset[str]:
    """The fields with what a person wrote."""
    own = (name for name, hint in hints(cls).items() if _marked(hint, WRITTEN))
    return frozenset((*own, *cls.written))


def _marked(hint: Any, mark: Meta) -> bool:
    return hint == mark or any(_marked(inside, mark) for inside in _inside(hint))


def loose(cls: type[Payload]) -> tuple[str, ...]:
    """The fields that hold values of any type, in which lists become tuples."""
    if cls not in _LOOSE:
        _LOOSE[cls] = tuple(name for name, hint in hints(cls).items() if _holds_any(hint))
    return _LOOSE[cls]


def _holds_any(hint: Any) -> bool:
    return hint in (Any, dict, tuple) or any(map(_holds_any, _inside(hint)))


def tuples(value: Any) -> Any:
    """A value with every list in it as a tuple."""
    # Without a call for each number: a plan has thousands.
    if isinstance(value, list | tuple):
        return tuple([tuples(item) if type(item) in _HOLDING else item for item in value])
    if isinstance(value, dict):
        return {key: tuples(item) for key, item in value.items()}
    return value


def _inside(hint: Any) -> tuple[Any, ...]:
    """The types that a type is made of."""
    return tuple(argument for argument in get_args(hint) if argument is not Ellipsis)


def type_text(hint: Any) -> str:
    """A type without bounds as one writes it, such as `int | None`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_text(arguments[0])
    if origin in (Union, UnionType):
        return " | ".join(map(type_text, arguments))
    if isinstance(origin, type):
        return f"{origin.__name__}[{', '.join(map(type_text, arguments))}]"
    names = {NoneType: "None", ...: "..."}
    return names.get(hint) or str(getattr(hint, "__name__", hint))


def remarks(hint: Any) -> str:
    """Unit, bounds and privacy of a field, for people; empty where it has none of them."""
    facts = {}
    if isinstance(hint, Meta):
        facts = {"from": hint.ge, "to": hint.le, **(hint.extra or {})}
    own = (f"{name} {value}" for name, value in facts.items() if value is not None)
    return ", ".join(dict.fromkeys(filter(None, (*own, *map(remarks, _inside(hint))))))


def _wanted(hint: Any) -> str:
    origin, arguments = get_origin(hint), _inside(hint)
    if origin is Annotated:
        meta = arguments[1]
        words = _wanted(arguments[0])
        low, high = getattr(meta, "ge", None), getattr(meta, "le", None)
        words += f" from {low}" if low is not None else ""
        return words + (f" to {high}" if high is not None else "")
    if origin in (Union, UnionType):
        return " or ".join(map(_wanted, arguments))
    if origin is tuple:
        return f"a list ({_wanted(arguments[0])} each)"
    return _WORDS.get(origin or hint, "another value")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
