"""More of the moderator's screens, for screenshots.py: the console in every part and at the end,
the home of a study that is full; in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.record.events import Source
from labapp.record.events.commands import AddNote, Next
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import MarkAlignment
from labapp.ui import language
from labapp.ui.home import HomeController
from scripts import screens_calibration
from scripts.screens_moderator import Shot, desk_of
from tests.helpers.drawn import drawn_study, ended, interrupted
from tests.helpers.languages import translated
from tests.helpers.questionnaires import questionnaire_study
from tests.helpers.rooms import skip_to
from tests.helpers.single import write_single_study
from tests.helpers.skips import skip_stage
from tests.helpers.studies import write_study

PAYS = """\
incentive: {text: "texts/{language}/incentive-bonus.md", base: 3.75, per_solved: 0.15}
flow:
  - consent: texts/{language}/consent.md
  - practice: circles
"""
DEBRIEF = "  - debrief: texts/{language}/debrief.md\n"


def shots(folder: Path) -> Iterator[Shot]:
    for spoken in ("en", "de"):
        language.speak(spoken)
        try:
            for name, window in console(folder / spoken, spoken):
                yield f"{spoken}-{name}", window
        finally:
            language.speak(language.ENGLISH)


def console(folder: Path, spoken: str) -> Iterator[Shot]:
    yield from calibrating(folder / "calibration", spoken)
    yield from single(folder / "single", spoken)
    yield from timed(folder / "timed", spoken)
    yield from asking(folder / "asked", spoken)
    yield from to_the_end(folder / "paid", spoken)
    yield from stopped(folder / "stopped", spoken)
    yield from full(folder / "full")


def calibrating(folder: Path, spoken: str) -> Iterator[Shot]:
    study = screens_calibration.study(folder / "study", spoken, "sinelines/gt", "always", 600)
    with desk_of(folder, study) as desk:
        skip_to(desk.room, "stage-1")
        desk.talk(8)
        desk.runner.send(MarkAlignment("far"))
        desk.solve(0.9)
        desk.runner.send(MarkAlignment("close"))
        yield "m30-console-calibration", desk.settled()
        desk.runner.send(Next())
        skip_to(desk.room, "break-1")
        desk.talk(5)
        yield "m31-console-break-part", desk.settled()


def single(folder: Path, spoken: str) -> Iterator[Shot]:
    study = write_single_study(folder, practice=True, language=spoken)
    with desk_of(folder, study) as desk:
        yield "m32-console-single-tutorial", desk.settled()
        skip_to(desk.room, "practice")
        desk.talk(5)
        yield "m33-console-single-practice", desk.settled()
        skip_to(desk.room, "stage-1")
        desk.talk(5)
        yield "m34-console-single-series", desk.settled()


def timed(folder: Path, spoken: str) -> Iterator[Shot]:
    """A study with a planned length and a stage with a time limit, and the list of keys."""
    study = write_study(folder, "sinelines/gt", trials=6, time_limit_min=8)
    text = study.read_text().replace("version:", "minutes: 40\nversion:", 1)
    study.write_text(text.replace("flow:\n", "flow:\n  - practice: circles\n"))
    with desk_of(folder, translated(study, spoken)) as desk:
        desk.talk(20)
        yield "m47-console-before-timed", desk.settled()
        skip_to(desk.room, "stage-1")
        for number, words in enumerate(("wavy", "two humps", "turn it", "again", "hm", "left")):
            desk.talk(12)
            desk.runner.send(AddNote(f"{words} {number}", desk.clock.now_ns()))
        yield "m48-console-timed", desk.settled()
        desk.console.keys.toggle()
        yield "m49-console-keys", desk.settled()


def asking(folder: Path, spoken: str) -> Iterator[Shot]:
    names = ("nasa-tlx", "nasa-tlx-weights", "demographics", "sus", "ueq-s")
    with desk_of(folder, questionnaire_study(folder / "study", names, spoken)) as desk:
        for number, name in enumerate(names, start=1):
            skip_to(desk.room, f"questionnaire-{number}")
            if name == "nasa-tlx":
                for item in desk.room.loaded.instruments[name].items[:3]:
                    desk.runner.send(Answer(item.id, 7))
            desk.talk(4)
            yield f"m35-console-{name}", desk.settled()


def to_the_end(folder: Path, spoken: str) -> Iterator[Shot]:
    study = write_study(folder, "sinelines/gt")
    study.write_text(study.read_text().replace("flow:\n", PAYS) + DEBRIEF)
    with desk_of(folder, translated(study, spoken)) as desk:
        skip_to(desk.room, "incentive")
        desk.talk(3)
        yield "m36-console-payment", desk.settled()
        skip_to(desk.room, "practice")
        desk.solve()
        yield "m37-console-practice-matched", desk.settled()
        skip_stage(desk.runner, Source.MODERATOR)
        skip_to(desk.room, "debrief")
        desk.clock.advance(2)
        yield "m38-console-debrief", desk.settled()
        desk.runner.send(Next())
        desk.clock.advance(1)
        yield "m39-console-finished", desk.settled()


def stopped(folder: Path, spoken: str) -> Iterator[Shot]:
    study = translated(write_study(folder, "sinelines/gt"), spoken)
    with desk_of(folder, study) as desk:
        desk.talk(12)
        header = desk.console.header
        header.press_pause()
        header.reasons.buttons[-1].click()
        header.reasons.typed.setText("fire alarm")
        yield "m40-console-pause-other", desk.settled()
        header.reasons.choose()
        yield "m41-console-paused", desk.settled()
        header.press_pause()
        desk.settled()
        header.skip.click()
        yield "m42-console-skip", desk.settled()
        header.ask_end()
        header.questions.other.click()
        header.questions.yes.click()
        desk.clock.advance(1)
        yield "m43-console-withdrawn-kept", desk.settled()


def full(folder: Path) -> Iterator[Shot]:
    """A study that draws conditions: what would be drawn; none is left."""
    loaded = drawn_study(folder, cells="ab", draw=1)
    ended(loaded, folder, "P01", "delete")
    home = HomeController(folder / "data", folder / "private")
    home.show()
    home.view.session.choose_file(loaded.path)
    home.window.resize(home.window.screen().size())
    yield "m44-home-drawn", home.window
    for participant in ("P02", "P03"):
        interrupted(loaded, folder, participant)
    home.choose_study(str(loaded.path))
    yield "m45-home-full", home.window
    home.view.tabs[1].click()
    yield "m46-home-sessions-kinds", home.window
    home.window.close()
