"""The participant's screens of a calibration and of a break, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.tasks.reconstruction.events import MarkAlignment
from scripts.screens_participant import opened
from tests.helpers.rooms import skip_to, solve
from tests.helpers.studies import ring_decoder

LANGUAGES = ("en", "de")
STUDY = """\
id: calibration-{language}
title: A study for pictures
version: 1
unnamed_texts: shipped
language: {language}
flow:
  - stages:
      {{task: reconstruction, marks: true, models: [{model}], trials: 3, skip: {skip}}}
  - break: texts/{{language}}/break.md
    at_least_s: {rest_s}
  - questionnaire: shipped:seq
"""
BREAKS = {
    "en": "# A short break\n\nHalf of it is done. Stand up, have some water, rest your eyes.\n\n"
    "Nothing of this time counts; your voice is recorded as before.\n",
    "de": "# Eine kurze Pause\n\nDie Hälfte ist geschafft. Stehen Sie auf, trinken Sie etwas, "
    "schonen Sie Ihre Augen.\n\nDiese Zeit zählt nicht; Ihre Stimme wird weiter aufgenommen.\n",
}

Shot = tuple[str, QWidget]


def study(folder: Path, language: str, model: str, skip: str, rest_s: float) -> Path:
    """A calibration and a break; its break is written beside it."""
    text = folder / "texts" / language / "break.md"
    text.parent.mkdir(parents=True)
    text.write_text(BREAKS[language], encoding="utf-8")
    path = folder / "study.yaml"
    path.write_text(STUDY.format(language=language, model=model, skip=skip, rest_s=rest_s))
    return path


def shots(folder: Path) -> Iterator[Shot]:
    for language in LANGUAGES:
        yield from digits(folder / f"digits-{language}", language)
        yield from series(folder / f"series-{language}", language)


def digits(folder: Path, language: str) -> Iterator[Shot]:
    """Eleven dials with names to edit: the fullest screen."""
    model = "mnist8k/ss10"
    path = study(folder / "study", language, model, "after", 600)
    with opened(folder, study=path, decoders={model: ring_decoder(model, 10, 10)}) as (
        room,
        window,
    ):
        skip_to(room, "stage-1-intro")
        yield f"k01-{language}-text", window
        skip_to(room, "stage-1")
        yield f"k02-{language}-digits", window
        room.runner.send(MarkAlignment("far"))
        yield f"k03-{language}-digits-marked-far", window
        skip_to(room, "break-1")
        yield f"k04-{language}-break-must-last", window


def series(folder: Path, language: str) -> Iterator[Shot]:
    model = "sinelines/gt"
    path = study(folder / "study", language, model, "always", 0)
    with opened(folder, study=path) as (room, window):
        skip_to(room, "stage-1")
        room.runner.send(MarkAlignment("far"))
        solve(room)
        room.runner.send(MarkAlignment("close"))
        room.runner.send(MarkAlignment("close"))
        yield f"k05-{language}-series-both-marked", window
        skip_to(room, "break-1")
        yield f"k06-{language}-break-over", window
