"""The command that shows and plays a recorded session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say
from labapp.base.errors import UsageError
from labapp.cli.options import At, Data, session_path


def replay(
    session: Annotated[str, typer.Argument(help="A session or bundle: its name or path.")],
    at: At = None,
    still: Annotated[
        Path | None,
        typer.Option(
            "--still",
            metavar="FILE.png",
            help="Write the participant’s screen at that time, without a window.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="WxH", help="Of --still, in pixels. Default: 1366x768."),
    ] = None,
    trails: Annotated[
        bool,
        typer.Option("--trails", help="With --still: the dials’ movements of the last 5 seconds."),
    ] = False,
    clip: Annotated[
        tuple[str, str] | None,
        typer.Option("--clip", metavar="T0 T1", help="Write the sound between two times."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.wav", help="Of --clip: the file to write.")
    ] = None,
    dark: Annotated[
        bool | None,
        typer.Option("--dark/--light", help="Of the window, from now on. Default: as the system."),
    ] = None,
    data: Data = None,
) -> None:
    """See and hear a recorded session: the participant's screen at any time.

    Without --still, in a window: all its keys are shown by ?.

    Example: labapp replay sub-P01_ses-1_20260102T030405Z --at 12:34.5
    """
    from labapp.coding.times import time_ns

    if clip is not None:
        _clip(session_path(session, data), clip, out)
        return
    if out is not None:
        raise UsageError("--out is for a clip.", todo="Say of what: --clip 12:34.5 12:50")
    t_ns = None if at is None else time_ns(at)
    if still is None:
        if size is not None or trails:
            raise UsageError(
                "--size and --trails are of a picture, and --still is missing.",
                todo="Name the picture: --still screen.png",
            )
        raise typer.Exit(_shown(session_path(session, data), t_ns, dark))
    if t_ns is None:
        raise UsageError("--still needs a time.", todo="Say which, as in --at 12:34.5")
    path = session_path(session, data)
    width, height = pixels(size)
    from labapp.ui.replay.session import readable_record, write_still

    record = readable_record(path)

    for problem in write_still(record, t_ns, still, width, height, trails=trails):
        say(problem, err=True)
    say(f"picture: {still}")


def _clip(path: Path, times: tuple[str, str], out: Path | None) -> None:
    from labapp.coding.sound import write_clip
    from labapp.coding.times import time_ns
    from labapp.record.journal.opening import open_record

    if out is None:
        raise UsageError("--clip needs a file.", todo="Name it: --out clip.wav")
    for line in write_clip(open_record(path), time_ns(times[0]), time_ns(times[1]), out).lines():
        say(line)


def _shown(path: Path, t_ns: int | None, dark: bool | None) -> int:
    """Show the window until it is closed."""
    from labapp.base.errors import SetupError
    from labapp.base.parallel.long_work import gc_paused
    from labapp.ui.qtapp import choose, make_app

    make_app()
    display = choose()
    if not display.visible:
        raise SetupError(
            f"There is no screen to show the replay on ({display.why}).",
            safe="The session was not opened.",
            todo="Write a picture of it with --still FILE.png --at TIME.",
        )
    with gc_paused():  # hundreds of modules, and thousands of events: none of them garbage
        from labapp.ui.replay.window import Replay

        replay = Replay(path, t_ns, dark)
    return replay.run()


def pixels(size: str | None) -> tuple[int, int]:
    """Width and height as in 1366x768. Raises UsageError."""
    match = re.fullmatch(r"(\d{3,4})[x×](\d{3,4})", size or "1366x768")
    if match is None:
        raise UsageError(f"{size!r} is no size.", todo="Write width and height, as in 1366x768.")
    return int(match[1]), int(match[2])
