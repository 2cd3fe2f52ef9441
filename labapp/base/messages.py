"""Sentences that lower layers say of what happens, as a code and values.

Their text is in `assets/words`, under `message.<code>`. Journals, logs and commands use English. A
window in another language translates from the code and values that events store next to the English
text (see `MessagePayload`). Journals contain the codes, so a code never changes its meaning or the
names of its values; its wording may.

The sentences of labapp by their ids, in every language: gettext catalogues in `assets/words`.

`home.start` says where a sentence is shown, and what it says; `en.po` has it in English. The `.mo`
files that are read here come from the wheel's build or `make setup`. In a checkout one that is
older than its `.po` is compiled before it is read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import Any, Self

from labapp.base import resources
from labapp.base.installation import script_command

ENGLISH = "en"


def _folder() -> Path:
    return resources.assets() / "words"


def available() -> list[str]:
    """The languages there are, English first."""
    others = {path.stem for path in _folder().glob("*.po")} - {ENGLISH}
    return [ENGLISH, *sorted(others)]


class Catalogue(GNUTranslations):
    """The sentences of a language by id."""

    _catalog: dict[str | tuple[str, int], str]

    def texts(self) -> dict[str | tuple[str, int], str]:
        """Every sentence by its id; each form of a plural by its id and number."""
        return {key: text for key, text in self._catalog.items() if key}


@cache
def catalogue(language: str) -> Catalogue:
    """The sentences of a language, with English for those it lacks."""
    compiled = _ensure_compiled(_folder() / f"{language}.po")
    with compiled.open("rb") as file:
        sentences = Catalogue(file)
    if language != ENGLISH:
        sentences.add_fallback(catalogue(ENGLISH))
    return sentences


def sentence(key: str, n: int | None = None, *, language: str = ENGLISH) -> str:
    """A sentence with {fields}; of a plural the form for `n`. Raises KeyError for an unknown id."""
    sentences = catalogue(language)
    text = key if n is None else sentences.ngettext(key, key, n)
    if text == key:
        text = sentences.gettext(key)
    if not key or text == key:  # of an empty id gettext gives the head of the file
        raise KeyError(key)
    return text


def _ensure_compiled(path: Path) -> Path:
    """The path of the compiled catalogue. Exits if it is out of date and cannot be compiled."""
    compiled = path.with_suffix(".mo")
    if not resources.in_checkout() or _is_current(compiled, path):
        return compiled
    script = path.parents[2] / "scripts" / "words.py"
    done = subprocess.run(
        script_command(script, packages=True), capture_output=True, text=True, check=False
    )
    if not _is_current(compiled, path):
        raise SystemExit(
            f"The words in {path} could not be compiled. Nothing was changed. Run `make setup`, or "
            f"correct the file:\n{done.stderr.strip()[-2000:]}"
        )
    return compiled


def _is_current(compiled: Path, path: Path) -> bool:
    return compiled.exists() and compiled.stat().st_mtime_ns >= path.stat().st_mtime_ns


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


def form(
    code: str, values: Mapping[str, Any], language: str = ENGLISH, *, window: bool = False
) -> str:
    """The sentence with names in place of its values; of a plural that for the number `n`. In a
    window it is `message.<code>.window`, if there is one: that names buttons instead of options."""
    n = values.get("n")
    n = n if isinstance(n, int) else None
    if window:
        with suppress(KeyError):
            return sentence(f"message.{code}.window", n, language=language)
    return sentence(f"message.{code}", n, language=language)


def _again(code: str, values: Mapping[str, Value]) -> Message:
    return Message(code, **values)


def _english(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else f"{value:g}"


def encode_message(text: str) -> dict[str, Any]:
    """The code and values of a message, as plain values; empty for any other text."""
    if not isinstance(text, Message):
        return {}
    values = {
        name: encode_message(value) if isinstance(value, Message) else value
        for name, value in text.values.items()
    }
    return {"code": text.code, "values": values}


def decode_message(text: str, stored: Any) -> str:
    """The message whose code and values were stored beside a text; the text itself if they do
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
