"""`labapp code`: what people say about recorded sessions: units, codes, agreement.

Here are its commands about units, codebooks and the files of annotations, and `labapp code agree`:
how far raters agree, in studies or in any table of ratings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import UsageError
from labapp.cli import completion, governing
from labapp.cli.commands import make_group
from labapp.cli.options import (
    as_check,
    make_exit,
    progress_bar,
    say_either,
    session_path,
    show,
    study_folder,
    study_path,
)


def code_segment(
    sessions: list[completion.SessionOrStudy],
    by: str = "detector",
    pause: float = 0.7,
    freeze: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Divide the sound of sessions into units in which somebody speaks, or freeze the units.

    Example: labapp code segment sub-P01_ses-1_20260102T030405Z --freeze

    --by: The name of the person who checked the units. Default: nobody, if only the detector made
        them.
    --pause (0.05 to 60): The seconds of silence that separate two units.
    --freeze: Freeze the units, so that they can be coded.
    """
    from labapp.base.parallel.processes import stoppable
    from labapp.coding.annotations.segmenting import segment_session
    from labapp.coding.annotations.store import UNSAID, UNSAID_ADVICE
    from labapp.record.journal.opening import places

    paths = [path for name in sessions for path in places(study_path(name, data, sessions=True))]
    rows = []
    with stoppable(), progress_bar() as tell:
        segmented = []
        for number, path in enumerate(paths):
            tell(number / len(paths), path.name)
            segmented.append((path, segment_session(path, by, pause, freeze=freeze)))
    for path, segmentation in segmented:
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
        say("Check them in the window; use --freeze so that they can be coded.")


def code_speakers(
    session: completion.Session,
    by: str = "",
    map_: Path | None = None,
    suggested: bool = False,
    confirm: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Set who speaks in a session's units. Without --by, list the units with suggestions.

    Voices cannot be distinguished from the sound alone, so all units count as the participant's
    until you set the speakers. labapp suggests the moderator for units at a recorded prompt. Units
    that a --map file does not mention stay as they are.

    Example: labapp code speakers sub-P01_ses-1_20260102T030405Z --suggested --by anna

    --by NAME: Your name, which is required for any change.
    --map FILE.csv: A table with the columns time,speaker. Times are like 12:34.5 or seconds;
        speakers are participant, moderator or other.
    --suggested: Accept the suggestions.
    --confirm: Confirm that all units already have the right speaker.
    """
    from labapp.coding.exchange.speakers import say_speakers, speakers_of

    path = session_path(session, data)
    if by or map_ is not None or suggested or confirm:
        if not by:
            raise UsageError("Your name is missing.", todo="Add --by and a name, as in --by anna")
        report = say_speakers(path, by, map_, suggested=suggested, confirm=confirm)
        show(report, json_)
        return
    rows = speakers_of(path)
    say_either(json_, [row.to_json() for row in rows], map(str, rows))
    if not json_ and any(row.suggested for row in rows):
        say("--suggested --by NAME takes over what is suggested.")


def code_check(file: Path, json_: bool = False) -> None:
    """Check a codebook and list every mistake with its line.

    Example: labapp code check codebook.yaml

    file FILE: A codebook (YAML).
    """
    from labapp.coding.annotations.codebook import read

    with as_check():
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
        f"{file}: valid ({codebook.id}, version {codebook.version}: {len(codebook.tiers)} "
        f"tiers, {len(codebook.codes)} codes{gone})."
    )
    without = [code.id for code in codebook.codes if not code.key and not code.retired]
    if without:
        say(f"Codes without a key, which are chosen by name: {', '.join(without)}.")


def code_schema() -> None:
    """Print the JSON Schema of codebooks, for editors.

    Example: labapp code schema > codebook.json
    """
    from labapp.study.authoring import schema_of

    say_json(schema_of("codebook"))


def code_diff(old: Path, new: Path, json_: bool = False) -> None:
    """Show what differs between two versions of a codebook, code by code.

    A * marks a changed definition. Check what was coded with the older definition.

    Example: labapp code diff codebook-2.yaml codebook.yaml

    old OLD: A codebook.
    new NEW: A later version of it.
    """
    from dataclasses import asdict

    from labapp.coding.annotations.codebook import differences, read

    before, after = read(old), read(new)
    if before.id != after.id:
        raise UsageError(
            f"{old} is the codebook {before.id!r}, but {new} is {after.id!r}, so they are not "
            "two versions of the same codebook.",
            todo="Give two files with the same id.",
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
        say("A definition changed: increase the version number.", err=True)


def code_history(
    session: completion.Session,
    rater: str | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """List every change of a session's units, text and codes, including what was undone.

    Example: labapp code history sub-P01_ses-1_20260102T030405Z --rater anna

    session: A session's name or folder, or a bundle.
    --rater: Show only this rater's codes.
    """
    from labapp.coding.annotations.store import history_of
    from labapp.record.journal.opening import open_record

    steps = history_of(open_record(session_path(session, data)), rater)
    say_either(json_, [step.to_json() for step in steps], map(str, steps))
    if not (steps or json_):
        say("Nothing was done yet.")


def code_verify(
    name: completion.SessionOrStudy, accept: str = "", data: Path | None = None, json_: bool = False
) -> None:
    """Check that annotations, and the logs next to sessions, have not been changed.

    It lists what was changed, shortened or deleted, and which changes it cannot detect.

    Example: labapp code verify my-study

    name NAME: A session, a bundle or a study.
    --accept REASON: Accept a study's files as they are, such as after moving it here without its
        anchor. The reason is stored.
    """
    from labapp.coding.annotations.verifying import accept_files, verify_annotations

    if accept:
        count = accept_files(study_folder(name, data), accept)
        say(f"{count} files are accepted as they are now.")
    with as_check(), progress_bar("checking"):
        report = verify_annotations(study_path(name, data, sessions=True))
    show(report, json_)
    raise make_exit(well=report.ok)


def code_status(
    study: completion.RecordedStudy, data: Path | None = None, json_: bool = False
) -> None:
    """Show the progress of each session: segmented, transcribed, coded (by whom), coded twice,
    adjudicated.

    Example: labapp code status my-study

    study: A study's id, or the folder with its sessions.
    """
    from labapp.coding.annotations.rounds import study_status
    from labapp.coding.annotations.store import table

    rows = list(study_status(study_folder(study, data)))
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


def code_agree(
    studies: list[completion.RecordedStudy] | None = None,
    out: Path | None = None,
    grid: str | None = None,
    repeat: list[str] | None = None,
    all_speakers: bool = False,
    table: Path | None = None,
    measure: str | None = None,
    level: str | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Compute inter-rater agreement, for a study's sessions or for any table of ratings.

    Example: labapp code agree my-study --out agreement

    studies [STUDY]…: Studies (name or folder), or sessions and bundles (path).
    --out: For studies: the folder to write. It must not exist yet.
    --grid TIME: The length of a window for time-unit kappa, such as 1s (default) or 100ms.
    --repeat RATER=RATER: For studies: compare two codings by one person, such as anna=anna2. Can be
        repeated.
    --all-speakers: For studies: compare the units of all speakers, not only the participant's.
    --table FILE.csv: A table of ratings: the unit in the first column, then a column per rater.
        Empty cells are missing ratings.
    --measure NAME: For a table: alpha, kappa or fleiss.
    --level: For a table: nominal, ordinal, interval or ratio.
    """
    of_studies: dict[str, object] = {
        "--out": out, "--grid": grid, "--repeat": repeat, "--all-speakers": all_speakers
    }  # fmt: skip
    of_table: dict[str, object] = {"--measure": measure, "--level": level}
    if table is not None:
        _refuse_options("not beside --table", {"STUDY": studies} | of_studies)
        _agree_in_table(table, measure or "alpha", level or "nominal", json_)
        return
    _refuse_options("only with --table", of_table)
    if not studies or out is None:
        raise UsageError(
            "Nothing to compare was given." if not studies else "--out is missing.",
            todo="Name a study and a folder: labapp code agree my-study --out agreement; or a "
            "table: labapp code agree --table ratings.csv",
        )
    step = _atoms(grid or "1s")
    again = [_pair_of_raters(text) for text in repeat or []]
    from labapp.coding.annotations.reliability.study import study_agreement

    paths = [study_path(name, data) for name in studies]
    with progress_bar("comparing raters"):
        result = study_agreement(paths, out, step=step, again=again, everybody=all_speakers)
    if json_:
        say_json(result.to_json())
        return
    for line in result.lines():
        say_line(line)
    for line in result.left_out:
        say_line(f"Left out: {line}", err=True)
    say(f"agreement: {result.page}")


def _atoms(text: str) -> int:
    """A length of time as 1s or 100ms, in whole milliseconds."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*(ms|s)", text.strip(), re.ASCII)
    length = float(match[1]) * (1000 if match[2] == "s" else 1) if match else 0
    if length < 1 or length != int(length):
        raise UsageError(
            f"--grid {text}: this is not a time in whole milliseconds.",
            todo="Write it as 1s, 0.5s or 100ms.",
        )
    return int(length)


def _pair_of_raters(text: str) -> tuple[str, str]:
    first, _, second = text.partition("=")
    if not first or not second or first == second:
        raise UsageError(
            f"--repeat {text} does not name two codings by the same person.",
            todo="Name the first and the second coding, as in --repeat anna=anna2.",
        )
    return first, second


def _refuse_options(where: str, options: Mapping[str, object]) -> None:
    if given := [name for name, value in options.items() if value]:
        raise UsageError(
            f"{' and '.join(given)}: {where}.",
            todo="Compare either the sessions of studies or a table of ratings, not both at once.",
        )


def _agree_in_table(path: Path, measure: str, level: str, json_: bool) -> None:
    from labapp.coding.agreement.coefficients import LEVELS, MEASURES, agree, read_table

    _among("--measure", measure, MEASURES)
    _among("--level", level, LEVELS)
    table = read_table(path)
    result = agree(table, measure, level)  # type: ignore[arg-type]
    notes = list(table.notes)
    if level == "nominal":
        notes += [
            f"{cell!r} appears in {times} cells and counts as a code. Leave the cell empty if a "
            "rating is missing."
            for cell, times in table.doubtful.items()
        ]
        notes += [
            f"{' and '.join(map(repr, forms))} differ only in capital letters, but count as "
            "different codes."
            for forms in table.differing_in_case
        ]
    if result.n_comparable < result.n_units:
        notes.append(
            f"{result.n_comparable} of {result.n_units} units have two ratings or more; the others "
            "cannot be compared."
        )
    for note in notes:
        say_line(f"Note: {note}", err=True)
    if json_:
        told = {"notes": notes} if notes else {}
        say_json({**result.to_json(), "measure": measure, **told})
        return
    value = "undefined" if result.value is None else f"{result.value:.6g}"
    say(f"{result.measure}, {level}: {value}")
    if result.reason:
        say(f"Why: {result.reason}.")
    say(f"{result.n_units} units, {result.n_raters} raters")


def _among(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{option} {value}: there is no such choice.", todo=f"Give one of {', '.join(allowed)}."
        )


def code_quotes(
    studies: list[completion.SessionOrStudy],
    out: Path,
    code: list[str] | None = None,
    where: list[str] | None = None,
    most: int | None = None,
    unread: bool = False,
    pictures: bool = True,
    size: str | None = None,
    trails: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Collect coded quotes and screens of participants who agreed to be quoted.

    Words written by a speech model are left out until somebody has checked them against the sound.

    Example: labapp code quotes quickstart --code uncertain --where condition=vae --out quotes.html

    studies STUDY…: Studies, sessions or bundles (names or paths).
    --out FILE: The file to write: .md, .html or .csv.
    --code: Only words with this code. Can be repeated.
    --where NAME=VALUE: Only words of a condition, model, participant or outcome, such as
        condition=vae. If repeated, all must match.
    --most (from 1): The maximum number of quotes per code. One quote from each participant comes
        first.
    --unread: Include words that nobody has checked against the sound, and mark them.
    --pictures/--no-pictures: Add the participant's screen at that moment.
    --size WxH: The size of the pictures in pixels. Default: 1366x768.
    --trails: Draw the slider movements of the last 5 seconds.
    """
    from labapp.analysis.analyze import session_folders_in
    from labapp.analysis.quotes import choose_quotes, kind_of
    from labapp.analysis.tables import load
    from labapp.base import leftovers
    from labapp.base.parallel.processes import stoppable
    from labapp.cli.sessions import pixels

    paths = [study_path(name, data, sessions=True) for name in studies]
    leftovers.clear_of(session_folders_in(paths))
    kind_of(out)
    shown = pixels(size) if pictures else None
    chosen = dict(_pair(text) for text in where or ())
    with stoppable(), progress_bar() as progress:
        tables = load(paths, lambda share, what: progress(share / 2, what))
        quotes = choose_quotes(tables.included(), code or (), chosen, most, unread=unread)
        from labapp.ui.replay.retrieval import write_quotes

        quotes = write_quotes(
            quotes,
            paths,
            out,
            shown,
            trails=trails,
            progress=lambda share, what: progress(0.5 + share / 2, what),
        )
    without = sorted({quote.no_picture for quote in quotes.quotes if quote.no_picture})
    if json_:
        say_json(
            {
                "file": str(out),
                "n_quotes": len(quotes.quotes),
                "n_unread": sum(quote.unread for quote in quotes.quotes),
                "n_pictures": sum(bool(quote.picture) for quote in quotes.quotes),
                "left_out": quotes.left_out,
                "without_picture": without,
            }
        )
        return
    for line in quotes.left_out:
        say_line(f"Left out: {line}", err=True)
    for line in without:
        say_line(f"Without a picture: {line}", err=True)
    say(f"{len(quotes.quotes)} quotes: {out}")
    if drafts := sum(quote.unread for quote in quotes.quotes):
        say(
            f"In {drafts} of them, the words have not been checked against the sound. Check "
            "them before you publish them.",
            err=True,
        )


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise UsageError(
            f"--where {text} does not give a name and a value.",
            todo="Write it as in --where model=sinelines/vae",
        )
    return name.strip(), value.strip()


def code_reel(
    study: completion.RecordedStudy,
    out: Path,
    code: list[str] | None = None,
    most: int | None = None,
    list_: Path | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Make a highlight reel of coded stretches, one after another, as sound or with the videos.

    It leaves out participants who did not agree to share their voice. Redacted stretches are
    silent and black.

    Example: labapp code reel my-study --code insight --out insight.wav

    study: A study's id, or the folder with its sessions.
    --out FILE: The file to write: .wav, or .mp4 with the videos.
    --code: Only this code. Can be repeated.
    --most (from 1): The maximum number of stretches per code.
    --list FILE.csv: A table of stretches to use instead, with the columns session,begin,end,label.
    """
    from labapp.base.parallel.processes import stoppable
    from labapp.coding.videos.reels import cuts_of, read_list, write_reel
    from labapp.session.replay.lanes import retrieve

    folder = study_folder(study, data)
    if list_ is not None and (code or most):
        raise UsageError("--list cannot be combined with --code or --most.", todo="Leave one out.")
    with stoppable(), progress_bar("cutting") as tell:
        if list_ is not None:
            cuts = read_list(folder, list_)
        else:
            retrieved = retrieve(folder)
            for problem in retrieved.problems:
                say_line(f"Left out: {problem}", err=True)
            cuts = cuts_of(retrieved.stretches, code or (), most)
        reel = write_reel(cuts, out, tell=tell)
    show(reel, json_)


def code_open(
    session: completion.Session,
    rater: str,
    codebook: str = "",
    round_: str = "independent",
    blind: str = "names,outcomes,future",
    at: str | None = None,
    data: Path | None = None,
) -> None:
    """Code a recorded session in the replay window, or continue with a pack.

    Example: labapp code open sub-P01_ses-1_20260102T030405Z --rater anna

    --rater: Your name as a rater, such as anna.
    --round: The round: training, independent or reconciled.
    --blind WHAT,…: What to hide from the rater: names, outcomes, future, screen, or none.
    """
    from labapp.coding.annotations.model import BLINDINGS, ROUNDS, time_ns
    from labapp.coding.annotations.packs import is_pack, session_to_code
    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.coding_state import CodingRequest

    hidden = [name for name in blind.split(",") if name and name != "none"]
    if round_ not in ROUNDS:
        raise UsageError(f"There is no round {round_!r}.", todo=f"Allowed: {', '.join(ROUNDS)}.")
    if unknown := [name for name in hidden if name not in BLINDINGS]:
        raise UsageError(
            f"{unknown[0]!r} cannot be hidden.", todo=f"Allowed: {', '.join(BLINDINGS)}, or none."
        )
    t_ns = None if at is None else time_ns(at)
    path = session_path(session, data)
    if is_pack(path):
        path = session_to_code(path, rater)
        say(f"session: {path}")
    request = CodingRequest(rater, codebook, round_, tuple(hidden))  # type: ignore[arg-type]
    make_app()
    from labapp.ui.replay.coding_window import run_coding

    raise typer.Exit(run_coding(path, request, t_ns))


code_app = make_group("code", "labapp code agree --table ratings.csv")


for _name, _command in (COMMANDS | governing.COMMANDS | governing.EXCHANGES).items():
    code_app.command(_name)(_command)
code_app.command("open")(code_open)
code_app.command("agree")(code_agree)
code_app.command("quotes")(code_quotes)
code_app.command("reel")(code_reel)
