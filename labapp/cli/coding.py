"""`labapp code`: what people say about recorded sessions: units, codes, agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labapp.cli import annotating
from labapp.cli.options import Json
from labapp.console import say, say_json, say_line
from labapp.errors import UsageError

_ALL = "Codes of recorded sessions: segment, check, schema, diff, history, verify, status, agree."
code_app = typer.Typer(
    help=f"{_ALL} Example: labapp code agree --table ratings.csv",
    short_help=_ALL,
    no_args_is_help=True,
)


@code_app.callback()
def code() -> None:
    """Codes of recorded sessions. Example: labapp code agree --table ratings.csv"""


for _name, _command in annotating.COMMANDS.items():
    code_app.command(_name)(_command)


@code_app.command("agree")
def code_agree(
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE.csv",
            help="Any ratings: the first column the unit, a column a rater, empty = missing.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", metavar="NAME", help="Of a table: alpha, kappa or fleiss."),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option("--level", help="Of a table: nominal, ordinal, interval or ratio."),
    ] = None,
    json_: Json = False,
) -> None:
    """How far raters agree.

    Example: labapp code agree --table ratings.csv --measure alpha --level ordinal
    """
    if table is None:
        raise UsageError(
            "Nothing to compare was given.",
            todo="Name a table: labapp code agree --table ratings.csv",
        )
    _agree_in_table(table, measure or "alpha", level or "nominal", json_)


def _agree_in_table(path: Path, measure: str, level: str, json_: bool) -> None:
    from labapp.agreement.alpha import LEVELS
    from labapp.agreement.table import MEASURES, agree, read_table

    _among("--measure", measure, MEASURES)
    _among("--level", level, LEVELS)
    table = read_table(path)
    result = agree(table, measure, level)  # type: ignore[arg-type]
    for cell, times in table.doubtful.items():
        if level == "nominal":
            say_line(
                f"Note: {cell!r} stands in {times} cells and counts as a code; a missing rating is "
                "an empty cell.",
                err=True,
            )
    if result.n_comparable < result.n_units:
        say(
            f"Note: {result.n_comparable} of {result.n_units} units have two ratings or more; the "
            "others cannot be compared.",
            err=True,
        )
    if json_:
        say_json({**result.to_json(), "measure": measure})
        return
    value = "undefined" if result.value is None else f"{result.value:.6g}"
    say(f"{result.measure}, {level}: {value}")
    if result.reason:
        say(f"Why: {result.reason}.")
    say(f"{result.n_units} units, {result.n_raters} raters")


def _among(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{option} {value}: there is no such choice.",
            todo=f"Give one of {', '.join(allowed)}.",
        )
