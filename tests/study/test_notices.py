"""What is in order in a study, and still worth a word to its author."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.study.overview import check, notices
from labapp.study.plan import Plan
from tests.study.test_refusals import GOOD, refused, write


def told(study: str | Path) -> list[str]:
    return notices(check(study))


def test_a_name_that_nothing_fills_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thanks.md").write_text("Thanks.\n\n{nmae}, twice {nmae}!", "utf-8")
    said = refused(tmp_path, GOOD.replace("texts/{language}/debrief.md", "thanks.md"))
    assert "thanks.md, line 3, {nmae}: nothing is filled in for it in the part 'debrief'" in said


@pytest.mark.parametrize(("solved", "nobody"), [(3, False), (6, False), (7, True)])
def test_more_to_be_solved_than_is_asked_is_refused(
    tmp_path: Path, solved: int, nobody: bool
) -> None:
    text = GOOD.replace("version: 1", f"version: 1\ninclusion: {{min_solved: {solved}}}")
    if not nobody:
        assert told(write(tmp_path, text)) == []
        return
    said = refused(tmp_path, text)
    assert f"line 4, inclusion.min_solved: nobody would count: it is {solved}" in said


@pytest.mark.parametrize(("study", "notice"), [("mnist-crowd", False), ("mnist-crwod", True)])
def test_a_published_study_that_is_not_known_is_told(
    tmp_path: Path, study: str, notice: bool
) -> None:
    repeated = f'version: 1\nreplicates: {{paper: "000", study: {study}, run: crowd}}'
    lines = told(write(tmp_path, GOOD.replace("version: 1", repeated)))
    assert [f"nothing is known here of {study} (000)" in line for line in lines] == (
        [True] if notice else []
    )


@pytest.mark.parametrize(
    ("stages", "rules"),
    [
        ("models: [sinelines/gt, sinelines/vae]", []),
        ("models: [sinelines/gt, mnist8k/ae5]", ["sinelines: sinelines/gt", ": mnist8k/ae5"]),
        ("models: [sinelines/gt, mnist8k/ae5], distance: mse", []),
    ],
)
def test_models_whose_questions_are_solved_by_different_rules_are_told(
    tmp_path: Path, stages: str, rules: list[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\nflow:\n"
        f"- stages: {{task: reconstruction, {stages}, trials: 1, target_alignment: 0.9}}\n"
    )
    plans: list[Plan] = []
    told = [line for line in notices(check(path, plans=plans), plans) if "different rules" in line]
    assert len(told) == bool(rules)
    assert [rule in line for line in told for rule in rules] == [True] * len(rules)
