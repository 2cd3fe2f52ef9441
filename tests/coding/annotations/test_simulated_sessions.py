"""A simulated participant that thinks aloud brings units, texts and marks, and is coded as others
are."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.speech_rows import speech_of, speech_rows
from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.annotations.verifying import verify_annotations
from labapp.coding.exchange.gathering import coding_of
from labapp.record.events.lifecycle import SegmentEnded, SessionCompleted
from labapp.record.events.voice import SpeechSimulated
from labapp.record.journal.opening import open_record
from tests.helpers.journals import SessionBuilder, golden_plan

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
    with pytest.raises(AnnotationError, match="is kept for"):
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
