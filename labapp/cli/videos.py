"""`labapp videos`: videos of participants, on the clock of their sessions.

The command that writes down what was said, by a speech model of this computer.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import INTERRUPTED, LabappError, NoConsent, TranscriptionError, UsageError
from labapp.base.parallel.processes import stoppable
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import confirm, make_exit, progress_bar, session_path, study_path

if TYPE_CHECKING:
    from labapp.coding.annotations.video_files import PlacedVideo
    from labapp.coding.transcription.session import Recogniser


videos_app = make_group("videos", "labapp videos list sub-P01_ses-1_20260102T030405Z")


@videos_app.command("add")
def videos_add(
    session: completion.Session,
    file: Path,
    offset: float | None = None,
    drift: float = 0.0,
    by: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Add a camera's video of the participant to a session.

    The video is placed on the session's clock by means of the sound that both contain. The
    participant must have agreed to a video. This needs the extra `video` (labapp extras add
    video).

    Example: labapp videos add sub-P01_ses-1_20260102T030405Z camera.mp4

    file FILE: The video file. It is copied.
    --by NAME: Your name, for the record.
    """
    from labapp.coding.videos.session import add_video

    _check(offset, drift)
    path = session_path(session, data)
    with stoppable(), progress_bar() as tell:
        placed = add_video(path, file, offset_s=offset, drift_ppm=drift, by=by, tell=tell)
    _say(placed, path.name, json_)


@videos_app.command("align")
def videos_align(
    session: completion.Session,
    video: str,
    offset: float | None = None,
    drift: float = 0.0,
    by: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Place a video on the session's clock again, by the sound or by hand.

    Example: labapp videos align sub-P01_ses-1_20260102T030405Z video-1 --offset 12.5

    video VIDEO: The video's name in the list, such as video-1.
    --by NAME: Your name, for the record.
    """
    from labapp.coding.videos.session import align_video

    _check(offset, drift)
    path = session_path(session, data)
    with stoppable(), progress_bar() as tell:
        placed = align_video(path, video, offset_s=offset, drift_ppm=drift, by=by, tell=tell)
    _say(placed, path.name, json_)


@videos_app.command("list")
def videos_list(
    sessions: list[completion.SessionOrStudy], data: Path | None = None, json_: bool = False
) -> None:
    """List the videos of sessions and where they are.

    Example: labapp videos list sub-P01_ses-1_20260102T030405Z
    """
    from labapp.coding.annotations.video_files import video_tree, videos_of
    from labapp.record.journal.opening import open_record, places

    rows, failed = [], 0
    paths = [path for name in sessions for path in places(study_path(name, data, sessions=True))]
    for path in paths:
        try:
            record = open_record(path)
            tree, videos = video_tree(record), videos_of(record)
        except LabappError as error:
            if len(paths) == 1:
                raise
            say(f"{path.name} is left out: {error.what}", err=True)
            failed += 1
            continue
        for placed in videos:
            there = tree.has(placed.video.file)
            rows.append({"session": path.name, **placed.to_json(), "there": there})
            if not json_:
                say_line(f"{path.name}: {_line(placed)}" + ("" if there else "; its file is gone"))
                if warning := clock_warning(placed, path.name):
                    say_line(warning)
    if json_:
        say_json(rows)
    elif not rows:
        say_line("No videos.")
    raise make_exit(well=not failed)


@videos_app.command("remove")
def videos_remove(
    session: completion.Session,
    video: str,
    by: str = "",
    yes: bool = False,
    data: Path | None = None,
) -> None:
    """Delete a video of a session.

    Example: labapp videos remove sub-P01_ses-1_20260102T030405Z video-1

    video VIDEO: The video's name in the list, such as video-1.
    --by NAME: Your name, for the record.
    --yes: Do not ask for confirmation.
    """
    from labapp.coding.videos.session import remove_video

    path = session_path(session, data)
    if not yes:
        confirm(f"Delete {video} of {path.name}?", "Nothing was deleted.")
    remove_video(path, video, by=by)
    say_line(f"{path.name}: {video} was deleted.")


def _check(offset: float | None, drift: float) -> None:
    if offset is None and drift:
        raise UsageError(
            "--drift needs --offset.",
            todo="Give the time at which the video begins, such as --offset 12.5",
        )


def _say(placed: PlacedVideo, session: str, json_: bool) -> None:
    if json_:
        say_json({"session": session, **placed.to_json()})
        return
    say_line(f"{session}: {_line(placed)}")
    alignment = placed.alignment
    if alignment.residual_max_ms > 40.0:
        say_line(
            f"Some stretches are up to {alignment.residual_max_ms:.0f} ms off the fitted line. "
            "Check in the replay that picture and sound are in sync everywhere."
        )
    if warning := clock_warning(placed, session):
        say_line(warning)


def clock_warning(placed: PlacedVideo, session: str) -> str:
    """That the clock of a video is off and was not corrected, and what to do; else empty."""
    own, ppm = placed.alignment.unapplied_offset_s, placed.alignment.unapplied_ppm
    if own is None:
        return ""
    length_s = placed.video.duration_s
    off = [
        abs(placed.alignment.session_ns(at) / 1e9 - own - at * (1 + ppm * 1e-6))
        for at in (0.0, length_s)
    ]
    return (
        f"Warning: the video's clock seems to be off by {ppm * 1e-4:+.2f} % ({ppm:+.0f} ppm). "
        f"The video is too short ({length_s:.0f} s) to correct this automatically, so picture "
        f"and sound are up to {max(off) * 1000:.0f} ms apart. Add the file as the camera made "
        f"it, or correct it: labapp videos align {session} {placed.video.id} --offset {own:.3f} "
        f"--drift {ppm:.0f}"
    )


def _line(placed: PlacedVideo) -> str:
    from labapp.coding.annotations.model import time_text

    video, alignment = placed.video, placed.alignment
    begins, ends = (time_text(round(t_ns, -8)) for t_ns in placed.stretch_ns)  # tenths of a second
    facts = f"{video.id}: {video.width} × {video.height}, {begins} to {ends}"
    if alignment.origin == "hand":
        drift = f", {alignment.drift_ppm:+.1f} ppm" if alignment.drift_ppm else ""
        return f"{facts}; placed by hand at {alignment.offset_s:.3f} s{drift}"
    return (
        f"{facts}; placed by its sound at {alignment.offset_s:.3f} s, "
        f"{alignment.drift_ppm:+.1f} ppm, residual {alignment.residual_ms:.1f} ms (at most "
        f"{alignment.residual_max_ms:.1f} ms), {alignment.confidence:.0%} of "
        f"{alignment.stretches} stretches agree"
    )


def transcribe(
    sessions: list[completion.SessionOrStudy],
    model: Path | None = None,
    language: str = "",
    words: Path | None = None,
    engine: str = "auto",
    again: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Transcribe what was said in sessions, with a speech model on this computer.

    Nothing is sent or downloaded. Units that already have a text keep it. After an interruption,
    run the same command again to continue. Words that may be invented are marked; check them in
    the coding window.

    Example: labapp transcribe sub-P01_ses-1_20260102T030405Z --model ggml-small.bin

    --model PATH: A speech model (file or folder). Default: the only one in the models folder,
        which `labapp doctor` shows.
    --language CODE: The spoken language, such as de. Default: the study's.
    --words FILE: A text file with expected words, one per line.
    --engine: The engine: whisper, whispercpp or vosk. Default: found from the model's files.
    --again: Transcribe again whatever was written by a model and not checked by anyone.
    """
    from labapp.coding.transcription.models import model_at, own_model
    from labapp.coding.transcription.session import Recogniser, transcribe_session
    from labapp.record.journal.opening import places

    paths = [path for name in sessions for path in places(study_path(name, data, sessions=True))]
    speech = own_model() if model is None else model_at(model, engine)
    expected = "" if words is None else _read_expected_words(words)
    rows, failed = [], 0
    with ExitStack() as held:
        opened: list[Recogniser] = []

        def recogniser() -> Recogniser:
            if not opened:
                opened.append(held.enter_context(Recogniser(speech, expected)))
            return opened[0]

        held.enter_context(stoppable())
        progress = held.enter_context(progress_bar())
        for number, path in enumerate(paths):

            def tell(share: float, what: str, number: int = number) -> None:
                progress((number + share) / len(paths), what)

            try:
                done = transcribe_session(
                    path, recogniser, language=language.casefold(), again=again, tell=tell
                )
            except LabappError as error:
                # What is wrong with the model is wrong with it for every session.
                ours = isinstance(error, TranscriptionError) and not isinstance(error, NoConsent)
                if ours or len(paths) == 1:
                    raise
                say(f"{path.name} is left out: {error.what}", err=True)
                failed += 1
                continue
            except KeyboardInterrupt:
                say(
                    "Stopped.\nWhat was transcribed so far is stored.\n"
                    "Run the same command again: it continues from there.",
                    err=True,
                )
                raise typer.Exit(INTERRUPTED) from None
            rows.append(done.to_json())
            if not json_:
                say_line(done.line())
    if json_:
        say_json(rows)
    elif any(row["written"] for row in rows):
        say("Check the texts against the sound in the coding window (labapp code open).")
    raise make_exit(well=not failed)


def _read_expected_words(path: Path) -> str:
    """The words of a file, parted by commas. Raises UsageError."""
    from labapp.base.reading import files
    from labapp.coding.transcription.session import LONGEST_WORDS

    try:
        text = files.content(path).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror or error}).",
            todo="Name a text file with --words.",
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not a UTF-8 text file.",
            todo="Save it as UTF-8, with one word or name per line.",
        ) from error
    words = ", ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    if len(words) > LONGEST_WORDS:
        raise UsageError(
            f"{path} has words of {len(words)} characters in all, but a model takes only "
            f"{LONGEST_WORDS}.",
            todo="Leave out words that the model recognises anyway.",
        )
    return words
