"""Turn any error from a damaged session into one that names the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labapp.base.errors import RecordError

_UNFORESEEN = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError,
    RecursionError, MemoryError,
)  # fmt: skip


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Raise as a RecordError, which names the session, what goes wrong in reading it; and put the
    name before a RecordError that lacks it, such as of a single row. source: the session.

    What a damaged session can hold is looked for before (`records.plausible`); this is for the
    rest, so that one session is one error and never the end of all.
    """
    try:
        yield
    except RecordError as error:
        if Path(source).name in error.what:
            raise
        raise RecordError(
            f"{source}: {error.what}", safe=error.safe, todo=error.todo, faults=error.faults
        ) from error
    except _UNFORESEEN as error:
        first = (str(error).strip().splitlines() or [""])[0]
        raise RecordError(
            f"{source} holds what no session has, and cannot be read "
            f"({type(error).__name__}: {first[:200]}).",
            safe="It was only read; nothing was changed.",
            todo="Look at it with `labapp sessions verify`, and leave it out until then. If that "
            "finds it whole, this is a mistake in labapp: keep the session, and tell who looks "
            "after the program.",
        ) from error
