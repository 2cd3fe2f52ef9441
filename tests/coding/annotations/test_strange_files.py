"""Whatever stands in a file of annotations, it is read or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labapp.base.errors import AnnotationError, LabappError
from labapp.coding.annotations import marks, settlements, store, texts, units
from labapp.coding.annotations.ledger import Fold, Line, as_bytes, body_of, fold_lines, parse
from labapp.coding.annotations.marks import MarksFold
from labapp.coding.annotations.model import (
    TRANSCRIPT,
    UNITS,
    Mark,
    Redaction,
    Text,
    Unit,
    annotations_folder,
    rater_file,
)
from labapp.coding.annotations.settlements import SettlementsFold
from labapp.coding.annotations.texts import TextsFold
from labapp.coding.annotations.units import UnitsFold
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.coding.annotations.test_lines import VALUES, at
from tests.helpers.journals import golden_session
from tests.helpers.nightly import EVERYTHING

KINDS = sorted(
    {
        value
        for module in (marks, units, texts, settlements)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and "." in value and " " not in value
    }
    | {marks.STATUS, marks.TOMBSTONE}
)
KEYS = st.sampled_from(
    ["id", "t0_ns", "t1_ns", "unit", "by", "rater", "round", "status", "text", "about", "frozen",
     "accepted", "put", "removed", "words", "journal", "sound", "codebook", "machine", "marks",
     "tier", "code", "speaker", "origin", "what", "reason", "of", "blind", "value", "memo"]
)  # fmt: skip
WORDS = st.sampled_from(["a", "independent", "participant", "done", "hand", ""])
BODIES = st.dictionaries(KEYS, VALUES | WORDS | st.integers(-5, 5) | st.booleans(), max_size=12)
UNIT = body_of(Unit("u", 1, 5))
WHOLE: dict[str, dict[str, Any]] = {
    marks.OPENED: {"journal": "", "sound": {}, "rater": "anna", "codebook": "", "blind": [],
                   "round": "independent", "machine": False},
    marks.PUT: body_of(Mark("m", "anna", "a", "b", 1, 5)),
    marks.MEMO: {"about": "session", "text": "a"},
    marks.STATUS: {"status": "done", "round": "independent"},
    units.OPENED: {"journal": "", "sound": {}, "by": "anna"},
    units.PUT: UNIT,
    units.PROPOSED: {"id": "p", "what": "add", "removed": [], "put": [UNIT], "by": "",
                     "reason": ""},
    texts.PUT: body_of(Text("u", "words")),
    texts.REDACTED: body_of(Redaction("r", 1, 5)),
}  # fmt: skip


def with_change(kind: str, place: int, value: Any) -> tuple[str, dict[str, Any]]:
    """A whole body but for one key."""
    body = WHOLE[kind]
    return kind, {**body, sorted(body)[place % len(body)]: value}


CHANGED = st.builds(with_change, st.sampled_from(sorted(WHOLE)), st.integers(0, 20), VALUES)
FILES = st.lists(st.tuples(st.sampled_from(KINDS), BODIES) | CHANGED, max_size=6).map(
    lambda entries: as_bytes(
        Line(seq, at(seq), kind, 1, body) for seq, (kind, body) in enumerate(entries, start=1)
    )
)
FOLDS: list[Callable[[], Fold]] = [MarksFold, UnitsFold, TextsFold, SettlementsFold]


@settings(max_examples=100 if EVERYTHING else 15)
@given(st.binary(max_size=400))
def test_any_bytes_are_lines_or_problems(content: bytes) -> None:
    read = parse(content)
    assert read.lines or read.problems or read.torn or not content.strip(b"\n")


@pytest.mark.parametrize("make", FOLDS)
@settings(max_examples=150 if EVERYTHING else 8)
@given(FILES)
def test_any_lines_are_taken_in_or_refused(make: Callable[[], Fold], content: bytes) -> None:
    fold: Any = make()
    try:
        fold_lines(fold, parse(content).lines, "a file")
    except AnnotationError as error:
        assert "cannot be read" in error.what  # noqa: PT017


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_session(tmp_path_factory.mktemp("strange"))


@settings(
    max_examples=60 if EVERYTHING else 10,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(FILES | st.binary(max_size=100), st.sampled_from([UNITS, TRANSCRIPT, "rater"]))
def test_a_session_with_any_file_is_read_or_refused(
    session: Path, content: bytes, name: str
) -> None:
    path = rater_file(session, "anna") if name == "rater" else annotations_folder(session) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        record = open_record(session)
        for read in (
            store.annotations_of,
            lambda record: list(map(str, store.history_of(record))),
        ):
            try:
                read(record)
            except LabappError as error:
                assert error.what  # noqa: PT017
        verify_annotations(session)
    finally:
        path.unlink()
