"""Opening the documentation: in the browser where its pages are built, else in a window here."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMainWindow, QTextBrowser, QWidget

from labapp.base.documentation import DocumentationSearch, built_page, first_text
from labapp.base.errors import LabappError, SetupError
from labapp.ui import theme
from labapp.ui.fitting import HOME, Fitted
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.qtapp import make_app
from labapp.ui.researcher.job import open_outside
from labapp.ui.widgets.controls import Button

MARGIN, RESULTS_WIDTH, SEARCHED_FROM = 24, 280, 2
"""Pixels around a page, width of the list of results, and from how many letters on it searches."""
_windows: list[DocumentationWindow] = []
"""The open window: Python forgets what nothing names."""


def open_documentation(show_error: Callable[[LabappError], None]) -> None:
    """Open the documentation. show_error: is called where there is none, or no program for it."""
    try:
        if (page := built_page()) is not None:
            open_outside(page, lambda sentence: show_error(SetupError(sentence)))
        else:
            show_window()
    except SetupError as error:
        show_error(error)


def show_window() -> DocumentationWindow:
    """The window with the Markdown, in front. Raises SetupError if there is none."""
    if not _windows:
        window = DocumentationWindow(first_text())
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.destroyed.connect(_windows.clear)
        _windows.append(window)
    _windows[0].show()
    _windows[0].raise_()
    _windows[0].activateWindow()
    return _windows[0]


def run_documentation() -> int:
    """Show the window until it is closed, as a command of its own."""
    app = make_app()
    app.setQuitOnLastWindowClosed(True)
    show_window()
    return app.exec()


class Page(QTextBrowser):
    """A page of Markdown, with pictures no wider than the page."""

    def __init__(self) -> None:
        super().__init__()
        self.setFont(theme.font())
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.document().setDocumentMargin(MARGIN)
        self.path = Path()
        self._drawn_for = 0
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._draw_again)

    def show_file(self, path: Path) -> None:
        self.path, self._drawn_for = path, self.width()
        self.document().setBaseUrl(QUrl.fromLocalFile(str(path)))
        self.clear()
        self.setCurrentCharFormat(QTextCharFormat())  # else that of the last heading goes on
        self.setMarkdown(path.read_text("utf-8"))
        self._space()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _space(self) -> None:
        """Room around headings and paragraphs; lines of code and of tables stay together."""
        block = self.document().begin()
        while block.isValid():
            cursor = QTextCursor(block)
            shape = block.blockFormat()
            code = shape.hasProperty(QTextFormat.Property.BlockCodeFence)
            move = QTextCursor.MoveOperation
            # In a table there is a cell to move to.
            cell = cursor.movePosition(move.NextCell) or cursor.movePosition(move.PreviousCell)
            if not (code or cell):
                shape.setTopMargin(theme.SPACE_L if shape.headingLevel() else 0)
                in_list = shape.objectIndex() >= 0
                shape.setBottomMargin(theme.SPACE_XS if in_list else theme.SPACE_M)
                cursor.setBlockFormat(shape)
            block = block.next()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(self.document().baseUrl().resolved(QUrl(name)).toLocalFile())
        room = max(self.width() - 3 * MARGIN, 1)  # with a scroll bar
        if image.width() <= room:
            return image
        return image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw the pictures again for another width of the page, once Qt is done with this one."""
        super().resizeEvent(event)
        if self.path.name and self.width() != self._drawn_for:
            self._again.start()

    def _draw_again(self) -> None:
        place = self.verticalScrollBar().value()
        self.show_file(self.path)
        self.verticalScrollBar().setValue(place)

    def scroll_to(self, fragment: str) -> None:
        """Go to a heading by the name that links give it."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and _slug(block.text()) == fragment:
                self.moveCursor(QTextCursor.MoveOperation.End)  # so that it comes to the top
                self.setTextCursor(QTextCursor(block))
                return
            block = block.next()


class DocumentationWindow(Fitted, QMainWindow):
    """The documentation with a search. first: the page that opens."""

    def __init__(self, first: Path) -> None:
        super().__init__()
        self.setWindowTitle(tr("docs.title"))
        self._folder = first.parent
        self._search = DocumentationSearch(first.parent)
        self._first = first
        self._before: list[tuple[Path, int]] = []
        self.back = Button(tr("button.back"), pressed=self._go_back)
        self.start = Button(tr("docs.start"), pressed=lambda: self.open(self._first))
        self.words = bits.line_edit(tr("docs.search"), tr("docs.search"), 200)
        self.words.setClearButtonEnabled(True)
        self.results = QListWidget()
        self.results.setAccessibleName(tr("docs.results"))
        self.results.setFixedWidth(RESULTS_WIDTH)
        self.results.setWordWrap(True)
        self.page = Page()
        self.page.setOpenLinks(False)
        self.says = bits.label(role="secondary", wrap=True)
        ground = QWidget()
        ground.setProperty("role", "ground")
        ground.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        top = bits.fill(bits.row(None, theme.SPACE_M), self.back, self.start, (self.words, 1))
        middle = bits.fill(bits.row(None, theme.SPACE_M), self.results, (self.page, 1))
        margin = theme.SPACE_L
        column = bits.column(ground, theme.SPACE_M, (margin, margin, margin, margin))
        bits.fill(column, top, self.says, (middle, 1))
        self.setCentralWidget(ground)
        ground.setStyleSheet(bits.stylesheet(theme.LIGHT))
        self.setMinimumSize(*HOME)
        self.resize(1100, 760)
        self.page.anchorClicked.connect(self._follow)
        self.words.textChanged.connect(self._find)
        self.words.returnPressed.connect(self._open_first)
        self.results.itemActivated.connect(self._open_item)
        self.results.itemClicked.connect(self._open_item)
        self._find("")
        self._say("")
        self.open(first)
        self.words.setFocus()

    def open(self, path: Path, fragment: str = "") -> None:
        """Show a page, at a heading if one is named."""
        if self.page.path != path:
            if self.page.path.name:
                self._before.append((self.page.path, self.page.verticalScrollBar().value()))
            self.page.show_file(path)
        self._say("")
        self.back.setEnabled(bool(self._before))
        if fragment:
            self.page.scroll_to(fragment)

    def _go_back(self) -> None:
        path, place = self._before.pop()
        self.page.show_file(path)
        self.page.verticalScrollBar().setValue(place)
        self.back.setEnabled(bool(self._before))
        self._say("")

    def _follow(self, url: QUrl) -> None:
        if url.scheme() not in ("", "file"):
            QDesktopServices.openUrl(url)
            return
        target = QUrl.fromLocalFile(str(self.page.path)).resolved(url)
        path = Path(target.toLocalFile())
        if not path.exists():
            self._say(tr("docs.not_built", page=path.stem))
        elif path.suffix == ".md":
            self.open(path, target.fragment())
        else:
            open_outside(path, self._say)

    def _find(self, words: str) -> None:
        asked = len(words.strip()) >= SEARCHED_FROM
        results = self._search.find(words) if asked else []
        self.results.clear()
        for each in results:
            item = QListWidgetItem(each.title.replace("`", ""))
            item.setData(Qt.ItemDataRole.UserRole, each.page)
            self.results.addItem(item)
        self.results.setVisible(bool(results))
        self._say(tr("docs.nothing") if asked and not results else "")

    def _open_first(self) -> None:
        if self.results.count():
            self.results.setCurrentRow(0)
            self._open_item(self.results.item(0))

    def _open_item(self, item: QListWidgetItem) -> None:
        self.open(self._folder / item.data(Qt.ItemDataRole.UserRole))

    def _say(self, sentence: str) -> None:
        self.says.setText(sentence)
        self.says.setVisible(bool(sentence))


def _slug(heading: str) -> str:
    """The name of a heading in links."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
