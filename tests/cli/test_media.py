"""`labapp transcribe`, `videos` and `replay --still`, as they are typed."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from labapp.coding.annotations import store
from labapp.coding.annotations.model import Text
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.transcription import models
from labapp.coding.videos import decoding
from labapp.record.journal.opening import open_record
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.session.withdrawal import withdraw
from labapp.ui.doctor import _video
from tests.coding.annotations.test_simulated import spoken
from tests.helpers.commands import Run
from tests.helpers.made_videos import heard_by, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session


@pytest.fixture
def transcribe(labapp: Run) -> Run:
    """Runs `labapp transcribe …`."""
    return partial(labapp, "transcribe")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return sounding_session(tmp_path / "data", Take(spoken()), end_s=20.0)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The head of a model, whose engine is there or not."""
    monkeypatch.setattr(models, "find_spec", lambda name: object())
    path = tmp_path / "ggml.bin"
    path.write_bytes(struct.pack("<4sI", b"lmgg", 51864) + bytes(100))
    return str(path)


def test_a_missing_model_is_told_with_what_to_get(transcribe: Run, session: Path) -> None:
    status, _, err = transcribe(session.name, "--data", "data", "--model", "nowhere")
    assert status == 2
    assert "There is no model at nowhere." in err
    assert "Nothing was changed." in err
    assert "ggml-small.bin" in err
    status, _, err = transcribe(session.name, "--data", "data")
    assert "There is no speech model in" in err


def test_a_model_that_is_cut_off_is_told(transcribe: Run, session: Path, model: str) -> None:
    status, _, err = transcribe(str(session), "--model", model)
    assert status == 1
    assert f"pywhispercpp could not open {model}" in err
    assert not store.annotations_of(open_record(session)).texts


def test_what_has_text_is_left_alone_and_counted(
    transcribe: Run, session: Path, model: str
) -> None:
    units = segment_session(session, "anna", freeze=True).units
    with store.open_texts(session, "anna") as texts:
        texts.put_all(Text(unit.id, "mine") for unit in units)
    status, out, _ = transcribe("golden", "--data", "data", "--model", model)
    assert status == 0
    assert out == f"{session.name}: 0 of 2 units transcribed (0 words); 2 had text before\n"
    _, out, _ = transcribe("golden", "--data", "data", "--model", model, "--json")
    (row,) = json.loads(out)
    assert (row["kept"], row["written"], row["language"]) == (2, 0, "en")


def test_of_a_study_those_who_did_not_agree_are_named(
    transcribe: Run, tmp_path: Path, model: str
) -> None:
    take = Take(spoken())
    first = sounding_session(tmp_path / "a", take, end_s=20.0, uses={"transcript": False})
    second = sounding_session(tmp_path / "b", take, end_s=20.0)
    for unit in segment_session(second, "anna").units:
        with store.open_texts(second, "anna") as texts:
            texts.put(Text(unit.id, "mine"))
    status, out, err = transcribe(str(first), str(second), "--model", model)
    assert status == 1
    assert f"{first.name} is left out: The participant" in err
    assert "2 had text before" in out
    status, _, err = transcribe(str(first), "--model", model)
    assert status == 1
    assert "did not agree to a transcript" in err
    assert "The sound was not used" in err


def test_words_are_read_and_refused_where_they_are_too_many(
    transcribe: Run, session: Path, model: str, tmp_path: Path
) -> None:
    for content, why in (
        (b"\xff\xfe", "is not a UTF-8 text file"),
        (b"word " * 200, "a model takes only 600"),
    ):
        (tmp_path / "words.txt").write_bytes(content)
        status, _, err = transcribe(str(session), "--model", model, "--words", "words.txt")
        assert status == 2
        assert why in err
    status, _, err = transcribe(str(session), "--model", model, "--words", "none.txt")
    assert (status, "There is no file none.txt" in err) == (2, True)


WORLD = speech_like(60.0, seed=3)


@pytest.fixture
def videos(labapp: Run) -> Run:
    """Runs `labapp videos …`."""
    return partial(labapp, "videos")


@pytest.fixture
def session_videos(tmp_path: Path) -> Path:
    take = Take(heard_by(WORLD, 1.0, 55.0), 1.0)
    return sounding_session(tmp_path / "data", take, end_s=58.0, uses={"video": True})


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return write_video(tmp_path / "film.mp4", heard_by(WORLD, 12.5, 40.0), 40.0, per_second=5)


def test_a_video_is_added_listed_aligned_and_removed(
    videos: Run, session_videos: Path, film: Path
) -> None:
    assert videos("list", session_videos.name, "--data", "data")[1] == "No videos.\n"
    status, out, _ = videos("add", session_videos.name, str(film), "--data", "data", "--by", "anna")
    assert status == 0
    assert "video-1: 64 × 48, 0:12.5 to 0:52.5; placed by its sound at 12.5" in out
    assert "residual" in out
    assert "100% of" in out
    status, out, _ = videos("list", session_videos.name, "--data", "data", "--json")
    (row,) = json.loads(out)
    assert (row["session"], row["id"], row["by"], row["there"]) == (
        session_videos.name, "video-1", "anna", True
    )  # fmt: skip
    assert row["alignment"]["offset_s"] == pytest.approx(12.5, abs=0.02)
    status, out, _ = videos(
        "align", session_videos.name, "video-1", "--offset", "12", "--data", "data"
    )
    assert (status, "placed by hand at 12.000 s" in out) == (0, True)
    status, out, _ = videos("remove", session_videos.name, "video-1", "--yes", "--data", "data")
    assert (status, out) == (0, f"{session_videos.name}: video-1 was deleted.\n")
    assert videos("list", session_videos.name, "--data", "data", "--json")[1] == "[]\n"


def test_a_damaged_session_does_not_hide_the_videos_of_others(
    videos: Run, session_videos: Path, film: Path
) -> None:
    videos("add", session_videos.name, str(film), "--data", "data")
    broken = session_videos.parent / "sub-P02_ses-1_20260102T030405Z"
    broken.mkdir()
    status, out, err = videos("list", str(session_videos.parent))
    assert (status, "video-1" in out) == (1, True)
    assert f"{broken.name} is left out" in err


def test_what_cannot_be_is_refused(videos: Run, session_videos: Path, film: Path) -> None:
    status, _, err = videos("add", session_videos.name, "nothing.mp4", "--data", "data")
    assert (status, "There is no file nothing.mp4" in err) == (2, True)
    status, _, err = videos("add", session_videos.name, str(film), "--drift", "4", "--data", "data")
    assert (status, "--drift goes with --offset" in err) == (2, True)
    status, _, err = videos("align", session_videos.name, "video-9", "--data", "data")
    assert (status, "has no video 'video-9'" in err) == (2, True)
    status, _, err = videos("add", session_videos.name, str(film), "--by", "../x", "--data", "data")
    assert (status, "cannot be a rater's name" in err) == (2, True)


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check.level for check in _video()] == ["pass"]
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    (check,) = _video()
    assert check.level == "note"
    assert "labapp extras add video" in check.todo


@pytest.fixture(scope="module")
def session_replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    return simulate_at_scale("quickstart", 1, "knowing", folder / "data", 1)[0]


@pytest.fixture
def replay_here(labapp: Run, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `labapp replay …` in this process."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    return partial(labapp, "replay")


def replay(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "labapp", "replay", *map(str, arguments)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "LABAPP_LANGUAGE": "en"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_still_is_the_same_picture_every_time(session_replay: Path, tmp_path: Path) -> None:
    first, second, wide = (tmp_path / f"{name}.png" for name in ("first", "second", "wide"))
    for path in (first, second):
        done = replay(session_replay, "--at", "2:00", "--still", path, "--trails")
        assert done.returncode == 0, done.stderr
    assert first.read_bytes() == second.read_bytes()
    image = QImage(str(first))
    assert (image.width(), image.height()) == (1366, 768)
    assert (
        replay(session_replay, "--at", "120", "--still", wide, "--size", "1920x1080").returncode
        == 0
    )
    assert QImage(str(wide)).width() == 1920


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "5:70", "--still", "x.png"], "is not a time"),
        (["--at", "99:00", "--still", "x.png"], "is not in the session"),
        (["--still", "x.png"], "needs --at, the time"),
        (["--at", "2:00", "--still", "x.png", "--size", "big"], "is not a size"),
        (["--at", "2:00", "--still", "x.tiff/y.png"], "could not be written"),
        (["--size", "800x600"], "need --still"),
    ],
)
def test_what_cannot_be_is_told(
    session_replay: Path, replay_here: Run, options: list[str], told: str
) -> None:
    status, _, err = replay_here(session_replay, *options)
    assert status in (1, 2)
    assert told in err


def test_where_there_is_no_screen_it_is_told(session_replay: Path) -> None:
    done = replay(session_replay, "--at", "2:00")
    assert done.returncode == 1
    assert "There is no screen to show the replay on" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_picture_that_is_there_is_not_overwritten(
    session_replay: Path, tmp_path: Path, replay_here: Run
) -> None:
    path = tmp_path / "there.png"
    path.write_bytes(b"mine")
    assert "exists already" in replay_here(session_replay, "--at", "2:00", "--still", path)[2]
    assert path.read_bytes() == b"mine"


def test_who_withdrew_is_not_shown(session_replay: Path, tmp_path: Path, replay_here: Run) -> None:
    copy = Path(shutil.copytree(session_replay, tmp_path / "quickstart" / session_replay.name))
    withdraw(copy, tmp_path / "private", delete=False)
    told = replay_here(copy, "--at", "2:00", "--still", tmp_path / "screen.png")[2]
    assert "P01 withdrew, so this session cannot be replayed." in told
    assert not (tmp_path / "screen.png").exists()
