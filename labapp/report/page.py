"""One HTML page without anything from outside: its style, and tables that print well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

CSS = """
:root { --ink: #1f2328; --secondary: #57606a; --hairline: #d8dee4; --ground: #fafaf8;
  --accent: #1f5fd6; --card: #ffffff; }
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
body { margin: 0; }
main, header { max-width: 1100px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 32px; }
h1 { font-size: 28px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 48px 0 8px; padding-top: 12px;
  border-top: 1px solid var(--hairline); }
h3 { font-size: 15px; margin: 28px 0 4px; }
p, li { max-width: 70ch; margin: 4px 0 8px; }
.quiet { color: var(--secondary); font-size: 13px; }
.note { border-left: 4px solid #9a6700; padding: 4px 12px; margin: 12px 0;
  background: var(--card); }
figure { margin: 12px 0 24px; padding: 12px; background: var(--card);
  border: 1px solid var(--hairline); border-radius: 6px; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--secondary); font-size: 13px; margin-top: 8px; max-width: 90ch; }
.wide { overflow-x: auto; margin: 8px 0 16px; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--secondary); padding: 0 0 4px; }
th, td { padding: 5px 16px 5px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--hairline); }
th { font-weight: 600; }
thead th { vertical-align: bottom; }
thead th { border-bottom: 1.5px solid var(--ink); }
th.n, td.n { text-align: right; }
td { overflow-wrap: break-word; }
td.n, tbody th { white-space: nowrap; }
td .second { display: block; color: var(--secondary); }
th .second { display: block; color: var(--secondary); font-weight: 400; }
tbody th .second { white-space: normal; max-width: 60ch; }
table.names td:last-child { min-width: 30ch; }
table.names tr.first > * { border-top: 1.5px solid var(--secondary); }
.agreed { font-weight: 700; text-decoration: underline; text-underline-offset: 3px; }
.faint { color: var(--secondary); background: #f0f1f3; font-weight: 400; }
details { margin: 8px 0 16px; }
summary { cursor: pointer; color: var(--accent); font-size: 13px; }
h4 { font-size: 14px; margin: 20px 0 4px; }
dl { max-width: 90ch; }
dt { font-weight: 600; margin-top: 12px; }
dd { margin: 0 0 4px; }
nav { margin-top: 12px; font-size: 13px; }
nav a, header p a { color: var(--accent); }
nav a { margin-right: 16px; }
header p a { white-space: nowrap; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
footer { max-width: 1100px; margin: 48px auto 32px; padding: 0 24px; }
@media print {
  @page { size: A4; margin: 16mm 14mm; }
  html { background: #fff; font-size: 10.5pt; }
  main, header, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  nav { display: none; }
  header p a { color: inherit; text-decoration: none; }
  figure, .note { border-color: #999; }
  .wide { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding-right: 8px; }
  td.n, tbody th { white-space: normal; }
  details::details-content { display: block; content-visibility: visible; }
  summary { color: inherit; }
  thead { display: table-header-group; }
  tr, figure { break-inside: avoid; }
  h2, h3, dt { break-after: avoid; }
}
"""


class Html(str):
    """Text that is HTML already; every other string is escaped."""

    __slots__ = ()


def text(value: object) -> str:
    """A value as HTML."""
    return value if isinstance(value, Html) else escape(str(value))


def two_lines(first: object, second: object) -> Html:
    """A cell or heading with a quieter second line."""
    return Html(f'{text(first)}<span class="second">{text(second)}</span>')


def paragraph(value: object, kind: str = "") -> Html:
    name = f' class="{kind}"' if kind else ""
    return Html(f"<p{name}>{text(value)}</p>\n")


def heading(level: int, value: object, anchor: str = "") -> Html:
    name = f' id="{escape(anchor)}"' if anchor else ""
    return Html(f"<h{level}{name}>{text(value)}</h{level}>\n")


def table(
    columns: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Iterable[int] = (),
    caption: str = "",
) -> Html:
    """A table; the first column heads its row. numeric: columns that are set flush right."""
    right = frozenset(numeric)

    def cell(tag: str, at: int, value: object, scope: str = "") -> str:
        name = ' class="n"' if at in right else ""
        return f"<{tag}{scope}{name}>{text(value)}</{tag}>"

    head = "".join(cell("th", at, value, ' scope="col"') for at, value in enumerate(columns))
    body = "\n".join(
        "<tr>"
        + "".join(
            cell("th", at, value, ' scope="row"') if at == 0 else cell("td", at, value)
            for at, value in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Html(
        f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>\n"
    )


def figure(svg: str, label: str, caption: str) -> Html:
    """An inline drawing with its description."""
    drawn = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
    return Html(f"<figure>{drawn}\n<figcaption>{escape(caption)}</figcaption></figure>\n")


def details(summary: str, body: Html) -> Html:
    """Something folded away under a line that opens it."""
    return Html(f"<details><summary>{escape(summary)}</summary>\n{body}</details>\n")


def definitions(rows: Iterable[tuple[str, str]]) -> Html:
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>" for name, said in rows)
    return Html(f"<dl>\n{items}\n</dl>\n")


def page(title: str, header: str, body: str, footer: str) -> str:
    """The whole document, UTF-8."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f"<header>\n{header}</header>\n<main>\n{body}</main>\n<footer>\n{footer}</footer>\n"
        "</body>\n</html>\n"
    )
