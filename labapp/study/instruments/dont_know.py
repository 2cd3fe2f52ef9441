"""An item that can be answered by not knowing (`dont_know` of an item): the same for every kind.

What is stored is `{"dont_know": True}`, of an item with several values `{"dont_know": ids}` with
those of all of them, and `{"dont_know": False}` where it was taken back. It counts as answered and
has no value: tables and analyses take it as missing, and count it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.study.conditions import Value
from labapp.study.instruments.items import Item

DONT_KNOW = "dont_know"
"""The key of such an answer, and what conditions call it."""
TAKEN_BACK: Mapping[str, Any] = {DONT_KNOW: False}


def is_about_knowing(value: Any) -> bool:
    """Whether a stored answer says that somebody does not know, or that this was taken back."""
    return isinstance(value, Mapping) and set(value) == {DONT_KNOW}


def is_unknown(value: Any) -> bool:
    """Whether a stored answer says that somebody does not know."""
    return is_about_knowing(value) and bool(value[DONT_KNOW])


def unknown(item: Item) -> dict[str, Any]:
    """The answer that somebody does not know, as it is stored."""
    parts = tuple(part.id.removeprefix(f"{item.id}_") for part in item.parts())
    return {DONT_KNOW: True if item.parts() == (item,) else parts}


def check(item: Item, value: Any) -> Any:
    """An answer as stored, as `Item.check` has it. Raises ValueError for what is none."""
    if not is_about_knowing(value):
        return item.check(value)
    if not item.dont_know:
        raise ValueError(f"{item.id}: 'don't know' is not offered")
    return unknown(item) if value[DONT_KNOW] else dict(TAKEN_BACK)


def answered(item: Item, value: Any) -> bool:
    """Whether a stored answer says something, that somebody does not know included."""
    return is_unknown(value) if is_about_knowing(value) else item.answered(value)


def is_missing(item: Item, value: Any) -> bool:
    """Whether the participant cannot go on with this stored answer; None for no answer."""
    if is_about_knowing(value):
        return item.required and not is_unknown(value)
    return item.is_missing(value)


def say(item: Item, value: Any) -> str:
    """A stored answer in words, for people."""
    return item.dont_know if is_unknown(value) else item.said(value)


def values_of_parts(item: Item, value: Any) -> dict[str, tuple[Value, ...]]:
    """A stored answer as conditions name it, by the ids of the item and its parts."""
    if not is_about_knowing(value):
        return item.values_of_parts(value)
    without = dict.fromkeys((part.id for part in item.parts()), ())
    return {**without, item.id: (DONT_KNOW,) if is_unknown(value) else ()}
