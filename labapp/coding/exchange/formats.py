"""The formats that codings go out in and come back from, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from labapp.base.errors import UsageError
from labapp.base.messages import Message
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.exchange import boris, captions, eaf, qdc, qdpx, qdpx_in, tables, textgrid
from labapp.coding.exchange.model import Format

MS, US = 1_000_000, 1_000
_EVERY = (
    Format("eaf", ".eaf", "ELAN", eaf.write, eaf.read, False, MS),
    Format("textgrid", ".TextGrid", "Praat", textgrid.write, textgrid.read, False, 1, False),
    Format(
        "vtt",
        ".vtt",
        "WebVTT captions",
        partial(captions.write, captions.vtt),
        captions.read,
        False,
        MS,
        False,
    ),
    Format(
        "srt",
        ".srt",
        "SubRip captions",
        partial(captions.write, captions.srt),
        captions.read,
        False,
        MS,
        False,
    ),
    Format("audacity", ".txt", "Audacity's labels", tables.write_audacity, None, False, US, False),
    Format(
        "qdpx",
        ".qdpx",
        "REFI-QDA (NVivo, MAXQDA)",
        qdpx.write,
        qdpx_in.read,
        True,
        MS,
        False,
        True,
        qdpx_in.read_file,
    ),
    Format("boris", ".boris", "BORIS", boris.write, None, True, MS),
    Format("csv", ".csv", "a table", tables.write_csv, tables.read_csv, False, US, False),
)
FORMATS: Mapping[str, Format] = {form.name: form for form in _EVERY}
ON_TRANSCRIPT = replace(FORMATS["qdpx"], write=qdpx.write_on_transcript)
"""A project with the codes of units on the transcript."""


_WHISPER = [
    replace(FORMATS["vtt"], name="whisper", suffix=".tsv", read=captions.read_table),
    replace(FORMATS["vtt"], name="whisper", suffix=".json", read=captions.read_json),
]
"""What comes in only, as captions do."""

CODEBOOK_FORMATS: Mapping[str, Callable[[Codebook, Path], tuple[str, ...]]] = {
    "csv": tables.codebook_csv,
    "qdc": qdc.write,
}
"""What writes a codebook to a new file, by the names that `--to` takes; each returns what has no
place in it, in words."""


def format_named(name: str) -> Format:
    """The format of that name. Raises UsageError."""
    if name not in FORMATS:
        raise UsageError(
            f"There is no format {name!r}.", todo=f"Take one of: {', '.join(FORMATS)}."
        )
    return FORMATS[name]


def format_of(path: Path) -> Format:
    """The format of a file that comes in, by the end of its name. Raises UsageError."""
    readable = (form for form in (*FORMATS.values(), *_WHISPER) if form.read is not None)
    ends = {form.suffix.casefold(): form for form in readable}
    form = ends.get(path.suffix.casefold())
    if form is None:
        raise UsageError(
            Message("file_of_no_kind", path=str(path)),
            todo=Message("give_ending", ends=", ".join(ends)),
        )
    return form
