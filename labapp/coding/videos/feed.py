"""Pictures of a session's videos by session time, decoded by a thread of their own.

Whoever shows them asks for the newest time and is told a picture once it is there: nobody waits for
a video, and what was asked for before and is not wanted any more is left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from labapp.base.errors import LabappError
from labapp.coding.annotations.video_files import PlacedVideo
from labapp.coding.videos.decoding import OpenedVideo, OpenVideo, Picture, opened


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """What a video shows.

    Attributes
    ----------
    begins_ns, ends_ns : session time from which and up to which the picture is the right one.
    picture : None where it cannot be had.
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
                video = held.enter_context(opened(self._open_video, self.placed.video.file))
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
