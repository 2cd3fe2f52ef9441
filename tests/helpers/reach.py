"""What of a window cannot be reached or read: it lies outside of what scrolls, or is cut."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QLabel, QScrollArea, QWidget


def out_of_reach(window: QWidget) -> list[str]:
    """What is wrong, a line each."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not widget.width() or not widget.height():
            continue
        if isinstance(widget, QLabel) and widget.text() and (why := _cut(widget)):
            found.append(f"{why}: {widget.text()[:60]!r}")
        told = isinstance(widget, QLabel) and bool(widget.text())
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus or told:
            found += [f"outside: {_name(widget)} in {where}" for where in _outside(widget, window)]
    return found


def _name(widget: QWidget) -> str:
    said = widget.text() if isinstance(widget, QLabel) else widget.accessibleName()
    return f"{type(widget).__name__} {said[:60]!r}"


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
