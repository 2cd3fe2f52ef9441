"""What speech models there are: by what lies at a path, which engine runs it, and what is missing.

Nothing is ever fetched. An engine is a library that labapp runs if it is installed; a model is a
file or a folder that somebody brought here.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from labapp.base.errors import (
    SpeechModelNotFound,
    SpeechModelRefused,
    TranscriptionError,
    UsageError,
)
from labapp.base.installation import install_command
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.resources import speech_models
from labapp.coding.annotations.store import hash_with_cache

EngineName = Literal["whisper", "whispercpp", "vosk"]
_HEADER = struct.Struct("<4sI")
_GGML = b"lmgg"
_ENGLISH_VOCABULARY = 51864
"""Tokens of a Whisper model that knows only English; the others have more."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A library that recognises speech.

    Attributes
    ----------
    name : of the extra of labapp that brings it, too.
    package, module : of the library.
    model : what a model of it is.
    get : where one is to be had, on a computer with the internet.
    """

    name: EngineName
    package: str
    module: str
    model: str
    get: str

    @property
    def installed(self) -> bool:
        """Whether the engine can run on this computer."""
        return find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """Of the library; empty if it is not there."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""

    @property
    def install(self) -> str:
        """The command that installs it."""
        return install_command(self.name)


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine(
            "whisper",
            "faster-whisper",
            "faster_whisper",
            Message("speech_model_whisper"),
            Message("speech_get_whisper"),
        ),
        Engine(
            "whispercpp",
            "pywhispercpp",
            "pywhispercpp",
            Message("speech_model_whispercpp"),
            Message("speech_get_whispercpp"),
        ),
        Engine("vosk", "vosk", "vosk", Message("speech_model_vosk"), Message("speech_get_vosk")),
    )
}
"""By their names."""
WHICH = Message("speech_which")

SMALLEST = "whispercpp"
"""The engine to install if there is none."""


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """A model of speech on this computer, a file or a folder, and what runs it."""

    path: Path
    engine: Engine

    @property
    def name(self) -> str:
        """Of the file or folder."""
        return self.path.name

    def sha256(self) -> str:
        """By which it can be told from another: of the file, or of all files' names and sums.
        Raises TranscriptionError: it cannot be read."""
        try:
            if files.is_file(self.path):
                return hash_with_cache(self.path)
            digest = hashlib.sha256()
            for name in sorted(files.below(self.path)):
                digest.update(f"{name}\0{hash_with_cache(self.path / name)}\n".encode())
        except OSError as error:
            raise TranscriptionError(
                f"The model {self.path} cannot be read ({error.strerror or error}).",
                todo="Make sure that it is complete, and that you may read it.",
            ) from error
        return digest.hexdigest()


def model_at(path: Path, engine: str = "auto") -> SpeechModel:
    """The speech model at a path, for an engine of that name; `auto`: for whichever it is.

    Raises UsageError for an unknown engine; TranscriptionError if there is no model, it is one
    of another engine, or that engine is not installed.
    """
    if engine != "auto" and engine not in ENGINES:
        raise UsageError(
            f"There is no engine {engine!r}.", todo=f"Allowed: auto, {', '.join(ENGINES)}."
        )
    name = _engine_of(path.expanduser())
    if engine not in ("auto", name):
        raise SpeechModelRefused(
            f"{path} is a model for {name}, not for {engine}.",
            todo=f"Leave --engine out; or get a model for {engine}: {ENGINES[engine].get}.",
        )
    model = SpeechModel(path.expanduser().absolute(), ENGINES[name])
    if not model.engine.installed:
        raise TranscriptionError(
            Message("engine_missing", path=str(path), engine=model.engine.package),
            todo=Message("engine_install", command=model.engine.install),
        )
    return model


def own_models() -> tuple[SpeechModel, ...]:
    """The models in the folder for them, by their names, whether their engines are installed or
    not."""
    folder = speech_models()
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return ()
    return tuple(SpeechModel(path, ENGINES[name]) for path in paths if (name := _any_kind(path)))


@dataclass(frozen=True, slots=True)
class SpeechTools:
    """What could write down what was said, on this computer.

    Attributes
    ----------
    engines : that are installed.
    models : in the folder for them.
    folder : that folder.
    """

    engines: tuple[Engine, ...]
    models: tuple[SpeechModel, ...]
    folder: Path

    @property
    def usable(self) -> tuple[SpeechModel, ...]:
        """The models whose engine is there."""
        return tuple(model for model in self.models if model.engine.installed)

    @property
    def missing(self) -> Engine | None:
        """The engine to install; None if what is there suffices."""
        if self.usable or (self.engines and not self.models):
            return None
        return self.models[0].engine if self.models else ENGINES[SMALLEST]


def speech_tools() -> SpeechTools:
    """What there is on this computer: looked at, and nothing of it loaded."""
    installed = tuple(engine for engine in ENGINES.values() if engine.installed)
    return SpeechTools(installed, own_models(), speech_models())


def own_model() -> SpeechModel:
    """The only model in the folder for them. Raises TranscriptionError: there is none or several,
    or its engine is not installed."""
    models, folder = own_models(), speech_models()
    if not models:
        raise TranscriptionError(
            f"There is no speech model in {folder}.",
            todo=f"Put one there, or name one with --model. {what_to_get()}",
        )
    if len(models) > 1:
        raise TranscriptionError(
            f"There are several speech models in {folder}: "
            f"{', '.join(model.name for model in models)}.",
            todo="Name one with --model.",
        )
    return model_at(models[0].path)


def knows_english_alone(path: Path) -> bool:
    """Whether a ggml file is a model for English only. Raises OSError."""
    with files.open_file(path) as stream:
        magic, tokens = _HEADER.unpack(stream.read(_HEADER.size).ljust(_HEADER.size, b"\0"))
    return bool(magic == _GGML and tokens <= _ENGLISH_VOCABULARY)


def _engine_of(path: Path) -> EngineName:
    """Raises TranscriptionError if no engine reads what lies there."""
    if files.is_folder(path):
        return _engine_of_folder(path)
    if not files.is_file(path):
        raise SpeechModelNotFound(
            Message("model_none", path=str(path)), todo=Message("speech_path", get=what_to_get())
        )
    try:
        with files.open_file(path) as stream:
            head = stream.read(64)
    except OSError as error:
        raise TranscriptionError(
            Message("speech_unreadable", path=str(path), why=str(error.strerror or error)),
            todo=Message("speech_see"),
        ) from error
    if head.startswith(_GGML):
        return "whispercpp"
    raise _no_model(path, _why_file(head))


def _why_file(head: bytes) -> str:
    if head.startswith(b"PK"):
        return Message("model_archive")
    if head.startswith(b"GGUF"):
        return Message("model_gguf")
    return Message("model_no_ggml")


def _engine_of_folder(path: Path) -> EngineName:
    engine = _kind_of(path)
    if engine == "whisper" and not files.is_file(path / "tokenizer.json"):
        raise _no_model(path, Message("model_no_tokenizer"))
    if engine is not None:
        return engine
    if any(files.is_file(path / name) for name in ("model.safetensors", "pytorch_model.bin")):
        raise _no_model(path, Message("model_transformers"))
    why: str = Message("model_neither")
    try:
        inside = next((child for child in sorted(path.iterdir()) if _kind_of(child)), None)
    except OSError as error:
        inside, why = None, str(error.strerror or error)
    if inside is not None:
        raise _no_model(path, Message("model_inside", path=str(inside)))
    raise _no_model(path, why)


def _kind_of(folder: Path) -> EngineName | None:
    """Which engine's files lie in a folder; None if none's do."""
    if files.is_file(folder / "model.bin") and files.is_file(folder / "config.json"):
        return "whisper"
    if files.is_file(folder / "am" / "final.mdl") or files.is_file(folder / "final.mdl"):
        return "vosk"
    return None


def _any_kind(path: Path) -> EngineName | None:
    if files.is_folder(path):
        return _kind_of(path)
    try:
        with files.open_file(path) as stream:
            return "whispercpp" if stream.read(len(_GGML)) == _GGML else None
    except OSError:
        return None


def _no_model(path: Path, why: str) -> SpeechModelRefused:
    return SpeechModelRefused(Message("model_useless", path=str(path), why=why), todo=what_to_get())


def what_to_get() -> Message:
    """Models that can be had, where, and which of them know German."""
    kinds = {
        name: Message("speech_kind", model=engine.model, get=engine.get)
        for name, engine in ENGINES.items()
    }
    return Message("speech_to_get", which=WHICH, **kinds)
