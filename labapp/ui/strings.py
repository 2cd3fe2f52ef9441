"""The words of the participant's window, in the study's language.

The English file that comes with labapp, or with the package of a task, says which words there are
and which values each may name; a translation that lacks one, or names a value that does not exist,
is refused before a session begins and not when its screen comes up. Only a session that was begun
with an older labapp may lack words: its copy of the study cannot be changed any more, so they are
taken from the shipped file of its language.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path

from labapp.documents import parse_yaml
from labapp.errors import StudyError
from labapp.reading import files
from labapp.study.loading import WORDS, LoadedStudy, asset, in_language, word_files

COMPLETE = "Add them; the English file shows what each says."
DECIMAL_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")
NEWER = "Resume the session with the version of labapp that it was begun with."


class Strings:
    """Words by key: `strings("question_of", number=2, of=5)`."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)

    def __call__(self, key: str, **values: object) -> str:
        """The words of a key with values filled in. Raises StudyError for an unknown key."""
        if key not in self._words:
            raise StudyError(
                f"The participant's window has no words for {key!r}.",
                todo=f"Add {key} to the study's {WORDS}.",
            )
        words = self._words[key]
        return words.format(**values) if values else words

    def number(self, written: str) -> str:
        """A number, written with a point, as the language writes it; other points stay."""
        return DECIMAL_POINT.sub(self("decimal_mark"), written)


def strings_of(loaded: LoadedStudy, *, begun: bool = False) -> Strings:
    """The checked words of a study. Raises StudyError naming file and key.

    begun: the study is the copy of a session that goes on; what screens have said since is filled
    in, and what none says any more is left out.
    """
    words: dict[str, str] = {}
    for template in word_files(loaded.study):
        words |= _strings_in(template, loaded, begun=begun)
    return Strings(words)


def _strings_in(template: str, loaded: LoadedStudy, *, begun: bool) -> dict[str, str]:
    """The checked words of one file. template: its name with `{language}`."""
    name = in_language(template, loaded.study.language)
    words = _words(loaded.path.parent / name, loaded.files[name])
    english = _shipped(template, "en")
    if begun:
        words = _brought_up(words, _shipped(template, loaded.study.language), english)
    return _checked(words, english, name, NEWER if begun else COMPLETE)


def _shipped(template: str, language: str) -> dict[str, str]:
    """The words that come with the program or a package; none in a language of the lab's own."""
    path = asset(in_language(template, language))
    return _words(path, files.content(path)) if path.is_file() else {}


def _brought_up(
    words: dict[str, str], shipped: dict[str, str], english: dict[str, str]
) -> dict[str, str]:
    """The words of the screens of today: the study's own where it has them and they still fit."""
    fit = {
        key: text
        for key, text in words.items()
        if key in english and _fields(text, key) <= _fields(english[key], key)
    }
    return shipped | fit


def _words(path: Path, content: bytes) -> dict[str, str]:
    value = parse_yaml(path, content).value
    if not isinstance(value, dict):
        raise StudyError(f"{path}: expected lines of the form `key: words`.")
    for key, words in value.items():
        if not isinstance(words, str) or not words.strip():
            raise StudyError(
                f"{path}: {key!r} holds {words!r} where words are needed.",
                todo="Put the words in quotes.",
            )
    return value


def _checked(
    words: dict[str, str], english: dict[str, str], name: str, todo: str
) -> dict[str, str]:
    if missing := [key for key in english if key not in words]:
        raise StudyError(
            f"{name} lacks the words for {', '.join(missing)}.",
            todo=todo,
        )
    if unknown := [key for key in words if key not in english]:
        raise StudyError(
            f"{name} has words that no screen uses: {', '.join(unknown)}.",
            todo="Check their spelling against the English file.",
        )
    for key, text in words.items():
        strange = _fields(text, f"{name}: {key}") - _fields(english[key], key)
        if strange:
            allowed = ", ".join(sorted(_fields(english[key], key))) or "none"
            raise StudyError(
                f"{name}: {key} names the value {{{strange.pop()}}}; allowed: {allowed}.",
                todo="Use the values of the English file.",
            )
    return words


def _fields(text: str, where: str) -> set[str]:
    """Names of the values in a text."""
    try:
        return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise StudyError(f"{where}: {error}.", todo="Write a brace as {{ or }}.") from error
