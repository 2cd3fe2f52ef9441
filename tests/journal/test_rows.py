"""Payloads are read as they were written, whichever reader is the quicker for their kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.errors import RecordError
from labapp.events.event import payload_text
from labapp.events.registry import frequent_kinds
from labapp.journal.rows import Row

SEED = 2**70 + 1
"""Whole numbers of a study are as large as its author likes; this one is no float."""


def row(kind: str, payload: str) -> Row:
    utc = "2026-01-02T03:04:05.000000Z"
    return Row(1, 1, 0, utc, "participant", kind, 1, "stage-1", 1, 1, payload, "")


@given(
    st.sampled_from(sorted(frequent_kinds())),
    st.dictionaries(
        st.text(),
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**63), 2**64 - 1)
        | st.text()
        | st.none()
        | st.booleans(),
    ),
)
def test_a_movement_is_read_to_the_last_bit(kind: str, payload: dict[str, object]) -> None:
    text = payload_text(payload)
    found, expected = row(kind, text).event().payload, json.loads(text)
    assert found == expected
    assert [type(value) for value in found.values()] == [type(v) for v in expected.values()]


def test_a_large_whole_number_stays_one() -> None:
    assert row("session.planned", payload_text({"seed": SEED})).event().payload == {"seed": SEED}


@pytest.mark.parametrize("kind", ["dial.moved", "session.planned"])
@pytest.mark.parametrize("payload", ["", "{", '{"z_seq": 1} {}', "[1]", "1"])
def test_what_is_no_json_object_is_told(kind: str, payload: str) -> None:
    with pytest.raises(RecordError, match=f"Event 1 \\({kind}\\) cannot be read") as told:
        row(kind, payload).event()
    assert told.value.safe
    assert told.value.todo
