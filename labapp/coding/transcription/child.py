"""The process that runs an engine, and nothing else: `python -m labapp.coding.transcription.child`.

An engine computes for seconds in native code and can need gigabytes; what it does to its process it
does to this one. It reads the model from the disk and talks to nobody: no connection is let through
here, whatever a library would like to fetch.

On standard input: a model, then sound, each a header (length of a JSON text, number of samples) and
its content. On standard output: one JSON line for each of them. It ends with its standard input.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Frames a second that every engine takes."""
HEADER = struct.Struct("<II")
_SHORTEST = 1.1
"""Seconds that whisper.cpp wants at least."""
_REST_S = 0.35
"""Seconds behind what was heard in which Whisper is not asked again: a pause, and the sound that is
heard with every stretch. It makes thanks of them, above all if it expects words."""
_MOST_TOKENS, _MOST_TOKENS_S = 16, 12
"""Whisper writes no more than this for a sound, and for each second of it: nobody speaks so fast,
but what repeats itself does."""
_FORBIDDEN = {
    f"socket.{way}"
    for way in (
        "bind", "connect", "getaddrinfo", "gethostbyaddr", "gethostbyname", "getnameinfo",
        "sendmsg", "sendto",
    )
}  # fmt: skip

RawWord = tuple[float, float, str, float]
"""Beginning and end in s from the first sample, the word, and how sure the engine is, 0 to 1. A
word that belongs to the one before has no space in front of it."""
Hear = Callable[[NDArray[np.int16], str, str], list[RawWord]]
"""Words in sound at `RATE`; of a language, expecting some words."""


@dataclass(frozen=True)
class OpenEngine:
    """An engine with its model.

    Attributes
    ----------
    hear : see `Hear`.
    languages : those that the model knows; None if it does not say so.
    versions : of the libraries.
    """

    hear: Hear
    languages: list[str] | None
    versions: str


def open_whisper(path: Path, threads: int) -> OpenEngine:
    """A folder for faster-whisper."""
    import ctranslate2
    import faster_whisper

    model = faster_whisper.WhisperModel(
        str(path), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
    )

    def hear(samples: NDArray[np.int16], language: str, words: str) -> list[RawWord]:
        # No other temperature and no threshold: the same sound gives the same words, and what may
        # be invented is marked, not left out.
        seconds = samples.size / RATE
        segments, _ = model.transcribe(
            samples.astype(np.float32) / np.float32(32768),
            language=language,
            initial_prompt=words or None,
            temperature=0.0,
            beam_size=5,
            condition_on_previous_text=False,
            word_timestamps=True,
            compression_ratio_threshold=None,
            log_prob_threshold=None,
            no_speech_threshold=None,
            max_new_tokens=_MOST_TOKENS + int(_MOST_TOKENS_S * seconds),
        )
        heard: list[RawWord] = []
        for number, segment in enumerate(segments):
            if number and segment.start > seconds - _REST_S:
                break
            heard += [(w.start, w.end, w.word, w.probability) for w in segment.words or ()]
        return heard

    languages = list(model.supported_languages)
    versions = f"faster-whisper {faster_whisper.__version__}, ctranslate2 {ctranslate2.__version__}"
    return OpenEngine(hear, languages, versions)


def open_whispercpp(path: Path, threads: int) -> OpenEngine:
    """A ggml file for whisper.cpp."""
    from importlib.metadata import version

    from pywhispercpp.model import Model

    from labapp.coding.transcription.models import knows_english_alone

    # The likeliest piece of a word each time: its beam search writes other words from run to run.
    model = Model(str(path), redirect_whispercpp_logs_to=None)

    def hear(samples: NDArray[np.int16], language: str, words: str) -> list[RawWord]:
        sound = samples.astype(np.float32) / np.float32(32768)
        short = max(0, int(_SHORTEST * RATE) - sound.size)
        segments = model.transcribe(
            np.pad(sound, (0, short)),
            extract_probability=True,
            language=language,
            initial_prompt=words,
            n_threads=threads,
            no_context=True,
            token_timestamps=True,
            max_len=1,
            split_on_word=True,
            temperature=0.0,
            temperature_inc=0.0,
            suppress_nst=True,
            print_progress=False,
            print_realtime=False,
            print_timestamps=False,
        )
        return [
            (part.t0 / 100, part.t1 / 100, f" {part.text.strip()}", float(part.probability))
            for part in segments
            if part.text.strip()
        ]

    alone = knows_english_alone(path)
    languages = ["en"] if alone else list(Model.available_languages())
    return OpenEngine(hear, languages, f"pywhispercpp {version('pywhispercpp')}")


def open_vosk(path: Path, threads: int) -> OpenEngine:
    """A folder for Vosk; it uses one thread."""
    from importlib.metadata import version

    import vosk

    del threads
    vosk.SetLogLevel(-1)
    model = vosk.Model(model_path=str(path))

    def hear(samples: NDArray[np.int16], language: str, words: str) -> list[RawWord]:
        del language, words
        recogniser = vosk.KaldiRecognizer(model, RATE)
        recogniser.SetWords(True)
        seconds = (samples[first : first + RATE] for first in range(0, samples.size, RATE))
        texts = [
            recogniser.Result() for second in seconds if recogniser.AcceptWaveform(second.tobytes())
        ]
        texts.append(recogniser.FinalResult())
        return [
            (word["start"], word["end"], f" {word['word']}", word["conf"])
            for text in texts
            for word in json.loads(text).get("result", ())
        ]

    return OpenEngine(hear, None, f"vosk {version('vosk')}")


_OPEN: dict[str, Callable[[Path, int], OpenEngine]] = {
    "whisper": open_whisper,
    "whispercpp": open_whispercpp,
    "vosk": open_vosk,
}


def refuse_connections(event: str, _: tuple[Any, ...]) -> None:
    """An audit hook that raises PermissionError if something tries to use a network."""
    if event in _FORBIDDEN:
        raise PermissionError("labapp downloads nothing, so the model must be on this computer")


def main() -> None:
    """Answer until nobody asks any more."""
    # Ctrl+C is for the process that asked, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.addaudithook(refuse_connections)
    # Libraries print what they like to the standard output; the answers go where they cannot.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asked = sys.stdin.buffer
    engine: OpenEngine | None = None
    while (read := read_request(asked)) is not None:
        facts, samples = read
        try:
            if engine is None:
                engine = _OPEN[facts["engine"]](Path(facts["path"]), facts["threads"])
                answer: Any = {"languages": engine.languages, "versions": engine.versions}
            else:
                answer = {"words": engine.hear(samples, facts["language"], facts["words"])}
        except Exception as error:  # noqa: BLE001  (whatever a library raises; the parent tells it)
            answer = {"error": _format_error(error)}
        try:
            out.write(json.dumps(answer).encode() + b"\n")
            out.flush()
        except BrokenPipeError:
            break
    # Not sys.exit: what libraries do at an exit may take long or hang.
    os._exit(0)


def _format_error(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def read_request(stream: IO[bytes]) -> tuple[dict[str, Any], NDArray[np.int16]] | None:
    """The next request and its sound; None if none comes any more."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, count = HEADER.unpack(header)
    text, sound = stream.read(length), stream.read(count * 2)
    if len(text) < length or len(sound) < count * 2:
        return None
    return json.loads(text), np.frombuffer(sound, "<i2")


def request(facts: dict[str, Any], samples: NDArray[np.int16] | None = None) -> bytes:
    """What `read_request` reads."""
    text = json.dumps(facts).encode()
    sound = b"" if samples is None else np.asarray(samples, "<i2").tobytes()
    return HEADER.pack(len(text), len(sound) // 2) + text + sound


if __name__ == "__main__":
    main()
