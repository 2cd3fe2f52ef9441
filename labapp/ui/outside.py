"""Showing a file in whatever the system opens it with."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from labapp.ui.language import tr


def open_outside(path: Path) -> str:
    """Open a file in the program that the system has for it; what to tell where there is none."""
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        return ""
    return tr("Nothing opens such files here. It is here: {path}", path=path)
