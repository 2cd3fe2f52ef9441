"""The command that writes down what was said, by a speech model of this computer."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import LabappError, NoConsent, TranscriptionError, UsageError
from labapp.base.parallel.long_work import stoppable
from labapp.cli.options import Data, Json, SessionNames, progress_bar, session_or_study

if TYPE_CHECKING:
    from labapp.coding.transcription.session import Recogniser

_INTERRUPTED = 130


def transcribe(
    sessions: SessionNames,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="PATH",
            help="A speech model: a file or a folder. Default: the only one in the folder for them "
            "(labapp doctor).",
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", metavar="CODE", help="What was spoken, as de. Default: the study's."
        ),
    ] = "",
    words: Annotated[
        Path | None,
        typer.Option("--words", metavar="FILE", help="Words that may come up, a line each."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option("--engine", help="whisper, whispercpp or vosk. Default: what the model is."),
    ] = "auto",
    again: Annotated[
        bool,
        typer.Option("--again", help="Also anew what a model wrote and nobody read or corrected."),
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Write down what was said in sessions, by a speech model on this computer.

    Nothing is sent anywhere or fetched. Units that have a text keep it; stopped work is gone on
    with by the same command. What may be invented is marked, to be read in the coding window.

    Example: labapp transcribe sub-P01_ses-1_20260102T030405Z --model ggml-small.bin
    """
    from labapp.coding.transcription.models import model_at, own_model
    from labapp.coding.transcription.session import Recogniser, transcribe_session
    from labapp.record.journal.opening import places

    paths = [path for name in sessions for path in places(session_or_study(name, data))]
    speech = own_model() if model is None else model_at(model, engine)
    expected = "" if words is None else _expected(words)
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
                    "Stopped.\nWhat was written down is stored.\n"
                    "Give the same command again: it goes on from there.",
                    err=True,
                )
                raise typer.Exit(_INTERRUPTED) from None
            rows.append(done.to_json())
            if not json_:
                say_line(done.line())
    if json_:
        say_json(rows)
    elif any(row["written"] for row in rows):
        say("Read the texts against the sound in the coding window (labapp code open).")
    raise typer.Exit(1 if failed else 0)


def _expected(path: Path) -> str:
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
            f"{path} is no text in UTF-8.", todo="Save it as UTF-8, a word or name a line."
        ) from error
    words = ", ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    if len(words) > LONGEST_WORDS:
        raise UsageError(
            f"{path} has {len(words)} characters of words, and a model takes {LONGEST_WORDS}.",
            todo="Leave those words that it gets right anyway.",
        )
    return words
