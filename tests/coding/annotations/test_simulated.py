"""Units from the sound and from simulated participants that think aloud."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labapp.analysis.speech_rows import speech_of, speech_rows
from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.segmenting import segment, segment_session
from labapp.coding.annotations.verifying import verify_annotations
from labapp.coding.exchange.gathering import coding_of
from labapp.record.events.lifecycle import SegmentEnded, SessionCompleted
from labapp.record.events.voice import SpeechSimulated
from labapp.record.journal.opening import open_record
from labapp.session.simulation.at_scale import simulate_at_scale
from tests.helpers.journals import SessionBuilder, golden_plan
from tests.helpers.recorded_sounds import RATE, Take, sounding_session

STUDY = """\
id: aloud
title: Aloud
version: 1
unnamed_texts: shipped
flow:
- stages: {task: reconstruction, models: [sinelines/gt], trials: 2}
"""


def test_words_stay_where_units_are_frozen(tmp_path: Path) -> None:
    study = tmp_path / "aloud.yaml"
    study.write_text(STUDY)
    (session,) = simulate_at_scale(
        str(study), 1, "understanding", tmp_path / "data", 1, thinks_aloud=True
    )
    before = store.annotations_of(open_record(session)).texts
    assert before
    segment_session(session, "detector", freeze=True)
    assert store.annotations_of(open_record(session)).texts == before
    unit = next(iter(before))
    with store.open_texts(session, "anna") as file:
        assert dict(file.texts) == before
        file.put(replace(before[unit], text="corrected", by="anna"))
        file.undo()
        assert file.texts[unit].text == before[unit].text


BOOK = resources.assets() / "codebooks" / "think-aloud.yaml"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session in which a program said two things."""
    builder = SessionBuilder(study_files=None)
    frozen = golden_plan()
    builder.plan(frozen.pop("plan"), **frozen)
    builder.segment(0, 1)
    for begins, text, code in ((2, "what does this do", "explore"), (5, "there it is", "goal")):
        told = SpeechSimulated(begins * NS, (begins + 2) * NS, text, {"strategy": code})
        builder.at(begins, told)
    builder.at(9, SessionCompleted())
    builder.at(9, SegmentEnded("completed"))
    return builder.write(tmp_path)


def test_what_it_said_is_there_without_a_file(session: Path) -> None:
    annotations = store.annotations_of(open_record(session))
    assert annotations.segmentation.frozen
    assert [unit.t0_ns // NS for unit in annotations.segmentation.units] == [2, 5]
    assert [text.text for text in annotations.texts.values()] == [
        "what does this do",
        "there it is",
    ]
    assert [mark.code for mark in annotations.raters["simulated"].marks] == ["explore", "goal"]
    assert not (session.parent / "annotations").exists()


def test_it_is_coded_at_once(session: Path) -> None:
    before = store.annotations_of(open_record(session))
    first = before.segmentation.units[0]
    with store.open_marks(session, "anna", codebooks.read(BOOK)) as marks:
        marks.give("goal", unit=first.id)
    with pytest.raises(AnnotationError, match="is reserved for"):
        store.open_marks(session, "simulated", codebooks.read(BOOK))
    after = store.annotations_of(open_record(session))
    assert set(after.raters) == {"moderator", "simulated", "anna"}
    assert after.segmentation == before.segmentation
    report = verify_annotations(session)
    assert report.ok
    assert not report.remarks


def test_its_units_stay_where_somebody_opens_them(session: Path) -> None:
    before = store.annotations_of(open_record(session))
    with store.open_units(session, "anna") as units:
        assert units.units == before.segmentation.units
        assert units.frozen
        units.split(units.units[0].id, 3 * NS)
        assert len(units.proposals) == 1
    after = store.annotations_of(open_record(session))
    assert after.segmentation.units == before.segmentation.units
    assert after.texts == before.texts, "the words are those of the same units"
    assert segment_session(session, "anna", freeze=True).units == before.segmentation.units
    assert verify_annotations(session).ok


def test_analysis_and_export_mean_the_same_by_final(session: Path) -> None:
    record = open_record(session)
    rows = speech_rows(speech_of(record, record.payloads()), record.payloads(), {}, (), None)
    counted = [row["mark"] for row in rows["codes"]]
    assert counted == [mark.id for mark in coding_of(record, "final").marks]
    assert len(counted) == 2


SPOKEN = ((1.0, 2.5), (2.9, 4.0), (6.0, 7.5))

"""Seconds of a take in which somebody speaks."""


def spoken(seconds: float = 10.0) -> np.ndarray:
    """Noise as loud as speech in a quieter room."""
    draw = np.random.default_rng(1)
    samples = draw.normal(0, 30, int(seconds * RATE))
    for begins, ends in SPOKEN:
        part = slice(int(begins * RATE), int(ends * RATE))
        samples[part] += draw.normal(0, 3000, part.stop - part.start)
    return samples.astype(np.int16)


def test_units_lie_where_somebody_speaks(tmp_path: Path) -> None:
    first, second = Take(spoken(), 5.0, ppm=300), Take(spoken(), 40.0)
    record = open_record(sounding_session(tmp_path, first, second, end_s=60.0))
    units = segment(record)
    planted = [
        (take.heard_s(begins * RATE), take.heard_s(ends * RATE))
        for take in (first, second)
        for begins, ends in ((1.0, 4.0), (6.0, 7.5))
    ]
    heard = [(unit.t0_ns / NS, unit.t1_ns / NS) for unit in units]
    assert heard == [pytest.approx(pair, abs=0.04) for pair in planted]
    assert all(unit.origin == "detector" for unit in units)
    assert len(segment(record, pause_s=0.3)) == 6


def test_a_session_is_segmented_once_and_frozen(tmp_path: Path) -> None:
    session = sounding_session(tmp_path, Take(spoken()), end_s=20.0)
    made = segment_session(session, "anna")
    assert len(made.units) == 2
    assert not made.frozen
    with pytest.raises(AnnotationError, match="already has units: 2"):
        segment_session(session, "anna")
    frozen = segment_session(session, "anna", freeze=True)
    assert frozen.units == made.units
    assert frozen.frozen


def test_units_that_nobody_looked_at_are_changed_by_anybody(tmp_path: Path) -> None:
    session = sounding_session(tmp_path, Take(spoken()), end_s=20.0)
    units = segment_session(session, "detector", freeze=True).units
    with store.open_units(session, "anna") as file:
        file.remove(units[0].id)
        file.settle(file.proposals[0].id, True)
        assert file.units == units[1:]
    with pytest.raises(AnnotationError, match="'detector' is reserved for"):
        store.open_texts(session, "detector")


def test_silence_and_no_sound_are_told(tmp_path: Path) -> None:
    silent = sounding_session(tmp_path / "a", Take(np.zeros(5 * RATE, np.int16)), end_s=20.0)
    with pytest.raises(AnnotationError, match="No speech was detected"):
        segment_session(silent, "anna")
    assert not (silent.parent / "annotations").exists(), "nothing was begun"
    without = sounding_session(tmp_path / "b", end_s=20.0)
    with pytest.raises(AnnotationError, match="has no sound that could be segmented"):
        segment_session(without, "anna")
