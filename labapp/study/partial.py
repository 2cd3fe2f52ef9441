"""Reading a document in spite of its mistakes, so that all of them can be told at once.

What is refused is left out, or read as what was probably meant, and the rest is read again, until
nothing is refused. What is missed then because it was left out is no mistake of its author.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from labapp.base.documents import Located, Path_, Problem, innermost, problems, suggest_name
from labapp.base.reading.values import PROBLEMS

ROUNDS = 2 * PROBLEMS
"""At most; each leaves something out."""
_MISSED = frozenset({"missing", "union_tag_not_found", "union_tag_invalid", "too_short"})
"""What pydantic calls that something is not there."""
INCOMPLETE = "incomplete"
"""In the context of a validation: whether something was left out."""
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Partial(Generic[Model]):
    """A document as far as it can be read.

    Attributes
    ----------
    model : None if nothing can be made of it.
    problems : what is wrong with it, by line.
    left_out : where what was left out stands in the document.
    origin : by place in what is left the place in the document.
    """

    model: Model | None
    problems: tuple[Problem, ...]
    left_out: frozenset[Path_]
    origin: Mapping[Path_, Path_]

    def lacks(self, *start: str | int) -> bool:
        """Whether anything was left out at or below a place, or above it."""
        return any(
            path[: len(start)] == start or start[: len(path)] == path for path in self.left_out
        )


def read_partly(
    model: type[Model],
    located: Located,
    stand_ins: Mapping[str, Any],
    context: Mapping[str, Any] | None = None,
) -> Partial[Model]:
    """A document as far as it can be read.

    stand_ins: for what must be there at its top, in place of what is wrong or missing. context: of
    the validation.
    """
    left_out: set[Path_] = set()
    instead: dict[Path_, str] = {}
    every: dict[Problem, None] = {}
    for _ in range(ROUNDS):
        rest = _without(located, left_out, instead, stand_ins)
        try:
            made = model.model_validate(
                rest.value, context={**(context or {}), INCOMPLETE: bool(left_out)}
            )
        except ValidationError as invalid:
            told = innermost(invalid.errors(include_url=False), rest.resolve)
        else:
            return Partial(made, tuple(sorted(every)), frozenset(left_out), rest.origin)
        errors = [(rest.origin[rest.place(error)], error) for error in told]
        before = len(instead) + len(left_out)
        renamed = _guess_misspelt(errors, model, located, instead)
        instead |= renamed
        # What else is wrong beside a misspelt key may follow from it: see what is left of it then.
        kept = [
            (place, error)
            for place, error in errors
            if _spot(error, place) in renamed
            or not any(place[: len(spot) - 1] == spot[:-1] for spot in renamed)
        ]
        own = [error for place, error in kept if not _follows(error, place, left_out)]
        every |= dict.fromkeys(problems(rest, own, model))
        left_out |= {place for place, error in kept if place and _spot(error, place) not in renamed}
        left_out |= {
            error["loc"]
            for place, error in kept
            if not place and error["type"] == "missing" and error["loc"][0] in stand_ins
        }
        if len(instead) + len(left_out) == before:
            break
    return Partial(None, tuple(sorted(every)), frozenset(left_out), {})


def _guess_misspelt(
    errors: Sequence[tuple[Path_, Mapping[str, Any]]],
    model: type[BaseModel],
    located: Located,
    instead: Mapping[Path_, str],
) -> dict[Path_, str]:
    """What is read next in place of an unknown key or kind, the likeliest one of a place."""
    likely: dict[Path_, tuple[float, Path_, str]] = {}
    for place, error in errors if len(errors) <= PROBLEMS else ():
        spot, name = _spot(error, place), suggest_name(error, model)
        if not name or spot in instead or (*spot[:-1], name) in located.lines:
            continue
        written = str(error["loc"][-1]) if spot == place else error["ctx"]["tag"]
        match = difflib.SequenceMatcher(None, written, name).ratio(), spot, name
        likely[spot[:-1]] = max(match, likely.get(spot[:-1], match), key=lambda each: each[0])
    return {spot: name for _, spot, name in likely.values()}


def _spot(error: Mapping[str, Any], place: Path_) -> Path_:
    """Where the key is that an error says is unknown; of an unknown text that names a kind the
    place below it that is called "". place: of the error."""
    if error["type"] != "union_tag_invalid":
        return place
    field = error["ctx"]["discriminator"].strip("'")
    known = field != error["ctx"]["discriminator"]
    return (*place, field, "") if known else (*place, error["ctx"]["tag"])


def _follows(error: Mapping[str, Any], place: Path_, left_out: Set[Path_]) -> bool:
    """Whether something is missed or empty, or does not fit together, only because it was left
    out."""
    together = bool(place) and isinstance(error.get("ctx", {}).get("error"), ValueError)
    return (error["type"] in _MISSED or error["input"] in ({}, []) or together) and any(
        gone[: len(place)] == place and gone != place for gone in left_out
    )


def _without(
    located: Located,
    left_out: Set[Path_],
    instead: Mapping[Path_, str],
    stand_ins: Mapping[str, Any],
) -> Located:
    """The document without some of its parts, and where in the whole one each part stands.
    instead: what is read in place of a key, or of a text."""
    rest = Located(None, texts=located.texts)

    def put(value: Any, at: Path_, origin: Path_) -> Any:
        rest.origin[at] = origin
        if (line := located.lines.get(origin)) is not None:
            rest.lines[at] = line
        if origin in located.switches:
            rest.switches[at] = located.switches[origin]
        if isinstance(value, dict):
            return {
                (name := instead.get((*origin, key), key)): put(inner, (*at, name), (*origin, key))
                for key, inner in value.items()
                if (*origin, key) not in left_out
            }
        if isinstance(value, list):
            there = [
                (place, inner)
                for place, inner in enumerate(value)
                if (*origin, place) not in left_out
            ]
            return [
                put(inner, (*at, index), (*origin, place))
                for index, (place, inner) in enumerate(there)
            ]
        return instead.get((*origin, ""), value)

    value = put(located.value, (), ())
    gone = {path[0] for path in left_out if len(path) == 1}
    rest.value = value | {key: stand_ins[key] for key in stand_ins if key in gone}
    return rest
