"""Tables of words: an English sentence, or its form with {fields}, and its translation."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from string import Formatter
from typing import Any

from labapp.base.documents import parse_yaml
from labapp.base.errors import LabappError, SetupError
from labapp.base.reading import files


def load(path: Path, what: str, todo: str, ids: Collection[str] = ()) -> dict[str, str]:
    """The checked translations of a file.

    what: what the words are of, for messages; todo: what else can be done than to correct the
    file; ids: of templates, which have no fields. Raises SetupError naming the sentence.
    """

    def unusable(why: str) -> SetupError:
        return SetupError(f"The words of {what} in {path} cannot be used. {why}", todo=todo)

    try:
        words: dict[str, Any] = parse_yaml(path, files.content(path)).value
    except OSError as error:
        raise unusable(f"{error.strerror}.") from error
    except LabappError as error:
        raise unusable(error.what) from error
    for english, word in words.items():
        # Between thousands a language may have a space.
        if not isinstance(word, str) or not (word.strip() or (english == "," and word)):
            raise unusable(f"{english!r}: {word!r} is not text; put it in quotes.")
        if english in ids:
            continue
        try:
            same = fields(str(english)) == fields(word)
        except ValueError as error:
            raise unusable(f"{english!r}: {error}; write a brace as {{{{ or }}}}.") from error
        if not same:
            wanted = ", ".join(sorted(fields(english))) or "none"
            raise unusable(f"{english!r}: its translation must contain these values: {wanted}.")
    return words


def fields(text: str) -> set[str]:
    """Names of the values in a text. Raises ValueError for a single brace."""
    return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
