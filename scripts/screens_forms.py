"""Videos, sliders with words at their ends, items between rounds and checks with feedback, with the
console and replays of them: in English and German, for screenshots.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from labapp.record.audio.player import Player
from labapp.record.events.commands import Next
from labapp.tasks.questionnaire.machine import Answer, PlaySound
from labapp.ui import language
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import Bridge
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow
from scripts.screens_moderator import on_screen
from scripts.screens_participant import opened
from tests.helpers.beside import put_beside
from tests.helpers.made_videos import heard_by, speech_like, write_video
from tests.helpers.rooms import skip_to

Shot = tuple[str, QWidget]
SECONDS = 4.0
WORDS = {
    "en": {
        "title": "Robots that hand over cups",
        "above": "Please watch how the robot hands over the cup, then answer the questions.",
        "which": "Which robot was more careful?",
        "options": ("The first robot", "The second robot, which is slower", "Neither of them"),
        "sure": "How sure are you?",
        "ends": ("not sure at all", "completely sure, I would bet on it"),
        "pause": "Please have a short rest. Click *Continue* when you are ready.",
        "check": "Please choose “often” here.",
        "listed": ("never", "sometimes", "often"),
        "again": "Please read the text above the options again.",
    },
    "de": {
        "title": "Roboter, die Tassen überreichen",
        "above": "Bitte sehen Sie sich an, wie der Roboter die Tasse überreicht.",
        "which": "Welcher Roboter war vorsichtiger?",
        "options": ("Der erste Roboter", "Der zweite, der langsamer ist", "Keiner von beiden"),
        "sure": "Wie sicher sind Sie?",
        "ends": ("überhaupt nicht sicher", "völlig sicher, ich würde darauf wetten"),
        "pause": "Bitte ruhen Sie sich kurz aus. Klicken Sie auf *Weiter*, wenn Sie bereit sind.",
        "check": "Bitte wählen Sie hier „oft“.",
        "listed": ("nie", "manchmal", "oft"),
        "again": "Bitte lesen Sie den Text über den Antworten noch einmal.",
    },
}  # fmt: skip
STUDY = """\
id: own
title: TITLE
version: 1
language: LANGUAGE
unnamed_texts: shipped
recording: {audio: "off"}
design:
  within: [scene: [kitchen, office, lift]]
flow:
  - text: words.md
  - questionnaire: films
  - each: scene
    flow:
      - questionnaire: sheet
    interrupt:
      every: 1
      flow:
        - text: pause.md
        - questionnaire: attention
"""


def write(folder: Path, code: str) -> Path:
    """The study, in one of the languages."""
    words = WORDS[code]
    put_beside(folder)
    (folder / "videos").mkdir()
    samples = heard_by(speech_like(SECONDS), 0.0, SECONDS)
    for name, size in (("wide", (640, 360)), ("tall", (360, 480))):
        write_video(folder / f"videos/{name}.mp4", samples, SECONDS, per_second=25, size=size)
    wide, tall = ({"file": f"videos/{name}.mp4", "width": 320} for name in ("wide", "tall"))
    text = f"# {words['title']}\n\n{words['above']}\n\n![1](videos/wide.mp4)\n"
    (folder / "words.md").write_text(text, "utf-8")
    (folder / "pause.md").write_text(f"# {words['title']}\n\n{words['pause']}\n", "utf-8")
    options = [
        {"id": f"o{number}", "text": option} | ({"media": media} if media else {})
        for number, (option, media) in enumerate(
            zip(words["options"], (wide, tall, None), strict=True)
        )
    ]
    low, high = words["ends"]
    slider = {"kind": "slider", "text": words["sure"], "ends": {"low": low, "high": high}}
    listed = [{"id": f"l{number}", "text": text} for number, text in enumerate(words["listed"])]
    check = {"right": "l2", "attempts": 3, "feedback": words["again"]}
    sheets = {
        "films": [
            {"id": "seen", "kind": "slider", "text": words["sure"], "numbers": False}
            | {"media": wide | {"heard": True}, "ends": {"low": low, "high": high}},
            {"id": "which", "kind": "choice", "text": words["which"], "options": options},
        ],
        "sheet": [
            slider | {"id": "bare", "numbers": False},
            slider | {"id": "numbered"},
            {"id": "plain", "kind": "slider", "text": words["sure"]},
        ],
        "attention": [
            {"id": "often", "kind": "choice", "text": words["check"], "options": listed}
            | {"check": check}
        ],
    }
    for name, items in sheets.items():
        sheet = {"id": name, "version": 1, "title": words["title"], "source": "Ours"}
        sheet |= {"items": items, "per_page": 1 if name == "films" else None}
        sheet = {key: value for key, value in sheet.items() if value is not None}
        (folder / f"instruments/{name}.yaml").write_text(json.dumps(sheet, indent=1), "utf-8")
    path = folder / "own.yaml"
    path.write_text(STUDY.replace("LANGUAGE", code).replace("TITLE", str(words["title"])), "utf-8")
    return path


def shots(folder: Path) -> Iterator[Shot]:
    real, Screen.make_player = Screen.make_player, staticmethod(lambda heard: Player(heard, None))
    try:
        for code in ("en", "de"):
            language.speak(code)
            yield from session(folder / code, code)
    finally:
        Screen.make_player = real  # type: ignore[method-assign]
        language.speak(language.ENGLISH)


def session(folder: Path, code: str) -> Iterator[Shot]:
    with opened(folder / "data", study=write(folder / "study", code)) as (room, window):
        runner = room.runner
        console = ConsoleWindow(Bridge(runner), room.loaded, "P01", lambda: None)
        on_screen(console)
        yield f"{code}-f01-text-with-video", window
        runner.send(Next())
        yield f"{code}-f02-item-with-video", window
        runner.send(PlaySound("seen", "play"))
        QTest.qWait(1500)
        yield f"{code}-f03-item-playing", window
        runner.send(PlaySound("seen", "end"))
        runner.send(Answer("seen", {"value": 71, "touched": True}))
        yield f"{code}-f04-item-answered", window
        runner.send(Next())
        yield f"{code}-f05-options-with-videos", window
        runner.send(Answer("which", {"chosen": ("o1",)}))
        console.refresh()
        yield f"{code}-f06-console-of-videos", console
        runner.send(Next())
        yield f"{code}-f07-sliders", window
        for item in ("bare", "numbered", "plain"):
            runner.send(Answer(item, {"value": 80, "touched": True}))
        yield f"{code}-f08-sliders-answered", window
        console.refresh()
        yield f"{code}-f09-console-of-sliders", console
        runner.send(Next())
        yield f"{code}-f10-text-between-rounds", window
        console.refresh()
        yield f"{code}-f11-console-of-text", console
        runner.send(Next())
        runner.send(Answer("often", {"chosen": ("l0",)}))
        runner.send(Next())
        yield f"{code}-f12-check-with-feedback", window
        console.refresh()
        yield f"{code}-f13-console-of-check", console
        at_ns = runner.clock.now_ns()
        runner.send(Answer("often", {"chosen": ("l2",)}))
        skip_to(room, "text-3")
        console.refresh()
        yield f"{code}-f14-console-second-text", console
        console.shut()
        where = room.session.folder.path
    for dark in (False, True):
        replay = ReplayWindow(open_session(where), dark=dark)
        on_screen(replay)
        replay.open(at_ns)
        QTest.qWait(500)
        yield f"{code}-f15-replay-{'dark' if dark else 'light'}", replay
        replay.close()
