"""Videos of a session that somebody brought: their files, and where they lie on its clock.

They lie in the folder of the session's annotations, beside a file of lines that says what each is.
A face cannot be given another name: without an agreement to `video` nothing of one is read, and no
video leaves the lab with a session that is de-identified or redacted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, LabappError
from labapp.base.reading.files import MIB
from labapp.coding.annotations.ledger import (
    LARGEST,
    VERSION,
    EditedFile,
    Line,
    as_bytes,
    body_of,
    fold_lines,
    parse,
    record_from,
    require_whole,
    text_in,
)
from labapp.coding.annotations.marks import TOMBSTONE
from labapp.coding.annotations.model import ANNOTATIONS, annotations_folder
from labapp.coding.annotations.store import difference
from labapp.record.journal.layout import FolderTree, Tree
from labapp.record.journal.record import Record

VIDEOS = "videos"
"""Folder of the videos, in that of the session's annotations."""
LIST = f"{VIDEOS}/videos.jsonl"
"""What is known of them."""
ADDED = "video.added"
ALIGNED = "video.aligned"
REMOVED = "video.removed"
USE = "video"
"""What a participant agrees to, see `labapp.study.consent.Use`."""


@dataclass(frozen=True, slots=True)
class VideoAlignment:
    """Where a video lies on its session's clock: session time = offset + video time · (1 + drift).

    Attributes
    ----------
    offset_s : float
        Session time of the video's beginning, in s; below 0 if it begins before the session.
    drift_ppm : how much more session time passes than time of the video, in millionths.
    origin : what set it: `sound`, which is in both, or somebody by `hand`.
    residual_ms, residual_max_ms : median and largest distance of the stretches that were heard in
        both from this line; 0 by hand.
    confidence : share of the stretches that were compared which lie on the line, 0 to 1; 0 by hand.
    stretches : how many were compared.
    by : who did it; empty if nobody was named.
    tool : by which version of labapp.
    unapplied_offset_s, unapplied_ppm : where the video would lie by its own clock, which seems to
        go so wrong and which the video is too short to correct; null and 0 if it does not.
    """

    offset_s: float
    drift_ppm: float = 0.0
    origin: Literal["sound", "hand"] = "hand"
    residual_ms: float = 0.0
    residual_max_ms: float = 0.0
    confidence: float = 0.0
    stretches: int = 0
    by: str = ""
    tool: str = ""
    unapplied_offset_s: float | None = None
    unapplied_ppm: float = 0.0

    def session_ns(self, video_s: float) -> int:
        """Session time of a time of the video."""
        return round((self.offset_s + video_s * (1 + self.drift_ppm * 1e-6)) * NS)

    def video_s(self, session_ns: int) -> float:
        """Time of the video at a session time; it may lie outside of the video."""
        return (session_ns / NS - self.offset_s) / (1 + self.drift_ppm * 1e-6)


@dataclass(frozen=True, slots=True)
class Video:
    """A video of a session.

    Attributes
    ----------
    id : unique in its session, such as `video-1`; never used again.
    size : in bytes.
    duration_s : how long it is, in s.
    width, height : of the picture as it is seen, in pixels.
    journal : hash of an event of the session that it is of.
    """

    id: str
    file: str
    sha256: str
    size: int
    duration_s: float
    width: int
    height: int
    has_sound: bool
    journal: str
    by: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class PlacedVideo:
    """A video and where it lies in time. added, aligned: when it was added and aligned last."""

    video: Video
    alignment: VideoAlignment
    added: str = ""
    aligned: str = ""

    @property
    def stretch_ns(self) -> tuple[int, int]:
        """Session time that it shows; half-open."""
        alignment = self.alignment
        return alignment.session_ns(0.0), alignment.session_ns(self.video.duration_s)

    def covers(self, t_ns: int) -> bool:
        """Whether it shows a session time."""
        begins, ends = self.stretch_ns
        return begins <= t_ns < ends

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        begins, ends = self.stretch_ns
        return {
            **body_of(self.video),
            "added": self.added,
            "alignment": {**body_of(self.alignment), "utc": self.aligned},
            "begins_s": round(begins / NS, 6),
            "ends_s": round(ends / NS, 6),
        }


class VideosFold:
    """The videos in a session's list.

    Attributes
    ----------
    gone : the ids of those that were removed; none is used again.
    opened : not used: each video says of which session it is.
    """

    def __init__(self) -> None:
        self.videos: dict[str, PlacedVideo] = {}
        self.gone: set[str] = set()
        self.opened: Mapping[str, Any] = {}

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError."""
        if line.kind == ADDED:
            body = dict(line.body)
            alignment = record_from(VideoAlignment, body.pop("alignment", {}))
            video = record_from(Video, body)
            if "/" in video.file or "\\" in video.file or not video.file.startswith("video-"):
                raise ValueError(f"{video.file!r} cannot be the name of a video file")
            self.videos[video.id] = PlacedVideo(video, alignment, line.utc, line.utc)
        elif line.kind == ALIGNED:
            video_id = text_in(line.body, "id")
            if video_id not in self.videos:
                raise ValueError(f"there is no video {video_id!r}")
            alignment = record_from(VideoAlignment, line.body["alignment"])
            before = self.videos[video_id]
            self.videos[video_id] = replace(before, alignment=alignment, aligned=line.utc)
        elif line.kind == REMOVED:
            video_id = text_in(line.body, "id")
            self.videos.pop(video_id, None)
            self.gone.add(video_id)
        elif line.kind != TOMBSTONE:
            raise ValueError("it was written by a newer version of labapp")

    @property
    def next_id(self) -> str:
        """An id that no video of the session ever had."""
        numbers = (int(name.removeprefix("video-")) for name in {*self.videos, *self.gone})
        return f"video-{max(numbers, default=0) + 1}"


class VideosFile(EditedFile):
    """The list of a session's videos, open for work: one window or command at a time."""

    def __init__(self, path: Path) -> None:
        """Raises AnnotationError, and AnnotationsBusy if it is open elsewhere."""
        self._videos = VideosFold()
        super().__init__(path, self._videos)

    @property
    def videos(self) -> Mapping[str, PlacedVideo]:
        """Those that are there, by their ids."""
        return self._videos.videos

    @property
    def next_id(self) -> str:
        """An id that no video of the session ever had."""
        return self._videos.next_id

    def add(self, video: Video, alignment: VideoAlignment) -> PlacedVideo:
        """Write down a video, whose file is there. Raises AnnotationError."""
        self._append([(ADDED, _describe_addition(video, alignment))])
        return self.videos[video.id]

    def align(self, video_id: str, alignment: VideoAlignment) -> PlacedVideo:
        """Write down where a video lies from now on. Raises AnnotationError."""
        self._append([(ALIGNED, {"id": video_id, "alignment": body_of(alignment)})])
        return self.videos[video_id]

    def remove(self, video_id: str, by: str) -> None:
        """Write down that a video is gone, before its file is deleted. Raises AnnotationError."""
        self._append([(REMOVED, {"id": video_id, "by": by})])


def videos_folder(session: Path) -> Path:
    """The folder of a session's videos; it need not exist. session: its own folder."""
    return annotations_folder(session) / VIDEOS


def list_file(session: Path) -> Path:
    """The file of lines of a session's videos."""
    return annotations_folder(session) / LIST


def has_video_consent(record: Record) -> bool:
    """Whether the participant agreed to a video. A face cannot be hidden as a name can: if the
    consent form did not ask, nobody agreed."""
    return record.course.agreed.get(USE, False)


def video_tree(record: Record) -> Tree:
    """The folder of a session's videos, of a session folder or a bundle; it need not exist."""
    if record.kind == "bundle":
        return record.tree.below(ANNOTATIONS).below(VIDEOS)
    return FolderTree(videos_folder(Path(record.source)))


def videos_of(record: Record) -> tuple[PlacedVideo, ...]:
    """The videos of a session, as they were added; none without the participant's agreement. Raises
    AnnotationError: the list is damaged; RecordError: it cannot be read."""
    if not has_video_consent(record) or record.withdrawn == "delete":
        return ()
    tree = video_tree(record)
    name = LIST.removeprefix(f"{VIDEOS}/")
    if not tree.has(name):
        return ()
    place = f"{ANNOTATIONS} of {record.name}: {LIST}"
    fold = VideosFold()
    fold_lines(fold, require_whole(parse(tree.read(name, LARGEST)), place).lines, place)
    for placed in fold.videos.values():
        if why := difference({"journal": placed.video.journal}, record):
            raise AnnotationError(
                f"{place}: {placed.video.id} does not belong to the session {record.name}: {why}.",
                safe="It was only read; nothing was changed.",
                todo="Put the folder of videos next to the session that they were added to.",
            )
    return tuple(fold.videos.values())


def explain_withholding(record: Record, *, sound: bool, redacted: bool) -> str:
    """Why no video of a session goes into an export, in words; empty if all do.

    Parameters
    ----------
    record : as it goes into the export: a de-identified one if its rows were reduced.
    sound : whether sound is asked for: a video has the voice, too.
    redacted : whether stretches of the session are redacted: a video would show and tell them.
    """
    if record.redacted:
        return "the export is de-identified, but a face cannot be"
    if not sound:
        return "it contains the voice, but sound was to be left out"
    if not record.may("share_audio"):
        return "it contains the voice, but the participant did not agree to have sound passed on"
    if redacted:
        return "it shows stretches of the session that are redacted"
    return ""


def encode_bundled_list(videos: Sequence[PlacedVideo]) -> bytes:
    """The list of a session's videos for a bundle: what holds now, and nothing of before."""
    return as_bytes(
        Line(0, placed.aligned, ADDED, VERSION, _describe_addition(placed.video, placed.alignment))
        for placed in videos
    )


def _describe_addition(video: Video, alignment: VideoAlignment) -> dict[str, Any]:
    return {**body_of(video), "alignment": body_of(alignment)}


def video_problems(record: Record) -> tuple[int, list[str]]:
    """How many videos a session has, and what is wrong with their files. Raises AnnotationError."""
    tree, problems = video_tree(record), []
    videos = videos_of(record)
    for placed in videos:
        video = placed.video
        name = f"{ANNOTATIONS}/{VIDEOS}/{video.file}"
        if not tree.has(video.file):
            problems.append(f"{name}: missing")
            continue
        digest, size = hashlib.sha256(), 0
        with tree.open(video.file) as stream:
            while chunk := stream.read(4 * MIB):
                digest.update(chunk)
                size += len(chunk)
        if (size, digest.hexdigest()) != (video.size, video.sha256):
            problems.append(f"{name}: not the video that was added")
    known = {placed.video.file for placed in videos} | {LIST.removeprefix(f"{VIDEOS}/")}
    problems += [
        f"{ANNOTATIONS}/{VIDEOS}/{name}: it is in no list of videos"
        for name in tree.names()
        if name not in known and not name.startswith(".")
    ]
    return len(videos), problems


def video_names(session: Path) -> list[str]:
    """The files of a session's videos, by their names, whether or not the list knows them."""
    try:
        names = FolderTree(videos_folder(session)).names()
    except (OSError, LabappError):
        return []
    return [name for name in names if not name.startswith(".") and not name.endswith(".jsonl")]
