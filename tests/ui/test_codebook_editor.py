"""A codebook made by clicking, in its window and from the coding window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from labapp.coding.annotations.codebook import codebooks_of, read
from labapp.coding.annotations.store import annotations_of, history_of, open_marks
from labapp.record.journal.opening import open_record
from labapp.ui import theme
from labapp.ui.replay.codebook_editor import CodebookEditor
from labapp.ui.replay.coding import open_coding
from labapp.ui.replay.coding_state import CodingRequest
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session

PATIENCE_MS = 30_000


@pytest.fixture
def session(tmp_path: Path) -> Path:
    made = golden_session(tmp_path / "data")
    add_units(made)
    return made


@pytest.fixture
def study(session: Path) -> Path:
    add_codebook(session.parent)
    return session.parent


def opened(study: Path, qtbot: QtBot) -> CodebookEditor:
    editor = CodebookEditor(theme.LIGHT, study)
    qtbot.addWidget(editor, before_close_func=lambda made: made.close_without_asking())
    editor.show_form()
    qtbot.waitUntil(lambda: editor._uses is not None, timeout=PATIENCE_MS)
    return editor


@pytest.fixture
def editor(study: Path, qtbot: QtBot) -> Iterator[CodebookEditor]:
    made = opened(study, qtbot)
    yield made
    made.close_without_asking()


def choose(editor: CodebookEditor, code: str) -> None:
    editor.table.selectRow([each.id for each in editor.codes].index(code))


def typed(field: object, text: str) -> None:
    field.setFocus()  # type: ignore[attr-defined]
    field.selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(field, text)  # type: ignore[call-overload]
    QTest.keyClick(field, Qt.Key.Key_Return)  # type: ignore[call-overload]


def test_a_code_is_renamed_coloured_and_given_a_key(editor: CodebookEditor, study: Path) -> None:
    before = read(study / "codebook.yaml")
    choose(editor, "goal")
    typed(editor.name, "Aims at something")
    typed(editor.key, "a")
    typed(editor.when, "knows where to")
    editor.colour.setCurrentIndex(5)
    editor.colour.activated.emit(5)
    assert read(study / "codebook.yaml") == before  # not before it is saved
    assert editor.go.isEnabled()
    editor.go.click()
    (book,) = codebooks_of(study)
    code = book.code("goal")
    assert code is not None
    assert (code.name, code.key, code.when, code.colour) == (
        "Aims at something", "a", "knows where to", "#56B4E9",
    )  # fmt: skip
    assert book.version == before.version + 1
    assert editor.state.text() == f"Saved as version {book.version}: 4 changes."
    assert not editor.go.isEnabled()


def test_codes_and_groups_are_added_by_keys(editor: CodebookEditor, study: Path) -> None:
    typed(editor.new_name, "Gives up")
    assert editor.model.rows[-1][1] == "Gives up"
    editor.group.setCurrentIndex(editor.group.count() - 1)  # a new one
    editor.add_code.click()
    assert "Type a name" in editor.state.text()
    editor.new_name.setText("Looks away")
    editor.add_code.click()
    assert "title of the new tier" in editor.state.text()
    editor.new_group.setText("Body")
    editor.kind.setCurrentIndex(editor.kind.findData("spans"))
    editor.add_code.click()
    editor.go.click()
    (book,) = codebooks_of(study)
    assert book.tier("body").on == "spans"  # type: ignore[union-attr]
    assert book.code("looks_away").tier == "body"  # type: ignore[union-attr]


def test_a_key_that_is_taken_is_refused_with_why(editor: CodebookEditor) -> None:
    choose(editor, "goal")
    typed(editor.key, "e")
    assert "is already the key of" in editor.state.text()
    assert editor.key.text() == "G"
    assert not editor.go.isEnabled()


def test_only_what_was_never_given_is_deleted(session: Path, study: Path, qtbot: QtBot) -> None:
    unit = annotations_of(open_record(session)).segmentation.units[0].id
    with open_marks(session, "anna", read(study / "codebook.yaml")) as marks:
        marks.give("goal", unit=unit)
    editor = opened(study, qtbot)
    choose(editor, "goal")
    assert not editor.delete.isEnabled()
    editor.retire.click()
    assert editor.model.rows[editor.selected() or 0][1] == "Has a goal (no longer used)"
    editor.retire.click()
    choose(editor, "random")
    assert editor.delete.isEnabled()
    editor.delete.click()
    editor.go.click()
    assert read(study / "codebook.yaml").code("random") is None
    editor.close_without_asking()


def test_what_was_coded_follows_a_merge_and_says_so(session: Path, study: Path,
                                                    qtbot: QtBot) -> None:  # fmt: skip
    units = annotations_of(open_record(session)).segmentation.units
    book = read(study / "codebook.yaml")
    for rater in ("anna", "ben"):
        with open_marks(session, rater, book) as marks:
            marks.give("goal", unit=units[0].id, memo="mine")
            if rater == "ben":
                marks.set_status("done")
    coding = open_coding(session, CodingRequest("anna"))
    editor = opened(study, qtbot)
    editor.saved.connect(coding.use)
    choose(editor, "goal")
    editor.into.setCurrentIndex(editor.into.findData("explore"))
    editor.merge.click()
    assert "2 marks" in editor.question.text()
    editor.yes.click()
    editor.go.click()
    (mark,) = coding.marks.all
    assert (mark.code, mark.memo, mark.codebook) == ("explore", "mine", coding.codebook.sha256)
    assert not coding.find_outdated()
    coding.undo()
    assert [each.code for each in coding.marks.all] == ["goal"]
    coding.redo()
    coding.close()
    ben = annotations_of(open_record(session)).raters["ben"]
    assert [each.code for each in ben.marks] == ["goal"]  # who is done is not changed
    assert any("(followed)" in str(step) for step in history_of(open_record(session), "anna"))
    later = open_coding(session, CodingRequest("ben"))
    later.follow_codebook()
    assert [each.code for each in later.marks.all] == ["goal"]
    later.set_done(False)
    later.follow_codebook()
    assert [each.code for each in later.marks.all] == ["explore"]
    later.close()
    editor.close_without_asking()


def test_nothing_unsaved_is_lost_without_a_question(editor: CodebookEditor, study: Path) -> None:
    before = (study / "codebook.yaml").read_text()
    choose(editor, "goal")
    typed(editor.name, "Other")
    assert not editor.close()
    assert editor.asked.isVisible()
    editor.no.click()
    assert editor.isVisible()
    editor.close()
    editor.yes.click()
    assert not editor.isVisible()
    assert (study / "codebook.yaml").read_text() == before


@pytest.mark.parametrize("begin", ["think-aloud", ""])
def test_a_study_without_a_codebook_gets_one(session: Path, qtbot: QtBot, begin: str) -> None:
    editor = opened(session.parent, qtbot)
    assert "no codebook yet" in editor.state.text()
    assert not editor.add_code.isEnabled()
    editor.begin.setCurrentIndex(editor.begin.findData(begin))
    editor.start.click()
    (book,) = codebooks_of(session.parent)
    assert len(editor.codes) == len(book.codes) > 0
    assert not editor.starting.isVisible()
    editor.close_without_asking()
