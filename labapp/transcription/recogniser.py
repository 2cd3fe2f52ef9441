"""A speech model at work in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from labapp.errors import TranscriptionError
from labapp.parallel.processes import cores
from labapp.reading import files
from labapp.transcription.child import RATE, RawWord, request
from labapp.transcription.models import WHICH, SpeechModel

LONGEST_WORDS = 600
"""Characters of expected words: Whisper takes about 200 tokens."""
MOST_THREADS = 8
_STORED = "What was written down before is stored."
_CLOSE_S = 2.0


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word, with its time in s from the first sample, and how sure the engine is, 0 to 1."""

    t0_s: float
    t1_s: float
    text: str
    probability: float


class Recogniser:
    """A speech model that is loaded and waits for sound.

    Parameters
    ----------
    model : it is read from the disk here, which can take a while.
    words : words that may come up, with commas between them; Whisper expects them then.

    Attributes
    ----------
    versions : str
        Of the engine's libraries.
    languages : those that the model knows, as codes such as `de`; None where it does not say so.

    Raises
    ------
    TranscriptionError : the model cannot be opened, or its engine takes no words.
    """

    def __init__(self, model: SpeechModel, words: str = "") -> None:
        if words and model.engine.name == "vosk":
            raise TranscriptionError(
                "A Vosk model has its own words and cannot be given others.",
                safe="Nothing was written.",
                todo="Leave --words out, or use a Whisper model.",
            )
        self.model, self.words = model, words
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (until it is closed)
        root = str(Path(__file__).resolve().parents[2])
        paths = filter(None, (root, os.environ.get("PYTHONPATH", "")))
        threads = min(cores(), MOST_THREADS)
        self._child = subprocess.Popen(
            # -P: nothing from the folder the program was started in.
            [sys.executable, "-P", "-m", "labapp.transcription.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "HF_HUB_OFFLINE": "1",
                "TRANSFORMERS_OFFLINE": "1",
                "OMP_NUM_THREADS": str(threads),
            },
        )
        try:
            opened = self._ask(
                {"engine": model.engine.name, "path": str(model.path), "threads": threads}
            )
        except BaseException:
            self.close()
            raise
        self.versions = str(opened["versions"])
        self.languages: list[str] | None = opened["languages"]

    def check_language(self, language: str) -> None:
        """Raises TranscriptionError where the model does not know a language."""
        if self.languages is None or language in self.languages:
            return
        if len(self.languages) > 1:
            known = ", ".join(sorted(self.languages))
            raise TranscriptionError(
                f"The model {self.model.name} knows no language {language!r}.",
                safe="Nothing was written.",
                todo=f"Say with --language what was spoken, one of: {known}.",
            )
        known = ", ".join(self.languages)
        raise TranscriptionError(
            f"The model {self.model.name} knows {known} alone, and {language} was spoken.",
            safe="Nothing was written: it would have written down words that nobody said.",
            todo=f"Get a model that knows {language}. {WHICH} Where something else was spoken, "
            "say so with --language.",
        )

    def hear(self, samples: NDArray[np.int16], rate: int, language: str) -> list[HeardWord]:
        """The words in sound.

        Parameters
        ----------
        samples : ndarray of int16, shape (n,)
            Mono; not all zeros, in which some models hear words.
        rate : frames a second.
        language : what is spoken, as a code such as `de`.

        Raises
        ------
        TranscriptionError : the engine failed, or its process ended.
        """
        sound = resampled(samples, rate)
        answer = self._ask({"language": language, "words": self.words}, sound)
        return whole_words([tuple(word) for word in answer["words"]])

    def close(self) -> None:
        """End the process. Harmless when it ended before."""
        child = self._child
        if child.stdin is not None:
            try:
                child.stdin.close()
            except OSError:
                """It is gone already."""
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(_CLOSE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        if child.stdout is not None:
            child.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, facts: dict[str, Any], sound: NDArray[np.int16] | None = None) -> dict[str, Any]:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(request(facts, sound))
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except OSError:
            line = b""
        answer: dict[str, Any] = json.loads(line) if line.strip() else {"error": self._ended()}
        if "error" in answer:
            engine = self.model.engine
            at_work = sound is not None
            raise TranscriptionError(
                f"{engine.package} could not "
                + (f"go on with {self.model.name}" if at_work else f"open {self.model.path}")
                + f" ({answer['error']}).",
                safe=_STORED if at_work else "Nothing was written.",
                todo="Give the same command again: it goes on from there. Where memory ran out, "
                "take a smaller model."
                if at_work
                else f"See that it is whole: {engine.model}. Is the engine itself broken? "
                f"{engine.install} --upgrade",
            )
        return answer

    def _ended(self) -> str:
        """How the process ended, with the last line that it wrote."""
        try:
            status: int | None = self._child.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            status = None
        self._errors.seek(0)
        lines = files.within(self._errors, 1 << 24).decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        if status is not None and status < 0:
            return f"its process was ended by signal {-status}{last}"
        return f"its process ended with {status}{last}"


def resampled(samples: NDArray[np.int16], rate: int) -> NDArray[np.int16]:
    """Sound at the rate that engines take, (m,) int16."""
    if rate == RATE or samples.size == 0:
        return samples
    common = int(np.gcd(rate, RATE))
    sound = resample_poly(samples.astype(np.float32), RATE // common, rate // common)
    return np.clip(np.rint(sound), -32768, 32767).astype(np.int16)


def whole_words(raw: list[Any]) -> list[HeardWord]:
    """Words that stand between spaces: what an engine parted within one is put together, as sure as
    its least sure part. Marks without a letter or a digit are no words."""
    words: list[HeardWord] = []
    parts: RawWord
    for parts in raw:
        t0_s, t1_s, text, probability = parts
        if words and not text[:1].isspace():
            before = words[-1]
            words[-1] = HeardWord(
                before.t0_s,
                max(before.t1_s, t1_s),
                before.text + text.strip(),
                min(before.probability, probability),
            )
        elif text.strip():
            words.append(HeardWord(t0_s, max(t0_s, t1_s), text.strip(), probability))
    return [word for word in words if any(letter.isalnum() for letter in word.text)]
