"""Quotes with the picture of the participant's screen at that moment, as a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from labapp import access, durable, leftovers
from labapp.annotations.handed_out import QUOTES, note_handed_out, session_folders
from labapp.annotations.redaction import is_redacted
from labapp.annotations.store import annotations_of
from labapp.errors import DataFolderError, LabappError
from labapp.journal.layout import refuse_inside
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
    quotes : what is quoted.
    paths : of the sessions, bundles or folders of these that they are from.
    out : the file: .md, .html or .csv.
    size : width and height of a picture in pixels; None for no pictures.
    trails : with the movements of the dials in the last seconds.
    progress : gets the share done, and what is being done; what it raises ends the work.

    Returns
    -------
    With the paths of their pictures, or why they have none.

    Raises
    ------
    UsageError : the file is there, or its ending is none of these.
    AnnotationError : it cannot be written down what is quoted.
    DataFolderError : the file cannot be written.
    """
    from labapp.analysis.quote_files import as_page, kind_of, pictures_of

    written = kind_of(out)
    refuse_inside(out)
    records = dict(_records(paths, {quote.who for quote in quotes.quotes}))
    folder = pictures_of(out)
    _note(records, *((out,) if size is None or written is as_page else (out, folder)))
    try:
        with leftovers.on_its_way(session_folders(*records.values()), out) as (hidden,):
            access.own_folder(hidden, exist_ok=False)
            if size is not None:
                drawn_in = hidden / folder.name
                access.own_folder(drawn_in)
                quotes = _with_pictures(quotes, records, drawn_in, size, trails, progress)
            file = hidden / out.name
            durable.write(file, written(quotes, hidden).encode("utf-8"))
            if written is not as_page and any(quote.picture for quote in quotes.quotes):
                (hidden / folder.name).rename(folder)  # a page holds them
            durable.take_name(file, out)
    except OSError as error:
        raise DataFolderError(
            f"The quotes cannot be written to {out}: {error.strerror or error}.",
            safe="The sessions are untouched.",
            todo="Free some space or name another folder.",
        ) from error
    return quotes


def _with_pictures(
    quotes: Quotes,
    records: dict[Who, Record],
    folder: Path,
    size: tuple[int, int],
    trails: bool,
    progress: Progress,
) -> Quotes:
    from labapp.analysis.quotes import Quotes

    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    drawn: list[Quote] = []
    for who, some in groupby(quotes.quotes, key=lambda quote: quote.who):
        drawn += _pictured(records[who], list(some), folder, len(drawn), size, trails=trails)
        progress(len(drawn) / len(quotes.quotes), f"{who[1]}, session {who[2]}")
    return Quotes(tuple(drawn), quotes.left_out)


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


def _note(records: dict[Who, Record], *places: Path) -> None:
    """Write down of whom there are quotes, and in which files. A bundle's own study keeps a list of
    what left it."""
    by_study: dict[Path, list[str]] = {}
    for folder in session_folders(*records.values()):
        by_study.setdefault(folder.parent, []).append(folder.name)
    for study, sessions in by_study.items():
        for place in places:
            note_handed_out(study, QUOTES, place, sessions)


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
