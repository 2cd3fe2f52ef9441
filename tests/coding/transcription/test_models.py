"""Which engine a path is for, and what is said where it is for none."""

from __future__ import annotations

import struct
from importlib.util import find_spec
from pathlib import Path

import pytest

from labapp.base.errors import TranscriptionError, UsageError
from labapp.base.installation import install_command
from labapp.coding.transcription import models
from labapp.coding.transcription.models import (
    ENGINES,
    SpeechModel,
    knows_english_alone,
    model_at,
    own_model,
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
    with pytest.raises(TranscriptionError, match="is a model for vosk, and not for whisper"):
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
        "zip": "an archive, to be unpacked first",
        "gguf": "a GGUF file",
        "text": "does not begin as a ggml file",
        "half": "tokenizer.json is missing",
        "transformers": "ct2-transformers-converter",
        "outer": "inner in it is one",
    }.items():
        with pytest.raises(TranscriptionError, match=why) as error:
            model_at(tmp_path / name)
        assert "ggml-small.bin" in error.value.todo
        assert error.value.safe == "Nothing was written."


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
