"""Tables and their cells as the report lists them.

Sentences of the report: jinja2 templates by id, with a catalogue in each language.

A sentence takes its numbers from rows of the table of statistics, so they always belong to the same
test. `assets/texts/<language>/sentences.yaml` is a catalogue; the
English one has every id. A table of one's own (`--words`) may have ids, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from labapp.base import resources
from labapp.base.errors import SetupError
from labapp.base.report.page import (
    ENGLISH,
    Html,
    Verbatim,
    current_translation,
    decimal,
    details,
    join_parts,
    paragraph,
    say,
    table,
    two_lines,
)

if TYPE_CHECKING:
    from jinja2 import Environment, Template


T = TypeVar("T")
FOLDED_FROM = 20
"""A list of more rows is folded away: nobody has to go past it."""
SHOWN_ROWS = 150
"""Most rows of a list in the report; the tables saved beside it have all."""
NONE = "–"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain values; None if a value is missing."""
    names = [str(name) for name in frame.columns]
    missing = frame.isna().to_numpy().T.tolist()  # at once: a column each takes ten times as long
    columns = [
        [
            None if gone else value.item() if isinstance(value, np.generic) else value
            for value, gone in zip(column.tolist(), gaps, strict=True)
        ]
        for (_, column), gaps in zip(frame.items(), missing, strict=True)
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def format_first_rows(
    names: Sequence[object],
    rows: Sequence[Sequence[object]],
    numeric: Iterable[int] = (),
    most: int | None = SHOWN_ROWS,
) -> Html:
    """A table of the first rows, and how many more there are; folded away if they are many.
    most: so many rows; None: all, in a place that is folded already."""
    shown = table(names, rows[:most], numeric=numeric)
    if most is None or len(rows) < FOLDED_FROM:
        return shown
    if len(rows) > most:
        left = f"{len(rows) - most} more rows are in the tables next to this page."
        shown = join_parts([shown, paragraph(left, "quiet")])
    return details(f"The list of {len(rows)} entries", shown)


def spread(values: NDArray[np.float64], decimals: int) -> object:
    """A cell with mean and sample standard deviation, and below them the median and n."""
    if values.size == 0:
        return NONE
    mean = decimal(values.mean(), decimals)
    if values.size == 1:
        return two_lines(mean, "n = 1")
    sd = decimal(values.std(ddof=1), decimals, like=values.mean())
    median = decimal(float(np.median(values)), decimals)
    return two_lines(f"{mean} ± {sd}", f"median {median}, n = {values.size}")


FILE = "sentences.yaml"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """The templates of a language by id; empty if there are none."""
    path = resources.assets() / "texts" / language / FILE
    if not path.is_file():
        return {}
    known: Mapping[str, str] = yaml.safe_load(path.read_text("utf-8"))
    return known


def sentence(name: str, /, **values: object) -> Verbatim:
    """A sentence in the language that is spoken, in English if that has none. Numbers are
    written as the language writes them. Raises SetupError if a template of one's own cannot be
    filled."""
    from jinja2 import TemplateError

    spoken = current_translation()
    template = None
    if spoken is not None:
        template = spoken.templates.get(name) or catalogue(spoken.language).get(name)
        if template is None:
            spoken.missing.add(name)
    try:
        return Verbatim(_template(template or catalogue(ENGLISH)[name]).render(values))
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        if spoken is None or name not in spoken.templates:
            raise
        raise SetupError(f"{name!r}: {error}.", todo="Correct the words of the report.") from error


def quoted(text: str) -> Verbatim:
    """A text in the quotation marks of the language that is spoken."""
    return sentence("quoted", text=Verbatim(text))


MEASURE = "measure."


def measure_labels() -> dict[str, str]:
    """What labapp's own outcomes are called in the language that is spoken; see `Labels`."""
    return {
        name.removeprefix(MEASURE): sentence(name)
        for name in catalogue(ENGLISH)
        if name.startswith(MEASURE)
    }


def check(words: Mapping[str, str], todo: str) -> None:
    """Raise SetupError for a template that jinja2 cannot read, or that needs other values than the
    English one. words: templates by id."""
    from jinja2 import TemplateSyntaxError, meta

    for name, template in words.items():
        try:
            own, english = (
                meta.find_undeclared_variables(_environment().parse(text))
                for text in (template, catalogue(ENGLISH)[name])
            )
            _template(template)  # knows its filters
        except TemplateSyntaxError as error:
            raise SetupError(
                f"{name!r}: {error.message}, line {error.lineno}.", todo=todo
            ) from error
        if not own <= english:
            wrong, known = (", ".join(sorted(names)) for names in (own - english, english))
            raise SetupError(
                f"{name!r} has no value called {wrong}; its values are: {known}.", todo=todo
            )


@cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # A table of words may come from someone else: it can use only the values it is given.
    made = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    made.filters |= {
        "decimal": lambda value, digits: _format_number(decimal(value, digits)),
        "number": lambda value: _format_number(number_words(value)),
        "p": lambda value: _format_number(p_words(value)),
        "plain": lambda value: _format_number(f"{value:g}"),
        "df": lambda value: _format_number(df_words(value)),
        "say": say,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return made


@cache
def _template(text: str) -> Template:
    return _environment().from_string(text)


def _format_number(number: str) -> str:
    spoken = current_translation()
    return number if spoken is None else spoken.number(number)


_DECIMALS: ContextVar[int | None] = ContextVar("decimals of the outcome", default=None)


@contextmanager
def decimals_of(decimals: int) -> Iterator[None]:
    """Write all estimates with one number of decimals (`number_words`)."""
    token = _DECIMALS.set(decimals)
    try:
        yield
    finally:
        _DECIMALS.reset(token)


def with_decimals(decimals: int, parts: Iterable[T]) -> list[T]:
    """Parts of a page, made with one number of decimals for all estimates."""
    with decimals_of(decimals):
        return list(parts)


def number_words(value: float) -> str:
    """An estimate, with the decimals of its outcome; without an outcome, with three decimals if
    it is small."""
    decimals = _DECIMALS.get()
    if decimals is None:
        return decimal(value, 3 if abs(value) < 1 else 2)
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", "−")


def p_words(p: float) -> str:
    """p = .003, p < .001 or p > .999."""
    cell = p_cell(p)
    return f"p {cell}" if cell[0] in "<>" else f"p = {cell}"


def p_cell(p: float | None) -> str:
    """.003, < .001 or > .999."""
    if p is None:
        return NONE
    if p < 0.001:
        return "< .001"
    return "> .999" if p >= 0.9995 else f"{p:.3f}".lstrip("0")


def df_words(value: float | None) -> str:
    """Degrees of freedom, with decimals if they are no whole number."""
    if value is None:
        return NONE
    return f"{value:.0f}" if abs(value - round(value)) < 1e-6 else f"{value:.2f}"
