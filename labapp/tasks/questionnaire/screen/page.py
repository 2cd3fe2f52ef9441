"""A page of a questionnaire: its items one under another; statements in tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from labapp.study.instruments import Item, Slider, Statement
from labapp.tasks.questionnaire.screen.items import TABLE_WORDS_WIDTH, ItemView, view_of
from labapp.ui import theme
from labapp.ui.participant.focus import InView
from labapp.ui.strings import Strings
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.markdown import LINE_CHARACTERS, MarkdownView, text_width
from labapp.ui.widgets.painting import metrics
from labapp.ui.widgets.scale import AnchorRow

LEAST_TABLE_WORDS = 240
SLIDING_WORDS_WIDTH = 440
"""A slider is as low as two lines: its words stand beside it in three at most."""
HEADING_HEIGHT = round(theme.TITLE_PX * 1.4) + theme.SPACE_M
LONG_TEXT = 420
"""A text of more characters is set in two columns."""


class _Row(NamedTuple):
    """Widgets that are shown where one of some items is asked."""

    items: list[str]
    widgets: list[QWidget]


class Page(QScrollArea):
    """Scrolls where its items do not fit; shipped instruments do (a test holds them to it).

    above: Markdown over the questions.
    """

    def __init__(
        self,
        title: str,
        instruction: str,
        items: Sequence[Item],
        words: Strings,
        palette: theme.Palette,
        *,
        above: str = "",
    ) -> None:
        super().__init__()
        self.items = tuple(items)
        self.views: list[ItemView] = []
        self._tables: list[tuple[AnchorRow, list[QWidget]]] = []
        self._rows: list[_Row] = []
        self._words, self._palette = words, palette
        self._slides = any(isinstance(item, Slider) for item in items)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        InView(self)
        inside = QWidget()
        inside.setProperty("role", "ground")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, theme.RING, 0)
        self._column.setSpacing(0)
        self._column.addStretch(1)
        if above:
            self._above(above, title, instruction)
        else:
            self._head(title, instruction)
        for table, some in groupby(items, key=_table_of):
            self._group(list(some), table=table is not None)
        self._column.addStretch(2)
        self.setWidget(inside)

    def asked(self) -> list[ItemView]:
        """The items that are shown."""
        return [view for view in self.views if not view.isHidden()]

    def show_asked(self, ids: Collection[str], awaited: Collection[str]) -> None:
        """Show these items. awaited: others for which room is kept."""
        for row in self._rows:
            shown = any(item in ids for item in row.items)
            holds_room = any(item in awaited for item in row.items)
            for widget in row.widgets:
                policy = widget.sizePolicy()
                if policy.retainSizeWhenHidden() is not holds_room:
                    policy.setRetainSizeWhenHidden(holds_room)
                    widget.setSizePolicy(policy)
                if widget.isHidden() is shown:
                    widget.setVisible(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The statements of a table as wide as the words over its columns leave room for."""
        super().resizeEvent(event)
        room = self.viewport().width() - theme.RING - theme.SPACE_XXL
        for heads, in_column in self._tables:
            width = min(TABLE_WORDS_WIDTH, room - heads.needed_width())
            for widget in in_column:
                widget.setFixedWidth(max(LEAST_TABLE_WORDS, width))

    def _above(self, text: str, title: str, instruction: str) -> None:
        """The text, and beside it what is asked: below it there would be no room. A text with a
        heading is what the page is about; another title would be one too many."""
        if not text.startswith("# "):
            self._head(title, "")
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XXL)
        columns = [text] if instruction else halves(text)
        for number, part in enumerate(columns):
            down = QVBoxLayout()
            down.addSpacing(HEADING_HEIGHT if number else 0)  # the heading stands in the first
            down.addWidget(TextAbove(part))
            down.addStretch(1)
            row.addLayout(down, 1)
        if instruction:
            asked = PlainLabel(instruction)
            asked.setProperty("role", "strong")
            asked.setWordWrap(True)
            row.addWidget(asked, 1, Qt.AlignmentFlag.AlignBottom)
        elif len(columns) == 1:
            row.addStretch(1)
        self._column.addLayout(row)
        self._column.addSpacing(theme.SPACE_M)

    def _head(self, title: str, instruction: str) -> None:
        head = PlainLabel(title)
        head.setProperty("role", "title")
        head.setWordWrap(True)
        self._column.addWidget(head)
        if instruction:
            label = PlainLabel(instruction)
            label.setWordWrap(True)
            label.setMaximumWidth(_even_width(instruction))
            self._column.addSpacing(theme.SPACE_XS)
            # In a row of its own: a column asks a label how high it is at the width of the column.
            row = QHBoxLayout()
            row.addWidget(label, 1)
            row.addStretch()
            self._column.addLayout(row)
        self._column.addSpacing(theme.SPACE_M)

    def _group(self, items: list[Item], *, table: bool) -> None:
        first_group = not self.views
        ids = [item.id for item in items]
        if table and isinstance(items[0], Statement):
            over = QWidget()
            self._rows.append(_Row(ids, [over]))
            row = QHBoxLayout(over)
            row.setContentsMargins(0, 0 if first_group else theme.SPACE_S, 0, theme.SPACE_XS)
            row.setSpacing(theme.SPACE_XXL)
            first = items[0]
            heads = AnchorRow(first.points, first.anchors(), self._palette, over=True)
            corner = QWidget()
            corner.setFixedWidth(TABLE_WORDS_WIDTH)
            row.addWidget(corner)
            row.addWidget(heads, 1)
            in_column: list[QWidget] = [corner]
            self._tables.append((heads, in_column))
            self._column.addWidget(over)
        if table or first_group:  # else the line that ends the group before begins this one
            line = _hairline()
            self._rows.append(
                _Row([item.id for item in self.items] if first_group else ids, [line])
            )
            self._column.addWidget(line)
        for item in items:
            view = view_of(item, self._words, self._palette)
            if self._slides and view.words is not None:
                view.words.setFixedWidth(SLIDING_WORDS_WIDTH)
            if table and view.words is not None:
                in_column.append(view.words)
            self.views.append(view)
            line = _hairline()
            self._rows.append(_Row([item.id], [view, line]))
            self._column.addWidget(view)
            self._column.addWidget(line)


def halves(text: str) -> list[str]:
    """A short text as it is; a long one in two of about as many lines, divided between
    paragraphs."""
    paragraphs = text.split("\n\n")
    if len(text) <= LONG_TEXT or len(paragraphs) < 3:
        return [text]
    lines = [
        sum(ceil(len(line) / LINE_CHARACTERS) for line in paragraph.splitlines())
        for paragraph in paragraphs
    ]
    at = min(range(2, len(lines)), key=lambda n: abs(sum(lines[:n]) - sum(lines[n:])))
    return ["\n\n".join(paragraphs[:at]), "\n\n".join(paragraphs[at:])]


class TextAbove(MarkdownView):
    """A text that is always as high as it needs: the page scrolls, not the text in it."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.show_text(markdown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.setMinimumHeight(self.height_for(self.width()))
        super().resizeEvent(event)


def _table_of(item: Item) -> tuple[object, ...] | None:
    """Equal for statements of one table; None for an item that stands by itself."""
    if not isinstance(item, Statement):
        return None
    return (item.points, item.first, item.look, tuple(item.anchors().items()))


def _even_width(text: str) -> int:
    """A width at which the lines of a text are about equally long, and none too long to read."""
    long = metrics().horizontalAdvance(text)
    lines = ceil(long / text_width())
    return min(round(long / lines) + theme.SPACE_XXXL, text_width() + theme.SPACE_XXXL)


def _hairline() -> QFrame:
    line = QFrame()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line
