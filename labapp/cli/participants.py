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
    help="Participants' answers from other tools: merge. "
    "Example: labapp participants merge answers.csv --by pid",
    no_args_is_help=True,
)


@participants_app.callback()
def _group() -> None:
    """Participants' answers from other tools."""


@participants_app.command("merge")
def participants_merge(
    file: Annotated[
        Path, typer.Argument(help="The file that the survey tool exported: CSV, .xlsx or .sav.")
    ],
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN", help="The column with the participant's id.")
    ],
    study: Annotated[
        str, typer.Option("--study", metavar="ID", help="The study. Needed if there are several.")
    ] = "",
    survey: Annotated[
        str,
        typer.Option(
            "--survey",
            metavar="NAME",
            help="The survey's name. The names of its columns begin with it.",
        ),
    ] = "survey",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="COLUMN",
            help="The column with the session's label, if participants have several sessions.",
        ),
    ] = "",
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="Merge only this column. Can be repeated."),
    ] = None,
    own_names: Annotated[
        bool, typer.Option("--own-names", help="Keep the file's column names.")
    ] = False,
    share: Annotated[
        list[str] | None,
        typer.Option(
            "--share",
            metavar="NAME",
            help="Include this column in de-identified bundles, which otherwise have none of "
            "them. Can be repeated.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing",
            metavar="TEXT",
            help="The content of a cell that means no answer, such as NA. Can be repeated.",
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out",
            metavar="KIND",
            help="Leave out rows that cannot be matched: unknown, twice, without-id or "
            "withdrawn. Can be repeated.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace earlier answers of this survey.")
    ] = False,
    pilot: Annotated[bool, typer.Option("--pilot", help="Merge into pilot sessions.")] = False,
    who: Annotated[
        str,
        typer.Option(
            "--who",
            metavar="NAME",
            help="Your name, for the record. Default: the name of your account.",
        ),
    ] = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Merge answers from another survey tool into the participants table, by participant id.

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
