"""HTML pages made from templates: one file each, which loads nothing else and prints well.

Templates escape every value that is not `Html`: text of participants and authors can never act as
tags. They lie in the folder `templates` of a package; `templates/kit.html` of this package has the
macros that they share. The functions here call these macros from Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from labapp.report.language import said, say, spoken

if TYPE_CHECKING:  # slow to load, and needed for pages alone
    from jinja2 import Environment

KIT = "labapp.report:kit.html"


class Html(str):
    """Text that is HTML already; every other string is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell templates not to escape this text."""
        return self


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context

    return Environment(
        autoescape=True,
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=pass_context(_written),
    )


def _written(context: object, value: object) -> object:
    """What a template writes, in the language that is spoken. With the context, so that nothing is
    worked out once for all languages."""
    return said(value)


def _source(name: str) -> str:
    package, _, file = name.partition(":")
    return resources.files(package).joinpath("templates", file).read_text("utf-8")


def render(template: str, **values: object) -> Html:
    """A template filled with values.

    Parameters
    ----------
    template : `package:file`, a file in the package's folder `templates`.
    values
        By their names in the template; a missing value is an error.
    """
    return Html(_environment().get_template(template).render(values))


@cache
def _kit() -> Any:
    return _environment().get_template(KIT).module


def text(value: object) -> Html:
    """A value as HTML."""
    from markupsafe import escape

    return value if isinstance(value, Html) else Html(escape(say(str(value))))


def two_lines(first: object, second: object) -> Html:
    """A cell or heading with a quieter second line."""
    return Html(_kit().two_lines(first, second))


def joined(parts: Iterable[Html]) -> Html:
    """Join parts of a page."""
    return Html("".join(parts))


def lines(values: Iterable[object]) -> Html:
    """Values, each on a line of its own."""
    return Html("<br>".join(map(text, values)))


def stacked(values: Iterable[object], quieter: Iterable[object]) -> Html:
    """Values, each on a line of its own, and below them lines in quieter type."""
    return Html(_kit().stacked(list(values), list(quieter)))


def strong(value: object) -> Html:
    """Emphasised text."""
    return Html(_kit().strong(value))


def written(now: str, before: str, *, taken_back: bool) -> Html:
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
        "labapp.report:page.html",
        language=spoken(),
        title=title,
        header=header,
        body=body,
        footer=footer,
    )
