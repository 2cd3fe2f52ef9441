"""What commands print: text for people, in which nothing can steer the terminal.

Names of files, titles and answers come from elsewhere and may hold the sequences by which a program
moves the cursor, wipes lines or turns writing around. They are shown as pictures (␛) or by number.
JSON and files are written as they are: JSON escapes such characters itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "␡"}
_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, what turns the direction of writing, and halves of characters: bytes in the
name of a file that are no text become such."""

PROGRESS = "LABAPP_PROGRESS"
"""Set in the environment of a command by a window that shows how far it is."""
PROGRESS_LINE = "progress\t"
"""How such a line begins; the share, a tab and what is being done follow."""


def say(text: object = "", *, err: bool = False) -> None:
    """Print text for people on standard output, or the standard error."""
    _echo(make_printable(str(text)), err=err)


def say_line(text: object, *, err: bool = False) -> None:
    """Print one line: an end of line within it is a picture too."""
    _echo(make_printable(str(text), lines=False), err=err)


def say_json(value: Any) -> None:
    """Print a value as JSON, which any program reads; docs/guide/json.md says what each command
    prints. Unknown values, and numbers that are not a number, become null."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    _echo(_STEERING.sub(lambda at: "\n" if at[0] == "\n" else f"\\u{ord(at[0]):04x}", text))


def plain(value: Any) -> Any:
    """A value in the kinds that JSON has, as far as it is of one: no other gets a text in its
    place, which would be true whatever it says."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say_progress(share: float | None, what: str) -> None:
    """Tell the window that asked for it how far work is: a line on the standard error."""
    done = "" if share is None else f"{share:.4f}"
    say_line(f"{PROGRESS_LINE}{done}\t{what}", err=True)


def _echo(text: str, *, err: bool = False) -> None:
    import typer  # windows that print nothing open sooner without it

    typer.echo(text, err=err)


def make_printable(text: str, *, lines: bool = True) -> str:
    """Replace what would steer a terminal, so that a text is safe to print; lines: line breaks
    stay."""
    harmless = "\n\t" if lines else "\t"
    return _STEERING.sub(
        lambda match: match[0] if match[0] in harmless else _picture(match[0]), text
    )


def escape_markup(text: str) -> str:
    """Make a text safe to print through rich: none of it is markup."""
    from rich.markup import escape

    return escape(make_printable(text))


def _picture(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is no text
        return f"\\x{code - 0xDC00:02x}"
    return _PICTURES.get(code, f"\\u{code:04x}")
