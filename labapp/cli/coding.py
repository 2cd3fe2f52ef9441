"""`labapp code`: what people say about recorded sessions: units, codes, agreement."""

from __future__ import annotations

import typer

from labapp.cli import annotating, exchanging, governing
from labapp.cli.agreeing import code_agree
from labapp.cli.coding_window import code_open
from labapp.cli.quoting import code_quotes

_ALL = (
    "Codes of recorded sessions: open, segment, speakers, check, schema, diff, history, verify, "
    "status, assign, lock, agree, adjudicate, redact, pack, receive, quotes, export, import, "
    "codebook."
)
code_app = typer.Typer(
    help=f"{_ALL} Example: labapp code agree --table ratings.csv",
    short_help=_ALL,
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
