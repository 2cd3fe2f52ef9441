"""The report's words, in the language of the study.

What makes a page or a figure says everything in English. Where it is written out, at the one place
where templates and figures put text, `say` gives its translation: an English sentence, or its form
with {fields} for what varies, is the key of a table (`assets/texts/<language>/report.yaml`). What
no entry fits stays as it is, and what people and authors wrote (`Verbatim`) always does.

A field is filled with what stood there, itself translated: `{a}`; as it is: `{a:x}`; a number,
which is written as the language writes numbers, and nothing else fits there: `{a:n}`; a few words
without a comma or colon between them: `{a:w}`; a title, which may be of several sentences: `{a:v}`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from string import Formatter

ENGLISH = "en"
DEEPEST = 6
"""So far within each other are texts translated that stand in fields."""
_NUMBER = r"[-−+±~]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?\s?%?"
_WITHIN = r"(?:(?![.!?]\s+[^\Wa-z_]).)+?"
"""Text within a sentence: a field never spans two."""
_FIELDS = {
    "": _WITHIN,
    "x": r"(?:(?!;|[.!?]\s+[^\Wa-z_]).)+?",
    "n": _NUMBER,
    "w": r"[^.:;,()]+?",
    "v": r".+?",
}
_NUMBERS = re.compile(
    r"(?<![\w.,])[-−+±]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?![\w]|[.,]\d)"
)
_OUTSIDE = r"(?![^\[\]]*\])(?![^()]*\))"
_SENTENCES = (
    r"(?<=[.!?])\s+(?=[^\Wa-z_]|[“(*+]|z\b)",
    r"(?<=:)\s+",
    rf"(?<=;)\s+{_OUTSIDE}",
    rf"(?<=,)\s+{_OUTSIDE}",
)
"""Where texts are parted that no entry fits as a whole: outside brackets, which stay whole."""


class Verbatim(str):
    """Text of people or authors: it is never translated."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Form:
    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    words: str


class Translation:
    """A table of sentences and forms in one language.

    language: its code; words: translations by English sentence or form; missing: what was said that
    no entry fits.
    """

    def __init__(self, language: str, words: Mapping[str, str]) -> None:
        self.language = language
        self.missing: set[str] = set()
        self._point, self._comma = words.get(".", "."), words.get(",", ",")
        self._exact: dict[str, str] = {}
        self._forms: dict[str, list[_Form]] = defaultdict(list)
        self._known: dict[str, str] = {}
        every = {**_sentences(words), **words}
        by_length = sorted(every.items(), key=lambda entry: -len(re.sub(r"{.*?}", "", entry[0])))
        for english, translated in by_length:
            parts = list(Formatter().parse(english))
            if all(name is None for _, name, _, _ in parts):
                self._exact["".join(text for text, *_ in parts)] = "".join(
                    text for text, *_ in Formatter().parse(translated)
                )
                continue
            pattern = "".join(
                re.escape(text) + ("" if name is None else f"(?P<{name}>{_FIELDS[spec or '']})")
                for text, name, spec, _ in parts
            )
            kinds = {name: spec or "" for _, name, spec, _ in parts if name is not None}
            form = _Form(re.compile(pattern, re.DOTALL), kinds, translated)
            self._forms[parts[0][0][:1].lower()].append(form)

    def say(self, text: str) -> str:
        """A text in this language."""
        if text not in self._known:
            lines = text.split("\n")
            whole = self._of(" ".join(lines), 0)
            if whole is None and len(lines) > 1:
                parts = [self._of(line, 0) for line in lines]
                if any(part is not None for part in parts):
                    whole = "\n".join(
                        line if part is None else part
                        for line, part in zip(lines, parts, strict=True)
                    )
            if whole is None:
                self.missing.add(text)
            self._known[text] = text if whole is None else whole
        return self._known[text]

    def number(self, text: str) -> str:
        """A text whose numbers are written as in English, with numbers as this language has
        them."""
        swap = {ord("."): self._point, ord(","): self._comma}
        return _NUMBERS.sub(lambda match: match[0].translate(swap), text)

    def _of(self, text: str, depth: int) -> str | None:
        """The text translated; None where nothing fits."""
        bare = text.strip()
        if not re.search(r"[^\W\d_]", bare):
            return self.number(text)
        if depth > DEEPEST:
            return None
        result = self._entry(bare, depth)
        if result is None and bare[0].isupper():
            low = self._entry(bare[0].lower() + bare[1:], depth)
            result = None if low is None else low[:1].upper() + low[1:]
        borders = iter(_SENTENCES)
        result = result or self._parted(bare, next(borders), depth)
        if result is None and bare[-1] in ".:,;" and len(bare) > 1:
            inner = self._of(bare[:-1], depth + 1)
            result = None if inner is None else inner + bare[-1]
        for border in borders:
            result = result or self._parted(bare, border, depth)
        return None if result is None else text.replace(bare, result, 1)

    def _parted(self, text: str, border: str, depth: int) -> str | None:
        """The parts of a text, each translated; None where there is one, or none that is known."""
        parts = re.split(border, text)
        if len(parts) < 2:
            return None
        translated = [self._of(part, depth + 1) for part in parts]
        if all(part is None for part in translated):
            return None
        return " ".join(
            self._as_it_is(old) if new is None else new
            for old, new in zip(parts, translated, strict=True)
        )

    def _entry(self, text: str, depth: int) -> str | None:
        if text in self._exact:
            return self._exact[text]
        for first in (text[:1].lower(), ""):
            for form in self._forms.get(first, ()):
                if match := form.pattern.fullmatch(text):
                    return form.words.format(
                        **{
                            name: self._filled(value, form.kinds[name], depth)
                            for name, value in match.groupdict().items()
                        }
                    )
        return None

    def _filled(self, value: str, kind: str, depth: int) -> str:
        if kind == "n":
            return self.number(value)
        if kind in ("x", "v"):
            return value
        translated = self._of(value, depth + 1)
        return self._as_it_is(value) if translated is None else translated

    def _as_it_is(self, text: str) -> str:
        self.missing.add(text)
        return text


def _sentences(words: Mapping[str, str]) -> dict[str, str]:
    """The sentences of entries that have several, one by one: other paragraphs have them too."""
    single: dict[str, str] = {}
    for english, translated in words.items():
        parts, others = (re.split(_SENTENCES[0], text) for text in (english, translated))
        if 1 < len(parts) == len(others):
            fields = [
                [set(re.findall(r"{(\w+)", text)) for text in texts] for texts in (parts, others)
            ]
            if fields[0] == fields[1]:
                single |= dict(zip(parts, others, strict=True))
    return single


_SPOKEN: ContextVar[Translation | None] = ContextVar("language of the report", default=None)


@contextmanager
def speaking(translation: Translation | None) -> Iterator[None]:
    """Say everything in a language; None: in English."""
    token = _SPOKEN.set(translation)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def spoken() -> str:
    """The language that is spoken."""
    translation = _SPOKEN.get()
    return ENGLISH if translation is None else translation.language


def say(text: str) -> str:
    """An English text in the language that is spoken."""
    translation = _SPOKEN.get()
    if translation is None or isinstance(text, Verbatim) or hasattr(text, "__html__"):
        return text
    return translation.say(str(text))


def said(value: object) -> object:
    """What a template is about to write."""
    if isinstance(value, float):
        return say(str(value))
    return say(value) if isinstance(value, str) else value
