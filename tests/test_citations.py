"""Every citation of a paper names a section, figure or table that the paper has.

That the cited place says what it is cited for was checked by reading (the closing notes tell how);
here a slip like section 5.2 for 4.4 of another paper, or a figure that is not there, is found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.helpers.papers import FIGURES, ROOT, SECTIONS, TABLES, text_of

PAPER = re.compile(r"[Pp]aper (00[0-4])(?:'s)?(?P<more>(?:,| \()[^:;)]*)")
"""A paper and what follows up to the end of its bracket or clause."""
KIND = (
    r"(?P<kind>[Ss]ections?|[Aa]ppendix|[Ff]igures?|[Tt]ables?|Definitions?|Facts?|[Ee]quations?)"
)
PLACE = r"(?P<place>[A-D]\.?\d+(?:\.\d+)*|\d+(?:\.\d+)+|\d+|[A-D](?![\w.']))"
TOKEN = re.compile(rf"(?:{KIND}\s+)?(?<![\w$.]){PLACE}(?![\w%]| %| minutes|,\d)")
KNOWN = {"fi": FIGURES, "ta": TABLES, "se": SECTIONS, "ap": SECTIONS}
SECTION = "se"
COMMENT = re.compile(r"#\s?(.*)$")


class Citation(NamedTuple):
    """kind: section, appendix, figure or table, by its first two letters; place: its number."""

    file: str
    paper: str
    kind: str
    place: str


def places(said: str, *, bare: bool) -> Iterator[tuple[str, str]]:
    """Kind and number of each place in a text like "4.3, A.2 and figures A11 to A13".

    bare: also numbers without a word before them, where they look like those of sections.
    """
    kind = SECTION if bare else ""
    end = 0
    last: tuple[str, str] | None = None
    for token in TOKEN.finditer(said):
        between = said[end : token.start()]
        if token["kind"]:
            kind = token["kind"][:2].lower()
        elif end and not re.fullmatch(r"(?:,| and| to|, and| or)+ ?\s*", between):
            kind = SECTION if bare else ""
        end = token.end()
        place = token["place"]
        if not token["kind"] and re.fullmatch(r"\d+(?:\.\d+)+", place) and kind in KNOWN:
            kind = SECTION  # no figure or table is numbered so
        if kind not in KNOWN:
            continue
        if kind == SECTION and not token["kind"] and not re.search(r"\.\d", place):
            continue
        if last is not None and between.strip() == "to" and last[0] == kind:
            stem = re.sub(r"\d+$", "", place)
            first, final = (int(re.findall(r"\d+$", one)[0]) for one in (last[1], place))
            yield from ((kind, f"{stem}{n}") for n in range(first + 1, final))
        yield kind, place
        last = kind, place


def in_prose(file: str, text: str) -> Iterator[Citation]:
    """Where a text names a paper and, right behind, a place in it."""
    plain = re.sub(r"\s+(?:#\s)?", " ", text)
    for found in PAPER.finditer(plain):
        more = re.split(r"\. [A-Z]|[\"“]", found["more"])[0]
        for kind, place in places(more, bare=True):
            yield Citation(file, found[1], kind, place)


def in_a_study(file: str, text: str) -> Iterator[Citation]:
    """Comments of a study file: what stands first in one of a line, and what is named by a word."""
    paper = (yaml.safe_load(text).get("replicates") or {}).get("paper")
    if paper is None:
        return
    for line in text.splitlines():
        if (comment := COMMENT.search(line)) is None:
            continue
        said = comment[1]
        opening = re.match(r"[^:;(]*", said)[0] if not line.startswith("#") else ""  # type: ignore[index]
        yield from (Citation(file, paper, *one) for one in places(opening, bare=True))
        rest = said[len(opening) :]
        yield from (Citation(file, paper, *one) for one in places(rest, bare=False))


def citations() -> list[Citation]:
    """Everything in what is shipped: studies, questionnaires, texts, documents and docstrings."""
    found: list[Citation] = []
    files = [*(ROOT / "labapp").rglob("*.py"), *(ROOT / "models").glob("*.md")]
    files += [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "scripts").glob("*.py")]
    for folder in ("studies", "instruments", "stimuli", "texts"):
        for ending in ("*.yaml", "*.md"):
            files += (ROOT / "assets" / folder).rglob(ending)
    for path in sorted(files):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        found += in_prose(name, text)
        if path.parent.name == "studies":
            found += in_a_study(name, text)
    table = ROOT / "labapp/papers/interactive_reconstruction/published.csv"
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:
        source = line.partition(",")[0]
        if source.startswith("Table "):
            found.append(Citation(table.name, "000", "ta", source.removeprefix("Table ")))
        else:
            found.append(Citation(table.name, "000", SECTION, source))
    return found


@pytest.fixture(scope="module")
def cited() -> list[Citation]:
    return citations()


def test_every_citation_names_a_place_that_the_paper_has(cited: list[Citation]) -> None:
    wrong = [one for one in cited if one.place not in KNOWN[one.kind][one.paper]]
    assert not wrong


def test_the_citations_are_found(cited: list[Citation]) -> None:
    """Otherwise the test above would say nothing."""
    by_paper = Counter(one.paper for one in cited if not one.file.endswith(".csv"))
    assert by_paper["000"] > 120
    assert by_paper["003"] > 80
    assert by_paper["004"] > 30
    assert min(by_paper["001"], by_paper["002"]) > 4
    known = {(Path(one.file).stem, one.kind[0], one.place) for one in cited}
    assert {
        ("seq", "s", "4.4"),
        ("understanding", "s", "5.1.3"),
        ("understanding", "f", "9"),
        ("hive-demographics", "f", "A8"),
        ("synthetic-end", "s", "A.3"),
        ("circles", "s", "A.4"),
        ("synthetic-crowd", "s", "5.1.2"),
        ("gradcam-distinction", "f", "A12"),
        ("gradcam-distinction", "s", "5.1"),
        ("protopnet-agreement", "f", "A14"),
        ("inclusion", "f", "A12"),
    } <= known


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("4.3, A.2.1", ["s4.3", "sA.2.1"]),
        ("figures A11 to A13 and A15", ["fA11", "fA12", "fA13", "fA15"]),
        ("appendix C and figure A6", ["aC", "fA6"]),
        ("Table 1 and 5.2", ["t1", "s5.2"]),
        ("ours: 15 included, $2.00, 27.8 %, 16.4 minutes", []),
    ],
)
def test_how_places_are_read(said: str, found: list[str]) -> None:
    assert [f"{kind[0]}{place}" for kind, place in places(said, bare=True)] == found


@pytest.mark.parametrize("paper", sorted(SECTIONS))
def test_the_lists_are_those_of_the_papers(paper: str) -> None:
    """Against the texts, where they are at hand."""
    text = text_of(paper)
    if text is None:
        pytest.skip("the papers are not part of the checkout")
    plain = re.sub(r"[*#_\\<>]+", " ", text)
    for place in SECTIONS[paper]:
        number = re.escape(place)
        heading = rf"(?m)(?:^|[\s-]){number}\.?\s+[A-Za-z\"“]|[A-Z]\s+{number}\s*$"
        assert re.search(heading, plain), f"section {place}"
    for word, known in (("Fig(?:ure|\\.)", FIGURES), ("Tab(?:le|\\.)", TABLES)):
        for place in known[paper]:
            assert re.search(rf"{word}\s+{re.escape(place)}\b", plain), f"{word} {place}"
