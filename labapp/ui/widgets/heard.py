"""What a screen reader is told where Qt tells nothing by itself: that a widget is a picture, and
what is said without the focus coming to it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget


class Picture(QWidget):
    """A painted widget that is told as a picture, by its accessible name."""


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Say something now; urgent: before anything else that is being said."""
    event = QAccessibleAnnouncementEvent(widget, text)
    if urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


def _interface(_kind: str, made: QObject) -> QAccessibleInterface | None:
    return QAccessibleWidget(made, QAccessible.Role.Graphic) if isinstance(made, Picture) else None


QAccessible.installFactory(_interface)
