"""What the command line opens: the home, or one session at once."""

from __future__ import annotations

import signal
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from labapp import resources
from labapp.console import say
from labapp.journal.layout import LEAVING
from labapp.parallel.long_work import gc_paused
from labapp.ui import mistakes
from labapp.ui.language import tr
from labapp.ui.qtapp import make_app
from labapp.ui.starting import RunOptions, open_again, open_new

if TYPE_CHECKING:
    from labapp.session.opening import OpenSession
    from labapp.ui.home import HomeController


def open_home(data: Path | None, private: Path | None) -> int:
    """The moderator window; returns when it is closed."""
    app = make_app()
    home = shown_home(resources.data_root(data), resources.private_root(private))
    # The home's timers call Python often enough for its signal handlers to run; a session has
    # handlers of its own for as long as it lasts.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: home.window.close())
    return app.exec()


def shown_home(data: Path, private: Path) -> HomeController:
    """The moderator window with its first study, to be painted next.

    Hundreds of modules are loaded for it, none of them garbage: the collector waits.
    """
    with gc_paused():
        from labapp.ui.home import HomeController

        home = HomeController(data, private)
        home.show()
    return home


def run_session(study: str, participant: str, session: str | None, options: RunOptions) -> int:
    """`labapp run`: 0 when the debrief is done, 1 when the session was ended early."""
    make_app()
    with _worded():
        opened = open_new(
            study, participant, session, options, painted=_tell_painted, step=_tell_step
        )
        return drive(opened, options)


def _tell_painted(done: int, of: int) -> None:
    """One line on the terminal, while nothing is on the screen yet."""
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\rPainting pictures: {done} of {of}", end=end, file=sys.stderr, flush=True)


def _tell_step(step: str) -> None:
    """A line on the terminal for what takes seconds before anything is on the screen."""
    if sys.stderr.isatty():
        say(tr(step), err=True)


def resume_session(path: Path, options: RunOptions) -> int:
    """`labapp sessions resume`: like `run_session`, from the last event on."""
    make_app()
    with _worded():
        return drive(open_again(path, options, step=_tell_step), options)


def _worded() -> AbstractContextManager[None]:
    """For a mistake of labapp while a session is opened or shown; it is closed by then."""
    return mistakes.worded(
        "The session could not be opened.",
        "It is closed again. What was recorded is untouched.",
        "Go on with `labapp sessions resume`; `labapp sessions list` shows what there is.",
    )


def drive(opened: OpenSession, options: RunOptions) -> int:
    """Show console and participant's window until the session is over."""
    from labapp.ui.controller import SessionController

    app = make_app()
    controller = SessionController(opened, options)
    controller.failed.connect(lambda error: say(error, err=True))
    controller.closed.connect(app.exit)
    controller.start()
    say(controller.watcher.where)
    status = app.exec()
    ended = opened.runner.state.ended
    if ended not in (None, "completed"):
        done = what_became(opened.folder.path)
        say(f"The session ended early: {ended}. {done}", err=True)
    return status


def what_became(folder: Path) -> str:
    """Where the data of a session are that was ended early, in a sentence."""
    if folder.is_dir():
        return f"What was recorded is kept in {folder}."
    if folder.with_name(f"{LEAVING}{folder.name}").is_dir():
        return (
            "Not all that was recorded is deleted yet; that goes on with: "
            f"labapp sessions withdraw {folder} --delete"
        )
    return "What was recorded was deleted, as the participant wishes."
