"""Whether a sound file is, to the last byte, what the journal says was written.

The header must be the one of the file's rate and length; every second of sound has its hash in a
block; a file that was closed ends with the frame it was closed at. What a crash left behind the
last block has no hash, and that is said. In a bundle redacted sound is silent; a second that holds
some has no hash any more, and that is said, too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from labapp.annotations.redacted_sound import Ranges
from labapp.audio.blocks import fits, method
from labapp.audio.writer import FRAME_BYTES, HEADER_BYTES, wav_header
from labapp.errors import RecordError
from labapp.journal.outline import AudioFile
from labapp.journal.record import Record

LARGEST = 2**32 - 8
"""Bytes: more cannot be said in the header of a WAV file."""
_CHUNK = 1 << 20
"""Frames that are read at once."""
TAIL_S = 5.0
"""Sound beyond the last block; more than this was not lost in a crash, blocks are missing."""


def check_sound(
    record: Record, file: AudioFile, silent: Ranges = ()
) -> tuple[list[str], list[str]]:
    """Problems and notes about one sound file of a record. silent: its redacted frames."""
    problems: list[str] = []
    notes: list[str] = []
    try:
        size = record.tree.size(file.file)
        with record.tree.open(file.file) as stream:
            header = stream.read(HEADER_BYTES)
            problems += _blocks(stream, file, silent)
    except (OSError, KeyError):
        return ["missing"], []
    except RecordError as error:
        return [error.what], []
    if not HEADER_BYTES <= size < LARGEST:
        return [f"it has {size} bytes, which no sound of ours has"], []
    problem, note = _header(header, file, size)
    problems += problem
    notes += note
    problem, note = _end(file, size, running=record.running)
    problems += problem
    notes += note
    if reduced := sum(_overlaps(silent, block.first_frame, block.frames) for block in file.blocks):
        notes.append(
            f"{reduced} of its {len(file.blocks)} blocks hold redacted sound: it is silent there, "
            "and their hashes in the journal are those of the recording"
        )
    if old := sum(method(block) == "CRC-32" for block in file.blocks):
        notes.append(
            f"{old} of its {len(file.blocks)} blocks were written by an earlier version, with a "
            "CRC-32, which finds accidents but can be kept by who changes sound on purpose"
        )
    return problems, notes


def _overlaps(silent: Ranges, first: int, end: int) -> bool:
    return any(begin < end and first < stop for begin, stop in silent)


def _silent_where_due(stream: IO[bytes], first: int, end: int, silent: Ranges) -> bool | None:
    """Whether redacted frames of a block are zeros; None where the file ends before the block. The
    stream stands at the block."""
    for at in range(first, end, _CHUNK):
        data = stream.read(min(_CHUNK, end - at) * FRAME_BYTES)
        if len(data) < min(_CHUNK, end - at) * FRAME_BYTES:
            return None
        for begin, stop in silent:
            if data[max(0, begin - at) * FRAME_BYTES : max(0, stop - at) * FRAME_BYTES].strip(
                b"\0"
            ):
                return False
    return True


def _blocks(stream: IO[bytes], file: AudioFile, silent: Ranges) -> Iterator[str]:
    """What is wrong with the sound that blocks cover; the stream stands behind the header."""
    expected = 0
    for block in file.blocks:
        start, end = (frame / file.nominal_rate for frame in (block.first_frame, block.frames))
        if block.first_frame != expected or block.frames <= block.first_frame:
            yield f"the journal has no block that begins at {expected / file.nominal_rate:.1f} s"
            return
        expected = block.frames
        if _overlaps(silent, block.first_frame, block.frames):
            right = _silent_where_due(stream, block.first_frame, block.frames, silent)
            if right is False:
                yield f"the sound from {start:.1f} to {end:.1f} s is redacted, and not silent"
                continue
        else:
            right = fits(stream, block)
        if right is None:
            yield f"it is cut off at {start:.1f} to {end:.1f} s"
            return
        if not right:
            yield f"the sound from {start:.1f} to {end:.1f} s was changed ({method(block)})"


def _header(header: bytes, file: AudioFile, size: int) -> tuple[list[str], list[str]]:
    """The 44 bytes before the sound. While the file is written they are brought up to date once a
    second; after a crash they may be older, or never have reached the disk."""
    data_bytes = size - HEADER_BYTES
    if header == wav_header(file.nominal_rate, data_bytes):
        return [], []
    if len(header) == HEADER_BYTES and not file.stopped:
        (stated,) = struct.unpack("<I", header[-4:])
        older = stated <= data_bytes and header == wav_header(file.nominal_rate, stated)
        if older or not header.strip(b"\0"):
            return [], ["its header is older than its last sound, as a crash leaves it"]
    return ["its header does not fit its length and format"], []


def _end(file: AudioFile, size: int, *, running: bool) -> tuple[list[str], list[str]]:
    """What lies behind the last block."""
    frames, half = divmod(max(0, size - HEADER_BYTES), FRAME_BYTES)
    beyond = frames - file.frames
    seconds = f"{beyond / file.nominal_rate:.1f} s of sound"
    if file.stopped_at is not None and (half or frames != file.stopped_at):
        closed = file.stopped_at * FRAME_BYTES + HEADER_BYTES
        return [f"it has {size} bytes, and had {closed} when it was closed"], []
    if running or (beyond <= 0 and not half):
        return [], []
    if beyond > TAIL_S * file.nominal_rate:
        return [f"{seconds} lie behind the last block of the journal"], []
    covered = "its last second was not yet covered by a hash"
    return [], [f"{seconds} lie behind the last block: {covered}"]
