"""Videos of a session: added, placed, listed, removed; what is asked before, and what leaves."""

from __future__ import annotations

import errno
import hashlib
import logging
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labapp.base import access
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy, SessionBusy, VideoError
from labapp.coding.annotations import store
from labapp.coding.annotations.model import Redaction, Unit, annotations_folder
from labapp.coding.annotations.verifying import verify_annotations
from labapp.coding.annotations.video_files import list_file, videos_folder, videos_of
from labapp.coding.videos import session as videos
from labapp.coding.videos.session import add_video, align_video, remove_video
from labapp.record.journal.opening import iter_records, open_record, places
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.withdrawal import withdraw
from tests.helpers.bids import validator_errors
from tests.helpers.made_videos import heard_by, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session

WORLD = speech_like(200.0, seed=9)
AGREED = {"video": True}
BEGINS_S, PPM = 17.25, 40.0


def recorded(root: Path, uses: dict[str, bool] | None = AGREED) -> Path:
    """A session of two runs of the program, each with a clock of its own, with a hole between."""
    agreed = None if uses is None else tuple(uses.items())
    shutil.copytree(_made(agreed).name, root, dirs_exist_ok=True)
    (session,) = root.glob("*/sub-*")
    return session


@cache
def _made(agreed: tuple[tuple[str, bool], ...] | None) -> TemporaryDirectory[str]:
    """A folder with such a session, which many tests want a copy of."""
    folder = TemporaryDirectory(prefix="labapp-tests-filmed-")
    first = Take(heard_by(WORLD, 1.0, 80.0, -100.0, noise=0.01), 1.0, ppm=100.0)
    second = Take(heard_by(WORLD, 100.0, 90.0, noise=0.01, seed=4), 100.0)
    uses = None if agreed is None else dict(agreed)
    sounding_session(Path(folder.name), first, second, end_s=195.0, uses=uses, with_study=True)
    return folder


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    heard = heard_by(WORLD, BEGINS_S, 160.0, PPM, noise=0.02, seed=6)
    path = tmp_path_factory.mktemp("film") / "Jane Doe.mp4"
    return write_video(path, heard, 160.0, per_second=2)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return recorded(tmp_path / "data")


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_video_is_copied_and_placed_by_its_sound(session: Path, film: Path) -> None:
    before, original = contents(session), film.read_bytes()
    placed = add_video(session, film, by="anna")
    alignment = placed.alignment
    for video_s in (0.0, 80.0, 160.0):
        true = BEGINS_S + video_s * (1 + PPM * 1e-6)
        assert alignment.session_ns(video_s) / NS == pytest.approx(true, abs=0.02)
        assert alignment.video_s(alignment.session_ns(video_s)) == pytest.approx(video_s, abs=1e-6)
    assert alignment.origin == "sound"
    assert alignment.confidence > 0.9
    assert 0 < alignment.residual_ms < 5
    assert (placed.video.by, placed.video.id) == ("anna", "video-1")
    copy = videos_folder(session) / "video-1.mp4"
    assert copy.read_bytes() == original == film.read_bytes()
    assert placed.video.sha256 == hashlib.sha256(original).hexdigest()
    assert "Jane" not in list_file(session).read_text("utf-8")
    assert contents(session) == before, "a finished session is not touched"
    assert videos_of(open_record(session)) == (placed,)
    assert places(session.parent.parent) == [session]


@pytest.mark.parametrize(
    ("uses", "why"),
    [(None, "was not asked"), ({"audio": True}, "was not asked"), ({"video": False}, "not agree")],
)
def test_without_consent_nothing_is_taken_in(
    tmp_path: Path, film: Path, uses: dict[str, bool] | None, why: str
) -> None:
    session = recorded(tmp_path / "data", uses)
    with pytest.raises(VideoError, match=why):
        add_video(session, film, offset_s=1.0)
    assert not annotations_folder(session).exists()


def test_a_video_that_cannot_be_placed_is_refused_with_what_to_do(
    tmp_path: Path, session: Path
) -> None:
    silent = write_video(tmp_path / "silent.mp4", None, 20.0)
    with pytest.raises(VideoError, match="the video has no sound") as raised:
        add_video(session, silent)
    assert "--offset SECONDS" in raised.value.todo
    other = heard_by(speech_like(60.0, seed=99), 0.0, 60.0)
    with pytest.raises(VideoError, match="not clearly what was recorded"):
        add_video(session, write_video(tmp_path / "other.mp4", other, 60.0, per_second=5))
    short = write_video(tmp_path / "short.mp4", heard_by(WORLD, 20.0, 4.0), 4.0)
    with pytest.raises(VideoError, match="less than 10 s of sound"):
        add_video(session, short)
    assert not videos_folder(session).exists()
    placed = add_video(session, silent, offset_s=-3.5, drift_ppm=20.0)
    assert placed.alignment.origin == "hand"
    assert placed.stretch_ns[0] == -3.5 * NS
    with pytest.raises(VideoError, match="the video has no sound"):
        align_video(session, "video-1")
    assert align_video(session, "video-1", offset_s=4.0).alignment.offset_s == 4.0
    with pytest.raises(VideoError, match="cannot begin at"):
        align_video(session, "video-1", offset_s=float("nan"))


def test_a_session_without_sound_asks_for_the_place(tmp_path: Path, film: Path) -> None:
    session = sounding_session(tmp_path / "data", end_s=30.0, uses=AGREED)
    with pytest.raises(VideoError, match="has no sound with which it could be compared"):
        add_video(session, film)
    assert add_video(session, film, offset_s=0.0).alignment.origin == "hand"


def test_the_same_video_is_not_added_twice_and_ids_are_not_used_again(
    session: Path, film: Path, tmp_path: Path
) -> None:
    add_video(session, film, offset_s=0.0)
    with pytest.raises(VideoError, match="was already added as video-1"):
        add_video(session, film, offset_s=0.0)
    assert [path.name for path in videos_folder(session).glob("[!.]*")] != []
    remove_video(session, "video-1")
    assert not (videos_folder(session) / "video-1.mp4").exists()
    assert videos_of(open_record(session)) == ()
    with pytest.raises(VideoError, match="has no video 'video-1'"):
        remove_video(session, "video-1")
    stray = videos_folder(session) / "video-2.mp4"
    stray.write_bytes(b"left by a crash")
    placed = add_video(session, film, offset_s=0.0)
    assert placed.video.id == "video-3"
    assert stray.read_bytes() == b"left by a crash", "nothing is written over"


def test_what_goes_wrong_in_copying_leaves_nothing(
    session: Path, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(access, "create", full)
    with pytest.raises(VideoError, match="the disk is full") as raised:
        add_video(session, film, offset_s=0.0)
    assert "nothing of the copy is left" in raised.value.safe
    monkeypatch.undo()
    usage = shutil.disk_usage(session)
    monkeypatch.setattr(videos.shutil, "disk_usage", lambda path: usage._replace(free=10))
    with pytest.raises(VideoError, match="the disk is full"):
        add_video(session, film, offset_s=0.0)
    assert {path.name for path in videos_folder(session).iterdir() if path.name[0] != "."} <= {
        "videos.jsonl"
    }
    assert videos_of(open_record(session)) == ()


def test_two_at_a_time_and_strangers_are_refused(session: Path, film: Path, tmp_path: Path) -> None:
    placed = add_video(session, film, offset_s=0.0)
    with videos.VideosFile(list_file(session)), pytest.raises(AnnotationsBusy):
        align_video(session, "video-1", offset_s=2.0)
    other = recorded(tmp_path / "other", AGREED | {"quote": True})
    shutil.copytree(videos_folder(session), videos_folder(other))
    with pytest.raises(AnnotationError, match="does not belong to the session"):
        videos_of(open_record(other))
    lines = list_file(session)
    lines.write_bytes(lines.read_bytes().replace(b"video-1.mp4", b"../../../x."))
    with pytest.raises(AnnotationError):
        videos_of(open_record(session))
    assert placed.video.file == "video-1.mp4"


def test_a_bundle_has_the_video_where_that_was_agreed(
    session: Path, film: Path, tmp_path: Path
) -> None:
    placed = add_video(session, film)
    align_video(session, "video-1", offset_s=3.0)
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).problems == []
    assert validator_errors(bundle) == []
    copy = next(bundle.rglob("video-1.mp4"))
    assert hashlib.sha256(copy.read_bytes()).hexdigest() == placed.video.sha256
    assert "sourcedata" in copy.parts
    assert "## Video" in (bundle / "README").read_text("utf-8")
    (record,) = iter_records(bundle)
    (read,) = videos_of(record)
    assert (read.video, read.alignment.offset_s) == (placed.video, 3.0)
    assert verify_annotations(session).problems == []
    again = export([bundle], tmp_path / "again")
    assert len(list(again.rglob("video-1.mp4"))) == 1
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    hidden = export([bundle], tmp_path / "hidden", deidentify=True, private=private)
    assert not list(hidden.rglob("video*"))


def test_no_video_leaves_with_a_face_that_is_to_be_hidden(
    session: Path, film: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add_video(session, film, offset_s=0.0)
    with caplog.at_level(logging.WARNING):
        for name, how, why in (
            ("deidentified", {"deidentify": True}, "a face cannot be"),
            ("audible", {"deidentify": True, "audio": True}, "a face cannot be"),
            ("silent", {"audio": False}, "sound was to be left out"),
        ):
            private = tmp_path / "private"
            private.mkdir(mode=0o700, exist_ok=True)
            out = export([session], tmp_path / name, private=private, **how)  # type: ignore[arg-type]
            assert verify(out).problems == []
            assert not [path for path in out.rglob("*") if "video" in path.name]
            assert why in caplog.text
            assert "## Video" not in (out / "README").read_text("utf-8")
    with store.open_units(session, "anna") as units:
        units.put_all([Unit("u", 2 * NS, 4 * NS)])
    with store.open_texts(session, "anna") as texts:
        texts.redact(Redaction("r", 2 * NS, 3 * NS))
    out = export([session], tmp_path / "redacted")
    assert not list(out.rglob("video-*"))
    assert "it shows stretches of the session that are redacted" in caplog.text


def test_who_does_not_share_their_voice_does_not_share_a_video_with_it(
    tmp_path: Path, film: Path
) -> None:
    session = recorded(tmp_path / "data", {"video": True, "share_audio": False})
    add_video(session, film, offset_s=0.0)
    out = export([session], tmp_path / "bundle")
    assert not list(out.rglob("video-*"))


def test_withdrawal_deletes_the_video_and_says_so(
    session: Path, film: Path, tmp_path: Path
) -> None:
    add_video(session, film, offset_s=0.0)
    with (
        videos.VideosFile(list_file(session)),
        pytest.raises(SessionBusy, match="open in a window"),
    ):
        withdraw(session, tmp_path / "private", delete=True)
    kept = withdraw(session, tmp_path / "private", delete=False).lines()
    assert not any("videos were deleted" in line for line in kept)
    lines = withdraw(session, tmp_path / "private", delete=True).lines()
    assert any(line.startswith("The session’s videos were deleted here (1)") for line in lines)
    assert not videos_folder(session).exists()
    assert film.exists()


def test_a_changed_or_lost_video_is_found(session: Path, film: Path) -> None:
    add_video(session, film, offset_s=0.0)
    assert verify(session).problems == []
    assert verify(session).checked["videos"] == 1
    copy = videos_folder(session) / "video-1.mp4"
    copy.write_bytes(copy.read_bytes()[:-1])
    assert any("not the video that was added" in problem for problem in verify(session).problems)
    copy.unlink()
    (videos_folder(session) / "holiday.mp4").write_bytes(b"x")
    problems = verify_annotations(session).problems
    assert any("video-1.mp4: missing" in problem for problem in problems)
    assert any("holiday.mp4: it is in no list of videos" in problem for problem in problems)


def test_nobody_who_withdrew_or_is_recorded_gets_a_video(session: Path, film: Path) -> None:
    withdraw(session, session.parent.parent / "private", delete=False)
    with pytest.raises(VideoError, match="withdrew"):
        add_video(session, film, offset_s=0.0)
