"""The title of a study, read without the rest of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.study import loading


@pytest.mark.parametrize("path", loading.installed(), ids=lambda path: path.stem)
def test_every_shipped_study_has_the_title_that_it_has_when_it_is_loaded(path: Path) -> None:
    assert loading.title_of(path) == loading.load(path).study.title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("flow: [{title: inner}]\nsettings: {title: also}\ntitle: 'Mine: 2'\n", "Mine: 2"),
        ("id: title\nversion: 1\n", ""),
        ("title: Mine\nflow: [\n", "Mine"),
        ("title: [1, 2]\n", ""),
        ("- title: Mine\n", ""),
        ("\t: ]", ""),
        ("", ""),
    ],
)
def test_it_is_the_title_of_the_file_itself(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert loading.title_of(path) == title
    assert loading.title_of(tmp_path / "none.yaml") == ""
