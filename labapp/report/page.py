"""HTML from templates, in one page without anything from outside, that prints well.

Templates escape every value that is not `Html`: text of participants and authors can never be read
as tags. They lie in the folder `templates` of a package, and `templates/kit.html` of this one has
the macros that they share; the functions here are those macros for code that has no template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to load, and a page is the only thing that it is needed for
    from jinja2 import Environment

KIT = "labapp.report:kit.html"


class Html(str):
    """Text that is HTML already; every other string is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """What templates ask for text that is not to be escaped."""
        return self


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(name: str) -> str:
    package, _, file = name.partition(":")
    return resources.files(package).joinpath("templates", file).read_text("utf-8")


def render(template: str, **values: object) -> Html:
    """A template with its values.

    Parameters
    ----------
    template : str
        `package:file`, a file in the package's folder `templates`.
    values
        By the names that the template has for them; one that is missing is an error.
    """
    return Html(_environment().get_template(template).render(values))


@cache
def _kit() -> Any:
    return _environment().get_template(KIT).module


def text(value: object) -> Html:
    """A value as HTML."""
    from markupsafe import escape

    return value if isinstance(value, Html) else Html(escape(str(value)))


def two_lines(first: object, second: object) -> Html:
    """A cell or heading with a quieter second line."""
    return Html(_kit().two_lines(first, second))


def joined(parts: Iterable[Html]) -> Html:
    """Parts of a page one after another."""
    return Html("".join(parts))


def lines(values: Iterable[object]) -> Html:
    """Values below each other."""
    return Html("<br>".join(map(text, values)))


def stacked(values: Iterable[object], quieter: Iterable[object]) -> Html:
    """Lines below each other, and quieter ones below them."""
    return Html(_kit().stacked(list(values), list(quieter)))


def strong(value: object) -> Html:
    """What stands out."""
    return Html(_kit().strong(value))


def written(now: str, before: str, *, taken_back: bool) -> Html:
    """What somebody wrote, below it how it read before; struck out where it was taken back."""
    return Html(_kit().written(now, before, taken_back))


def paragraph(value: object, kind: str = "") -> Html:
    """kind: a class of the style, such as `quiet` or `note`."""
    return Html(_kit().paragraph(value, kind))


def heading(level: int, value: object, anchor: str = "") -> Html:
    """anchor: its id, for links to it."""
    return Html(_kit().heading(level, value, anchor))


def table(
    columns: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Iterable[int] = (),
    caption: str = "",
) -> Html:
    """A table; the first column heads its row. numeric: columns that are set flush right."""
    return Html(_kit().table(columns, rows, frozenset(numeric), caption))


def figure(svg: str, label: str, caption: str) -> Html:
    """An inline drawing (an `<svg>` element) with its description."""
    drawn = svg.replace("<svg ", f'<svg role="img" aria-label="{text(label)}" ', 1)
    return Html(_kit().figure(Html(drawn), caption))


def details(summary: str, body: Html) -> Html:
    """Something folded away under a line that opens it."""
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
    return render("labapp.report:page.html", title=title, header=header, body=body, footer=footer)
