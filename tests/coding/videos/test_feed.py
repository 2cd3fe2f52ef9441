"""Pictures by session time, from a thread: the newest that is asked for, and nothing after the
end."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

from labapp.base.clock import NS
from labapp.base.reading import files
from labapp.coding.annotations.video_files import PlacedVideo, Video, VideoAlignment
from labapp.coding.videos.decoding import ShownPicture, VideoFeed
from tests.helpers.made_videos import number_in, write_video

ROOM = (64, 48)


class Shown:
    """What a feed told."""

    def __init__(self) -> None:
        self.pictures: list[ShownPicture] = []
        self.came = threading.Event()

    def take(self, shown: ShownPicture) -> None:
        self.pictures.append(shown)
        self.came.set()

    def last(self) -> ShownPicture:
        assert self.came.wait(60)
        self.came.clear()
        return self.pictures[-1]


def feed_of(path: Path, shown: Shown, alignment: VideoAlignment) -> VideoFeed:
    video = Video("video-1", path.name, "", 0, 20.0, 64, 48, False, "")
    return VideoFeed(PlacedVideo(video, alignment), partial(files.open_file, path), shown.take)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("film") / "film.mp4", None, 20.0)


def test_a_picture_is_that_of_the_session_time(film: Path) -> None:
    shown = Shown()
    feed = feed_of(film, shown, VideoAlignment(100.0, 5000.0))
    try:
        for t_s in (110.0, 101.05, 118.9):
            feed.want(round(t_s * NS), ROOM)
            told = shown.last()
            assert told.begins_ns <= t_s * NS < told.ends_ns
            assert told.picture is not None
            assert number_in(told.picture.pixels) == int((t_s - 100) / 1.005 * 10)
    finally:
        feed.close()


def test_the_newest_is_what_comes(film: Path) -> None:
    shown = Shown()
    feed = feed_of(film, shown, VideoAlignment(0.0))
    try:
        for number in range(200):
            feed.want(round((number % 19 + 0.05) * NS), ROOM)
        feed.want(round(7.35 * NS), ROOM)
        for _ in range(400):
            picture = shown.last().picture
            assert picture is not None
            if number_in(picture.pixels) == 73:
                break
        else:
            raise AssertionError("it never came")
        assert len(shown.pictures) <= 201
    finally:
        feed.close()


def test_the_same_picture_is_not_told_twice(film: Path) -> None:
    shown = Shown()
    feed = feed_of(film, shown, VideoAlignment(0.0))
    try:
        feed.want(round(3.01 * NS), ROOM)
        shown.last()
        feed.want(round(3.05 * NS), ROOM)
        feed.want(round(3.08 * NS), ROOM)
        assert not shown.came.wait(0.2)
    finally:
        feed.close()


def test_a_file_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    shown = Shown()
    feed = feed_of(tmp_path / "gone.mp4", shown, VideoAlignment(0.0))
    try:
        feed.want(NS, ROOM)
        told = shown.last()
        assert told.picture is None
        assert told.problem is not None
        feed.want(2 * NS, ROOM)
        assert not shown.came.wait(0.1)
    finally:
        feed.close()


def test_after_its_end_nothing_is_told_and_no_thread_is_left(film: Path) -> None:
    before = threading.active_count()
    shown = Shown()
    feed = feed_of(film, shown, VideoAlignment(0.0))
    feed.want(NS, ROOM)
    feed.close()
    told = len(shown.pictures)
    feed.want(2 * NS, ROOM)
    feed.close()
    assert len(shown.pictures) == told
    assert threading.active_count() == before
