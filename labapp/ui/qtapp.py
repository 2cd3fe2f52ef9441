"""The one QApplication, and what the interpreter is told for its sake."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from labapp.base.errors import SetupError
from labapp.ui import display, language

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SWITCH_INTERVAL_S = 0.0005
"""The writers of journal and sound must not hold the interpreter while a picture is due."""


def make_app() -> QApplication:
    """The one QApplication, on the display if it answers, otherwise offscreen; it speaks the
    moderator's language."""
    display.choose()
    try:
        read_no_sources()
        from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
        from PySide6.QtWidgets import QApplication
    except ImportError as error:
        raise SetupError(
            f"The windows cannot be opened: {error}.",
            safe="Everything that needs no window works.",
            todo="Install that system library; in a checkout, `make setup` names or installs it.",
        ) from error

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    language.speak(language.preferred(QLocale.system().uiLanguages()))
    app = QApplication(["labapp"])
    # The words of Qt's own: dialogs of files, menus of text fields.
    words = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if words.load(f"qtbase_{language.spoken()}", folder):
        app.installTranslator(words)
    app.setApplicationName("labapp")
    app.setApplicationDisplayName("labapp")
    app.setQuitOnLastWindowClosed(False)
    app.setStyle("Fusion")
    return app


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
