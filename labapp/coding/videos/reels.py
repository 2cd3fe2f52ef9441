"""Stretches of sessions one after another as a file to be shown: a clip of one, a reel of several.

A `.wav` has only the sound. An `.mp4` also has the pictures of the participants' videos, and is
black where there is none. Consent decides for each session whether something of it goes in. What
is redacted is silent and black. A table next to the file says what it holds, and where.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from labapp.base import access, durable, leftovers
from labapp.base.clock import NS
from labapp.base.errors import DataFolderError, LabappError, TargetExists, UsageError
from labapp.base.reading import files, tables
from labapp.base.reading.tables import write_csv
from labapp.coding.annotations.model import time_ns, time_text
from labapp.coding.annotations.redacting import note_handed_out, session_folders
from labapp.coding.annotations.store import annotations_of
from labapp.coding.annotations.video_files import PlacedVideo, video_tree, videos_of
from labapp.coding.sound import FRAME_NS, SessionSound, refuse_unallowed
from labapp.coding.videos.decoding import OpenedVideo, Picture, open_for_decoding, require
from labapp.record.audio.capture import WavWriter
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.video.stream import VideoStream

REEL = "reel"
SOUND, FILM = ".wav", ".mp4"
RATE = 48_000
"""Frames of sound a second."""
PICTURES = 25
"""Pictures a second."""
GAP_S = 0.6
"""Silence between two stretches."""
MOST_SIZE = (1280, 720)
LEAST_SIZE = (320, 240)
LIST_COLUMNS = ("session", "begin", "end", "label")
LARGEST_LIST = 1024 * 1024
_NAME_A_TABLE = "Give a table with the columns session, begin and end."
INDEX = ("at_s", "until_s", "participant", "session", "begin", "end", "label")

Tell = Callable[[float | None, str], None]


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of a session. session: its folder; t0_ns, t1_ns: session time; label: what it is
    shown for, as the name of a code."""

    session: Path
    t0_ns: int
    t1_ns: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Reel:
    """What was written.

    Attributes
    ----------
    index : the table of what it holds.
    cuts : what is in it, in order.
    filmed : how many of them have a picture of a video.
    left_out : sessions, and why nothing of them is in it.
    """

    path: Path
    index: Path
    cuts: tuple[Cut, ...]
    duration_s: float
    filmed: int
    left_out: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": str(self.path),
            "index": str(self.index),
            "stretches": len(self.cuts),
            "filmed": self.filmed,
            "duration_s": round(self.duration_s, 3),
            "left_out": [{"session": name, "why": why} for name, why in self.left_out],
        }

    def lines(self) -> list[str]:
        """For people."""
        told = [f"Left out: {name}: {why}" for name, why in self.left_out]
        if self.path.suffix == FILM:
            told.append(f"{self.filmed} of {len(self.cuts)} stretches have a picture.")
        told.append(f"{len(self.cuts)} stretches, {self.duration_s:.1f} s: {self.path}")
        return told


def read_list(study: Path, path: Path) -> list[Cut]:
    """The stretches in a table with the columns session, begin and end, and a label if there is
    one. study: the folder of the sessions. Raises UsageError, ExchangeError."""
    try:
        table = tables.read(files.content(path, LARGEST_LIST), padded=True)
        places = table.columns(LIST_COLUMNS[:3], LIST_COLUMNS)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror or error}).", todo=_NAME_A_TABLE
        ) from error
    except tables.TableError as error:
        what = f"{path} is not a list of stretches: {error.what}."
        raise UsageError(what, todo=f"{error.todo}.") from error
    cuts = []
    for _, cells in table.rows:
        row = {column: cells[place].strip() for column, place in places.items()}
        begin, end = time_ns(row["begin"]), time_ns(row["end"])
        cuts.append(Cut(study / row["session"], begin, end, row.get("label", "")))
    return cuts


def write_list(path: Path, cuts: Sequence[Cut]) -> None:
    """Write the table that `read_list` reads. Raises OSError."""
    text = io.StringIO()
    rows = ((c.session.name, time_text(c.t0_ns, 9), time_text(c.t1_ns, 9), c.label) for c in cuts)
    write_csv(text, LIST_COLUMNS, rows)
    with access.create(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))


def write_reel(
    cuts: Sequence[Cut], path: Path, *, gap_s: float = GAP_S, tell: Tell = lambda share, what: None
) -> Reel:
    """Write stretches of sessions, one after another, as a file that is not there yet.

    Parameters
    ----------
    path : `.wav` for the sound only, `.mp4` for the pictures of videos, too.
    gap_s : silence between two of them, in s.
    tell : gets the share done, and what is being done; what it raises ends the work.

    Raises
    ------
    TargetExists : the file or its table is there already.
    UsageError : its ending is none of these, or the times are not in the session.
    LabappError : nothing may be shown, nothing was recorded there, or it cannot be written.
    """
    if path.suffix.casefold() not in (SOUND, FILM):
        raise UsageError(
            f"{path.name} is neither a .wav nor an .mp4 file.",
            safe="Nothing was written.",
            todo="Choose a name that ends in .wav for the sound, or in .mp4 for sound and videos.",
        )
    film = path.suffix.casefold() == FILM
    if film:
        require()
    index = path.with_suffix(".csv")
    refuse_inside(path)
    for place in (path, index):
        if place.exists():
            raise TargetExists(
                f"{place} exists already.", safe="It was not changed.", todo="Choose another name."
            )
    with ExitStack() as stack:
        sources, left_out = _open_sources(cuts, stack, film=film)
        chosen = [cut for cut in cuts if cut.session in sources]
        filmed = sum(bool(sources[cut.session].filmed(cut)) for cut in chosen)
        _refuse_nothing(chosen, left_out, film=film, filmed=filmed)
        folders = session_folders(*(source.record for source in sources.values()))
        leftovers.clear_of(folders)
        by_study: dict[Path, list[str]] = {}
        for folder in folders:
            by_study.setdefault(folder.parent, []).append(folder.name)
        for study, names in by_study.items():
            note_handed_out(study, REEL, path, names)
        try:
            with leftovers.on_its_way(folders, path, index) as (draft, draft_index):
                writer = _Film(draft, chosen, sources) if film else _Sound(draft)
                rows, at = [], 0.0
                with writer:
                    for number, cut in enumerate(chosen):
                        share = number / len(chosen)
                        tell(share, f"{cut.session.name}, {time_text(cut.t0_ns)}")
                        source = sources[cut.session]
                        if number:
                            writer.rest(gap_s)
                            at += gap_s
                        writer.add(source, cut, partial(_tell_within, tell, share, len(chosen)))
                        length = (cut.t1_ns - cut.t0_ns) / NS
                        rows.append(_row(at, length, source.record, cut))
                        at += length
                text = io.StringIO()
                write_csv(text, INDEX, rows)
                durable.write(draft_index, text.getvalue().encode("utf-8"))
                durable.take_name(draft, path)
                durable.take_name(draft_index, index)
        except OSError as error:
            raise DataFolderError.unwritten(
                "The reel", path, error, "The sessions are untouched."
            ) from error
    return Reel(path, index, tuple(chosen), at, filmed, tuple(left_out))


def _tell_within(tell: Tell, share: float, count: int, part: float) -> None:
    tell(share + part / count, "")


def _row(at: float, length: float, record: Record, cut: Cut) -> tuple[Any, ...]:
    times = time_text(cut.t0_ns, 3), time_text(cut.t1_ns, 3)
    places = round(at, 3), round(at + length, 3)
    return (*places, record.participant, record.session, *times, cut.label)


def _refuse_nothing(
    chosen: Sequence[Cut], left_out: Sequence[tuple[str, str]], *, film: bool, filmed: int
) -> None:
    if not chosen:
        why = " ".join(f"{name}: {what}" for name, what in left_out)
        raise LabappError(
            f"Nothing in the list may be shown. {why}".rstrip(),
            safe="Nothing was written.",
            todo="Choose stretches of sessions whose participants agreed to share their voice.",
        )
    if film and not filmed:
        raise LabappError(
            "No video shows any of these stretches.",
            safe="Nothing was written.",
            todo="To write only the sound, choose a name that ends in .wav. Or add a video of "
            "the participant.",
        )


class _Source:
    """What is cut from: the sound and the videos of a session.

    Raises LabappError if its participant does not allow it.
    """

    def __init__(self, folder: Path, stack: ExitStack, *, film: bool) -> None:
        self.record = open_record(folder)
        refuse_unallowed(self.record)
        self.redacted = [
            (r.t0_ns - FRAME_NS, r.t1_ns + FRAME_NS) for r in annotations_of(self.record).redactions
        ]
        self.sound = SessionSound(self.record, self.redacted)
        self.sound.rate = RATE
        stack.callback(self.sound.close)
        self._opened: dict[str, OpenedVideo] = {}
        self._stack = stack
        self._videos: list[PlacedVideo] = []
        if film:
            self._tree = video_tree(self.record)
            self._videos = [v for v in videos_of(self.record) if self._tree.has(v.video.file)]

    def filmed(self, cut: Cut) -> list[PlacedVideo]:
        """The videos that show something of a stretch."""
        spans = ((video, *video.stretch_ns) for video in self._videos)
        return [video for video, a, b in spans if a < cut.t1_ns and cut.t0_ns < b]

    def size(self, placed: PlacedVideo) -> tuple[int, int]:
        return placed.video.width, placed.video.height

    def picture(self, placed: PlacedVideo, t_ns: int, room: tuple[int, int]) -> Picture | None:
        """What a video shows at a session time; nothing of what is redacted."""
        if any(a <= t_ns < b for a, b in self.redacted) or not placed.covers(t_ns):
            return None
        name = placed.video.file
        if name not in self._opened:
            opening = open_for_decoding(partial(self._tree.open, name), name)
            self._opened[name] = self._stack.enter_context(opening)
        return self._opened[name].picture_at(placed.alignment.video_s(t_ns), room)

    def parts(self, cut: Cut) -> Iterator[tuple[int, NDArray[np.int16]]]:
        """The sound of a stretch, a second at a time, each with the session time of its begin."""
        frames = round((cut.t1_ns - cut.t0_ns) * RATE / NS)
        for first in range(0, frames, RATE):
            at_ns = cut.t0_ns + round(first * NS / RATE)
            yield at_ns, self.sound.read(at_ns, min(RATE, frames - first)).astype(np.int16)


def _open_sources(
    cuts: Sequence[Cut], stack: ExitStack, *, film: bool
) -> tuple[dict[Path, _Source], list[tuple[str, str]]]:
    sources: dict[Path, _Source] = {}
    left_out: list[tuple[str, str]] = []
    for folder in dict.fromkeys(cut.session for cut in cuts):
        try:
            sources[folder] = _Source(folder, stack, film=film)
        except LabappError as error:
            left_out.append((folder.name, error.what))
    for cut in cuts:
        source = sources.get(cut.session)
        if source is not None and not 0 <= cut.t0_ns < cut.t1_ns <= source.sound.end_ns:
            raise UsageError(
                f"{time_text(cut.t0_ns)} to {time_text(cut.t1_ns)} is not within "
                f"{cut.session.name}, which ends at {time_text(source.sound.end_ns)}.",
                safe="Nothing was written.",
                todo="Give two times in the session, the earlier one first.",
            )
        if source is not None and not source.sound.spans:
            sources.pop(cut.session)
            left_out.append((cut.session.name, "it has no sound."))
    return sources, left_out


class _Sound:
    """A WAV of 16 bits, mono."""

    def __init__(self, path: Path) -> None:
        self._file = WavWriter(path, RATE)

    def __enter__(self) -> _Sound:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._file.sync()
        self._file.close()

    def rest(self, seconds: float) -> None:
        """Be silent."""
        self._append(np.zeros(round(seconds * RATE), np.int16))

    def add(self, source: _Source, cut: Cut, tell: Callable[[float], None]) -> None:
        """Add a stretch."""
        for at_ns, part in source.parts(cut):
            tell((at_ns - cut.t0_ns) / (cut.t1_ns - cut.t0_ns))
            self._append(part)

    def _append(self, part: NDArray[np.int16]) -> None:
        self._file.append(part.astype("<i2").tobytes())
        self._file.flush()


class _Film:
    """An MP4 that ordinary players show: H.264 if it can be written here, and AAC."""

    def __init__(self, path: Path, cuts: Sequence[Cut], sources: dict[Path, _Source]) -> None:
        import av
        from av.codec import codecs_available

        self._path = path
        self._size = _fitting(
            source.size(placed)
            for cut in cuts
            for source in (sources[cut.session],)
            for placed in source.filmed(cut)
        )
        self._out: OutputContainer = av.open(str(path), "w", format="mp4")
        names = ("libx264", "libopenh264", "mpeg4")
        codec = next(name for name in names if name in codecs_available)
        self._pictures = cast("VideoStream", self._out.add_stream(codec, rate=PICTURES))
        self._pictures.width, self._pictures.height = self._size
        self._pictures.pix_fmt = "yuv420p"
        voice = self._out.add_stream("aac", rate=RATE, layout="mono")
        self._voice: AudioStream = voice
        self._shown = self._heard = 0

    def __enter__(self) -> _Film:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            for stream in (self._pictures, self._voice):
                self._out.mux(stream.encode(None))
        self._out.close()
        if kind is None:
            durable.sync_file(self._path)

    def rest(self, seconds: float) -> None:
        """Be silent and black."""
        self._say(np.zeros(round(seconds * RATE), np.int16))
        self._catch_up(lambda at_s: None)

    def add(self, source: _Source, cut: Cut, tell: Callable[[float], None]) -> None:
        """Add a stretch."""
        begin_s = self._heard / RATE
        videos = source.filmed(cut)
        last: list[tuple[PlacedVideo, Picture]] = []

        def seen(at_s: float) -> NDArray[np.uint8] | None:
            t_ns = min(cut.t0_ns + round((at_s - begin_s) * NS), cut.t1_ns - 1)
            placed = next((video for video in videos if video.covers(t_ns)), None)
            if placed is None:
                return None
            if last and last[0][0] is placed and not source.redacted:
                known = last[0][1]
                if known.begins_s <= placed.alignment.video_s(t_ns) < known.ends_s:
                    return known.pixels
            picture = source.picture(placed, t_ns, self._size)
            last[:] = [] if picture is None else [(placed, picture)]
            return None if picture is None else picture.pixels

        for at_ns, part in source.parts(cut):
            tell((at_ns - cut.t0_ns) / (cut.t1_ns - cut.t0_ns))
            self._say(part)
            self._catch_up(seen)

    def _say(self, part: NDArray[np.int16]) -> None:
        from av.audio.frame import AudioFrame

        if not part.size:
            return
        frame = AudioFrame.from_ndarray(part[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._heard, Fraction(1, RATE)
        self._heard += part.size
        self._out.mux(self._voice.encode(frame))

    def _catch_up(self, seen: Callable[[float], NDArray[np.uint8] | None]) -> None:
        """Show pictures up to what is heard."""
        from av.video.frame import VideoFrame

        while self._shown / PICTURES < self._heard / RATE:
            canvas = np.zeros((self._size[1], self._size[0], 3), np.uint8)
            if (pixels := seen(self._shown / PICTURES)) is not None:
                wide, high = (
                    min(pixels.shape[1], self._size[0]),
                    min(pixels.shape[0], self._size[1]),
                )
                left, top = (self._size[0] - wide) // 2, (self._size[1] - high) // 2
                canvas[top : top + high, left : left + wide] = pixels[:high, :wide]
            frame = VideoFrame.from_ndarray(canvas, format="rgb24")
            frame.pts, frame.time_base = self._shown, Fraction(1, PICTURES)
            self._shown += 1
            self._out.mux(self._pictures.encode(frame))


def _fitting(sizes: Iterator[tuple[int, int]]) -> tuple[int, int]:
    """The size of the pictures: of the largest video, within what is shown anywhere, even."""
    wide, high = LEAST_SIZE
    for width, height in sizes:
        scale = min(1.0, MOST_SIZE[0] / width, MOST_SIZE[1] / height)
        wide, high = max(wide, round(width * scale)), max(high, round(height * scale))
    return wide + wide % 2, high + high % 2


def cuts_of(
    stretches: Sequence[Any], codes: Sequence[str] = (), most: int | None = None
) -> list[Cut]:
    """The stretches with one of these codes, or with any; `most` of each code. stretches: as
    `labapp.session.replay.lanes.retrieve` gives them."""
    counts: dict[str, int] = {}
    chosen = []
    for stretch in stretches:
        if not stretch.code or (codes and stretch.code not in codes):
            continue
        counts[stretch.code] = counts.get(stretch.code, 0) + 1
        if most is None or counts[stretch.code] <= most:
            cut = Cut(stretch.session, stretch.t0_ns, stretch.t1_ns, stretch.code)
            chosen.append(cut if cut.t1_ns > cut.t0_ns else replace(cut, t1_ns=cut.t0_ns + NS))
    return chosen
