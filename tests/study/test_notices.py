"""What is in order in a study, and still worth a word to its author."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.study.overview import check, notices
from labapp.study.plan import Plan
from tests.study.test_refusals import GOOD, write


def told(study: str | Path) -> list[str]:
    plans: list[Plan] = []
    return notices(check(study, plans=plans), plans)


def test_a_name_that_nothing_fills_in_is_told(tmp_path: Path) -> None:
    (tmp_path / "thanks.md").write_text("Thanks, {nmae}, twice {nmae}!", "utf-8")
    study = write(tmp_path, GOOD.replace("texts/{language}/debrief.md", "thanks.md"))
    (line,) = told(study)
    assert "thanks.md: nothing is filled in for {nmae} in the part 'debrief'" in line


@pytest.mark.parametrize(("solved", "notice"), [(3, False), (6, False), (7, True)])
def test_more_to_be_solved_than_is_asked_is_told(tmp_path: Path, solved: int, notice: bool) -> None:
    inclusion = f"version: 1\ninclusion: {{min_solved: {solved}}}"
    lines = told(write(tmp_path, GOOD.replace("version: 1", inclusion)))
    assert [f"min_solved is {solved}, and the stages ask 6" in line for line in lines] == (
        [True] if notice else []
    )


@pytest.mark.parametrize(("study", "notice"), [("mnist-crowd", False), ("mnist-crwod", True)])
def test_a_published_study_that_is_not_known_is_told(
    tmp_path: Path, study: str, notice: bool
) -> None:
    repeated = f'version: 1\nreplicates: {{paper: "000", study: {study}, run: crowd}}'
    lines = told(write(tmp_path, GOOD.replace("version: 1", repeated)))
    assert [f"nothing is known here of {study} (000)" in line for line in lines] == (
        [True] if notice else []
    )
