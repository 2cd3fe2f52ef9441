"""The command that opens a session to be coded."""

from __future__ import annotations

from typing import Annotated

import typer

from labapp.cli.options import Data, SessionName, session_path
from labapp.console import say
from labapp.errors import UsageError


def code_open(
    session: SessionName,
    rater: Annotated[str, typer.Option("--rater", help="Who codes: a name such as anna.")],
    codebook: Annotated[
        str, typer.Option("--codebook", metavar="ID", help="Which one, where there are several.")
    ] = "",
    round_: Annotated[
        str,
        typer.Option("--round", help="training, independent or reconciled."),
    ] = "independent",
    blind: Annotated[
        str,
        typer.Option(
            "--blind",
            metavar="WHAT,…",
            help="What is hidden: names, outcomes, future, screen; or none.",
        ),
    ] = "names,outcomes,future",
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Where to begin: 12:34.5, or seconds."),
    ] = None,
    data: Data = None,
) -> None:
    """Code a recorded session in the replay window, by keys; or go on with a pack.

    Example: labapp code open sub-P01_ses-1_20260102T030405Z --rater anna
    """
    from labapp.annotations.model import BLINDINGS, ROUNDS
    from labapp.annotations.packs import is_pack, session_to_code
    from labapp.replay.times import time_ns
    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.coding_request import CodingRequest

    hidden = [name for name in blind.split(",") if name and name != "none"]
    if round_ not in ROUNDS:
        raise UsageError(f"There is no round {round_!r}.", todo=f"Allowed: {', '.join(ROUNDS)}.")
    if unknown := [name for name in hidden if name not in BLINDINGS]:
        raise UsageError(
            f"{unknown[0]!r} cannot be hidden.", todo=f"Allowed: {', '.join(BLINDINGS)}, or none."
        )
    t_ns = None if at is None else time_ns(at)
    path = session_path(session, data)
    if is_pack(path):
        path = session_to_code(path, rater)
        say(f"session: {path}")
    request = CodingRequest(rater, codebook, round_, tuple(hidden))  # type: ignore[arg-type]
    make_app()
    from labapp.ui.replay.coding_window import run_coding

    raise typer.Exit(run_coding(path, request, t_ns))
