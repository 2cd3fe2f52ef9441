"""Speech models at work, where they are: $LABAPP_TEST_SPEECH names models of English (a folder for
faster-whisper, a ggml file, a Vosk folder), parted as in $PATH.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from labapp.base.clock import NS
from labapp.base.errors import TranscriptionError
from labapp.coding.annotations.model import TRANSCRIPT, SessionAnnotations, Text, annotations_folder
from labapp.coding.annotations.store import annotations_of
from labapp.coding.transcription.models import model_at
from labapp.coding.transcription.session import Recogniser, transcribe_session
from labapp.record.journal.opening import open_record
from tests.helpers.synthesized import SENTENCES, Spoken, plain, thinking_aloud, word_errors

MODELS = [path for path in os.environ.get("LABAPP_TEST_SPEECH", "").split(os.pathsep) if path]
pytestmark = [
    pytest.mark.speech,
    pytest.mark.skipif(not MODELS, reason="$LABAPP_TEST_SPEECH names no speech model"),
    pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed"),
]


@pytest.fixture(params=MODELS or ["none"], ids=lambda path: Path(path).name)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def recogniser(path: Path) -> Iterator[Recogniser]:
    with Recogniser(model_at(path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Spoken:
    return thinking_aloud(tmp_path_factory.mktemp("spoken"))


@pytest.fixture
def session(spoken: Spoken, tmp_path: Path) -> Path:
    """The same session, to which nobody has said anything."""
    return Path(shutil.copytree(spoken.folder, tmp_path / "study" / spoken.folder.name))


def annotated(session: Path) -> SessionAnnotations:
    return annotations_of(open_record(session))


def command(session: Path, path: Path) -> list[str]:
    python = [sys.executable, "-m", "labapp"]
    return [*python, "transcribe", str(session), "--model", str(path), "--language", "en"]


def texts_of(session: Path) -> list[Text]:
    known = annotated(session)
    return [known.texts[u.id] for u in known.segmentation.units if u.id in known.texts]


def test_what_was_said_is_written_where_it_was_said(
    session: Path, spoken: Spoken, recogniser: Recogniser, path: Path
) -> None:
    transcribe_session(session, lambda: recogniser)
    known = annotated(session)
    texts = texts_of(session)
    most = 0.2 if path.is_file() else 0.15  # whisper.cpp searches less, so that it can be repeated
    assert word_errors(spoken.words, plain(" ".join(text.text for text in texts))) <= most
    onsets = []
    for begins, ends, _ in spoken.said:
        within = [
            u for u in known.segmentation.units if u.t0_ns < ends * NS and begins * NS < u.t1_ns
        ]
        words = [w for u in within for w in known.texts[u.id].words]
        onsets.append(abs(words[0].t0_ns / NS - begins))
    assert np.median(onsets) <= 0.15
    units = {unit.id: unit for unit in known.segmentation.units}
    for text in texts:
        unit = units[text.unit]
        assert all(unit.t0_ns <= w.t0_ns <= w.t1_ns <= unit.t1_ns for w in text.words)
        assert len(text.words) == len(text.text.split())
        assert all(0 <= (w.probability or 0) <= 1 for w in text.words)


def test_words_that_are_expected_are_heard_and_no_others_invented(
    session: Path, spoken: Spoken, path: Path, tmp_path: Path
) -> None:
    if model_at(path).engine.name == "vosk":
        pytest.skip("a Vosk model has its own words")
    words = tmp_path / "words.txt"
    words.write_text("taller\ncolour\nbackground\nthinner\ndial\ntarget picture\n", "utf-8")
    asked = [*command(session, path), "--words", str(words)]
    subprocess.run(asked, check=True, timeout=110, capture_output=True)
    texts = [text for text in texts_of(session) if not text.doubts]
    assert word_errors(spoken.words, plain(" ".join(text.text for text in texts))) <= 0.15
    said = " ".join(text.text for text in texts)
    assert "colour" in said
    assert "thinner" in said


def test_zeros_give_no_word(recogniser: Recogniser, tmp_path: Path) -> None:
    sentences = (SENTENCES[0], SENTENCES[7], SENTENCES[10])
    begins, ends, _ = thinking_aloud(tmp_path / "whole", sentences).said[1]
    lost = (begins - 1.3, ends - 0.7)  # the file begins at the first second
    spoken = thinking_aloud(tmp_path / "lost", sentences, clicks=False, lost=lost)
    transcribe_session(spoken.folder, lambda: recogniser)
    said = plain(" ".join(text.text for text in texts_of(spoken.folder)))
    assert word_errors(plain(f"{sentences[0]} {sentences[2]}"), said) <= 0.2


def test_killed_work_goes_on_and_ends_the_same(session: Path, tmp_path: Path, path: Path) -> None:
    whole = Path(shutil.copytree(session, tmp_path / "whole" / session.name))
    subprocess.run(command(whole, path), check=True, timeout=110, capture_output=True)
    working = subprocess.Popen(command(session, path), stdout=subprocess.DEVNULL)
    transcript = annotations_folder(session) / TRANSCRIPT
    while not transcript.exists() or transcript.read_text().count("text.put") < 3:
        assert working.poll() is None
        time.sleep(0.02)
    working.send_signal(signal.SIGKILL)
    working.wait()
    before = transcript.read_text().count("text.put")
    assert 3 <= before < len(texts_of(whole))
    subprocess.run(command(session, path), check=True, timeout=110, capture_output=True)
    assert transcript.read_text().count("text.put") == len(texts_of(whole)), "none was heard twice"
    stripped = [
        [(text.text, [(w.t0_ns, w.t1_ns, w.text, w.probability) for w in text.words])
         for text in texts_of(folder)]
        for folder in (whole, session)
    ]  # fmt: skip
    assert stripped[0] == stripped[1]


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_no_network_is_needed(session: Path, path: Path) -> None:
    alone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system makes no network of its own for a process")
    subprocess.run([*alone, *command(session, path)], check=True, timeout=110)
    assert texts_of(session)


def test_another_language_is_refused(session: Path, recogniser: Recogniser) -> None:
    if recogniser.languages is None:
        pytest.skip("a Vosk model does not say which language it knows")
    with pytest.raises(TranscriptionError, match=r"knows no language 'xx'|knows en alone"):
        transcribe_session(session, lambda: recogniser, language="xx")
    if recogniser.languages == ["en"]:
        with pytest.raises(TranscriptionError, match="knows en alone, and de was spoken") as error:
            transcribe_session(session, lambda: recogniser, language="de")
        assert "Get a model that knows de." in error.value.todo
    assert not texts_of(session)
