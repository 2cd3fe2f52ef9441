"""`labapp deposit`: a folder for a repository of research data."""

from __future__ import annotations

from typing import Annotated

import typer

from labapp.base.console import say, say_line
from labapp.cli.options import Data, Out, Private, study_path


def deposit(
    sessions: Annotated[
        list[str], typer.Argument(help="A study (id or folder), sessions or bundles.")
    ],
    out: Out,
    license_: Annotated[
        str | None,
        typer.Option(
            "--license",
            metavar="ID",
            help="The licence, such as CC0-1.0 or CC-BY-4.0: what others may do with the "
            "data. You must choose one.",
        ),
    ] = None,
    creator: Annotated[
        list[str] | None,
        typer.Option(
            "--creator",
            metavar="NAME",
            help='An author as "Family, Given; Affiliation; ORCID". Repeat the option for '
            "each author, in order.",
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", help="The title of the dataset. Default: the study's title.")
    ] = "",
    description: Annotated[
        str,
        typer.Option(
            "--description", help="The description in one paragraph. Default: made from the study."
        ),
    ] = "",
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="A keyword. Can be repeated.")
    ] = None,
    doi: Annotated[
        str, typer.Option("--doi", help="The DOI, if the repository has reserved one.")
    ] = "",
    bundle: Annotated[
        bool,
        typer.Option("--bundle", help="Add the de-identified BIDS dataset, event by event."),
    ] = False,
    with_audio: Annotated[
        bool,
        typer.Option(
            "--with-audio", help="With --bundle: add the voices of people who agreed to share them."
        ),
    ] = False,
    data: Data = None,
    private: Private = None,
) -> None:
    """Write a de-identified folder for OSF, Zenodo or an institutional repository.

    The folder has tables (CSV) with a data dictionary (Psych-DS), README, licence and citation.
    People who withdrew are left out.

    Example: labapp deposit my-study --license CC-BY-4.0 --creator "Curie, Marie" --out deposit
    """
    from labapp.session.bids.deposit import Metadata
    from labapp.session.bids.deposit import deposit as write_deposit

    metadata = Metadata.of(
        license_,
        creator or [],
        title=title,
        description=description,
        keywords=keyword or [],
        doi=doi,
    )
    if with_audio:
        say(
            "Warning: the voices in this deposit identify the people who speak, and what they say "
            "may, too.",
            err=True,
        )
    paths = [study_path(name, data, sessions=True) for name in sessions]
    report = write_deposit(paths, out, metadata, bundle=bundle, audio=with_audio, private=private)
    for line in report.lines():
        say_line(line)
