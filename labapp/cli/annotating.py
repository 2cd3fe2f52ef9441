"""Commands of `labapp code` about units, codebooks and the files of annotations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import UsageError
from labapp.cli.options import (
    Data,
    Json,
    SessionNames,
    SessionOrBundle,
    say_either,
    session_or_study,
    session_path,
    show,
    study_folder,
)


def code_segment(
    sessions: SessionNames,
    by: Annotated[
        str,
        typer.Option("--by", help="Who looked the units through. Default: nobody, the detector."),
    ] = "detector",
    pause: Annotated[
        float,
        typer.Option("--pause", min=0.05, max=60, help="Seconds of silence that part two units."),
    ] = 0.7,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Freeze the units: from then on they can be coded.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Make the units of sessions from their sound, where somebody speaks; or freeze them.

    Example: labapp code segment sub-P01_ses-1_20260102T030405Z --freeze
    """
    from labapp.coding.annotations.segmenting import segment_session
    from labapp.coding.annotations.status import UNSAID, UNSAID_ADVICE
    from labapp.record.journal.opening import places

    paths = [path for name in sessions for path in places(session_or_study(name, data))]
    rows = []
    for path in paths:
        segmentation = segment_session(path, by, pause, freeze=freeze)
        spoken = sum(unit.t1_ns - unit.t0_ns for unit in segmentation.units) / 1e9
        row = {
            "session": path.name,
            "units": len(segmentation.units),
            "spoken_s": round(spoken, 3),
            "frozen": segmentation.frozen,
            "speakers_said": segmentation.speakers_said,
        }
        rows.append(row)
        if not json_:
            state = "frozen" if segmentation.frozen else "not frozen"
            say_line(f"{path.name}: {row['units']} units, {spoken:.1f} s of speech, {state}")
    if json_:
        say_json(rows)
        return
    if unsaid := sum(not row["speakers_said"] for row in rows):
        where = f"{unsaid} of {len(rows)} sessions" if len(rows) > 1 else str(rows[0]["session"])
        say(UNSAID.format(where=where, todo=UNSAID_ADVICE), err=True)
    if not freeze:
        say("Look them through in the window; --freeze lets them be coded.")


def code_speakers(
    session: Annotated[str, typer.Argument(metavar="NAME", help="A session's name or folder.")],
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who says it; needed to change anything.")
    ] = "",
    map_: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE.csv",
            help="Who speaks where, as a table time,speaker: 12:34.5 or seconds, and participant, "
            "moderator or other.",
        ),
    ] = None,
    suggested: Annotated[
        bool,
        typer.Option(
            "--suggested", help="Units at a prompt that the moderator noted are the moderator's."
        ),
    ] = False,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="All units have the right speaker as they are.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Say who speaks in a session's units; without --by, list them with what is suggested.

    Loudness does not tell voices apart: until somebody says it, all units count as the
    participant's. A unit is suggested as the moderator's where a prompt was noted at its time.
    Units of which a file says nothing stay as they are.

    Example: labapp code speakers sub-P01_ses-1_20260102T030405Z --suggested --by anna
    """
    from labapp.coding.exchange.speakers import say_speakers, speakers_of

    path = session_path(session, data)
    if by or map_ is not None or suggested or confirm:
        if not by:
            raise UsageError(
                "Nobody is named who says who speaks.",
                safe="Nothing was changed.",
                todo="Add --by and a name, as in --by anna",
            )
        report = say_speakers(path, by, map_, suggested=suggested, confirm=confirm)
        show(report, json_)
        return
    rows = speakers_of(path)
    if json_:
        say_json([row.to_json() for row in rows])
        return
    for row in rows:
        say_line(str(row))
    if any(row.suggested for row in rows):
        say("--suggested --by NAME takes over what is suggested.")


def code_check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A codebook, as YAML.")],
    json_: Json = False,
) -> None:
    """Check a codebook; every mistake is named with its line.

    Example: labapp code check codebook.yaml
    """
    from labapp.coding.annotations.codebook import read

    codebook = read(file)
    if json_:
        say_json(
            {
                "id": codebook.id,
                "version": codebook.version,
                "sha256": codebook.sha256,
                "tiers": [tier.name for tier in codebook.tiers],
                "codes": [code.id for code in codebook.codes],
            }
        )
        return
    retired = sum(bool(code.retired) for code in codebook.codes)
    gone = f", {retired} of them retired" if retired else ""
    say(
        f"{file}: in order ({codebook.id}, version {codebook.version}: "
        f"{len(codebook.tiers)} tiers, {len(codebook.codes)} codes{gone})."
    )
    without = [code.id for code in codebook.codes if not code.key and not code.retired]
    if without:
        say(f"Without a key, given by their names alone: {', '.join(without)}.")


def code_schema() -> None:
    """The JSON Schema of codebooks, for editors.

    Example: labapp code schema > codebook.json
    """
    from labapp.study.schemas import schema_of

    say_json(schema_of("codebook"))


def code_diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A codebook.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A later version of it.")],
    json_: Json = False,
) -> None:
    """What differs between two versions of a codebook, code by code.

    Changes of a definition are marked with *: what was coded by the older one is to be looked at
    again.

    Example: labapp code diff codebook-2.yaml codebook.yaml
    """
    from dataclasses import asdict

    from labapp.coding.annotations.codebook import differences, read

    before, after = read(old), read(new)
    if before.id != after.id:
        raise UsageError(
            f"{old} is the codebook {before.id!r}, and {new} is {after.id!r}: these are not two "
            "versions of one.",
            todo="Name two files with the same id.",
        )
    changes = differences(before, after)
    if json_:
        say_json([asdict(change) for change in changes])
        return
    for change in changes:
        say_line(f"{'*' if change.definition else ' '} {change}")
    if not changes:
        say("Nothing differs.")
    elif any(change.definition for change in changes) and before.version == after.version:
        say("A definition changed: count the version up.", err=True)


def code_history(
    session: SessionOrBundle,
    rater: Annotated[
        str | None, typer.Option("--rater", help="Of this rater's marks alone.")
    ] = None,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Everything that was done to a session's units, text and marks, also what was taken back.

    Example: labapp code history sub-P01_ses-1_20260102T030405Z --rater anna
    """
    from labapp.coding.annotations.history import history_of
    from labapp.record.journal.opening import open_record

    steps = history_of(open_record(session_path(session, data)), rater)
    if json_:
        say_json([step.to_json() for step in steps])
        return
    for step in steps:
        say_line(str(step))
    if not steps:
        say("Nothing was done yet.")


def code_verify(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A session, a bundle, or a study.")],
    accept: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Take the files of a study as they are now, such as after it was moved here "
            "without its anchor. The reason is kept.",
        ),
    ] = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Check that annotations and the logs beside sessions are what was written.

    It names what was changed, cut off or deleted, and says what it cannot notice.

    Example: labapp code verify my-study
    """
    from labapp.coding.annotations.verifying import accept_files, verify_annotations

    if accept:
        count = accept_files(study_folder(name, data), accept)
        say(f"{count} files are taken as they are now.")
    report = verify_annotations(session_or_study(name, data))
    show(report, json_)
    raise typer.Exit(0 if report.ok else 1)


def code_status(
    study: Annotated[str, typer.Argument(help="A study's id, or the folder of its sessions.")],
    data: Data = None,
    json_: Json = False,
) -> None:
    """How far each session is: segmented, transcribed, coded by whom, coded twice, adjudicated.

    Example: labapp code status my-study
    """
    from labapp.coding.annotations.status import study_progress, table

    rows = list(study_progress(study_folder(study, data)))
    say_either(json_, [row.to_json() for row in rows], table(rows))


COMMANDS: dict[str, Callable[..., None]] = {
    "segment": code_segment,
    "speakers": code_speakers,
    "check": code_check,
    "schema": code_schema,
    "diff": code_diff,
    "history": code_history,
    "verify": code_verify,
    "status": code_status,
}
"""By the name behind `labapp code`."""
