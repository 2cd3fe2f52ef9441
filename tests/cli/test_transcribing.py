"""`labapp transcribe`, as it is typed, up to where an engine is needed."""

from __future__ import annotations

import json
import struct
from functools import partial
from pathlib import Path

import pytest

from labapp.coding.annotations import store
from labapp.coding.annotations.model import Text
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.transcription import models
from labapp.record.journal.opening import open_record
from tests.coding.annotations.test_segmenting import spoken
from tests.helpers.commands import Run
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
    assert "Nothing was written." in err
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
    assert out == f"{session.name}: 0 of 2 units written down (0 words); 2 had text before\n"
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
    assert "did not agree that what was said is written down" in err
    assert "Nobody listened to the sound" in err


def test_words_are_read_and_refused_where_they_are_too_many(
    transcribe: Run, session: Path, model: str, tmp_path: Path
) -> None:
    for content, why in (
        (b"\xff\xfe", "is no text in UTF-8"),
        (b"word " * 200, "a model takes 600"),
    ):
        (tmp_path / "words.txt").write_bytes(content)
        status, _, err = transcribe(str(session), "--model", model, "--words", "words.txt")
        assert status == 2
        assert why in err
    status, _, err = transcribe(str(session), "--model", model, "--words", "none.txt")
    assert (status, "There is no file none.txt" in err) == (2, True)
