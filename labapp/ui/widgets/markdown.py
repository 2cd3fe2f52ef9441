"""A study's text: Markdown in the token sizes, in lines of at most 70 characters."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QImage,
    QResizeEvent,
    QShowEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextImageFormat,
)
from PySide6.QtWidgets import QSizePolicy, QTextBrowser, QWidget

from labapp.ui import theme
from labapp.ui.widgets.painting import metrics
from labapp.ui.widgets.sound_bar import SoundBar
from labapp.ui.widgets.study_picture import scaled, size_of

LINE_CHARACTERS = 70
LINE_HEIGHT = 140.0
NO_WORDS = "\N{NO-BREAK SPACE}"


def text_width() -> int:
    """Logical pixels that 70 characters of body text take."""
    sample = "the quick brown fox jumps over a lazy dog and looks for the way home it "
    return round(metrics().horizontalAdvance(sample) / len(sample) * LINE_CHARACTERS)


def picture_width() -> int:
    """Logical pixels for the widest picture or video of a text: none is cut when the text gets a
    scroll bar."""
    return text_width() - theme.SPACE_L - 2 * theme.RING


def read(document: QTextDocument, markdown: str) -> None:
    """Fill a document with Markdown. HTML in it is text like any other: `<b>` is shown as it
    stands."""
    features = QTextDocument.MarkdownFeature
    # Qt leaves out a picture without words.
    markdown = markdown.replace("![](", f"![{NO_WORDS}](")
    document.setMarkdown(markdown, features.MarkdownDialectGitHub | features.MarkdownNoHTML)


TextSound = Callable[[str, str, int | None], SoundBar | None]
"""Makes what plays a sound or video of a text, by its name in the study's folder, its words and the
width that the text states; None if there is none."""


def no_sound(name: str, alt: str, width: int | None) -> SoundBar | None:
    """Where there are none."""
    return None


class MarkdownView(QTextBrowser):
    """As high as its text where there is room; else it scrolls, and then Tab reaches it. What plays
    a sound lies over the room that the text leaves for it. left: it no longer scrolls, and gave up
    the focus."""

    left = Signal()

    def __init__(
        self,
        pictures: Callable[[str], bytes | None] = lambda name: None,
        sounds: TextSound = no_sound,
    ) -> None:
        """pictures: gives the content of a picture that the text names; sounds: what plays a sound
        that it names."""
        super().__init__()
        self.pictures, self.sounds = pictures, sounds
        self.sound_bars: list[tuple[int, SoundBar]] = []  # with their places in the text
        self._text = ""
        self._scrolls = False
        self._measured = (0, 0)
        self.setProperty("role", "text")
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMaximumWidth(text_width() + theme.SPACE_L + 2 * theme.RING)
        self.setFont(theme.font())
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_text(self, markdown: str) -> None:
        if markdown == self._text:
            return
        self._text = markdown
        read(self.document(), markdown)
        self._style()
        for _, bar in self.sound_bars:
            bar.hide()
            bar.deleteLater()
        self.sound_bars = []
        self._size_pictures()
        # Its cursor went to the end with the text, and Qt scrolls to it when it is shown first.
        self.setTextCursor(QTextCursor(self.document()))
        self._measured = (0, 0)
        self.verticalScrollBar().setValue(0)
        self._fit()

    def _style(self) -> None:
        cursor = QTextCursor(self.document())
        block = self.document().begin()
        first = True
        while block.isValid():
            cursor.setPosition(block.position())
            cursor.movePosition(
                QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
            )
            level = block.blockFormat().headingLevel()
            shape = QTextBlockFormat(block.blockFormat())
            in_list = None not in (block.textList(), block.next().textList())  # and it goes on
            shape.setTopMargin(0 if first else theme.SPACE_L if level else 0)
            shape.setBottomMargin(theme.SPACE_XS if in_list else theme.SPACE_M)
            proportional = QTextBlockFormat.LineHeightTypes.ProportionalHeight
            shape.setLineHeight(LINE_HEIGHT, proportional.value)
            cursor.setBlockFormat(shape)
            if level:
                form = QTextCharFormat(cursor.charFormat())
                form.clearProperty(QTextFormat.Property.FontSizeAdjustment)
                px = theme.TITLE_PX if level == 1 else theme.BODY_PX
                form.setProperty(QTextFormat.Property.FontPixelSize, px)
                form.setFontWeight(QFont.Weight.DemiBold)
                cursor.setCharFormat(form)
            block = block.next()
            first = False

    def _size_pictures(self) -> None:
        """Give pictures their sizes, `![words](name "320")` the width that it states, and say them
        and the first line to people who cannot see them."""
        document = self.document()
        images = []
        block = document.begin()
        while block.isValid():
            at = block.begin()
            while not at.atEnd():
                if at.fragment().charFormat().isImageFormat():
                    images.append(at.fragment())
                at += 1
            block = block.next()
        alts = []
        for fragment in images:
            image = fragment.charFormat().toImageFormat()
            name = image.name()
            alts.append(image.stringProperty(QTextFormat.Property.ImageAltText).strip())
            stated = image.stringProperty(QTextFormat.Property.ImageTitle)
            width = int(stated) if stated.isdecimal() and int(stated) else None
            if (bar := self.sounds(name, alts[-1], width)) is not None:
                bar.setParent(self.viewport())
                bar.installEventFilter(self)
                bar.show()
                self.sound_bars.append((fragment.position(), bar))
                continue
            if (content := self.pictures(name)) is None:
                continue
            size = size_of(content, width, picture_width())
            image.setWidth(size.width())
            image.setHeight(size.height())
            image.setName(f"{name}#{size.width()}")
            picture = scaled(content, size.width(), self.devicePixelRatioF())
            self._put_picture(fragment.position(), image, picture)
        self._size_sounds()
        first = document.begin().text().replace("\ufffc", "").strip()
        self.setAccessibleName(first or next(iter(alts), ""))
        self.setAccessibleDescription("; ".join(filter(None, alts)))

    def _put_picture(self, position: int, image: QTextImageFormat, picture: QImage) -> None:
        """Show a picture, at the size in its format, in its place in the text."""
        document = self.document()
        kind = QTextDocument.ResourceType.ImageResource.value
        document.addResource(kind, QUrl(image.name()), picture)
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(image)
        # The room between lines is a share of their height: below a picture it would be wide.
        shape = QTextBlockFormat(cursor.blockFormat())
        shape.setLineHeight(0, QTextBlockFormat.LineHeightTypes.SingleHeight.value)
        cursor.setBlockFormat(shape)

    def _size_sounds(self) -> None:
        """Leave as much room for what plays a sound as it takes in the window's style."""
        for number, (position, bar) in enumerate(self.sound_bars):
            size = bar.sizeHint()
            if size != bar.size():
                bar.resize(size)
                room = QImage(size, QImage.Format.Format_ARGB32)
                room.fill(Qt.GlobalColor.transparent)
                image = QTextImageFormat()
                image.setName(f"sound-{number}#{size.width()}x{size.height()}")
                image.setWidth(size.width())
                image.setHeight(size.height())
                image.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
                self._put_picture(position, image, room)
                self._measured = (0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What plays a video takes other room in another window."""
        if event.type() == QEvent.Type.LayoutRequest and self.sound_bars:
            self._size_sounds()
            self._fit()
            self._place_sounds()
        return super().eventFilter(watched, event)

    def _place_sounds(self) -> None:
        """Lay what plays a sound over its place in the text."""
        for position, bar in self.sound_bars:
            cursor = QTextCursor(self.document())
            cursor.setPosition(position)
            bar.move(self.cursorRect(cursor).topLeft())

    def ensureWidgetVisible(self, widget: QWidget) -> None:
        """Scroll to what plays a sound, where this is a button of it: to all of it if it fits."""
        high, scroll = self.viewport().height(), self.verticalScrollBar()
        for _, bar in self.sound_bars:
            if bar.isAncestorOf(widget):
                shown = bar if bar.height() + 2 * theme.RING <= high else widget
                top = shown.mapTo(self.viewport(), QPoint()).y() - theme.RING
                below = max(top + shown.height() + 2 * theme.RING - high, 0)
                scroll.setValue(scroll.value() + (min(top, 0) or below))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        self._place_sounds()

    def height_for(self, width: int) -> int:
        """Logical pixels that the text and the room of its focus ring take at a width.

        The ring's room is always there: were it added for a text that scrolls, the text would be
        narrower then, and its last line could be left outside.
        """
        if width != self._measured[0]:
            copy = self.document().clone()
            copy.setTextWidth(width - 2 * theme.RING)
            self._measured = (width, ceil(copy.size().height()) + 2 * theme.RING)
        return self._measured[1]

    def sizeHint(self) -> QSize:
        return QSize(self.maximumWidth(), self.height_for(min(self.width(), self.maximumWidth())))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 80)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measured = (0, 0)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self._place_sounds()

    def showEvent(self, event: QShowEvent) -> None:
        """Lines as long as there is room: one that no longer scrolls is not laid out anew where its
        size changed while it was hidden, and its last line would be left outside."""
        super().showEvent(event)
        if self.sound_bars:
            self._size_sounds()
            self._fit()
        if self.document().textWidth() != self.viewport().width():
            self.document().setTextWidth(self.viewport().width())
        self._place_sounds()

    def _fit(self) -> None:
        """Ask for the height of the text; where it is not given, scroll."""
        needed = self.height_for(self.width())
        if needed != self.maximumHeight():
            self.setMaximumHeight(needed)
            self.updateGeometry()
        scrolls = self.height() < min(needed, self.maximumHeight())
        if scrolls != self._scrolls:
            self._scrolls = scrolls
            bar, focus = Qt.ScrollBarPolicy, Qt.FocusPolicy
            self.setVerticalScrollBarPolicy(
                bar.ScrollBarAsNeeded if scrolls else bar.ScrollBarAlwaysOff
            )
            self.setFocusPolicy(focus.StrongFocus if scrolls else focus.NoFocus)
            if not scrolls and self.hasFocus():
                self.clearFocus()  # its ring would stay
                self.left.emit()
