"""What a screen reader is told of a widget, through Qt's accessibility."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
)
from PySide6.QtWidgets import QWidget

from labapp.ui.widgets.choice import Choice

Role, Text = QAccessible.Role, QAccessible.Text


class Heard(NamedTuple):
    """Name, role, what is said besides, and of an option its question, place and number."""

    name: str
    role: QAccessible.Role
    description: str = ""
    group: str = ""
    place: int = 0
    of: int = 0
    checked: bool = False


def interface_of(widget: QWidget) -> QAccessibleInterface:
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None, widget
    return interface


def heard(widget: QWidget) -> Heard:
    """A widget, as it is told; of an option also where it is among those of its question."""
    interface = interface_of(widget)
    said = interface.text(Text.Name), interface.role(), interface.text(Text.Description)
    parent = widget.parentWidget()
    if not isinstance(parent, Choice):
        return Heard(*said)
    group = interface_of(parent)
    assert group.role() == Role.Grouping
    options = [group.child(n) for n in range(group.childCount())]
    options = [option for option in options if option.role() == interface.role()]
    place = next(n for n, option in enumerate(options, 1) if option.object() is widget)
    checked = bool(interface.state().checked)
    return Heard(*said, group.text(Text.Name), place, len(options), checked)


def taken(choice: Choice) -> list[str]:
    """The names of the options that are told as checked."""
    return [told.name for option in choice.options if (told := heard(option)).checked]


def names(choice: Choice) -> list[str]:
    """The names of all options, in their order."""
    return [heard(option).name for option in choice.options]


def announcements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Qt is asked to have said from now on, without the focus coming to it."""
    said: list[str] = []
    pass_on = QAccessible.updateAccessibility

    def update(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())
        pass_on(event)

    monkeypatch.setattr(QAccessible, "updateAccessibility", update)
    return said
