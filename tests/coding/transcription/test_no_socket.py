"""Writing down what was said opens no socket: not in labapp's process, and not in the engine's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.coding.transcription.test_speech import MODELS
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import speech

WATCH = """\
import os, sys
def watch(event, arguments):
    if event.startswith("socket."):
        with open(os.environ["SOCKETS"], "a") as log:
            print(os.getpid(), event, arguments, file=log)
sys.addaudithook(watch)
with open(os.environ["SOCKETS"], "a") as log:
    print(os.getpid(), "watched", file=log)
"""
TRANSCRIBE = """\
import sys
from pathlib import Path
from labapp.base.errors import TranscriptionError
from labapp.coding.transcription.models import ENGINES, SpeechModel
from labapp.coding.transcription.session import Recogniser
from labapp.coding.transcription.session import transcribe_session
from tests.helpers.tone_words import ToneRecogniser
print(transcribe_session(Path(sys.argv[1]), ToneRecogniser).words)
try:
    Recogniser(SpeechModel(Path(sys.argv[2]), ENGINES["whisper"]))
except TranscriptionError as error:
    print(error.what)
"""


def watched(folder: Path, *command: str | Path) -> tuple[str, list[str]]:
    """What a command prints, and which processes of it were watched, with their sockets."""
    (folder / "sitecustomize.py").write_text(WATCH)
    log = folder / "sockets.log"
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env={**os.environ, "PYTHONPATH": path, "SOCKETS": str(log)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, log.read_text().splitlines()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    sound = speech({1.0: "turn the dial", 4.0: "wider"}, 6.0, RATE)
    return sounding_session(tmp_path / "data", Take(sound, 5.0), end_s=20.0)


def test_sockets_are_seen(tmp_path: Path) -> None:
    _, log = watched(tmp_path, "-c", "import socket; socket.socket().close()")
    assert [line.split()[1] for line in log] == ["watched", "socket.__new__"]


def test_none_is_opened(session: Path, tmp_path: Path) -> None:
    empty = tmp_path / "model"
    empty.mkdir()
    told, log = watched(tmp_path, "-c", TRANSCRIBE, session, empty)
    assert told.startswith("4\nfaster-whisper could not open")
    assert len(log) == 2, "the process that asked and the engine's"
    assert {line.split()[1] for line in log} == {"watched"}


def test_an_engine_that_would_reach_out_is_refused_every_way(tmp_path: Path) -> None:
    code = """
import socket, sys
from labapp.coding.transcription import child
sys.addaudithook(child.refuse_connections)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here = ("127.0.0.1", 9)
ways = {
    "connect": lambda: socket.create_connection(here),
    "send": lambda: udp.sendto(b"x", here),
    "message": lambda: udp.sendmsg([b"x"], [], 0, here),
    "serve": lambda: udp.bind(("127.0.0.1", 0)),
    "name": lambda: socket.gethostbyname("localhost"),
    "address": lambda: socket.gethostbyaddr("127.0.0.1"),
    "info": lambda: socket.getnameinfo(here, 0),
}
for name, reach in ways.items():
    try:
        reach()
    except PermissionError as error:
        print(name, str(error).startswith("labapp downloads nothing"))
"""
    told, _ = watched(tmp_path, "-c", code)
    ways = ("connect", "send", "message", "serve", "name", "address", "info")
    assert told.splitlines() == [f"{name} True" for name in ways]


@pytest.mark.speech
@pytest.mark.skipif(not MODELS, reason="$LABAPP_TEST_SPEECH names no speech model")
@pytest.mark.parametrize("path", MODELS or ["none"], ids=lambda path: Path(path).name)
def test_none_is_opened_with_a_real_model(path: str, session: Path, tmp_path: Path) -> None:
    _, log = watched(
        tmp_path, "-m", "labapp", "transcribe", session, "--model", path, "--language", "en"
    )
    assert len(log) >= 2
    # pywhispercpp brings urllib3, which asks when it is imported whether the computer has IPv6: a
    # socket that is refused its address and goes nowhere.
    refused = {"socket.__new__", "socket.bind"} if Path(path).is_file() else set()
    assert {line.split()[1] for line in log} - refused == {"watched"}
