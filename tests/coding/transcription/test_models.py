"""Engines: which a path is for, their process, and what may be invented."""

from __future__ import annotations

import io
import socket
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import TranscriptionError, UsageError
from labapp.base.installation import install_command
from labapp.coding.annotations.model import Word
from labapp.coding.transcription import models
from labapp.coding.transcription.child import RATE, read_request, request
from labapp.coding.transcription.models import (
    ENGINES,
    SpeechModel,
    knows_english_alone,
    model_at,
    own_model,
)
from labapp.coding.transcription.session import (
    Recogniser,
    doubts_of,
    is_repeated,
    resample_sound,
    whole_words,
)


def whisper_folder(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names or ("model.bin", "config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    return folder


def ggml_file(path: Path, tokens: int = 51865) -> Path:
    path.write_bytes(struct.pack("<4sI", b"lmgg", tokens) + bytes(100))
    return path


def vosk_folder(folder: Path) -> Path:
    (folder / "am").mkdir(parents=True)
    (folder / "am" / "final.mdl").write_text("")
    return folder


@pytest.fixture
def every_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all engines were installed: what lies at a path is looked at before."""
    monkeypatch.setattr(models, "find_spec", lambda name: object())


@pytest.mark.usefixtures("every_engine")
def test_what_lies_at_a_path_chooses_the_engine(tmp_path: Path) -> None:
    assert model_at(whisper_folder(tmp_path / "a")).engine.name == "whisper"
    assert model_at(ggml_file(tmp_path / "any.name")).engine.name == "whispercpp"
    assert model_at(vosk_folder(tmp_path / "b")).engine.name == "vosk"
    assert model_at(tmp_path / "b", "vosk").engine.name == "vosk"
    with pytest.raises(TranscriptionError, match="is a model for vosk, not for whisper"):
        model_at(tmp_path / "b", "whisper")
    with pytest.raises(UsageError, match="no engine 'kaldi'"):
        model_at(tmp_path / "b", "kaldi")


@pytest.mark.usefixtures("every_engine")
def test_what_is_no_model_is_told_with_what_to_get(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "gguf").write_bytes(b"GGUF")
    (tmp_path / "text").write_text("hello")
    whisper_folder(tmp_path / "half", "model.bin", "config.json")
    whisper_folder(tmp_path / "transformers", "model.safetensors", "config.json")
    vosk_folder(tmp_path / "outer" / "inner")
    for name, why in {
        "nowhere": "There is no model at",
        "empty": "neither model.bin",
        "zip": "an archive that must be unpacked first",
        "gguf": "a GGUF file",
        "text": "is not a valid ggml file",
        "half": "tokenizer.json is missing",
        "transformers": "ct2-transformers-converter",
        "outer": "inner inside it is one",
    }.items():
        with pytest.raises(TranscriptionError, match=why) as error:
            model_at(tmp_path / name)
        assert "ggml-small.bin" in error.value.todo
        assert error.value.safe == "Nothing was changed."


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_an_engine_that_is_missing_is_told_with_its_command(tmp_path: Path, name: str) -> None:
    if find_spec(ENGINES[name].module) is not None:
        pytest.skip(f"{name} is installed here")
    made = {"whisper": whisper_folder, "whispercpp": ggml_file, "vosk": vosk_folder}[name]
    with pytest.raises(TranscriptionError, match="is not installed") as error:
        model_at(made(tmp_path / "model"))
    assert error.value.todo == f"Install it: {install_command(name)}"


def test_a_model_is_known_by_all_of_its_files(tmp_path: Path) -> None:
    folder = whisper_folder(tmp_path / "a")
    before = SpeechModel(folder, ENGINES["whisper"]).sha256()
    assert SpeechModel(whisper_folder(tmp_path / "b"), ENGINES["whisper"]).sha256() == before
    (folder / "config.json").write_text('{"other": 1}')
    assert SpeechModel(folder, ENGINES["whisper"]).sha256() != before


def test_a_ggml_file_says_whether_it_knows_english_alone(tmp_path: Path) -> None:
    assert knows_english_alone(ggml_file(tmp_path / "a", 51864))
    assert not knows_english_alone(ggml_file(tmp_path / "b", 51865))


@pytest.mark.usefixtures("every_engine")
def test_the_only_model_in_the_folder_for_them_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LABAPP_SPEECH", str(tmp_path / "speech"))
    with pytest.raises(TranscriptionError, match="There is no speech model in"):
        own_model()
    made = whisper_folder(tmp_path / "speech" / "small")
    assert own_model().path == made
    ggml_file(tmp_path / "speech" / "other")
    with pytest.raises(TranscriptionError, match=r"several speech models in .*: other, small"):
        own_model()


def said(text: str, probability: float | None = 0.9, at_ns: int = 0) -> list[Word]:
    return [
        Word(at_ns + n * 10**8, at_ns + (n + 1) * 10**8, word, probability)
        for n, word in enumerate(text.split())
    ]


def test_repetitions_are_found() -> None:
    for text, repeated in {
        "No, no no NO.": True,
        "no, no, no": False,
        "and a bit and a bit and a bit": True,
        "a bit more and a bit more and then left": False,
        "well thank you very much thank you very much thank you very much": True,
        "": False,
    }.items():
        assert is_repeated(text.split()) is repeated, text


def test_each_sign_is_told() -> None:
    voice = [(0, 10**9)]
    assert doubts_of(said("this one makes it taller"), voice) == ()
    assert doubts_of([], voice) == ()
    assert doubts_of(said("this one makes it taller", 0.3), voice) == ("unsure",)
    assert doubts_of(said("this one makes it taller", None), voice) == ()
    assert doubts_of(said("no no no no"), voice) == ("repeated",)
    assert doubts_of(said("thank you", at_ns=5 * 10**9), voice) == ("quiet",)
    assert doubts_of(said("thank you"), []) == ("quiet",)


def test_sound_arrives_as_it_was_sent() -> None:
    samples = np.arange(-5, 5, dtype=np.int16)
    stream = io.BytesIO(request({"language": "de"}, samples) + request({"more": 1}) + b"cut")
    facts, sound = read_request(stream) or ({}, np.zeros(0))
    assert facts == {"language": "de"}
    assert (sound == samples).all()
    assert read_request(stream) is not None
    assert read_request(stream) is None


def test_sound_keeps_its_pitch_and_length_at_the_rate_of_engines() -> None:
    for rate in (8000, 44_100, 48_000):
        time = np.arange(rate) / rate
        tone = (8000 * np.sin(2 * np.pi * 440 * time)).astype(np.int16)
        heard = resample_sound(tone, rate)
        assert heard.size == pytest.approx(RATE, abs=1)
        assert np.argmax(np.abs(np.fft.rfft(heard, RATE))) == 440
    same = np.ones(3, np.int16)
    assert resample_sound(same, RATE) is same


def test_parts_of_words_are_put_together_and_marks_left_out() -> None:
    raw = [(0.0, 0.2, " think", 0.9), (0.2, 0.4, "-aloud,", 0.5), (0.5, 0.6, " .", 0.9)]
    words = whole_words(raw)
    assert [(w.text, w.t0_s, w.t1_s, w.probability) for w in words] == [
        ("think-aloud,", 0.0, 0.4, 0.5)
    ]


def test_a_model_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    """Whether its library is there or not: the folder holds nothing that it could read."""
    with pytest.raises(TranscriptionError, match="faster-whisper could not open") as error:
        Recogniser(SpeechModel(tmp_path, ENGINES["whisper"]))
    assert error.value.safe == "Nothing was changed."


def test_vosk_takes_no_words(tmp_path: Path) -> None:
    with pytest.raises(TranscriptionError, match="cannot be given others"):
        Recogniser(SpeechModel(tmp_path, ENGINES["vosk"]), "labapp")


def test_its_process_reaches_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        code = (
            "import sys, socket\n"
            "from labapp.coding.transcription import child\n"
            "sys.addaudithook(child.refuse_connections)\n"
            f"for reach in (lambda: socket.create_connection({address!r}),\n"
            "              lambda: socket.getaddrinfo('localhost', 80)):\n"
            "    try:\n"
            "        reach()\n"
            "    except PermissionError as error:\n"
            "        print(error)\n"
        )
        done = subprocess.run(
            (sys.executable, "-c", code), capture_output=True, text=True, timeout=60, check=True
        )
    assert done.stdout.count("labapp downloads nothing") == 2
