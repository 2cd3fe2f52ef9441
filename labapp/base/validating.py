"""What validators of documents raise: faults at their own places, so that each has its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from labapp.base.documents import TOLD, Path_


def faults_at(faults: Mapping[Path_, str]) -> ValidationError:
    """What a validator raises to tell faults at their own places, below the value that it looks at.
    faults: by place what is wrong there."""
    return ValidationError.from_exception_data(
        "document",
        [
            {
                "type": PydanticCustomError(TOLD, "{what}", {"what": what}),
                "loc": place,
                "input": what,
            }
            for place, what in faults.items()
        ],
    )


def refuse_again(values: Sequence[object], within: Path_ = (), key: Path_ = ()) -> None:
    """Refuse each value of a list that stood in it before, at its place. within: the place of the
    list; key: where in an item of the list the value stands."""
    first: dict[object, int] = {}
    faults = {
        (*within, index, *key): f"found {value!r} again, as number {first[value] + 1} of the list; "
        "allowed: each once"
        for index, value in enumerate(values)
        if first.setdefault(value, index) != index
    }
    if faults:
        raise faults_at(faults)
