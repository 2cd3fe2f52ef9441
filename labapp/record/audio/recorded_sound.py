"""The sound of a session on the session's clock, out of all its files.

A session has a sound file for each run of the program and each take in it, each with a clock of its
own. Here they are one sound: silence where nothing was recorded, and a list of these gaps with
their causes.

What was made of sound once and can be made again is kept in the cache, by the SHA-256 of what it
was made of. What is damaged there is as good as not there.

A file that was cut off has a header that is up to a second old, more samples than the header says,
and perhaps half a frame at its end. Repair sets the header from the file's length. It never removes
sound that a block event has acknowledged, and repairing twice changes nothing more.

The samples of a sound file, read where they are asked for.

They are read at their place in the file instead of being mapped into memory: 90 minutes would weigh
500 MB in there, and a drive that is pulled out would end the program instead of one reading.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import struct
import tempfile
import threading
import uuid
import weakref
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.base import leftovers, resources
from labapp.base.clock import NS
from labapp.base.errors import LabappError, RecordError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.reading.files import UnreadableFileError
from labapp.base.reading.values import json_value
from labapp.record.audio.alignment import Anchor, ClockFit, fit_clock
from labapp.record.audio.capture import FRAME_BYTES, HEADER_BYTES, wav_header
from labapp.record.events import Payload
from labapp.record.events.voice import AudioBlock, AudioGap, AudioStarted, AudioStopped

OpenFile = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens a file of a session by its name, such as `Tree.open`."""

LARGEST_HEADER = 1 << 16
"""Bytes in which the samples of a WAV file begin. labapp's begin after 44."""
_PCM, _EXTENSIBLE = 1, 0xFFFE
_CHUNK_HEAD = struct.Struct("<4sI")
_FORMAT_HEAD = struct.Struct("<HHIIHH")


class Samples(Protocol):
    """Mono sound of which a part can be had."""

    @property
    def size(self) -> int:
        """How many samples there are."""
        ...

    def __getitem__(self, part: slice, /) -> NDArray[np.int16]: ...


@dataclass(frozen=True, slots=True)
class WavForm:
    """Where the samples of a WAV file lie.

    Attributes
    ----------
    rate : frames a second; 0 if the header never reached the disk.
    first_byte : of the samples.
    frames : as the length of the file says: the header of a killed run is a second old.
    """

    rate: int
    first_byte: int
    frames: int


class WavSamples:
    """The samples of a WAV file, 16 bits and mono; from any thread. Raises OSError: it cannot be
    read, or is no such file; the text is the reason in words.

    Parameters
    ----------
    opened : context manager of a binary stream
        The file; of one that is no file on a disk, such as a member of an archive, a temporary copy
        is made.
    """

    def __init__(self, opened: AbstractContextManager[IO[bytes]]) -> None:
        with opened as stream:
            self._file = _own(stream)
        self._lock = threading.Lock()
        # If somebody forgets to close it, nothing stays open either.
        self._close = weakref.finalize(self, os.close, self._file)
        try:
            self.form = _form(self._file)
        except OSError:
            self._close()
            raise

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.form.frames

    def __getitem__(self, part: slice, /) -> NDArray[np.int16]:
        """Samples [start, stop), (n,) int16; fewer where the file ends, or cannot be read any more.
        A step is not taken."""
        start, stop, _ = part.indices(self.size)
        wanted = max(0, stop - start) * FRAME_BYTES
        content = self._bytes(self.form.first_byte + start * FRAME_BYTES, wanted)
        return np.frombuffer(content[: len(content) // FRAME_BYTES * FRAME_BYTES], "<i2")

    def head(self) -> bytes:
        """What the file has before its samples."""
        return self._bytes(0, self.form.first_byte)

    def tail(self) -> bytes:
        """What it has behind them; of what labapp wrote at most half a sample."""
        first = self.form.first_byte + self.size * FRAME_BYTES
        return self._bytes(first, max(0, self.stat().st_size - first))

    def _bytes(self, place: int, size: int) -> bytes:
        with self._lock:
            return _read(self._file, place, size) if self._close.alive else b""

    def stat(self) -> os.stat_result:
        """Of the open file. Raises OSError if it was closed."""
        with self._lock:
            if not self._close.alive:
                raise _no_sound("it is closed")
            return os.fstat(self._file)

    def close(self) -> None:
        """Give the file back. Harmless when closed before."""
        with self._lock:
            self._close()


def _own(stream: IO[bytes]) -> int:
    """A descriptor of our own of the file, which outlasts the stream."""
    try:
        return os.dup(stream.fileno())
    except (io.UnsupportedOperation, AttributeError):
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
            copy.flush()
            return os.dup(copy.fileno())


def _read(descriptor: int, place: int, size: int) -> bytes:
    """Bytes of a file at a place; fewer where it ends there, none if it cannot be read."""
    try:
        if hasattr(os, "pread"):
            return os.pread(descriptor, size, place)
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, size)
    except OSError:  # gone with its drive
        return b""


def _form(descriptor: int) -> WavForm:
    """Raises OSError for what is no WAV file with 16 bits and one channel."""
    size = os.fstat(descriptor).st_size
    head = _read(descriptor, 0, min(size, LARGEST_HEADER))
    if not head[:HEADER_BYTES].strip(b"\0"):
        # A killed run's: neither the header nor what it says had reached the disk.
        return WavForm(0, HEADER_BYTES, max(0, size - HEADER_BYTES) // FRAME_BYTES)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        raise _no_sound("it is not a WAV file")
    rate, at = 0, 12
    while at + _CHUNK_HEAD.size <= len(head):
        name, length = _CHUNK_HEAD.unpack_from(head, at)
        at += _CHUNK_HEAD.size
        if name == b"data":
            if not rate:
                break
            there = size - at
            # Of a file that labapp wrote the samples reach to its end.
            data = there if at == HEADER_BYTES else min(length, there)
            return WavForm(rate, at, data // FRAME_BYTES)
        if name == b"fmt ":
            if length < _FORMAT_HEAD.size or at + _FORMAT_HEAD.size > len(head):
                break
            encoding, channels, rate, _, _, bits = _FORMAT_HEAD.unpack_from(head, at)
            if encoding not in (_PCM, _EXTENSIBLE) or (channels, bits) != (1, 8 * FRAME_BYTES):
                raise _no_sound(
                    f"it has {channels} channels of {bits} bits, instead of one channel of 16 bits"
                )
        at += length + length % 2
    raise _no_sound("its header is damaged")


def _no_sound(why: str) -> OSError:
    return UnreadableFileError(errno.EINVAL, why)


Stretch = tuple[int, int]
"""Session time in ns; half-open."""

DEFAULT_RATE = 48_000
SHORTEST_GAP_NS = 20_000_000
LATEST_NS = 120 * NS
"""So much sound there can be after the last event: what waited for the disk when a run was killed
(see `WavWriter`)."""
_SAME_RATE = 1e-3


@dataclass(frozen=True, slots=True)
class SoundSpan:
    """A sound file on the session's clock. t0_ns, t1_ns: session time of its first frame, and of
    the end of its last; file: its name in the session's folder."""

    t0_ns: int
    t1_ns: int
    file: str


@dataclass(frozen=True, slots=True)
class _Placed:
    span: SoundSpan
    fit: ClockFit
    samples: WavSamples
    frames: int


class RecordedSound:
    """The sound of a session.

    Parameters
    ----------
    open_file : opens a sound file by its name in the session's folder (`Record.tree.open`).
    payloads : the events of the sound (`audio.*`) in the journal's order.
    end_ns : session time of the last event.
    silenced : stretches of session time that are not to be heard: zeros are read there.
    placed : what the payloads say, if that is known already; they are not looked at then.

    Attributes
    ----------
    begin_ns, end_ns : int
        Session time of the session's beginning, and of its last event or sound.
    spans : tuple of SoundSpan
        What can be heard, in order of time; none overlaps another.
    gaps : tuple of (int, int, str)
        Session time and cause of each stretch without sound: the cause of an `audio.gap`, or
        not_recorded, missing, unreadable (the file), other_file (than the one recorded), no_time
        (it has no place in time) or cut_off (it ends too early).
    rate : int
        Frames a second of what is read: the highest of any file.
    problems : tuple of Message
        What is wrong with the files, for people; empty if nothing is.
    """

    def __init__(
        self,
        open_file: OpenFile,
        payloads: Iterable[Payload],
        end_ns: int,
        silenced: Iterable[Stretch] = (),
        *,
        placed: Sequence[PlacedFile] | None = None,
    ) -> None:
        self._open_file = open_file
        self._latest_ns = end_ns + LATEST_NS
        self._placed: list[_Placed] = []
        self.begin_ns = 0
        self.silenced = tuple(sorted(silenced))
        problems: list[Message] = []
        absent: list[tuple[int, int, str]] = []
        for file in place_files(payloads) if placed is None else placed:
            problem = self._place(file, absent)
            if problem is not None:
                problems.append(problem)
        self._without_overlap()
        self.problems = tuple(problems)
        self.spans = tuple(placed.span for placed in self._placed)
        self.rate = max((p.fit.nominal_rate for p in self._placed), default=DEFAULT_RATE)
        self.end_ns = max([end_ns, *(span.t1_ns for span in self.spans)])
        self.gaps = self._all_gaps(absent)

    def read(self, t0_ns: int, frames: int) -> NDArray[np.int16]:
        """Sound from a session time on.

        Parameters
        ----------
        t0_ns : session time of the first frame; it may lie before the beginning or after the end.
        frames : how many, at `rate`.

        Returns
        -------
        (frames,) int16
            Zeros where nothing was recorded. The samples are the file's own, with one left out or
            doubled now and then where the sound card's clock was not the computer's; of a file of
            another rate they are interpolated.
        """
        heard = np.zeros(max(0, frames), np.int16)
        end_ns = t0_ns + round(frames * NS / self.rate)
        for placed in self._placed:
            if placed.span.t0_ns < end_ns and t0_ns < placed.span.t1_ns:
                self._read_from(placed, t0_ns, heard)
        for begins, ends in self.silenced:
            if begins < end_ns and t0_ns < ends:
                first = max(0, int(np.floor((begins - t0_ns) * self.rate / NS)))
                last = max(0, int(np.ceil((ends - t0_ns) * self.rate / NS)))
                heard[first:last] = 0
        return heard

    def fit(self, file: str) -> ClockFit:
        """Where the frames of a file of `spans` lie in time. Raises KeyError for another file."""
        return self._of(file).fit

    def samples(self, file: str) -> WavSamples:
        """The samples of a file of `spans`. Raises KeyError for another file."""
        return self._of(file).samples

    def silence(self, stretches: Iterable[Stretch]) -> None:
        """Let these be heard no more, from the next time on that something is read."""
        self.silenced = tuple(sorted((*self.silenced, *stretches)))

    def close(self) -> None:
        """Give the files back; nothing but silence is read afterwards. Harmless when closed
        before."""
        for placed in self._placed:
            placed.samples.close()

    def _of(self, file: str) -> _Placed:
        for placed in self._placed:
            if placed.span.file == file:
                return placed
        raise KeyError(file)

    def _place(self, file: PlacedFile, absent: list[tuple[int, int, str]]) -> Message | None:
        """Open a file and put it in its place; what is wrong with it, if anything is."""
        try:
            fit = file.fit()
        except LabappError as error:
            return Message("sound_file_no_time", file=file.name, why=error.what)
        whole = (fit.frame_to_ns(0), fit.frame_to_ns(file.expected))
        try:
            samples = WavSamples(self._open_file(file.name))
        except (LabappError, OSError, ValueError) as error:
            causes = (error, error.__cause__)
            if any(isinstance(cause, FileNotFoundError | NotADirectoryError) for cause in causes):
                absent.append((*whole, "missing"))
                return Message("sound_file_missing", file=file.name)
            absent.append((*whole, "unreadable"))
            why = error.what if isinstance(error, LabappError) else str(error)
            return Message("sound_file_unreadable", file=file.name, why=why)
        if samples.form.rate not in (0, file.rate) and not _same(self._open_file, file):
            samples.close()
            absent.append((*whole, "other_file"))
            return Message(
                "sound_file_other", file=file.name, rate=samples.form.rate, recorded=file.rate
            )
        frames = samples.size if file.stopped_at is None else min(samples.size, file.stopped_at)
        begins, ends = fit.frame_to_ns(0), min(fit.frame_to_ns(frames), self._latest_ns)
        if frames and ends >= 0 and begins < ends:
            span = SoundSpan(max(0, begins), ends, file.name)
            self._placed.append(_Placed(span, fit, samples, frames))
        else:
            samples.close()
        for first, lost, cause in file.gaps:
            last = min(first + lost, frames)
            absent.append((fit.frame_to_ns(first), fit.frame_to_ns(last), cause))
        if frames < file.expected:
            absent.append((fit.frame_to_ns(frames), whole[1], "cut_off"))
            seconds = f"{(file.expected - frames) / file.rate:.1f}"
            return Message("sound_file_cut", file=file.name, seconds=seconds)
        if file.stopped_at is not None and samples.size > file.stopped_at:
            seconds = f"{(samples.size - file.stopped_at) / file.rate:.1f}"
            return Message("sound_file_longer", file=file.name, seconds=seconds)
        return None

    def _without_overlap(self) -> None:
        """In order of time; a file ends where the next begins."""
        in_order = sorted(self._placed, key=lambda placed: placed.span.t0_ns)
        self._placed = []
        for number, placed in enumerate(in_order):
            later = in_order[number + 1].span.t0_ns if number + 1 < len(in_order) else None
            span = placed.span
            if later is not None and later < span.t1_ns:
                span = SoundSpan(span.t0_ns, later, span.file)
            if span.t0_ns < span.t1_ns:
                self._placed.append(_Placed(span, placed.fit, placed.samples, placed.frames))
            else:
                placed.samples.close()

    def _all_gaps(self, absent: list[tuple[int, int, str]]) -> tuple[tuple[int, int, str], ...]:
        """The gaps that are known, and what no file covers, in order of time."""
        known = sorted(
            (max(self.begin_ns, begins), min(self.end_ns, ends), cause)
            for begins, ends, cause in absent
            if min(self.end_ns, ends) - max(self.begin_ns, begins) >= SHORTEST_GAP_NS
        )
        covered = sorted([(s.t0_ns, s.t1_ns) for s in self.spans] + [gap[:2] for gap in known])
        at = self.begin_ns
        for begins, ends in [*covered, (self.end_ns, self.end_ns)]:
            if begins - at >= SHORTEST_GAP_NS:
                known.append((at, begins, "not_recorded"))
            at = max(at, ends)
        return tuple(sorted(known))

    def _read_from(self, placed: _Placed, t0_ns: int, heard: NDArray[np.int16]) -> None:
        """Fill in what a file has of the frames from `t0_ns` on."""
        span, fit = placed.span, placed.fit
        first = max(0, -((t0_ns - span.t0_ns) * self.rate // NS))
        last = min(heard.size, -((t0_ns - span.t1_ns) * self.rate // NS))
        if first >= last:
            return
        step = fit.rate / self.rate
        start = (t0_ns - fit.offset_ns) * fit.rate / NS + first * step
        place = start + np.arange(last - first) * step
        same = abs(step - 1.0) < _SAME_RATE
        lowest = max(0, int(np.floor(place[0])))
        samples = placed.samples[lowest : min(placed.frames, int(np.ceil(place[-1])) + 2)]
        if samples.size == 0:
            return
        if same:
            index = np.rint(place).astype(np.int64) - lowest
            inside = (index >= 0) & (index < samples.size)
            heard[first:last][inside] = samples[index[inside]]
        else:
            known = np.arange(lowest, lowest + samples.size)
            values = np.interp(place, known, samples, left=0.0, right=0.0)
            heard[first:last] = np.rint(values).astype(np.int16)


def _same(open_file: OpenFile, file: PlacedFile) -> bool:
    """Whether a file begins with the sound that was recorded, although its header says another rate
    than the journal."""
    if file.first_block is None:
        return False
    try:
        with open_file(file.name) as stream:
            stream.seek(HEADER_BYTES + file.first_block.first_frame * FRAME_BYTES)
            return fits(stream, file.first_block) is True
    except (LabappError, OSError, ValueError):
        return False


LOWEST_RATE, HIGHEST_RATE = 1_000, 768_000
"""Frames a second that a recording can have."""
_FORMAT = 1


@dataclass(slots=True)
class PlacedFile:
    """A sound file as the journal knows it.

    Attributes
    ----------
    name : in the session's folder.
    rate : frames a second, as stated.
    anchors : in order of their frames.
    gaps : first frame, number of frames and cause of each stretch of silence put in for lost sound.
    first_block : by which the file can be told from another.
    frames : on the disk by the last block.
    stopped_at : frames when it was closed; None after a killed run.
    known_fit : where its frames lie in time, if that was found before.
    """

    name: str
    rate: int
    anchors: list[Anchor] = field(default_factory=list)
    gaps: list[tuple[int, int, str]] = field(default_factory=list)
    first_block: AudioBlock | None = None
    frames: int = 0
    stopped_at: int | None = None
    known_fit: ClockFit | None = None

    @property
    def expected(self) -> int:
        """Frames that it should have at least."""
        return self.frames if self.stopped_at is None else self.stopped_at

    def fit(self) -> ClockFit:
        """Where its frames lie in time. Raises RecordError if nothing says it."""
        if self.known_fit is not None:
            return self.known_fit
        if not LOWEST_RATE <= self.rate <= HIGHEST_RATE:
            raise RecordError(f"{self.name} cannot have {self.rate} frames per second.")
        breaks = (first + frames for first, frames, _ in self.gaps)
        self.known_fit = fit_clock(self.anchors, self.rate, breaks)
        return self.known_fit


def place_files(payloads: Iterable[Payload]) -> list[PlacedFile]:
    """Fold the sound's events, in the journal's order; others are passed over."""
    placed: dict[str, PlacedFile] = {}
    for payload in payloads:
        match payload:
            case AudioStarted():
                new = PlacedFile(payload.file, payload.nominal_rate)
                placed.setdefault(payload.file, new)
            case AudioBlock() if payload.file in placed:
                file = placed[payload.file]
                file.anchors.extend(payload.anchors)
                file.first_block = file.first_block or payload
                file.frames = max(file.frames, payload.frames)
            case AudioGap() if payload.file in placed and payload.frames > 0:
                gap = (payload.at_frame, payload.frames, payload.cause)
                placed[payload.file].gaps.append(gap)
            case AudioStopped() if payload.file in placed:
                placed[payload.file].stopped_at = payload.frames
            case _:
                pass
    return list(placed.values())


def encode_files(placed: Iterable[PlacedFile]) -> bytes | None:
    """Files as bytes, with their fits in place of the anchors; None if one of them has none."""
    entries = []
    for file in placed:
        if file.known_fit is None:
            return None
        entry = asdict(file)
        del entry["anchors"]
        if file.first_block is not None:
            entry["first_block"]["anchors"] = []
        entries.append(entry)
    return json.dumps({"format": _FORMAT, "files": entries}).encode()


def decode_files(content: bytes) -> list[PlacedFile] | None:
    """The files that `encode_files` wrote in this version; None for anything else."""
    try:
        value: Any = json_value(content)
        if value["format"] != _FORMAT:
            return None
        return [
            PlacedFile(
                **entry
                | {
                    "gaps": [(int(at), int(frames), str(why)) for at, frames, why in entry["gaps"]],
                    "first_block": entry["first_block"] and AudioBlock(**entry["first_block"]),
                    "known_fit": ClockFit(**entry["known_fit"]),
                }
            )
            for entry in value["files"]
        ]
    except (ValueError, TypeError, LookupError):
        return None


_DIGEST = 32


def place(kind: str, name: str) -> Path:
    """Where something of a kind is kept; kind: a folder of the cache."""
    return resources.cache_root() / kind / name


def get(path: Path, largest: int) -> bytes | None:
    """What was put there; None if that is nothing, damaged or of more than `largest` bytes."""
    try:
        content = files.content(path, largest + _DIGEST)
    except OSError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def put(path: Path, body: bytes) -> None:
    """Keep something, as a whole or not at all. A cache that cannot be written to is done
    without."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(leftovers.prefix_in(path.parent, "draft") + uuid.uuid4().hex)
        try:
            draft.write_bytes(body + hashlib.sha256(body).digest())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


_CHUNK = 1 << 20


def method(block: AudioBlock) -> str:
    """Name of the checksum that the block's event carries."""
    return "SHA-256" if block.sha256 or block.crc32 is None else "CRC-32"


def fits(stream: IO[bytes], block: AudioBlock) -> bool | None:
    """Whether a stream holds the sound of a block; None if the stream ends before the block does.

    stream : positioned at the block's first byte. It is read in pieces, because a block can be
        hours of silence after a machine slept.
    """
    sha256, crc32 = hashlib.sha256(), 0
    has_sha256 = method(block) == "SHA-256"
    left = (block.frames - block.first_frame) * FRAME_BYTES
    while left > 0:
        data = stream.read(min(left, _CHUNK))
        if not data:
            return None
        if has_sha256:
            sha256.update(data)
        else:
            crc32 = zlib.crc32(data, crc32)
        left -= len(data)
    return sha256.hexdigest() == block.sha256 if has_sha256 else crc32 == block.crc32


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
    written (cut off or changed). Reads only. Raises OSError: the file is missing or cannot be
    read."""
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
        f"{path} is not a sound file recorded by labapp.",
        safe="It was not touched.",
        todo="Move it out of the session's audio folder.",
    )
