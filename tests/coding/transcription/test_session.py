"""Writing down a session: what is listened to, what is written, and what stays as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy, NoConsent, TranscriptionError
from labapp.coding.annotations import store
from labapp.coding.annotations.bundling import leaving_annotations
from labapp.coding.annotations.model import Redaction, SessionAnnotations, Unit
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.annotations.store import history_of
from labapp.coding.transcription.session import LONGEST_NS, Transcription, transcribe_session
from labapp.record.journal.opening import open_record
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import WORD_S, ToneRecogniser, speech

SAID = {1.0: "turn the dial", 4.0: "wider", 7.0: "turn left"}


def transcribe(session: Path, recogniser: ToneRecogniser, **more: object) -> Transcription:
    return transcribe_session(session, lambda: recogniser, **more)  # type: ignore[arg-type]


def annotated(session: Path) -> SessionAnnotations:
    return store.annotations_of(open_record(session))


def texts_in(session: Path) -> list[str]:
    known = annotated(session)
    return [known.texts[u.id].text for u in known.segmentation.units if u.id in known.texts]


@pytest.fixture
def take() -> Take:
    return Take(speech(SAID, 10.0, RATE), 5.0, ppm=300)


@pytest.fixture
def session(tmp_path: Path, take: Take) -> Path:
    return sounding_session(tmp_path, take, end_s=30.0)


def never() -> ToneRecogniser:
    raise AssertionError("nothing was to be heard")


def test_words_are_written_at_the_times_at_which_they_were_said(session: Path, take: Take) -> None:
    done = transcribe(session, ToneRecogniser())
    assert (done.units, done.written, done.words, done.units_made) == (3, 3, 6, True)
    assert texts_in(session) == list(SAID.values())
    known = annotated(session)
    assert not known.segmentation.frozen
    words = [word for text in known.texts.values() for word in text.words]
    planted = [
        take.heard_s((begins + place * WORD_S) * RATE)
        for begins, text in SAID.items()
        for place in range(len(text.split()))
    ]
    assert [word.t0_ns / NS for word in words] == pytest.approx(planted, abs=0.03)
    assert {(text.by, text.origin, text.reviewed) for text in known.texts.values()} == {
        ("recogniser", "recogniser", False)
    }


def test_units_that_are_frozen_get_their_texts(session: Path) -> None:
    segment_session(session, "anna", freeze=True)
    done = transcribe(session, ToneRecogniser())
    assert (done.written, done.units_made) == (3, False)
    assert texts_in(session) == list(SAID.values())


def test_without_consent_nobody_listens(tmp_path: Path, take: Take) -> None:
    session = sounding_session(tmp_path, take, end_s=30.0, uses={"transcript": False})
    with pytest.raises(NoConsent, match="did not agree"):
        transcribe_session(session, never)  # type: ignore[arg-type]
    assert not (session.parent / "annotations").exists()


def test_what_a_person_wrote_read_or_redacted_stays(session: Path) -> None:
    transcribe(session, ToneRecogniser())
    first, second, third = annotated(session).segmentation.units
    with store.open_texts(session, "anna") as texts:
        corrected = texts.put(texts.texts[first.id].__class__(first.id, "turn a dial", (), "hand"))
        reviewed = texts.review(second.id)
        texts.redact(Redaction("r", third.t0_ns, third.t0_ns + NS // 4))
    before = annotated(session).texts
    for again in (False, True):
        done = transcribe_session(session, never, again=again)  # type: ignore[arg-type]
        assert (done.kept, done.written) == (3, 0)
    assert annotated(session).texts == before
    assert before[first.id] == corrected
    assert before[second.id] == reviewed


def test_what_nobody_read_is_written_anew_where_that_is_wanted(session: Path) -> None:
    transcribe(session, ToneRecogniser(probability=0.2))
    assert all(text.doubts == ("unsure",) for text in annotated(session).texts.values())
    assert transcribe(session, ToneRecogniser()).kept == 3
    assert transcribe(session, ToneRecogniser(), again=True).written == 3
    assert not any(text.doubts for text in annotated(session).texts.values())


def test_stopped_work_is_gone_on_with(tmp_path: Path, take: Take) -> None:
    whole = sounding_session(tmp_path / "whole", take, end_s=30.0)
    transcribe(whole, ToneRecogniser())
    session = sounding_session(tmp_path / "stopped", take, end_s=30.0)
    with pytest.raises(KeyboardInterrupt):
        transcribe(session, ToneRecogniser(stops_after=1))
    assert texts_in(session) == ["turn the dial"]
    later = ToneRecogniser()
    done = transcribe(session, later)
    assert (len(later.heard), done.kept, done.written) == (2, 1, 2)
    assert texts_in(session) == texts_in(whole)
    timed = [
        [(w.t0_ns, w.t1_ns, w.text) for t in annotated(path).texts.values() for w in t.words]
        for path in (whole, session)
    ]
    assert timed[0] == timed[1]


def test_silence_and_lost_sound_are_never_listened_to(tmp_path: Path) -> None:
    samples = speech({1.0: "turn left", 12.0: "wider"}, 15.0, RATE)
    samples[4 * RATE : 10 * RATE] = 0
    take = Take(samples, 0.0, gaps=((4 * RATE, 6 * RATE),))
    session = sounding_session(tmp_path, take, end_s=30.0)
    with store.open_units(session, "anna") as units:
        units.put_all(Unit(f"u{n}", round(b * NS), round(e * NS)) for n, (b, e) in enumerate(
            [(0.5, 2.5), (2.8, 3.8), (4.5, 9.5), (11.0, 14.0)]
        ))  # fmt: skip
    recogniser = ToneRecogniser()
    done = transcribe(session, recogniser)
    assert (done.written, done.silent) == (2, 2)
    assert texts_in(session) == ["turn left", "wider"]
    seconds = [samples.size / RATE for samples in recogniser.heard]
    assert seconds == pytest.approx([2 * WORD_S + 0.4, WORD_S + 0.4], abs=0.1)


def test_noises_too_short_for_a_word_are_not_listened_to(tmp_path: Path) -> None:
    samples = speech({1.0: "wider"}, 6.0, RATE)
    samples[4 * RATE : 4 * RATE + RATE // 7] = 3000
    samples[4 * RATE : 4 * RATE + RATE // 7 : 2] = -3000
    session = sounding_session(tmp_path, Take(samples, 0.0), end_s=30.0)
    recogniser = ToneRecogniser()
    done = transcribe(session, recogniser)
    assert (done.units, done.written, done.silent) == (2, 1, 1)
    assert len(recogniser.heard) == 1


def test_redacted_words_are_not_listened_to(session: Path, take: Take) -> None:
    segment_session(session, "anna")
    begins = round(take.heard_s((1.0 + WORD_S) * RATE) * NS)
    with store.open_texts(session, "anna") as texts:
        texts.redact(Redaction("r", begins, begins + round(WORD_S * NS)))
    transcribe(session, ToneRecogniser())
    assert texts_in(session)[0] == "turn […] dial"
    assert [word.text for text in annotated(session).texts.values() for word in text.words][:2] == [
        "turn",
        "dial",
    ]


def test_speech_without_a_pause_is_parted_where_it_is_softest(tmp_path: Path) -> None:
    text = " ".join(["turn", "the", "dial", "left", "wider"] * 20)
    samples = speech({1.0: text}, 60.0, RATE)
    recogniser = ToneRecogniser()
    session = sounding_session(tmp_path, Take(samples, 0.0), end_s=70.0)
    done = transcribe(session, recogniser)
    assert done.units == 1
    assert len(recogniser.heard) == 2
    assert max(samples.size for samples in recogniser.heard) <= (LONGEST_NS / NS + 0.5) * RATE
    assert abs(done.words - 100) <= len(recogniser.heard)


def test_voice_outside_of_units_is_told(session: Path, take: Take) -> None:
    begins = round(take.heard_s(0.5 * RATE) * NS)
    with store.open_units(session, "anna") as units:
        units.put(Unit("u", begins, begins + 2 * NS))
    done = transcribe(session, ToneRecogniser())
    assert done.outside_s == pytest.approx(3 * WORD_S, abs=0.05)
    assert "1 s of speech are outside units" in done.line()


def test_a_refusal_makes_no_units(session: Path) -> None:
    """What says that nothing was written has written nothing, whatever refused the work."""

    def broken() -> ToneRecogniser:
        raise TranscriptionError("The model cannot be opened.")

    with pytest.raises(TranscriptionError):
        transcribe_session(session, broken)  # type: ignore[arg-type]
    with pytest.raises(TranscriptionError):
        transcribe(session, ToneRecogniser(), language="de")
    assert not (session.parent / "annotations").exists()
    with store.open_texts(session, "anna"), pytest.raises(AnnotationsBusy):
        transcribe(session, ToneRecogniser(), patience_s=0.0)
    assert not annotated(session).segmentation.units


def test_a_language_that_the_model_does_not_know_writes_nothing(session: Path) -> None:
    with pytest.raises(TranscriptionError, match="knows no de"):
        transcribe(session, ToneRecogniser(), language="de")
    assert texts_in(session) == []


def test_which_program_wrote_it_is_stored_and_goes_into_a_bundle(session: Path) -> None:
    for _ in range(2):
        transcribe(session, ToneRecogniser(), again=True)
    record = open_record(session)
    used = [step.line.body for step in history_of(record) if step.line.kind == "recogniser.used"]
    assert len(used) == 1
    assert {"engine": "tones 1", "model": "tones", "language": "en"}.items() <= used[0].items()
    assert leaving_annotations(record).texts == annotated(session).texts


def test_whoever_has_the_text_open_is_waited_for_and_then_left_alone(session: Path) -> None:
    segment_session(session, "anna")
    with store.open_texts(session, "anna"), pytest.raises(AnnotationsBusy):
        transcribe(session, ToneRecogniser(), patience_s=0.2)


def test_no_sound_is_told(tmp_path: Path) -> None:
    silent = Take(np.zeros(5 * RATE, np.int16))
    with pytest.raises(AnnotationError, match="No speech was detected"):
        transcribe(sounding_session(tmp_path, silent, end_s=9.0), ToneRecogniser())
