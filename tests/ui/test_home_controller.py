"""The home at work: from the checklist through a session and back."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from labapp.analysis import load
from labapp.base import resources
from labapp.base.errors import DataFolderError
from labapp.models.representations import card
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Resume
from labapp.record.journal.sessions import list_sessions
from labapp.session import private
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.private import consents
from labapp.session.resuming import read_verified_events
from labapp.study.loading import find
from labapp.study.overview import Checked, check_all
from labapp.tasks.consent.screen import ConsentScreen
from labapp.ui import starting
from labapp.ui.controller import SessionController
from labapp.ui.home import HomeController
from labapp.ui.moderator import checklist
from tests.helpers.beside import put_beside
from tests.helpers.rooms import SilentRecorder
from tests.study.test_several_languages import write as write_several_languages


def ready(home: HomeController, qtbot: QtBot) -> None:
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)


def started(home: HomeController, qtbot: QtBot) -> SessionController:
    """The session that begins on *Start*."""
    ready(home, qtbot)
    qtbot.mouseClick(home.view.ready.start_button, Qt.MouseButton.LeftButton)
    assert home.session is not None
    return home.session


def test_a_wrong_study_file_is_told_until_a_right_one_is_chosen(
    home: HomeController, tmp_path: Path, qtbot: QtBot
) -> None:
    ready(home, qtbot)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("id: wrong\nflow: 3\n")
    home.choose_study(str(wrong))
    assert not home.view.error.isHidden()
    in_place = home.view.study.making.check_result
    assert "line 2, flow" in in_place.text()
    assert "line 2" not in home.view.error.title.text(), "told once, in place"
    assert "wrong.yaml has 3 faults and cannot be used" in home.view.error.title.text()
    assert not home.view.ready.start_button.isEnabled()
    rows = home.view.ready.rows
    qtbot.wait(400)  # levels, models and pictures are looked at all the time
    for key in checklist.OF_STUDY:
        assert rows[key].isHidden() or rows[key].icon.state == "warn", key
    assert home.view.study.title.text() == "", "nothing of the study before"
    assert not home.view.study.preview.isEnabled()
    home.choose_study("quickstart")
    assert home.view.error.isHidden()
    qtbot.waitUntil(lambda: rows["decoders"].icon.state == "ok", timeout=30_000)


def test_a_check_leaves_the_window_free(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(home, qtbot)
    making = home.view.study.making
    go_on = threading.Event()

    def slow(study: str) -> Checked:
        assert threading.current_thread() is not threading.main_thread()
        assert go_on.wait(30)
        return check_all(study)

    monkeypatch.setattr("labapp.ui.home.look_at", slow)
    making.check.click()
    assert making.check.text() == "Checking …"
    assert not making.check.isEnabled()
    go_on.set()
    qtbot.waitUntil(
        lambda: making.check_result.text() == "No problems were found in the study.", timeout=30_000
    )
    assert making.check.isEnabled()
    making.check.click()
    home.choose_study("quickstart")
    qtbot.wait(300)
    assert making.check.isEnabled(), "a study that was chosen since can be checked"


def test_what_is_installed_while_the_home_is_open_is_seen(
    home: HomeController, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    ready(home, qtbot)
    study = put_beside(tmp_path) / "own.yaml"
    text = find("quickstart").read_text("utf-8")
    named = sorted(set(re.findall(r"sinelines/[a-z0-9]+", text)))[0]
    study.write_text(text.replace(named, "sinelines/mine"), "utf-8")
    assert card.find_card("sinelines/mine") is None
    home.choose_study(str(study))
    assert home.view.session.plan_row().blocks
    shutil.copytree(resources.models() / named, tmp_path / "models" / "sinelines" / "mine")
    path = tmp_path / "models" / "sinelines" / "mine" / "model.yaml"
    path.write_text(path.read_text("utf-8").replace(named, "sinelines/mine"), "utf-8")
    home._slow_checks()
    assert card.find_card("sinelines/mine") is not None
    assert not home.view.session.plan_row().blocks
    shutil.rmtree(tmp_path / "models" / "sinelines")
    home._slow_checks()
    assert card.find_card("sinelines/mine") is None
    assert home.view.session.plan_row().blocks


def place_model(folder: Path, source: str) -> None:
    """The shipped model `source` as the model `sinelines/mine`, in the place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(resources.models() / source, folder)
    path = folder / "model.yaml"
    path.write_text(path.read_text("utf-8").replace(source, "sinelines/mine"), "utf-8")


@pytest.fixture
def own_model(home: HomeController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `sinelines/mine`, a copy of the VAE, in a study that the home shows."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    folder = tmp_path / "models" / "sinelines" / "mine"
    place_model(folder, "sinelines/vae")
    study = put_beside(tmp_path) / "own.yaml"
    text = find("quickstart").read_text("utf-8")
    study.write_text(text.replace("sinelines/vae", "sinelines/mine"), "utf-8")
    home.choose_study(str(study))
    return folder


def cards_of(path: Path) -> dict[str, str]:
    """The SHA-256 of the card of every decoder that a session recorded, by model."""
    warmed = [e.payload for e in read_verified_events(path) if e.kind == "decoder.warmed"]
    cards = {measured["model"]: measured["card_sha256"] for measured in warmed}
    assert len(cards) == len(warmed), "one of each model"
    return cards


@pytest.mark.parametrize("looked", [True, False], ids=["seen by the home", "at the start"])
def test_a_session_has_the_model_that_was_put_in_place_of_another(
    home: HomeController, own_model: Path, qtbot: QtBot, looked: bool
) -> None:
    ready(home, qtbot)
    before = home._warm.decoders["sinelines/mine"]
    place_model(own_model, "sinelines/ae")
    if looked:
        home._slow_checks()
        qtbot.waitUntil(lambda: "sinelines/mine" in home._warm.decoders, timeout=30_000)
        assert home._warm.decoders["sinelines/mine"] is not before
        ready(home, qtbot)
    runner = started(home, qtbot).opened.runner
    runner.send(EndSession("seen"), Source.MODERATOR)
    qtbot.waitUntil(lambda: not home.session or not home.session.opened.recording)
    (listed,) = list_sessions(home.data)
    assert cards_of(listed.path)["sinelines/mine"] == card.hash_installed_card("sinelines/mine")


def test_the_pictures_of_a_replaced_model_are_its_own(
    home: HomeController, own_model: Path, qtbot: QtBot
) -> None:
    ready(home, qtbot)
    home.view.tabs[2].click()
    shown = home.view.study.cards["sinelines/mine"]
    qtbot.waitUntil(lambda: shown.sheet is not None, timeout=30_000)
    assert shown.sheet is not None
    before, facts = shown.sheet.sheet, shown.facts.text()
    home._slow_checks()
    assert shown.sheet.sheet is before
    place_model(own_model, "sinelines/ae")
    home._slow_checks()
    qtbot.waitUntil(
        lambda: shown.sheet is not None and shown.sheet.sheet is not before, timeout=30_000
    )
    assert shown.facts.text() != facts


def test_a_model_that_is_damaged_while_the_home_is_open_is_told_until_it_is_mended(
    home: HomeController, own_model: Path, qtbot: QtBot
) -> None:
    ready(home, qtbot)
    decoders = home.view.ready.rows["decoders"]
    weights = own_model / "decoder.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-4] + b"\1\2\3\4")
    home._slow_checks()
    qtbot.waitUntil(lambda: decoders.icon.state == "missing", timeout=30_000)
    assert "is not the file on which its model card names" in home.view.error.title.text()
    assert not home.view.ready.start_button.isEnabled()
    weights.write_bytes(whole)
    home._slow_checks()
    qtbot.waitUntil(lambda: decoders.icon.state == "ok", timeout=30_000)
    assert home.view.error.isHidden()
    ready(home, qtbot)


def test_where_a_model_is_gone_nothing_is_said_of_decoders(
    home: HomeController, own_model: Path, qtbot: QtBot
) -> None:
    ready(home, qtbot)
    decoders = home.view.ready.rows["decoders"]
    assert decoders.icon.state == "ok"
    own_model.rename(own_model.with_name("gone"))
    home._show_plan()
    assert decoders.icon.state == "warn"
    assert not home.view.ready.start_button.isEnabled()


def test_a_data_folder_that_is_a_file_is_told_with_what_to_do(
    home: HomeController, qtbot: QtBot
) -> None:
    if home.data.is_dir():  # looked at already, where the machine is busy
        home.data.rmdir()
    home.data.write_text("in the way")
    disk = home.view.ready.rows["disk"]
    qtbot.waitUntil(lambda: disk.icon.state == "missing", timeout=30_000)
    assert "there is already a file with that name" in disk.text.text()
    assert "--data" in disk.text.text()
    assert not home.view.ready.start_button.isEnabled()


def test_memory_is_settled_and_given_back() -> None:
    """In a process of its own: here it would be that of all tests."""
    code = (
        "import gc\n"
        "from labapp.ui.qtapp import settle_memory, unsettle_memory\n"
        "settle_memory(); settled = gc.get_freeze_count()\n"
        "unsettle_memory(); print(settled > 1000, gc.get_freeze_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]


def test_a_session_and_back(home: HomeController, qtbot: QtBot, settled: list[bool]) -> None:
    ready(home, qtbot)
    assert home.view.participant() == ("P01", "1")
    session = started(home, qtbot)
    assert not home.window.isVisible()
    assert session.participant.isVisible()
    assert session.console.isVisible()
    runner = session.opened.runner
    assert runner.part is not None
    assert runner.part.id == "consent"
    assert settled == [True]

    runner.send(EndSession("the fire alarm rang"), Source.MODERATOR)
    qtbot.waitUntil(lambda: session.opened.runner.journal.committed_seq > 0 and session._over)
    session.console.done_requested.emit()
    assert settled == [True, False]
    assert home.session is None
    assert home.window.isVisible()
    (listed,) = list_sessions(home.data)
    assert listed.state == "ended_early"
    assert home.view.participant() == ("P02", "1")


def test_what_is_noted_after_the_end_is_kept_until_the_console_closes(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    session = started(home, qtbot)
    path, runner, console = session.opened.folder.path, session.opened.runner, session.console
    session.opened.give_consent("Somebody")
    console.notes.input.committed.emit("during", runner.clock.now_ns())
    runner.send(EndSession("the fire alarm rang"), Source.MODERATOR)
    qtbot.waitUntil(lambda: not session.opened.recording)
    console.notes.field.setFocus()
    qtbot.keyClicks(console.notes.field, "said at the door")
    qtbot.keyClick(console.notes.field, Qt.Key.Key_Return)
    console.set_flag(1)
    console.give_prompt()
    console.notes.deviation.committed.emit("the door", runner.clock.now_ns())
    console.refresh()
    first = console.state.notes[0].seq
    console.notes.correction.corrected.emit(first, "before the end", runner.clock.now_ns())
    console.done_requested.emit()
    kinds = [event.kind for event in read_verified_events(path)]
    after = kinds[kinds.index("session.ended") + 1 :]
    noted = ["note.added", "flag.added", "prompt.given", "deviation.noted", "note.corrected"]
    assert [kind for kind in after if kind in noted] == noted
    bundle = export([path], tmp_path / "bundle")
    found = load(bundle).notes
    assert found[found["corrects"].isna()]["text_now"].tolist() == [
        "before the end", "said at the door", "insight", "Please keep talking", "the door",
    ]  # fmt: skip
    assert verify(bundle).ok
    (timeline,) = bundle.glob("sub-*/ses-*/beh/*_task-session_events.tsv")
    assert "said at the door" in timeline.read_text()


def test_who_withdraws_leaves_nothing_but_the_label(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    session = started(home, qtbot)
    session.opened.give_consent("Somebody")
    assert consents(tmp_path / "private", "quickstart")
    session.opened.runner.send(EndSession("asked to", "delete"), Source.MODERATOR)
    qtbot.waitUntil(lambda: session._over)
    assert session.console.isVisible(), "until the moderator goes back"
    assert session.opened.folder.path.exists(), "until then it can be taken back"
    session.console.done_requested.emit()
    assert not session.opened.folder.path.exists()
    assert home.window.isVisible()
    assert home.view.error.isHidden()
    assert list_sessions(home.data) == []
    assert not consents(tmp_path / "private", "quickstart")
    assert home.view.participant() == ("P02", "1")


@pytest.mark.parametrize("blind", [True, False])
def test_an_interrupted_session_is_offered_and_resumed_as_blind_as_it_was(
    home: HomeController, qtbot: QtBot, blind: bool
) -> None:
    ready(home, qtbot)
    home.view.session.blind.setChecked(blind)
    session = started(home, qtbot)
    # A second Ctrl+C while the session is taken down does not break off the closing.
    session._down.callback(lambda: signal.raise_signal(signal.SIGINT))
    signal.raise_signal(signal.SIGINT)
    qtbot.waitUntil(lambda: home.session is None)
    (listed,) = list_sessions(home.data)
    assert listed.state == "interrupted"
    assert listed.blind is blind
    qtbot.waitUntil(home.view.interrupted.isVisible)
    home.view.session.blind.setChecked(not blind)  # for the next session, not for this one

    home.view.resume_requested.emit(listed.path)
    assert home.session is not None
    assert home.session.opened.runner.state.segment == 2
    assert home.session.console.header.blind.isVisible() is blind
    # The participant waits until the moderator says that everybody is ready.
    assert home.session.opened.runner.state.pauses.paused


def test_a_data_folder_that_is_gone_is_told(home: HomeController, qtbot: QtBot) -> None:
    ready(home, qtbot)
    home.data.rename(home.data.with_name("elsewhere"))
    home.data.write_text("a file in its place")
    qtbot.mouseClick(home.view.ready.start_button, Qt.MouseButton.LeftButton)
    assert home.session is None
    assert home.view.error.isVisible()
    assert home.window.isVisible()


def test_what_breaks_in_a_thread_is_an_alarm(home: HomeController, qtbot: QtBot) -> None:
    session = started(home, qtbot)
    told: list[str] = []
    before = session._thread_hook_before
    session._thread_hook_before = lambda failed: told.append(str(failed.exc_value))
    broken = threading.Thread(target=lambda: 1 / 0, name="sound-writer")
    broken.start()
    broken.join()
    session._thread_hook_before = before
    assert told == ["division by zero"]
    runner = session.opened.runner
    qtbot.waitUntil(lambda: runner.journal.saved_ago_s == 0)
    events = read_verified_events(session.opened.folder.path)
    (alarm,) = (event for event in events if event.kind == "alarm.raised")
    assert alarm.payload["code"] == "program_error"
    assert "sound-writer ended" in alarm.payload["detail"]


def test_the_participant_sees_when_sound_is_recorded(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_sound", lambda loaded, options: (SilentRecorder, ""))
    session = started(home, qtbot)
    top = session.participant.top
    assert top._recording.text() == "Not recording yet. Recording starts when you agree."
    session.console.refresh()
    assert session.console.header.recording.text() == "○ sound starts after consent"
    session.opened.give_consent("Ada Lovelace")
    assert top._recording.text() == "Recording"
    session.console.refresh()
    assert session.console.header.recording.text() == "● recording"
    session.opened.runner.send(EndSession("enough"), Source.MODERATOR)
    qtbot.waitUntil(lambda: top._recording.text() == "No sound recording")


def test_a_consent_that_could_not_be_stored_is_given_once_more(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = started(home, qtbot)
    screen = session.participant.screen_shown
    assert isinstance(screen, ConsentScreen)
    assert screen.name is not None

    def full(*_: object) -> None:
        raise DataFolderError("Consent could not be stored.")

    qtbot.mouseClick(screen.tick, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(screen.name, "Ada Lovelace")
    with monkeypatch.context() as patch:
        patch.setattr(private, "store_consent", full)
        qtbot.mouseClick(session.participant.bottom.right, Qt.MouseButton.LeftButton)
    runner = session.opened.runner
    assert runner.state.pauses.paused
    assert session.participant.covered
    runner.send(Resume("moderator"), Source.MODERATOR)
    assert screen.name.text() == "Ada Lovelace"
    qtbot.mouseClick(session.participant.bottom.right, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: runner.part is not None and runner.part.id != "consent")
    assert [consent.name for consent in consents(home.private, "quickstart")] == ["Ada Lovelace"]


def test_a_study_that_cannot_be_used_any_more_leaves_nothing_of_it(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    ready(home, qtbot)
    home.view.ready.read_consent.emit()
    assert home.view.reader_pdf.isVisible()
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("id: wrong\nflow: 3\n")
    home.choose_study(str(wrong))
    assert not home.view.reader_pdf.isVisible()
    assert not home.view.ready.read.isVisible()
    assert home.view.so_far.lines == ()


@pytest.mark.parametrize("name", ["form", "form.pdf", "form.PDF", "form.v2"])
def test_a_form_has_the_name_that_was_chosen(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (f"/there/{name}", ""))
    with qtbot.waitSignal(home.view.consent_pdf_wanted) as asked:
        home.view._choose_pdf()
    pdf = name if name.casefold().endswith(".pdf") else f"{name}.pdf"
    assert asked.args == [Path("/there") / pdf]


def test_the_blank_consent_form_is_saved_and_nothing_overwritten(
    home: HomeController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    asked = (str(tmp_path / "form"), "PDF (*.pdf)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: asked)
    home.view.ready.read_consent.emit()
    qtbot.mouseClick(home.view.reader_pdf, Qt.MouseButton.LeftButton)
    written = (tmp_path / "form.pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert home.view.error.isHidden()
    qtbot.mouseClick(home.view.reader_pdf, Qt.MouseButton.LeftButton)
    assert "already exists" in home.view.error.title.text()
    assert "--" not in home.view.error.text.text(), "a window has no options"
    assert (tmp_path / "form.pdf").read_bytes() == written


def test_the_next_participant_reads_the_language_that_is_chosen(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    ready(home, qtbot)
    card = home.view.session
    assert card.language.isHidden(), "nothing to choose in a study of one language"
    home.choose_study(str(write_several_languages(tmp_path / "two")))
    offered = [card.language.itemText(at) for at in range(card.language.count())]
    assert offered == ["English (en)", "Deutsch (de)"]
    assert not card.language.isHidden()
    english = home._consent
    card.language.setCurrentIndex(1)
    card.language.activated.emit(1)
    assert home._consent != english
    ready(home, qtbot)
    session = started(home, qtbot)
    assert session.opened.planned.language == "de"
    assert session.opened.loaded.study.language == "de"
