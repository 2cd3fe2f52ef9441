"""What the command line opens: the home, or one session at once.

Also `labapp demo`, which does the main job end to end, through the real windows.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base import resources
from labapp.base.clock import utc_label
from labapp.base.console import say
from labapp.base.errors import BundleError, ExportExists
from labapp.base.parallel.long_work import gc_paused
from labapp.record.journal.layout import LEAVING
from labapp.session.simulation.names import ORACLE
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
    whose = (study, participant, session)
    with _worded():
        opened = open_new(*whose, options, painted=_tell_painted, step=_tell_step)
        return drive(opened, options)


def _tell_painted(done: int, of: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\rPainting pictures: {done} of {of}", end=end, file=sys.stderr, flush=True)


def _tell_step(step: str) -> None:
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


STUDY = "quickstart"
STRATEGY = ORACLE
"""So that it is over soon, and shows solved questions."""
PARTICIPANTS = 6
"""Another seed shows another participant's order of stages."""


def run_demo(out: Path | None, seed: int, say: Callable[[str], None]) -> int:
    """A whole session with a simulated participant, then export, verify and report.

    out : folder to write, which must not exist; by default a new one under `out/` of a checkout,
        else in the current folder.
    """
    started = time.monotonic()
    folder = (out or _default_folder()).absolute()
    if folder.exists():
        raise ExportExists(
            f"{folder} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    make_app()
    from labapp.ui.qtapp import choose

    shown = choose()
    options = RunOptions(
        data=folder / "sessions",
        private=folder / "private",
        windowed=True,
        simulate=STRATEGY,
        seed=seed or None,
    )
    opened = open_new(STUDY, f"P{seed % PARTICIPANTS + 1:02d}", "1", options)
    say(f"A session of the study {STUDY!r} with a simulated participant.")
    say("windows: " + ("on the screen" if shown.visible else f"drawn offscreen ({shown.why})"))
    recorder = opened.runner.recorder
    if recorder is None:
        say(f"sound: recorded without sound ({opened.no_sound})")
    else:
        say(f"sound: recorded from {recorder.device.label}")
    status = drive(opened, options)
    session = opened.folder.path
    say(f"session: {session}")
    if status != 0:
        say("The session was ended early; what was recorded is kept. No bundle was made.")
        return status
    _finish(session, folder, say, started)
    return 0


def _finish(session: Path, folder: Path, say: Callable[[str], None], started: float) -> None:
    """Export, verify and analyse; ends with the paths."""
    from labapp.analysis.analyze import analyze
    from labapp.session.bids.export import export
    from labapp.session.bids.verify import verify

    bundle = export([session], folder / "bundle")
    for path in (session, bundle):
        report = verify(path)
        if not report.ok:
            raise BundleError(
                f"{path} does not verify:\n" + "\n".join(report.lines()),
                safe="The session folder is kept as it is.",
                todo="Report this with the folder.",
            )
    say("verified: the session and its bundle are whole")
    report_path = analyze([bundle], folder / "results")
    say(f"done in {time.monotonic() - started:.0f} s")
    say(f"bundle: {bundle}")
    say(f"report: {report_path}")


def _default_folder() -> Path:
    name = f"demo-{utc_label(datetime.now(UTC))}"
    if resources.in_checkout():
        return resources.assets().parent / "out" / name
    return Path.cwd() / f"labapp-{name}"
