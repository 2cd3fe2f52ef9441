"""The one QApplication, the interpreter settings it needs, and the choice of Qt platform: the
display if one answers, else offscreen.

A dead DISPLAY makes Qt abort the process without an exception, so it is tried in a child process
first. Nothing here imports Qt.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base import leftovers, resources, splash
from labapp.base.errors import SetupError
from labapp.base.installation import code_command
from labapp.ui import language

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


SWITCH_INTERVAL_S = 0.0005
"""The writers of journal and sound must not hold the interpreter while a picture is due."""


def make_app() -> QApplication:
    """The one QApplication, on the display if it answers, otherwise offscreen; it speaks the
    moderator's language."""
    choose()
    try:
        read_no_sources()
        from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
        from PySide6.QtGui import QIcon
        from PySide6.QtWidgets import QApplication
    except ImportError as error:
        raise SetupError(
            f"The windows cannot be opened: {error}.",
            safe="Everything that does not need a window works.",
            todo="Install that system library. In a checkout, `make setup` shows or installs it.",
        ) from error

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    language.speak(language.choose_language(QLocale.system().uiLanguages()))
    app = QApplication(["labapp"])
    # The words of Qt's own: dialogs of files, menus of text fields.
    words = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if words.load(f"qtbase_{language.current_language()}", folder):
        app.installTranslator(words)
    app.setApplicationName("labapp")
    app.setApplicationDisplayName("labapp")
    if DESKTOP_ENTRY.is_file():  # else portals of the desktop warn about a name they do not know
        app.setDesktopFileName(DESKTOP_ENTRY.stem)
    app.setWindowIcon(QIcon(str(icon_file())))
    app.setQuitOnLastWindowClosed(False)
    app.setStyle("Fusion")
    return app


def make_offscreen_app() -> QApplication:
    """As `make_app`, for pictures that go to files: no window appears on a display. An offscreen
    platform that was chosen before, with its screens, stays."""
    if not os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return make_app()


def the_app() -> QApplication:
    """The application that was made, for its signals."""
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application


def read_no_sources() -> None:
    """Keep PySide from reading the source of each module that is imported after it.

    It looks in there for its own name, for what modules switch on by `from __feature__ import`,
    which works all the same; and Python keeps what was read: 50 MB with the modules of torch.
    """
    import PySide6  # noqa: F401  (makes the package below)

    with suppress(ImportError):
        feature = import_module("shibokensupport.feature")

        setattr(feature, "_mod_uses_pyside", lambda module: False)  # noqa: B010  (not in its types)


def settle_memory() -> None:
    """Take everything loaded so far out of the garbage collector's rounds: a full collection in
    the middle of a dial movement costs several frames."""
    gc.collect()
    gc.freeze()


def unsettle_memory() -> None:
    """After a session: what was in use then may be garbage by now."""
    gc.unfreeze()


def icon_file() -> Path:
    """The icon of labapp's windows."""
    return resources.assets() / "icon.svg"


DESKTOP_ENTRY = Path("/usr/share/applications/labapp.desktop")
"""Where the Debian package puts the name and the icon for the desktop."""
PROBE_TIMEOUT_S = 15.0
ANSWERED = "LABAPP_DISPLAY_ANSWERED"
_PROBE = (
    "from PySide6.QtGui import QGuiApplication\n"
    "app = QGuiApplication([])\n"
    "print(app.platformName(), len(app.screens()))\n"
)


@dataclass(frozen=True, slots=True)
class Display:
    """visible: windows appear on a real or virtual screen; why: for people."""

    visible: bool
    why: str


def offscreen(width: int = 1920, height: int = 1080, dpr: float = 1.0, screens: int = 1) -> str:
    """A QT_QPA_PLATFORM value with screens of this size (in device pixels), side by side.

    Qt's own default for offscreen is a single screen of 800 x 800.
    """
    alike = {"width": width, "height": height, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": dpr}
    rows = [
        {"name": f"Offscreen {index + 1}", "x": index * width, "y": 0} | alike
        for index in range(screens)
    ]
    handle, name = tempfile.mkstemp(prefix=leftovers.prefix("screens"), suffix=".json")
    with os.fdopen(handle, "w") as file:
        json.dump({"screens": rows}, file)
    atexit.register(Path(name).unlink, missing_ok=True)
    return f"offscreen:configfile={name}"


@cache
def choose() -> Display:
    """Decide once, before Qt is imported; sets QT_QPA_PLATFORM when windows cannot be shown."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if chosen.startswith(("offscreen", "minimal")):
        if chosen == "offscreen":
            os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, "QT_QPA_PLATFORM says so")
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or chosen
    ):
        os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, "this machine has no display")
    if os.environ.get(ANSWERED, "") == _name_display():
        return Display(True, "the display answered the program that started this one")
    if sys.platform.startswith("linux") and (problem := _try_display()):
        os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, f"the display does not answer ({problem})")
    return Display(True, "the display answers")


def make_child_environment() -> dict[str, str]:
    """Environment variables for child processes that say that the display answers: they then need
    not try it, which takes half a second."""
    return {ANSWERED: _name_display()} if choose().visible else {}


def _name_display() -> str:
    """Which display it is; never empty."""
    variables = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return "/".join(os.environ.get(variable, "") for variable in variables)


def _try_display() -> str | None:
    """Why the display does not answer; None if it does. The splash has tried it already."""
    return splash.wait_for_display(PROBE_TIMEOUT_S) if splash.is_begun() else _probe()


def _probe(command: Sequence[str] = ()) -> str | None:
    try:
        done = subprocess.run(
            command or code_command(_PROBE),
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {PROBE_TIMEOUT_S:g} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[0].strip() if lines else f"Qt ended with status {done.returncode}"
