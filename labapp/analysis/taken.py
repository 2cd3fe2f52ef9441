"""Which kinds of events a task's records handle, by their code: a kind that they claim and no
function of theirs mentions would be dropped without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from inspect import isfunction
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from labapp.record.events import Payload

if TYPE_CHECKING:
    from labapp.analysis.task_records import TaskRecords


def never_handled(records: type[TaskRecords[Any, Any]], base: type) -> set[str]:
    """The kinds in `records.kinds` and `records.of_session` that its functions do not mention.

    A kind is mentioned by its class or by its name. The functions are those of the class up to
    `base`, and whatever they use of the same package, such as the attempts they make.
    """
    home = records.__module__.partition(".")[0]
    if home == base.__module__.partition(".")[0]:  # of a shipped task its folder
        home = records.__module__.rpartition(".")[0]
    seen: set[int] = set()
    mentioned: set[str] = set()
    waiting: list[Any] = [
        known for known in records.__mro__ if known.__module__ not in (base.__module__, "builtins")
    ]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            mentioned.add(thing)
        elif isinstance(thing, Mapping):
            waiting += [*thing, *thing.values()]
        elif isinstance(thing, tuple | list | Set):
            waiting += thing
        elif isinstance(thing, type) and issubclass(thing, Payload):
            mentioned.add(getattr(thing, "kind", ""))
        elif isinstance(thing, type):
            waiting += _functions(known for known in thing.__mro__ if _within(known, home))
        elif isfunction(thing) and _within(thing, home):
            waiting += _used(thing)
    return {*records.kinds, *records.of_session} - mentioned


def _within(thing: type | FunctionType, home: str) -> bool:
    return f"{thing.__module__}.".startswith(f"{home}.")


def _functions(classes: Iterable[type]) -> Iterator[FunctionType]:
    for known in classes:
        for value in vars(known).values():
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if isfunction(function):
                yield function


def _used(function: FunctionType) -> Iterator[Any]:
    """The texts in a function, and what its names stand for in its module or in others there."""
    for code in _codes(function.__code__):
        yield from (value for value in code.co_consts if isinstance(value, str | tuple | frozenset))
        there = [
            function.__globals__[name] for name in code.co_names if name in function.__globals__
        ]
        yield from there
        for module in there:
            if isinstance(module, ModuleType):
                yield from (vars(module)[name] for name in code.co_names if name in vars(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)
