"""Conditions of items, parts and rules: what they mean, what is left of them before the answers are
known, and what of them cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from labapp.analysis.tables import load as load_tables
from labapp.base.errors import faults_of
from labapp.record.journal.opening import open_record
from labapp.session.gate import gate, look_at
from labapp.session.planning.preregistration import conditions
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.when import Condition, describe, holds, names, settle
from tests.helpers.beside import put_beside

KNOWN = {"hint": "with", "people.age": (30,), "people.tools": ("a", "b"), "people.none": ()}


def read(condition: object) -> dict[str, object]:
    made: dict[str, object] = TypeAdapter(Condition).validate_python(condition)
    return made


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({}, True),
        ({"hint": "with", "people.age": 30}, True),
        ({"hint": "with", "people.age": 31}, False),
        ({"any": [{"hint": "without"}, {"people.tools": "b"}]}, True),
        ({"all": [{"hint": ["without", "with"]}, {"people.tools": "c"}]}, False),
        ({"not": {"people.tools": "c"}}, True),
        ({"not": {"people.none": "c"}, "hint": "with"}, True),
        ({"people.none": "c"}, False),
        ({"people.age": {"above": 17, "below": 31}}, True),
        ({"people.age": {"above": 30}}, False),
        ({"people.tools": {"above": 3}}, False),
        ({"any": [{"all": [{"hint": "with"}, {"not": {"people.age": {"below": 18}}}]}]}, True),
    ],
)
def test_what_a_condition_means(condition: object, expected: bool) -> None:
    assert holds(read(condition), KNOWN) is expected


def test_what_is_left_before_the_answers_are_known() -> None:
    variables = {"hint": "with"}
    condition = read({"hint": "with", "any": [{"hint": "without"}, {"people.age": 3}]})
    assert settle(condition, variables) == {"any": ({"people.age": 3},)}
    assert settle(condition, {"hint": "neither"}) is False
    assert settle(read({"any": [{"hint": "with"}, {"people.age": 3}]}), variables) is True
    assert settle(read({"not": {"hint": "with", "people.age": 3}}), {"hint": "x"}) is True
    both = read({"people.age": 3, "not": {"people.age": 4}})
    assert settle(both, variables) == {"all": ({"people.age": 3}, {"not": {"people.age": 4}})}
    assert settle(both, {"people.age": (3,)}) is True
    assert names(condition) == ("hint", "people.age")


def test_a_condition_in_words() -> None:
    condition = read(
        {"hint": ["a", "b"], "any": [{"p.age": {"above": 17}}, {"not": {"p.tool": "often"}}]}
    )
    assert describe(condition) == "hint is a or b and (p.age is above 17 or not (p.tool is often))"


@pytest.mark.parametrize(
    ("condition", "place", "said"),
    [
        ([], (), "found []; allowed: variables and answers"),
        ({"any": {"hint": "with"}}, ("any",), "allowed: a list of conditions"),
        ({"any": []}, ("any",), "found []; allowed: a list of conditions"),
        ({"all": [{"hint": "with"}, 3]}, ("all", 1), "found 3; allowed: variables"),
        ({"not": {}}, ("not",), "found nothing; allowed: variables"),
        ({"age": {"abov": 3}}, ("age", "abov"), "found 'abov'; allowed: `below` and `above`"),
        ({"age": {"above": "x"}}, ("age", "above"), "found 'x'; allowed: a number"),
        ({"age": {}}, ("age",), "allowed: `below`, `above`, or both"),
        ({"age": [[1]]}, ("age",), "allowed: a value, or a list of values"),
    ],
)
def test_a_condition_that_is_none(
    condition: object, place: tuple[str | int, ...], said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        read(condition)
    (fault,) = caught.value.errors()
    assert fault["loc"] == place
    assert said in fault["msg"]


STUDY = """\
id: branched
title: Branched
version: 1
recording: {audio: "off"}
design:
  between: {hint: ["with", "without"]}
exclude:
  experts: {when: {all: [{hint: "with"}, {people.used: often}]}}
  old: {only_if: {hint: without}, item: people.age, above: 65}
flow:
  - consent: texts/{language}/consent.md
  - questionnaire: people
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1, skip: always}
    only_if: {hint: "with", any: [{people.used: never}, {people.age: {above: 40}}]}
  - text: texts/{language}/debrief.md
    only_if: {not: {people.used: never}}
  - questionnaire: later
  - debrief: texts/{language}/debrief.md
"""
PEOPLE = """\
id: people
version: 1
source: ours
title: People
items:
  - {id: used, kind: choice, text: "Used?", options: [{id: often, text: O}, {id: never, text: N}]}
  - {id: age, kind: number, text: "Age?", low: 18, high: 99}
  - {id: why, kind: written, text: "Why?", only_if: {not: {used: never}, age: {below: 60}}}
"""
LATER = """\
id: later
version: 1
source: ours
title: Later
items:
  - {id: sure, kind: slider, text: "Sure?", only_if: {any: [{hint: "with"}, {people.used: often}]}}
"""


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    put_beside(folder)
    files = {"instruments/people.yaml": PEOPLE, "instruments/later.yaml": LATER, "own.yaml": STUDY}
    for name, text in files.items():
        for old, new in changes:
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
    return folder / "own.yaml"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("{people.used: never}}\n  - q", "{people.usd: never}}\n  - q", 16, "has no item 'usd'"),
        ("{people.used: never}, {p", "{people.used: nevr}, {p", 14, "never 'nevr'; it is one of"),
        ("people.age: {above: 40}", "people.age: {above: 99}", 14, "from 18 to 99, so it is never"),
        ("people.age: {above: 40}", "people.used: {above: 9}", 14, "people.used has no number"),
        (
            "people.age: {above: 40}",
            "later.sure: {above: 9}",
            14,
            "nothing called 'later' is asked before it",
        ),
        ("people.age: {above: 40}", "hnt: x", 14, "there is no variable 'hnt' here"),
        ('only_if: {hint: "with", any', 'only_if: {hint: "wth", any', 14, "hint is never 'wth'"),
        (
            "any: [{people.used: never}, {people.age: {above: 40}}]",
            "any: {x: 1}",
            14,
            "a list of c",
        ),
        ("all: [{hint", "all: [{hnt", 8, "there is no variable 'hnt'; there are: hint"),
        (
            'all: [{hint: "with"}',
            'all: [{hint: "wth"}',
            8,
            "hint is never 'wth'; it is one of: 'with'",
        ),
        ("{people.used: often}]}}\n  o", "{people.usd: often}]}}\n  o", 8, "no item 'people.usd'"),
        ("{people.used: often}]}}\n  o", "{people.used: x}]}}\n  o", 8, "people.used is never 'x'"),
        ("old: {only_if: {hint: without}", "old: {only_if: {}", 9, "found no condition"),
        ("experts: {when", "experts: {item: people.used, when", 8, "exactly one criterion"),
        ("{not: {used: never}, age", "{not: {usd: never}, age", 8, "no item and no variable 'usd'"),
        ("{not: {used: never}, age", "{not: {why: never}, age", 8, "it depends on itself"),
        (
            "age: {below: 60}",
            "age: {below: 18}",
            8,
            "age ranges from 18 to 99, so it is never within",
        ),
        ("age: {below: 60}", "used: {below: 18}", 8, "used has no number"),
        ('{any: [{hint: "with"}, {people.used', "{any: [{hint: x}, {people.used", 6, "never 'x'"),
    ],
)
def test_a_mistake_in_a_condition(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = [
        (fault.line, f"{fault.key}: {fault.what}")
        for error in look_at(write(tmp_path, (old, new))).errors
        for fault in faults_of(error)
    ]
    assert [at for at, _ in told] == [line], told
    assert said in told[0][1]


def test_parts_are_left_out_by_answers_and_rules_read_conditions(tmp_path: Path) -> None:
    path = write(tmp_path / "study")
    loaded = gate(path)
    assert any("not (people.used is never)" in line for line in conditions(loaded))
    assert "* item later.sure: asked only where (hint is with or people.used is often)" in (
        conditions(loaded)
    )
    folders = simulate_study(str(path), 8, "random", tmp_path / "data")
    met: set[tuple[bool, bool]] = set()
    tables = load_tables(tmp_path / "data")
    answers = tables.answers.set_index(["participant", "item"])
    for folder in folders:
        record = open_record(folder)
        who, hint = record.planned.participant, record.planned.assignment["hint"]
        used, age = answers.loc[(who, "used"), "value_text"], answers.loc[(who, "age"), "value"]
        kinds = [(event.kind, event.part_id) for event, _ in record.payloads()]
        shown = ("part.started", "stage-1") in kinds
        assert shown == (hint == "with" and (used == "never" or age > 40))
        left_out = ("part.left_out", "stage-1") in kinds
        assert left_out == (hint == "with" and not shown)
        (text,) = [row["id"] for row in record.planned.plan if row["part"] == "text"][-1:]
        assert (("part.left_out", text) in kinds) == (used == "never")
        met.add((shown, left_out))
        row = tables.participants.set_index("participant").loc[who]
        failed = set(str(row["excluded_because"]).split(", ")) - {"", "nan", "None", "<NA>"}
        expected = {"experts"} if hint == "with" and used == "often" else set()
        expected |= {"old"} if hint == "without" and age > 65 else set()
        assert failed == expected, (hint, used, age)
    assert {(True, False), (False, True), (False, False)} <= met
