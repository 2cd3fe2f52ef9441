"""Orders of levels and of questions that depend on the participant's group."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import faults_of
from labapp.record.journal.opening import open_record
from labapp.session.gate import gate, look_at
from labapp.session.planning.preregistration import _Facts
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.plan import QuestionnairePart
from labapp.study.plugins import registry
from tests.helpers.beside import put_beside

STUDY = """\
id: orders
title: Orders
version: 1
recording: {audio: "off"}
design:
  between: {start: [easy, hard]}
  within: [model, {feedback: ["with", "without"]}]
  orders:
    model:
      by: start
      orders: {easy: [sinelines/gt, sinelines/ae], hard: [sinelines/ae, sinelines/gt]}
    feedback: {by: start, orders: {easy: ["with", "without"], hard: ["without", "with"]}}
flow:
  - consent: texts/{language}/consent.md
  - each: feedback
    flow:
      - stages:
          task: reconstruction
          models: [sinelines/gt, sinelines/ae]
          trials: 1
          skip: always
  - questionnaire: asked
  - debrief: texts/{language}/debrief.md
"""
ASKED = """\
id: asked
version: 1
source: ours
title: Asked
order: {by: start, orders: {easy: [one, two, three], hard: [three, one, two]}}
items:
  - {id: one, kind: slider, text: "1?"}
  - {id: two, kind: slider, text: "2?"}
  - {id: three, kind: slider, text: "3?"}
"""


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    put_beside(folder)
    for name, text in (("own.yaml", STUDY), ("instruments/asked.yaml", ASKED)):
        for old, new in changes:
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
    return folder / "own.yaml"


def test_levels_and_questions_come_in_the_order_of_the_group(tmp_path: Path) -> None:
    path = write(tmp_path / "study")
    loaded = gate(path)
    met = set()
    for folder in simulate_study(str(path), 4, "knowing", tmp_path / "data"):
        planned = open_record(folder).planned
        parts = [registry.read_part(row) for row in planned.plan]
        start = planned.assignment["start"]
        models = [name for part in parts if part.measures for name in part.models()]
        levels = [part.levels["feedback"] for part in parts if part.measures]
        (asked,) = [part for part in parts if isinstance(part, QuestionnairePart)]
        if start == "easy":
            assert models == ["sinelines/gt", "sinelines/ae"] * 2
            assert levels == ["with", "with", "without", "without"]
            assert asked.items == ()
        else:
            assert models == ["sinelines/ae", "sinelines/gt"] * 2
            assert levels == ["without", "without", "with", "with"]
            assert asked.items == ("three", "one", "two")
        assert asked.variables == {"start": start}
        met.add(start)
    assert met == {"easy", "hard"}
    facts = _Facts.__new__(_Facts)
    facts.study, facts.design, facts.loaded = loaded.study, loaded.study.design, loaded
    assert "feedback: with → without where start is easy" in facts._describe_randomisation()


@pytest.mark.parametrize(
    ("old", "new", "file", "line", "said"),
    [
        ("feedback: {by", "feedbck: {by", "own.yaml", 12, "'feedbck' is not a factor within"),
        ("feedback: {by: start", "feedback: {by: strt", "own.yaml", 12, "'strt'; allowed: factors"),
        (
            'easy: ["with", "without"]',
            'easy: ["with"]',
            "own.yaml",
            12,
            "allowed: each of these once: wi",
        ),
        ('easy: ["with", "w', 'esy: ["with", "w', "own.yaml", 12, "'esy' is not a level of start"),
        (
            "easy: [sinelines/gt, s",
            "easy: [sinelines/tg, s",
            "own.yaml",
            11,
            "each of these once: sinelin",
        ),
        (
            "      orders: {easy: [sine",
            "      ordrs: {easy: [sine",
            "own.yaml",
            11,
            "unknown key 'ord",
        ),
        (
            "easy: [one, two",
            "easy: [one, tow",
            "asked.yaml",
            5,
            "each of these once: one, two, three",
        ),
        ("easy: [one, two", "eazy: [one, two", "asked.yaml", 5, "'eazy' is not a level of start"),
        ("order: {by: start", "order: {by: strat", "asked.yaml", 5, "there is no variable 'strat'"),
        ("order: {by: start", "order: {bye: start", "asked.yaml", 5, "unknown key 'bye'"),
    ],
)
def test_a_mistake_in_an_order(
    tmp_path: Path, old: str, new: str, file: str, line: int, said: str
) -> None:
    told = {
        (Path(fault.file).name, fault.line): f"{fault.key}: {fault.what}"
        for error in look_at(write(tmp_path, (old, new))).errors
        for fault in faults_of(error)
    }
    assert list(told) == [(file, line)], told
    assert said in told[file, line]
