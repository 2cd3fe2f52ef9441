"""`labapp extras`: what can be added to this installation, and adding it."""

from __future__ import annotations

from pathlib import Path

import typer

from labapp.base.console import say
from labapp.cli.commands import Commands
from labapp.cli.options import say_either

extras_app = Commands(invoke_without_command=True)


@extras_app.callback()
def extras(context: typer.Context) -> None:
    """Extras of this installation: list, add, download.

    Example: labapp extras add video
    """
    if context.invoked_subcommand is None:
        extras_list()


@extras_app.command("list")
def extras_list(json_: bool = False) -> None:
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
def extras_add(name: str, from_: Path | None = None) -> None:
    """Add an extra to this installation, from the internet or from a folder of wheels.

    Installed packages keep their versions.

    Example: labapp extras add video

    name: The extra's name (see labapp extras).
    --from FOLDER: Use the wheels in this folder instead of the internet.
    """
    from labapp.base.extras import add, extra_called

    add(extra_called(name), from_, say)


@extras_app.command("download")
def extras_download(name: str, to: Path) -> None:
    """Download an extra's wheels into a folder, for a computer without internet access.

    That computer needs the same operating system and the same version of labapp.

    Example: labapp extras download video --to wheels

    name: The extra's name (see labapp extras).
    --to FOLDER: The folder for the wheels.
    """
    from labapp.base.extras import download, extra_called

    download(extra_called(name), to, say)
