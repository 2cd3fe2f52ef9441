"""The pictures of a plan, by the names that stimulus sets give them."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.plugins.part import PlannedPart


def pictures_of(parts: Iterable[PlannedPart]) -> tuple[str, ...]:
    """Every picture that the parts of a plan show, each once, in the order they come."""
    return tuple(dict.fromkeys(name for part in parts for name in part.stored_pictures()))
