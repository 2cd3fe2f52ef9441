"""Sounds of a study's items: checked, copied with the session, played, paused and counted, heard
before an answer, in the replay, simulated and in the tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.analysis import load as load_tables
from labapp.analysis.checking import check_study
from labapp.record.audio.player import Player
from labapp.record.events.commands import Next, Pause, Resume
from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import media
from labapp.study.loading import load
from labapp.tasks.questionnaire.machine import Answer, PlaySound
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.ui.replay.picture import PastWindow
from tests.helpers.beside import put_beside
from tests.helpers.reach import ill_made, out_of_reach
from tests.ui.hearing import Text as Told
from tests.ui.hearing import interface_of

RATE, SECONDS = 8000, 0.4


def sound(kind: str = "WAV", seconds: float = SECONDS, channels: int = 2) -> bytes:
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * RATE)) / RATE)
    stream = io.BytesIO()
    soundfile.write(stream, np.column_stack([tone] * channels), RATE, format=kind)
    return stream.getvalue()


def write_study(folder: Path, media_of_item: Any, **files: bytes) -> Path:
    sheet = {
        "id": "sheet", "version": 1, "title": "A sheet", "source": "Ours", "per_page": 1,
        "items": [
            {"id": "loud", "kind": "scale", "text": "How loud was it?", "points": 5, "low": "quiet",
             "high": "loud", "identifying": False, "media": media_of_item},
            {"id": "why", "kind": "written", "text": "Why?", "required": False},
        ],
    }  # fmt: skip
    for name, content in {
        "sounds/alarm.wav": sound(),
        "instruments/sheet.yaml": json.dumps(sheet, indent=1).encode(),
        "own.yaml": b"id: own\ntitle: Sounds\nversion: 1\nunnamed_texts: shipped\nflow:\n"
        b"  - questionnaire: sheet\n",
        **files,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    put_beside(folder)
    return folder / "own.yaml"


MEDIA = {"file": "sounds/alarm.wav", "alt": "An alarm", "plays": 2, "heard": True}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path / "own", MEDIA)


@pytest.fixture(autouse=True)
def without_loudspeaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player's own clock, as on a computer without a loudspeaker."""
    monkeypatch.setattr(
        QuestionnaireScreen, "make_player", staticmethod(lambda heard: Player(heard, None))
    )


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "OGG", "MP3"])
def test_each_format_is_decoded_and_mixed_to_one_channel(kind: str) -> None:
    decoded = media.decode_sound(sound(kind))
    assert decoded.rate == RATE
    assert decoded.seconds == pytest.approx(SECONDS, abs=0.15)
    assert decoded.samples.ndim == 1
    assert np.abs(decoded.samples).max() == pytest.approx(0.3 * 32767, rel=0.15)
    over = decoded.read(decoded.end_ns - 1_000_000, 100)
    assert len(over) == 100
    assert not over[-10:].any()


@pytest.mark.parametrize(
    ("named", "files", "told"),
    [
        ("sounds/none.wav", {}, "the sound 'sounds/none.wav' is not there"),
        ("sounds/bad.wav", {"sounds/bad.wav": b"no sound"}, "is not a WAV, FLAC, Ogg or MP3 file"),
        ("sounds/empty.wav", {"sounds/empty.wav": sound(seconds=0)}, "empty"),
        ("../alarm.wav", {}, "outside the study's folder"),
        ("clips/film.mp4", {}, "has no player for videos"),
        ({**MEDIA, "play": 2}, {}, "did you mean 'plays'"),
        ({**MEDIA, "plays": 0}, {}, "greater than or equal to 1"),
        ({**MEDIA, "width": 20}, {}, "unknown key 'width'"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    named: Any, files: dict[str, bytes], told: str, tmp_path: Path
) -> None:
    path = write_study(tmp_path / "own", named, **files)
    faults = [fault for error in check_study(path).errors for fault in error.faults]
    assert any(told in fault.what for fault in faults), faults
    assert all(fault.line for fault in faults)


def test_a_text_and_an_option_cannot_play_one(tmp_path: Path) -> None:
    path = write_study(tmp_path / "own", MEDIA, **{"words.md": b"# A\n\n![x](sounds/alarm.wav)\n"})
    path.write_text(path.read_text() + "  - text: words.md\n")
    told = [fault for error in check_study(path).errors for fault in error.faults]
    assert [(fault.line, "a text cannot play one" in fault.what) for fault in told] == [(3, True)]


def test_sounds_are_part_of_the_study(study: Path) -> None:
    loaded = load(study)
    assert loaded.files["sounds/alarm.wav"] == sound()


def _wait(condition: Any, qapp: QApplication) -> None:
    for _ in range(100):
        if condition():
            return
        QTest.qWait(20)
    raise AssertionError("it did not come to that")


def test_it_is_played_paused_and_heard_before_the_answer(
    study: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=study)
    window = open_window(room)
    window.resize(1366, 768)
    screen = window.screen_shown
    (bar,), view = screen.pages[0].sounds.values(), screen.items[0]
    assert bar.isVisible()
    assert not view.isEnabled()
    room.runner.send(Answer("loud", 3))
    assert "loud" not in screen.state.answers, "it is to be heard first"
    assert screen.entrance() is bar.button
    assert ill_made(window) == []
    assert out_of_reach(window) == []
    heard = interface_of(bar.button)
    assert heard.text(Told.Name) == "Play: An alarm"
    assert "Please listen to the end" in heard.text(Told.Description)
    assert "Plays left: 2" in bar.note.text()

    bar.button.setFocus()
    QTest.keyClick(bar.button, Qt.Key.Key_Space)
    assert screen.state.sounds["loud"].playing
    _wait(lambda: bar.bar.value() > 100, qapp)
    assert bar.button.text() == "Pause"
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    paused = screen.state.sounds["loud"]
    assert (paused.plays, paused.playing) == (1, False)
    assert 0.1 <= paused.at_s < SECONDS
    t_paused = room.clock.now_ns()

    room.runner.send(PlaySound("loud", "play"))
    room.runner.send(Pause("a question"))
    working = screen.state.sounds["loud"].position
    held = [working(screen.state.pauses.working_ns(room.clock.now_ns())) for _ in range(2)]
    assert held[0] == held[1], "it stands still while the session is paused"
    room.runner.send(Resume("go on"))
    _wait(lambda: screen.state.sounds["loud"].heard, qapp)
    _wait(lambda: view.isEnabled(), qapp)
    assert screen.state.sounds["loud"].plays == 1, "a pause is no second play"
    room.runner.send(Answer("loud", 3))
    assert screen.state.answers["loud"] == 3

    room.runner.send(PlaySound("loud", "play"))
    room.runner.send(Next())
    second = screen.state.sounds["loud"]
    assert (second.plays, second.playing) == (2, False), "a page that is left is silent"
    QTest.qWait(50)
    room.runner.send(Answer("why", "It was near"))
    room.runner.send(Next())
    path = room.session.folder.path
    room.session.close("over")

    record = open_record(path)
    events = [row.event() for row in record.rows if row.kind == "sound.played"]
    done = [(each.payload["action"], each.payload["play"]) for each in events]
    assert done == [
        ("play", 1), ("pause", 1), ("play", 1), ("end", 1), ("play", 2), ("pause", 2),
    ]  # fmt: skip
    assert events[3].payload["at_s"] == SECONDS
    with History(record) as history:
        past = PastWindow(history)
        past.show_time(events[0].t_ns + 50_000_000)
        (shown,) = past.picture.screen.pages[0].sounds.values()
        assert shown.bar.value() == pytest.approx(50, abs=2)
        past.show_time(t_paused)
        assert shown.bar.value() == round(1000 * paused.at_s)
        assert shown._player is None
        past.close()
    row, why = load_tables(path.parent).answers.to_dict("records")
    assert (row["plays"], row["heard"]) == (2, True)
    assert row["response_s"] == row["first_s"]
    assert 0.05 <= why["response_s"] < why["first_s"] - row["first_s"], "since its page came up"


def test_no_more_plays_than_there_may_be(study: Path, open_room: Any, open_window: Any) -> None:
    room = open_room(study=study)
    open_window(room)
    for _ in range(4):
        for action in ("play", "end"):
            room.runner.send(PlaySound("loud", action))
    state = room.runner.state.part_state
    assert state.sounds["loud"].plays == 2
    assert state.sounds["loud"].heard


def test_simulated_participants_hear_it(study: Path, tmp_path: Path) -> None:
    sessions = simulate_study(str(study), 2, "random", tmp_path / "sessions")
    rows = load_tables(sessions[0].parent).answers.query("item == 'loud'")
    assert list(rows["heard"]) == [True, True]
    assert (rows["first_s"] > SECONDS).all()
