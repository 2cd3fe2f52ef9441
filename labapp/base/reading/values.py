"""Values from outside. JSON: of bounded depth and number of values, no NaN, no infinity. Text: no
characters that nobody sees. And a budget for what a reader makes of a file."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

DEEPEST = 64
"""Lists and objects within each other. What labapp writes has at most ten."""
MOST = 2_000_000
"""Values in one text: some 200 MB once they are read."""

STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202d\u202e\ud800-\udfff]")
"""Control characters, what turns the direction of writing, and halves of characters."""

MEMORY = 192 * 1024 * 1024
"""Bytes of what a reader makes of one file."""
ENTRIES = 100_000
"""Entries of one file: units, codes, rows, and what of these is left out, 2 KB each. A session of
eight hours in which every word has an entry holds as many."""
LINES = 2_000_000
"""Lines of a text."""
PROBLEMS = 50
"""Problems of a file that are named one by one. A file with more is another file than was meant."""


class TooMuch(ValueError):
    """A file holds more than is read. The text says of what."""


class Budget:
    """What a reader may still make of a file.

    A small file can become a large object: a name of a megabyte that a million entries share, or a
    million entries that are compared with each other. So a reader does not limit what it counts
    alone, but pays for what it makes, before it makes the next.
    """

    def __init__(
        self, memory: int = MEMORY, entries: int = ENTRIES, comparisons: int = 50 * ENTRIES
    ) -> None:
        """memory: bytes; comparisons: of two entries with each other."""
        self._memory, self._entries, self._most = memory, entries, entries
        self._comparisons = comparisons

    def take(self, *texts: str, memory: int = 0) -> None:
        """Pay for texts that are kept, and for so many bytes besides. Raises TooMuch."""
        self._memory -= memory + sum(map(sys.getsizeof, texts))
        if self._memory < 0:
            raise TooMuch("it would need more memory than is allowed for a file of this kind")

    def entry(self, *texts: str) -> None:
        """Pay for an entry with its texts. Raises TooMuch."""
        self._entries -= 1
        if self._entries < 0:
            raise TooMuch(f"it has more than the {self._most:,} entries that labapp reads")
        self.take(*texts)

    def compare(self, times: int = 1) -> None:
        """Pay for entries that are compared with each other. Raises TooMuch."""
        self._comparisons -= times
        if self._comparisons < 0:
            raise TooMuch("too many of its entries are in the same place")


Pairs = Callable[[list[tuple[str, Any]]], Any]


def json_value(text: str | bytes, pairs: Pairs | None = None) -> Any:
    """The value in a JSON text; bytes are UTF-8. pairs: makes an object of its keys and values;
    if it is given, NaN and infinity are read too: a schema that names their place follows.

    Raises ValueError: it is no JSON, is nested too deeply, holds too many values, or a number that
    is none.
    """
    written = text.decode("utf-8") if isinstance(text, bytes) else text
    opened = written.count("[") + written.count("{")
    if len(written) > MOST and opened + written.count(",") > MOST:
        raise ValueError(f"it contains more than {MOST} values")
    try:
        decoder = _DECODER if pairs is None else json.JSONDecoder(object_pairs_hook=pairs)
        value = decoder.decode(written)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if opened > DEEPEST:
        refuse_deep(value)
    return value


def refuse_deep(value: Any) -> None:
    """Raises ValueError for lists and objects deeper than `DEEPEST`. Needs no depth itself."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, list | dict)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{digits:.40} is larger than any number that labapp reads")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_number)


def steering_in(text: str) -> tuple[int, str] | None:
    """The first character in a text that nobody sees and that is not allowed: its line, from 1, and
    its name, as U+0000; None if there is none."""
    if (steering := STEERING.search(text)) is None:
        return None
    return text.count("\n", 0, steering.start()) + 1, f"U+{ord(steering[0]):04X}"
