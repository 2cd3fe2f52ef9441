"""The recipe "add a language"."""

from __future__ import annotations

from pathlib import Path

from labapp.study.loading import load
from labapp.ui.strings import strings_of
from tests.recipes.conftest import Follow


def test_a_study_speaks_another_language_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("language"):
        assert list((tmp_path / "screens").glob("*.png"))
        words = strings_of(load(tmp_path / "studie.yaml"))
    assert words("question_of", number=1, of=2) == "Vraag 1 van 2"
    assert words.number("1.5") == "1,5"
