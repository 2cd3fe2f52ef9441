"""Repairs a WAV file after a crash, and checks it against the journal.

A file that was cut off has a header that is up to a second old, more samples than the header says,
and perhaps half a frame at its end. Repair sets the header from the file's length. It never removes
sound that a block event has acknowledged, and repairing twice changes nothing more.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from labapp.audio.blocks import fits
from labapp.audio.writer import FRAME_BYTES, HEADER_BYTES, wav_header
from labapp.errors import RecordError
from labapp.events.voice import AudioBlock
from labapp.reading import files


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair found and did.

    Attributes
    ----------
    frames : frames in the file now.
    acknowledged : frames that blocks say were made durable.
    beyond : frames kept after the last block.
    missing : acknowledged frames that the file does not have.
    damaged : first frames of the blocks whose sound differs from what was written.
    changed : whether the file was altered.
    """

    frames: int
    acknowledged: int
    beyond: int
    missing: int
    damaged: tuple[int, ...]
    changed: bool

    @property
    def whole(self) -> bool:
        """Whether everything acknowledged is there and as it was written."""
        return not self.missing and not self.damaged


def check_blocks(path: Path, blocks: Iterable[AudioBlock]) -> tuple[int, tuple[int, ...]]:
    """Frames acknowledged by the blocks, and first frames of those whose sound is not what was
    written (cut off or changed). Reads only.

    Raises
    ------
    OSError : the file is missing or cannot be read.
    """
    acknowledged = 0
    damaged = []
    with files.open_file(path) as file:
        for block in blocks:
            acknowledged = max(acknowledged, block.frames)
            file.seek(HEADER_BYTES + block.first_frame * FRAME_BYTES)
            if not fits(file, block):
                damaged.append(block.first_frame)
    return acknowledged, tuple(damaged)


def tail(path: Path, name: str, first_frame: int) -> AudioBlock | None:
    """A block for the sound from `first_frame` to the end of the file, which a killed run left
    behind its last one; name: how events call the file. None when there is nothing to read."""
    try:
        with files.open_file(path) as file:
            frames = (file.seek(0, os.SEEK_END) - HEADER_BYTES) // FRAME_BYTES
            if frames <= first_frame:
                return None
            file.seek(HEADER_BYTES + first_frame * FRAME_BYTES)
            digest = hashlib.sha256()
            left = (frames - first_frame) * FRAME_BYTES
            while left and (data := file.read(min(left, 1 << 20))):
                digest.update(data)
                left -= len(data)
    except OSError:
        return None
    return AudioBlock(name, first_frame, frames, digest.hexdigest(), ())


def repair_wav(path: Path, rate: int, blocks: Iterable[AudioBlock] = ()) -> RepairReport:
    """Make a cut-off file whole.

    rate : nominal rate from audio.started, for a header that never reached the disk. blocks : the
    file's audio.block events.

    Raises
    ------
    RecordError : the file is missing, cannot be written, or is something else than our sound.
    """
    try:
        size = path.stat().st_size
        with files.open_file(path) as file:
            header = file.read(HEADER_BYTES)
        _refuse_foreign(path, header)
        data_bytes = max(0, size - HEADER_BYTES)
        data_bytes -= data_bytes % FRAME_BYTES
        wanted = wav_header(rate, data_bytes)
        changed = header != wanted or size != HEADER_BYTES + data_bytes
        if changed:
            with path.open("r+b") as file:
                file.write(wanted)
                file.truncate(HEADER_BYTES + data_bytes)
                file.flush()
                os.fsync(file.fileno())
        acknowledged, damaged = check_blocks(path, blocks)
    except OSError as error:
        raise RecordError(
            f"The sound file {path} cannot be repaired: {error.strerror or error}.",
            safe="The file was not shortened.",
            todo="Check the disk, then run `labapp sessions recover` again.",
        ) from error
    frames = data_bytes // FRAME_BYTES
    return RepairReport(
        frames=frames,
        acknowledged=acknowledged,
        beyond=max(0, frames - acknowledged),
        missing=max(0, acknowledged - frames),
        damaged=damaged,
        changed=changed,
    )


def _refuse_foreign(path: Path, header: bytes) -> None:
    """Raises RecordError for a file whose header is not one of labapp's.

    A header that was cut short, or is empty or all zeros because it never reached the disk, is
    accepted: it is written again.
    """
    ours = wav_header(0, 0)
    if not header.strip(b"\0") or header[:4] == ours[:4][: len(header)]:
        return
    raise RecordError(
        f"{path} is not a sound file of this program.",
        safe="It was not touched.",
        todo="Move it out of the session's audio folder.",
    )
