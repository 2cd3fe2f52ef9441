"""Reading a document in spite of its mistakes, so that all of them can be told at once.

What is refused is left out, and the rest is read again, until nothing is refused. What is missed
then because it was left out is no mistake of its author.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from labapp.documents import Located, Path_, Problem, problems

ROUNDS = 100
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
    model : None where nothing can be made of it.
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
    every: dict[Problem, None] = {}
    for _ in range(ROUNDS):
        rest = _without(located, left_out, stand_ins)
        try:
            made = model.model_validate(
                rest.value, context={**(context or {}), INCOMPLETE: bool(left_out)}
            )
        except ValidationError as invalid:
            errors = [(_place(error, rest), error) for error in invalid.errors(include_url=False)]
        else:
            return Partial(made, tuple(sorted(every)), frozenset(left_out), rest.origin)
        own = [error for place, error in errors if not _follows(error, place, left_out)]
        every |= dict.fromkeys(problems(rest, own, model))
        more = {place for place, _ in errors if place}
        more |= {
            error["loc"]
            for place, error in errors
            if not place and error["type"] == "missing" and error["loc"][0] in stand_ins
        }
        if more <= left_out:
            break
        left_out |= more
    return Partial(None, tuple(sorted(every)), frozenset(left_out), {})


def _place(error: Mapping[str, Any], rest: Located) -> Path_:
    """Where in the whole document an error is."""
    return rest.origin[rest.resolve(error["loc"])]


def _follows(error: Mapping[str, Any], place: Path_, left_out: Set[Path_]) -> bool:
    """Whether something is missed or empty, or does not fit together, only because it was left
    out."""
    together = bool(place) and isinstance(error.get("ctx", {}).get("error"), ValueError)
    return (error["type"] in _MISSED or error["input"] in ({}, []) or together) and any(
        gone[: len(place)] == place and gone != place for gone in left_out
    )


def _without(located: Located, left_out: Set[Path_], stand_ins: Mapping[str, Any]) -> Located:
    """The document without some of its parts, and where in the whole one each part stands."""
    rest = Located(None, texts=located.texts)

    def put(value: Any, at: Path_, origin: Path_) -> Any:
        rest.origin[at] = origin
        if (line := located.lines.get(origin)) is not None:
            rest.lines[at] = line
        if origin in located.switches:
            rest.switches[at] = located.switches[origin]
        if isinstance(value, dict):
            return {
                key: put(inner, (*at, key), (*origin, key))
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
        return value

    value = put(located.value, (), ())
    gone = {path[0] for path in left_out if len(path) == 1}
    rest.value = value | {key: stand_ins[key] for key in stand_ins if key in gone}
    return rest
