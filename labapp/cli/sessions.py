"""`labapp sessions`: what was recorded.

The command that shows and plays a recorded session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import NotFoundError, UsageError
from labapp.base.resources import pilot_root
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import (
    Blind,
    Lsl,
    as_check,
    confirm,
    data_folder,
    make_exit,
    progress_bar,
    run_options,
    say_either,
    session_path,
    show,
    warn_of_wide,
)

sessions_app = make_group("sessions", "labapp sessions list")


@sessions_app.command("list")
def sessions_list(
    only: list[str] | None = None,
    without: list[str] | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """List recorded sessions and their state.

    Example: labapp sessions list

    --only WORD: List only sessions with this tag or phase, or `simulated` ones. Can be repeated.
    --without WORD: Leave out sessions with this tag or phase, or `simulated` ones. Can be repeated.
    """
    from labapp.record.journal.decisions import Choice
    from labapp.record.journal.opening import line
    from labapp.record.journal.sessions import list_problems, list_sessions

    warn_of_wide(data)
    choice = Choice(tuple(only or ()), tuple(without or ()))
    every = list_sessions(data_folder(data))
    rows = [row for row in every if choice.takes(row.phase, row.tags, row.simulated)]
    if json_:
        say_json([row.to_json() for row in rows])
        return
    if not rows:
        chosen = f" that are chosen by {choice}" if every else ""
        say(f"No sessions in {data_folder(data)}{chosen}.")
    for row in rows:
        say_line(line(row))
    for problem in list_problems(data_folder(data)):
        say_line(problem, err=True)


@sessions_app.command("show")
def sessions_show(
    session: completion.Session, data: Path | None = None, json_: bool = False
) -> None:
    """Show what a session contains.

    Example: labapp sessions show sub-P01_ses-1_20260102T030405Z

    session: A session's name or folder, or a bundle.
    """
    from labapp.record.journal.opening import describe, text

    facts = describe(session_path(session, data))
    say_either(json_, facts, text(facts))


@sessions_app.command("verify")
def sessions_verify(
    session: completion.Session, data: Path | None = None, json_: bool = False
) -> None:
    """Check that nothing in a session or bundle was changed or lost.

    Example: labapp sessions verify bundle

    session: A session's name or folder, or a bundle.
    """
    from labapp.session.bids.verify import verify

    with as_check(), progress_bar("checking"):
        report = verify(session_path(session, data))
    show(report, json_, say)
    raise make_exit(well=report.ok)


@sessions_app.command("recover")
def sessions_recover(session: completion.Session, data: Path | None = None) -> None:
    """Repair a session after a crash. Nothing is deleted.

    Example: labapp sessions recover sub-P01_ses-1_20260102T030405Z
    """
    from labapp.session.resuming import recover

    for line in recover(session_path(session, data)).lines():
        say(line)


@sessions_app.command("exclude")
def sessions_exclude(
    session: completion.Session, reason: str = "", data: Path | None = None, json_: bool = False
) -> None:
    """Exclude a session from the analysis, with a reason. Its data stay as they are.

    Example: labapp sessions exclude sub-P01_ses-1_20260102T030405Z --reason "fire alarm"

    --reason: The reason. The report shows it.
    """
    _decide(session, data, included=False, reason=reason, json_=json_)


@sessions_app.command("include")
def sessions_include(
    session: completion.Session, reason: str = "", data: Path | None = None, json_: bool = False
) -> None:
    """Include a session in the analysis after `exclude`, or even though a rule excludes it.

    Example: labapp sessions include sub-P01_ses-1_20260102T030405Z --reason "not the participant"

    --reason: The reason (optional).
    """
    _decide(session, data, included=True, reason=reason, json_=json_)


@sessions_app.command("tag")
def sessions_tag(
    session: completion.Session,
    tags: list[str] | None = None,
    remove: list[str] | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Add tags to a session, by which sessions can be found and chosen, or remove some.

    Example: labapp sessions tag sub-P01_ses-1_20260102T030405Z left-handed "excluded late"

    tags: Words of your own.
    --remove TAG: A tag to remove. Can be repeated.
    """
    from labapp.session.withdrawal import change_tags

    path = session_path(session, data).absolute()
    after = change_tags(path, tags or (), remove or ())
    done = {"session": path.name, "tags": after}
    say_either(json_, done, [f"{path.name}: {', '.join(after) or 'no tags'}"], say)


@sessions_app.command("move")
def sessions_move(
    session: completion.Session,
    to: str,
    reason: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Move a session from the pilots into the study, or back, with a reason.

    Example: labapp sessions move sub-pilotP01_ses-1_20260102T030405Z --to study --reason "no
    trial"

    --to study|pilots: Where the session belongs.
    --reason: The reason. The report shows it.
    """
    from labapp.session.withdrawal import move_pilot

    if to not in ("study", "pilots"):
        raise UsageError(f"There is no place {to!r}.", todo="Give --to study or --to pilots.")
    root = data_folder(data)
    into = to == "study"
    try:
        path = session_path(session, pilot_root(root) if into else root)
    except NotFoundError:
        path = session_path(session, root if into else pilot_root(root))
    goal, lines = move_pilot(path.absolute(), into, reason)
    done = {"session": path.name, "pilot": not into, "reason": reason, "path": str(goal)}
    say_either(json_, done, lines, say)


def _decide(session: str, data: Path | None, *, included: bool, reason: str, json_: bool) -> None:
    from labapp.session.withdrawal import decide_by_hand

    path = session_path(session, data).absolute()
    decision, lines = decide_by_hand(path, included, reason)
    done = {"session": path.name, "decision": decision.verdict, "reason": decision.reason}
    say_either(json_, done, lines, say)


@sessions_app.command("backup")
def sessions_backup(
    to: Path | None = None,
    with_consents: bool = False,
    data: Path | None = None,
    private: Path | None = None,
    json_: bool = False,
) -> None:
    """Copy each finished session to another disk, and compare every file by SHA-256.

    Nothing is overwritten. Copies of participants who withdrew are deleted.

    Example: labapp sessions backup --to /media/usb/labapp

    --to FOLDER: A folder on another disk. This computer remembers it.
    --with-consents: Also copy names and signatures from the private folder.
    """
    from labapp.base.resources import private_root
    from labapp.session import backup
    from labapp.ui import remembered

    root = data_folder(data)
    if to is not None:
        place = backup.prepare_place(to, root)
        remembered.write_backup(remembered.BackupChoice(str(place.folder), place.id))
    else:
        choice = remembered.read_backup()
        if not choice.to:
            raise UsageError(
                "No backup folder was chosen on this computer.",
                safe="Nothing was copied.",
                todo="Name a folder on another disk: labapp sessions backup --to FOLDER",
            )
        place = backup.Place(Path(choice.to), choice.id)
    with progress_bar("copying") as tell:
        report = backup.back_up(root, place, private_root(private) if with_consents else None, tell)
    show(report, json_)
    raise make_exit(well=report.ok)


@sessions_app.command("withdraw")
def sessions_withdraw(
    session: completion.Session,
    delete: bool | None = None,
    yes: bool = False,
    data: Path | None = None,
    private: Path | None = None,
) -> None:
    """Withdraw a participant from all sessions, and delete or keep the data.

    Example: labapp sessions withdraw sub-P01_ses-1_20260102T030405Z --delete

    --delete/--keep: Delete or keep the data, as the participant wishes.
    --yes: Do not ask for confirmation.
    """
    from labapp.base.resources import private_root
    from labapp.record.journal.layout import LEAVING, FolderName
    from labapp.session.withdrawal import others_of, withdraw

    if delete is None:
        raise UsageError(
            "It is not clear whether to delete the data.",
            todo="Add --delete or --keep, as the participant wishes.",
        )
    given = Path(session)
    studies = data_folder(data).glob("*") if given.name == session else [given.parent]
    # What an interrupted deletion left lies under another name, and goes by its own here.
    begun = (study for study in studies if (study / f"{LEAVING}{given.name}").is_dir())
    study = next(begun, None)
    path = session_path(session, data) if study is None else study / given.name
    if not yes:
        name = FolderName.parse(path.name)
        others = others_of(path.parent, name.participant, path.name) if name else []
        also = f", with {', '.join(others)}" if others else ""
        what = f"Permanently delete {path} and its signed consent{also}?"
        question = f"Record that the participant of {path.name} withdrew{also}?"
        confirm(
            what if delete else question, "Nothing was deleted, and no withdrawal was recorded."
        )
    for line in withdraw(path.absolute(), private_root(private), delete=delete).lines():
        say(line)


@sessions_app.command("consent")
def sessions_consent(
    session: completion.Session, out: Path, data: Path | None = None, private: Path | None = None
) -> None:
    """Write the consent form as the participant signed it, as a PDF that only you can read.

    It contains the participant's name, so keep it separate from the data.

    Example: labapp sessions consent sub-P01_ses-1_20260102T030405Z --out P01.pdf

    --out: The PDF file to write.
    """
    from labapp.base.resources import private_root
    from labapp.ui.qtapp import make_app

    path = session_path(session, data)
    make_app()
    from labapp.ui.consent_pdf import write_signed

    write_signed(out, path, private_root(private))
    say(f"form: {out}")


@sessions_app.command("resume")
def sessions_resume(
    session: completion.Session,
    data: Path | None = None,
    private: Path | None = None,
    screen: str | None = None,
    windowed: bool = False,
    audio: str | None = None,
    simulate: str | None = None,
    speed: float = 1.0,
    blind: Blind = None,
    lsl: Lsl = None,
    listen: str | None = None,
    accept_version: bool = False,
) -> None:
    """Resume an interrupted session at its last event. A blind session stays blind.

    Example: labapp sessions resume sub-P01_ses-1_20260102T030405Z

    --accept-version: Resume even if the session was started with another version of labapp.
    """
    from labapp.ui.starting import resume_session

    options = run_options(
        data,
        private,
        screen,
        windowed,
        audio,
        simulate,
        speed,
        blind,
        accept_version=accept_version,
        lsl=lsl,
        listen=listen,
    )
    raise typer.Exit(resume_session(session_path(session, data), options))


def replay(
    session: completion.Session,
    at: str | None = None,
    still: Path | None = None,
    size: str | None = None,
    trails: bool = False,
    clip: tuple[str, str] | None = None,
    out: Path | None = None,
    dark: bool | None = None,
    data: Path | None = None,
) -> None:
    """Replay a recorded session: see the participant's screen and hear the voice at any time.

    Without --still or --clip, a window opens. Press ? in it to see its keys.

    Example: labapp replay sub-P01_ses-1_20260102T030405Z --at 12:34.5

    session: A session or bundle (name or path).
    --still FILE.png: Write a picture of the participant’s screen at the time given by --at,
        without a window.
    --size WxH: The size of --still in pixels. Default: 1366x768.
    --trails: With --still: draw the slider movements of the last 5 seconds.
    --clip T0 T1: Write the sound between two times, or the video.
    --out FILE: The file for --clip: .wav or .mp4.
    --dark/--light: Use light or dark colours, also in later replays. Default: the system's setting.
    """
    from labapp.coding.annotations.model import time_ns

    if clip is not None:
        _clip(session_path(session, data), clip, out)
        return
    if out is not None:
        raise UsageError("--out is for a clip.", todo="Add the times: --clip 12:34.5 12:50")
    t_ns = None if at is None else time_ns(at)
    if still is None:
        if size is not None or trails:
            raise UsageError(
                "--size and --trails need --still.",
                todo="Name the picture file: --still screen.png",
            )
        raise typer.Exit(_show_window(session_path(session, data), t_ns, dark))
    if t_ns is None:
        raise UsageError(
            "--still needs --at, the time of the picture.", todo="Add it, such as --at 12:34.5"
        )
    path = session_path(session, data)
    width, height = pixels(size)
    from labapp.ui.replay.controller import readable_record, write_still

    record = readable_record(path)

    for problem in write_still(record, t_ns, still, width, height, trails=trails):
        say(problem, err=True)
    say(f"picture: {still}")


def _clip(path: Path, times: tuple[str, str], out: Path | None) -> None:
    from labapp.coding.annotations.model import time_ns
    from labapp.coding.sound import write_clip
    from labapp.coding.videos.reels import FILM, Cut, write_reel
    from labapp.record.journal.opening import open_record

    if out is None:
        raise UsageError("--clip needs a file.", todo="Name it: --out clip.wav")
    begin, end = map(time_ns, times)
    if out.suffix.casefold() == FILM:
        made: Sequence[str] = write_reel([Cut(path, begin, end)], out).lines()
    else:
        made = write_clip(open_record(path), begin, end, out).lines()
    for line in made:
        say(line)


def _show_window(path: Path, t_ns: int | None, dark: bool | None) -> int:
    """Show the window until it is closed."""
    from labapp.base.errors import SetupError
    from labapp.base.parallel.processes import gc_paused
    from labapp.ui.qtapp import choose, make_app

    make_app()
    display = choose()
    if not display.visible:
        raise SetupError(
            f"There is no screen to show the replay on ({display.why}).",
            safe="The session was not opened.",
            todo="Save a picture of it instead, with --still FILE.png --at TIME.",
        )
    with gc_paused():  # hundreds of modules, and thousands of events: none of them garbage
        from labapp.ui.replay.window import Replay

        replay = Replay(path, t_ns, dark)
    return replay.run()


def pixels(size: str | None) -> tuple[int, int]:
    """Width and height as in 1366x768. Raises UsageError."""
    match = re.fullmatch(r"(\d{3,4})[x×](\d{3,4})", size or "1366x768")
    if match is None:
        raise UsageError(f"{size!r} is not a size.", todo="Write width and height, as in 1366x768.")
    return int(match[1]), int(match[2])
