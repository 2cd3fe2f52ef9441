"""Codebooks: what they may say, every mistake with its line, versions and what they make old."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from labapp.base import durable, resources
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import COLOURS, differences, find_outdated_marks, parse
from labapp.coding.annotations.model import Mark

GOOD = """\
codebook: moods
version: 2
tiers:
  act: {exclusive: true, on: units}
  mood: {on: spans, values: [1, 2, 3]}
codes:
  - id: explore
    tier: act
    key: e
    name: Exploring
    when: tries something
  - id: goal
    tier: act
    key: 1
    name: Goal
    parent: explore
  - id: glad
    tier: mood
    key: g
    kind: point
    colour: "#d55e00"
    name: Glad
  - id: gone
    tier: mood
    key: g
    name: Gone
    retired: it was glad, too
merged: {gone: glad}
"""
PATH = Path("codebook.yaml")


def changed(before: str, after: str) -> str:
    assert GOOD.count(before) >= 1, before
    return GOOD.replace(before, after, 1)


def test_what_a_codebook_says() -> None:
    book = parse(GOOD.encode(), PATH)
    assert (book.id, book.version, len(book.sha256)) == ("moods", 2, 64)
    assert [tier.name for tier in book.tiers] == ["act", "mood"]
    assert book.by_key("act", "1") is book.code("goal")
    assert book.by_key("mood", "g") is book.code("glad"), "a retired code has no key"
    assert book.by_key("mood", "e") is None
    assert [code.id for code in book.given("mood")] == ["glad"]
    assert book.following("gone") == ("glad",)
    assert book.needs_units


def test_codes_without_a_colour_get_one_of_their_own() -> None:
    colours = {code.id: code.colour for code in parse(GOOD.encode(), PATH).codes}
    assert colours["glad"] == "#D55E00"
    assert {colours["explore"], colours["goal"]} == set(COLOURS[:2])
    assert colours["gone"] != colours["glad"], "of one tier, none twice"


def test_the_colours_are_told_apart_by_everybody() -> None:
    """Seen without red or without green (Viénot, Brettel and Mollon 1999), no two of the first
    eight are closer than they are to each other in light or shade."""
    seen_as = {
        "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
        "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    }
    for matrix in seen_as.values():
        seen = []
        for colour in COLOURS[:8]:
            rgb = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
            linear = [value**2.2 for value in rgb]
            seen.append(
                [max(0, sum(map(float.__mul__, row, linear))) ** (1 / 2.2) for row in matrix]
            )
        for first, second in combinations(seen, 2):
            assert sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5 > 0.07


MISTAKES = [
    ("codebook: moods", "codebook: My Moods", 1, "codebook", "lower-case letters a to z"),
    ("codebook: moods", "title: moods", 1, "codebook", "missing; it is required"),
    ("version: 2", "version: 0", 2, "version", "greater than or equal to 1"),
    ("version: 2", "version: two", 2, "version", "a whole number"),
    ("version: 2", "version: 2\ncolour: red", 3, "colour", "unknown key 'colour'"),
    ("on: units", "on: words", 4, "tiers.act.on", "'units' or 'spans'"),
    ("on: units", "ons: units", 4, "tiers.act.ons", "did you mean 'on'?"),
    ("exclusive: true", "exclusive: maybe", 4, "tiers.act.exclusive", "true or false"),
    ("  act:", "  Act!:", 4, "tiers.Act!", "lower-case letters"),
    ("[1, 2, 3]", "[1, 10]", 5, "tiers.mood.values", "whole numbers from 0 to 9"),
    ("[1, 2, 3]", "[1, 1]", 5, "tiers.mood.values", "a value is given twice"),
    ("id: explore", "id: Explore", 7, "codes[0].id", "lower-case letters"),
    ("id: goal", "id: explore", 12, "codes[1].id", "a code 'explore' above, in line 7"),
    ("tier: act", "tier: acts", 8, "codes[0].tier", "no tier 'acts'; allowed: act, mood"),
    ("key: e", "key: ee", 9, "codes[0].key", "a letter or a digit"),
    ("key: e", 'key: "/"', 9, "codes[0].key", "a letter or a digit"),
    ("key: e", 'key: "²"', 9, "codes[0].key", "a letter or a digit"),
    ("key: e", 'key: ""', 9, "codes[0].key", "a letter or a digit"),
    ("key: 1", "key: E", 14, "codes[1].key", "'E' is already the key of 'explore' on this tier"),
    ("kind: point", "kind: moment", 20, "codes[2].kind", "'span' or 'point'"),
    ("key: g", "key: 3", 19, "codes[2].key", "the digits give the values of the tier 'mood'"),
    ('"#d55e00"', "red", 21, "codes[2].colour", 'as "#0072B2"'),
    ('"#d55e00"', '"#d55e0"', 21, "codes[2].colour", 'as "#0072B2"'),
    ("name: Exploring", "name: ''", 10, "codes[0].name", "a text of at least one character"),
    ("    when:", "    wen:", 11, "codes[0].wen", "did you mean 'when'?"),
    ("key: e", "key: e\n    kind: point", 10, "codes[0].kind", "a unit is a stretch"),
    ("parent: explore", "parent: nothing", 16, "codes[1].parent", "no code 'nothing'"),
    ("parent: explore", "parent: glad", 16, "codes[1].parent", "belongs to the tier 'mood'"),
    ("parent: explore", "parent: goal", 16, "codes[1].parent", "goal → goal"),
    ("when: tries something", "parent: goal", 11, "codes[0].parent", "explore → goal → explore"),
    ("{gone: glad}", "{explore: goal}", 28, "merged.explore", "is a code that is still given"),
    ("{gone: glad}", "{gone: nothing}", 28, "merged.gone", "no code 'nothing'"),
    ("{gone: glad}", "{a: b, b: a}", 28, "merged.a", "a circle: a → b → a"),
    ("{gone: glad}", "{gone: glad}\nrenamed: {gone: goal}", 28, "merged.gone", "more than one of"),
    ("merged: {gone: glad}", "split: {gone: []}", 28, "split.gone", "found no code"),
    ("merged: {gone: glad}", "split: {gone: glad}", 28, "split.gone", "a list"),
    ("version: 2", "version: 2\nversion: 3", 3, "", "is given twice"),
    ("  act:", "\tact:", 4, "", "tab"),
    ("name: Goal", "name: &a Goal\n    when: *a", 16, "", "aliases are not allowed"),
]


@pytest.mark.parametrize(
    ("before", "after", "line", "key", "what"), MISTAKES, ids=[f"{m[1]}" for m in MISTAKES]
)
def test_every_mistake_is_told_with_its_line(
    before: str, after: str, line: int, key: str, what: str
) -> None:
    with pytest.raises(AnnotationError) as refused:
        parse(changed(before, after).encode(), PATH)
    faults = refused.value.faults
    assert any(
        (fault.line, fault.key) == (line, key) and what in f"{fault.what} {fault.todo}"
        for fault in faults
    ), [str(fault) for fault in faults]
    assert all(fault.file == "codebook.yaml" for fault in faults)
    assert refused.value.todo


def test_all_mistakes_are_told_at_once() -> None:
    text = changed("key: e", "key: ee").replace("tier: mood", "tier: none", 1)
    with pytest.raises(AnnotationError) as refused:
        parse(text.encode(), PATH)
    assert [fault.key for fault in refused.value.faults] == ["codes[0].key", "codes[2].tier"]


@pytest.mark.parametrize("name", ["concept-repair", "think-aloud"])
def test_a_shipped_codebook_is_in_order(name: str) -> None:
    book = codebooks.read(resources.assets() / "codebooks" / f"{name}.yaml")
    assert book.id == name
    assert all(code.key and code.when for code in book.codes)


def test_every_shipped_codebook_is_looked_at() -> None:
    shipped = {path.stem for path in (resources.assets() / "codebooks").glob("*.yaml")}
    assert shipped == {"concept-repair", "think-aloud"}


def test_a_study_has_several_codebooks_with_ids_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "codebook.yaml").write_text(GOOD)
    (tmp_path / "codebook-more.yaml").write_text(changed("codebook: moods", "codebook: acts"))
    (tmp_path / "other.yaml").write_text("nothing: of ours")
    assert [book.id for book in codebooks.codebooks_of(tmp_path)] == ["acts", "moods"]
    (tmp_path / "codebook-more.yaml").write_text(GOOD)
    with pytest.raises(AnnotationError, match="have the same name, 'moods'"):
        codebooks.codebooks_of(tmp_path)


def test_every_version_is_kept_and_a_changed_one_is_found(tmp_path: Path) -> None:
    book = parse(GOOD.encode(), PATH)
    path = codebooks.store_version(tmp_path, book)
    assert codebooks.store_version(tmp_path, book) == path
    assert codebooks.versions_of(tmp_path) == {book.sha256: book}
    path.write_text(changed("name: Goal", "name: Aim"))
    with pytest.raises(AnnotationError, match="was changed"):
        codebooks.versions_of(tmp_path)


def test_what_was_coded_by_the_second_version_of_think_aloud_is_still_read(tmp_path: Path) -> None:
    """It had codes for models, which are those of `concept-repair` now. A session keeps the version
    by which it was coded."""
    path = resources.assets() / "codebooks" / "think-aloud.yaml"
    text = path.read_text("utf-8").replace("version: 3", "version: 2")
    text = text.replace("codes:\n", "  model: {exclusive: true, on: units}\ncodes:\n", 1)
    text += "  - {id: leak, tier: model, key: l, name: Own theory of the leak, when: says so}\n"
    second = parse(text.encode(), PATH)
    codebooks.store_version(tmp_path, second)
    newer = codebooks.read(path)
    codebooks.store_version(tmp_path, newer)
    versions = codebooks.versions_of(tmp_path)
    assert versions[second.sha256].code("leak").name == "Own theory of the leak"
    assert "leak" not in newer.by_id
    assert versions[second.sha256].id == newer.id  # marks of both are of one codebook
    mark = Mark("1", "anna", "model", "leak", 0, 1, codebook=second.sha256)
    (outdated,) = find_outdated_marks([mark], newer, versions, ())
    assert outdated.mark == mark


def test_two_windows_keep_the_same_version_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, write = parse(GOOD.encode(), PATH), durable.write

    def meanwhile(path: Path, content: bytes) -> None:
        write(path, content)
        monkeypatch.undo()
        codebooks.store_version(tmp_path, book)

    monkeypatch.setattr(durable, "write", meanwhile)
    path = codebooks.store_version(tmp_path, book)
    assert [child.name for child in path.parent.iterdir()] == [f"{book.sha256}.yaml"]


def test_a_missing_codebook_is_told(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="cannot be read"):
        codebooks.read(tmp_path / "codebook.yaml")


NEW = """\
codebook: moods
version: 3
tiers:
  act: {exclusive: true, on: units}
  mood: {on: spans, values: [1, 2, 3, 4]}
  topic: {on: units}
codes:
  - {id: explore, tier: act, key: x, name: Exploring, when: tries anything}
  - {id: aim, tier: act, key: a, name: Aim}
  - {id: glad, tier: mood, key: g, kind: point, colour: "#0072B2", name: Glad}
  - {id: happy, tier: mood, key: h, name: Happy}
renamed: {goal: aim}
split: {gone: [glad, happy]}
"""


def test_what_differs_between_two_versions() -> None:
    changes = differences(parse(GOOD.encode(), PATH), parse(NEW.encode(), PATH))
    assert [(str(change), change.definition) for change in changes] == [
        ("tier mood: values was '1; 2; 3', and is now '1; 2; 3; 4'", True),
        ("tier topic: added", False),
        ("code explore: key was 'e', and is now 'x'", False),
        ("code explore: when was 'tries something', and is now 'tries anything'", True),
        ("code goal: renamed → aim", True),
        ("code glad: colour was '#D55E00', and is now '#0072B2'", False),
        ("code gone: removed", False),
        ("code aim: added", False),
        ("code happy: added", False),
    ]
    assert differences(parse(NEW.encode(), PATH), parse(NEW.encode(), PATH)) == ()
    without = parse(NEW.replace("renamed: {goal: aim}\n", "").encode(), PATH)
    changes = differences(parse(GOOD.encode(), PATH), without)
    assert "code goal: removed" in map(str, changes)


def test_which_marks_were_given_by_an_older_definition() -> None:
    old, new = parse(GOOD.encode(), PATH), parse(NEW.encode(), PATH)
    other = parse(changed("codebook: moods", "codebook: acts").encode(), PATH)
    versions = {book.sha256: book for book in (old, new, other)}
    given = Mark("1", "anna", "act", "explore", 0, 1, codebook=old.sha256)
    marks = [
        given,
        replace(given, id="2", code="goal"),
        replace(given, id="3", tier="mood", code="gone"),
        replace(given, id="4", tier="mood", code="glad"),
        replace(given, id="5", codebook=new.sha256),
        replace(given, id="6", codebook=other.sha256),
        replace(given, id="7", codebook="lost"),
    ]
    reasons = {
        old.mark.id: (old.why, old.suggestions)
        for old in find_outdated_marks(marks, new, versions, ())
    }
    assert reasons == {
        "1": ("when changed", ("explore",)),
        "2": ("it is aim now", ("aim",)),
        "3": ("it was split into glad, happy", ("glad", "happy")),
        "4": ("values changed", ("glad",)),
        "7": ("the version of the codebook with which it was coded is missing", ("explore",)),
    }
