"""Payloads are read as they were written, whichever reader is the quicker for their kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import RecordError
from labapp.record.events.registry import frequent_kinds, loose, payload_text, registered
from labapp.record.journal.read import Row

SEED = 2**70 + 1
"""Whole numbers of a study are as large as its author likes; this one is no float."""

QUICK = sorted(name for name, cls in registered().items() if not loose(cls))


def row(kind: str, payload: str) -> Row:
    utc = "2026-01-02T03:04:05.000000Z"
    return Row(1, 1, 0, utc, "participant", kind, 1, "stage-1", 1, 1, payload, "")


@given(
    st.sampled_from(QUICK),
    st.dictionaries(
        st.text(),
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**80), 2**80)
        | st.text()
        | st.lists(st.tuples(st.integers(0, 2**32), st.floats(0, 1e9)))
        | st.none()
        | st.booleans(),
    ),
)
def test_what_the_quick_reader_reads_is_the_same_to_the_last_bit(
    kind: str, payload: dict[str, object]
) -> None:
    text = payload_text(payload)
    assert repr(row(kind, text).event().payload) == repr(json.loads(text))


def test_frequent_kinds_and_blocks_of_sound_are_read_quickly() -> None:
    assert {*frequent_kinds(), "audio.block"} <= set(QUICK)
    assert not {"session.planned", "environment.recorded"} & set(QUICK)


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": 1, "b": 2, "a": 3}'])
def test_what_only_the_slow_reader_takes_is_read_by_it(text: str) -> None:
    assert row("audio.block", text).event().payload == json.loads(text)


def test_a_large_whole_number_stays_one() -> None:
    assert row("session.planned", payload_text({"seed": SEED})).event().payload == {"seed": SEED}


@pytest.mark.parametrize("kind", ["dial.moved", "session.planned"])
@pytest.mark.parametrize("payload", ["", "{", '{"z_seq": 1} {}', "[1]", "1"])
def test_what_is_no_json_object_is_told(kind: str, payload: str) -> None:
    with pytest.raises(RecordError, match=f"Event 1 \\({kind}\\) cannot be read") as told:
        row(kind, payload).event()
    assert told.value.safe
    assert told.value.todo
