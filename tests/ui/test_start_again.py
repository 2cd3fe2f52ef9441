"""A session that an older labapp began goes on in windows, and a study as incomplete is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from labapp.base.errors import StudyError
from labapp.base.resources import assets
from labapp.session.folder import SessionFolder
from labapp.study.loading import load
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_again, open_new
from tests.session.sessions import begin_session


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A copy of the quick start whose words are those of a version without `finish`."""
    made = tmp_path / "study" / "quickstart.yaml"
    for name, content in load("quickstart").files.items():
        (made.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (made.parent / name).write_bytes(content)
    words = made.parent / "texts" / "en" / "participant.yaml"
    words.write_text(words.read_text().replace("finish: Finish\n", ""))
    own = 'words: ["texts/{language}/participant.yaml"]'
    made.write_text(made.read_text().replace("version: 1\n", f"version: 1\n{own}\n", 1))
    return made


def test_a_session_begun_with_fewer_words_goes_on(
    tmp_path: Path, study: Path, qapp: QApplication
) -> None:
    options = RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")
    with pytest.raises(StudyError, match="lacks the words for finish"):
        open_new(str(study), "P01", "1", options)

    begun = begin_session(tmp_path, study=study)
    begun.close("the program was closed")
    copied = SessionFolder(begun.folder.path).study / "texts" / "en" / "participant.yaml"
    before = copied.read_bytes()

    again = open_again(begun.folder.path, options)
    controller = SessionController(again, options)
    try:
        assert controller.participant.session.words("finish") == "Finish"
    finally:
        controller._end()
    assert copied.read_bytes() == before
    assert b"finish:" not in before
    assert b"finish:" in (assets() / "texts" / "en" / "participant.yaml").read_bytes()
