"""A study's text is shown whole: nothing of it may lie outside its view without a scroll bar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import labapp
from labapp.base.resources import assets
from labapp.study.plugins.texts import pages
from labapp.ui import theme
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.markdown import MarkdownView, text_width
from labapp.ui.widgets.segments import marked, spoken

PAGES = {
    f"{path.stem}-{number}": page
    for path in sorted((assets() / "texts" / "en").glob("*.md"))
    for number, page in enumerate(pages(path.read_text()), start=1)
}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    made.setStyleSheet(theme.stylesheet(theme.LIGHT))
    qtbot.addWidget(made)
    return made


def shown(qtbot: QtBot, window: QWidget, text: str, height: int, *, before: bool) -> MarkdownView:
    """A view in a column as the participant's screens lay it out.

    before: the text is there before the window is shown.
    """
    column = QVBoxLayout(window)
    side = (1366 - text_width()) // 2
    column.setContentsMargins(side, theme.SPACE_XL, side, theme.SPACE_XL)
    view = MarkdownView()
    column.addStretch(1)
    column.addWidget(view, 100)
    column.addStretch(2)
    if before:
        view.show_text(text)
    window.resize(1366, height)
    with qtbot.waitExposed(window):
        window.show()
    if not before:
        view.show_text(text)
    qtbot.wait(1)
    return view


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("page", PAGES)
def test_every_text_is_shown_whole(qtbot: QtBot, window: QWidget, page: str, before: bool) -> None:
    view = shown(qtbot, window, PAGES[page], 653, before=before)
    assert view.document().size().height() <= view.viewport().height()
    assert not view.focusPolicy()


def test_a_text_without_room_scrolls_to_its_end(qtbot: QtBot, window: QWidget) -> None:
    view = shown(qtbot, window, "\n\n".join(["A paragraph."] * 40), 300, before=True)
    assert view.focusPolicy()
    bar = view.verticalScrollBar()
    assert bar.isVisible()
    assert bar.maximum() + view.viewport().height() >= view.document().size().height() - 1


def test_a_text_that_gets_room_as_it_appears_is_shown_whole(qtbot: QtBot, window: QWidget) -> None:
    view, pages, other = MarkdownView(), QStackedWidget(), QWidget()
    page = QWidget()
    column = QVBoxLayout(page)
    column.addWidget(view, 1)
    column.addStretch(0)
    pages.addWidget(other)
    pages.addWidget(page)
    banner = QWidget()
    banner.setFixedHeight(200)
    outside = QVBoxLayout(window)
    outside.addWidget(banner)
    outside.addWidget(pages, 1)
    view.show_text((assets() / "texts" / "de" / "consent.md").read_text())
    window.resize(1366, 600)
    with qtbot.waitExposed(window):
        window.show()
    window.grab()  # lays out the page that is not on the screen, too
    banner.hide()
    pages.setCurrentIndex(1)
    qtbot.wait(1)
    assert view.document().textWidth() == view.viewport().width()
    assert view.document().size().height() <= view.viewport().height()


HTML = """**Bold** <b>not</b> <img src='/etc/hostname'> <font size='40'>x</font> `<u>`

<script>y</script>"""


def test_html_is_text(qtbot: QtBot) -> None:
    view = MarkdownView()
    qtbot.addWidget(view)
    view.show_text(HTML)
    shown_text = view.toPlainText()
    for tag in ("<b>not</b>", "<img src='/etc/hostname'>", "<font size='40'>", "<script>y", "<u>"):
        assert tag in shown_text
    assert "**" not in shown_text


def test_labels_show_their_words_as_they_stand(qtbot: QtBot) -> None:
    """Qt takes words that look like HTML for it: every label of the windows is a plain one."""
    label = PlainLabel("<b>3</b>")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    rich = [
        f"{path}: {line.strip()}"
        for path in sorted(Path(labapp.__file__).parent.rglob("*.py"))
        if path.name != "label.py" and re.search(r"QLabel|setHtml", text := path.read_text("utf-8"))
        for line in text.splitlines()
        if re.search(r"(?<![\w.])QLabel\((?!\))|= QLabel\(|setHtml\((?!marked)", line)
        and not line.lstrip().startswith("class ")
    ]
    assert rich == []


def test_an_option_knows_two_marks_and_no_html() -> None:
    assert marked("a <i>b</i> <u>c</u>") == "a <i>b</i> <u>c</u>"
    assert marked("<b>a</b> & <img src=x>") == "&lt;b&gt;a&lt;/b&gt; &amp; &lt;img src=x&gt;"
    assert spoken("<i>b</i> <b>") == "b <b>"
