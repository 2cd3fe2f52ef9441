"""Which screen a part of the plan has."""

from __future__ import annotations

from functools import cache

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from labapp import discovery
from labapp.events.look import SCALED
from labapp.plugins import registry
from labapp.ui.participant.read_only import ReadOnly
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView

ABOVE = 45
"""Percent of the free height of a page that lies above its content."""


def make_screen(session: SessionView) -> Screen:
    """The screen of the part that runs, for which everything is ready."""
    part = session.part
    assert part is not None, "a screen is made of a part that runs"
    screen = screen_class(registry.task_type_of(part).screen(part))(session, part)
    if session.layout >= SCALED:
        centre(screen)
    if session.read_only:
        ReadOnly(screen)
    return screen


def centre(screen: QWidget) -> None:
    """Let content stand a little above the middle, where it stood in the upper third."""
    for column in screen.findChildren(QVBoxLayout):
        last = column.count() - 1
        ends = [column.itemAt(place) for place in (0, last)] if last > 0 else []
        spacers = [end is not None and end.spacerItem() is not None for end in ends]
        free = bool(ends) and all(spacers)
        if free and (column.stretch(0), column.stretch(last)) == (1, 2):
            column.setStretch(0, ABOVE)
            column.setStretch(last, 100 - ABOVE)


def bring(stack: QStackedWidget, widget: QWidget) -> None:
    """Bring a widget to the top of a stack."""
    if stack.indexOf(widget) < 0:
        stack.addWidget(widget)
    stack.setCurrentWidget(widget)


def clear(stack: QStackedWidget, remaining: QWidget) -> None:
    """Let everything in a stack go but one widget: a screen, and what it opened over itself."""
    for widget in [stack.widget(place) for place in range(stack.count())]:
        if widget is not None and widget is not remaining:
            stack.removeWidget(widget)
            widget.hide()
            widget.deleteLater()


@cache
def screen_class(where: str) -> type[Screen]:
    """The class of a screen by `module:Class`. Raises TypeError where that is no screen."""
    screen = discovery.load(where)
    if not (isinstance(screen, type) and issubclass(screen, Screen)):
        raise TypeError(f"{where} is no screen of the participant's window")
    return screen
