"""The words of a simulated participant stay, whatever is done to the units."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from labapp.coding.annotations import store
from labapp.coding.annotations.segmenting import segment_session
from labapp.record.journal.opening import open_record
from labapp.session.simulation.at_scale import simulate_at_scale

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
