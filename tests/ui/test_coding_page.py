"""The *Coding* page of the home, units with a code over a study, and writing down what was said."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from labapp.base.errors import TranscriptionError
from labapp.coding.annotations.codebook import read
from labapp.coding.annotations.store import (
    RaterProgress,
    SessionProgress,
    annotations_of,
    open_marks,
)
from labapp.coding.transcription.models import ENGINES, model_at
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex
from labapp.session.replay.lanes import retrieve
from labapp.ui import theme
from labapp.ui.language import in_words, speak
from labapp.ui.replay.retrieval import RetrievalView
from labapp.ui.researcher.coding_page import (
    CodingPage,
    CodingWanted,
    Draw,
    SpeechPanel,
    SpeechWanted,
)
from labapp.ui.researcher.controller import CodingWork, SpeechWork, duration, summary
from labapp.ui.researcher.job import Job, Progress
from tests.helpers.coded_session import SECOND, add_codebook, add_units
from tests.helpers.journals import golden_session
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import speech

ROWS = (
    SessionProgress(
        "sub-P01_ses-1_x",
        7,
        True,
        proposals=1,
        texts=7,
        reviewed=2,
        raters=(RaterProgress("anna", 4, 4, "done"),),
    ),
    SessionProgress("sub-P02_ses-1_x", 3, False),
    SessionProgress("sub-P03_ses-1_x", problem="It is damaged."),
)


@pytest.fixture
def page(qtbot: QtBot) -> CodingPage:
    made = CodingPage(theme.LIGHT)
    qtbot.addWidget(made)
    made.set_studies(["s"], "s")
    made.set_sessions(ROWS)
    return made


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A study with a session that two raters coded."""
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session)
    codebook = read(session.parent / "codebook.yaml")
    units = annotations_of(open_record(session)).segmentation.units
    with open_marks(session, "anna", codebook) as anna:
        anna.give("explore", unit=units[0].id)
        anna.give("goal", unit=units[1].id, memo="clear")
        anna.give("uncertain", t0_ns=units[2].t0_ns, t1_ns=units[3].t1_ns)
    with open_marks(session, "ben", codebook) as ben:
        ben.give("explore", unit=units[0].id)
    return session


def test_sessions_stand_with_how_far_they_are(page: CodingPage) -> None:
    def line(row: int) -> list[str]:
        return [page.model.index(row, column).data() for column in range(6)]

    assert line(0)[1:] == ["7 frozen · 1 change proposed", "all 7", "anna 4/7 ✓", "–", "–"]
    assert line(1)[1:] == ["3 open", "0 of 3", "–", "–", "–"]
    assert line(2)[1:] == ["?"] * 5


def test_what_can_be_done_hangs_on_session_and_name(page: CodingPage, qtbot: QtBot) -> None:
    assert not page.open.isEnabled()
    page.rater.setText("anna")
    assert page.open.isEnabled()
    assert not page.freeze.isEnabled()  # they are frozen
    page.table.selectRow(1)
    assert page.segment.isEnabled()
    assert page.freeze.isEnabled()
    page.table.selectRow(2)
    assert not page.open.isEnabled()
    page.table.selectRow(0)
    with qtbot.waitSignal(page.open_requested) as asked:
        QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert asked.args == [CodingWanted("sub-P01_ses-1_x", "anna", "independent", "")]


def test_who_codes_what_is_asked_in_place(page: CodingPage, qtbot: QtBot) -> None:
    page.show()
    page.assign.click()
    assert page.drawing.isVisible()
    QTest.keyClicks(page.raters, "anna, ben")
    with qtbot.waitSignal(page.assign_requested) as asked:
        QTest.keyClick(page.raters, Qt.Key.Key_Return)
    assert asked.args == [Draw("anna,ben", "0.2", "1")]
    assert page.drawing.isHidden()


def test_the_page_says_what_the_commands_say(page: CodingPage, coded: Path, qtbot: QtBot) -> None:
    work = CodingWork(page)
    work.set_shown(True)
    work.set_sessions(SessionIndex(coded.parent.parent).read(lambda so_far: None))
    qtbot.waitUntil(lambda: page.model.index(0, 3).data() == "anna 2/7, ben 1/7", timeout=30_000)
    page.table.selectRow(0)
    page.rater.setText("anna")
    page.freeze_requested.emit(coded.name, "nobody else")
    qtbot.waitUntil(lambda: "cannot be a rater's name" in page.about.text(), timeout=30_000)
    QTest.keyClick(page.rater, Qt.Key.Key_Return)
    work.stop()
    again = CodingPage(theme.LIGHT)
    qtbot.addWidget(again)
    CodingWork(again).stop()
    assert again.rater_name == "anna"  # who coded last on this machine


def test_every_unit_with_a_code_is_found(coded: Path) -> None:
    stretches = retrieve(coded.parent).stretches
    by_code = {stretch.code: stretch for stretch in stretches}
    assert set(by_code) == {"explore", "goal", "uncertain", ""}
    assert not {stretch.raters for stretch in stretches if not stretch.code} - {()}
    assert by_code["explore"].raters == ("anna", "ben")  # once, for they agree
    assert by_code["explore"].text == "okay so this one makes it taller"
    assert by_code["goal"].memo == "clear"
    assert by_code["uncertain"].text.startswith("no wait")
    assert by_code["uncertain"].text.endswith("there, nearly")  # of both units that it touches


@dataclass
class Silent:
    """A player that notes what it is asked for."""

    at: int = 0
    playing: bool = False
    closed: bool = False
    problem: str = ""

    def play(self) -> None:
        self.playing = True

    def pause(self) -> None:
        self.playing = False

    def seek(self, t_ns: int) -> None:
        self.at = t_ns

    def heard_ns(self) -> int:
        return self.at

    def close(self) -> None:
        self.closed = True


def choose_code(view: RetrievalView, code: str) -> None:
    view.code.setCurrentIndex(view.code.findData(code))
    view.code.activated.emit(view.code.currentIndex())


def test_a_click_plays_a_unit_in_place(coded: Path, qtbot: QtBot) -> None:
    players: list[Silent] = []

    def player(session: Path) -> Silent:
        players.append(Silent())
        return players[-1]

    view = RetrievalView(theme.LIGHT, player)
    qtbot.addWidget(view)
    view.show_study(coded.parent, read(coded.parent / "codebook.yaml"))
    qtbot.waitUntil(lambda: view.model.rowCount() == 3, timeout=20_000)
    assert view.about.text().startswith("3 coded units from 1 participant")
    view.words.setText("NOTHING does")
    assert [view.model.index(0, column).data() for column in (1, 3)] == [
        "0:08",
        "and the next one does nothing? (not checked)",
    ]
    assert view.about.text().startswith("1 unit from 1 participant")
    view.words.setText("clear")  # in a memo
    assert view.model.rowCount() == 1
    view.words.setText("e")  # what is not coded is found by its words, too
    everywhere = view.model.rowCount()
    assert "" in [view.model.index(row, 2).data() for row in range(everywhere)]
    view.words.clear()
    assert view.model.rowCount() == 3
    choose_code(view, "-")
    assert 0 < view.model.rowCount() < everywhere
    choose_code(view, "goal")
    assert [view.model.index(0, column).data() for column in (2, 3, 5)] == [
        "Has a goal",
        "and the next one does nothing? (not checked)",
        "anna",
    ]
    view.table.picked.emit(0)
    assert players[0].playing
    assert players[0].at == 8 * SECOND - 300_000_000
    players[0].at = 60 * SECOND  # its end is reached: it stops there
    qtbot.waitUntil(lambda: not players[0].playing)
    assert view.playing is None
    view.table.picked.emit(0)
    view.table.picked.emit(0)  # another click stops
    assert players[0].closed
    assert view.playing is None
    view.close_all()


MODELS = [path for path in os.environ.get("LABAPP_TEST_SPEECH", "").split(os.pathsep) if path]


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer without speech models."""
    folder = tmp_path / "speech"
    monkeypatch.setenv("LABAPP_SPEECH", str(folder))
    return folder


@pytest.fixture
def page_speech_page(qtbot: QtBot) -> CodingPage:
    made = CodingPage(theme.LIGHT)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    return sounding_session(tmp_path / "data", Take(speech({1.0: "wider"}, 4.0, RATE)), end_s=9.0)


def shown(page: CodingPage, session: Path) -> CodingWork:
    work = CodingWork(page)
    work.set_shown(True)
    work.set_sessions(SessionIndex(session.parent.parent).read(lambda so_far: None))
    return work


def test_what_is_missing_is_said_with_what_to_get(
    page_speech_page: CodingPage, nothing: Path
) -> None:
    work = CodingWork(page_speech_page)
    page_speech_page.set_sessions((SessionProgress("sub-P01_ses-1_x", 3, False),))
    page_speech_page.transcribe.click()
    assert page_speech_page.speech.isVisible()
    told = page_speech_page.speech.state.text()
    assert str(nothing) in told
    assert all(str(engine.get) in told for engine in ENGINES.values())
    assert "For German, use one without" in told
    assert not page_speech_page.speech.single.isEnabled()
    page_speech_page.speech.leave.click()
    assert page_speech_page.speech.isHidden()
    work.stop()


def test_the_model_that_was_chosen_is_remembered(
    page_speech_page: CodingPage, qtbot: QtBot, nothing: Path, tmp_path: Path
) -> None:
    model = tmp_path / "ggml-tiny.bin"
    model.write_bytes(b"lmgg" + bytes(60))
    work = CodingWork(page_speech_page)
    page_speech_page.speech.model_chosen.emit(str(model))
    work.stop()
    again = CodingPage(theme.LIGHT)
    qtbot.addWidget(again)
    second = CodingWork(again)
    second.speech.look()
    assert again.speech.model.currentData() == str(model)
    other = tmp_path / "other.bin"
    other.write_bytes(b"GGUF")
    again.speech.model_chosen.emit(str(other))
    assert "GGUF" in again.speech.state.text()
    second.stop()


def test_one_session_or_those_that_are_pending(page_speech_page: CodingPage, qtbot: QtBot) -> None:
    panel = page_speech_page.speech
    panel.set_models(["/m/ggml.bin"], "/m/ggml.bin")
    page_speech_page.set_sessions(
        (
            SessionProgress("a", 3, True, texts=3),
            SessionProgress("b", 3, True, texts=1),
            SessionProgress("c"),
            SessionProgress("d", problem="It is damaged."),
        )
    )
    assert panel.all.text() == "All pending (2)"
    with qtbot.waitSignal(panel.wanted) as asked:
        panel.single.click()
    assert asked.args == [SpeechWanted(("a",), "/m/ggml.bin", "", "")]
    panel.language.setText("de")
    panel.words.setText("/m/words.txt")
    with qtbot.waitSignal(panel.wanted) as asked:
        panel.all.click()
    assert asked.args == [SpeechWanted(("b", "c"), "/m/ggml.bin", "de", "/m/words.txt")]


def test_what_goes_wrong_is_said_in_words(
    page_speech_page: CodingPage, qtbot: QtBot, nothing: Path, spoken: Path
) -> None:
    work = shown(page_speech_page, spoken)
    qtbot.waitUntil(lambda: page_speech_page.model.rowCount() == 1, timeout=30_000)
    page_speech_page.transcribe.click()
    page_speech_page.speech.wanted.emit(
        SpeechWanted((spoken.name,), str(nothing / "none.bin"), "", "")
    )
    assert page_speech_page.speech.work.isVisible()
    qtbot.waitUntil(
        lambda: "There is no model at" in page_speech_page.speech.state.text(), timeout=30_000
    )
    assert page_speech_page.speech.choices.isVisible()
    work.stop()


def test_how_far_it_is_is_taken_out_of_what_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    job = Job()
    told: list[Progress] = []
    job.progressed.connect(told.append)
    with qtbot.waitSignal(job.ended, timeout=60_000) as ended:
        out = str(tmp_path / "simulated")
        job.start(["simulate", "quickstart", "--participants", "2", "--workers", "1", "--out", out])
    assert ended.args is not None
    assert (ended.args[0].status, ended.args[0].error) == (0, "")
    assert told[-1].share == 1.0
    panel = SpeechPanel(theme.LIGHT)
    qtbot.addWidget(panel)
    work = SpeechWork(panel, lambda name: None)
    for share, left in ((None, None), (0.25, None), (0.5, 90.0)):
        work._progressed(Progress(share, "sub-P01, 27 s", left))
    assert panel.state.text() == "50 % transcribed · about 2 minutes left · sub-P01, 27 s"
    assert panel.bar.value() == 500


def test_how_long_it_takes_is_said_in_words() -> None:
    assert [duration(seconds) for seconds in (0.2, 59, 60, 3000, 9000)] == [
        "1 second",
        "59 seconds",
        "1 minute",
        "50 minutes",
        "2.5 hours",
    ]
    assert summary("") == []
    assert "cannot tell what" in summary("[{}]")[0]


@pytest.mark.speech
@pytest.mark.skipif(not MODELS, reason="$LABAPP_TEST_SPEECH names no speech model")
def test_a_session_is_written_down_stopped_and_gone_on_with(
    page_speech_page: CodingPage, qtbot: QtBot, tmp_path: Path
) -> None:
    from tests.helpers.synthesized import thinking_aloud

    session = thinking_aloud(tmp_path / "spoken").folder
    work = shown(page_speech_page, session)
    qtbot.waitUntil(lambda: page_speech_page.model.rowCount() == 1, timeout=30_000)
    page_speech_page.transcribe.click()
    page_speech_page.speech.model_chosen.emit(MODELS[0])
    page_speech_page.speech.language.setText("en")
    page_speech_page.speech.single.click()
    qtbot.waitUntil(
        lambda: "% transcribed" in page_speech_page.speech.state.text(), timeout=120_000
    )
    page_speech_page.speech.stop.click()
    qtbot.waitUntil(
        lambda: page_speech_page.speech.state.text().startswith("Stopped."), timeout=30_000
    )
    before = annotations_of(open_record(session)).texts
    assert 0 < len(before) < 14
    page_speech_page.speech.single.click()
    qtbot.waitUntil(
        lambda: "units transcribed" in page_speech_page.speech.state.text(), timeout=120_000
    )
    after = annotations_of(open_record(session)).texts
    assert len(after) >= 14
    assert {unit: after[unit] for unit in before} == before
    work.stop()


def test_what_is_no_speech_model_is_told_in_german(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(TranscriptionError) as refused:
        model_at(path)
    speak("de")
    told = in_words(refused.value)
    assert "es ist eine GGUF-Datei, die whisper.cpp nicht lesen kann" in told
    assert "Erhältlich sind: ein Ordner mit model.bin" in told
    assert "What" not in told


@pytest.mark.parametrize("opened", ["speech", "exchange", "draw"])
def test_escape_puts_away_what_is_opened_wherever_the_keyboard_is(
    page_speech_page: CodingPage, qtbot: QtBot, nothing: Path, opened: str
) -> None:
    page_speech_page.set_sessions((SessionProgress("sub-P01_ses-1_x", 3, True),))
    page_speech_page.rater.setText("anna")
    shown, begin, button = {
        "speech": (
            page_speech_page.speech,
            page_speech_page._begin_speech,
            page_speech_page.transcribe,
        ),
        "exchange": (
            page_speech_page.panel,
            page_speech_page._begin_exchange,
            page_speech_page.files_menu,
        ),
        "draw": (
            page_speech_page.drawing,
            page_speech_page._begin_draw,
            page_speech_page.raters_menu,
        ),
    }[opened]
    fields = [page_speech_page.table, page_speech_page.study, *shown.findChildren(QWidget)]
    for field in (field for field in fields if field.focusPolicy() & Qt.FocusPolicy.TabFocus):
        begin()
        assert shown.isVisible()
        if not field.isEnabled() or not field.isVisible():
            continue
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert not shown.isVisible(), field
        assert button.isVisible()
    assert page_speech_page.rater.text() == "anna"
