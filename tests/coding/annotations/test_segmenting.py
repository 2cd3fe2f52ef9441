"""Units from the sound: at the session time of what was said, whatever the sound card's clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import store
from labapp.coding.annotations.segmenting import segment, segment_session
from labapp.record.journal.opening import open_record
from tests.helpers.recorded_sounds import RATE, Take, sounding_session

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
    with pytest.raises(AnnotationError, match="has units already: 2"):
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
    with pytest.raises(AnnotationError, match="'detector' is kept for"):
        store.open_texts(session, "detector")


def test_silence_and_no_sound_are_told(tmp_path: Path) -> None:
    silent = sounding_session(tmp_path / "a", Take(np.zeros(5 * RATE, np.int16)), end_s=20.0)
    with pytest.raises(AnnotationError, match="No speech was heard"):
        segment_session(silent, "anna")
    assert not (silent.parent / "annotations").exists(), "nothing was begun"
    without = sounding_session(tmp_path / "b", end_s=20.0)
    with pytest.raises(AnnotationError, match="has no sound that could be segmented"):
        segment_session(without, "anna")
