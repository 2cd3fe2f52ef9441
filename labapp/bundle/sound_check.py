"""Whether a sound file is what its blocks say was written."""

from __future__ import annotations

import zlib
from typing import IO

from labapp.audio.writer import FRAME_BYTES, HEADER_BYTES, wav_header
from labapp.errors import RecordError
from labapp.records.outline import AudioFile
from labapp.records.record import Record

TAIL_S = 5.0
"""Sound beyond the last block; more than this was not lost in a crash, blocks are missing."""


def check_sound(record: Record, file: AudioFile) -> tuple[list[str], list[str]]:
    """Problems and notes about one sound file of a record."""
    try:
        size = record.tree.size(file.file)
        with record.tree.open(file.file) as stream:
            problems = _blocks(stream, file, size)
            header = problems.pop("header", None)
    except (OSError, KeyError):
        return ["missing"], []
    except RecordError as error:
        return [error.what], []
    found, notes = list(problems.values()), list[str]()
    if header is not None:
        # The header is brought up to date once a second; after a crash it may be older.
        (notes if record.state in ("interrupted", "running") else found).append(header)
    beyond_s = ((size - HEADER_BYTES) // FRAME_BYTES - file.frames) / file.nominal_rate
    if beyond_s > TAIL_S and not record.running:
        found.append(f"{beyond_s:.1f} s of sound lie behind the last block of the journal")
    return found, notes


def _blocks(stream: IO[bytes], file: AudioFile, size: int) -> dict[str, str]:
    found = {}
    if stream.read(HEADER_BYTES) != wav_header(file.nominal_rate, size - HEADER_BYTES):
        found["header"] = "its header does not fit its length and format"
    for block in file.blocks:
        data = stream.read((block.frames - block.first_frame) * FRAME_BYTES)
        start, end = (f / file.nominal_rate for f in (block.first_frame, block.frames))
        if len(data) < (block.frames - block.first_frame) * FRAME_BYTES:
            found[f"{start}"] = f"it is cut off at {start:.1f} to {end:.1f} s"
            break
        if zlib.crc32(data) != block.crc32:
            found[f"{start}"] = f"the sound from {start:.1f} to {end:.1f} s was changed (CRC-32)"
    return found
