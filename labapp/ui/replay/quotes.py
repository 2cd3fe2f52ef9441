"""Quotes with the picture of the participant's screen at that moment, as a file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from labapp import access, durable, leftovers
from labapp.annotations.handed_out import QUOTES, note_handed_out
from labapp.annotations.redaction import is_redacted
from labapp.annotations.store import annotations_of
from labapp.errors import DataFolderError, LabappError
from labapp.journal.opening import places, session_places
from labapp.journal.record import Record
from labapp.replay.history import History

if TYPE_CHECKING:
    from labapp.analysis.quotes import Quote, Quotes

Progress = Callable[[float, str], None]
REDACTED = "the moment lies in a redacted stretch."


def write_quotes(
    quotes: Quotes,
    paths: Sequence[Path],
    out: Path,
    size: tuple[int, int] | None,
    *,
    trails: bool = False,
    progress: Progress = lambda share, what: None,
) -> Quotes:
    """Write quotes with their pictures, which lie in a folder beside the file, or in the page.

    Every session is written down as having been quoted before anything of it is, so that a
    withdrawal can say where.

    Parameters
    ----------
    quotes : Quotes
        What is quoted.
    paths : sequence of Path
        Of the sessions, bundles or folders of these that they are from.
    out : Path
        The file: .md, .html or .csv.
    size : tuple of int or None
        Width and height of a picture in pixels; None for no pictures.
    trails : bool
        With the movements of the dials in the last seconds.
    progress : callable
        Gets the share done, and what is being done; what it raises ends the work.

    Returns
    -------
    Quotes
        With the paths of their pictures, or why they have none.

    Raises
    ------
    UsageError
        The file is there, or its ending is none of these.
    AnnotationError
        It cannot be written down what is quoted.
    DataFolderError
        The file cannot be written.
    """
    from labapp.analysis.quote_files import as_page, kind_of, pictures_of
    from labapp.analysis.quotes import Quotes

    written = kind_of(out)
    records = dict(_records(paths, {quote.who for quote in quotes.quotes}))
    _note(records, out)
    folder = pictures_of(out)
    try:
        if size is not None:
            access.own_folder(folder)
            os.environ["QT_QPA_PLATFORM"] = "offscreen"
            drawn: list[Quote] = []
            for who, some in groupby(quotes.quotes, key=lambda quote: quote.who):
                drawn += _pictured(
                    records[who], list(some), folder, len(drawn), size, trails=trails
                )
                progress(len(drawn) / len(quotes.quotes), f"{who[1]}, session {who[2]}")
            quotes = Quotes(tuple(drawn), quotes.left_out)
            with suppress(OSError):  # where there is a picture, it stays
                folder.rmdir()
        durable.write(out, written(quotes, out.parent).encode("utf-8"))
        durable.sync_folder(out.parent)
        if written is as_page:
            shutil.rmtree(folder, ignore_errors=True)  # the page holds them
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        leftovers.drop(out)
        if isinstance(error, OSError):
            raise DataFolderError(
                f"The quotes cannot be written to {out}: {error.strerror or error}.",
                safe="The sessions are untouched.",
                todo="Free some space or name another folder.",
            ) from error
        raise
    return quotes


Who = tuple[str, str, str]


def _records(paths: Sequence[Path], wanted: set[Who]) -> Iterator[tuple[Who, Record]]:
    """The sessions that are quoted, each where it is met first."""
    for path in paths:
        for item in places(path):
            for place in session_places(item):
                record = place.open()
                who = (record.study, record.participant, record.session)
                if who in wanted:
                    wanted = wanted - {who}
                    yield who, record


def _note(records: dict[Who, Record], out: Path) -> None:
    """Write down of whom there are quotes. A bundle's own study keeps a list of what left it."""
    by_study: dict[Path, list[str]] = {}
    for record in records.values():
        if record.kind == "session":
            folder = Path(record.source).absolute()
            by_study.setdefault(folder.parent, []).append(folder.name)
    for study, sessions in by_study.items():
        note_handed_out(study, QUOTES, out, sessions)


def _pictured(
    record: Record,
    quotes: Sequence[Quote],
    folder: Path,
    before: int,
    size: tuple[int, int],
    *,
    trails: bool,
) -> list[Quote]:
    """The quotes of a session with their pictures; before: how many have one already."""
    from PySide6.QtCore import QSize

    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.picture import still

    make_app()
    redactions = annotations_of(record).redactions
    drawn: list[Quote] = []
    with History(record) as history:
        for quote in quotes:
            if is_redacted(quote.onset_ns, quote.onset_ns, redactions):
                drawn.append(quote.with_picture("", REDACTED))
                continue
            name = f"{before + len(drawn) + 1:03d}.png"
            try:
                image = still(history, quote.onset_ns, QSize(*size), trails=trails, withholds=True)
            except LabappError as error:
                drawn.append(quote.with_picture("", error.what))
                continue
            if not image.save(str(folder / name), "PNG"):  # type: ignore[call-overload]
                raise OSError(f"{folder / name} cannot be written")
            drawn.append(quote.with_picture(f"{folder.name}/{name}"))
    return drawn
