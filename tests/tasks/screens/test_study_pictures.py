"""Pictures of a study in texts, items and options: checked, copied with the session, shown at once,
in the replay and in the preview."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from labapp.analysis.checking import check_study
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.loading import load
from labapp.ui.preview import open_preview
from labapp.ui.replay.picture import PastWindow
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.study_picture import StudyPicture, image_of
from tests.helpers.beside import put_beside
from tests.helpers.reach import out_of_reach

RED, GREEN, BLUE = (200, 30, 30), (30, 160, 30), (30, 30, 200)


def picture(
    colour: tuple[int, int, int], size: tuple[int, int] = (120, 60), kind: str = "PNG"
) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(
        stream, kind, **{"lossless": True} if kind == "WEBP" else {}
    )
    return stream.getvalue()


SHEET = {
    "id": "sheet",
    "version": 1,
    "title": "A sheet",
    "source": "Ours",
    "items": [
        {
            "id": "sees",
            "kind": "choice",
            "text": "What does it show?",
            "media": {"file": "pictures/red.png", "alt": "A red field", "width": 200},
            "options": [
                {
                    "id": "cat",
                    "text": "Cat",
                    "media": {"file": "pictures/green.webp", "alt": "Green"},
                },
                {"id": "dog", "text": "Dog"},
            ],
        },
        {
            "id": "wide",
            "kind": "scale",
            "text": "How sure?",
            "points": 5,
            "low": "not",
            "high": "very",
            "media": "pictures/wide.jpg",
        },
    ],
}
TEXT = '# Words\n\nBefore ![A blue field](pictures/blue.png "90") and after.\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    for name, content in {
        "pictures/red.png": picture(RED),
        "pictures/green.webp": picture(GREEN, kind="WEBP"),
        "pictures/blue.png": picture(BLUE),
        "pictures/wide.jpg": picture(GREEN, (700, 100), "JPEG"),
        "words.md": TEXT.encode(),
        "instruments/sheet.yaml": json.dumps(SHEET, indent=1).encode(),
        "own.yaml": b"id: own\ntitle: Pictures\nversion: 1\nunnamed_texts: shipped\nflow:\n"
        b"  - text: words.md\n  - questionnaire: sheet\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    put_beside(folder)
    return folder / "own.yaml"


def colours(widget: QWidget) -> set[tuple[int, int, int]]:
    """The colours of a grid of pixels of a widget."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    points = ((x, y) for x in range(0, image.width(), 4) for y in range(0, image.height(), 4))
    return {image.pixelColor(x, y).toTuple()[:3] for x, y in points}


def test_pictures_are_part_of_the_study_and_of_its_hash(study: Path) -> None:
    loaded = load(study)
    assert {name for name in loaded.files if name.startswith("pictures/")} == {
        "pictures/red.png",
        "pictures/green.webp",
        "pictures/blue.png",
        "pictures/wide.jpg",
    }
    (study.parent / "pictures/red.png").write_bytes(picture(GREEN))
    assert load(study).sha256 != loaded.sha256


def test_a_session_shows_them_at_once_and_so_do_replay_and_preview(
    study: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=study)
    image_of.cache_clear()
    window = open_window(room)
    assert image_of.cache_info().misses == 4, "all are decoded before one is shown"
    window.resize(1366, 768)
    qapp.processEvents()
    text = window.screen_shown.findChild(MarkdownView)
    assert BLUE in colours(text)
    assert "A blue field" in text.accessibleDescription()
    seen = []

    def look() -> None:
        for _ in range(4):
            qapp.processEvents()
            window.looks.look()
        window.setFocus()
        qapp.processEvents()
        seen.append((room.clock.now_ns(), window.grab().toImage()))

    look()
    window.screen_shown.right()
    sees, wide = window.screen_shown.items
    assert RED in colours(sees), "before the event loop has turned"
    assert GREEN in colours(sees)
    assert image_of.cache_info().misses == 4
    qapp.processEvents()
    shown = sees.findChild(StudyPicture)
    assert (shown.width(), shown.height()) == (200, 100)
    assert shown.accessibleName() == "A red field"
    assert wide.findChild(StudyPicture).width() == 700
    QTest.mouseClick(sees.group.options[0], Qt.MouseButton.LeftButton)
    assert room.runner.state.part_state.answers["sees"] == {"chosen": ("cat",)}
    look()
    size = window.size()
    window.resize(960, 480)
    for _ in range(4):
        qapp.processEvents()
    assert out_of_reach(window) == []
    path = room.session.folder.path
    room.session.close("over")
    assert (path / "study/pictures/red.png").read_bytes() == picture(RED)
    with History(open_record(path)) as history:
        past = PastWindow(history)
        for t_ns, live in seen:
            past.show_time(t_ns)
            again = past.draw(size, 1.0).toImage()
            form = QImage.Format.Format_RGB32
            assert again.convertToFormat(form) == live.convertToFormat(form)
        past.close()
    with open_preview(load(study), None, None) as preview:
        preview.show(preview.places[1])
        assert RED in colours(preview.window.screen_shown)


def test_a_bundle_has_them(study: Path, tmp_path: Path) -> None:
    (session,) = simulate_study(str(study), 1, "random", tmp_path / "data")
    for deidentify in (False, True):
        bundle = export([session], tmp_path / f"bundle-{deidentify}", deidentify=deidentify)
        assert not verify(bundle).problems
        assert len(list(bundle.rglob("pictures/red.png"))) == 1


WRONG = {
    "gone": (
        "red.png",
        None,
        "the picture 'pictures/red.png' does not exist",
        "Put a PNG, JPEG or WebP",
    ),
    "no-picture": ("red.png", b"no", "is not a PNG, JPEG or WebP file", "Save it again"),
    "another": (
        "red.png",
        picture(RED, kind="JPEG"),
        "is a JPEG file with a different ending",
        "red.jpg",
    ),
    "blue-gone": ("blue.png", None, "the picture 'pictures/blue.png' does not exist", "Put a PNG"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_picture_is_said_where_it_is_named(name: str, study: Path) -> None:
    file, content, what, todo = WRONG[name]
    path = study.parent / "pictures" / file
    path.unlink() if content is None else path.write_bytes(content)
    (error,) = check_study(study).errors
    (fault,) = error.faults
    where = "words.md" if file == "blue.png" else "sheet.yaml"
    assert where in str(error)
    assert fault.line == (3 if file == "blue.png" else 11)
    assert what in str(error)
    assert todo in error.todo


@pytest.mark.parametrize(
    "named", ["../red.png", "/red.png", "pictures\\\\red.png", "pictures/Red.png"]
)
def test_a_name_that_leads_elsewhere_is_refused(named: str, study: Path) -> None:
    sheet = study.parent / "instruments/sheet.yaml"
    sheet.write_text(sheet.read_text().replace('"pictures/red.png"', f'"{named}"'))
    (error,) = check_study(study).errors
    assert "sheet.yaml" in str(error)


def test_a_picture_has_at_most_the_width_of_a_text(qapp: QApplication) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    view = MarkdownView({"a.png": picture(RED, (3000, 300))}.get)
    view.show_text("![](a.png)")
    column.addWidget(view)
    holder.resize(1000, 400)
    holder.show()
    qapp.processEvents()
    assert RED in colours(view)
    assert view.horizontalScrollBar().maximum() == 0
    assert 50 < view.height() < 100
    holder.close()
    holder.deleteLater()
