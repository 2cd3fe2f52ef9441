"""Exchange with other tools in the coding window: what goes out, and what a file changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from labapp.coding.annotations.store import annotations_of
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex
from labapp.ui import theme
from labapp.ui.language import speak
from labapp.ui.moderator import bits
from labapp.ui.replay.coding import Coding, open_coding
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import open_coding_window
from labapp.ui.replay.exchange_panel import (
    Bench,
    ExchangePanel,
    ExchangeWork,
    ExportWanted,
    ImportWanted,
    taker_of,
)
from labapp.ui.researcher.coding_page import CodingPage
from labapp.ui.researcher.controller import CodingWork
from tests.helpers.exchanged import exchanged_session, marks_in
from tests.helpers.refi import parts


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return exchanged_session(tmp_path / "data")


@pytest.fixture
def coding(session: Path) -> Iterator[Coding]:
    opened = open_coding(session, CodingRequest("anna"))
    yield opened
    opened.close()


@pytest.fixture
def work(coding: Coding, qtbot: QtBot) -> Iterator[ExchangeWork]:
    panel = ExchangePanel(theme.LIGHT)
    qtbot.addWidget(panel)

    def bench() -> Bench:
        return Bench(coding.files.session, "anna", coding.codebook.id, coding.request.round)

    made = ExchangeWork(panel, bench, taker_of(coding))
    made.show()
    yield made
    made.close()


@contextmanager
def open_coding_of(session: Path) -> Iterator[Coding]:
    opened = open_coding(session, CodingRequest("ben"))
    try:
        yield opened
    finally:
        opened.close()


def done(work: ExchangeWork, qtbot: QtBot) -> list[tuple[str, str, str]]:
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    return [(row.what, row.when, row.about) for row in work.panel.model.rows]


def export(work: ExchangeWork, qtbot: QtBot, out: Path) -> Path:
    work.panel.export_requested.emit(ExportWanted("eaf", "none", out))
    done(work, qtbot)
    assert out.is_file()
    return out


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text("utf-8")
    assert old in text
    copy = path.with_name("edited.eaf")
    copy.write_text(text.replace(old, new, 1), "utf-8")
    return copy


def test_what_is_written_and_what_is_not_in_it_is_told(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path
) -> None:
    out = tmp_path / "out.srt"
    work.panel.export_requested.emit(ExportWanted("srt", "none", out))
    lines = done(work, qtbot)
    assert ("file", "", str(out)) in lines
    assert any(what == "not included" and "codes" in about for what, _, about in lines)
    assert work.panel.state.text().startswith("Written: ")
    work.panel.export_requested.emit(ExportWanted("srt", "none", out))
    assert done(work, qtbot) == []
    assert "already exists" in work.panel.state.text()


def test_a_file_changes_what_was_told_and_only_after_a_click(
    work: ExchangeWork, coding: Coding, session: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    out = export(work, qtbot, tmp_path / "out.eaf")
    panel = work.panel
    panel.import_requested.emit(ImportWanted(out))
    assert done(work, qtbot) == []
    assert "would change nothing" in panel.state.text()
    assert panel.foot.isHidden()
    before, texts = marks_in(session), dict(coding.files.texts)
    unit = next(u.id for u in coding.units if u.id in texts and texts[u.id].text)
    words = texts[unit].text
    panel.import_requested.emit(ImportWanted(edited(out, words, f"{words} indeed")))
    lines = done(work, qtbot)
    assert [what for what, *_ in lines] == ["words written"]
    assert "Nothing has changed yet" in panel.state.text()
    assert dict(coding.files.texts) == texts
    panel.accept_.click()
    assert done(work, qtbot) == []
    assert "1 change was made" in panel.state.text()
    assert coding.files.texts[unit].text == f"{words} indeed"
    assert marks_in(session) == before
    coding.undo()
    assert coding.files.texts[unit].text == words
    coding.redo()
    coding.files.rest()
    known = annotations_of(open_record(session)).texts
    assert known[unit].text == f"{words} indeed"


def test_what_was_changed_since_is_told_anew(
    work: ExchangeWork, coding: Coding, qtbot: QtBot, tmp_path: Path
) -> None:
    out = export(work, qtbot, tmp_path / "out.eaf")
    texts = dict(coding.files.texts)
    unit = next(u.id for u in coding.units if u.id in texts and texts[u.id].text)
    words = texts[unit].text
    work.panel.import_requested.emit(ImportWanted(edited(out, words, f"{words} indeed")))
    done(work, qtbot)
    coding.set_text(unit, "something else")
    work.panel.accept_.click()
    done(work, qtbot)
    assert "has changed here" in work.panel.state.text()
    assert coding.files.texts[unit].text == "something else"


def test_a_coding_that_is_done_takes_no_codes(
    work: ExchangeWork, coding: Coding, session: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    table = tmp_path / "codes.csv"
    mark = next(iter(coding.marks.all))
    table.write_text(
        "tier,code,onset_s,offset_s,text,memo\n"
        f"{mark.tier},{mark.code},{mark.t0_ns / 1e9},{mark.t1_ns / 1e9},,a remark\n",
        "utf-8",
    )
    coding.set_done(True)
    before = marks_in(session)
    work.panel.import_requested.emit(ImportWanted(table))
    assert done(work, qtbot)
    work.panel.accept_.click()
    done(work, qtbot)
    assert "This coding is done" in work.panel.state.text()
    assert marks_in(session) == before


def test_what_cannot_be_read_is_said_in_words(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.eaf"
    broken.write_bytes(b"<ANNOTATION_DOCUMENT>")
    work.panel.import_requested.emit(ImportWanted(broken))
    assert done(work, qtbot) == []
    assert "broken.eaf cannot be read" in work.panel.state.text()
    assert work.panel.foot.isHidden()


def test_files_are_asked_for_by_the_windows_own_dialogs(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = work.panel
    panel.set_sounds(["segment-01.wav", "segment-02.wav"])
    asked: list[str] = []

    def saved(parent: object, title: str, at: str, *more: object) -> tuple[str, str]:
        asked.append(Path(at).name)
        return str(tmp_path / "chosen"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", saved)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "in.eaf"), ""))
    with qtbot.waitSignal(panel.export_requested) as wanted:
        panel.go_out.click()
    assert wanted.args == [ExportWanted("eaf", "linked", tmp_path / "chosen")]
    done(work, qtbot)
    panel.sound.setCurrentIndex(panel.sound.findData("none"))
    with qtbot.waitSignal(panel.export_requested) as wanted:
        panel.go_out.click()
    assert wanted.args == [ExportWanted("eaf", "none", tmp_path / "chosen.eaf")]
    done(work, qtbot)
    assert asked[0] == asked[1].removesuffix(".eaf")
    with qtbot.waitSignal(panel.import_requested) as wanted:
        panel.come_in.click()
    # Words go into units that are frozen.
    assert wanted.args == [ImportWanted(tmp_path / "in.eaf", words_only=True)]
    done(work, qtbot)


def test_a_project_goes_out_with_its_sound_inside_and_comes_in(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path
) -> None:
    panel = work.panel

    def sounds() -> list[str]:
        return [panel.sound.itemText(place) for place in range(panel.sound.count())]

    before = sounds()
    panel.format.setCurrentIndex(panel.format.findData("qdpx"))
    panel.format.activated.emit(panel.format.currentIndex())
    assert sounds() == ["Sound included", "Sound as one file", "Without sound"]
    panel.format.setCurrentIndex(panel.format.findData("eaf"))
    panel.format.activated.emit(panel.format.currentIndex())
    assert sounds() == before
    out = tmp_path / "out.qdpx"
    panel.export_requested.emit(ExportWanted("qdpx", "linked", out))
    assert ("file", "", str(out)) in done(work, qtbot)
    panel.import_requested.emit(ImportWanted(out))
    done(work, qtbot)
    assert panel.foot.isHidden()  # nothing would be changed


def test_a_session_is_exchanged_from_the_page_too(
    session: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    page = CodingPage(theme.LIGHT)
    qtbot.addWidget(page)
    page.show()
    work = CodingWork(page)
    work.set_shown(True)
    work.set_sessions(SessionIndex(session.parent.parent).read(lambda so_far: None))
    qtbot.waitUntil(lambda: page.model.rowCount() == 1, timeout=30_000)
    assert not page.exchange.isEnabled()
    page.rater.setText("anna")
    page.exchange.click()
    assert page.panel.isVisible()
    out = export(work.exchange, qtbot, tmp_path / "out.eaf")
    known = annotations_of(open_record(session)).texts
    words = next(text.text for text in known.values() if text.text)
    new = f"{words} indeed"
    page.panel.import_requested.emit(ImportWanted(edited(out, words, new)))
    assert [what for what, *_ in done(work.exchange, qtbot)] == ["words written"]
    with open_coding_of(session) as coding:
        assert coding.files.texts_file  # a window writes words just now
        page.panel.accept_.click()
        done(work.exchange, qtbot)
        assert "open in another window" in page.panel.state.text()
    page.panel.import_requested.emit(ImportWanted(tmp_path / "edited.eaf"))
    done(work.exchange, qtbot)
    page.panel.accept_.click()
    done(work.exchange, qtbot)
    assert "1 change was made" in page.panel.state.text()
    assert new in [text.text for text in annotations_of(open_record(session)).texts.values()]
    page.rater.setText("ben")
    assert page.panel.isHidden()
    work.stop()


@pytest.mark.parametrize("size", [(1366, 768), (900, 560)])
def test_the_card_lies_over_the_window_and_lets_it_go_on(
    size: tuple[int, int], session: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    coding = open_coding_window(session, CodingRequest("anna"))
    window, panel = coding.window, coding.panel
    window.resize(*size)
    window.open(0)
    window.activateWindow()
    QApplication.processEvents()
    try:
        assert coding.desk.bar.exchange.isVisible()
        QTest.keyClick(window, Qt.Key.Key_X, Qt.KeyboardModifier.AltModifier)
        assert panel.isVisible()
        assert not panel.isModal()
        tier = coding.coding.tier
        assert window.focusWidget() is panel.format
        QTest.keyClick(panel.format, Qt.Key.Key_Down)  # the list's, not the next tier
        assert coding.coding.tier == tier
        out = export(coding.exchange, qtbot, tmp_path / "out.eaf")
        changes = edited(out, "okay so", "okay and so")
        panel.import_requested.emit(ImportWanted(changes))
        assert done(coding.exchange, qtbot)
        QApplication.processEvents()
        assert window.rect().contains(panel.geometry())
        assert panel.rect().contains(panel.foot.geometry())
        panel.lines.picked.emit(0)
        assert window.controller.now_ns() == panel.model.rows[0].at_ns
        QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_Escape)
        assert not panel.isVisible()
    finally:
        window.close()
        window.deleteLater()


def test_the_card_speaks_german(qtbot: QtBot) -> None:
    speak("de")
    panel = ExchangePanel(theme.LIGHT)
    qtbot.addWidget(panel)
    assert panel.accept_.text() == "Übernehmen"
    assert panel.format.itemText(panel.format.findData("csv")) == "eine Tabelle (.csv)"


def test_what_is_not_brought_over_is_told_in_german(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "codes.csv"
    file.write_text(
        "tier,code,onset_s,offset_s\naffect,delighted,42,43\naffect,uncertain,400,401\n"
        "affect,uncertain,x,52\n",
        "utf-8",
    )
    speak("de")
    work.panel.import_requested.emit(ImportWanted(file))
    lines = done(work, qtbot)
    told = [about for what, _, about in lines if what == "nicht importiert"]
    assert told == [
        "Zeile 4: 'x' ist keine Zeit in Sekunden",
        "affect: delighted (die Ebene 'affect' hat keinen Code 'delighted')",
        "Zeile 3 (6:40.000–6:41.000): affect uncertain: es liegt außerhalb der Sitzung",
        (
            "8 Kodierungen von hier sind nicht in der Datei enthalten. Vielleicht wurden sie nie "
            "mit ihr exportiert, deshalb bleiben sie erhalten"
        ),
    ]


def test_codes_of_units_go_on_the_transcript_where_that_is_chosen(
    work: ExchangeWork, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, out = work.panel, tmp_path / "out.qdpx"
    monkeypatch.setattr(bits, "ask_new_path", lambda *_: out)
    assert panel.on_transcript.isHidden()
    panel.format.setCurrentIndex(panel.format.findData("qdpx"))
    panel.format.activated.emit(panel.format.currentIndex())
    assert not panel.on_transcript.isHidden()
    panel.on_transcript.setChecked(True)
    panel.go_out.click()
    assert ("file", "", str(out)) in done(work, qtbot)
    project = parts(out)["project.qde"]
    assert b"TranscriptSelection" in project
    assert b"TextSource" not in project
    panel.format.setCurrentIndex(panel.format.findData("eaf"))
    panel.format.activated.emit(panel.format.currentIndex())
    assert panel.on_transcript.isHidden()
    with qtbot.waitSignal(panel.export_requested) as wanted:
        panel.go_out.click()
    assert not wanted.args[0].on_transcript  # it is of projects alone
    done(work, qtbot)
    assert "cannot be written" in panel.state.text()  # a file is where the folder would be
