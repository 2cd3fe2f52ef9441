"""What the views of all kinds of items have: the words of the item on the left, its answer on the
right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QLabel, QWidget

from labapp.study.instruments import Item, Option
from labapp.study.instruments.items import Picture
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.painting import restyle
from labapp.ui.widgets.study_picture import StudyPicture, size_of

WORDS_WIDTH = 340
TABLE_WORDS_WIDTH = 520
WIDEST_PICTURE = 760
"""As wide as the narrowest window leaves room for."""
MARK = "▸"
MARK_WIDTH = theme.SPACE_L


Pictures = Callable[[str], bytes | None]
"""Gives the content of a picture by its name in the study's folder."""


def no_pictures(name: str) -> bytes | None:
    """Where there are none."""
    return None


def option_pictures(
    options: Sequence[Option], pictures: Pictures
) -> list[tuple[bytes | None, str, int | None]]:
    """The pictures of options, as their widgets take them."""
    return [
        (pictures(shown.file), shown.alt, shown.width)
        if isinstance(shown := option.media, Picture)
        else (None, "", None)
        for option in options
    ]


class ItemWords(QWidget):
    """The words of an item; marked, in room kept for it, while an answer to it is missing."""

    def __init__(self, item: Item, optional: str, width: int) -> None:
        super().__init__()
        self._head = controls.make_label(
            item.name or item.text, "strong" if item.name else "", wrap=True
        )
        self._mark = make_mark()
        more = [item.text] if item.name and item.text else []
        more += [optional] if optional else []
        words = controls.fill(controls.column(None, 2), self._head)
        for line in more:
            words.addWidget(controls.make_label(line, "secondary", wrap=True))
        self._column = words
        controls.fill(controls.row(self, 0), (self._mark, Qt.AlignmentFlag.AlignTop), (words, 1))
        self.setFixedWidth(width)

    def add_picture(self, content: bytes, picture: Picture) -> None:
        """Show a picture below the words, and become wider for one that needs it."""
        width = size_of(content, picture.width, WIDEST_PICTURE).width()
        self._column.addSpacing(theme.SPACE_XS)
        shown = StudyPicture(content, picture.alt, picture.width, WIDEST_PICTURE)
        self._column.addWidget(shown, 0, Qt.AlignmentFlag.AlignLeft)
        if width + MARK_WIDTH > self.maximumWidth():
            self.setMinimumWidth(min(self.minimumWidth(), text_width()))
            self.setMaximumWidth(width + MARK_WIDTH)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and a mark, that this item still needs an answer."""
        show_mark(self._mark, self._head, missing)


class ItemView(QWidget):
    """An item: its words on the left, its answer on the right, which is what the session says.
    answered(value): the hand wants this answer."""

    answered = Signal(object)

    def __init__(
        self, item: Item, words: Strings, width: int = WORDS_WIDTH, *, wide: bool = False
    ) -> None:
        """wide: the words of the item stand above its answer."""
        super().__init__()
        self.item = item
        # Of a slider it is said beside it that it has no answer yet.
        optional = "" if item.required or item.always_answered else words("optional")
        bare = not item.name and not item.text
        self.words = None if bare else ItemWords(item, optional, text_width() if wide else width)
        self.row_layout = controls.row(self, theme.SPACE_XXL, (0, theme.SPACE_S, 0, theme.SPACE_S))
        if self.words is not None:
            self.row_layout.addWidget(self.words, 0, Qt.AlignmentFlag.AlignVCenter)

    def lift_words(self) -> QWidget | None:
        """Take the words out, to be put above something that belongs to the answer."""
        if self.words is None:
            return None
        self.row_layout.removeWidget(self.words)
        self.words.setFixedWidth(max(self.words.maximumWidth(), text_width()))
        self.words.setContentsMargins(0, theme.SPACE_M, 0, 0)
        if self.row_layout.direction() is QBoxLayout.Direction.LeftToRight:
            self.row_layout.setContentsMargins(MARK_WIDTH, theme.SPACE_S, 0, theme.SPACE_S)
        return self.words

    def show_pictures(self, pictures: Pictures) -> None:
        """Show the item's picture: below its words, and above the answer where it is wide."""
        media = self.item.picture
        content = None if media is None else pictures(media.file)
        if media is None or content is None:
            return
        if self.words is None:
            shown = StudyPicture(content, media.alt, media.width, WORDS_WIDTH)
            self.row_layout.insertWidget(0, shown)
            return
        before = self.words.maximumWidth()
        self.words.add_picture(content, media)
        if self.words.maximumWidth() > before:
            self.row_layout.setDirection(QBoxLayout.Direction.TopToBottom)
            self.row_layout.setSpacing(theme.SPACE_S)

    def show_as(self, *, published: bool, layout: int) -> None:
        """Look as in a published study or improved, in a layout of `labapp.record.events.look`."""

    def show_value(self, value: Any) -> None:
        """Show the answer that the session has; None for none."""

    def mark_missing(self, missing: bool) -> None:
        if self.words is not None:
            self.words.mark_missing(missing)

    def uncommitted(self) -> Any:
        """The answer with what was typed and not kept yet; None if nothing was."""
        return None

    def entrance(self) -> QWidget:
        """What takes the focus."""
        raise NotImplementedError


def make_mark() -> QLabel:
    """The space for the mark that shows a missing answer."""
    label = PlainLabel()
    label.setFixedWidth(MARK_WIDTH)
    return label


def show_mark(mark: QLabel, words: QLabel, missing: bool) -> None:
    text = MARK if missing else ""
    if mark.text() == text:
        return
    mark.setText(text)
    for label in (mark, words):
        restyle(label, "tone", "warn" if missing else "")
