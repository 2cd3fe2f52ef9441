"""`labapp deposit`: a folder for a repository of research data."""

from __future__ import annotations

from pathlib import Path

from labapp.base.console import say, say_line
from labapp.cli.options import study_path


def deposit(
    sessions: list[str],
    out: Path,
    license_: str | None = None,
    creator: list[str] | None = None,
    title: str = "",
    description: str = "",
    keyword: list[str] | None = None,
    doi: str = "",
    bundle: bool = False,
    with_audio: bool = False,
    data: Path | None = None,
    private: Path | None = None,
) -> None:
    """Write a de-identified folder for OSF, Zenodo or an institutional repository.

    The folder contains tables (CSV) with a data dictionary (Psych-DS), a README, a licence and a
    citation. People who withdrew are left out.

    Example: labapp deposit my-study --license CC-BY-4.0 --creator "Curie, Marie" --out deposit

    sessions: A study (id or folder), sessions or bundles.
    --license ID: The licence, such as CC0-1.0 or CC-BY-4.0, which says what others may do with the
        data. You must choose one.
    --creator NAME: An author as "Family, Given; Affiliation; ORCID". Repeat the option for each
        author, in order.
    --title: The title of the dataset. Default: the study's title.
    --description: The description in one paragraph. Default: made from the study.
    --keyword: A keyword. Can be repeated.
    --doi: The DOI, if the repository has reserved one.
    --bundle: Add the de-identified BIDS dataset, event by event.
    --with-audio: With --bundle: add the voices of people who agreed to share them.
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
