"""Writing down what was said from the page *Coding*: what is here, and how the work goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from labapp.base.errors import TranscriptionError
from labapp.coding.annotations.store import SessionProgress, annotations_of
from labapp.coding.transcription.models import ENGINES, model_at
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex
from labapp.ui import theme
from labapp.ui.language import in_words, speak
from labapp.ui.researcher.coding_page import CodingPage, SpeechPanel, SpeechWanted
from labapp.ui.researcher.controller import CodingWork, SpeechWork, duration, summary
from labapp.ui.researcher.job import Job, Progress
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import speech

MODELS = [path for path in os.environ.get("LABAPP_TEST_SPEECH", "").split(os.pathsep) if path]


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer without speech models."""
    folder = tmp_path / "speech"
    monkeypatch.setenv("LABAPP_SPEECH", str(folder))
    return folder


@pytest.fixture
def page(qtbot: QtBot) -> CodingPage:
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


def test_what_is_missing_is_said_with_what_to_get(page: CodingPage, nothing: Path) -> None:
    work = CodingWork(page)
    page.set_sessions((SessionProgress("sub-P01_ses-1_x", 3, False),))
    page.transcribe.click()
    assert page.speech.isVisible()
    told = page.speech.state.text()
    assert str(nothing) in told
    assert all(str(engine.get) in told for engine in ENGINES.values())
    assert "German needs one without" in told
    assert not page.speech.single.isEnabled()
    page.speech.leave.click()
    assert page.speech.isHidden()
    work.stop()


def test_the_model_that_was_chosen_is_remembered(
    page: CodingPage, qtbot: QtBot, nothing: Path, tmp_path: Path
) -> None:
    model = tmp_path / "ggml-tiny.bin"
    model.write_bytes(b"lmgg" + bytes(60))
    work = CodingWork(page)
    page.speech.model_chosen.emit(str(model))
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


def test_one_session_or_those_that_are_pending(page: CodingPage, qtbot: QtBot) -> None:
    panel = page.speech
    panel.set_models(["/m/ggml.bin"], "/m/ggml.bin")
    page.set_sessions(
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
    page: CodingPage, qtbot: QtBot, nothing: Path, spoken: Path
) -> None:
    work = shown(page, spoken)
    qtbot.waitUntil(lambda: page.model.rowCount() == 1, timeout=30_000)
    page.transcribe.click()
    page.speech.wanted.emit(SpeechWanted((spoken.name,), str(nothing / "none.bin"), "", ""))
    assert page.speech.work.isVisible()
    qtbot.waitUntil(lambda: "There is no model at" in page.speech.state.text(), timeout=30_000)
    assert page.speech.choices.isVisible()
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
    assert panel.state.text() == "50 % written down · about 2 minutes left · sub-P01, 27 s"
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
    assert "cannot be told" in summary("[{}]")[0]


@pytest.mark.speech
@pytest.mark.skipif(not MODELS, reason="$LABAPP_TEST_SPEECH names no speech model")
def test_a_session_is_written_down_stopped_and_gone_on_with(
    page: CodingPage, qtbot: QtBot, tmp_path: Path
) -> None:
    from tests.helpers.synthesized import thinking_aloud

    session = thinking_aloud(tmp_path / "spoken").folder
    work = shown(page, session)
    qtbot.waitUntil(lambda: page.model.rowCount() == 1, timeout=30_000)
    page.transcribe.click()
    page.speech.model_chosen.emit(MODELS[0])
    page.speech.language.setText("en")
    page.speech.single.click()
    qtbot.waitUntil(lambda: "% written down" in page.speech.state.text(), timeout=120_000)
    page.speech.stop.click()
    qtbot.waitUntil(lambda: page.speech.state.text().startswith("Stopped."), timeout=30_000)
    before = annotations_of(open_record(session)).texts
    assert 0 < len(before) < 14
    page.speech.single.click()
    qtbot.waitUntil(lambda: "units written down" in page.speech.state.text(), timeout=120_000)
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
    assert "es ist eine GGUF-Datei, die whisper.cpp nicht liest" in told
    assert "Zu haben sind: ein Ordner mit model.bin" in told
    assert "What" not in told


@pytest.mark.parametrize("opened", ["speech", "exchange", "draw"])
def test_escape_puts_away_what_is_opened_wherever_the_keyboard_is(
    page: CodingPage, qtbot: QtBot, nothing: Path, opened: str
) -> None:
    page.set_sessions((SessionProgress("sub-P01_ses-1_x", 3, True),))
    page.rater.setText("anna")
    shown, begin, button = {
        "speech": (page.speech, page._begin_speech, page.transcribe),
        "exchange": (page.panel, page._begin_exchange, page.exchange),
        "draw": (page.drawing, page._begin_draw, page.assign),
    }[opened]
    fields = [page.table, page.study, *shown.findChildren(QWidget)]
    for field in (field for field in fields if field.focusPolicy() & Qt.FocusPolicy.TabFocus):
        begin()
        assert shown.isVisible()
        if not field.isEnabled() or not field.isVisible():
            continue
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert not shown.isVisible(), field
        assert button.isVisible()
    assert page.rater.text() == "anna"
