"""Videos are added to a session, placed on its clock, and taken away again.

A video is copied, never moved, and nothing is written over: the session itself is not touched. Its
copy has its name only once it is whole and on the disk.

Where a video lies on a session's clock, by the sound that is in both.

First stretches of some minutes are looked for in the whole session: their places must agree with
each other. Then stretches of some seconds are placed exactly near where that says, and a line is
put through them that a false place does not move: an offset, and how much faster one clock goes.

What two recordings of the same speech have in common, whatever the microphones: how the loudness
of each band of frequencies goes up and down.

Levels, timbre, an automatic gain and steady noise are taken out; what is left is compared by
correlation. A feature has a value every 5 ms.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import resample_poly

from labapp import __version__
from labapp.base import access, durable, leftovers
from labapp.base.clock import NS
from labapp.base.errors import VideoError, VideoNotFound
from labapp.base.reading import files
from labapp.coding.annotations.model import check_rater
from labapp.coding.annotations.segmenting import sound_of
from labapp.coding.annotations.video_files import (
    USE,
    PlacedVideo,
    Video,
    VideoAlignment,
    VideosFile,
    has_video_consent,
    list_file,
    videos_folder,
    videos_of,
)
from labapp.coding.videos.decoding import (
    SOUND_RATE,
    OpenedVideo,
    facts_of,
    open_for_decoding,
    require,
)
from labapp.record.audio.alignment import huber_line
from labapp.record.audio.recorded_sound import RecordedSound
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record

TOOL = f"labapp {__version__}"
BY_HAND = "--offset SECONDS"
_CHUNK = 4 * files.MIB
_SPARE = 64 * files.MIB
"""Bytes that are left free on the disk."""
MOST_DAYS_S = 24 * 3600.0

Tell = Callable[[float | None, str], None]
"""Told the share that is done, 0 to 1, and what is being done."""


def add_video(
    session: Path,
    file: Path,
    *,
    offset_s: float | None = None,
    drift_ppm: float = 0.0,
    by: str = "",
    tell: Tell = lambda share, what: None,
) -> PlacedVideo:
    """Copy a video to a session, where it lies on its clock. Raises VideoError: the participant did
    not agree to a video, the file is none, its place cannot be told by its sound, or it cannot be
    copied; AnnotationError: the session's list of videos cannot be read or written, or the name is
    none.

    Parameters
    ----------
    offset_s : session time of its beginning, set by hand; it is looked for by the sound if it is
        left out.
    drift_ppm : by hand: how much more session time passes than time of the video, in millionths.
    by : who adds it.
    """
    record = _record(session, by)
    require()
    before = _status(file)
    with open_for_decoding(lambda: files.open_file(file), file.name) as video:
        tell(None, "looking through the video")
        facts, ending = facts_of(video), video.ending
        alignment = (
            _by_sound(record, video, by, tell)
            if offset_s is None
            else by_hand(offset_s, drift_ppm, by)
        )
    folder = videos_folder(session)
    with VideosFile(list_file(session)) as known:
        leftovers.clear(folder, leftovers.DRAFT, 0.0)  # the list is locked: nobody else writes
        number, path = 0, folder
        while not number or files.exists(path):  # a crash may have left a file without its line
            number = max(number + 1, int(known.next_id.removeprefix("video-")))
            path = folder / f"video-{number}{ending}"
        with _copy_whole(file, path, before, tell) as (draft, sha256):
            for placed in known.videos.values():
                if placed.video.sha256 == sha256:
                    raise VideoError(
                        f"{file.name} was already added as {placed.video.id} of {record.name}.",
                        todo="Place it again, or delete it first: *Files*, *Videos…* on the Coding "
                        "page (`labapp videos align`).",
                    )
            durable.take_name(draft, path)
        new = Video(
            f"video-{number}",
            path.name,
            sha256,
            before.st_size,
            round(facts.duration_s, 6),
            facts.width,
            facts.height,
            facts.has_sound,
            record.rows[-1].hash,
            by,
            TOOL,
        )
        return known.add(new, alignment)


def align_video(
    session: Path,
    video_id: str,
    *,
    offset_s: float | None = None,
    drift_ppm: float = 0.0,
    by: str = "",
    tell: Tell = lambda share, what: None,
) -> PlacedVideo:
    """Place a video of a session again, by its sound or by hand; see `add_video`. Raises
    VideoError, AnnotationError: as there; the place that it had stays."""
    record = _record(session, by)
    placed = next((each for each in videos_of(record) if each.video.id == video_id), None)
    if placed is None:
        raise _unknown(record, video_id)
    path = videos_folder(session) / placed.video.file
    if offset_s is None:
        with open_for_decoding(
            lambda: files.open_file(path, follow=False), placed.video.file
        ) as video:
            alignment = _by_sound(record, video, by, tell)
    else:
        alignment = by_hand(offset_s, drift_ppm, by)
    with VideosFile(list_file(session)) as known:
        return known.align(video_id, alignment)


def remove_video(session: Path, video_id: str, *, by: str = "") -> None:
    """Delete a video of a session. Raises VideoError: there is none of this name, or it could not
    be deleted; AnnotationError: the list cannot be read or written."""
    record = _record(session, by, consent=False)
    if not files.exists(list_file(session)):
        raise _unknown(record, video_id)
    with VideosFile(list_file(session)) as known:
        if video_id not in known.videos:
            raise _unknown(record, video_id)
        path = videos_folder(session) / known.videos[video_id].video.file
        known.remove(video_id, by)
        known.flush()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise VideoError(
                f"{path} could not be deleted ({error.strerror or error}).",
                safe="It is no longer shown or exported.",
                todo="Close the program that has it open, and delete the file.",
            ) from error


def check_consent(record: Record) -> None:
    """Raises VideoError if the participant did not agree to a video."""
    if has_video_consent(record):
        return
    asked = USE in record.outline.agreed
    what = "did not agree to a video" if asked else "was not asked for a video"
    raise VideoError(
        f"The participant of {record.name} {what}.",
        todo="Delete the video, or keep it separate from the study."
        if asked
        else "Ask for it in the consent form of the next sessions: `consent: items: {video: "
        "optional}`. Without this consent, no video can be added.",
    )


def by_hand(offset_s: float, drift_ppm: float, by: str) -> VideoAlignment:
    """A place that somebody set. Raises VideoError for one that cannot be."""
    if not (abs(offset_s) <= MOST_DAYS_S and abs(drift_ppm) <= WRONGEST_PPM):
        raise VideoError(
            f"A video cannot begin at {offset_s:g} s, or run slower by {drift_ppm:g} parts per "
            "million.",
            todo="Give the session time at which it begins in seconds (at most a day), and a "
            f"drift of at most {WRONGEST_PPM:g}.",
        )
    return VideoAlignment(offset_s, drift_ppm, by=by, tool=TOOL)


def _record(session: Path, by: str, *, consent: bool = True) -> Record:
    """The session, if a video of it may be worked on."""
    if by:
        check_rater(by)
    record = open_record(session)
    if record.kind != "session":
        raise VideoError(
            f"{session} is a bundle, and labapp does not change bundles.",
            todo="Name the session in the study's folder.",
        )
    if record.running:
        raise VideoError(f"{record.name} is being recorded.", todo="Wait until it is over.")
    if record.withdrawn:
        raise VideoError(
            f"The participant of {record.name} withdrew, so no video of them can be added.",
            todo="Delete the video.",
        )
    if consent:
        check_consent(record)
    return record


def _unknown(record: Record, video_id: str) -> VideoNotFound:
    return VideoNotFound(
        f"{record.name} has no video {video_id!r}.",
        todo="*Files*, *Videos…* on the Coding page (`labapp videos list "
        f"{record.name}`) lists its videos.",
    )


# --- where it lies --------------------------------------------------------------------------------


def _by_sound(record: Record, video: OpenedVideo, by: str, tell: Tell) -> VideoAlignment:
    match = _match(record, video, tell)
    wrong = match.unapplied
    return VideoAlignment(
        round(match.offset_s, 6),
        round(match.drift_ppm, 3),
        "sound",
        round(match.residual_ms, 3),
        round(match.residual_max_ms, 3),
        round(match.confidence, 4),
        match.stretches,
        by,
        TOOL,
        None if wrong is None else round(wrong.offset_s, 6),
        0.0 if wrong is None else round(wrong.drift_ppm, 3),
    )


def _match(record: Record, video: OpenedVideo, tell: Tell) -> SoundMatch:
    if not video.has_sound:
        raise _not_heard("the video has no sound")
    sound = sound_of(record)
    try:
        if not sound.spans:
            raise _not_heard(f"{record.name} has no sound with which it could be compared")
        tell(None, "listening to the video")
        heard = video_features(video)
        if heard.present.sum() * HOP_S < LEAST_SOUND_S:
            raise _not_heard(f"it has less than {LEAST_SOUND_S:g} s of sound")
        recorded = None
        for step in session_features(sound):
            if isinstance(step, Features):
                recorded = step
            else:
                tell(step, "listening to the session")
        assert recorded is not None
    finally:
        sound.close()
    tell(None, "comparing them")
    match = align(heard, recorded)
    if isinstance(match, WrongClock):
        raise VideoError(
            f"The video's clock is off by {match.drift_ppm * 1e-4:+.2f} % "
            f"({match.drift_ppm:+.0f} ppm), but those of cameras are off by at most {MOST_PPM:g} "
            "ppm. The video may have been converted to another frame rate, or not recorded in "
            "one piece.",
            todo="Add the file as the camera made it. Or place this one by hand, and check that "
            f"picture and sound are in sync: --offset {match.offset_s:.3f} --drift "
            f"{match.drift_ppm:.0f}.",
        )
    if match is None:
        raise _not_heard("its sound does not clearly match the sound recorded in the session")
    return match


def video_features(video: OpenedVideo) -> Features:
    """How the loudness of a video's sound goes up and down. Raises VideoError."""
    builder = FeatureBuilder()
    for t_s, samples in video.sound():
        first = round(t_s * SOUND_RATE)
        if first < 0:  # what a coder put before the beginning
            samples, first = samples[-first:], 0
        builder.add(first, samples)
    return builder.finish()


def _not_heard(why: str) -> VideoError:
    return VideoError(
        f"The place of the video in the session cannot be found from its sound: {why}.",
        todo="Make sure that it is the video of this session. If so, give the session time of "
        "its beginning, in seconds: in the window *Videos…* of the Coding page, or with "
        f"{BY_HAND}. The replay window shows session times.",
    )


# --- the copy -------------------------------------------------------------------------------------


def _status(file: Path) -> os.stat_result:
    try:
        with files.open_file(file) as stream:
            return os.fstat(stream.fileno())
    except OSError as error:
        raise VideoError(
            f"{file} cannot be read ({error.strerror or error}).", todo="Name the video file."
        ) from error


@contextmanager
def _copy_whole(
    file: Path, path: Path, before: os.stat_result, tell: Tell
) -> Iterator[tuple[Path, str]]:
    """A whole copy beside its place, and its SHA-256; it is removed unless it got its name."""
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        if shutil.disk_usage(path.parent).free < before.st_size + _SPARE:
            raise OSError(errno.ENOSPC, "the disk is full")
        digest, size = hashlib.sha256(), 0
        with files.open_file(file) as source, access.create(draft) as target:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
                tell(min(1.0, size / max(1, before.st_size)), "copying the video")
            after = os.fstat(source.fileno())
            target.flush()
            os.fsync(target.fileno())
        if (size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise VideoError(
                f"{file} was changed while it was read.",
                todo="Add it when no program is writing to it any more.",
            )
        yield draft, digest.hexdigest()
    except durable.NotConfirmedError as error:
        leftovers.drop(path)
        raise VideoError(
            f"{file} was copied to {path.parent}, but {error.strerror}.",
            safe="The original video is untouched, and the copy was removed.",
            todo="Check this disk, and add the video again.",
        ) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise VideoError(
            f"{file} could not be copied to {path.parent} "
            f"({'the disk is full' if full else error.strerror or error}).",
            safe="The original video is untouched, and nothing of the copy is left.",
            todo="Free some space on this disk."
            if full
            else "Make sure that you may read it and write there.",
        ) from error
    finally:
        leftovers.drop(draft)


HOP_S = 0.005
HOP = round(HOP_S * SOUND_RATE)
WINDOW = 4 * HOP
"""Samples of which a value is made."""
EDGES_HZ = (150.0, 300.0, 450.0, 650.0, 900.0, 1300.0, 1800.0, 2500.0, 3600.0)
"""Of the bands."""
BANDS = len(EDGES_HZ) - 1
AROUND_S = 1.0
"""Loudness is compared with the mean of so much time around it."""
FLOOR = 20.0
"""Per cent of the time that are softer than what is listened to."""
RISE = 2
"""A rise is over so many values on either side."""
PAUSE_S = 4.0
"""Zeros for longer are no pause of somebody who speaks."""
_BLOCK = 8192
_QUIETEST = 1e-3
_READ_S = 20
_MARGIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Features:
    """How the loudness of a recording goes up and down. values: (BANDS, n) float32, 0 where there
    is no sound; present: (n,) bool, where there is sound: neither lost, nor exact zeros for
    long."""

    values: NDArray[np.float32]
    present: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many values a band has, one every `HOP_S` from time 0 on."""
        return int(self.present.size)

    def coarser(self, by: int) -> Features:
        """The means of so many values each."""
        size = self.size // by * by
        values = self.values[:, :size].reshape(BANDS, -1, by).mean(axis=2)
        present = self.present[:size].reshape(-1, by)
        return Features(values, np.asarray(np.all(present, axis=1), np.bool_))

    def rises(self) -> Features:
        """How much louder the sound becomes. The echoes of a room shift the onset of a sound less
        than the whole sound."""
        values = np.zeros_like(self.values)
        step = RISE
        if self.size > 2 * step:
            rise = self.values[:, 2 * step :] - self.values[:, : -2 * step]
            values[:, step:-step] = np.maximum(rise, 0.0)
        values -= values[:, self.present].mean(axis=1, keepdims=True) if self.present.any() else 0.0
        values *= self.present
        return Features(values, self.present)


class FeatureBuilder:
    """Makes features of sound that comes piece by piece, in order of time."""

    def __init__(self) -> None:
        self._levels: list[NDArray[np.float32]] = []
        self._present: list[NDArray[np.bool_]] = []
        self._pending = np.zeros(WINDOW // 2, np.float32)
        """From half a window before the middle of the next value on."""
        self._taken = 0
        self._shape = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
        rates = np.fft.rfftfreq(WINDOW, 1 / SOUND_RATE)
        self._bands = np.array(
            [(low <= rates) & (rates < high) for low, high in pairwise(EDGES_HZ)], np.float32
        )

    def add(self, first: int, samples: NDArray[np.int16]) -> None:
        """Take in sound. first: the place of its first sample, at `SOUND_RATE`; what lies before
        the sound that came already is left out, what is missing is silence."""
        if first < self._taken:
            samples = samples[self._taken - first :]
            first = self._taken
        while first > self._taken:
            zeros = min(first - self._taken, _BLOCK * HOP)
            self._take(np.zeros(zeros, np.float32))
        self._take(samples.astype(np.float32))

    def _take(self, samples: NDArray[np.float32]) -> None:
        self._taken += samples.size
        self._pending = np.concatenate((self._pending, samples))
        while self._pending.size >= _BLOCK * HOP + WINDOW:
            self._make(_BLOCK)

    def _make(self, count: int) -> None:
        views = np.lib.stride_tricks.sliding_window_view(self._pending, WINDOW)[::HOP][:count]
        power = np.abs(np.fft.rfft(views * self._shape, axis=1)).astype(np.float32) ** 2
        self._levels.append(np.log10(power @ self._bands.T + _QUIETEST).astype(np.float32).T)
        self._present.append(np.asarray(np.any(views, axis=1), np.bool_))
        self._pending = self._pending[count * HOP :]

    def finish(self) -> Features:
        """The features of all that came."""
        count = max(0, (self._pending.size - WINDOW) // HOP + 1)
        if count:
            self._make(count)
        if not self._levels:
            return Features(np.zeros((BANDS, 0), np.float32), np.zeros(0, np.bool_))
        levels = np.concatenate(self._levels, axis=1)
        sounding = np.concatenate(self._present)
        present = _with_pauses(sounding)
        self._levels.clear()
        for band in levels:
            band[:] = _contrast(band, sounding, present)
        return Features(levels, present)


def _with_pauses(sounding: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where there is sound, short silences within it too: some microphones give zeros where nobody
    speaks."""
    present = sounding.copy()
    places = np.flatnonzero(sounding)
    apart = np.diff(places)
    for at in np.flatnonzero((apart > 1) & (apart <= round(PAUSE_S / HOP_S))):
        present[places[at] : places[at + 1]] = True
    return present


def _contrast(
    levels: NDArray[np.float32], sounding: NDArray[np.bool_], present: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """How much louder than around it a band is, in units of its usual change."""
    if not sounding.any():
        return np.zeros_like(levels)
    floor = float(np.percentile(levels[sounding], FLOOR))
    above = np.where(present, np.maximum(levels - floor, 0.0), 0.0)
    half = round(AROUND_S / HOP_S / 2)
    mean = _sums(above, half) / np.maximum(_sums(present.astype(np.float64), half), 1.0)
    contrast = np.where(present, above - mean, 0.0)
    spread = float(np.sqrt(np.mean(contrast[present] ** 2)))
    return np.clip(contrast / (spread or 1.0), -4.0, 4.0).astype(np.float32)


def _sums(values: NDArray[np.float64], half: int) -> NDArray[np.float64]:
    """Of each value and so many on either side of it."""
    total = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    places = np.arange(values.size)
    upper = np.minimum(places + half + 1, values.size)
    result: NDArray[np.float64] = total[upper] - total[np.maximum(places - half, 0)]
    return result


def session_features(sound: RecordedSound) -> Iterator[float | Features]:
    """The features of a session's sound on its clock: shares that are done, and at last them."""
    builder = FeatureBuilder()
    divisor = gcd(SOUND_RATE, sound.rate)
    up, down = SOUND_RATE // divisor, sound.rate // divisor
    margin = round(_MARGIN_S * SOUND_RATE)
    end = sound.end_ns * SOUND_RATE // NS
    for first in range(0, int(end), _READ_S * SOUND_RATE):
        count = min(_READ_S * SOUND_RATE, int(end) - first)
        begin_ns = (first - margin) * NS // SOUND_RATE
        frames = -(-(count + 2 * margin) * down // up)
        heard = sound.read(begin_ns, frames)
        if heard.any():
            samples = heard.astype(np.float32)
            if up != down:
                samples = resample_poly(samples, up, down).astype(np.float32)
            silent = samples[margin : margin + count]
            builder.add(first, np.rint(silent).clip(-32768, 32767).astype(np.int16))
        else:
            builder.add(first, np.zeros(count, np.int16))
        yield (first + count) / end
    yield builder.finish()


COARSE = 4
"""So many values of a feature are one if the whole session is looked through."""
COARSE_HOP_S = COARSE * HOP_S
LONG_S = 180.0
MOST_LONG = 40
SHORT_S, SHORTEST_S = 15.0, 4.0
MOST_SHORT = 300
SEARCH_S = 0.4
LEAST_SOUND_S = 10.0
"""Of the video: less says too little."""
MOST_PPM = 1000.0
"""Clocks of cameras and sound cards differ by less."""
WRONGEST_PPM = 10_000.0
"""What goes further wrong than this is no clock, and cannot be set by hand either."""
AGREE_S = 0.15
OUTLIER_S = 0.1
ON_LINE_S = 0.04
"""What lies so far from the line is not beside it: pictures and sound are seen as together."""
LEAST_DRIFT_S = 120.0
"""Over less time a drift cannot be told from the noise of the places."""
OFF_MS = 5.0
"""Median distance from the line above which a clock that is off is looked for: true places lie
within some milliseconds of it."""
LEAST_STRETCHES = 3
LEAST_CONFIDENCE = 0.6
_LEAST_VOICE = 0.3
_HEARD = 0.75
"""Of a short stretch must have sound to be compared."""
_APART_S = 1.0
_CLEARER = 1.25
_LEAST_R, _LEAST_COARSE_R = 0.15, 0.06
_SHARE = 0.5
"""Of a stretch must have sound in both."""


@dataclass(frozen=True, slots=True)
class SoundMatch:
    """Where a video lies, by its sound.

    Attributes
    ----------
    offset_s : session time of its beginning, in s.
    drift_ppm : how much more session time passes than time of the video, in millionths; 0 if the
        video is too short to tell.
    residual_ms, residual_max_ms : median and largest distance of the stretches from the line.
    confidence : share of the stretches that lie on the line.
    stretches : how many were compared: those in which somebody speaks in both.
    unapplied : how the video's clock seems to go if it is too short to correct that.
    """

    offset_s: float
    drift_ppm: float
    residual_ms: float
    residual_max_ms: float
    confidence: float
    stretches: int
    unapplied: WrongClock | None = None


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A clock of a video that goes so wrong that the video was not placed by it: the line on which
    its stretches do lie. Offset and drift as in `SoundMatch`."""

    offset_s: float
    drift_ppm: float


class _Correlation:
    """Finds a stretch of one sound in another one."""

    def __init__(self, whole: Features, longest: int) -> None:
        self._whole, self._longest = whole, longest
        self._size = next_fast_len(whole.size + 2 * longest, real=True)
        self._bands = rfft(whole.values, self._size, axis=1)
        self._energy = rfft((whole.values**2).sum(axis=0), self._size)
        self._present = rfft(whole.present.astype(np.float32), self._size)

    def with_stretch(self, values: NDArray[np.float32], present: NDArray[np.bool_]) -> _Places:
        """How alike the stretch is to every place of the whole, from -1 to 1."""
        size = self._size
        alike = (np.conj(rfft(values, size, axis=1)) * self._bands).sum(axis=0)
        mask = np.conj(rfft(present.astype(np.float32), size))
        energy = np.conj(rfft((values**2).sum(axis=0), size))
        product, own, other, both = (
            irfft(spectrum, size)
            for spectrum in (
                alike,
                energy * self._present,
                mask * self._energy,
                mask * self._present,
            )
        )
        least = _SHARE * max(1, int(present.sum()))
        scale = np.sqrt(np.maximum(own, 0.0) * np.maximum(other, 0.0))
        r = np.where((both >= least) & (scale > 1e-3 * present.sum()), product, 0.0)
        r = np.divide(r, scale, out=np.zeros_like(r), where=scale > 1e-3 * present.sum())
        # Places before the beginning of the whole stand at the end of the circle.
        return _Places(np.concatenate((r[-self._longest :], r[: self._whole.size])), self._longest)


@dataclass(frozen=True, slots=True)
class _Places:
    """How alike a stretch is to each place. before: places before the beginning of the whole."""

    r: NDArray[np.float32]
    before: int

    def within(self, low: int, high: int) -> _Places:
        first = min(max(0, low + self.before), self.r.size)
        return _Places(self.r[first : max(first, high + self.before)], self.before - first)

    def best(self, apart: int) -> tuple[float, float, float]:
        """The place of the best, between two values; how good it is, and the best one that is not
        near it."""
        if self.r.size < 3:
            return 0.0, 0.0, 0.0
        at = int(np.argmax(self.r))
        others = np.concatenate((self.r[: max(0, at - apart)], self.r[at + apart + 1 :]))
        second = float(others.max()) if others.size else 0.0
        place = float(at)
        if 0 < at < self.r.size - 1:
            left, peak, right = (float(value) for value in self.r[at - 1 : at + 2])
            curve = left - 2 * peak + right
            place += 0.5 * (left - right) / curve if curve < 0 else 0.0
        return place - self.before, float(self.r[at]), second


def align(video: Features, session: Features) -> SoundMatch | WrongClock | None:
    """Where the sound of a video lies in that of a session.

    Parameters
    ----------
    video, session : each from time 0 of its own clock on.

    Returns
    -------
    A WrongClock if its place is clear and its clock goes by more than MOST_PPM wrong; None if
    no place is clearly better than all others.
    """
    if video.present.sum() * HOP_S < LEAST_SOUND_S or not session.present.any():
        return None
    coarse = _coarse(video.coarser(COARSE), session.coarser(COARSE))
    if coarse is None:
        return None
    # Beginnings of sounds are exact in an echoing room; in much noise they are not to be told.
    by_rises = _fine(video, session, *coarse, rises=True)
    if isinstance(by_rises, SoundMatch):
        return by_rises
    by_loudness = _fine(video, session, *coarse, rises=False)
    return by_loudness if isinstance(by_loudness, SoundMatch) else by_rises or by_loudness


def _coarse(video: Features, session: Features) -> tuple[float, float] | None:
    """Offset in s and drift (a pure number) by long stretches of the video."""
    length = min(round(LONG_S / COARSE_HOP_S), video.size)
    step = max(length, video.size // MOST_LONG)
    correlation = _Correlation(session, length)
    times, offsets, weights = [], [], []
    for first in range(0, max(1, video.size - length // 2), step):
        part = slice(first, first + length)
        present = video.present[part]
        if present.mean() < _SHARE:
            continue
        places = correlation.with_stretch(video.values[:, part], present)
        place, r, second = places.best(round(_APART_S / COARSE_HOP_S))
        if r >= _LEAST_COARSE_R and r >= _CLEARER * max(second, 0.0):
            times.append((first + present.size / 2) * COARSE_HOP_S)
            offsets.append((place - first) * COARSE_HOP_S)
            weights.append(r)
    if not times:
        return None
    t, o, w = np.array(times), np.array(offsets), np.array(weights)
    near = np.abs(o[:, None] - o) <= AGREE_S + MOST_PPM * 1e-6 * np.abs(t[:, None] - t)
    votes = near @ w
    agreeing = near[int(np.argmax(votes))]
    if votes.max() < _SHARE * w.sum():
        return None
    return _steady_line(t[agreeing], o[agreeing])


def _fine(
    video: Features, session: Features, level: float, slope: float, *, rises: bool
) -> SoundMatch | WrongClock | None:
    """By short stretches near where the long ones lie. rises: compare how sounds begin, and not
    all of their loudness."""
    total_s = video.size * HOP_S
    length_s = min(max(total_s / 4, SHORTEST_S), SHORT_S)
    step_s = max(length_s / 2, total_s / MOST_SHORT)
    length, search = round(length_s / HOP_S), round(SEARCH_S / HOP_S)
    heard, recorded = (video.rises(), session.rises()) if rises else (video, session)
    times, offsets = [], []
    compared = 0
    for begin_s in np.arange(0.0, max(total_s - length_s, 0.0) + HOP_S, step_s):
        first = round(float(begin_s) / HOP_S)
        expected = first + round((level + slope * (begin_s + length_s / 2)) / HOP_S)
        if min(_voice(video, first, length), _voice(session, expected, length)) < _LEAST_VOICE:
            continue
        compared += 1
        start, end = max(0, expected - search), expected + search + length
        near = Features(recorded.values[:, start:end], recorded.present[start:end])
        part = slice(first, first + length)
        places = _Correlation(near, length).with_stretch(heard.values[:, part], heard.present[part])
        low = expected - search - start
        place, r, second = places.within(low, low + 2 * search + 1).best(
            round(2 * ON_LINE_S / HOP_S)
        )
        if r >= _LEAST_R and r >= _CLEARER * max(second, 0.0):
            times.append(float(begin_s) + length_s / 2)
            offsets.append((start + place - first) * HOP_S)
    if len(times) < LEAST_STRETCHES:
        return None
    return _line(np.array(times), np.array(offsets), compared)


def _voice(sound: Features, first: int, length: int) -> float:
    """How much the loudness of a stretch changes, in units of what is usual in its recording; 0
    if a good part of it has no sound."""
    part = slice(max(0, first), max(0, first + length))
    if sound.present[part].sum() < _HEARD * length:
        return 0.0
    return float((sound.values[:, part] ** 2).mean())


def _line(
    t: NDArray[np.float64], o: NDArray[np.float64], compared: int
) -> SoundMatch | WrongClock | None:
    level, slope = _steady_line(t, o)
    near = np.abs(level + slope * t - o) <= OUTLIER_S
    if near.sum() < LEAST_STRETCHES:
        return _wrong_clock(t, o, compared, np.inf)
    centre = float(t[near].mean())
    if np.ptp(t[near]) >= LEAST_DRIFT_S:
        level, slope = huber_line(t[near] - centre, o[near])
    else:
        level, slope = float(np.median(o[near])), 0.0
    distance = np.abs(level + slope * (t - centre) - o)
    confidence = float((distance <= ON_LINE_S).sum()) / compared
    median_s = float(np.median(distance))
    if confidence < LEAST_CONFIDENCE or abs(slope) > MOST_PPM * 1e-6:
        return _wrong_clock(t, o, compared, np.inf)
    return SoundMatch(
        offset_s=level - slope * centre,
        drift_ppm=slope * 1e6,
        residual_ms=median_s * 1e3,
        residual_max_ms=float(distance.max()) * 1e3,
        confidence=confidence,
        stretches=compared,
        unapplied=_wrong_clock(t, o, compared, median_s),
    )


def _wrong_clock(
    t: NDArray[np.float64], o: NDArray[np.float64], compared: int, median_s: float
) -> WrongClock | None:
    """The line of any slope on which the stretches lie, if they lie on it much better than in
    the median `median_s` from the one that was looked for."""
    if median_s * 1e3 <= OFF_MS or t.size < LEAST_STRETCHES:
        return None
    first, second = np.triu_indices(t.size, 1)
    slope = float(np.median((o[second] - o[first]) / (t[second] - t[first])))
    level = float(np.median(o - slope * t))
    distance = np.abs(level + slope * t - o)
    clear = (distance <= ON_LINE_S / 2).sum() >= LEAST_CONFIDENCE * compared
    better = 2 * float(np.median(distance)) < median_s
    if not np.isfinite(median_s):  # not placed at all: for this, or for something else?
        better = MOST_PPM < abs(slope) * 1e6 <= WRONGEST_PPM
    return WrongClock(level, slope * 1e6) if clear and better else None


def _steady_line(t: NDArray[np.float64], o: NDArray[np.float64]) -> tuple[float, float]:
    """Level at 0 and slope by the medians of all pairs (Theil and Sen), which a third of false
    places does not move."""
    first, second = np.triu_indices(t.size, 1)
    apart = np.abs(t[second] - t[first]) >= LEAST_DRIFT_S
    slope = 0.0
    if apart.any():
        slopes = (o[second] - o[first])[apart] / (t[second] - t[first])[apart]
        slope = float(np.clip(np.median(slopes), -MOST_PPM * 1e-6, MOST_PPM * 1e-6))
    return float(np.median(o - slope * t)), slope
