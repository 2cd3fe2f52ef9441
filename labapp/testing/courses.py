"""Random courses of commands, waits, pauses and crashes, made from the types of commands."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from labapp.events import Source
from labapp.events.commands import (
    AskToLeave,
    Back,
    Command,
    ConfirmSkip,
    HandIn,
    Next,
    Pause,
    Resume,
    Skip,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Tick,
)

Step = tuple[float, Command | str]
"""Seconds of session time, and what comes then: a command, a `crash`, a `pause` that ends, an
attempt to `leave` that is given up, or a `stall`: the computer stands still."""
Heard = Sequence[tuple[str, Command, Source]]

ANY_TIME = st.one_of(
    st.builds(Next),
    st.builds(Back),
    st.builds(Skip),
    st.builds(HandIn),
    st.builds(Tick),
    st.builds(Pause, st.just("random")),
    st.builds(Resume, st.just("random")),
    st.builds(AskToLeave, st.just("escape")),
    st.builds(StayHere),
    st.builds(SkipStage),
    st.builds(TakeBackSkip, st.sampled_from(["trial", "part"])),
    st.builds(ConfirmSkip),
)
"""What can come in every part."""


def courses(own: Collection[type[Command]], heard: Heard) -> st.SearchStrategy[list[Step]]:
    """Courses for a task.

    own: its classes of commands; heard: what a simulated participant sent, which is sent again in
    any order. What only the runner sends (that pictures are there) is not made up.
    """
    sent = [command for _, command, source in heard if source is not Source.SYSTEM]
    by_runner = {type(command) for _, command, source in heard if source is Source.SYSTEM}
    by_hand = {type(command) for command in sent} | (set(own) - by_runner)
    texts = sorted({text for command in sent for text in _texts(command)} | {"mouse", ""})
    in_order = sorted(by_hand & set(own), key=lambda cls: cls.__qualname__)
    made = [built for cls in in_order if (built := _built(cls, texts)) is not None]
    again = [st.sampled_from(sent)] if sent else []
    # Most of what is asked for is the task's own; a pause or a question about leaving that nobody
    # ends would hide the rest of the course.
    often = [*made, *again] or [ANY_TIME]
    step = st.one_of(*often * 3, ANY_TIME, st.sampled_from(["crash", "pause", "leave", "stall"]))
    waits = st.sampled_from([0.0, 0.0, 0.05, 0.3, 1.0, 3.0])
    return st.lists(st.tuples(waits, step), min_size=12, max_size=40)


def commands_of(package: str) -> set[type[Command]]:
    """The classes of commands that are defined in a package."""
    return {
        cls
        for cls in _subclasses(Command)
        if (cls.__module__ == package or cls.__module__.startswith(f"{package}."))
        and getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls
    }


def _subclasses(cls: type[Command]) -> set[type[Command]]:
    return {cls}.union(*(_subclasses(sub) for sub in cls.__subclasses__()))


def _texts(command: Any) -> list[str]:
    """The texts in the fields of a command."""
    values = (getattr(command, field.name) for field in dataclasses.fields(command))
    return [value for value in values if isinstance(value, str)]


def _built(cls: type[Command], texts: Sequence[str]) -> st.SearchStrategy[Command] | None:
    """Commands of a class with any values; None where a field has a type of its own."""
    hints = get_type_hints(cls)
    fields: Collection[dataclasses.Field[Any]] = getattr(cls, "__dataclass_fields__", {}).values()
    values: dict[str, st.SearchStrategy[Any]] = {}
    for field in fields:
        value = _values(hints[field.name], texts)
        if value is None:
            return None
        values[field.name] = value
    return st.builds(cls, **values)


def _values(hint: Any, texts: Sequence[str]) -> st.SearchStrategy[Any] | None:
    """Values of a type, impossible ones among them."""
    origin, arguments = get_origin(hint), get_args(hint)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        int: st.one_of(st.integers(-1, 2), st.integers(-2, 12)),
        float: st.one_of(
            st.floats(-3, 3), st.sampled_from([math.nan, math.inf]), st.integers(-2, 6).map(float)
        ),
        bool: st.booleans(),
        str: st.one_of(st.sampled_from(texts), st.text(max_size=10)),
        NoneType: st.none(),
    }
    if hint in plain:
        return plain[hint]
    if hint is Any:
        return st.one_of(st.integers(-2, 12), st.text(max_size=10), st.none(), st.booleans())
    if origin in (Union, UnionType):
        inner = [_values(argument, texts) for argument in arguments]
        return None if None in inner else st.one_of(*inner)  # type: ignore[arg-type]
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        each = _values(arguments[0], texts)
        return None if each is None else st.lists(each, max_size=5).map(tuple)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        keys, values = (_values(argument, texts) for argument in arguments)
        if keys is not None and values is not None:
            return st.dictionaries(keys, values, max_size=3)
    return None
