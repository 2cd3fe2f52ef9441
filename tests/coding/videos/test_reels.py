"""Clips and highlight reels: what is in them, what is silent and black, and what is refused."""

from __future__ import annotations

import csv
import wave
from pathlib import Path

import numpy as np
import pytest

from labapp.base.clock import NS
from labapp.base.errors import LabappError, TargetExists, UsageError
from labapp.coding.annotations.redacting import read_handed_out, redact
from labapp.coding.videos.decoding import open_for_decoding
from labapp.coding.videos.reels import GAP_S, RATE, Cut, read_list, write_list, write_reel
from labapp.coding.videos.session import add_video
from tests.coding.videos.test_session import WORLD, recorded
from tests.helpers.made_videos import heard_by, write_video

AGREED = {"video": True, "share_audio": True}


def cut(session: Path, begin_s: float, end_s: float, label: str = "goal") -> Cut:
    return Cut(session, round(begin_s * NS), round(end_s * NS), label)


def sound_in(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels()) == (RATE, 1)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_a_reel_has_its_stretches_one_after_another(tmp_path: Path) -> None:
    session = recorded(tmp_path / "data", AGREED)
    cuts = [cut(session, 20, 22.5), cut(session, 110, 111, "=odd")]
    told: list[float | None] = []
    reel = write_reel(cuts, tmp_path / "reel.wav", tell=lambda share, what: told.append(share))
    heard = sound_in(reel.path)
    assert heard.size == round((2.5 + GAP_S + 1) * RATE)
    gap = heard[round(2.5 * RATE) : round((2.5 + GAP_S) * RATE)]
    assert not gap.any()
    assert np.abs(heard[: 2 * RATE]).max() > 500
    assert told == sorted(told)  # type: ignore[type-var]
    rows = list(csv.DictReader(reel.index.read_text("utf-8").splitlines()))
    assert [row["begin"] for row in rows] == ["0:20.000", "1:50.000"]
    assert float(rows[1]["at_s"]) == 3.1
    assert rows[1]["label"] == "'=odd"  # no formula of a spreadsheet
    (made,) = read_handed_out(session.parent)
    assert (made.kind, made.file) == ("reel", str(reel.path))


def test_a_film_shows_the_video_and_nothing_redacted(tmp_path: Path) -> None:
    session = recorded(tmp_path / "data", AGREED)
    heard = heard_by(WORLD, 17.25, 100.0)
    add_video(session, write_video(tmp_path / "a.mp4", heard, 100.0), offset_s=17.25)
    redact(session, 31 * NS, 32 * NS, "anna")
    cuts = [cut(session, 30, 33), cut(session, 5, 6)]
    reel = write_reel(cuts, tmp_path / "reel.mp4")
    assert (reel.filmed, len(reel.cuts)) == (1, 2)
    with open_for_decoding(lambda: reel.path.open("rb"), "reel.mp4") as film:
        assert film.has_sound

        def bright(at_s: float) -> float:
            picture = film.picture_at(at_s, (400, 300))
            assert picture is not None
            return float(picture.pixels.max())

        shown, hidden, before_video = bright(0.5), bright(1.5), bright(4.2)
    assert shown > 100 > 40 > hidden
    assert before_video < 40
    assert reel.path.stat().st_size > 1000


def test_consent_decides_what_goes_in(tmp_path: Path) -> None:
    silent = recorded(tmp_path / "data", {"video": True, "share_audio": False})
    with pytest.raises(LabappError, match="Nothing in the list may be shown") as refused:
        write_reel([cut(silent, 20, 21)], tmp_path / "reel.wav")
    assert "did not agree" in refused.value.what
    assert not list(tmp_path.glob("*reel*"))


def test_nothing_is_written_over_and_bad_input_is_refused(tmp_path: Path) -> None:
    session = recorded(tmp_path / "data", AGREED)
    (tmp_path / "reel.csv").write_text("mine")
    with pytest.raises(TargetExists):
        write_reel([cut(session, 20, 21)], tmp_path / "reel.wav")
    assert (tmp_path / "reel.csv").read_text() == "mine"
    with pytest.raises(UsageError, match="neither"):
        write_reel([cut(session, 20, 21)], tmp_path / "clip.avi")
    with pytest.raises(UsageError, match="is not within"):
        write_reel([cut(session, 20, 4000)], tmp_path / "clip.wav")
    with pytest.raises(LabappError, match="No video"):
        write_reel([cut(session, 20, 21)], tmp_path / "clip.mp4")
    assert not list(tmp_path.glob(".*"))
    assert not list(tmp_path.glob("clip*"))


def test_a_list_comes_back_as_it_was_written(tmp_path: Path) -> None:
    study = tmp_path / "study"
    cuts = [Cut(study / "sub-P01", 1_234_567_890, 2 * NS, "goal"), Cut(study / "sub-P02", 0, NS)]
    write_list(tmp_path / "list.csv", cuts)
    assert read_list(study, tmp_path / "list.csv") == cuts
    (tmp_path / "bad.csv").write_text("session,begin\nsub-P01,3\n")
    with pytest.raises(UsageError, match="end"):
        read_list(study, tmp_path / "bad.csv")
    with pytest.raises(UsageError, match="cannot be read"):
        read_list(study, tmp_path / "none.csv")
