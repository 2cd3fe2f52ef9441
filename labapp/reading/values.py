"""Values from outside. JSON: of bounded depth and number of values, no NaN, no infinity. Text: no
characters that nobody sees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

DEEPEST = 64
"""Lists and objects within each other. What labapp writes has at most ten."""
MOST = 2_000_000
"""Values in one text: some 200 MB once they are read."""

STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202d\u202e\ud800-\udfff]")
"""Control characters, what turns the direction of writing, and halves of characters."""

Pairs = Callable[[list[tuple[str, Any]]], Any]


def json_value(text: str | bytes, pairs: Pairs | None = None) -> Any:
    """The value in a JSON text; bytes are UTF-8. pairs: makes an object of its keys and values;
    where it is given, NaN and infinity are read too: a schema that names their place follows.

    Raises ValueError: it is no JSON, is nested too deeply, holds too many values, or a number that
    is none.
    """
    written = text.decode("utf-8") if isinstance(text, bytes) else text
    opened = written.count("[") + written.count("{")
    if len(written) > MOST and opened + written.count(",") > MOST:
        raise ValueError(f"it holds more than {MOST} values")
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
    raise ValueError(f"{name} is no number")


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{digits:.40} is larger than any number that is read")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_number)


def steering_in(text: str) -> tuple[int, str] | None:
    """The first character in a text that nobody sees and that is not allowed: its line, from 1, and
    its name, as U+0000; None where there is none."""
    if (steering := STEERING.search(text)) is None:
        return None
    return text.count("\n", 0, steering.start()) + 1, f"U+{ord(steering[0]):04X}"
