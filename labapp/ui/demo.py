"""`labapp demo`: the main job end to end, through the real windows."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from labapp import resources
from labapp.clock import utc_label
from labapp.errors import BundleError, ExportExists
from labapp.simulation.names import ORACLE
from labapp.ui.app import drive
from labapp.ui.qtapp import make_app
from labapp.ui.starting import RunOptions, open_new

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
    from labapp.ui.display import choose

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
    from labapp.bids.export import export
    from labapp.bids.verify import verify

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
