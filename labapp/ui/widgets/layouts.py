"""Rows and columns of widgets."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

Box = TypeVar("Box", bound=QBoxLayout)
Margins = int | tuple[int, int, int, int]
"""Logical pixels around what is laid out: left, top, right and bottom, or the same all around."""
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]


def row(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QHBoxLayout:
    """Widgets beside each other, in a widget or in another layout."""
    return _spaced(QHBoxLayout() if parent is None else QHBoxLayout(parent), spacing, margins)


def column(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QVBoxLayout:
    """Widgets below each other, in a widget or in another layout."""
    return _spaced(QVBoxLayout() if parent is None else QVBoxLayout(parent), spacing, margins)


def _spaced(layout: Box, spacing: int, margins: Margins) -> Box:
    layout.setContentsMargins(*([margins] * 4 if isinstance(margins, int) else margins))
    layout.setSpacing(spacing)
    return layout


def fill(layout: Box, *items: Item) -> Box:
    """Add widgets and layouts one after another. In a pair the number says how far one stretches,
    a flag at which side of its place it stands; a number alone is empty room that stretches."""
    for item in items:
        inside, how = item if isinstance(item, tuple) else (item, 0)
        if isinstance(inside, int):
            layout.addStretch(inside)
        elif isinstance(inside, QLayout):
            layout.addLayout(inside, int(how))
        elif isinstance(how, Qt.AlignmentFlag):
            layout.addWidget(inside, 0, how)
        else:
            layout.addWidget(inside, how)
    return layout
