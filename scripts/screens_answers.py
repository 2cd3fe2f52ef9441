"""Sounds in texts and with options, words at the ends of a slider, a stage whose levels a rule
chooses, what an answer left out, tags and phases: in English and German, for screenshots.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.record.audio.player import Player
from labapp.record.events.commands import Next
from labapp.record.journal.sessions import SessionSummary
from labapp.tasks.questionnaire.machine import Answer, PlaySound
from labapp.ui import language
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.home import RESULTS, SESSIONS, HomeWindow
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import Bridge
from labapp.ui.researcher.controller import Researcher
from scripts.screens_moderator import on_screen, ready_home
from scripts.screens_participant import opened
from scripts.screens_single_dimension import answer
from tests.helpers.beside import put_beside
from tests.helpers.rooms import skip_to
from tests.tasks.screens.test_study_sounds import sound

Shot = tuple[str, QWidget]
WORDS = {
    "en": ("Alarms", "This is the alarm that you will hear:", "Which alarm is more urgent?",
           ("The first alarm", "The second alarm, which is longer", "Neither of them"),
           "How sure are you?", ("not sure at all", "completely sure, I would bet on it")),
    "de": ("Alarme", "Diesen Alarm werden Sie hören:", "Welcher Alarm ist dringender?",
           ("Der erste Alarm", "Der zweite Alarm, der länger dauert", "Keiner von beiden"),
           "Wie sicher sind Sie?", ("überhaupt nicht sicher", "völlig sicher, ich würde wetten")),
}  # fmt: skip
STUDY = """\
id: own
title: Alarms
version: 1
language: LANGUAGE
recording: {audio: "off"}
flow:
  - text: words.md
  - questionnaire: sheet
  - stages:
      task: single-dimension
      visualisation: traversals
      models: [circles/gt]
      intro: words.md
      spreads: [0.05, 0.1, 0.2, 0.4, 1]
      adaptive: {method: up-down, start: 0.4, trials: 6}
    name: dials
  - {text: words.md, only_if: {dials.right: {above: 0.9}}}
  - {text: words.md, only_if: {dials.right: {below: 0.9}}}
"""


def write(folder: Path, code: str) -> Path:
    """The study, in one of the languages."""
    put_beside(folder)
    (folder / "sounds").mkdir()
    for name, seconds in (("first", 2.0), ("second", 5.0)):
        (folder / f"sounds/{name}.wav").write_bytes(sound(seconds=seconds))
    title, before, question, options, sure, (low, high) = WORDS[code]
    text = f"# {title}\n\n{before}\n\n![1](sounds/first.wav)\n\n![2](sounds/second.wav)\n"
    (folder / "words.md").write_text(text, "utf-8")
    media = [{"file": "sounds/first.wav", "plays": 2}, {"file": "sounds/second.wav", "heard": True}]
    listed = [
        {"id": f"o{number}", "text": words} | ({"media": media[number]} if number < 2 else {})
        for number, words in enumerate(options)
    ]
    items = [
        {"id": kind, "kind": kind, "text": question, "options": listed}
        for kind in ("choice", "ranking")
    ] + [{"id": "sure", "kind": "slider", "text": sure, "ends": {"low": low, "high": high}}]
    sheet = {"id": "sheet", "version": 1, "title": title, "source": "Ours", "items": items}
    (folder / "instruments/sheet.yaml").write_text(json.dumps(sheet, indent=1), "utf-8")
    path = folder / "own.yaml"
    path.write_text(STUDY.replace("LANGUAGE", code), "utf-8")
    return path


def shots(folder: Path) -> Iterator[Shot]:
    real, Screen.make_player = Screen.make_player, staticmethod(lambda heard: Player(heard, None))
    try:
        for code in ("en", "de"):
            language.speak(code)
            yield from participant(folder / code, code)
            yield from home(code)
    finally:
        Screen.make_player = real  # type: ignore[method-assign]
        language.speak(language.ENGLISH)


def participant(folder: Path, code: str) -> Iterator[Shot]:
    with opened(folder / "data", study=write(folder / "study", code)) as (room, window):
        yield f"{code}-a1-text-with-sounds", window
        room.runner.send(Next())
        yield f"{code}-a2-options-with-sounds", window
        room.runner.send(PlaySound("choice", "play", option="o1"))
        room.runner.send(PlaySound("choice", "end", option="o1"))
        room.runner.send(Answer("choice", {"chosen": ("o1",)}))
        room.runner.send(Answer("sure", {"value": 71, "touched": True}))
        yield f"{code}-a3-answered", window
        skip_to(room, "stage-1-intro")
        skip_to(room, "stage-1")
        answer(room, right=True)
        room.runner.send(Next())
        yield f"{code}-a4-adaptive-question", window
        console = ConsoleWindow(Bridge(room.runner), room.loaded, "P01", lambda: None)
        console.resize(window.size())
        console.show()
        console.refresh()
        yield f"{code}-a5-console-of-it", console
        while room.runner.part is not None and room.runner.part.id == "stage-1":
            answer(room, right=False)
            room.runner.send(Next())
        console.refresh()
        yield f"{code}-a6-console-left-out", console
        console.shut()


def home(code: str) -> Iterator[Shot]:
    window = on_screen(ready_home())
    assert isinstance(window, HomeWindow)
    researcher = Researcher(window.view.results)
    lines = [
        SessionSummary(
            f"sub-P0{n}_ses-1_20260102T03040{n}Z", Path(f"P0{n}"), "quickstart", f"P0{n}", "1",
            f"2026-01-02T03:04:0{n}Z", "complete", sound=True,
            phase="main" if n < 3 else "pilot", tags=("left-handed", "excluded late")[: n % 3],
        )
        for n in range(1, 5)
    ]  # fmt: skip
    window.view.sessions_page.set_lines(lines)
    window.view.tabs[SESSIONS].click()
    page = window.view.sessions_page
    page.table.selectRow(1)
    yield f"{code}-a7-sessions-with-tags", window
    page.tag.click()
    yield f"{code}-a8-tags-asked", window
    researcher.set_sessions(lines)
    window.view.tabs[RESULTS].click()
    yield f"{code}-a9-results-of-a-phase", window
    researcher.close()
    window.close()
