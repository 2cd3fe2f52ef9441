"""Showing a file in whatever the system opens it with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from labapp.base.documentation import first_page
from labapp.base.errors import LabappError, SetupError
from labapp.ui.language import tr

OPENER = "xdg-open"
LOOK_MS = 200


def open_documentation(show_error: Callable[[LabappError], None]) -> None:
    """Open the documentation's first page in the browser; show_error is told where there is none,
    or no program for it."""
    try:
        open_outside(first_page(), lambda sentence: show_error(SetupError(sentence)))
    except SetupError as error:
        show_error(error)


def open_outside(path: Path, tell: Callable[[str], None]) -> None:
    """Open a file in the program that the system has for it.

    On Linux Qt says that a file is open as soon as it has asked for it; the system's own command
    says by its exit status whether anything opened it.

    Parameters
    ----------
    path : a file or a folder.
    tell : is given a sentence where nothing opens it, now or soon after.
    """
    sentence = tr("system.no_program", path=path)
    opener = shutil.which(OPENER) if sys.platform.startswith("linux") else None
    if opener is None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            tell(sentence)
        return
    # A process of its own session: some programs are over only when the person closes them, and
    # they stay open when labapp is closed.
    process = subprocess.Popen(
        [opener, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    timer = QTimer(QCoreApplication.instance())

    def look() -> None:
        if process.poll() is None:
            return
        timer.stop()
        timer.deleteLater()
        if process.returncode:
            tell(sentence)

    timer.timeout.connect(look)
    timer.start(LOOK_MS)
