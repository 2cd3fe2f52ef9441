"""Videos are added to a session, placed on its clock, and taken away again.

A video is copied, never moved, and nothing is written over: the session itself is not touched. Its
copy has its name only once it is whole and on the disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from labapp import __version__, access, durable, leftovers
from labapp.annotations.places import check_rater
from labapp.annotations.segmenting import sound_of
from labapp.annotations.video_files import (
    USE,
    PlacedVideo,
    Video,
    VideoAlignment,
    VideosFile,
    agreed_to_video,
    list_file,
    videos_folder,
    videos_of,
)
from labapp.errors import VideoError
from labapp.journal.opening import open_record
from labapp.journal.record import Record
from labapp.reading import files
from labapp.videos.alignment import (
    HOP_S,
    LEAST_SOUND_S,
    WRONGEST_PPM,
    FeatureBuilder,
    Features,
    SoundMatch,
    WrongClock,
    align,
    session_features,
)
from labapp.videos.alignment import MOST_PPM as USUAL_PPM
from labapp.videos.decoding import (
    SOUND_RATE,
    UNCHANGED,
    OpenedVideo,
    VideoFacts,
    facts_of,
    opened,
    require,
)

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
    """Copy a video to a session, where it lies on its clock.

    Parameters
    ----------
    session : its folder.
    file : the video, which stays as it is.
    offset_s : session time of its beginning, set by hand; it is looked for by the sound where it is
        left out.
    drift_ppm : by hand: how much more session time passes than time of the video, in millionths.
    by : who adds it.
    tell : see `Tell`.

    Raises
    ------
    VideoError : the participant did not agree to a video, the file is none, its place cannot be
        told by its sound, or it cannot be copied.
    AnnotationError : the session's list of videos cannot be read or written, or the name is none.
    """
    record = _record(session, by)
    require()
    before = _status(file)
    with opened(lambda: files.open_file(file), file.name) as video:
        tell(None, "looking through the video")
        facts = facts_of(video)
        ending = video.ending
        alignment = _alignment(record, video, offset_s, drift_ppm, by, tell)
    folder = videos_folder(session)
    with VideosFile(list_file(session)) as known:
        leftovers.clear(folder, leftovers.DRAFT, 0.0)  # the list is locked: nobody else writes
        number, path = 0, folder
        while not number or files.exists(path):  # a crash may have left a file without its line
            number = max(number + 1, int(known.next_id.removeprefix("video-")))
            path = folder / f"video-{number}{ending}"
        with _copied(file, path, before, tell) as (draft, sha256):
            for placed in known.videos.values():
                if placed.video.sha256 == sha256:
                    raise VideoError(
                        f"{file.name} is there already: {placed.video.id} of {record.name}.",
                        safe=UNCHANGED,
                        todo="Align it anew (`labapp videos align`), or remove it first.",
                    )
            _take_name(draft, path)
        new = _described(f"video-{number}", path.name, sha256, before, facts, record, by)
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
    """Place a video of a session anew, by its sound or by hand; see `add_video`.

    Raises
    ------
    VideoError, AnnotationError : as there; the place that it had stays.
    """
    record = _record(session, by)
    placed = _known(record, video_id)
    path = videos_folder(session) / placed.video.file
    if offset_s is None:
        with opened(lambda: files.open_file(path, follow=False), placed.video.file) as video:
            alignment = _alignment(record, video, None, 0.0, by, tell)
    else:
        alignment = by_hand(offset_s, drift_ppm, by)
    with VideosFile(list_file(session)) as known:
        return known.align(video_id, alignment)


def remove_video(session: Path, video_id: str, *, by: str = "") -> None:
    """Delete a video of a session.

    Raises
    ------
    VideoError : there is none of this name, or it could not be deleted.
    AnnotationError : the list cannot be read or written.
    """
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
                safe="It is not shown and not exported any more.",
                todo="Close what has it open, and delete the file.",
            ) from error


def check_consent(record: Record) -> None:
    """Raises VideoError where the participant did not agree to a video."""
    if agreed_to_video(record):
        return
    asked = USE in record.outline.agreed
    what = "did not agree to a video" if asked else "was not asked for a video"
    raise VideoError(
        f"The participant of {record.name} {what}.",
        safe=UNCHANGED,
        todo="Delete the video, or keep it apart from the study."
        if asked
        else "Ask for it in the consent form of the next sessions: `consent: items: {video: "
        "optional}`. What nobody agreed to is not taken in.",
    )


def by_hand(offset_s: float, drift_ppm: float, by: str) -> VideoAlignment:
    """A place that somebody set. Raises VideoError for one that cannot be."""
    if not (abs(offset_s) <= MOST_DAYS_S and abs(drift_ppm) <= WRONGEST_PPM):
        raise VideoError(
            f"A video cannot begin at {offset_s:g} s, or go {drift_ppm:g} millionths slower.",
            safe=UNCHANGED,
            todo="Give the session time of its beginning in seconds, at most a day; a drift is "
            f"at most {WRONGEST_PPM:g}.",
        )
    return VideoAlignment(offset_s, drift_ppm, by=by, tool=TOOL)


def _record(session: Path, by: str, *, consent: bool = True) -> Record:
    """The session, where a video of it may be worked on."""
    if by:
        check_rater(by)
    record = open_record(session)
    if record.kind != "session":
        raise VideoError(
            f"{session} is a bundle: what was exported is not written to.",
            safe=UNCHANGED,
            todo="Name the session in the study's folder.",
        )
    if record.running:
        raise VideoError(
            f"{record.name} is being recorded.", safe=UNCHANGED, todo="Wait until it is over."
        )
    if record.withdrawn:
        raise VideoError(
            f"The participant of {record.name} withdrew: no video of them is taken in.",
            safe=UNCHANGED,
            todo="Delete the video.",
        )
    if consent:
        check_consent(record)
    return record


def _known(record: Record, video_id: str) -> PlacedVideo:
    for placed in videos_of(record):
        if placed.video.id == video_id:
            return placed
    raise _unknown(record, video_id)


def _unknown(record: Record, video_id: str) -> VideoError:
    return VideoError(
        f"{record.name} has no video {video_id!r}.",
        safe=UNCHANGED,
        todo=f"`labapp videos list {record.name}` says which it has.",
    )


# --- where it lies --------------------------------------------------------------------------------


def _alignment(
    record: Record,
    video: OpenedVideo,
    offset_s: float | None,
    drift_ppm: float,
    by: str,
    tell: Tell,
) -> VideoAlignment:
    if offset_s is not None:
        return by_hand(offset_s, drift_ppm, by)
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
            raise _not_heard(f"{record.name} has no sound that it could be compared with")
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
            f"The video's clock goes {match.drift_ppm * 1e-4:+.2f} % wrong ({match.drift_ppm:+.0f} "
            f"ppm); those of cameras do so by at most {USUAL_PPM:g} ppm. It was perhaps converted "
            "to another number of pictures a second, or not recorded in one piece.",
            safe=UNCHANGED,
            todo="Add the file as the camera made it. Or place this one by hand and look whether "
            f"picture and sound are together: --offset {match.offset_s:.3f} --drift "
            f"{match.drift_ppm:.0f}.",
        )
    if match is None:
        raise _not_heard("what is heard in it is not clearly what was recorded in the session")
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
        f"Where the video lies in the session cannot be told by its sound: {why}.",
        safe=UNCHANGED,
        todo="See that it is the video of this session. Else say the session time of its "
        f"beginning, in seconds: {BY_HAND}. `labapp replay` shows session times.",
    )


# --- the copy -------------------------------------------------------------------------------------


def _status(file: Path) -> os.stat_result:
    try:
        with files.open_file(file) as stream:
            return os.fstat(stream.fileno())
    except OSError as error:
        raise VideoError(
            f"{file} cannot be read ({error.strerror or error}).",
            safe=UNCHANGED,
            todo="Name the file of the video.",
        ) from error


@contextmanager
def _copied(
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
                safe=UNCHANGED,
                todo="Add it once nothing writes to it any more.",
            )
        yield draft, digest.hexdigest()
    except durable.NotConfirmedError as error:
        leftovers.drop(path)
        raise VideoError(
            f"{file} was copied to {path.parent}, but {error.strerror}.",
            safe="The video is where it was, and the copy was removed.",
            todo="Look after this disk, and add the video again.",
        ) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise VideoError(
            f"{file} could not be copied to {path.parent} "
            f"({'the disk is full' if full else error.strerror or error}).",
            safe="The video is where it was, and nothing of the copy is left.",
            todo="Make room on this disk." if full else "See that you may read it and write there.",
        ) from error
    finally:
        leftovers.drop(draft)


def _take_name(draft: Path, path: Path) -> None:
    """Give the copy its name, over nothing."""
    durable.take_name(draft, path)


def _described(
    video_id: str,
    name: str,
    sha256: str,
    status: os.stat_result,
    facts: VideoFacts,
    record: Record,
    by: str,
) -> Video:
    return Video(
        video_id,
        name,
        sha256,
        status.st_size,
        round(facts.duration_s, 6),
        facts.width,
        facts.height,
        facts.has_sound,
        record.rows[-1].hash,
        by,
        TOOL,
    )
