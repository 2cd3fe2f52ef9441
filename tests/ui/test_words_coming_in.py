"""Words that are recognised while a window is open, and what is said of the recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.coding.annotations.model import Redaction, Text
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.annotations.store import annotations_of, history_of, open_texts
from labapp.coding.annotations.texts import PUT
from labapp.coding.transcription.session import HeardWord, transcribe_session
from labapp.record.events.commands import EndSession, GiveConsent, Pause
from labapp.record.events.voice import (
    AudioDeviceBack,
    AudioDeviceLost,
    AudioOff,
    AudioStarted,
    AudioState,
    AudioStopped,
    SoundNow,
    SoundState,
)
from labapp.record.journal.opening import open_record
from labapp.study import loading
from labapp.ui.participant.view import MomentSource
from labapp.ui.participant.window import WindowPicture
from labapp.ui.preview import open_preview
from labapp.ui.replay.coding import Coding, open_coding
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.widgets.markdown import MarkdownView
from tests.helpers.coded_session import add_codebook
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.rooms import SilentRecorder, skip_to
from tests.helpers.tone_words import ToneRecogniser, speech
from tests.ui.coding_desk import Desk, do, notices
from tests.ui.coding_desk import open_desk as open_desk
from tests.ui.coding_desk import session as session

SAID = {1.0: "turn the dial", 4.0: "wider", 7.0: "turn left"}


class Watched(ToneRecogniser):
    """Somebody does something whenever it listens."""

    def __init__(self, meanwhile: Callable[[int], object]) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def hear(self, samples: NDArray[np.int16], rate: int, language: str) -> list[HeardWord]:
        self.meanwhile(len(self.heard))
        return super().hear(samples, rate, language)


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    """A session in which somebody speaks, with units and a codebook."""
    path = sounding_session(tmp_path, Take(speech(SAID, 10.0, RATE), 5.0), end_s=30.0)
    segment_session(path, "anna", freeze=True)
    add_codebook(path.parent)
    return path


def words(coding: Coding) -> list[str]:
    return ["" if (t := coding.text(u.id)) is None else t.text for u in coding.units]


def heard(path: Path, recogniser: ToneRecogniser, **how: object) -> object:
    return transcribe_session(path, lambda: recogniser, **how)  # type: ignore[arg-type]


def test_words_come_in_and_are_corrected_while_more_are_recognised(
    spoken: Path, qtbot: QtBot
) -> None:
    coding = open_coding(spoken, CodingRequest("anna"))
    first, _, third = (unit.id for unit in coding.units)
    seen: list[list[str]] = []

    def meanwhile(n: int) -> None:
        coding.look()
        seen.append(words(coding))
        if n == 1:
            assert coding.set_text(first, "turn a dial")  # recognised before
            assert coding.set_text(third, "by hand")  # not yet
        elif n == 2:
            assert coding.set_text(third, "by hand, better")
        coding.files.rest()  # as soon as it is saved

    done = heard(spoken, Watched(meanwhile))
    assert (done.written, done.overtaken) == (2, 1)  # type: ignore[attr-defined]
    coding.look()
    assert seen == [["", "", ""], ["turn the dial", "", ""], ["turn a dial", "wider", "by hand"]]
    assert words(coding) == ["turn a dial", "wider", "by hand, better"]
    coding.undo()
    assert words(coding) == ["turn a dial", "wider", "by hand"]
    coding.undo()
    coding.undo()
    assert words(coding) == ["turn the dial", "wider", ""]
    coding.redo()
    coding.close()
    known = annotations_of(open_record(spoken)).texts
    assert (known[first].text, known[first].by) == ("turn a dial", "anna")
    assert [word.text for word in known[first].words] == ["turn", "dial"]  # when they were said
    history = [step.line.body for step in history_of(open_record(spoken)) if step.line.kind == PUT]
    assert {body["text"] for body in history if body["unit"] == first} == {
        "turn the dial",
        "turn a dial",
    }


def test_the_window_sees_words_by_itself_and_lets_others_write(
    open_desk: Desk, qtbot: QtBot
) -> None:
    desk = open_desk()
    coding = desk.coding
    told = notices(desk)
    first, second = coding.units[0].id, coding.units[1].id
    coding.set_text(first, "mine")
    path = coding.files.session
    qtbot.waitUntil(lambda: not desk.coding.files._texts)
    with open_texts(path, "recogniser") as texts:
        texts.put(Text(second, "theirs", (), "recogniser"))
    qtbot.waitUntil(lambda: desk.units.rows[1].text == "theirs")
    assert desk.units.rows[0].text == "mine"
    assert any("Text is arriving" in text for text in told)
    coding.undo()
    assert desk.units.rows[0].text != "mine"
    assert desk.units.rows[1].text == "theirs"
    coding.redo()
    coding.files.rest()
    with open_texts(path, "ben") as texts:
        texts.put(Text(first, "somebody else’s", (), "hand"))
    coding.look()
    coding.undo()
    assert desk.units.rows[0].text == "somebody else’s"
    assert "Somebody else has changed these words in the meantime" in told[-1]


@pytest.fixture
def other(session: Path) -> Callable[[str, str], None]:
    """Writes the words of a unit from elsewhere."""

    def write(unit: str, text: str) -> None:
        with open_texts(session, "recogniser") as texts:
            texts.put(Text(unit, text, (), "recogniser"))

    return write


def test_who_has_typed_nothing_sees_the_words_that_come(
    open_desk: Desk, other: Callable[[str, str], None]
) -> None:
    desk = open_desk()
    unit = desk.coding.units[0].id
    desk.coding.set_text(unit, "")
    desk.coding.files.rest()
    do(desk, "edit_text")
    other(unit, "theirs")
    desk.coding.look()
    assert desk.units.editor.toPlainText() == "theirs"
    desk.units.end_edit()
    assert words(desk.coding)[0] == "theirs"


def test_what_is_being_typed_stays(open_desk: Desk, other: Callable[[str, str], None]) -> None:
    desk = open_desk()
    told = notices(desk)
    unit = desk.coding.units[0].id
    do(desk, "edit_text")
    desk.units.editor.setPlainText("what I typed")
    other(unit, "theirs")
    desk.coding.look()
    assert desk.units.editor.toPlainText() == "what I typed"
    assert "What you type is kept" in told[-2] + told[-1]
    desk.units.end_edit()
    assert words(desk.coding)[0] == "what I typed"
    steps = history_of(open_record(desk.coding.files.session))
    assert [s.line.body["text"] for s in steps if s.line.kind == PUT][-2:] == [
        "theirs",
        "what I typed",
    ]


def test_what_is_redacted_meanwhile_is_not_written(spoken: Path) -> None:
    unit = annotations_of(open_record(spoken)).segmentation.units[0]

    def redacted(n: int) -> None:
        if n == 0:
            with open_texts(spoken, "anna") as texts:
                texts.redact(Redaction("r", unit.t0_ns, unit.t0_ns + NS // 4))

    with pytest.raises(AnnotationError, match="redacted"):
        heard(spoken, Watched(redacted))
    assert not annotations_of(open_record(spoken)).texts
    heard(spoken, ToneRecogniser())
    assert annotations_of(open_record(spoken)).texts[unit.id].text.startswith("[…]")


def test_a_session_is_written_down_by_one_at_a_time(spoken: Path) -> None:
    def second(n: int) -> None:
        with pytest.raises(AnnotationsBusy, match="already"):
            heard(spoken, ToneRecogniser())

    heard(spoken, Watched(second))


CLAIMS = ("recording", "interview_recorded", "interview_stop", "break_recorded")

"""Words that say that sound is recorded now."""

STARTED = AudioStarted("a.wav", "Mic", "ALSA", 48000, 1, "PCM_16")


def texts(widget: QWidget) -> Iterator[str]:
    for label in widget.findChildren(QLabel):
        if label.isVisibleTo(widget):
            yield label.text()
    for view in widget.findChildren(MarkdownView):
        if view.isVisibleTo(widget):
            yield view.toPlainText()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("study", ["dsprites-demo", "synthetic-think-aloud"])
def test_no_screen_claims_a_recording_that_is_none(
    qapp: QApplication, study: str, language: str
) -> None:
    with open_preview(loading.load(study, language), None, None) as opened:
        words = opened.window.session.words
        claims = {words(key) for key in CLAIMS}
        for moment in opened.course.places.values():
            view = opened.view_of(moment)
            assert isinstance(view.source, MomentSource)
            for sound in get_args(SoundNow):
                state = replace(view.source.state, previewed=False)
                shown = replace(view, source=replace(view.source, state=state, sound=sound))
                picture = WindowPicture(shown)
                picture.follow_at_once()
                said = set(texts(picture.window))
                top = words("recording") in said
                assert top == (sound == "on")
                if sound != "on":
                    assert not claims & said
                if sound == "waiting":
                    consents = shown.part is not None and shown.part.consents
                    assert (words("recording_waits") in said) == consents
                picture.close()


def test_the_state_follows_the_recorder() -> None:
    state = SoundState()
    for payload, now in (
        (STARTED, "on"),
        (AudioState("silent", 0), "on"),
        (AudioState("zeros", 0), "lost"),
        (AudioState("heard", 0), "on"),
        (AudioDeviceLost("Mic", "gone"), "lost"),
        (AudioDeviceBack("Mic"), "on"),
        (AudioStarted("b.wav", "Mic", "ALSA", 44100, 1, "PCM_16"), "on"),
        (AudioStopped("a.wav", 1, 0), "on"),
        (AudioStopped("b.wav", 1, 0), "stopped"),
        (AudioState("heard", 0), "stopped"),
        (AudioOff("none"), "off"),
        (STARTED, "on"),
    ):
        state = state.apply(payload)
        assert state.now == now, payload


def test_the_participant_and_the_mirror_read_the_same(open_room, open_window, qapp) -> None:
    room = open_room("quickstart", make_recorder=SilentRecorder)
    window = open_window(room)
    words = window.session.words
    mirror = WindowPicture(window.session.only_read())

    def both() -> str:
        qapp.processEvents()
        mirror.follow()
        assert mirror.top._recording.text() == window.top._recording.text()
        return window.top._recording.text()

    assert both() == words("recording_waits")
    room.session.give_consent("Ada")
    room.runner.emit(STARTED)
    assert both() == words("recording")
    room.runner.emit(AudioDeviceLost("Mic", "unplugged"))
    assert both() == words("recording_lost")
    room.runner.emit(AudioDeviceBack("Mic"))
    room.runner.send(Pause("break"))
    assert both() == words("recording")
    assert words("break_recorded") in " ".join(texts(window.cover))
    mirror.close()


def test_a_debriefing_is_shown_at_an_early_end(open_room, open_window, qapp) -> None:
    room = open_room("quickstart")
    window = open_window(room)
    room.session.give_consent("Ada")
    skip_to(room, "stage-1")
    room.runner.send(EndSession("tired"))
    qapp.processEvents()
    debrief = window.session.pages("texts/{language}/debrief.md", {})[0].splitlines()[0]
    assert debrief.removeprefix("# ") in window.cover.more.toPlainText()
    assert window.cover.more.isVisible()


@pytest.mark.parametrize(("begun", "debrief"), [(False, True), (True, False)])
def test_and_not_before_a_task_nor_where_the_moderator_says_so(
    open_room, open_window, qapp, begun: bool, debrief: bool
) -> None:
    room = open_room("quickstart")
    window = open_window(room)
    if begun:
        room.session.give_consent("Ada")
        skip_to(room, "stage-1")
    room.runner.send(EndSession("tired", debrief=debrief))
    qapp.processEvents()
    assert not window.cover.more.isVisible()


def test_a_study_may_show_it_always_or_never(open_room, open_window, qapp, tmp_path: Path) -> None:
    for early, shown in (("always", True), ("never", False)):
        path = tmp_path / f"{early}.yaml"
        path.write_text(
            f"id: {early}\ntitle: Early\nversion: 1\nflow:\n  - consent: shipped:consent\n"
            f"  - questionnaire: shipped:seq\n  - {{debrief: shipped:debrief, early: {early}}}\n"
        )
        room = open_room(path)
        window = open_window(room)
        if early == "never":
            room.runner.send(GiveConsent(None))
        room.runner.send(EndSession("tired"))
        qapp.processEvents()
        assert window.cover.more.isVisible() == shown
