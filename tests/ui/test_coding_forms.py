"""Windows of the *Coding* page: raters and locks, speakers, differences, videos, reels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from labapp.coding.annotations.codebook import read
from labapp.coding.annotations.rounds import study_status
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex
from labapp.session.replay.lanes import retrieve
from labapp.ui import language, theme
from labapp.ui.moderator import bits
from labapp.ui.researcher.coding_forms import (
    RatersForm,
    ReelForm,
    SettleForm,
    SpeakersForm,
    VideosForm,
    lines_of_raters,
)
from labapp.ui.researcher.coding_page import CodingPage
from labapp.ui.researcher.controller import CodingWork
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session

PATIENCE_MS = 60_000


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A study with a session that two raters coded, and not alike."""
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session)
    codebook = read(session.parent / "codebook.yaml")
    units = annotations_of(open_record(session)).segmentation.units
    for rater, codes in (("anna", ("explore", "goal")), ("ben", ("explore", "explore"))):
        with open_marks(session, rater, codebook) as marks:
            for unit, code in zip(units, codes, strict=False):
                marks.give(code, unit=unit.id)
    return session


@pytest.fixture
def work(coded: Path, qtbot: QtBot) -> Iterator[CodingWork]:
    page = CodingPage(theme.LIGHT)
    qtbot.addWidget(page)
    made = CodingWork(page)
    made.set_shown(True)
    page.show()
    made.set_sessions(SessionIndex(coded.parent.parent).read(lambda so_far: None))
    page.rater.setText("anna")
    qtbot.waitUntil(lambda: bool(page.model.rows), timeout=PATIENCE_MS)
    page.table.selectRow(0)
    yield made
    made.stop()


def status_of(coded: Path, rater: str) -> str:
    (row,) = study_status(coded.parent)
    return next(each.independent for each in row.raters if each.rater == rater)


def test_what_is_missing_is_asked_before_a_coding_is_done(work: CodingWork, coded: Path,
                                                          qtbot: QtBot) -> None:  # fmt: skip
    work.page.raters_form.click()
    form = work.form
    assert isinstance(form, RatersForm)
    assert [line.rater for line in form.lines] == ["anna", "ben"]
    assert form.model.rows[0][1] == "1"
    assert form.done.isEnabled()
    assert not form.lock.isEnabled()
    form.done.click()
    assert form.asked.isVisible()
    assert "units without a code" in form.question.text()
    assert form.no.hasFocus()  # Enter answers no
    QTest.keyClick(form.no, Qt.Key.Key_Space)
    assert status_of(coded, "anna") == "draft"
    form.done.click()
    form.yes.click()
    qtbot.waitUntil(lambda: bool(form.lines) and bool(form.lines[0].done), timeout=PATIENCE_MS)
    assert status_of(coded, "anna") == "done"
    assert form.state.text() == "1 session changed, with 2 codes."


def test_done_is_undone_and_locked_is_not(work: CodingWork, coded: Path, qtbot: QtBot) -> None:
    work.page.raters_form.click()
    form = work.form
    assert isinstance(form, RatersForm)

    def until(place: str) -> None:
        qtbot.waitUntil(
            lambda: bool(getattr(form.lines[0], place)) and not form._busy, timeout=PATIENCE_MS
        )

    def be_done() -> None:
        form.done.click()
        form.yes.click()
        until("done")

    be_done()
    form.reopen.click()
    until("draft")
    assert status_of(coded, "anna") == "draft"
    be_done()
    form.lock.click()
    assert "cannot be undone" in form.question.text()
    form.yes.click()
    until("locked")
    assert status_of(coded, "anna") == "locked"
    assert not any(button.isEnabled() for button in (form.done, form.reopen, form.lock))


def test_a_program_is_named_as_one_and_is_not_locked(thinking_aloud: Path, qtbot: QtBot) -> None:
    sessions = list(study_status(thinking_aloud.parent))
    (line,) = lines_of_raters(sessions)
    assert line.program
    form = RatersForm(theme.LIGHT, thinking_aloud.parent)
    qtbot.addWidget(form)
    form.set_sessions(sessions)
    assert form.model.rows[0][0] == "simulated (a program)"
    assert not form.done.isEnabled()
    raters = {each.raters for each in retrieve(thinking_aloud.parent).stretches if each.code}
    assert raters == {("simulated",)}


def test_who_speaks_is_said_by_clicks(work: CodingWork, coded: Path, qtbot: QtBot) -> None:
    work.page.speakers.click()
    form = work.form
    assert isinstance(form, SpeakersForm)
    qtbot.waitUntil(lambda: len(form.units) == 7, timeout=PATIENCE_MS)
    form.table.selectRow(2)
    assert not form.who["participant"].isEnabled()
    form.who["other"].click()
    qtbot.waitUntil(lambda: "changes wait" in form.state.text() or "change" in form.state.text(),
                    timeout=PATIENCE_MS)  # fmt: skip
    now = annotations_of(open_record(coded)).segmentation
    assert len(now.proposals) == 1  # the units are frozen: it waits
    assert form.units[2].speaker == "participant"


def test_a_difference_is_settled_with_a_reason(work: CodingWork, coded: Path,
                                               qtbot: QtBot) -> None:  # fmt: skip
    from labapp.coding.annotations.rounds import close

    close(coded.parent, (), "done")
    close(coded.parent)
    work.page.settle.click()
    form = work.form
    assert isinstance(form, SettleForm)
    qtbot.waitUntil(lambda: bool(form.differences), timeout=PATIENCE_MS)
    assert form.model.rows[0][3] == "anna: Has a goal; ben: Exploring"
    qtbot.waitUntil(lambda: form.settle.isEnabled(), timeout=PATIENCE_MS)
    form.settle.click()
    qtbot.waitUntil(lambda: "reason" in form.state.text().lower(), timeout=PATIENCE_MS)
    assert not annotations_of(open_record(coded)).settlements
    QTest.keyClicks(form.reason, "it is an aim")
    QTest.keyClick(form.reason, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(form.model.rows[0][4]), timeout=PATIENCE_MS)
    (settled,) = annotations_of(open_record(coded)).settlements
    assert (settled.by, settled.reason) == ("anna", "it is an aim")
    assert [mark.code for mark in settled.marks] == ["goal"]


def test_unlocked_coding_is_named_where_differences_are_settled(work: CodingWork,
                                                                qtbot: QtBot) -> None:  # fmt: skip
    work.page.settle.click()
    form = work.form
    assert isinstance(form, SettleForm)
    qtbot.waitUntil(lambda: "not locked" in form.state.text(), timeout=PATIENCE_MS)
    assert not form.settle.isEnabled()


def test_videos_are_refused_with_what_to_do(work: CodingWork, tmp_path: Path, qtbot: QtBot,
                                            monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    work.page.videos.click()
    form = work.form
    assert isinstance(form, VideosForm)
    assert not form.remove.isEnabled()
    film = tmp_path / "film.mp4"
    film.write_bytes(b"none")
    monkeypatch.setattr(
        "labapp.ui.moderator.bits.QFileDialog.getOpenFileName",
        lambda *_: (str(film), ""),
    )
    form.new.click()
    assert form.stop.isVisible()  # it can be stopped
    qtbot.waitUntil(lambda: "was not asked for a video" in form.state.text(), timeout=PATIENCE_MS)
    assert not form.stop.isVisible()


def test_a_reel_is_asked_for_by_what_is_shown(coded: Path, tmp_path: Path, qtbot: QtBot) -> None:
    stretches = [each for each in retrieve(coded.parent).stretches if each.code == "goal"]
    book = read(coded.parent / "codebook.yaml")
    form = ReelForm(theme.LIGHT, coded.parent, stretches, book, "goal", {"model": "vae"})
    qtbot.addWidget(form)
    form.show_form()
    made = form.arguments(tmp_path / "reel.wav")
    assert made[:3] == ["code", "reel", str(coded.parent)]
    assert "Has a goal" in Path(made[4]).read_text("utf-8")
    quotes = form.arguments(tmp_path / "quotes.html")
    assert quotes[-4:] == ["--code", "goal", "--where", "model=vae"]
    reel = {"stretches": 1, "file": "/r.wav", "duration_s": 1.5, "left_out": []}
    assert form.describe(json.dumps(reel)) == "1 stretch, 1.5 s: /r.wav"
    language.speak("de")
    try:
        reel["left_out"] = [{"session": "s", "why": "its participant withdrew"}]
        told = form.describe(json.dumps(reel)).splitlines()
    finally:
        language.speak("en")
    assert told[1].endswith("s: die Person hat ihre Teilnahme zurückgezogen")
    form.close()
    assert not Path(made[4]).exists()


def test_a_clip_is_made_of_the_row_that_is_chosen(
    work: CodingWork, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = work.page.units
    work.page.tabs[1].click()
    qtbot.waitUntil(lambda: view.model.rowCount() > 0, timeout=PATIENCE_MS)
    assert not view.clip.isEnabled()
    view.table.selectRow(0)
    view.clip.click()
    form = work.form
    assert isinstance(form, ReelForm)
    monkeypatch.setattr(bits, "ask_new_path", lambda *_: tmp_path / "clip")
    form.go.click()
    qtbot.waitUntil(lambda: form.go.isEnabled(), timeout=PATIENCE_MS)
    assert form.state.text() == f"1 stretch, 4.5 s: {tmp_path / 'clip.wav'}"
    assert (tmp_path / "clip.csv").is_file()
    form.go.click()  # nothing is written over
    qtbot.waitUntil(lambda: "exists already" in form.state.text(), timeout=PATIENCE_MS)
    assert form.go.isEnabled()


def test_what_comes_back_from_another_computer_is_taken_into_the_study(
    work: CodingWork, tmp_path: Path, qtbot: QtBot
) -> None:
    bad = tmp_path / "ben.zip"
    bad.write_bytes(b"no pack")
    work.page.receive_requested.emit(bad)
    # The command knows which study: what it says is about the file.
    qtbot.waitUntil(lambda: "ben.zip" in work.page.about.text(), timeout=PATIENCE_MS)
    assert "--study" not in work.page.about.text()


def test_menus_hold_what_is_rarely_done(work: CodingWork) -> None:
    page = work.page
    for menu, entries in page._menus.items():
        menu.click()
        (shown,) = page.findChildren(QMenu)
        actions: list[QAction] = shown.actions()
        assert [action.text() for action in actions] == [entry.text() for entry in entries]
        assert [a.isEnabled() for a in actions] == [entry.isEnabled() for entry in entries]
        shown.close()
        shown.deleteLater()
        flush: Callable[[], None] = menu.setFocus
        flush()
        QTest.qWait(20)


def test_files_are_checked_from_the_page(work: CodingWork, qtbot: QtBot) -> None:
    work.page.check.click()
    assert work.page.working.isVisible()
    qtbot.waitUntil(lambda: not work.page.working.isVisible(), timeout=PATIENCE_MS)
    assert work.page.about.text()
