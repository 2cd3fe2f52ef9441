"""Pictures and sound of a video file, by FFmpeg (PyAV), which the extra `video` brings.

The kind of file is told by its first bytes, and FFmpeg may take it for no other: so no list of
addresses that calls itself a video is followed, and nothing is ever fetched.

Pictures of a session's videos by session time, decoded by a thread of their own.

The viewer asks for the newest time and is told a picture once it is there: nobody waits for
a video, and what was asked for before and is not wanted any more is left.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import LabappError, VideoError
from labapp.base.installation import install_command
from labapp.base.messages import Message

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

    from labapp.coding.annotations.video_files import PlacedVideo


OpenVideo = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens the file for reading bytes."""

SOUND_RATE = 8000
"""Frames a second of the sound that is read: speech has what matters below 4 kHz."""
MOST_PIXELS = 8192 * 4608
LONGEST_S = 24 * 3600.0
NEAR_S = 1.0
THREADS = 4
"""At most, of the decoder: each takes in a picture before the first comes out."""
EXACT_S, EXACT_PICTURES = 0.3, THREADS + 8
"""So near the time that is wanted every picture is decoded, in s or in pictures: those that were
taken in, and those that wait for later ones to be shown in order."""
GAP_S = 0.05
"""The sound goes on elsewhere where its times jump by more than this."""
JUMP_S = 1800.0
"""A time that is further off than this was damaged: it is passed over."""
_HEAD = 256
_PACKET, _STAMPED = 188, 192
"""Bytes of a packet of MPEG-TS, and of one with a time before it."""


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What a video is.

    Attributes
    ----------
    duration_s : from its beginning to the end of the last picture that is there.
    width, height : as it is seen, in pixels.
    has_sound : whether it has a track of sound.
    """

    duration_s: float
    width: int
    height: int
    has_sound: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a video.

    begins_s, ends_s: time of the video at which it is shown; pixels: red, green and blue, shape
    (height, width, 3).
    """

    begins_s: float
    ends_s: float
    pixels: NDArray[np.uint8]


def is_installed() -> bool:
    """Whether videos can be read here."""
    return find_spec("av") is not None


def require() -> None:
    """Raises VideoError if the extra is not installed."""
    if not is_installed():
        raise VideoError(
            "Videos cannot be read here: the package av (PyAV) is not installed.",
            todo=f"Install it: {install_command('video')}",
        )


def format_of(head: bytes) -> tuple[str, str]:
    """FFmpeg's name of the kind of a file, and the ending of its name; empty if it is no video
    that is known. head: its first bytes, some 256 or more."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
        return "mov", ".mov" if head[8:10] == b"qt" else ".mp4"
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "matroska", ".webm" if b"webm" in head[:64] else ".mkv"
    for start, ending in _STARTS.items():
        if head.startswith(start):
            return ending
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi", ".avi"
    for first, step in ((0, _PACKET), (4, _STAMPED)):
        if head[first : first + 1] == b"G" == head[first + step : first + step + 1]:
            return "mpegts", ".ts"
    return "", ""


_STARTS = {
    b"\0\0\1\xba": ("mpeg", ".mpg"),
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": ("asf", ".wmv"),
    b"OggS": ("ogg", ".ogv"),
    b"FLV": ("flv", ".flv"),
}


class OpenedVideo:
    """A video that is open: its pictures by time, and its sound.

    Made by `open_for_decoding`; it is used by one thread at a time.

    Attributes
    ----------
    ending : that the name of such a file has.
    width, height : as it is seen, in pixels.
    near_s : so far ahead it is gone on to, and not sought.
    """

    def __init__(self, container: InputContainer, ending: str, name: str) -> None:
        self._container, self._name = container, name
        self.ending = ending
        if not container.streams.video:
            raise _no_video(name, Message("video_no_picture"))
        self._stream: VideoStream = container.streams.video[0]
        codec = self._stream.codec_context
        if codec is None:
            raise _no_video(name, Message("video_no_codec"))
        if not 0 < codec.width * codec.height <= MOST_PIXELS:
            raise _no_video(name, Message("video_pixels", width=codec.width, height=codec.height))
        # A later picture of it may say that it is larger.
        codec.options = {"max_pixels": str(MOST_PIXELS)}
        self._stream.thread_type = "AUTO"
        codec.thread_count = min(THREADS, (os.cpu_count() or 1) + 1)
        self._origin_s = (container.start_time or 0) / 1_000_000
        self._exact_s = max(EXACT_S, EXACT_PICTURES / float(self._stream.average_rate or 25))
        self.near_s = NEAR_S
        self._frames: Iterator[VideoFrame] | None = None
        self._shown: VideoFrame | None = None
        self._coming: VideoFrame | None = None
        first = self._first()
        turned = first is not None and abs(first.rotation) == 90
        ratio = self._stream.sample_aspect_ratio or 1
        seen = (max(1, round(codec.width * float(ratio))), codec.height)
        self.width, self.height = seen[::-1] if turned else seen

    @property
    def has_sound(self) -> bool:
        return self._sound is not None

    @property
    def _sound(self) -> AudioStream | None:
        """The first track of sound that can be read."""
        tracks = self._container.streams.audio
        return next((track for track in tracks if getattr(track, "codec_context", None)), None)

    # --- pictures -----------------------------------------------------------------------------

    def picture_at(
        self, t_s: float, room: tuple[int, int], stop: Callable[[], bool] = lambda: False
    ) -> Picture | None:
        """The picture that is shown at a time of the video.

        room: width and height into which it is made to fit, in pixels; it is not made larger.
        stop: asked between two pictures whether this one is not wanted any more; then, or if
        there is none, it gives None. Raises VideoError if the file cannot be read there.
        """
        with self._report_errors():
            if not self._is_near(t_s):
                self._seek(t_s)
            while self._coming is not None and (coming := self._time(self._coming)) <= t_s:
                self._skip(t_s - coming > self._exact_s)
                self._advance()
                if stop():
                    return None
            if self._shown is None:
                self._advance()
            return None if self._shown is None else self._picture(self._shown, room)

    def _is_near(self, t_s: float) -> bool:
        """Whether going on from the picture that is shown is quicker than seeking."""
        if self._shown is None or self._coming is None:
            return self._shown is not None and self._time(self._shown) <= t_s
        return self._time(self._shown) <= t_s < self._time(self._coming) + self.near_s

    def _skip(self, far: bool) -> None:
        """Decode only what other pictures are made from, as long as the time is far."""
        self._stream.codec_context.skip_frame = "NONREF" if far else "DEFAULT"

    def _seek(self, t_s: float) -> None:
        stream = self._stream
        self._shown = self._coming = self._frames = None
        self._skip(False)
        # A file whose index is wrong lands behind the time: then a little further back.
        for back in (0.0, 2.0, 10.0, LONGEST_S):
            target = max(0.0, t_s - back) + self._origin_s
            self._container.seek(int(target / float(stream.time_base or 1)), stream=stream)
            self._frames = self._decode_frames()
            self._coming = next(self._frames, None)
            if self._coming is not None and self._time(self._coming) <= t_s:
                break
            if target <= self._origin_s:
                break
        if self._coming is not None:
            # So far pictures are from one that can be gone to: going on is quicker than seeking.
            self.near_s = max(self.near_s, t_s - self._time(self._coming))
        self._advance()

    def _first(self) -> VideoFrame | None:
        with self._report_errors():
            self._frames = self._decode_frames()
            self._coming = next(self._frames, None)
            if self._coming is None:
                raise _no_video(self._name, Message("video_no_readable"))
            self._advance()
            return self._shown

    def _advance(self) -> None:
        """The coming picture is the one that is shown."""
        assert self._frames is not None
        self._shown, self._coming = self._coming, next(self._frames, None)

    def _decode_frames(self) -> Iterator[VideoFrame]:
        """Pictures with a time; what of them is damaged is left out."""
        invalid = _invalid()
        for packet in self._container.demux(self._stream):
            try:
                for frame in packet.decode():
                    if frame.pts is not None:
                        yield frame
            except invalid:
                continue

    def _time(self, frame: VideoFrame) -> float:
        return float(frame.time or 0.0) - self._origin_s

    def _picture(self, frame: VideoFrame, room: tuple[int, int]) -> Picture:
        turns = round((frame.rotation or 0) / 90) % 4
        ratio = float(self._stream.sample_aspect_ratio or 1)
        width, height = frame.width * ratio, float(frame.height)
        wide, high = room[::-1] if turns % 2 else room
        scale = min(1.0, wide / width, high / height)
        size = (max(2, round(width * scale)), max(2, round(height * scale)))
        pixels = np.asarray(frame.reformat(*size, format="rgb24").to_ndarray(), np.uint8)
        if turns:
            pixels = np.ascontiguousarray(np.rot90(pixels, turns))
        begins = self._time(frame)
        ends = begins + 1 / 25 if self._coming is None else self._time(self._coming)
        return Picture(begins, ends, pixels)

    # --- sound --------------------------------------------------------------------------------

    def sound(self, rate: int = SOUND_RATE) -> Iterator[tuple[float, NDArray[np.int16]]]:
        """Its sound from the beginning to the end, mono at a rate in Hz, each piece with the time
        of the video of its first sample in s, which never goes back."""
        if self._sound is not None:
            with self._report_errors():
                yield from self._resample_audio(self._sound, rate)

    def _resample_audio(
        self, stream: AudioStream, rate: int
    ) -> Iterator[tuple[float, NDArray[np.int16]]]:
        from av.audio.resampler import AudioResampler

        self._container.seek(0)
        self._shown = self._coming = self._frames = None
        resampler: Any = None
        before: tuple[str, str, int] | None = None
        begins = written = expected = 0.0
        invalid = _invalid()
        for packet in self._container.demux(stream):
            try:
                frames = packet.decode()
            except invalid:
                continue
            for frame in frames:
                at = expected if frame.time is None else float(frame.time) - self._origin_s
                if abs(at - expected) > JUMP_S:
                    at = expected
                form = frame.format.name, frame.layout.name, frame.sample_rate
                if form != before or abs(at - expected) > GAP_S:
                    before = form
                    resampler = AudioResampler(format="s16", layout="mono", rate=rate)
                    begins, written = max(at, expected), 0.0
                    if at < expected - GAP_S:  # the same time twice
                        continue
                expected = at + frame.samples / frame.sample_rate
                frame.pts = None
                for part in resampler.resample(frame):
                    samples = part.to_ndarray().reshape(-1)
                    yield begins + written / rate, samples
                    written += samples.size
                if expected > LONGEST_S:
                    raise _no_video(self._name, Message("video_long"))

    def length_s(self) -> float:
        """Time from its beginning to the end of the last picture that is in the file, whatever its
        head says. Raises VideoError."""
        ends = 0.0
        with self._report_errors():
            self._container.seek(0)
            self._shown = self._coming = self._frames = None
            for packet in self._container.demux(self._stream):
                if packet.pts is None:
                    continue
                after = float((packet.pts + (packet.duration or 0)) * packet.time_base)
                if after - self._origin_s <= ends + JUMP_S:
                    ends = max(ends, after - self._origin_s)
        if ends > LONGEST_S:
            raise _no_video(self._name, Message("video_long"))
        return ends

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        try:
            yield
        except LabappError:
            raise
        except _damages() as error:
            raise _no_video(self._name, Message("video_ffmpeg", why=_why(error))) from error


@contextmanager
def open_for_decoding(open_video: OpenVideo, name: str) -> Iterator[OpenedVideo]:
    """A video, open. Raises VideoError: PyAV is not installed, the file cannot be read, or it is no
    video.

    Parameters
    ----------
    open_video : opens its file.
    name : of the file, for what is said of it.
    """
    require()
    import av

    try:
        with open_video() as stream:
            head = stream.read(_HEAD)
            kind, ending = format_of(head)
            if not kind:
                raise _no_video(name, _other(head))
            stream.seek(0)
            with av.open(stream, "r", format=kind) as container:
                yield OpenedVideo(container, ending, name)
    except LabappError:
        raise
    except _damages() as error:
        raise _no_video(name, _why(error)) from error


def facts_of(video: OpenedVideo) -> VideoFacts:
    """What an open video is; its file is read to the end. Raises VideoError."""
    return VideoFacts(video.length_s(), video.width, video.height, video.has_sound)


def _invalid() -> tuple[type[Exception], ...]:
    """What is raised for a damaged part of a stream, behind which it goes on."""
    from av.error import InvalidDataError

    return (InvalidDataError,)


def _damages() -> tuple[type[Exception], ...]:
    """What is raised for a file that is damaged as a whole; PyAV looks for streams that a damaged
    packet names, and computes with times that it states."""
    from av import FFmpegError

    return (FFmpegError, OSError, ValueError, LookupError, ArithmeticError, MemoryError)


def _other(head: bytes) -> str:
    if not head:
        return Message("video_empty")
    if head.startswith((b"#EXTM3U", b"ffconcat")):
        return Message("video_list")
    return Message("video_other")


def _why(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return Message("video_memory")
    if isinstance(error, OSError) and error.errno == errno.ENOENT:
        return Message("video_gone")
    return str(getattr(error, "strerror", "") or error)


def _no_video(name: str, why: str) -> VideoError:
    return VideoError(Message("video_unreadable", name=name, why=why), todo=Message("video_play"))


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """What a video shows.

    Attributes
    ----------
    begins_ns, ends_ns : session time from which and up to which the picture is the right one.
    picture : None if it cannot be had.
    problem : why it cannot.
    """

    begins_ns: int
    ends_ns: int
    picture: Picture | None
    problem: LabappError | None = None


class VideoFeed:
    """A video that is shown; told: told each picture, by the thread that decodes."""

    def __init__(
        self, placed: PlacedVideo, open_video: OpenVideo, told: Callable[[ShownPicture], None]
    ) -> None:
        self.placed = placed
        self._open_video, self._told = open_video, told
        self._wake = threading.Condition()
        self._wanted: tuple[float, tuple[int, int]] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def want(self, t_ns: int, room: tuple[int, int]) -> None:
        """Ask for the picture at a session time, to fit into so many pixels; what was asked for
        before is forgotten."""
        with self._wake:
            if self._closed:
                return
            self._wanted = self.placed.alignment.video_s(t_ns), room
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="video", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        """Let the file go. Harmless when closed before."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(5.0)

    def _run(self) -> None:
        with ExitStack() as held:
            try:
                video = held.enter_context(
                    open_for_decoding(self._open_video, self.placed.video.file)
                )
            except LabappError as error:
                self._tell(ShownPicture(*self.placed.stretch_ns, None, error))
                return
            self._serve(video)

    def _serve(self, video: OpenedVideo) -> None:
        last: tuple[Picture, tuple[int, int]] | None = None
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._wanted is not None)
                if self._closed or self._wanted is None:
                    return
                (t_s, room), self._wanted = self._wanted, None
            if last is not None and room == last[1] and last[0].begins_s <= t_s < last[0].ends_s:
                continue  # it is there
            try:
                picture = video.picture_at(t_s, room, partial(self._is_past, t_s, video))
            except LabappError as error:
                at_ns = self.placed.alignment.session_ns(t_s)
                self._tell(ShownPicture(at_ns, at_ns + 1, None, error))
                continue
            if picture is not None:
                last = picture, room
                session_ns = self.placed.alignment.session_ns
                stretch = session_ns(picture.begins_s), session_ns(picture.ends_s)
                self._tell(ShownPicture(*stretch, picture))

    def _is_past(self, t_s: float, video: OpenedVideo) -> bool:
        """Whether another time is wanted by now, to which this one is not on the way."""
        wanted = self._wanted
        return self._closed or (wanted is not None and not t_s <= wanted[0] < t_s + video.near_s)

    def _tell(self, shown: ShownPicture) -> None:
        if not self._closed:
            self._told(shown)
