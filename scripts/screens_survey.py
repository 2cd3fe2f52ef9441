"""The way to the lab's own survey, on both screens and in both languages, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.tasks.survey.events import OpenSurvey
from labapp.ui import language
from scripts.screens_moderator import desk_of
from scripts.screens_participant import Shot, opened
from tests.helpers.rooms import skip_to

STUDY = """\
id: surveyed
title: A study with a survey
version: 1
language: {language}
flow:
  - consent: shipped:consent
  - survey: shipped:survey
    link: https://survey.example.org/index.php/12345?pid={{participant}}&session={{session}}
    open_with: {way}
  - debrief: shipped:debrief
"""


def study(folder: Path, spoken: str, way: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "surveyed.yaml"
    path.write_text(STUDY.format(language=spoken, way=way))
    return path


def shots(folder: Path) -> Iterator[Shot]:
    for spoken in ("en", "de"):
        for way in ("button", "qr-code", "both"):
            place = folder / f"{spoken}-{way}"
            with opened(place, study=study(place, spoken, way)) as (room, window):
                skip_to(room, "survey-1")
                yield f"{spoken}-v01-survey-{way}", window
                if way == "button":
                    room.runner.send(OpenSurvey(opened=False))
                    yield f"{spoken}-v02-survey-failed", window
        language.speak(spoken)
        try:
            place = folder / f"{spoken}-console"
            with desk_of(place, study(place, spoken, "button")) as desk:
                skip_to(desk.room, "survey-1")
                desk.talk(8)
                yield f"{spoken}-v10-console-survey", desk.settled()
                desk.runner.send(OpenSurvey(opened=True))
                yield f"{spoken}-v11-console-survey-opened", desk.settled()
        finally:
            language.speak(language.ENGLISH)
