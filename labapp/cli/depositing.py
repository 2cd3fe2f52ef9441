"""`labapp deposit`: a folder for a repository of research data."""

from __future__ import annotations

from typing import Annotated

import typer

from labapp.base.console import say, say_line
from labapp.cli.options import Data, Out, Private, study_path


def deposit(
    sessions: Annotated[
        list[str], typer.Argument(help="A study's id or folder, or sessions, or bundles.")
    ],
    out: Out,
    license_: Annotated[
        str | None,
        typer.Option(
            "--license",
            metavar="ID",
            help="CC0-1.0, CC-BY-4.0, …: what others may do with the data. You must choose.",
        ),
    ] = None,
    creator: Annotated[
        list[str] | None,
        typer.Option(
            "--creator",
            metavar="NAME",
            help='"Family, Given; Affiliation; ORCID". May be given several times, in order.',
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", help="Of the dataset; the study's title if left out.")
    ] = "",
    description: Annotated[
        str,
        typer.Option("--description", help="In one paragraph; made from the study if left out."),
    ] = "",
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="May be given several times.")
    ] = None,
    doi: Annotated[
        str, typer.Option("--doi", help="Of the dataset, if the repository has reserved one.")
    ] = "",
    bundle: Annotated[
        bool,
        typer.Option("--bundle", help="With the de-identified BIDS dataset, event by event."),
    ] = False,
    with_audio: Annotated[
        bool,
        typer.Option(
            "--with-audio", help="With --bundle: the voices of those who agreed to pass them on."
        ),
    ] = False,
    data: Data = None,
    private: Private = None,
) -> None:
    """A de-identified folder for OSF, Zenodo or an institutional repository.

    Tables as CSV with a data dictionary (Psych-DS), README, licence and citation. People who
    withdrew are left out.

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
