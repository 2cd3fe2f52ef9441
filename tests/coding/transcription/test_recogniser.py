"""The process of an engine: words, sound, errors, and that it fetches nothing."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import TranscriptionError
from labapp.coding.transcription.child import RATE, read_request, request
from labapp.coding.transcription.models import ENGINES, SpeechModel
from labapp.coding.transcription.session import Recogniser, resampled, whole_words


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
        heard = resampled(tone, rate)
        assert heard.size == pytest.approx(RATE, abs=1)
        assert np.argmax(np.abs(np.fft.rfft(heard, RATE))) == 440
    same = np.ones(3, np.int16)
    assert resampled(same, RATE) is same


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
    assert error.value.safe == "Nothing was written."


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
    assert done.stdout.count("labapp fetches nothing") == 2
