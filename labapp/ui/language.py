"""The words of the moderator's windows, in the language of whoever sits there.

An English sentence is its own key: `tr("Skip stage")` gives its translation from
`assets/texts/<language>/moderator.yaml`, or the sentence itself. English needs no such file. The
language is chosen once, when the application is made; words are looked up when they are shown,
never when a module is loaded. Journals keep English whoever sits there, with the code and values of
a sentence beside it, from which `translate_message` says it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

from labapp.base import resources, translations
from labapp.base.errors import LabappError
from labapp.base.messages import Message
from labapp.base.translations import fields

ENGLISH = "en"
VARIABLE = "LABAPP_LANGUAGE"
FILE = "moderator.yaml"


class _Spoken:
    """The language that is spoken now, and its translations by English sentence."""

    language = ENGLISH
    words: Mapping[str, str] = {}
    veil: Callable[[str], str] | None = None


def available() -> list[str]:
    """The languages there are, English first."""
    files = (resources.assets() / "texts").glob(f"*/{FILE}")
    return [ENGLISH, *sorted(path.parent.name for path in files)]


def preferred(system: Sequence[str]) -> str:
    """The language to speak: $LABAPP_LANGUAGE, else the first of the system's that there is, else
    English.

    system: the languages the person chose for the computer, best first: `de-DE`, `de`.
    """
    named = os.environ.get(VARIABLE)
    known = available()
    wishes = [named] if named else system
    short = (re.split("[-_.]", wish.strip().lower())[0] for wish in wishes)
    return next((wish for wish in short if wish in known), ENGLISH)


def speak(language: str) -> None:
    """Speak a language from now on. Raises SetupError for a file that cannot be used."""
    words = {} if language == ENGLISH else load(resources.assets() / "texts" / language / FILE)
    _Spoken.language, _Spoken.words = language, words


def spoken() -> str:
    """The language that is spoken."""
    return _Spoken.language


def load(path: Path) -> dict[str, str]:
    """The checked translations of a file. Raises SetupError naming the sentence."""
    todo = f"Correct the file, or set {VARIABLE}={ENGLISH}."
    return translations.load(path, "the moderator's windows", todo)


def tr(text: str, /, **values: object) -> str:
    """An English sentence in the language that is spoken, with its {values} filled in."""
    words = _Spoken.words.get(text, text)
    if _Spoken.veil is not None:
        values = {k: veiled(v) if isinstance(v, str) else v for k, v in values.items()}
    return words.format(**values) if values else words


def hide_names(names: Iterable[str]) -> None:
    """Say no sentence with these names from now on: those of models and conditions,
    in the window of a rater who is blind. Only what is filled into a sentence can be a name; the
    sentence itself stays. No names: nothing is hidden any more."""
    hidden = tuple(names)
    _Spoken.veil = without_names(hidden, tr("(hidden)")) if hidden else None


def veiled(text: str) -> str:
    """A text that is no sentence of this program, as a path or a message of the system, without the
    names that are hidden."""
    return text if _Spoken.veil is None else _Spoken.veil(text)


def without_names(names: Iterable[str], instead: str) -> Callable[[str], str]:
    """Takes names, ids of models and such, out of texts, also where they are folders of a path. A
    single character is none that a text could be searched for."""
    known = sorted({name for name in names if len(name) > 1}, key=len, reverse=True)
    if not known:
        return str
    forms = "|".join(r"[/\\]".join(map(re.escape, name.split("/"))) for name in known)
    named = re.compile(rf"(?<!\w)({forms})(?!\w)", re.IGNORECASE)
    return lambda text: named.sub(lambda _: instead, text)


def N_(text: str) -> str:
    """Marks a constant as a sentence that `tr` translates where it is shown."""
    return text


def counted(n: int, text: str, many: str, /, **values: object) -> str:
    """`tr` of the form for one or for any other number, with {n} filled in.

    The two forms do for English and German; a language with more of them needs more here.
    """
    return tr(text if n == 1 else many, n=number(f"{n:,}"), **values)


def number(written: str) -> str:
    """A number that is written as in English (1,234.5), as the language writes it."""
    return written.translate({ord("."): tr("."), ord(","): tr(",")})


def translate_message(text: str) -> str:
    """What another layer said in English: a message with its values, a sentence without any, or a
    text that is shown as it came. A value is translated where it is a message itself: any other one
    may be a name that somebody chose."""
    if not isinstance(text, Message):
        return veiled(tr(text))
    return tr(text.form, **{name: _translated(value) for name, value in text.values.items()})


def in_words(error: LabappError) -> str:
    """What happened, what is safe, and what to do."""
    parts = (error.what, error.safe, error.todo)
    return " ".join(translate_message(part) for part in parts if part)


def _translated(value: object) -> str:
    if isinstance(value, float | int):
        return number(f"{value:g}" if isinstance(value, float) else str(value))
    return translate_message(value) if isinstance(value, Message) else veiled(str(value))


Phrases = Mapping[str, tuple[str, Mapping[str, str]]]
"""By English phrase its form and the words in it."""


def phrases(forms: Iterable[str], **words: Iterable[object]) -> Phrases:
    """Every phrase that can be made of forms with {names} and the words that may stand there."""
    made: dict[str, tuple[str, Mapping[str, str]]] = {}
    for form in forms:
        names = sorted(fields(form))
        for values in product(*(map(str, words[name]) for name in names)):
            filled = dict(zip(names, values, strict=True))
            made[form.format(**filled)] = (form, filled)
    return made


def translate_phrase(text: str, known: Phrases) -> str:
    """A phrase in the language that is spoken; any other text as it is."""
    if text not in known:
        return veiled(tr(text))
    form, words = known[text]
    return tr(form, **{name: tr(word) for name, word in words.items()})
