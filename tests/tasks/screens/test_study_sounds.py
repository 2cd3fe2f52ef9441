"""Sounds of a study's items: checked, copied with the session, played, paused and counted, heard
before an answer, in the replay, simulated and in the tables."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.analysis import load as load_tables
from labapp.analysis.checking import check_study
from labapp.record.audio import player as players
from labapp.record.audio.player import Player
from labapp.record.events.commands import EndSession, Next, Pause, Resume
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import media
from labapp.study.loading import load
from labapp.tasks.questionnaire.machine import Answer, PlaySound
from labapp.tasks.questionnaire.screen.questionnaire import TextAbove
from labapp.ui.consent_pdf import write_blank
from labapp.ui.participant.screen import Screen
from labapp.ui.replay.picture import PastWindow
from tests.helpers.beside import put_beside
from tests.helpers.reach import ill_made, out_of_reach
from tests.helpers.waiting import wait_for
from tests.record.audio.loudspeaker import PatientTime
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


def shows_red(widget: QWidget) -> bool:
    """Whether anything red is on it, as a picture of the tests is."""
    shown = widget.grab().toImage()
    colors = (
        shown.pixelColor(x, y)
        for x in range(0, shown.width(), 5)
        for y in range(0, shown.height(), 5)
    )
    return any(color.red() > 150 > 2 * color.green() for color in colors)


MEDIA = {"file": "sounds/alarm.wav", "alt": "An alarm", "plays": 2, "heard": True}
LONG = {"sounds/alarm.wav": sound(seconds=60)}
"""So that it is not over before a busy machine has looked."""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path / "own", MEDIA)


@pytest.fixture(autouse=True)
def without_loudspeaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player's own clock, as on a computer without a loudspeaker; short sounds are not over
    before a busy machine has looked."""
    monkeypatch.setattr(players, "time", PatientTime(most_ms=30))
    monkeypatch.setattr(Screen, "make_player", staticmethod(lambda heard: Player(heard, None)))


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


def test_a_small_file_of_long_silence_takes_no_more_memory_than_its_sound() -> None:
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros((30 * 48_000, 8), np.int16), 48_000, format="FLAC")
    tracemalloc.start()
    decoded = media.decode_sound(stream.getvalue())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * decoded.samples.nbytes, "all channels as floats take 16 times as much"


@pytest.mark.parametrize(
    ("named", "files", "told"),
    [
        ("sounds/none.wav", {}, "the sound 'sounds/none.wav' does not exist"),
        ("sounds/bad.wav", {"sounds/bad.wav": b"no sound"}, "is not a WAV, FLAC, Ogg or MP3 file"),
        ("sounds/empty.wav", {"sounds/empty.wav": sound(seconds=0)}, "empty"),
        ("../alarm.wav", {}, "outside the study's folder"),
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


def test_sounds_are_part_of_the_study(study: Path) -> None:
    loaded = load(study)
    assert loaded.files["sounds/alarm.wav"] == sound()


def _wait(condition: Any, qapp: QApplication) -> None:
    wait_for(condition, lambda: QTest.qWait(10))


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
    assert "Please play this to the end" in heard.text(Told.Description)
    assert "Plays left: 2" in bar.note.text()

    bar.button.setFocus()
    QTest.keyClick(bar.button, Qt.Key.Key_Space)
    assert screen.state.sounds["loud", ""].playing
    _wait(lambda: bar.bar.value() > 100, qapp)
    assert bar.button.text() == "Pause"
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    paused = screen.state.sounds["loud", ""]
    assert (paused.plays, paused.playing) == (1, False)
    assert 0.1 <= paused.at_s < SECONDS
    t_paused = room.clock.now_ns()

    room.runner.send(PlaySound("loud", "play"))
    room.runner.send(Pause("a question"))
    working = screen.state.sounds["loud", ""].position
    held = [working(screen.state.pauses.working_ns(room.clock.now_ns())) for _ in range(2)]
    assert held[0] == held[1], "it stands still while the session is paused"
    room.runner.send(Resume("go on"))
    _wait(lambda: screen.state.sounds["loud", ""].heard, qapp)
    _wait(lambda: view.isEnabled(), qapp)
    assert screen.state.sounds["loud", ""].plays == 1, "a pause is no second play"
    room.runner.send(Answer("loud", 3))
    assert screen.state.answers["loud"] == 3

    room.runner.send(PlaySound("loud", "play"))
    room.runner.send(Next())
    second = screen.state.sounds["loud", ""]
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
    assert state.sounds["loud", ""].plays == 2
    assert state.sounds["loud", ""].heard


def test_simulated_participants_hear_it(study: Path, tmp_path: Path) -> None:
    sessions = simulate_study(str(study), 2, "random", tmp_path / "sessions")
    rows = load_tables(sessions[0].parent).answers.query("item == 'loud'")
    assert list(rows["heard"]) == [True, True]
    assert (rows["first_s"] > SECONDS).all()


def with_options(folder: Path, kind: str = "choice", **more: Any) -> Path:
    """A study whose question is which of two sounds is higher."""
    path = write_study(folder, MEDIA, **{"sounds/high.flac": sound("FLAC", 0.2)})
    options = [
        {"id": "first", "text": "The first", "media": {"file": "sounds/alarm.wav", "heard": True}},
        {"id": "second", "text": "The second", "media": {"file": "sounds/high.flac", **more}},
        {"id": "third", "text": "Neither"},
    ]
    item = {"id": "higher", "kind": kind, "text": "Which is higher?", "identifying": False}
    item |= {"best": "highest", "worst": "lowest"} if kind == "best_worst" else {}
    sheet = {
        "id": "sheet", "version": 1, "title": "A sheet", "source": "Ours",
        "items": [{**item, "options": options}],
    }  # fmt: skip
    (folder / "instruments/sheet.yaml").write_text(json.dumps(sheet, indent=1), "utf-8")
    return path


@pytest.mark.parametrize("kind", ["choice", "choices", "ranking", "best_worst"])
def test_options_play_sounds_by_keys_and_one_at_a_time(
    kind: str, tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=with_options(tmp_path / "own", kind, plays=1, heard=True))
    window = open_window(room)
    window.resize(1366, 768)
    screen = window.screen_shown
    bars = screen.pages[0].sounds
    first, second = bars["higher", "first"], bars["higher", "second"]
    assert [*bars] == [("higher", "first"), ("higher", "second")]
    assert interface_of(first.button).text(Told.Name) == "Play: The first"
    assert interface_of(second.button).text(Told.Name) == "Play: The second"
    assert ill_made(window) == []
    assert out_of_reach(window) == []
    view = screen.items[0]
    question, *down = (each.mapTo(window, each.rect().topLeft()).y() for each in (
        view.words, first, second, view.entrance(),
    ))  # fmt: skip
    assert [question, *down] == sorted([question, *down]), "what an option sounds like is above it"
    assert not view.isEnabled()
    assert view.words.isEnabled()
    assert screen.entrance() is first.button
    first.button.setFocus()
    QTest.keyClick(first.button, Qt.Key.Key_Space)
    QTest.keyClick(second.button, Qt.Key.Key_Space)
    assert not screen.state.sounds["higher", "first"].playing
    _wait(lambda: screen.state.sounds["higher", "second"].heard, qapp)
    assert screen.entrance() is first.button, "the other one is still to be heard"
    assert not second.button.isEnabled(), "it was played as often as it may be"
    QTest.keyClick(first.button, Qt.Key.Key_Space)
    _wait(lambda: screen.state.sounds["higher", "first"].heard, qapp)
    _wait(lambda: view.isEnabled(), qapp)
    answer = screen.items[0].item.simulate(np.random.default_rng(1), None)
    room.runner.send(Answer("higher", answer))
    room.runner.send(Next())
    path = room.session.folder.path
    room.session.close("over")
    events = [row.event() for row in open_record(path).rows if row.kind == "sound.played"]
    assert [(each.payload["option"], each.payload["action"]) for each in events] == [
        ("first", "play"), ("first", "pause"), ("second", "play"), ("second", "end"),
        ("first", "play"), ("first", "end"),
    ]  # fmt: skip
    rows = load_tables(path.parent).answers
    assert set(zip(rows["plays"], rows["heard"], strict=True)) == {(2, True)}


def test_simulated_participants_hear_the_sounds_of_options(tmp_path: Path) -> None:
    study = with_options(tmp_path / "own")
    sessions = simulate_study(str(study), 2, "random", tmp_path / "sessions")
    rows = load_tables(sessions[0].parent).answers.query("item == 'higher'")
    assert list(zip(rows["plays"], rows["heard"], strict=True)) == [(2, True)] * 2
    out = export(list(sessions), tmp_path / "bundle")
    (events, *_) = sorted(out.rglob("*_events.tsv"))
    assert "sheet higher_first play 1" in events.read_text("utf-8")


@pytest.mark.parametrize(
    ("where", "named", "told"),
    [
        ("option", "sounds/none.wav", "the sound 'sounds/none.wav' does not exist"),
        ("text", "sounds/none.wav", "the sound 'sounds/none.wav' does not exist"),
        ("text", "sounds/bad.wav", "is not a WAV, FLAC, Ogg or MP3 file"),
    ],
)
def test_a_mistake_in_a_text_or_an_option_is_told_with_its_line(
    where: str, named: str, told: str, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    path = with_options(folder, file=named) if where == "option" else write_study(folder, MEDIA)
    (folder / "sounds/bad.wav").write_bytes(b"no sound")
    if where == "text":
        add_text(path, f"# A\n\n![x [y]]({named})\n")
    faults = [fault for error in check_study(path).errors for fault in error.faults]
    assert [fault for fault in faults if told in fault.what], faults
    assert all(fault.line for fault in faults)
    if where == "text":
        assert [fault.line for fault in faults] == [3]


def add_text(path: Path, text: str) -> None:
    (path.parent / "words.md").write_text(text, "utf-8")
    flow = "flow:\n  - text: words.md\n"
    path.write_text(path.read_text("utf-8").replace("flow:\n", flow), "utf-8")


TEXT = """# Alarms

This is the alarm that you will hear:

![An alarm [loud]](sounds/alarm.wav)

And this is a short one: ![](sounds/high.flac)

---

Now it begins.
"""


def test_a_text_plays_sounds_and_stops_with_its_page(
    tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **{"sounds/high.flac": sound("FLAC", 0.2)})
    add_text(path, TEXT)
    assert load(path).files["sounds/high.flac"] == sound("FLAC", 0.2), "it goes with each session"
    room = open_room(study=path)
    window = open_window(room)
    window.resize(1366, 768)
    screen = window.screen_shown
    bars = [bar for _, bar in screen.text.sound_bars]
    assert [interface_of(bar.button).text(Told.Name) for bar in bars] == [
        "Play: An alarm [loud]",
        "Play: high",
    ]
    assert screen.text.accessibleDescription() == "An alarm [loud]"
    for bar in bars:
        assert screen.text.viewport().rect().contains(bar.geometry())
        assert bar.bar.geometry().right() < bar.time.geometry().left()
    assert bars[0].geometry().bottom() < bars[1].geometry().top(), "each in its place in the text"
    assert ill_made(window) == []
    assert out_of_reach(window) == []
    bars[0].button.setFocus()
    QTest.keyClick(bars[0].button, Qt.Key.Key_Space)
    _wait(lambda: bars[0].bar.value() > 100, qapp)
    QTest.keyClick(bars[1].button, Qt.Key.Key_Space)
    sounds = room.runner.state.sounds
    assert not sounds["sounds/alarm.wav"].playing, "one plays at a time"
    assert sounds["sounds/high.flac"].playing
    t_second = room.clock.now_ns()
    _wait(lambda: room.runner.state.sounds["sounds/high.flac"].heard, qapp)
    _wait(lambda: bars[1].button.text() == "Play", qapp)
    QTest.mouseClick(bars[1].button, Qt.MouseButton.LeftButton)
    assert room.runner.state.sounds["sounds/high.flac"].plays == 2
    room.runner.send(Next())
    assert not any(each.playing for each in room.runner.state.sounds.values())
    QTest.qWait(50)
    assert screen.text.sound_bars == []
    room.runner.send(Next())
    assert room.runner.state.sounds == {}
    record_path = room.session.folder.path
    room.session.close("over")
    record = open_record(record_path)
    events = [row.event() for row in record.rows if row.kind == "text.sound_played"]
    assert [(each.payload["sound"], each.payload["action"], each.payload["play"])
            for each in events] == [
        ("sounds/alarm.wav", "play", 1), ("sounds/high.flac", "play", 1),
        ("sounds/high.flac", "end", 1), ("sounds/high.flac", "play", 2),
    ]  # fmt: skip
    assert events[2].payload["at_s"] == 0.2
    with History(record) as history:
        past = PastWindow(history)
        past.show_time(t_second)
        shown = [bar for _, bar in past.picture.screen.text.sound_bars]
        assert [bar.button.text() for bar in shown] == ["Play", "Pause"]
        assert 1 <= shown[0].bar.value() < 1000 * SECONDS
        assert all(bar._player is None for bar in shown)
        past.close()
    out = export([record_path], tmp_path / "bundle")
    (told,) = out.rglob("*task-session_events.tsv")
    assert "sounds/alarm.wav play 1" in told.read_text("utf-8")


def test_a_sound_above_questions_is_played_there(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **LONG)
    (path.parent / "above.md").write_text("Listen.\n\n![An alarm](sounds/alarm.wav)\n", "utf-8")
    path.write_text(path.read_text("utf-8") + "    above: above.md\n", "utf-8")
    room = open_room(study=path)
    window = open_window(room)
    window.resize(1366, 768)
    (above,) = window.screen_shown.pages[0].findChildren(TextAbove)
    ((_, bar),) = above.sound_bars
    (of_item,) = window.screen_shown.pages[0].sounds.values()
    for played, other in ((bar, of_item), (of_item, bar), (bar, of_item)):
        QTest.mouseClick(played.button, Qt.MouseButton.LeftButton)
        other.follow()
        assert played.button.text() == "Pause"
        assert other.button.text() == "Play", "one plays at a time"
    assert room.runner.state.sounds["sounds/alarm.wav"].playing
    assert ill_made(window) == []


def test_a_sound_goes_on_where_its_window_is_minimised(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    window = open_window(open_room(study=write_study(tmp_path / "own", MEDIA, **LONG)))
    (bar,) = window.screen_shown.pages[0].sounds.values()
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    player = bar._player
    window.showMinimized()
    QTest.qWait(50)
    assert window.isMinimized()
    assert player.playing, "the session counts it as heard"
    window.showNormal()
    assert bar._player is player
    window.hide()
    assert bar._player is None


def test_a_screen_reader_is_told_of_a_sound_only_what_changes(
    study: Path, open_room: Any, open_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(open_room(study=study))
    (bar,) = window.screen_shown.pages[0].sounds.values()
    named: list[str] = []
    monkeypatch.setattr(bar.button, "setAccessibleName", named.append)
    QTest.qWait(200)
    assert named == []
    QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
    QTest.qWait(150)
    assert named == ["Pause: An alarm"]


def test_a_sound_that_a_text_shows_twice_is_heard_once(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **LONG)
    add_text(path, "![An alarm](sounds/alarm.wav)\n\n![The same](sounds/alarm.wav)\n")
    window = open_window(open_room(study=path))
    (_, first), (_, second) = window.screen_shown.text.sound_bars
    for pressed, other in ((first, second), (second, first)):
        for words in ("Pause", "Play"):
            QTest.mouseClick(pressed.button, Qt.MouseButton.LeftButton)
            other.follow()
            assert [pressed.button.text(), other.button.text()] == [words, words]
            assert pressed._player.playing == (words == "Pause")
            assert not other._player.playing


def test_a_sound_plays_in_a_break_which_holds_the_working_time(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA, **LONG)
    (path.parent / "rest.md").write_text("# Rest\n\n![An alarm](sounds/alarm.wav)\n", "utf-8")
    flow = "flow:\n  - break: rest.md\n"
    path.write_text(path.read_text("utf-8").replace("flow:\n", flow), "utf-8")
    room = open_room(study=path)
    ((_, bar),) = open_window(room).screen_shown.text.sound_bars

    def heard() -> Any:
        return room.runner.state.sounds["sounds/alarm.wav"]

    for words in ("Pause", "Play", "Pause"):
        QTest.mouseClick(bar.button, Qt.MouseButton.LeftButton)
        assert bar.button.text() == words
        assert bar._player.playing == (words == "Pause")
        QTest.qWait(100)
    assert heard().at_s > 0.05, "where it was paused"
    assert heard().plays == 1
    room.runner.send(Next())
    assert room.runner.state.sounds == {}, "it stops with the break"


def test_a_debriefing_at_an_early_end_shows_pictures_and_names_sounds(
    tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    path = write_study(tmp_path / "own", MEDIA)
    Image.new("RGB", (60, 40), (200, 30, 30)).save(path.parent / "field.png")
    text = "# Thanks\n\n![A field](field.png)\n\n![An alarm](sounds/alarm.wav)\n"
    (path.parent / "thanks.md").write_text(text, "utf-8")
    flow = "  - debrief: thanks.md\n    early: always\n"
    path.write_text(path.read_text("utf-8") + flow, "utf-8")
    room = open_room(study=path)
    window = open_window(room)
    room.runner.send(EndSession("stop", debrief=True))
    QTest.qWait(50)
    text = window.cover.more
    assert "(♪ An alarm)" in text.toPlainText()
    assert shows_red(text)


def test_a_consent_form_on_paper_has_pictures_and_names_sounds(
    tmp_path: Path, qapp: QApplication
) -> None:
    path = write_study(tmp_path / "own", MEDIA)
    picture = io.BytesIO()
    Image.new("RGB", (1600, 600), (200, 30, 30)).save(picture, "PNG")
    (path.parent / "field.png").write_bytes(picture.getvalue())
    text = "# Consent\n\n![An alarm](sounds/alarm.wav)\n\n![A field](field.png)\n"
    (path.parent / "consent.md").write_text(text, "utf-8")
    flow = "flow:\n  - consent: consent.md\n"
    path.write_text(path.read_text("utf-8").replace("flow:\n", flow), "utf-8")
    write_blank(tmp_path / "form.pdf", load(path))
    assert b"/Width 480" in (tmp_path / "form.pdf").read_bytes(), "no wider than the page"
    assert media.name_sounds(text) == "# Consent\n\n(♪ An alarm)\n\n![A field](field.png)\n"


def test_sounds_of_a_long_text_scroll_with_it(
    tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    path = write_study(tmp_path / "own", MEDIA)
    add_text(path, "A line.\n\n" * 30 + "![An alarm](sounds/alarm.wav)\n\n" + "More.\n\n" * 30)
    window = open_window(open_room(study=path))
    window.resize(1366, 768)
    qapp.processEvents()
    text = window.screen_shown.text
    ((_, bar),) = text.sound_bars
    before = bar.y()
    assert before > text.viewport().height(), "it is below what is seen"
    text.verticalScrollBar().setValue(before - 50)
    assert bar.y() == 50
    bar.button.setFocus()
    assert text.viewport().rect().contains(bar.geometry())
    window.bottom.right.setFocus()
    for below in (False, True):
        scroll = text.verticalScrollBar()
        scroll.setValue(0 if below else scroll.maximum())
        assert not text.viewport().rect().intersects(bar.geometry())
        bar.button.setFocus()
        qapp.processEvents()
        assert text.viewport().rect().contains(bar.geometry()), "what has the focus is seen"
        window.bottom.right.setFocus()
