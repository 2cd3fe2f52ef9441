"""The introduction to a method, the description over a task, and the whole tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

import labapp.tasks
from labapp.record.events.commands import Pause, Resume
from labapp.tasks.judging.events import OpenDescription
from labapp.tasks.judging.plan import FIRST, SIMILARITY
from labapp.tasks.judging.screen.description import (
    DescriptionPages,
    Heatmaps,
    MethodScreen,
    PreviewPage,
    TextPage,
    WholeTree,
    WorkedExample,
    split_page,
)
from labapp.ui import theme
from labapp.ui.widgets.photo_view import ZoomView
from labapp.ui.widgets.row_view import RowList
from tests.helpers.hands import turn_wheel
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.rooms import skip_to
from tests.tasks.screens.test_study_sounds import shows_red, sound
from tests.ui.hearing import taken
from tests.ui.keys import click, focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
TEXT = """# First page of {method}

---

# The task

Try it.

![](preview)

---

# Right

It is **{right_example}**.

![](correct)

---

# Wrong

![](incorrect)
"""
TREE = "\n---\n\n# Tree\n\n![](tree)\n"


@pytest.fixture
def opened(open_room, open_window, tmp_path, qapp):
    """The window on the introduction to a small set, at 1366 x 768."""

    def open_one(name: str, **more: object):
        folder = tmp_path / "study"
        folder.mkdir()
        text = TEXT + (TREE if name.startswith("path") else "")
        (folder / "method.md").write_text(text, "utf-8")
        room = open_room(
            study=write_judging_study(folder, name, before=[{"method": "method.md"}], **more)
        )
        window = open_window(room)
        window.showNormal()
        window.resize(1366, 768)
        qapp.processEvents()
        return room, window

    return open_one


def turn(window, pages: int) -> QWidget:
    for _ in range(pages):
        QTest.mouseClick(window.bottom.right, LEFT)
        QApplication.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, MethodScreen)
    return screen.page


def test_what_a_page_shows_is_taken_out_of_its_text():
    assert split_page("# A\n\nText.\n\n![](correct)") == ("# A\n\nText.", "correct")
    assert split_page("![the tree](tree)\n\nText.") == ("Text.", "tree")
    assert split_page("Text ![](other).") == ("Text ![](other).", "")


def test_an_introduction_is_read_page_by_page(opened):
    room, window = opened("prototype-agreement")
    page = turn(window, 0)
    assert isinstance(page, TextPage)
    assert page.text.toPlainText() == "First page of Tiny"
    example = turn(window, 2)
    assert isinstance(example, WorkedExample)
    part = room.runner.part
    assert part.explained.names[part.correct.truth] in example.text.toPlainText()
    QTest.mouseClick(window.bottom.left, LEFT)
    assert isinstance(window.screen_shown.page, PreviewPage)
    turn(window, 2)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.runner.part.id == "stage-1-intro"


def test_its_texts_show_pictures_and_play_sounds_of_the_study(open_room, open_window, tmp_path):
    shown = "![A field](field.png)\n\n![An alarm](alarm.wav)\n\n"
    path = write_judging_study(tmp_path, "heatmaps", before=[{"method": "method.md"}])
    (tmp_path / "method.md").write_text(TEXT.replace("---", f"{shown}---"), "utf-8")
    (tmp_path / "description.md").write_text(f"# The method\n\n{shown}", "utf-8")
    (tmp_path / "alarm.wav").write_bytes(sound())
    Image.new("RGB", (60, 40), (200, 30, 30)).save(tmp_path / "field.png")
    room = open_room(study=path)
    window = open_window(room)
    for pages, kind in ((0, TextPage), (1, PreviewPage), (1, WorkedExample)):
        page = turn(window, pages)
        assert isinstance(page, kind)
        assert shows_red(page.text)
        assert len(page.text.sound_bars) == 1
    skip_to(room, "stage-1")
    QApplication.processEvents()
    QTest.mouseClick(window.top.help, LEFT)
    for page in window.opened.inside.pages[:2]:
        assert len(page.text.sound_bars) == 1
    bar = window.opened.inside.pages[0].text.sound_bars[0][1]
    QTest.mouseClick(bar.button, LEFT)
    assert room.runner.state.sounds["alarm.wav"].playing


def test_no_screen_of_a_task_makes_a_text_without_them():
    """They are checked and copied, whichever text names them."""
    tasks = Path(labapp.tasks.__path__[0]).rglob("*.py")
    assert [path.name for path in tasks if "= MarkdownView(" in path.read_text("utf-8")] == []


@pytest.mark.parametrize("name", ["prototype-distinction", "prototype-agreement"])
def test_an_example_shows_the_rows_that_led_to_the_prediction(name, opened):
    room, window = opened(name)
    part = room.runner.part
    for pages, photo in ((2, part.correct), (1, part.incorrect)):
        example = turn(window, pages)
        rows = example.explanation
        assert isinstance(rows, RowList)
        wanted = [row for row in photo.rows if row.of == photo.prediction]
        assert len(rows.shown) == len(wanted) > 0
        assert all(view.rating is None for view in rows.shown), "nothing is rated here"
        assert focus() is rows.area, "keys scroll it"


def test_an_example_of_a_path_has_all_its_steps(opened):
    room, window = opened("path-distinction")
    example = turn(window, 2)
    rows = room.runner.part.correct.rows
    assert [view.step.text() for view in example.explanation.shown] == [
        f"Step {n}" for n in range(1, len(rows) + 1)
    ]


def test_an_example_of_heatmaps_names_their_classes(opened):
    room, window = opened("heatmaps")
    example = turn(window, 2)
    part = room.runner.part
    assert isinstance(example.explanation, Heatmaps)
    names = [part.explained.names[option] for option in part.correct.options]
    predicted = part.explained.names[part.correct.prediction]
    assert [place.caption.text() for place in example.explanation.places] == [
        f"{name}\n{'predicted and correct' if name == predicted else ''}" for name in names
    ]
    sides = {place.view.width() for place in example.explanation.places}
    assert len(sides) == 1
    assert sides.pop() >= 200


@pytest.mark.parametrize("name", ["path-distinction", "prototype-agreement", "heatmaps"])
def test_text_and_example_fit_one_page(name, opened, qapp):
    """At 1280 x 720, which is 1920 x 1080 at 150 %; rows may scroll."""
    _, window = opened(name)
    window.resize(1280, 720)
    example = turn(window, 2)
    qapp.processEvents()
    assert example.text.height() >= example.text.height_for(example.text.width())
    place = example.enlarger
    assert place.mapTo(example, QPoint(0, place.height())).y() <= example.height()
    if isinstance(example.explanation, Heatmaps):
        last = example.explanation.places[-1]
        bottom = last.mapTo(example, QPoint(last.width(), last.height()))
        assert bottom.x() <= example.width()
        assert bottom.y() <= example.height()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("prototype-distinction", "prototype-distinction"),
        ("prototype-agreement", "prototype-agreement"),
        ("path-distinction", "path-distinction"),
        ("path-agreement", "path-agreement"),
        ("path-agreement", "path-first-step"),
    ],
)
def test_all_that_is_asked_is_in_sight_in_the_preview(name, task, language, opened, qapp):
    """At 1280 x 720, which is 1920 x 1080 at 150 %; rows may scroll."""
    _, window = opened(name, task=task, language=language)
    window.resize(1280, 720)
    tried = turn(window, 1).tried
    qapp.processEvents()
    for row in tried.asked.values():
        assert row.mapTo(tried, QPoint(0, row.height())).y() <= tried.height()
        assert row.height() >= row.heightForWidth(row.width())


def test_the_task_can_be_tried_and_nothing_of_it_is_recorded(opened):
    room, window = opened("path-distinction")
    page = turn(window, 1)
    tried = page.tried
    window.looks.look()
    before = [kind for kind in room.kinds() if kind != "window.shown"]
    click(tried.steps[FIRST].choice, 2)
    assert taken(tried.steps[FIRST].choice) == ["Present"]
    assert tried.steps["step_2_present"].choice.isEnabled()
    click(tried.steps["step_2_present"].choice, 1)
    click(tried.steps[FIRST].choice, 1)
    assert taken(tried.steps["step_2_present"].choice) == []
    assert [kind for kind in room.kinds() if kind != "window.shown"] == before
    final = room.runner.part.correct.final.first.prototype
    assert final not in [row.prototype for row in tried.photo.rows], "it is left to decide"


def test_rows_can_be_tried_by_keys(opened):
    room, window = opened("prototype-distinction")
    tried = turn(window, 1).tried
    assert focus() is tried.rows.shown[0].rating
    press(KEY.Key_3)
    assert focus() is tried.rows.shown[1].rating
    assert tried.trial.answers == {SIMILARITY.format(1): 3}
    press(KEY.Key_2, KEY.Key_2)
    assert tried.trial.option == 2, "the next species has the turn"
    assert room.count("judgement.made") == room.count("species.opened") == 0


def test_the_whole_tree_is_opened_from_the_introduction(opened):
    room, window = opened("path-agreement")
    page = turn(window, 4)
    assert focus() is page.button
    press(KEY.Key_Space)
    assert room.last("description.opened") == {"what": "tree"}
    tree = window.opened.inside
    assert isinstance(tree, WholeTree)
    assert focus() is tree.view
    assert window.bottom.right.text() == "Close the tree"
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("description.closed") == {"what": "tree"}
    assert window.stack.currentWidget() is window.screen_shown
    assert focus() is page.button
    assert room.runner.part.part == "method", "it went no further"


def test_the_description_lies_over_the_task_and_answers_stay(opened):
    room, window = opened("path-distinction")
    skip_to(room, "stage-1")
    QApplication.processEvents()
    screen = window.screen_shown
    click(screen.steps[FIRST].choice, 2)
    QTest.mouseClick(window.top.help, LEFT)
    assert room.last("description.opened") == {"what": "method"}
    pages = window.opened.inside
    assert isinstance(pages, DescriptionPages)
    assert "compares parts" in pages.pages[0].text.toPlainText()
    assert not screen.isVisible()
    assert window.bottom.right.text() == window.top.help.text() == "Close the description"
    press(KEY.Key_Escape)
    assert room.last("description.closed") == {"what": "method"}
    assert room.count("close.requested") == 0, "nobody is asked whether to leave"
    assert screen.isVisible()
    assert focus() is window.top.help, "where it was before"
    assert taken(screen.steps[FIRST].choice) == ["Present"]
    assert room.count("photo.judged") == 0


def test_the_description_has_the_examples_and_the_tree(opened):
    room, window = opened("path-distinction")
    skip_to(room, "stage-1")
    QApplication.processEvents()
    QTest.mouseClick(window.top.help, LEFT)
    pages = window.opened.inside
    assert focus() is pages.tabs
    assert len(pages.pages) == 3
    press(KEY.Key_Right)
    shown = pages.stack.currentWidget()
    assert isinstance(shown, WorkedExample)
    assert shown.text.toPlainText().startswith("Right")
    QTest.mouseClick(pages.tree, LEFT)
    assert not pages.isVisible(), "it would lie over the tree"
    assert isinstance(window.opened.inside, WholeTree)
    assert room.last("description.closed") == {"what": "method"}
    press(KEY.Key_Escape)
    assert room.last("description.closed") == {"what": "tree"}


def test_a_task_without_an_introduction_has_its_description_alone(
    open_room, open_window, tmp_path, qapp
):
    room = open_room(study=write_judging_study(tmp_path, "prototype-agreement"))
    window = open_window(room, "stage-1")
    QTest.mouseClick(window.top.help, LEFT)
    pages = window.opened.inside
    assert pages.tabs.isHidden()
    assert pages.tree.isHidden()
    assert focus() is window.bottom.right
    press(KEY.Key_Return)
    assert room.last("description.closed") == {"what": "method"}
    assert window.stack.currentWidget() is window.screen_shown
    assert room.count("photo.judged") == 0


def test_a_pause_over_the_description_leads_back_to_it_and_to_the_task(opened):
    room, window = opened("path-distinction")
    skip_to(room, "stage-1")
    QApplication.processEvents()
    before = focus()
    room.runner.send(OpenDescription("method"))
    room.runner.send(Pause("a question"))
    assert not window.top.help.isVisible(), "it would do nothing during a pause"
    QApplication.processEvents()
    assert window.covered
    room.runner.send(Resume("answered"))
    QApplication.processEvents()
    assert window.stack.currentWidget() is window.opened
    assert window.top.help.isVisible()
    assert focus() is window.opened.inside.tabs
    press(KEY.Key_Escape)
    assert window.stack.currentWidget() is window.screen_shown
    assert focus() is before


def test_a_resumed_session_shows_what_was_open(opened, open_window):
    room, window = opened("prototype-agreement")
    skip_to(room, "stage-1")
    QApplication.processEvents()
    QTest.mouseClick(window.top.help, LEFT)
    window.close_for_good()
    again = open_window(room)
    assert again.stack.currentWidget() is again.opened
    assert isinstance(again.opened.inside, DescriptionPages)
    QTest.mouseClick(again.bottom.right, LEFT)
    assert again.stack.currentWidget() is again.screen_shown


@pytest.fixture
def zoomed(qtbot) -> ZoomView:
    """A picture of 800 x 400 in a view of 400 x 400."""
    view = ZoomView(theme.LIGHT, "The whole tree")
    qtbot.addWidget(view)
    view.resize(400, 400)
    view.show()
    image = QImage(800, 400, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    view.show_picture(image)
    return view


def test_a_large_picture_is_seen_whole_at_first(zoomed):
    target = zoomed.target
    assert (target.width(), target.height()) == (400, 200)
    assert target.center() == QPointF(200, 200)


def test_the_wheel_enlarges_what_is_under_the_pointer(zoomed):
    at = QPointF(300, 200)
    before = (at.x() - zoomed.target.x()) / zoomed.scale
    turn_wheel(zoomed, at)
    assert zoomed.scale == pytest.approx(0.625)
    assert (at.x() - zoomed.target.x()) / zoomed.scale == pytest.approx(before)


def test_a_picture_is_moved_by_mouse_and_keys_and_never_leaves(zoomed):
    for _ in range(4):
        QTest.keyClick(zoomed, KEY.Key_Plus)
    before = zoomed.target
    QTest.mousePress(zoomed, LEFT, pos=QPoint(200, 200))
    QTest.mouseMove(zoomed, QPoint(180, 200))
    QTest.mouseRelease(zoomed, LEFT, pos=QPoint(180, 200))
    assert zoomed.target.x() == pytest.approx(before.x() - 20)
    for _ in range(40):
        QTest.keyClick(zoomed, KEY.Key_Right)
    assert zoomed.target.right() == pytest.approx(zoomed.width())
    QTest.keyClick(zoomed, KEY.Key_0)
    assert zoomed.target.width() == pytest.approx(400)


def test_zooming_stops_at_the_whole_picture_and_at_its_pixels(zoomed):
    for _ in range(60):
        QTest.keyClick(zoomed, KEY.Key_Plus)
    assert zoomed.scale == pytest.approx(4.0)
    for _ in range(60):
        QTest.keyClick(zoomed, KEY.Key_Minus)
    assert zoomed.scale == pytest.approx(0.5)


def test_files_of_a_study_name_what_pages_can_show():
    """What the shipped introductions show is known here."""
    texts = Path(__file__).parents[3] / "assets" / "texts"
    for path in texts.glob("*/method-*.md"):
        shown = [split_page(page)[1] for page in path.read_text("utf-8").split("\n---\n")]
        assert shown.count("correct") == shown.count("incorrect") == 1, path.name
        assert "![" not in "".join(split_page(p)[0] for p in path.read_text().split("\n---\n"))
