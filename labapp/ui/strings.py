"""The words of the participant's window, in the study's language; see `labapp.study.words`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from labapp.base.errors import StudyError
from labapp.study.loading import WORDS, LoadedStudy
from labapp.study.words import words_of

DECIMAL_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")


class Strings:
    """Words by key: `strings("question_of", number=2, of=5)`."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)

    def __call__(self, key: str, **values: object) -> str:
        """The words of a key with values filled in. Raises StudyError for an unknown key."""
        if key not in self._words:
            raise StudyError(
                f"The participant's window has no words in {key!r}.",
                todo=f"Add {key} to the study's {WORDS}.",
            )
        words = self._words[key]
        return words.format(**values) if values else words

    def number(self, written: str) -> str:
        """A number, written with a point, as the language writes it; other points stay."""
        return DECIMAL_POINT.sub(self("decimal_mark"), written)


def strings_of(loaded: LoadedStudy, *, begun: bool = False) -> Strings:
    """The checked words of a study. Raises StudyError with every mistake in them.

    begun: see `words_of`.
    """
    return Strings(words_of(loaded, begun=begun))
