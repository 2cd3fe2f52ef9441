"""The documentation: as pages, inside a wheel or where `make docs` builds them, or as the Markdown
that they are made of, with a search of its own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from labapp.base import resources
from labapp.base.errors import SetupError

FIRST, FIRST_TEXT, KEYWORDS = "index.html", "README.md", "keywords.yaml"
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
HEADING = re.compile(r"^#{2,4} (.+)$", re.MULTILINE)
UNSAID = frozenset(
    re.findall(
        r"\w+",
        """a an and are at be by can could do does for from get have how i if in is it make me my
        not of on or so that the there this to want was we what when where which who why will
        with you""",
    )
)
"""Words of questions that say nothing about what is looked for."""
WEIGHTS = "15.0, 8.0, 4.0, 1.0"
"""How much a word counts: among the keywords, in the title, in a heading, in the text."""
DECISIONS, LESS = "adr/", 0.3
"""Pages for developers, which count less."""


def built_page() -> Path | None:
    """The first of the pages; None if they are not built."""
    page = resources.documentation() / FIRST
    return page if page.is_file() else None


def first_text() -> Path:
    """The first page as Markdown. Raises SetupError if there is none."""
    page = resources.documentation_texts() / FIRST_TEXT
    if page.is_file():
        return page
    raise SetupError(
        f"The documentation is not in this installation: {page} is missing.",
        safe="Everything else works.",
        todo="Install labapp again.",
    )


@dataclass(frozen=True)
class Found:
    """A page that a search found: its name below the folder, and its title."""

    page: str
    title: str


class DocumentationSearch:
    """Finds pages by words, in Markdown files and their keywords.

    folder: of the Markdown files.
    """

    def __init__(self, folder: Path) -> None:
        self._index = sqlite3.connect(":memory:")
        self._index.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(keywords, title, headings, body, "
            "page UNINDEXED, shown UNINDEXED, tokenize = 'porter unicode61')"
        )
        self._index.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", _rows(folder))

    def find(self, words: str, most: int = 12) -> list[Found]:
        """The pages that fit best, the best first; none without a word that says something."""
        asked = [word for word in re.findall(r"\w+", words.lower()) if word not in UNSAID]
        if not asked:
            return []
        terms = [f'"{word}"' for word in asked]
        query = " OR ".join([*terms, f"{terms[-1]}*", f'{{keywords title}} : "{" ".join(asked)}"'])
        rows = self._index.execute(
            f"SELECT page, shown FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, {WEIGHTS}) "
            f"* iif(page LIKE '{DECISIONS}%', {LESS}, 1) LIMIT ?",
            (query, most),
        )
        return [Found(page, title) for page, title in rows]


def _rows(folder: Path) -> Iterable[tuple[str, ...]]:
    keywords = yaml.safe_load((folder / KEYWORDS).read_text("utf-8"))
    for path in sorted(folder.rglob("*.md")):
        page, text = path.relative_to(folder).as_posix(), path.read_text("utf-8")
        title = match[1] if (match := TITLE.search(text)) else page
        headings = "\n".join(HEADING.findall(text))
        yield "\n".join(keywords.get(page, ())), title, headings, text, page, title
