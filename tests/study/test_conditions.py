"""Variables of a study: by participant number, drawn, and where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import StudyError
from labapp.study import conditions, loading, planner
from labapp.study.overview import check, prior_of, space_of
from labapp.study.plan import BreakPart, Plan
from labapp.study.plugins.part import RepresentationPart
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from tests.helpers.beside import put_beside

STUDY = """
id: mine
title: Mine
version: 1
assignment:
  kind: {odd: vae, even: ae}
  condition:
    draw: 2
    included: 1
    cells:
      a: {task: reconstruction, dataset: sinelines}
      b: {task: traversals, dataset: dsprites}
      c: {task: exemplars, dataset: dsprites}
incentive: {text: "texts/{language}/debrief.md", base: 3.75, per_solved: 0.1}
flow:
  - consent: texts/{language}/consent.md
  - each: condition
    flow:
      - tutorial: reconstruction
        only_if: {task: reconstruction}
      - stages: {task: reconstruction, models: ["{dataset}/{kind}"], trials: 2}
        only_if: {task: reconstruction}
      - stages: {task: single-dimension, visualisation: traversals, models: ["{dataset}/vae"]}
        only_if: {task: [traversals, exemplars]}
  - break: texts/{language}/debrief.md
    at_least_s: 30
  - debrief: texts/{language}/debrief.md
"""


def write(tmp_path: Path, text: str = STUDY) -> Path:
    path = tmp_path / "mine.yaml"
    put_beside(tmp_path)
    path.write_text(text)
    return path


def planned(path: Path, participant: str, *drawn: str) -> Plan:
    return planner.realise(
        loading.load(path), participant, space_of=space_of, prior_of=prior_of, drawn=drawn
    )


def stages(made: Plan) -> list[RepresentationPart]:
    return [part for part in made.parts if isinstance(part, RepresentationPart)]


def test_each_drawn_cell_is_gone_through_with_its_variables(tmp_path: Path) -> None:
    path = write(tmp_path)
    check(path)
    odd, even = planned(path, "P01", "b", "a"), planned(path, "P02", "a", "c")
    assert [part.model for part in stages(odd)] == ["dsprites/vae", "sinelines/vae"]
    assert [part.model for part in stages(even)] == ["sinelines/ae", "dsprites/vae"]
    assert isinstance(stages(odd)[0], SingleDimensionPart)
    assert [(part.number, part.of) for part in stages(odd)] == [(1, 2), (2, 2)]
    assert odd.assignment == {
        "number": 1,
        "kind": "vae",
        "condition": ["b", "a"],
        "models": ["dsprites/vae", "sinelines/vae"],
    }
    ids = [part.id for part in odd.parts]
    assert ids == [
        "consent",
        "incentive",
        "stage-1-intro",
        "stage-1",
        "tutorial",
        "stage-2-intro",
        "stage-2",
        "break-1",
        "debrief",
    ]
    assert isinstance(rest := odd.parts[-2], BreakPart)
    assert rest.at_least_s == 30


def test_amounts_are_filled_in(tmp_path: Path) -> None:
    part = planned(write(tmp_path), "P01", "a", "b").parts[1]
    assert getattr(part, "values", None) == {
        "base": "$3.75",
        "per_solved": "$0.10",
        "per_correct": "",
        "per_above_chance": "",
    }


def test_every_condition_is_among_the_variants(tmp_path: Path) -> None:
    rules = loading.load(write(tmp_path)).study.assignment
    shown = set(conditions.variants(rules))
    assert {number for number, _ in shown} == {1, 2}
    assert {cell for _, cells in shown for cell in cells} == {"a", "b", "c"}
    assert all(len(set(cells)) == 2 for _, cells in shown)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("each: condition", "each: cond", "the drawn variable is 'condition'"),
        ("{dataset}/vae", "{data}/vae", "there is no variable 'data' here"),
        ("{task: reconstruction}\n      - stages", "{tusk: 1}\n      - stages", "'tusk'"),
        ("{task: reconstruction}\n      - stages", "{task: r}\n      - stages", "is never 'r'"),
        ("[traversals, exemplars]", "[traversals, exemplar]", "task is never 'exemplar'"),
        ("at_least_s: 30", "only_if: {task: exemplars}", "no variable 'task' here"),
        ("at_least_s: 30", "only_if: {condition: a}", "no variable 'condition' here"),
        (
            "at_least_s: 30",
            "only_if: {kind: ea}",
            "line 26, only_if: kind is never 'ea'; it is one of: 'vae'",
        ),
        ("draw: 2", "draw: 4", "a draw of at most 3, as many as there are cells"),
        ("included: 1", "included: 0", "assignment.condition.included: found 0; allowed"),
        ("c: {task: exemplars, dataset", "c: {task: exemplars, data", "the same variables"),
        ("kind: {odd", "task: {odd", "names that are not taken; 'task' is"),
        ("kind: {odd", "language: {odd", "names that are not taken; 'language' is"),
    ],
)
def test_wrong_variables_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = STUDY.replace(old, new)
    assert text != STUDY
    with pytest.raises(StudyError) as refused:
        check(write(tmp_path, text))
    assert said in str(refused.value)


def test_what_is_drawn_once_is_known_in_the_whole_flow(tmp_path: Path) -> None:
    text = STUDY.replace("draw: 2", "draw: 1")
    path = write(tmp_path, text.replace("at_least_s: 30", "only_if: {task: exemplars, kind: ae}"))
    check(path)
    asked = {
        (label, cell): any(isinstance(part, BreakPart) for part in planned(path, label, cell).parts)
        for label in ("P01", "P02")
        for cell in "abc"
    }
    assert [key for key, found in asked.items() if found] == [("P02", "c")]


def test_a_condition_matches_by_value_or_by_several() -> None:
    scope: conditions.Scope = {"task": "a", "n": 5}
    assert conditions.matches({}, scope)
    assert conditions.matches({"task": "a", "n": (4, 5)}, scope)
    assert not conditions.matches({"task": ("b", "c")}, scope)
