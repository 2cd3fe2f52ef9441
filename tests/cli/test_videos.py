"""`labapp videos`, as it is typed."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from labapp.coding.videos import decoding
from labapp.ui.doctor import _video
from tests.helpers.commands import Run
from tests.helpers.made_videos import heard_by, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session

WORLD = speech_like(60.0, seed=3)


@pytest.fixture
def videos(labapp: Run) -> Run:
    """Runs `labapp videos …`."""
    return partial(labapp, "videos")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    take = Take(heard_by(WORLD, 1.0, 55.0), 1.0)
    return sounding_session(tmp_path / "data", take, end_s=58.0, uses={"video": True})


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return write_video(tmp_path / "film.mp4", heard_by(WORLD, 12.5, 40.0), 40.0, per_second=5)


def test_a_video_is_added_listed_aligned_and_removed(
    videos: Run, session: Path, film: Path
) -> None:
    assert videos("list", session.name, "--data", "data")[1] == "No videos.\n"
    status, out, _ = videos("add", session.name, str(film), "--data", "data", "--by", "anna")
    assert status == 0
    assert "video-1: 64 × 48, 0:12.5 to 0:52.5; placed by its sound at 12.5" in out
    assert "residual" in out
    assert "100% of" in out
    status, out, _ = videos("list", session.name, "--data", "data", "--json")
    (row,) = json.loads(out)
    assert (row["session"], row["id"], row["by"], row["there"]) == (
        session.name, "video-1", "anna", True
    )  # fmt: skip
    assert row["alignment"]["offset_s"] == pytest.approx(12.5, abs=0.02)
    status, out, _ = videos("align", session.name, "video-1", "--offset", "12", "--data", "data")
    assert (status, "placed by hand at 12.000 s" in out) == (0, True)
    status, out, _ = videos("remove", session.name, "video-1", "--yes", "--data", "data")
    assert (status, out) == (0, f"{session.name}: video-1 was deleted.\n")
    assert videos("list", session.name, "--data", "data", "--json")[1] == "[]\n"


def test_a_damaged_session_does_not_hide_the_videos_of_others(
    videos: Run, session: Path, film: Path
) -> None:
    videos("add", session.name, str(film), "--data", "data")
    broken = session.parent / "sub-P02_ses-1_20260102T030405Z"
    broken.mkdir()
    status, out, err = videos("list", str(session.parent))
    assert (status, "video-1" in out) == (1, True)
    assert f"{broken.name} is left out" in err


def test_what_cannot_be_is_refused(videos: Run, session: Path, film: Path) -> None:
    status, _, err = videos("add", session.name, "nothing.mp4", "--data", "data")
    assert (status, "There is no file nothing.mp4" in err) == (2, True)
    status, _, err = videos("add", session.name, str(film), "--drift", "4", "--data", "data")
    assert (status, "--drift goes with --offset" in err) == (2, True)
    status, _, err = videos("align", session.name, "video-9", "--data", "data")
    assert (status, "has no video 'video-9'" in err) == (2, True)
    status, _, err = videos("add", session.name, str(film), "--by", "../x", "--data", "data")
    assert (status, "is no name for a rater" in err) == (2, True)


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check.level for check in _video()] == ["pass"]
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    (check,) = _video()
    assert check.level == "note"
    assert 'python -m pip install "labapp[video]"' in check.todo
