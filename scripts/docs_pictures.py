"""The pictures of the documentation, drawn from the real windows: `make pictures`.

    python scripts/docs_pictures.py [--out FOLDER] [NAME …]            FOLDER: docs/pictures

Real windows, drawn offscreen, on real sessions with the shipped models; the participant's hand and
voice are made up (see screens_moderator.py). PICTURES says what each shows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QWidget

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "docs" / "pictures"
SCALE = 1.25
GAP, CAPTION, CAPTION_PX = 28, 44, 20
SOLVED, ALMOST, HEARD = 4, 0.93, 0.3
"""Questions solved in the stage, how far the next one is, and how loud the voice is just then."""
LITTLE, MORE = 3, 5
"""Masks of the sequence that are passed before each picture of it."""
CHILD = "LABAPP_DOCS_PICTURES"
"""Set in the process that draws: Qt reads platform and scale once, when it starts."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], help="by default all")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if CHILD in os.environ:
        return draw(options.out, options.names or list(PICTURES))
    sys.path.insert(0, str(HERE))
    from screenshots import Setting, offscreen

    setting = Setting(round(1280 * SCALE), round(720 * SCALE), SCALE)
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {
            CHILD: "1",
            "QT_SCALE_FACTOR": f"{SCALE:g}",
            "QT_QPA_PLATFORM": offscreen(setting, Path(folder)),
        }
        command = [sys.executable, __file__, *sys.argv[1:]]
        return subprocess.run(command, env=env, check=False).returncode


def draw(out: Path, names: list[str]) -> int:
    sys.path[:0] = [str(HERE.parent), str(HERE)]
    from PySide6.QtWidgets import QApplication

    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")  # as labapp.ui.starting does
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            save(MAKERS[name](Path(folder)), out / name)
    return 0


def home(folder: Path) -> QImage:
    """The page that opens, with everything in order."""
    from screens_moderator import on_screen, ready_home

    window = ready_home()
    image = picture(on_screen(window))
    window.close()
    return image


def questionnaire(folder: Path) -> QImage:
    """The page of the tutorial's questionnaire, two of its statements answered."""
    from labapp.tasks.questionnaire.machine import Answer
    from scripts.screens_participant import opened
    from tests.helpers.recipes import Recipe
    from tests.helpers.rooms import SilentRecorder, skip_to

    tutorial = Recipe("own-questionnaire", folder, lambda arguments: "", "tutorials")
    tutorial.write_files()
    study = str(folder / "reliance-study.yaml")
    with opened(folder / "session", study=study, make_recorder=SilentRecorder) as (room, window):
        skip_to(room, "stage-1-reliance")
        for item, value in (("rely", 5), ("wary", 3)):
            room.runner.send(Answer(item, value))
        return picture(window)


def results(folder: Path) -> QImage:
    """The home's page Results, with six simulated sessions analysed."""
    from screens_researcher import shots

    for name, window in shots(folder):
        if name == "r03-results":
            return picture(window)
    raise LookupError("r03-results")


def named(shots: Iterator[tuple[str, QWidget]], name: str) -> QImage:
    """One of the screenshots that a script of screens makes."""
    for shot, window in shots:
        if shot == name:
            image = picture(window)
            window.close()
            return image
    raise LookupError(name)


def sessions(folder: Path) -> QImage:
    """The home's page Sessions, with a session selected."""
    from screens_moderator import home

    return named(home(), "m05-home-sessions")


def study(folder: Path) -> QImage:
    """The home's page Study, with what each slider of the models does."""
    from screens_moderator import studies

    return named(studies(), "m08-study-charts")


def remote(folder: Path) -> QImage:
    """The console that others can join, with the codes."""
    from screens_remote import both_ends

    return named(both_ends(folder), "r11-codes")


def concepts(folder: Path) -> QImage:
    """A picture of concept repair after a change."""
    from scripts.screens_concepts import CHANGE
    from scripts.screens_participant import opened
    from tests.helpers.rooms import SilentRecorder, skip_to

    shown = {"study": "concept-repair", "make_recorder": SilentRecorder}
    with opened(folder / "session", **shown) as (room, window):
        skip_to(room, "stage-1")
        room.runner.send(CHANGE)
        return picture(window)


def replay(folder: Path) -> QImage:
    """A session of a simulated participant that thinks aloud, in the replay window."""
    from PySide6.QtTest import QTest

    from labapp.coding.annotations.segmenting import segment_session
    from labapp.session.simulation.at_scale import simulate_at_scale
    from labapp.ui.replay.controller import open_session
    from labapp.ui.replay.window import ReplayWindow

    (path,) = simulate_at_scale(
        "quickstart", 1, "understanding", folder / "data", 3, thinks_aloud=True
    )
    segment_session(path, "anna", freeze=True)
    session = open_session(path)
    session.history.decoders.load_in_background()
    window = ReplayWindow(session)
    window.open(400_000_000_000)
    QTest.qWait(1500)
    image = picture(window)
    window.close()
    return image


def coding(folder: Path) -> QImage:
    """A session of a simulated participant that thinks aloud, half coded; the voice is made up."""
    import shutil
    from dataclasses import replace

    from PySide6.QtTest import QTest

    from labapp.base import resources
    from labapp.coding.annotations import codebook as codebooks
    from labapp.coding.annotations import store
    from labapp.coding.annotations.segmenting import segment_session
    from labapp.coding.annotations.simulated import SIMULATED
    from labapp.record.journal.opening import open_record
    from labapp.session.simulation.at_scale import simulate_at_scale
    from labapp.ui.replay.coding_state import CodingRequest
    from labapp.ui.replay.coding_window import open_coding_window

    (path,) = simulate_at_scale(
        "quickstart", 1, "understanding", folder / "data", 3, thinks_aloud=True
    )
    book = path.parent / "codebook.yaml"
    shutil.copy(resources.assets() / "codebooks" / "think-aloud.yaml", book)
    segment_session(path, "anna", freeze=True)
    annotations = store.annotations_of(open_record(path))
    units = annotations.segmentation.units
    middle = units[len(units) // 2]
    codebook = codebooks.read(book)
    hidden = ("names", "outcomes", "future")
    with store.open_marks(path, "anna", codebook, blind=hidden) as marks:
        for mark in annotations.raters[SIMULATED].marks:
            if mark.t1_ns <= middle.t0_ns:
                marks.put(replace(mark, rater="anna"))
    coded = open_coding_window(path, CodingRequest("anna", None, "independent", hidden))
    window = coded.window
    window.timeline.set_peaks(MadeUpVoice([(unit.t0_ns, unit.t1_ns) for unit in units]))
    window.open(middle.t0_ns + 1_200_000_000)
    coded.coding.go_to(middle.id)
    QTest.qWait(600)
    image = picture(window)
    window.close()
    return image


class MadeUpVoice:
    """A waveform that is loud where somebody speaks; stretches: session times in ns."""

    def __init__(self, stretches: list[tuple[int, int]]) -> None:
        self._stretches = stretches

    def between(self, t0_ns: int, t1_ns: int, columns: int) -> tuple[Any, Any]:
        import numpy as np

        edges = np.linspace(t0_ns, t1_ns, columns)
        loud = np.zeros(columns)
        for begins, ends in self._stretches:
            at = (edges - begins) / (ends - begins)
            inside = (at > 0) & (at < 1)
            beats = 0.55 + 0.45 * np.sin(edges / 4.7e7) * np.sin(edges / 1.9e7 + begins)
            loud += inside * beats * np.sin(np.pi * np.clip(at, 0, 1)) ** 0.4
        high = (200 + 17_000 * loud).astype(np.int16)
        return -high, high


def judging(folder: Path) -> QImage:
    """A photo with its heatmaps, and one with its prototypes, some of their questions answered."""
    from labapp.tasks.judging.plan import DISTINCTION, OUTPUT, OUTPUT_CONFIDENCE, SIMILARITY
    from scripts.screens_judging import begun, judge
    from scripts.screens_participant import opened
    from tests.helpers.rooms import SilentRecorder

    shown = (
        ("gradcam-distinction", "GradCAM: which class does the model predict?"),
        ("protopnet-agreement", "ProtoPNet: is the model right?"),
    )
    answers = (
        {OUTPUT: 3, OUTPUT_CONFIDENCE: 4, DISTINCTION: 2},
        {SIMILARITY.format(1): 4, SIMILARITY.format(2): 3},
    )
    made = []
    for (study, caption), given in zip(shown, answers, strict=True):
        with opened(folder / study, study=study, make_recorder=SilentRecorder) as (room, window):
            begun(room, window)
            judge(room.runner, given)
            made.append((caption, picture(window)))
    return stacked(made)


def unmasking(folder: Path) -> QImage:
    """A face that is mostly hidden, and the same face with more of it shown."""
    from scripts.screens_participant import opened
    from scripts.screens_unmasking import painted, step, until
    from tests.helpers.rooms import skip_to

    made = []
    with opened(folder / "unmasking", study="unmasking-faces") as (room, window):
        skip_to(room, "stage-1")
        until(room, window, lambda: painted(room))
        for caption, further in (("At first little is shown …", LITTLE), ("… then more", MORE)):
            step(room, window, further)
            made.append((caption, picture(window)))
    return stacked(made)


def session(folder: Path) -> QImage:
    """Both windows in the second stage: some questions solved, a note and a flag taken."""
    from screens_moderator import MODERATOR, desk_of

    from labapp.base.clock import NS
    from labapp.record.events.commands import AddFlag, AddNote, GivePrompt, Next
    from labapp.ui.participant.view import Bridge
    from labapp.ui.participant.window import ParticipantWindow
    from labapp.ui.strings import strings_of
    from tests.helpers.rooms import decoder_of

    models = {name: decoder_of(f"sinelines/{name}") for name in ("vae", "ae")}
    with desk_of(folder, "quickstart", **models) as desk:
        room, runner, clock = desk.room, desk.runner, desk.clock
        participant = ParticipantWindow(
            Bridge(runner),
            room.loaded,
            strings_of(room.loaded),
            room.loaded.study.presentation,
            room.session.give_consent,
        )
        participant.open_on()
        desk.go_to("stage-2")
        for _ in range(SOLVED):
            desk.solve()
            desk.talk(2)
            runner.send(Next())
        note = "“the 2nd moves it sideways”"
        runner.send(AddNote(note, clock.now_ns() - 5 * NS), MODERATOR)
        desk.talk(14)
        runner.send(GivePrompt("Please keep talking"), MODERATOR)
        desk.talk(6)
        desk.solve(ALMOST)
        while desk.level is None or max(desk.level.envelope[-20:]) < HEARD:
            desk.talk(0.1)
        runner.send(AddFlag(1), MODERATOR)
        for _ in range(20):  # the facts below the meter are shown once a second
            desk.console.refresh()
        console = picture(desk.settled())
        made = stacked(
            [
                ("The participant’s window", picture(participant)),
                ("The moderator’s console at the same moment", console),
            ]
        )
        participant.close_for_good()
    return made


def picture(window: QWidget) -> QImage:
    """What a window shows, in device pixels."""
    from PySide6.QtWidgets import QApplication

    for _ in range(5):
        QApplication.processEvents()
    image = window.grab().toImage()
    image.setDevicePixelRatio(1.0)
    return image


def stacked(pictures: list[tuple[str, QImage]]) -> QImage:
    """Pictures below each other, each under its caption, on white."""
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QColor, QImage, QPainter

    from labapp.ui import theme

    width = max(image.width() for _, image in pictures) + 2
    height = sum(CAPTION + image.height() + 2 for _, image in pictures)
    made = QImage(width, height + GAP * (len(pictures) - 1), QImage.Format.Format_RGB32)
    made.fill(QColor("white"))
    painter = QPainter(made)
    top = 0
    for caption, image in pictures:
        painter.setFont(theme.font(CAPTION_PX))
        painter.setPen(theme.LIGHT.color("secondary"))
        painter.drawText(QPoint(2, top + CAPTION - 16), caption)
        painter.setPen(theme.LIGHT.color("hairline"))
        painter.drawRect(0, top + CAPTION, image.width() + 1, image.height() + 1)
        painter.drawImage(QPoint(1, top + CAPTION + 1), image)
        top += CAPTION + image.height() + 2 + GAP
    painter.end()
    return made


def save(image: QImage, path: Path) -> None:
    """As a PNG with a palette: a third of the size, and nowhere visibly another colour. As
    a JPEG where there are photos, for their grain."""
    from PIL import Image
    from PySide6.QtGui import QImage

    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = bytes(image.constBits())
    size = (image.width(), image.height())
    whole = Image.frombytes("RGB", size, rows, "raw", "RGB", image.bytesPerLine())
    if path.suffix == ".jpg":
        whole.save(path, quality=82, optimize=True)
    else:
        few = whole.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    print(f"{path}: {size[0]} x {size[1]}, {path.stat().st_size / 1000:.0f} kB")


PICTURES = {
    "home.png": "The home screen, with the study on the left and the live checklist on the right",
    "session.png": "The participant's window and the moderator's console during a session",
    "judging.jpg": "Two tasks in which participants judge explanations",
    "unmasking.jpg": "A face that is mostly hidden, and the same face with more of it shown",
    "questionnaire.png": "The questionnaire as a participant sees it, with two statements answered",
    "results.png": "The Results page of the home screen, with six sessions analysed",
    "coding.png": "A session in the coding window",
    "sessions.png": "The Sessions page of the home screen",
    "study.png": "The Study page of the home screen, with what each of the models' sliders does",
    "remote.png": "The console with the codes that let others join",
    "concepts.png": "A picture in concept repair after one concept was changed",
    "replay.png": "A session in the replay window",
}
"""What each shows; pages say it where they show it."""
MAKERS = {
    "home.png": home,
    "session.png": session,
    "judging.jpg": judging,
    "unmasking.jpg": unmasking,
    "questionnaire.png": questionnaire,
    "results.png": results,
    "coding.png": coding,
    "sessions.png": sessions,
    "study.png": study,
    "remote.png": remote,
    "concepts.png": concepts,
    "replay.png": replay,
}

if __name__ == "__main__":
    sys.exit(main())
