"""A combo box with a drawn arrow and values besides its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import font, metrics

TEXT_MARGIN = 44
"""Pixels of a combo box that are not text."""


class Combo(QComboBox):
    """`activated` tells a choice of the person; `set_choices` tells nobody."""

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__()
        self._arrow = QPen(palette.color("secondary"), 1.6)
        self.setAccessibleName(name)
        self.setMinimumHeight(theme.TARGET_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)

    def set_choices(self, choices: Sequence[tuple[str, Any]], current: Any) -> None:
        """choices: (text, value); current: the value that is shown as chosen."""
        known = [(self.itemText(i), self.itemData(i)) for i in range(self.count())]
        self.blockSignals(True)
        if known != list(choices):
            self.clear()
            for text, value in choices:
                self.addItem(text, value)
        values = [value for _, value in choices]
        self.setCurrentIndex(values.index(current) if current in values else -1)
        self.blockSignals(False)
        self.setToolTip(self.currentText())

    def paintEvent(self, event: QPaintEvent) -> None:
        # Qt cuts a long text off under a style sheet; an ellipsis says that there is more.
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        room = self.width() - TEXT_MARGIN
        text = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        option.currentText = text
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        self._paint_arrow(painter)

    def _paint_arrow(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._arrow)
        x, y = self.width() - 17.0, self.height() / 2 + 0.5
        painter.drawPolyline(
            QPolygonF([QPointF(x - 4.5, y - 2.2), QPointF(x, y + 2.2), QPointF(x + 4.5, y - 2.2)])
        )


class Described(NamedTuple):
    """What a list says of a choice: under which heading it stands, a line about it, and what is at
    its right end."""

    group: str
    line: str
    end: str = ""


_VALUE, _LINE, _END, _HEADING = (Qt.ItemDataRole.UserRole + n for n in range(4))
_TITLE_PX, _ENTRY_PX, _HEADING_PX = 22, 46, 30
_WIDEST, _HIGHEST = 660, 460


class _Entries(QStyledItemDelegate):
    """A title with its line below it; headings in between."""

    def __init__(self, palette: Palette, parent: QListWidget) -> None:
        super().__init__(parent)
        self._palette = palette

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, _HEADING_PX if index.data(_HEADING) else _ENTRY_PX)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        box = QRectF(option.rect)
        middle = Qt.AlignmentFlag.AlignVCenter
        inside = box.adjusted(theme.SPACE_M, 0, -theme.SPACE_M, 0)
        if index.data(_HEADING):
            painter.setFont(font(theme.SECONDARY_PX, True))
            painter.setPen(self._palette.color("secondary"))
            painter.drawText(inside, middle, str(index.data()))
            return
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, self._palette.color("accent_soft"))
        end = str(index.data(_END) or "")
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(self._palette.color("secondary"))
        line = QRectF(inside.left(), box.top() + 4, inside.width(), _TITLE_PX - 2)
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, end)
        for px, role, ink, top in (
            (theme.BODY_PX, Qt.ItemDataRole.DisplayRole, "ink", 4.0),
            (theme.SECONDARY_PX, _LINE, "secondary", float(_TITLE_PX)),
        ):
            line = QRectF(inside.left(), box.top() + top, inside.width(), _TITLE_PX - 2)
            text = metrics(px).elidedText(
                str(index.data(role) or ""), Qt.TextElideMode.ElideRight, inside.width()
            )
            painter.setFont(font(px))
            painter.setPen(self._palette.color(ink))
            painter.drawText(line, middle, text)


class _Finder(QFrame):
    """The list of a `FindingCombo`, with a field to search it. picked(value)."""

    picked = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__(None, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search"))
        self.search.setAccessibleName(tr("Search"))
        bits.limit(self.search)
        self.list = QListWidget()
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Entries(palette, self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        layout = bits.column(
            self, theme.SPACE_S, (theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        )
        layout.addWidget(self.search)
        layout.addWidget(self.list)
        self.search.textChanged.connect(self._search)
        self.list.itemClicked.connect(self._pick)

    def offer(self, choices: Sequence[tuple[str, Any, Described]], current: Any) -> None:
        """Show these, a heading above each group, in the order of the choices."""
        self.list.clear()
        self.search.clear()
        groups = dict.fromkeys(described.group for _, _, described in choices)
        for group in groups:
            heading = QListWidgetItem(group)
            heading.setData(_HEADING, True)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(heading)
            for text, value, described in choices:
                if described.group == group:
                    entry = QListWidgetItem(text)
                    entry.setData(_VALUE, value)
                    entry.setData(_LINE, described.line)
                    entry.setData(_END, described.end)
                    entry.setToolTip("\n".join(filter(None, (text, *described[1:]))))
                    self.list.addItem(entry)
                    if value == current:
                        self.list.setCurrentItem(entry)

    @property
    def shown(self) -> list[QListWidgetItem]:
        """The entries that the search leaves."""
        every = (self.list.item(row) for row in range(self.list.count()))
        return [item for item in every if not item.data(_HEADING) and not item.isHidden()]

    def _search(self, text: str) -> None:
        words = text.casefold().split()
        heading: QListWidgetItem | None = None
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item.data(_HEADING):
                heading = item
                heading.setHidden(True)
                continue
            about = f"{item.text()} {item.data(_LINE)} {item.data(_VALUE)}".casefold()
            item.setHidden(not all(word in about for word in words))
            if heading is not None and not item.isHidden():
                heading.setHidden(False)
        if (shown := self.shown) and self.list.currentItem() not in shown:
            self.list.setCurrentItem(shown[0])
            self.list.scrollToTop()

    def _pick(self, item: QListWidgetItem | None) -> None:
        if item is not None and not item.data(_HEADING) and not item.isHidden():
            self.hide()
            self.picked.emit(item.data(_VALUE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shown = event.key(), self.shown
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pick(self.list.currentItem())
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and shown:
            current = self.list.currentItem()
            at = shown.index(current) if current in shown else -1
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.setCurrentItem(shown[max(0, min(len(shown) - 1, at + step))])
        else:
            super().keyPressEvent(event)


class FindingCombo(Combo):
    """A combo box whose list is grouped, describes each choice and can be searched. A text that is
    too long for one line takes more.

    describe : what is said of a value; asked when the list is opened. groups : the headings in
    their order.
    """

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__(palette, name)
        self.describe: Callable[[Any], Described] = lambda value: Described("", "")
        self.groups: Sequence[str] = ()
        self.finder = _Finder(palette)
        self.finder.picked.connect(self._picked)

    def set_choices(self, choices: Sequence[tuple[str, Any]], current: Any) -> None:
        super().set_choices(choices, current)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fonts, room = self.fontMetrics(), self.width() - TEXT_MARGIN
        wraps = int(Qt.TextFlag.TextWordWrap)
        needed = fonts.boundingRect(QRect(0, 0, room, 1000), wraps, self.currentText()).height()
        more = max(0, needed - fonts.height())
        self.setFixedHeight(theme.TARGET_HEIGHT + more)

    def showPopup(self) -> None:
        choices = [(self.itemText(i), self.itemData(i)) for i in range(self.count())]
        offered = [(text, value, self.describe(value)) for text, value in choices]
        order = {group: place for place, group in enumerate(self.groups)}
        offered.sort(key=lambda choice: order.get(choice[2].group, len(order)))
        styled: QWidget | None = self
        while styled is not None and not styled.styleSheet():
            styled = styled.parentWidget()
        self.finder.setStyleSheet("" if styled is None else styled.styleSheet())
        self.finder.offer(offered, self.currentData())
        room = self.screen().availableGeometry()
        width = min(max(self.width(), _WIDEST), room.width())
        below = self.mapToGlobal(QPoint(0, self.height()))
        height = min(_HIGHEST, max(200, room.bottom() - below.y()))
        x = max(room.left(), min(below.x(), room.right() - width))
        y = max(room.top(), min(below.y(), room.bottom() - height))
        self.finder.setGeometry(x, y, width, height)
        self.finder.show()
        self.finder.search.setFocus()

    def _picked(self, value: Any) -> None:
        index = next((i for i in range(self.count()) if self.itemData(i) == value), -1)
        if index >= 0:
            self.setCurrentIndex(index)
            self._fit()
            self.activated.emit(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.height() <= theme.TARGET_HEIGHT:
            super().paintEvent(event)
            return
        text = self.currentText()
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.setPen(option.palette.text().color())
        inside = QRectF(12, 0, self.width() - TEXT_MARGIN, self.height())
        wraps = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(inside, wraps, text)
        self._paint_arrow(painter)
