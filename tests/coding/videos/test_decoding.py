"""Videos are read as they are: pictures by time, sound by time, and hostile files refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import VideoError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.coding.videos import decoding
from labapp.coding.videos.decoding import (
    SOUND_RATE,
    OpenedVideo,
    facts_of,
    format_of,
    open_for_decoding,
)
from tests.helpers.made_videos import heard_by, number_in, speech_like, write_video
from tests.helpers.nightly import EVERYTHING

ROOM = (640, 360)


@contextmanager
def video_at(path: Path) -> Iterator[OpenedVideo]:
    with open_for_decoding(lambda: files.open_file(path), path.name) as video:
        yield video


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = heard_by(speech_like(12.0), 0.0, 12.0)
    return write_video(tmp_path_factory.mktemp("film") / "film.mp4", samples, 12.0)


def shown(video: OpenedVideo, t_s: float) -> int:
    picture = video.picture_at(t_s, ROOM)
    assert picture is not None
    return number_in(picture.pixels)


@pytest.mark.parametrize(
    ("ending", "codec", "sound_codec"),
    [
        (".mp4", "mpeg4", "aac"),
        (".mov", "mjpeg", "pcm_s16le"),
        (".mkv", "mpeg4", "aac"),
        (".avi", "mpeg4", "pcm_s16le"),
        (".ts", "mpeg2video", "mp2"),
    ],
)
def test_pictures_and_sound_of_the_usual_files(
    tmp_path: Path, ending: str, codec: str, sound_codec: str
) -> None:
    rate = 44_100 if ending == ".ts" else 8000
    speed = 25 if ending == ".ts" else 10
    samples = heard_by(speech_like(6.0), 0.0, 6.0, rate=rate)
    path = write_video(
        tmp_path / f"x{ending}", samples, 6.0, codec=codec, sound_codec=sound_codec, rate=rate,
        per_second=speed, every=12, size=(160, 120),
    )  # fmt: skip
    with video_at(path) as video:
        assert video.ending == ending
        facts = facts_of(video)
        assert facts.duration_s == pytest.approx(6.0, abs=0.1)
        assert (facts.width, facts.height, facts.has_sound) == (160, 120, True)
        for t_s in (0.06, 3.34, 1.02, 5.86, 3.34):
            picture = video.picture_at(t_s, ROOM)
            assert picture is not None
            assert number_in(picture.pixels, 160) == int(t_s * speed)
            assert picture.begins_s <= t_s < picture.ends_s
        pieces = list(video.sound())
    heard = np.concatenate([piece for _, piece in pieces])
    assert heard.size / SOUND_RATE == pytest.approx(6.0, abs=0.15)


def test_any_time_in_any_order_shows_the_picture_of_that_time(film: Path) -> None:
    random = np.random.default_rng(3)
    with video_at(film) as video:
        for t_s in random.uniform(0.0, 11.9, 60):
            assert shown(video, float(t_s)) == int(t_s * 10 + 1e-6)
        for number in range(40, 60):  # and going on
            assert shown(video, number / 10 + 0.01) == number
        assert shown(video, 99.0) == 119
        assert shown(video, -1.0) == 0


def test_pictures_far_behind_one_that_can_be_gone_to_are_exact(tmp_path: Path) -> None:
    path = write_video(
        tmp_path / "film.mp4", None, 24.0, per_second=25, every=400, between=2, size=(160, 120)
    )
    random = np.random.default_rng(4)
    with video_at(path) as video:
        for t_s in random.uniform(0.2, 23.9, 30):
            picture = video.picture_at(float(t_s), ROOM)
            assert picture is not None
            assert number_in(picture.pixels, 160) == int(picture.begins_s * 25 + 0.5)
            assert picture.begins_s <= t_s < picture.ends_s
            assert picture.ends_s - picture.begins_s == pytest.approx(0.04, abs=0.001)
        assert video.near_s > 5


def test_a_picture_fits_its_room_and_is_not_made_larger(film: Path) -> None:
    with video_at(film) as video:
        small = video.picture_at(1.0, (32, 32))
        assert small is not None
        assert small.pixels.shape == (24, 32, 3)
        large = video.picture_at(1.0, (999, 999))
        assert large is not None
        assert large.pixels.shape == (48, 64, 3)


def test_a_picture_that_is_not_wanted_any_more_is_left(film: Path) -> None:
    with video_at(film) as video:
        assert video.picture_at(11.0, ROOM, lambda: True) is None
        assert shown(video, 2.0) == 20


def test_what_is_no_video_is_refused_by_name(tmp_path: Path) -> None:
    cases = {
        "empty.mp4": (b"", "it is empty"),
        "text.mp4": (b"dear diary " * 50, "it is not a valid MP4"),
        "list.mp4": (b"#EXTM3U\nhttp://example.org/a.ts\n", "a list of other files"),
        "concat.mkv": (b"ffconcat version 1.0\nfile '/etc/passwd'\n", "a list of other files"),
        "head.mp4": (b"\0\0\0\x20ftypisom" + bytes(500), "FFmpeg|Invalid|no picture"),
        "head.mkv": (b"\x1aE\xdf\xa3" + b"\xff" * 500, "FFmpeg|Invalid|End of file|no picture"),
    }
    for name, (content, why) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(VideoError, match=why), video_at(tmp_path / name):
            raise AssertionError(name)
    with pytest.raises(VideoError, match="it is a folder"), video_at(tmp_path):
        raise AssertionError
    with (
        pytest.raises(VideoError, match=r"it does not exist|No such file"),
        video_at(tmp_path / "nothing.mp4"),
    ):
        raise AssertionError


def test_a_video_that_is_cut_off_ends_where_it_ends(tmp_path: Path, film: Path) -> None:
    whole = film.read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(VideoError), video_at(cut):
        raise AssertionError("its index is at its end")
    path = write_video(tmp_path / "whole.mkv", None, 10.0)
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with video_at(cut) as video:
        assert 3.0 < facts_of(video).duration_s < 7.0
        assert not video.has_sound
        assert shown(video, 2.0) == 20


def test_damaged_bytes_never_end_the_program(tmp_path: Path, film: Path) -> None:
    random = np.random.default_rng(11)
    samples = heard_by(speech_like(4.0), 0.0, 4.0, rate=44_100)
    stream = write_video(
        tmp_path / "film.ts", samples, 4.0, rate=44_100, codec="mpeg2video", sound_codec="mp2",
        per_second=25,
    )  # fmt: skip
    for number in range(60 if EVERYTHING else 12):
        changed = np.frombuffer((film, stream)[number % 2].read_bytes(), np.uint8).copy()
        places = random.integers(0, changed.size if number % 4 < 2 else 2000, 40)
        changed[places] = random.integers(0, 256, 40)
        path = tmp_path / f"{number}.x"
        path.write_bytes(changed.tobytes())
        try:
            with video_at(path) as video:
                facts_of(video)
                list(video.sound())
                video.picture_at(5.0, ROOM)
        except VideoError:
            """Said."""


def test_pictures_of_more_pixels_than_can_be_held_are_not_made(
    monkeypatch: pytest.MonkeyPatch, film: Path
) -> None:
    monkeypatch.setattr(decoding, "MOST_PIXELS", 1000)
    with pytest.raises(VideoError, match="64 × 48 pixels"), video_at(film):
        raise AssertionError


def test_without_the_extra_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, film: Path
) -> None:
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    with pytest.raises(VideoError, match="PyAV") as raised, video_at(film):
        raise AssertionError
    assert "labapp extras add video" in raised.value.todo


def test_sound_of_which_a_part_is_missing_stays_in_its_place(tmp_path: Path) -> None:
    assert format_of(b"") == ("", "")
    silent = write_video(tmp_path / "silent.mp4", None, 3.0)
    with video_at(silent) as video:
        assert list(video.sound()) == []


def test_why_a_video_cannot_be_read_is_a_message_that_windows_translate(tmp_path: Path) -> None:
    path = tmp_path / "notes.mp4"
    path.write_bytes(b"no video at all" * 100)
    with pytest.raises(VideoError) as refused, video_at(path):
        pass
    assert isinstance(refused.value.what, Message)
    assert isinstance(refused.value.what.values["why"], Message)
    assert isinstance(refused.value.todo, Message)
