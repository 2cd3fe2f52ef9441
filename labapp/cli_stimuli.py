"""`labapp stimuli`: list, check, import and build stimulus sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labapp.cli_options import Json, show_json

stimuli_app = typer.Typer(
    help="Stimulus sets: list, check, import, build. Example: labapp stimuli list",
    short_help="Stimulus sets: list, check, import, build.",
    no_args_is_help=True,
)

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder with manifest.json, or set.json and tables.")
]


@stimuli_app.command("list")
def stimuli_list(json_: Json = False) -> None:
    """The stimulus sets that studies can name: shipped ones and your own.

    Example: labapp stimuli list
    """
    from labapp.stimuli import listing

    rows = listing.rows()
    if json_:
        show_json(rows)
    else:
        for line in listing.lines(rows):
            typer.echo(line)


@stimuli_app.command("check")
def stimuli_check(folder: Folder) -> None:
    """Check a stimulus set made elsewhere; every fault is named.

    Example: labapp stimuli check my-set
    """
    from labapp.stimuli.importing import checked

    found = checked(folder)
    _warn(found.warnings)
    assert found.manifest is not None
    typer.echo(f"{folder}: in order ({len(found.manifest.photos)} photos).")


@stimuli_app.command("import")
def stimuli_import(folder: Folder) -> None:
    """Check a stimulus set and take it into your own, where studies find it by its id.

    Example: labapp stimuli import my-set
    """
    from labapp.stimuli.importing import import_set

    target, found = import_set(folder)
    _warn(found.warnings)
    typer.echo(f"stimuli: {target}")


@stimuli_app.command("schema")
def stimuli_schema() -> None:
    """The JSON Schema of manifest.json. Example: labapp stimuli schema > manifest.schema.json"""
    from labapp.stimuli.manifest import Manifest

    show_json(Manifest.model_json_schema())


@stimuli_app.command("build")
def stimuli_build(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SET",
            help="birds-gradcam, birds-bagnet, birds-protopnet or birds-prototree, or one of the "
            "last two with -distinction behind it.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder to write; it must not exist."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, other photos.")] = 1,
    model: Annotated[
        str | None, typer.Option("--model", help="A classifier's id or folder of the same method.")
    ] = None,
) -> None:
    """Build ten sets of photos and their explanations from a trained classifier.

    Example: labapp stimuli build birds-gradcam --seed 2 --out my-birds
    """
    from labapp.explanations.building.console import build_with_progress

    for line in build_with_progress(name, out, seed, model).lines():
        typer.echo(line)


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
