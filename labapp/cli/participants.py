"""`labapp participants`: what is known of the people who took part."""

from __future__ import annotations

from contextlib import suppress
from getpass import getuser
from pathlib import Path

from labapp.base.resources import pilot_root
from labapp.cli.commands import make_group
from labapp.cli.options import data_folder, say_either

participants_app = make_group("participants", "labapp participants merge answers.csv --by pid")


@participants_app.command("merge")
def participants_merge(
    file: Path,
    by: str,
    study: str = "",
    survey: str = "survey",
    session: str = "",
    column: list[str] | None = None,
    own_names: bool = False,
    share: list[str] | None = None,
    missing: list[str] | None = None,
    leave_out: list[str] | None = None,
    replace: bool = False,
    pilot: bool = False,
    who: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Merge answers from another survey tool into the participants table, by participant id.

    Example: labapp participants merge answers.csv --by pid --study quickstart

    file: The file that the survey tool exported: CSV, .xlsx or .sav.
    --by COLUMN: The column with the participant's id.
    --study ID: The study. Needed if there are several.
    --survey NAME: The survey's name, with which the names of its columns begin.
    --session COLUMN: The column with the session's label, if participants have several sessions.
    --column NAME: Merge only this column. Can be repeated.
    --own-names: Keep the file's column names.
    --share NAME: Include this column in de-identified bundles, which otherwise contain none of the
        merged columns. Can be repeated.
    --missing TEXT: The content of cells without an answer, such as NA. Can be repeated.
    --leave-out KIND: Leave out rows that cannot be matched: unknown, twice, without-id or
        withdrawn. Can be repeated.
    --replace: Replace earlier answers of this survey.
    --pilot: Merge into pilot sessions.
    --who NAME: Your name, for the record. Default: the name of your account.
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
