"""Sentences that lower layers say of what happens, as a code and values.

Their text is in `assets/words`, under `message.<code>`. Journals, logs and commands use English. A
window in another language translates from the code and values that events store next to the English
text (see `MessagePayload`). Journals contain the codes, so a code never changes its meaning or the
names of its values; its wording may.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, Self

from labapp.base import catalogues

Value = str | int | float


class Message(str):
    """One of these sentences in English, which still knows its code and values.

    Attributes
    ----------
    code : of a sentence `message.<code>` in `assets/words`.
    values : by name numbers, texts, and sentences within this one.
    """

    code: str
    values: dict[str, Value]

    def __new__(cls, code: str, /, **values: Value) -> Self:
        """Raises KeyError for a code or a value that there is not."""
        filled = {name: _english(value) for name, value in values.items()}
        message = super().__new__(cls, form(code, values).format(**filled))
        message.code, message.values = code, values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.code, self.values)


def form(code: str, values: Mapping[str, Any], language: str = catalogues.ENGLISH) -> str:
    """The sentence with names in place of its values; of a plural that for the number `n`."""
    n = values.get("n")
    return catalogues.sentence(
        f"message.{code}", n if isinstance(n, int) else None, language=language
    )


def _again(code: str, values: Mapping[str, Value]) -> Message:
    return Message(code, **values)


def _english(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else f"{value:g}"


def coded(text: str) -> dict[str, Any]:
    """Code and values of a message, as plain values; nothing of any other text."""
    if not isinstance(text, Message):
        return {}
    values = {
        name: coded(value) if isinstance(value, Message) else value
        for name, value in text.values.items()
    }
    return {"code": text.code, "values": values}


def decoded(text: str, stored: Any) -> str:
    """The message whose code and values were stored beside a text; the text itself where they do
    not say the same, as in journals of earlier versions, or in other words of this one."""
    message = _message(stored, 0)
    return text if message is None or message != text else message


def _message(stored: Any, depth: int) -> Message | None:
    match stored:
        case {"code": str(code), "values": dict(values)} if depth <= 3 and _fits(code, values):
            read: dict[str, Value] = {}
        case _:
            return None
    for name, value in values.items():
        inner = _message(value, depth + 1) if isinstance(value, dict) else value
        if not isinstance(inner, str | int | float):
            return None
        read[name] = inner
    return Message(code, **read)


def _fits(code: str, values: dict[str, Any]) -> bool:
    """Whether there is such a sentence, and these are its values."""
    try:
        text = form(code, values)
    except KeyError:
        return False
    return {name for _, name, *_ in Formatter().parse(text) if name} == values.keys()
