"""`labapp participants`: what is known of the people who took part."""

from __future__ import annotations

from contextlib import suppress
from getpass import getuser
from pathlib import Path
from typing import Annotated

import typer

from labapp.base.resources import pilot_root
from labapp.cli.options import Data, Json, data_folder, say_either

participants_app = typer.Typer(
    help="Answers of participants from elsewhere: merge. "
    "Example: labapp participants merge answers.csv --by pid",
    no_args_is_help=True,
)


@participants_app.callback()
def _group() -> None:
    """Answers of participants from elsewhere."""


@participants_app.command("merge")
def participants_merge(
    file: Annotated[Path, typer.Argument(help="The survey tool's export: CSV, .xlsx or .sav.")],
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN", help="The column with the participant's id.")
    ],
    study: Annotated[
        str, typer.Option("--study", metavar="ID", help="Needed where there are several studies.")
    ] = "",
    survey: Annotated[
        str,
        typer.Option(
            "--survey",
            metavar="NAME",
            help="The survey's name in the study; columns begin with it.",
        ),
    ] = "survey",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="COLUMN",
            help="The column with the session's label, where participants have several sessions.",
        ),
    ] = "",
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="Take this column only; repeat it."),
    ] = None,
    own_names: Annotated[
        bool, typer.Option("--own-names", help="Keep the names of columns as in the file.")
    ] = False,
    share: Annotated[
        list[str] | None,
        typer.Option(
            "--share",
            metavar="NAME",
            help="De-identified bundles keep this column; repeat it. Without it they keep none.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing", metavar="TEXT", help="A cell that means no answer, such as NA; repeat it."
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out",
            metavar="KIND",
            help="Leave out rows that fit no session: unknown, twice, without-id, withdrawn.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what this survey had before.")
    ] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Merge into the pilots' sessions.")
    ] = False,
    who: Annotated[
        str, typer.Option("--who", metavar="NAME", help="By whom. Default: your account's name.")
    ] = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Add the answers of another survey tool to the table of participants, by their ids.

    Example: labapp participants merge answers.csv --by pid --study quickstart
    """
    from labapp.session.merging import merge, prepare, study_in

    root = pilot_root(data_folder(data)) if pilot else data_folder(data)
    if not who:
        with suppress(OSError, KeyError, ImportError):  # an account without a name
            who = getuser()
    folder = study_in(root, study)
    prepared = prepare(
        file,
        folder,
        by,
        survey=survey,
        session=session,
        columns=column or (),
        own_names=own_names,
        share=share or (),
        missing=missing or (),
        leave_out=leave_out or (),
        who=who,
    )
    merge(prepared, folder, replace_=replace)
    say_either(json_, prepared.to_json(), prepared.lines())
