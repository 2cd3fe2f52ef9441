"""REFI-QDA codebooks: out, and in for a study that has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from labapp.base.errors import ExchangeError, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.exchange import refi
from labapp.coding.exchange.incoming import read_codebook
from tests.helpers.exchanged import BOOK
from tests.helpers.refi import GUID, mistakes, of_another_tool

NESTED = """\
codebook: nested
version: 1
tiers:
  a: {title: Doing, "on": spans, values: [1, 2]}
  b: {title: Others}
codes:
  - {id: x, tier: a, name: Other, when: "two\\nlines", not: 'a < b & "c"', examples: [so, "🙂"]}
  - {id: y, tier: a, name: Other, parent: x, colour: "#123456"}
  - {id: z, tier: b, name: שלום, parent: w}
  - {id: w, tier: b, name: Above}
  - {id: gone, tier: b, name: Gone, retired: no more}
"""


ONLY_GROUPS = (
    '<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes><Code name="a" isCodable="false" '
    f'guid="{GUID.format(1)}"/></Codes></CodeBook>'
)


def as_project(content: bytes) -> bytes:
    """The same codes in a project, whose schema says the same of them."""
    text = content.decode().replace("codebook:1.0", "project:1.0")
    text = text.replace('<CodeBook xmlns="urn:QDA-XML:project:1.0" origin="labapp">', "<CodeBook>")
    head, _, rest = text.partition("<CodeBook>")
    return (
        f'{head}<Project xmlns="urn:QDA-XML:project:1.0" name="a"><CodeBook>{rest}</Project>'
    ).encode()


@pytest.mark.parametrize("text", [BOOK.content.decode(), NESTED], ids=["flat", "nested"])
def test_codebooks_are_as_the_schema_has_them_and_come_back(text: str, tmp_path: Path) -> None:
    book = codebooks.parse(text.encode(), Path("codebook.yaml"))
    path = tmp_path / "codes.qdc"
    lost = refi.write(book, path)
    content = path.read_bytes()
    assert not mistakes(as_project(content))
    root = etree.fromstring(content)
    assert root.tag == "{urn:QDA-XML:codebook:1.0}CodeBook"
    names = [code.get("name") for code in root.iter("{*}Code")]
    assert len(names) == len(set(names))
    assert any("exclude each other" in why for why in lost)
    back = read_codebook(path, tmp_path)
    assert [tier.title for tier in back.tiers] == [tier.title for tier in book.tiers]
    assert [tier.values for tier in back.tiers] == [tier.values for tier in book.tiers]
    given = [code for code in book.codes if not code.retired]
    assert {(c.colour, c.when, c.not_, c.examples) for c in back.codes} == {
        (c.colour, c.when, c.not_, c.examples) for c in given
    }
    assert len(back.codes) == len(given)
    parents = {c.id: c.parent for c in back.codes}
    assert sum(parent is not None for parent in parents.values()) == sum(
        c.parent is not None for c in given
    )


def test_a_codebook_of_another_tool_becomes_one_of_ours(tmp_path: Path) -> None:
    project = of_another_tool()["project.qde"].decode()
    codes = project[project.index("<Codes>") : project.index("</CodeBook>")]
    path = tmp_path / "nvivo.qdc"
    path.write_text(f'<CodeBook xmlns="urn:QDA-XML:codebook:1.0">{codes}</CodeBook>')
    book = read_codebook(path, tmp_path)
    assert [(tier.title, tier.on) for tier in book.tiers] == [
        ("strategy", "spans"), ("affect", "spans"), ("Codes", "spans"),
    ]  # fmt: skip
    assert [(c.id, c.tier, c.parent) for c in book.codes] == [
        ("strategy", "strategy", None), ("exploring", "strategy", "strategy"),
        ("random", "strategy", "exploring"), ("other", "strategy", "strategy"),
        ("affect", "affect", None), ("uncertain", "affect", "affect"),
        ("insight", "affect", "affect"), ("other_2", "affect", "affect"),
        ("insight_of_its_own", "codes", None),
    ]  # fmt: skip
    assert book.by_id["random"].colour == "#AABBCC"
    assert book.by_id["uncertain"].when == "Says that it is unclear."


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "no sound XML"),
        ("<CodeBook/>", "begins with <CodeBook>"),
        ('<CodeBook xmlns="urn:QDA-XML:codebook:1.0"/>', "it has no codes"),
        (ONLY_GROUPS, "it has no codes"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><CodeBook>&a;</CodeBook>', "defines entities"),
    ],
)
def test_what_is_no_codebook_is_refused_in_words(content: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.qdc"
    path.write_text(content)
    with pytest.raises(ExchangeError) as refused:
        read_codebook(path, tmp_path)
    assert why in str(refused.value)
    with pytest.raises(LabappError):
        read_codebook(tmp_path / "not there.qdc", tmp_path)
