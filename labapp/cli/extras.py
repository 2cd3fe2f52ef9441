"""`labapp extras`: what can be added to this installation, and adding it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say
from labapp.cli.options import Json, say_either

extras_app = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The extra's name (see labapp extras).")]


@extras_app.callback()
def extras(context: typer.Context) -> None:
    """Extras of this installation: list, add, download.

    Example: labapp extras add video
    """
    if context.invoked_subcommand is None:
        extras_list()


@extras_app.command("list")
def extras_list(json_: Json = False) -> None:
    """List extras with their sizes, and which are installed.

    Example: labapp extras list
    """
    from labapp.base.extras import EXTRAS

    rows = [
        {
            "name": extra.name,
            "purpose": extra.purpose,
            "installed_mb": extra.installed_mb,
            "installed": not extra.missing,
            "packages": [str(each) for each in extra.requirements],
        }
        for extra in EXTRAS
    ]
    lines = (
        f"{row['name']:<11} {row['installed_mb']:>5} MB  "
        f"{'installed' if row['installed'] else '-':<10} {row['purpose']}"
        for row in rows
    )
    say_either(json_, rows, lines)


@extras_app.command("add")
def extras_add(
    name: Name,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Use the wheels in this folder instead of the internet.",
        ),
    ] = None,
) -> None:
    """Add an extra to this installation, from the internet or from a folder of wheels.

    Installed packages keep their versions.

    Example: labapp extras add video
    """
    from labapp.base.extras import add, extra_called

    add(extra_called(name), from_, say)


@extras_app.command("download")
def extras_download(
    name: Name,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The folder for the wheels.")],
) -> None:
    """Download an extra's wheels into a folder, for a computer without internet.

    That computer needs the same operating system and the same version of labapp.

    Example: labapp extras download video --to wheels
    """
    from labapp.base.extras import download, extra_called

    download(extra_called(name), to, say)
