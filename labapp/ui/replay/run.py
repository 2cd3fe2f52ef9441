"""What `labapp replay` opens: the window of one session, until it is closed."""

from __future__ import annotations

import signal
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from labapp.ui.replay.session import no_collection, open_session
from labapp.ui.replay.window import ReplayWindow

SIGNAL_MS = 200


class Replay:
    """A replay window on the screen.

    Parameters
    ----------
    path : a session folder, or a bundle that holds one session.
    at_ns : the session time that is shown first; None for where it was left.
    dark : whether the window is dark from now on; None for as it was chosen last.

    Raises
    ------
    LabappError : the session cannot be shown.
    """

    def __init__(self, path: Path, at_ns: int | None = None, dark: bool | None = None) -> None:
        with no_collection():
            session = open_session(path)
            session.history.decoders.load_in_background()
            self.window = ReplayWindow(session, dark=dark)
            self.window.open(at_ns)

    def run(self) -> int:
        """Go on until the window is closed, or the program is asked to end."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.window.closed.connect(app.quit)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.window.close())
        # Python runs its signal handlers only when the event loop calls into Python.
        awake = QTimer(self.window)
        awake.timeout.connect(lambda: None)
        awake.start(SIGNAL_MS)
        return app.exec()
