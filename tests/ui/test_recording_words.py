"""What is said of the recording comes from one state, the recorder's: in every screen, in the
participant's window, in the mirror and in replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

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
from labapp.study import loading
from labapp.ui.participant.view import Moment
from labapp.ui.participant.window import WindowPicture
from labapp.ui.preview import opened_preview
from labapp.ui.widgets.markdown import MarkdownView
from tests.helpers.rooms import SilentRecorder, skip_to

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
    with opened_preview(loading.load(study, language), None, None) as opened:
        words = opened.window.session.words
        claims = {words(key) for key in CLAIMS}
        for moment in opened.course.places.values():
            view = opened.view_of(moment)
            assert isinstance(view.source, Moment)
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
