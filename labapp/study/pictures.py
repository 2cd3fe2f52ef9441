"""The pictures of a plan, by the names that stimulus sets give them."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.study.judging import JudgingPart, MethodPart, PlannedPhoto
from labapp.study.unmasking import UnmaskingPart


def pictures_of(parts: Iterable[object]) -> tuple[str, ...]:
    """Every picture that the parts of a plan show, each once, in the order they come; the whole
    images that masked ones are parts of stand behind these."""
    found: dict[str, None] = {}
    for part in parts:
        if isinstance(part, UnmaskingPart):
            found.update(dict.fromkeys(part.pictures()))
            found.update(dict.fromkeys(sequence.picture for sequence in part.sequences))
            continue
        if isinstance(part, JudgingPart):
            photos: tuple[PlannedPhoto | None, ...] = part.photos
        elif isinstance(part, MethodPart):
            photos = (part.correct, part.incorrect)
        else:
            continue
        for photo in photos:
            found.update(dict.fromkeys(photo.pictures() if photo is not None else ()))
        if part.explained.tree is not None:
            found[part.explained.tree] = None
    return tuple(found)
