"""What of a window cannot be reached or read: outside of what scrolls, cut or covered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSplitter,
    QTableView,
    QWidget,
)

from labapp.ui.moderator.bits import ElidedLabel
from labapp.ui.widgets.choice import AnchorRow
from labapp.ui.widgets.controls import Button, ElidedButton


def out_of_reach(window: QWidget) -> list[str]:
    """What is wrong, a line each."""
    found = overlapping(window)
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not widget.width() or not widget.height():
            continue
        if isinstance(widget, QLabel) and widget.text() and (why := _cut(widget)):
            found.append(f"{why}: {widget.text()[:60]!r}")
        if type(widget) is Button and widget.width() < (least := widget.minimumSizeHint().width()):
            found.append(f"{widget.width()} of {least} wide: {widget.text()[:60]!r}")
        if isinstance(widget, QScrollArea) and (hidden := _hidden(widget)):
            found.append(f"{hidden} pixels are behind the edge of {_name(widget)}")
        if isinstance(widget, AnchorRow) and widget.width() < (least := widget.needed_width()):
            found.append(f"{widget.width()} of {least} wide: the words of a scale")
        told = isinstance(widget, QLabel) and bool(widget.text())
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus or told:
            found += [f"outside: {_name(widget)} in {where}" for where in _outside(widget, window)]
    return found


def _name(widget: QWidget) -> str:
    texts = isinstance(widget, QLabel | QAbstractButton)
    said = widget.text() if texts else widget.accessibleName()
    return f"{type(widget).__name__} {said[:60]!r}"


def _hidden(area: QScrollArea) -> int:
    """Logical pixels at the side of an area that has no bar to come to them."""
    no_bar = area.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    return area.horizontalScrollBar().maximum() if no_bar else 0


def _cut(label: QLabel) -> str:
    """How the words of a label are cut; empty where they are whole."""
    least = label.minimumSizeHint().height()
    if label.height() < least - 1:
        return f"{label.height()} of {least} high"
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        return f"{label.height()} of {needed} high" if label.height() < needed - 1 else ""
    if label.sizePolicy().horizontalPolicy().name == "Ignored" or type(label) is not QLabel:
        return ""  # it says its words in so much room as there is
    needed = label.minimumSizeHint().width()
    return f"{label.width()} of {needed} wide" if label.width() < needed - 1 else ""


def _outside(widget: QWidget, window: QWidget) -> Iterator[str]:
    """Within what a widget lies outside, up to what scrolls there."""
    place, inner = widget.rect(), widget
    if isinstance(widget, QAbstractButton) and not widget.text():
        # Options of a scale take clicks beside their mark, too, up to each other and over the ends.
        place = QRect(place.center(), place.center())
    while inner is not window:
        outer = inner.parentWidget()
        place = place.translated(inner.pos())
        area = outer.parentWidget()
        if isinstance(area, QAbstractScrollArea) and outer is area.viewport():
            if isinstance(area, QScrollArea):
                down, across = area.verticalScrollBar(), area.horizontalScrollBar()
                if (
                    place.bottom() > outer.rect().bottom() + down.maximum() - down.value() + 1
                    or place.right() > outer.rect().right() + across.maximum() - across.value() + 1
                ):
                    yield f"{type(area).__name__}, which does not scroll there"
            place = outer.rect()
        elif not _around(outer).contains(place):
            yield f"{type(outer).__name__} {_rect(place)} of {_rect(outer.rect())}"
            return
        inner = outer


def _around(widget: QWidget) -> QRect:
    return widget.rect().adjusted(-1, -1, 1, 1)


def _rect(rect: QRect) -> str:
    return f"({rect.x()}, {rect.y()}, {rect.width()}, {rect.height()})"


CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView, QAbstractSlider)


def ill_made(window: QWidget) -> list[str]:
    """What of a window is not as every window must be, a line each: it scrolls sideways, words of a
    button are cut, a shortened text or head of a table has no tool tip, a control has no name for a
    screen reader, or the Tab key does not come to a control."""
    shown = [widget for widget in window.findChildren(QWidget) if widget.isVisible()]
    wrong = []
    for widget in shown:
        if isinstance(widget, QScrollArea) and widget.horizontalScrollBar().maximum():
            wrong.append(f"scrolls sideways: {_name(widget)}")
        if isinstance(widget, QTableView):
            wrong += _short_heads(widget)
        if _shortened(widget) and not widget.toolTip():
            wrong.append(f"shortened without a tool tip: {_name(widget)}")
        cut = widget.minimumSizeHint().width() > widget.width() + 1
        if cut and isinstance(widget, QAbstractButton):
            wrong.append(f"words cut: {_name(widget)}")
        if isinstance(widget, CONTROLS) and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            told = QAccessible.queryAccessibleInterface(widget)
            if not told.text(QAccessible.Text.Name).strip():
                wrong.append(f"without a name: {_name(widget)} in {_name(widget.parentWidget())}")
    return wrong + [f"Tab does not come to: {_name(widget)}" for widget in _past_by(window, shown)]


def _short_heads(table: QTableView) -> list[str]:
    head = table.horizontalHeader()
    if head.isHidden():
        return []
    across, tip = Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    return [
        f"head {table.model().headerData(place, across)!r} is cut"
        for place in range(head.count())
        if head.sectionSize(place) < head.sectionSizeHint(place)
        and not table.model().headerData(place, across, tip)
    ]


def _shortened(widget: QWidget) -> bool:
    if isinstance(widget, QComboBox):
        return bool(widget.fontMetrics().horizontalAdvance(widget.currentText()) > widget.width())
    if isinstance(widget, ElidedLabel):
        return bool(widget.text() != widget.full())
    return isinstance(widget, ElidedButton) and widget.shown_text() != widget.text()


def _past_by(window: QWidget, shown: Sequence[QWidget]) -> list[QWidget]:
    """The controls that the Tab key passes by."""
    wanted = {
        widget
        for widget in shown
        if isinstance(widget, CONTROLS)
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    }
    seen: set[QWidget] = set()
    before = window.focusWidget()
    window.activateWindow()
    while (now := window.focusWidget() or window) not in seen:
        seen.add(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    if before is not None:
        before.setFocus()
    return sorted(wanted - seen, key=_name)


def overlapping(window: QWidget) -> list[str]:
    """Panes of splitters that lie over each other or beyond the splitter, by their places."""
    wrong = []
    for split in window.findChildren(QSplitter):
        panes = [split.widget(at) for at in range(split.count())]
        rects = [pane.geometry() for pane in panes if pane.isVisible()]
        over = any(first.intersects(second) for first, second in combinations(rects, 2))
        if over or not all(split.rect().contains(rect) for rect in rects):
            wrong.append(f"panes of {_rect(split.rect())}: {', '.join(map(_rect, rects))}")
    return wrong
