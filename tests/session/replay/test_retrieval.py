"""What is found of a study: the words of a stretch are those that were said in it."""

from __future__ import annotations

from pathlib import Path

from labapp.coding.annotations.model import (
    Mark,
    RaterMarks,
    Segmentation,
    SessionAnnotations,
    Text,
    Unit,
)
from labapp.record.journal.opening import open_record
from labapp.session.replay.retrieval import coded_stretches
from tests.helpers.journals import golden_session

S = 1_000_000_000


def test_a_span_that_ends_where_a_unit_begins_has_none_of_its_words(tmp_path: Path) -> None:
    path = golden_session(tmp_path)
    units = tuple(Unit(f"u{n}", (20 + n) * S, (21 + n) * S) for n in range(3))
    texts = {unit.id: Text(unit.id, f"words {unit.id}") for unit in units}
    texts["u2"] = Text("u2", "words u2", reviewed=True)
    marks = (
        Mark("a", "anna", "moment", "insight", 20 * S, 21 * S),
        Mark("b", "anna", "moment", "insight", 22 * S, 22 * S),
    )
    annotations = SessionAnnotations(
        path.name, Segmentation(units, True), texts, {"anna": RaterMarks("anna", marks)}
    )
    stretches = coded_stretches(open_record(path), path, annotations)
    said = [(s.text, s.unread) for s in stretches if s.code]
    assert said == [("words u0", True), ("words u2", False)]
