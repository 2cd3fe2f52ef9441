"""Reads those photos and prototypes of a set that the schema accepts, and reports the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from labapp.stimuli.library import schema_fault
from labapp.stimuli.manifest import Manifest, Photo
from labapp.stimuli.sources import EXAMPLES, Loc, SetSource


@dataclass(frozen=True, slots=True)
class ReadableSet:
    """The photos and prototypes of a manifest that could be read, and their places in the source.

    Attributes
    ----------
    manifest : with the readable ones alone.
    photos, prototypes : their places in the lists of the source.
    prototype_ids : ids of all prototypes, readable or not.
    whole : whether nothing was left out.
    """

    manifest: Manifest
    photos: tuple[int, ...]
    prototypes: tuple[int, ...]
    prototype_ids: frozenset[str]
    whole: bool

    def every_photo(self) -> Iterator[tuple[Loc, Photo]]:
        """All photos with their places, the worked examples last."""
        for place, photo in zip(self.photos, self.manifest.photos, strict=True):
            yield ("photos", place), photo
        for key in EXAMPLES:
            if (example := getattr(self.manifest, key)) is not None:
                yield (key,), example


def readable(source: SetSource) -> tuple[ReadableSet | None, list[str]]:
    """What can be read of a set (None if its manifest cannot), and what the schema refuses."""
    faults: list[str] = []
    bad: set[Loc] = set()
    try:
        manifest = Manifest.model_validate(source.value)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False):
            loc = error["loc"]
            if not _follows(error):
                faults.append(f"{source.where(loc)}: {schema_fault(error)}")
            bad.add(loc[:1] if loc[:1] in [(key,) for key in EXAMPLES] else loc[:2])
        try:
            manifest = Manifest.model_validate(_without(source.value, bad))
        except ValidationError:
            return None, faults
    return (
        ReadableSet(
            manifest,
            _places(source.value, "photos", bad),
            _places(source.value, "prototypes", bad),
            frozenset(
                str(item.get("id"))
                for item in _items(source.value, "prototypes")
                if item is not None
            ),
            not faults,
        ),
        faults,
    )


def _follows(error: ErrorDetails) -> bool:
    """Whether a list is too short only because some of its items were refused."""
    items = error["input"]
    return (
        error["type"] == "too_short"
        and isinstance(items, list)
        and len(items) >= error["ctx"]["min_length"]
    )


def _items(value: Any, key: str) -> list[Any]:
    """The items of a list of the manifest; None for an item that is no object."""
    items = value.get(key) if isinstance(value, dict) else None
    there = items if isinstance(items, list) else []
    return [item if isinstance(item, dict) else None for item in there]


def _places(value: Any, key: str, bad: set[Loc]) -> tuple[int, ...]:
    return tuple(n for n in range(len(_items(value, key))) if (key, n) not in bad)


def _without(value: Any, bad: set[Loc]) -> Any:
    """The value without the parts that were refused."""
    if not isinstance(value, dict):
        return value
    out = {key: item for key, item in value.items() if (key,) not in bad}
    for key in ("photos", "prototypes"):
        if isinstance(out.get(key), list):
            out[key] = [item for n, item in enumerate(out[key]) if (key, n) not in bad]
    return out
