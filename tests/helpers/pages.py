"""A strict look at a page that is written for the browser, where there is none to show it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "col", "wbr"})
IN_PARAGRAPH = frozenset(
    {"a", "abbr", "b", "bdi", "br", "code", "em", "i", "small", "span", "strong", "sub", "sup"}
)
"""What a paragraph may hold; a browser ends it before anything else."""
PRINTED = (
    r"@media print",
    r"@page",
    r"figure[^{}]*\{[^{}]*break-inside: avoid",
    r"thead \{ display: table-header-group",
)
OUTSIDE = re.compile(r"(?i)^\s*(https?:|//|file:|data:text)")


@dataclass
class _Table:
    line: int
    head: bool = False
    in_head: bool = False
    scrolls: bool = False
    widths: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    """Cells of rows to come that higher ones reach down into."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.open: list[tuple[str, dict[str, str]]] = []
        self.ids: Counter[str] = Counter()
        self.meant: list[str] = []
        self.headings: list[int] = []
        self.tables: list[_Table] = []
        self.style = ""
        self.title = ""
        self.empty: list[bool] = []
        self.seen: Counter[str] = Counter()
        self.drawn: list[str] = []

    def problem(self, said: str) -> None:
        self.found.append(f"line {self.getpos()[0]}: {said}")

    # --- elements ---------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._started(tag, attrs)
        if tag not in VOID:
            self.open.append((tag, {name: value or "" for name, value in attrs}))
            self.empty.append(True)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._started(tag, attrs)
        if not self._inside("svg") and tag != "svg" and tag not in VOID:
            self.problem(f"<{tag}/> is not ended so in HTML")

    def _started(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.empty = [False] * len(self.empty)
        names = Counter(name for name, _ in attrs)
        if twice := [name for name, n in names.items() if n > 1]:
            self.problem(f"<{tag}> has {twice[0]} twice")
        has = {name: value or "" for name, value in attrs}
        if "id" in has:
            self.ids[has["id"]] += 1
            if not has["id"] or re.search(r"\s", has["id"]):
                self.problem(f"id {has['id']!r}")
        if self._inside("p") and not self._inside("svg") and tag not in IN_PARAGRAPH:
            self.problem(f"<{tag}> in a paragraph")
        self._refers(tag, has)
        self._structure(tag, has)

    def _refers(self, tag: str, has: dict[str, str]) -> None:
        for name in ("href", "src", "xlink:href", "action", "poster", "srcset"):
            if name not in has:
                continue
            if has[name].startswith("#"):
                self.meant.append(has[name][1:])
            elif not has[name].startswith("data:image/"):
                self.problem(f"<{tag} {name}={has[name]!r}> is not in the page")
        for value in has.values():
            self.meant += re.findall(r"url\(#([^)]+)\)", value)
        if tag in ("script", "iframe", "object", "embed", "link", "base"):
            self.problem(f"<{tag}>")
        if any(name.startswith("on") for name in has):
            self.problem(f"<{tag}> runs a script")

    def _structure(self, tag: str, has: dict[str, str]) -> None:
        if tag == "img" and not has.get("alt", "").strip():
            self.problem("a picture without words for it")
        if tag == "svg":
            if has.get("role") != "img" or not has.get("aria-label", "").strip():
                self.problem("a drawing without words for it")
            if "viewbox" not in has:
                self.problem("a drawing that does not shrink")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if level > (self.headings[-1] if self.headings else 0) + 1:
                self.problem(f"<{tag}> after <h{self.headings[-1] if self.headings else 0}>")
            self.headings.append(level)
        if tag == "table":
            scrolls = any(one.get("class") == "wide" for _, one in self.open)
            self.tables.append(_Table(self.getpos()[0], scrolls=scrolls))
        elif tag in ("thead", "tr", "th", "td"):
            if not self.tables:
                self.problem(f"<{tag}> outside of a table")
            else:
                self._cell(tag, has, self.tables[-1])

    def _cell(self, tag: str, has: dict[str, str], table: _Table) -> None:
        inside = self._inside("thead")
        if tag == "thead":
            table.head = True
        elif tag == "tr":
            table.widths.append(table.below.pop(0) if table.below else 0)
        else:
            first = table.widths[-1] == 0
            wide, deep = int(has.get("colspan", "1")), int(has.get("rowspan", "1"))
            table.widths[-1] += wide
            table.below += [0] * (deep - 1 - len(table.below))
            table.below[: deep - 1] = [n + wide for n in table.below[: deep - 1]]
            wanted = "col" if inside else "row"
            if tag == "th" and has.get("scope") not in (wanted, f"{wanted}group"):
                self.problem(f"<th> of a {wanted} with the scope {has.get('scope')!r}")
            if tag == "td" and (inside or first):
                self.problem("a row or column without a heading")

    # --- ends and text ----------------------------------------------------------------------------

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            self.problem(f"</{tag}>")
            return
        if not self.open or self.open[-1][0] != tag:
            self.problem(f"</{tag}> ends <{self.open[-1][0] if self.open else ''}>")
            return
        self.open.pop()
        if self.empty.pop() and tag in ("p", "h1", "h2", "h3", "h4", "figcaption", "caption", "a"):
            self.problem(f"<{tag}> is empty")
        if tag == "table":
            done = self.tables.pop()
            if not done.head:
                self.problem("a table without <thead>")
            if len(set(done.widths)) != 1:
                self.problem(f"a table with rows of {sorted(set(done.widths))} cells")
            if not done.scrolls:
                self.problem("a table that a narrow window cuts off")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.empty = [False] * len(self.empty)
        where = self.open[-1][0] if self.open else ""
        if where == "style":
            self.style += data
        elif where == "title":
            self.title += data

    def _inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self.open)


def problems(page: str) -> list[str]:
    """What a browser, a printer or somebody who hears a page would stumble on; empty for none."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    found = reader.found
    found += [f"<{tag}> is never ended" for tag, _ in reader.open]
    found += [f"id {name!r} is there {n} times" for name, n in reader.ids.items() if n > 1]
    found += [f"#{name} is nowhere" for name in {*reader.meant} - {*reader.ids}]
    if not page.startswith('<!DOCTYPE html>\n<html lang="'):
        found.append("no doctype, or no language")
    if '<meta charset="utf-8">' not in page[:1024]:
        found.append("no charset where a browser looks for it")
    if '<meta name="viewport" content="width=device-width' not in page[:1024]:
        found.append("a small screen would show it tiny")
    if not reader.title.strip() or reader.headings.count(1) != 1:
        found.append("not one title")
    found += [f"nothing on {one}" for one in PRINTED if not re.search(one, reader.style)]
    if re.search(r"@import|url\((?!#)", reader.style):
        found.append("the style is not in the page")
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    titles = [title for _, title in re.findall(r"<h([1-6])[^>]*>(.*?)</h\1>", text, re.DOTALL)]
    doubled = [title for title, below in pairwise(titles) if title == below]
    found += [f"{title!r} stands above itself" for title in doubled]
    found += [f"a bare & in {one!r}" for one in re.findall(r".{0,20}&(?![#\w]+;).{0,10}", text)]
    found += [f"{one} in the text" for one in ("{}", ">nan<", ">None<", ">NaN<") if one in text]
    return found
