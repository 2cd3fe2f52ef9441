"""Where Tab goes in the participant's window: on in reading order, whatever was made when.

The order is that of the layouts, so that a field that is put into a row later, such as the editor
of a dial's name, has its place in that row. A screen can name what comes in another turn, since its
task is done in it. The way on comes behind the content, and what leaves a question, such as Skip,
behind everything else. What gets the focus is scrolled into view; what comes up begins at its top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QGridLayout, QLayout, QScrollArea, QWidget
from shiboken6 import isValid

LAST = 1_000_000
"""The row of what stands in no layout."""


def stops(root: QWidget, current: QWidget | None = None) -> Iterator[QWidget]:
    """What Tab stops at within a widget, in reading order; and what has the focus, `current`,
    though Tab would not stop there."""
    if not root.isVisible() or not root.isEnabled():
        return
    if root is current or (
        root.focusPolicy() & Qt.FocusPolicy.TabFocus and root.focusProxy() is None
    ):
        yield root
    layouts = root.findChildren(QLayout, options=Qt.FindChildOption.FindDirectChildrenOnly)
    layouts = [inner for layout in layouts for inner in (layout, *layout.findChildren(QLayout))]
    children = [
        child for child in root.children() if isinstance(child, QWidget) and not child.isWindow()
    ]
    children.sort(key=lambda child: (_place(child, layouts), child.y(), child.x()))
    for child in children:
        yield from stops(child, current)


def _place(widget: QWidget, layouts: Iterable[QLayout]) -> tuple[tuple[int, int], ...]:
    """Row and column in each layout, from the outermost to the one that holds a widget; behind all
    others where none does.

    The items of layouts are not looked at: Python's objects of them outlive them (PySide), and are
    then taken for whatever comes to lie at their place.
    """
    for layout in layouts:
        if (index := layout.indexOf(widget)) >= 0:
            path = [_cell(layout, index)]
            while isinstance(outer := layout.parent(), QLayout):
                path.insert(0, _cell(outer, outer.indexOf(layout)))
                layout = outer
            return tuple(path)
    return ((LAST, 0),)


def _cell(layout: QLayout, index: int) -> tuple[int, int]:
    if isinstance(layout, QGridLayout):
        row, column, *_ = cast("tuple[int, int, int, int]", layout.getItemPosition(index))
        return row, column
    return index, 0


def in_turn(order: Sequence[QWidget], turn: Sequence[QWidget]) -> list[QWidget]:
    """The order in which some follow one another as a task wants it, wherever they stand; they come
    where the first of them does. A choice stands for the option that Tab comes to."""
    wanted = (widget.focusProxy() or widget for widget in turn)
    chain = [widget for widget in wanted if widget in order]
    first = min((order.index(widget) for widget in chain), default=0)
    others = [widget for widget in order if widget not in chain]
    at = sum(widget not in chain for widget in order[:first])
    return [*others[:at], *chain, *others[at:]]


def after(order: Sequence[QWidget], current: QWidget | None, *, forward: bool) -> QWidget | None:
    """The stop that follows, or comes before; round at the ends. None where there is none."""
    others = [widget for widget in order if widget is not current]
    if not others:
        return None
    if current not in order:
        return others[0 if forward else -1]
    place = order.index(current) + (1 if forward else -1)
    return order[place % len(order)]


class InView(QObject):
    """Scrolls an area to whatever in it gets the focus, by whichever way: Qt does so only for Tab
    from one widget of it to the next."""

    def __init__(self, area: QScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._still: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def begin(self, focused: QWidget) -> None:
        """What is to be looked at begins at its top, whatever of it has the focus: nothing follows
        that widget before another one has had the focus."""
        self._still = focused
        for bar in (self._area.verticalScrollBar(), self._area.horizontalScrollBar()):
            bar.setValue(0)

    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is self._still:
            return
        self._still = None if now is not None else self._still
        # Nothing moves under the mouse while a button of it is down.
        if QApplication.mouseButtons() or now is None or not self._area.isAncestorOf(now):
            return
        # What has just come up has its place only when the layout was looked at.
        QTimer.singleShot(0, self, lambda: self._show(now))

    def _show(self, widget: QWidget) -> None:
        if isValid(widget) and widget.hasFocus() and widget is not self._still:
            self._area.ensureWidgetVisible(widget)
