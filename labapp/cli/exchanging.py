"""Commands of `labapp code` that write codings for other tools, and bring their files in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import UsageError
from labapp.cli.options import Book, Data, Json, SessionOrBundle, session_path, study_folder


def code_export(
    session: SessionOrBundle,
    rater: Annotated[
        str, typer.Option("--rater", help="Whose coding; final for the one that counts.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="eaf, textgrid, vtt, srt, audacity, qdpx, boris or csv.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", help="The file; of several sound files a folder."),
    ],
    joined: Annotated[
        bool,
        typer.Option("--joined", help="One sound file of the whole session is made, silent gaps."),
    ] = False,
    with_sound: Annotated[
        bool, typer.Option("--with-sound", help="Copy the sound beside, instead of linking it.")
    ] = False,
    no_sound: Annotated[
        bool, typer.Option("--no-sound", help="Link no sound: times are session times.")
    ] = False,
    transcript_codings: Annotated[
        bool,
        typer.Option(
            "--transcript-codings",
            help="qdpx: codes of units on the transcript, instead of on words beside.",
        ),
    ] = False,
    codebook: Book = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Write units, text and codes of a session for ELAN, Praat, NVivo, BORIS and others.

    Each sound file has a file of its own, in its own time; qdpx and boris hold all in one. What
    is redacted is silent and unsaid. What a format has no place for is listed.

    Example: labapp code export sub-P01_ses-1_20260102T030405Z --rater anna --to eaf --out P01.eaf
    """
    from labapp.coding.exchange.formats import ON_TRANSCRIPT, format_named
    from labapp.coding.exchange.gathering import Base, export_coding
    from labapp.record.journal.opening import open_record

    if no_sound and (joined or with_sound):
        raise UsageError(
            "--no-sound goes with neither --joined nor --with-sound.", todo="Leave one of them out."
        )
    form = format_named(to)
    if transcript_codings:
        if form.name != ON_TRANSCRIPT.name:
            raise UsageError(
                "--transcript-codings goes with --to qdpx alone.", todo="Leave it out."
            )
        form = ON_TRANSCRIPT
    base: Base = "joined" if joined else "session" if no_sound else "files"
    record = open_record(session_path(session, data))
    exported = export_coding(
        record, rater, form, out, base=base, codebook=codebook, with_sound=with_sound
    )
    if json_:
        say_json(exported.to_json())
        return
    for path in exported.files:
        say_line(path)
    for why in exported.lost:
        say_line(f"not in it: {why}", err=True)
    say(f"{exported.marks} codes, {exported.units} units.")


def code_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of another tool.")],
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="The session: its name or folder.")
    ],
    rater: Annotated[str, typer.Option("--rater", help="Whose marks its codes become.")],
    map_: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE.csv",
            help="What tiers and codes are called here: tier,code,to_tier,to_code.",
        ),
    ] = None,
    time: Annotated[
        str,
        typer.Option(
            "--time", metavar="WHAT", help="Whose time it has: session, or segment-01.wav."
        ),
    ] = "",
    words_into_units: Annotated[
        bool,
        typer.Option(
            "--words-into-units",
            help="Put words into the units that are there and that they overlap most.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be changed, and change nothing.")
    ] = False,
    codebook: Book = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Bring in what was coded or written in another tool: only what differs is changed.

    Nothing is taken away unless the file says that it went out from here with it. Frozen units are
    not changed: changes of them wait as proposals. What cannot be brought over is listed.

    Example: labapp code import P01.eaf --session sub-P01_ses-1_20260102T030405Z --rater anna
    """
    from labapp.coding.exchange import incoming
    from labapp.coding.exchange.coming_in import bring_in, plan_import
    from labapp.record.journal.opening import open_record

    path = session_path(session, data)
    record = open_record(path)
    plan = plan_import(
        record,
        rater,
        incoming.read(file),
        translation=incoming.read_translation(map_) if map_ is not None else None,
        codebook=codebook,
        time=time,
        words_only=words_into_units,
    )
    if not dry_run and not plan.empty:
        bring_in(plan, path, record)
    if json_:
        say_json({**plan.to_json(), "applied": not dry_run and not plan.empty})
        return
    for line in plan.lines():
        say_line(line)
    if dry_run:
        say("Nothing was changed (--dry-run).")


def code_codebook(
    study: Annotated[
        str, typer.Argument(metavar="STUDY|FILE", help="A study's id or folder, or a codebook.")
    ],
    to: Annotated[str, typer.Option("--to", help="csv or qdc.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE.qdc", help="Make the codebook of a study that has none."
        ),
    ] = None,
    withhold: Annotated[
        bool,
        typer.Option(
            "--withhold",
            help="Take examples, explanations and comments out of the versions of a study's "
            "codebooks that are kept with its codes.",
        ),
    ] = False,
    codebook: Book = "",
    data: Data = None,
) -> None:
    """Write a codebook for other tools, or make one of theirs.

    REFI-QDA codebooks (.qdc) are those of NVivo, MAXQDA, ATLAS.ti, QualCoder and others.

    Example: labapp code codebook my-study --to qdc --out codes.qdc
    """
    from labapp.coding.annotations.codebook import read, withhold_words
    from labapp.coding.exchange.formats import CODEBOOK_FORMATS
    from labapp.coding.exchange.incoming import chosen_codebook

    if withhold:
        changed = withhold_words(study_folder(study, data))
        say(f"{len(changed)} stored versions hold no free text any more. Codes are as they were.")
        return
    if from_ is not None:
        if to or out is not None or codebook:
            raise UsageError(
                "--from goes with neither --to nor --out nor --codebook.",
                todo="A codebook comes in, or goes out.",
            )
        _new_codebook(from_, study_folder(study, data), study)
        return
    if to not in CODEBOOK_FORMATS or out is None:
        unknown = to and to not in CODEBOOK_FORMATS
        what = f"Codebooks are not written as {to!r}." if unknown else "What to do is not said."
        formats = " or ".join(f"--to {name}" for name in CODEBOOK_FORMATS)
        raise UsageError(what, todo=f"Say {formats} with --out FILE, or --from FILE.qdc.")
    if Path(study).is_file():
        book = read(Path(study))
    else:
        codes = chosen_codebook(study_folder(study, data), codebook)
        if codes is None:
            raise UsageError(
                f"{study} has no codebook.", todo="Its name is codebook.yaml, in that folder."
            )
        book = codes
    for why in CODEBOOK_FORMATS[to](book, out):
        say_line(f"not in it: {why}", err=True)
    say(f"{sum(not code.retired for code in book.codes)} codes: {out}")


def _new_codebook(file: Path, folder: Path, study: str) -> None:
    from labapp.coding.annotations.codebook import codebooks_of
    from labapp.coding.exchange import incoming

    if books := codebooks_of(folder):
        raise UsageError(
            f"{study} has a codebook: {', '.join(book.id for book in books)}.",
            safe="It was not changed.",
            todo="Name a study that has none, or write what is new into the codebook.",
        )
    book = incoming.read_codebook(file, folder)
    path = incoming.write_codebook(folder, book)
    say_line(path)
    say(
        f"{len(book.codes)} codes. See in the file whether their tiers are on units, and which "
        "exclude each other; give them keys."
    )


COMMANDS: dict[str, Callable[..., None]] = {
    "export": code_export,
    "import": code_import,
    "codebook": code_codebook,
}
"""By the name behind `labapp code`."""
