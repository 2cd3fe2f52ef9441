"""The splash: a small window that is on the screen before the rest of labapp is imported.

It belongs to a process of its own, which imports a part of Qt and nothing else, so that it is shown
while this process still imports. It is also the trial of the display: a display that does not
answer makes Qt abort a process, and that is then the splash's (`labapp.ui.qtapp.choose`).

It ends with the pipe to this process, however this process ends. Nothing is imported here that
takes time. Only Linux has a splash: the display is tried nowhere else.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from labapp.base.installation import code_command

SHOWN = b"shown"
CODE = """\
import sys
from PySide6.QtCore import QRect, QSocketNotifier, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPainter, QRasterWindow
WIDTH, HEIGHT, GROUND, INK, BAR = 360, 180, "#ffffff", "#1d2329", "#1a5fd0"
class Splash(QRasterWindow):
    painted = False
    def paintEvent(self, event):
        painter = QPainter(self)
        painter.fillRect(QRect(0, 0, WIDTH, HEIGHT), QColor(GROUND))
        painter.fillRect(QRect(0, HEIGHT - 6, WIDTH, 6), QColor(BAR))
        if self.painted:  # to load fonts takes longer than all else
            font = QFont()
            font.setPixelSize(40)
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(QColor(INK))
            painter.drawText(QRect(0, 0, WIDTH, HEIGHT - 6), Qt.AlignmentFlag.AlignCenter, "labapp")
        painter.end()
        if not self.painted:
            self.painted = True
            QTimer.singleShot(0, self.update)
application = QGuiApplication(["labapp"])
splash = Splash()
flags = Qt.WindowType.SplashScreen | Qt.WindowType.WindowDoesNotAcceptFocus
splash.setFlags(flags | Qt.WindowType.FramelessWindowHint)
room = QGuiApplication.primaryScreen().availableGeometry()
middle = room.center()
splash.setGeometry(middle.x() - WIDTH // 2, middle.y() - HEIGHT // 2, WIDTH, HEIGHT)
splash.setTitle("labapp")
splash.show()
print("shown", application.platformName(), len(application.screens()), flush=True)
over = QSocketNotifier(0, QSocketNotifier.Type.Read)
over.activated.connect(application.quit)
application.exec()
"""
"""It has no words that would have to be translated."""


@dataclass(frozen=True, slots=True)
class _Splash:
    """pipe: ends the process when it is closed; answers: what it prints."""

    pid: int
    pipe: int
    answers: int


_shown: list[_Splash] = []


def opens_window(arguments: Sequence[str]) -> bool:
    """Whether these arguments of the command line open the moderator's window."""
    left = list(arguments)
    while left:
        option, _, value = left.pop(0).partition("=")
        if option not in ("--data", "--private"):
            return False
        if not value and left:
            left.pop(0)
    return True


def has_display() -> bool:
    """Whether there seems to be a display on which a splash can be tried."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return False
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def begin() -> None:
    """Show the splash, if there is a display; it comes up while this process goes on."""
    if _shown or not has_display():
        return
    hears, pipe = os.pipe()
    answers, says = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, hears, 0),
        (os.POSIX_SPAWN_DUP2, says, 1),
        (os.POSIX_SPAWN_DUP2, says, 2),
    ]
    command = code_command(CODE)
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    os.close(hears)
    os.close(says)
    _shown.append(_Splash(pid, pipe, answers))


def is_begun() -> bool:
    """Whether there is a splash, or one is about to be shown."""
    return bool(_shown)


def wait_for_display(patience_s: float) -> str | None:
    """Why the display does not answer, as the splash found; None if it does."""
    answers = _shown[0].answers
    printed = b""
    while SHOWN not in printed:
        ready, _, _ = select.select([answers], [], [], patience_s)
        if not ready:
            end()
            return f"no answer in {patience_s:g} s"
        content = os.read(answers, 4096)
        if not content:
            end()
            lines = printed.decode("utf-8", "replace").splitlines()
            return next((line.strip() for line in lines if line.strip()), "Qt ended")
        printed += content
    return None


def end() -> None:
    """Take the splash away. Harmless when there is none."""
    while _shown:
        splash = _shown.pop()
        os.close(splash.pipe)
        os.kill(splash.pid, signal.SIGTERM)
        os.waitpid(splash.pid, 0)
        os.close(splash.answers)
