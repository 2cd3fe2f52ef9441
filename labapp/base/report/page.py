"""HTML pages made from templates: one file each, which loads nothing else and prints well.

Templates escape every value that is not `Html`: text of participants and authors can never act as
tags. They lie in the folder `templates` of a package; `templates/kit.html` of this package has the
macros that they share. The functions here call these macros from Python.

What makes a page or a figure says everything in English. Where it is written out, at the one place
where templates and figures put text, `say` gives its translation into the language of the study: an
English sentence, or its form with {fields} for what varies, is the key of a table
(`assets/texts/<language>/report.yaml`). What no entry fits stays as it is, and what people and
authors wrote (`Verbatim`) always does.

A field is filled with what stood there, itself translated: `{a}`; as it is: `{a:x}`; a number,
which is written as the language writes numbers, and nothing else fits there: `{a:n}`; a few words
without a comma or colon between them: `{a:w}`; a title, which may be of several sentences: `{a:v}`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from labapp.base.errors import UsageError
from labapp.base.figure_style import FULL_IN, PALETTES, USUAL_FONT, USUAL_PALETTE, FigureLook
from labapp.base.report.labels import current_labels

if TYPE_CHECKING:
    from jinja2 import Environment


class Html(str):
    """Text that is HTML already; every other string is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell templates not to escape this text."""
        return self


class Supplement(Html):
    """A part of the page that is printed behind all others of its study."""

    __slots__ = ()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context

    return Environment(
        autoescape=True,
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # In the language that is spoken; with the context, so that nothing is worked out for all.
        finalize=pass_context(lambda context, value: translate_value(value)),
    )


def _source(name: str) -> str:
    package, _, file = name.partition(":")
    return resources.files(package).joinpath("templates", file).read_text("utf-8")


def render(template: str, **values: object) -> Html:
    """A template filled with values by their names; a missing value is an error. template:
    `package:file`, a file in the package's folder `templates`."""
    return Html(_environment().get_template(template).render(values))


@cache
def _kit() -> Any:
    return _environment().get_template("labapp.base.report:kit.html").module


def text(value: object) -> Html:
    """A value as HTML."""
    from markupsafe import escape

    if isinstance(value, Html):
        return value
    # `str` would make plain text of what is verbatim.
    return Html(escape(say(value if isinstance(value, str) else str(value))))


def two_lines(first: object, second: object) -> Html:
    """A cell or heading with a quieter second line."""
    return Html(_kit().two_lines(first, second))


def join_parts(parts: Iterable[Html]) -> Html:
    """Join parts of a page."""
    return Html("".join(parts))


def supplement(parts: Iterable[Html]) -> Iterator[Supplement]:
    """Parts of a section that belong into the supplement; nothing if there are none."""
    if joined := join_parts(parts):
        yield Supplement(joined)


def lines(values: Iterable[object]) -> Html:
    """Values, each on a line of its own."""
    return Html("<br>".join(map(text, values)))


def stack_lines(values: Iterable[object], quieter: Iterable[object]) -> Html:
    """Values, each on a line of its own, and below them lines in quieter type."""
    return Html(_kit().stacked(list(values), list(quieter)))


def strong(value: object) -> Html:
    """Emphasised text."""
    return Html(_kit().strong(value))


def format_revised_text(now: str, before: str, *, taken_back: bool) -> Html:
    """A text, and below it its earlier version. taken_back: the text is struck out."""
    return Html(_kit().written(now, before, taken_back))


def paragraph(value: object, kind: str = "") -> Html:
    """A paragraph. kind: its CSS class, such as `quiet` or `note`."""
    return Html(_kit().paragraph(value, kind))


def heading(level: int, value: object, anchor: str = "") -> Html:
    """A heading. anchor: its id, for links to it."""
    return Html(_kit().heading(level, value, anchor))


def table(
    columns: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Iterable[int] = (),
    caption: str = "",
) -> Html:
    """A table whose first column is a heading of its row. numeric: columns aligned right."""
    return Html(_kit().table(columns, rows, frozenset(numeric), caption))


def figure(svg: str, label: str, caption: str) -> Html:
    """An inline drawing (an `<svg>` element) with its description."""
    drawn = svg.replace("<svg ", f'<svg role="img" aria-label="{text(label)}" ', 1)
    return Html(_kit().figure(Html(drawn), caption))


def details(summary: str, body: Html) -> Html:
    """A section folded away under a summary, which opens it."""
    return Html(_kit().details(summary, body))


def definitions(rows: Iterable[tuple[str, str]]) -> Html:
    """A list of words and what they mean."""
    return Html(_kit().definitions(rows))


def links(pairs: Iterable[tuple[str, str]], between: str = "") -> Html:
    """Links to parts of the page, by their ids."""
    return Html(_kit().links(list(pairs), between))


def navigation(pairs: Iterable[tuple[str, str]]) -> Html:
    """The links on top of the page, which are not printed."""
    return Html(_kit().navigation(list(pairs)))


def page(title: str, header: Html, body: Html, footer: Html) -> Html:
    """The whole document, UTF-8."""
    return render(
        "labapp.base.report:page.html",
        language=current_language(),
        title=title,
        header=header,
        body=body,
        footer=footer,
    )


ENGLISH = "en"
NO_TEMPLATES: Mapping[str, str] = MappingProxyType({})
DEEPEST = 8
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
    r"(?<=[.!?])\s+(?=[^\Wa-z_]|[“(*+\[]|z\b)",
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

    language: its code; words: translations by English sentence or form; templates: of one's own, by
    id (see `sentences`); missing: what was said that no entry fits.
    """

    def __init__(
        self, language: str, words: Mapping[str, str], templates: Mapping[str, str] = NO_TEMPLATES
    ) -> None:
        self.language = language
        self.templates = templates
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
        if self._point == ",":  # [1.5, 2.5] is [1,5; 2,5]
            text = re.sub(r"\[[^\[\]]*\]", lambda match: match[0].replace(", ", "; "), text)
        return _NUMBERS.sub(lambda match: match[0].translate(swap), text)

    def _of(self, text: str, depth: int) -> str | None:
        """The text translated; None if nothing fits."""
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
        result = result or self._translate_parts(bare, next(borders), depth)
        if result is None and bare[-1] in ".:,;" and len(bare) > 1:
            inner = self._of(bare[:-1], depth + 1)
            result = None if inner is None else inner + bare[-1]
        for border in borders:
            result = result or self._translate_parts(bare, border, depth)
        return None if result is None else text.replace(bare, result, 1)

    def _translate_parts(self, text: str, border: str, depth: int) -> str | None:
        """The parts of a text, each translated; None if there is one, or none that is known."""
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
                            name: self._fill_value(value, form.kinds[name], depth)
                            for name, value in match.groupdict().items()
                        }
                    )
        return None

    def _fill_value(self, value: str, kind: str, depth: int) -> str:
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


def current_translation() -> Translation | None:
    """The translation into the report's language; None: English."""
    return _SPOKEN.get()


def current_language() -> str:
    """The report's language."""
    translation = _SPOKEN.get()
    return ENGLISH if translation is None else translation.language


def say(text: str) -> str:
    """An English text in the language that is spoken, with the study's labels for its names."""
    translation, labels = _SPOKEN.get(), current_labels()
    if (translation is None and labels is None) or hasattr(text, "__html__"):
        return text
    if isinstance(text, Verbatim):
        return text if labels is None else Verbatim(labels.whole(text))
    if labels is not None and (label := labels.whole(text)) != text:
        return label
    spoken = str(text) if translation is None else translation.say(str(text))
    return spoken if labels is None else labels.put(spoken)


def translate_value(value: object) -> object:
    """A value as a template writes it: translated if it is a text or a decimal number."""
    if isinstance(value, float):
        return say(str(value))
    return say(value) if isinstance(value, str) else value


def decimal(value: float, decimals: int, *, sign: bool = False, like: float | None = None) -> str:
    """A number with thousands separators, a true minus sign, and fewer decimals if it is large.

    like: a number that decides how many decimals there are (the mean, for its standard deviation).
    """
    size = abs(value if like is None else like)
    digits = 0 if size >= 1000 else min(decimals, 1) if size >= 100 else decimals
    text = f"{round(value, digits) + 0.0:{'+' if sign and round(value, digits) else ''},.{digits}f}"
    return text.replace("-", "−")


def clock(seconds: float) -> str:
    """A duration in minutes and seconds, as 12:05."""
    whole = round(float(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 session", "2 sessions"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def either(numbers: list[int]) -> str:
    """Numbers as alternatives: "2 or 3"."""
    return " or ".join(str(number) for number in numbers)


UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
"""Inches of a unit of length."""
LEAST_IN, MOST_IN = 2.5, 20.0
LEAST_PT, MOST_PT = 4.0, 24.0
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*")
SAFE = "No analysis was made."


def look_of(
    width: str | None = None,
    font: str | None = None,
    size: str | None = None,
    palette: str | None = None,
) -> FigureLook:
    """The look that is asked for. Raises UsageError: for a length that is none, a font that is not
    installed, an unknown palette.

    Parameters
    ----------
    width, size : of the figures, and of their text: a number with a unit of `UNITS`; a size without
        unit is in points.
    font : a family that is installed.
    palette : one of `PALETTES`.
    """
    inches = FULL_IN if width is None else _inches("--figure-width", width, "", "3.33in")
    if not LEAST_IN <= inches <= MOST_IN:
        raise UsageError(
            f"--figure-width {width}: figures must be between {LEAST_IN:g} and {MOST_IN:g} in "
            "wide.",
            safe=SAFE,
            todo="A journal column is 3.3 to 3.5 in wide, a full page about 7 in.",
        )
    points = None if size is None else 72 * _inches("--figure-size", size, "pt", "8pt")
    if points is not None and not LEAST_PT <= round(points, 6) <= MOST_PT:
        raise UsageError(
            f"--figure-size {size}: text must be between {LEAST_PT:g} and {MOST_PT:g} pt.",
            safe=SAFE,
            todo="Most venues want 7 to 9 pt.",
        )
    if palette is not None and palette not in PALETTES:
        raise UsageError(
            f"There is no palette {palette!r}.",
            safe=SAFE,
            todo=f"There are: {', '.join(PALETTES)}.",
        )
    family = USUAL_FONT if font is None else _find_installed_family(font)
    return FigureLook(inches, points, family, palette or USUAL_PALETTE)


def _inches(option: str, text: str, usual: str, example: str) -> float:
    match = _LENGTH.fullmatch(text.lower())
    unit = (match[2] or usual) if match else ""
    if match is None or unit not in UNITS:
        raise UsageError(
            f"{option} {text}: this is not a length.",
            safe=SAFE,
            todo=f"Give a number and a unit ({', '.join(UNITS)}), such as {option} {example}.",
        )
    return float(match[1]) * UNITS[unit]


def _find_installed_family(name: str) -> str:
    """The family as the font calls itself. Raises UsageError with the families there are."""
    there = _families()
    if name.strip().lower() not in there:
        _look_again()
        there = _families()
    if name.strip().lower() in there:
        return there[name.strip().lower()]
    raise UsageError(
        f"The font {name!r} is not installed here.",
        safe=SAFE,
        todo=f"Install it, or choose one of these: {_list_text_families(there.values())}.",
    )


def _families() -> dict[str, str]:
    """The families there are, by their names in small letters."""
    from matplotlib.font_manager import fontManager  # slow to load

    return {str(font).lower(): str(font) for font in fontManager.get_font_names()}


def _look_again() -> None:
    """Find fonts that were installed after matplotlib wrote its list of them."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known:
            with suppress(OSError, RuntimeError):  # a file that is no font, or one of bitmaps
                fontManager.addfont(path)


def _list_text_families(names: Iterable[str]) -> str:
    """The font families for text, without those for symbols and mathematics that matplotlib
    brings."""
    own = re.compile(r"STIX(Non|Size)|^cm|Symbol|Dingbat|Math|Icons|Awesome|GLYPHICONS", re.I)
    return ", ".join(sorted({name for name in names if not own.search(name)}, key=str.lower))
