"""`labapp code`: what people say about recorded sessions: units, codes, agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import UsageError
from labapp.cli import annotating, exchanging, governing
from labapp.cli.agreeing import code_agree
from labapp.cli.options import (
    At,
    Book,
    Data,
    Json,
    SessionName,
    progress_bar,
    session_path,
    study_path,
)


def code_quotes(
    studies: Annotated[
        list[str],
        typer.Argument(metavar="STUDY…", help="Studies, sessions or bundles: names or paths."),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The file: .md, .html or .csv.")
    ],
    code: Annotated[
        list[str] | None,
        typer.Option("--code", help="Only with this code; may be given several times."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="NAME=VALUE",
            help="Only of a condition, model, participant, outcome …; several must all hold.",
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Of a code, first one of each participant.")
    ] = None,
    unread: Annotated[
        bool,
        typer.Option(
            "--unread", help="Also words that nobody has read against the sound; each is marked."
        ),
    ] = False,
    pictures: Annotated[
        bool,
        typer.Option("--pictures/--no-pictures", help="The participant's screen at that moment."),
    ] = True,
    size: Annotated[
        str | None,
        typer.Option(
            "--size", metavar="WxH", help="Of the pictures, in pixels. Default: 1366x768."
        ),
    ] = None,
    trails: Annotated[
        bool, typer.Option("--trails", help="With the dials' movements of the last 5 seconds.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """What participants said with a code, where they agreed to be quoted, with their screen.

    Words that a speech model wrote are left out until somebody has read them against the sound.

    Example: labapp code quotes quickstart --code uncertain --where condition=vae --out quotes.html
    """
    from labapp.analysis.analyze import session_folders_in
    from labapp.analysis.quotes import choose_quotes, kind_of
    from labapp.analysis.tables import load
    from labapp.base import leftovers
    from labapp.base.parallel.long_work import stoppable
    from labapp.cli.replay import pixels

    paths = [study_path(name, data, sessions=True) for name in studies]
    leftovers.clear_of(session_folders_in(paths))
    kind_of(out)
    shown = pixels(size) if pictures else None
    chosen = dict(_pair(text) for text in where or ())
    with stoppable(), progress_bar() as progress:
        tables = load(paths, lambda share, what: progress(share / 2, what))
        quotes = choose_quotes(tables.included(), code or (), chosen, most, unread=unread)
        from labapp.ui.replay.retrieval import write_quotes

        quotes = write_quotes(
            quotes,
            paths,
            out,
            shown,
            trails=trails,
            progress=lambda share, what: progress(0.5 + share / 2, what),
        )
    without = sorted({quote.no_picture for quote in quotes.quotes if quote.no_picture})
    if json_:
        say_json(
            {
                "file": str(out),
                "n_quotes": len(quotes.quotes),
                "n_unread": sum(quote.unread for quote in quotes.quotes),
                "n_pictures": sum(bool(quote.picture) for quote in quotes.quotes),
                "left_out": quotes.left_out,
                "without_picture": without,
            }
        )
        return
    for line in quotes.left_out:
        say_line(f"Left out: {line}", err=True)
    for line in without:
        say_line(f"Without a picture: {line}", err=True)
    say(f"{len(quotes.quotes)} quotes: {out}")
    if drafts := sum(quote.unread for quote in quotes.quotes):
        say(
            f"Nobody has read the words of {drafts} of them against the sound. Read them before "
            "you print them.",
            err=True,
        )


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise UsageError(
            f"--where {text}: a name and a value are needed.",
            todo="Give it as in --where model=sinelines/vae",
        )
    return name.strip(), value.strip()


def code_open(
    session: SessionName,
    rater: Annotated[str, typer.Option("--rater", help="Who codes: a name such as anna.")],
    codebook: Book = "",
    round_: Annotated[
        str, typer.Option("--round", help="training, independent or reconciled.")
    ] = "independent",
    blind: Annotated[
        str,
        typer.Option(
            "--blind",
            metavar="WHAT,…",
            help="What is hidden: names, outcomes, future, screen; or none.",
        ),
    ] = "names,outcomes,future",
    at: At = None,
    data: Data = None,
) -> None:
    """Code a recorded session in the replay window, by keys; or go on with a pack.

    Example: labapp code open sub-P01_ses-1_20260102T030405Z --rater anna
    """
    from labapp.coding.annotations.model import BLINDINGS, ROUNDS
    from labapp.coding.annotations.packs import is_pack, session_to_code
    from labapp.coding.times import time_ns
    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.coding_state import CodingRequest

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


_ALL = (
    "Codes of recorded sessions: open, segment, speakers, check, schema, diff, history, verify, "
    "status, assign, done, lock, agree, adjudicate, redact, pack, receive, quotes, export, import, "
    "codebook."
)
code_app = typer.Typer(
    help=f"{_ALL} Example: labapp code agree --table ratings.csv",
    no_args_is_help=True,
)


@code_app.callback()
def code() -> None:
    """Codes of recorded sessions. Example: labapp code agree --table ratings.csv"""


for _name, _command in (annotating.COMMANDS | governing.COMMANDS | exchanging.COMMANDS).items():
    code_app.command(_name)(_command)
code_app.command("open")(code_open)
code_app.command("agree")(code_agree)
code_app.command("quotes")(code_quotes)
