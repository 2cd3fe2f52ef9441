"""The screens on which explanations are judged, but for those of paths, and the console meanwhile,
for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication

from labapp.record.events.commands import HandIn, ShowQuestion
from labapp.session.runner import Runner
from labapp.tasks.judging.events import Judge, OpenSpecies
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    MISTAKE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    PRESENT,
    SIMILARITY,
    VERDICT,
    WRONG,
    JudgingPart,
    WarmUpPart,
    questions,
)
from labapp.tasks.judging.screen.description import HeatmapScreen
from labapp.tasks.judging.screen.photos import RatedScreen
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.view import Bridge
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.widgets.photo_view import PhotoView
from scripts.screens_participant import Shot, opened
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.rooms import Room, skip_to

ROWS = 10
STUDIES = (
    "gradcam-distinction",
    "gradcam-distinction-labels",
    "bagnet-distinction",
    "bagnet-distinction-labels",
    "protopnet-distinction",
    "protopnet-agreement",
)
PATHS = ("prototree-distinction", "prototree-agreement", "prototree-agreement-tree")


def shots(folder: Path) -> Iterator[Shot]:
    yield from heatmaps(folder / "positive", "heatmaps", "en")
    yield from heatmaps(folder / "signed", "heatmaps-signed", "en", labels=True)
    yield from heatmaps(folder / "german", "heatmaps-signed", "de", labels=True)
    yield from agreement(folder / "agreement", "en")
    yield from agreement(folder / "agreement-german", "de")
    yield from distinction(folder / "distinction", "en")
    yield from distinction(folder / "distinction-german", "de")
    for study in STUDIES:
        yield from shipped(folder / study, study)
    for study in PATHS:
        yield from watched(folder / study, study)


def heatmaps(folder: Path, name: str, language: str, *, labels: bool = False) -> Iterator[Shot]:
    study = write_judging_study(folder, name, language=language, labels=labels)
    with opened(folder / "data", study=study) as (room, window):
        screen = begun(room, window)
        assert isinstance(screen, HeatmapScreen)
        yield f"j01-{name}-{language}", window
        judge(room.runner, {OUTPUT: 2, OUTPUT_CONFIDENCE: 3})
        point(screen.heatmaps[1].view, 0.4, 0.4)
        yield f"j02-{name}-{language}-enlarged", window
        screen.enlarger.leave()
        screen.right()
        yield f"j03-{name}-{language}-missing", window
        yield f"j04-{name}-{language}-console", console(room, window)


def agreement(folder: Path, language: str) -> Iterator[Shot]:
    study = write_judging_study(folder, "prototype-agreement", language=language, rows=ROWS)
    with opened(folder / "data", study=study) as (room, window):
        screen = begun(room, window)
        assert isinstance(screen, RatedScreen)
        yield f"j11-agreement-{language}", window
        rate(room.runner, 5)
        judge(room.runner, {AGREEMENT: 2})
        point(screen.rows.shown[1].views[3], 0.5, 0.5)
        yield f"j12-agreement-{language}-enlarged", window
        screen.enlarger.leave()
        screen.right()
        yield f"j13-agreement-{language}-missing", window
        yield f"j14-agreement-{language}-console", console(room, window)


def distinction(folder: Path, language: str) -> Iterator[Shot]:
    study = write_judging_study(folder, "prototype-distinction", language=language, rows=ROWS)
    with opened(folder / "data", study=study) as (room, window):
        screen = begun(room, window)
        assert isinstance(screen, RatedScreen)
        yield f"j21-distinction-{language}", window
        rate(room.runner, 23)
        room.runner.send(OpenSpecies(3))
        judge(room.runner, {DISTINCTION: 2})
        yield f"j22-distinction-{language}-third", window
        screen.right()
        yield f"j23-distinction-{language}-missing", window
        yield f"j24-distinction-{language}-console", console(room, window)


def shipped(folder: Path, study: str) -> Iterator[Shot]:
    """The first photo of a shipped study."""
    with opened(folder / "data", study=study) as (room, window):
        begun(room, window)
        yield f"j31-{study}", window


def watched(folder: Path, study: str) -> Iterator[Shot]:
    """The console in the warm-up and at the first photo of a path."""
    with opened(folder / "data", study=study) as (room, window):
        skip_to(room, "warm-up")
        room.runner.send(ShowQuestion())
        judge(room.runner, {VERDICT: WRONG, AGREEMENT: 2, MISTAKE: 2})
        room.runner.send(HandIn())
        yield f"j41-{study}-console-warm-up", console(room, window)
        begun(room, window)
        part = room.runner.part
        assert isinstance(part, JudgingPart)
        for question in questions(part.task, part.photos[0])[:3]:
            judge(room.runner, {question.id: PRESENT})
        yield f"j42-{study}-console", console(room, window)


def begun(room: Room, window: ParticipantWindow) -> object:
    """The screen of the stage, on its first photo."""
    skip_to(room, "stage-1")
    QApplication.processEvents()
    return window.screen_shown


def judge(runner: Runner, answers: dict[str, int]) -> None:
    for question, value in answers.items():
        runner.send(Judge(question, value, "mouse"))


def rate(runner: Runner, rows: int) -> None:
    """Rate the first rows of the photo."""
    judge(runner, {SIMILARITY.format(row): 1 + 3 * row % 4 for row in range(1, rows + 1)})


def point(view: PhotoView, x: float, y: float) -> None:
    """Move the pointer over a picture."""
    place = QPointF(view.width() * x, view.height() * y)
    QApplication.sendEvent(view, QEnterEvent(place, place, place))


def console(room: Room, window: ParticipantWindow) -> ConsoleWindow:
    """The moderator's console at this moment."""
    part = room.runner.part
    assert isinstance(part, JudgingPart | WarmUpPart)
    made = ConsoleWindow(Bridge(room.runner), room.loaded, "P01", lambda: None)
    made.resize(window.size())
    made.show()
    made.refresh()
    return made
