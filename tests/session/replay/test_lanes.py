"""The lanes of recorded sessions: what happened when, and what a blind rater sees of it."""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import NS
from labapp.coding.annotations.model import (
    Mark,
    RaterMarks,
    Segmentation,
    SessionAnnotations,
    Text,
    Unit,
)
from labapp.record.events.lifecycle import (
    DeviationNoted,
    FlagAdded,
    NoteAdded,
    NoteCorrected,
    ProgramStalled,
    PromptGiven,
)
from labapp.record.events.registry import Source, UnstampedEvent
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import Row
from labapp.session.bids.export import export
from labapp.session.replay.history import History
from labapp.session.replay.lanes import (
    Lane,
    LaneFold,
    LaneItem,
    blind_lanes,
    find_coded_stretches,
    fold_lanes,
    lanes_of,
    next_after,
    previous_before,
)
from labapp.ui.replay.picture import item_label
from tests.helpers.golden import golden_builder
from tests.helpers.journals import GOLDEN, golden_session
from tests.helpers.journals import stamp as stamped

JOURNALS = sorted((GOLDEN / "journals").glob("*/*.jsonl"))


class Span(NamedTuple):
    t0_ns: int
    t1_ns: int


class Sound(NamedTuple):
    spans: tuple[Span, ...]
    gaps: tuple[tuple[int, int, str], ...]


def lane(lanes: tuple[Lane, ...], name: str) -> Lane:
    return next(lane for lane in lanes if lane.id == name)


def stretches(lane: Lane, kind: str) -> list[tuple[float, float, str]]:
    items = (item for item in lane.items if item.kind == kind)
    return [(item.t0_ns / NS, item.t1_ns / NS, item.outcome) for item in items]


@pytest.fixture
def lanes(tmp_path: Path) -> tuple[Lane, ...]:
    return lanes_of(open_record(golden_session(tmp_path)))


def test_trials_and_parts_are_stretches_with_their_outcomes(lanes: tuple[Lane, ...]) -> None:
    screen = lane(lanes, "screen")
    assert stretches(screen, "trial") == [
        (16, 19, "solved"),
        (20, 23, "solved"),
        (23, 26, "solved"),
        (28, 44.5, "solved"),
        (45, 54, "skipped"),
        (60.5, 68.5, "solved"),
        (69, 108.25, "solved"),
        (112, 116, "solved"),
        (117, 118, "solved"),
    ]
    parts = stretches(screen, "part")
    assert parts[0] == (2, 8, "completed")
    assert (28, 54, "completed") in parts
    assert (118, 120, "skipped") in parts
    assert [item.part_id for item in screen.items if item.kind == "trial"][3] == "stage-1"


def test_what_stopped_the_session_is_a_stretch_of_its_own(lanes: tuple[Lane, ...]) -> None:
    held = [(item.kind, item.t0_ns / NS, item.t1_ns / NS) for item in lane(lanes, "pauses").items]
    assert held == [("pause", 32, 42), ("gap", 72.25, 104.25), ("end", 123, 124)]


@pytest.mark.parametrize(("who", "holds"), [("program", True), ("recorder", False)])
def test_a_standstill_is_a_stretch_and_that_of_the_recorder_alone_a_mark(
    who: str, holds: bool
) -> None:
    fold = LaneFold()
    payload = ProgramStalled(who, 5 * NS, 20 * NS, 0, holds)
    (event,) = stamped([(26 * NS, Source.SYSTEM, UnstampedEvent(payload))])
    fold.apply(event, payload)
    lanes = fold.lanes(30 * NS)
    held = [(item.kind, item.t0_ns, item.t1_ns) for item in lane(lanes, "pauses").items]
    assert held == ([("stall", 5 * NS, 25 * NS)] if holds else [])
    assert [item.kind for item in lane(lanes, "alarms").items] == ["program.stalled"]
    labels = {item_label(item, {}) for each in lanes for item in each.items}
    assert len(labels) == 1
    assert "froze for 20.0 s" in labels.pop()


def test_moves_name_their_dial_and_the_alignment_breaks_off_with_its_trial(
    lanes: tuple[Lane, ...],
) -> None:
    moves = lane(lanes, "dials")
    assert (moves.times[:3] / NS).tolist() == [12, 17, 18]
    assert moves.values[:3].tolist() == [0, 0, 1]
    curve = lane(lanes, "alignment")
    at = bisect_right(curve.times.tolist(), 44 * NS)
    assert curve.values[at - 1] == 1.0
    assert np.isnan(curve.values[at])
    assert curve.times[at] / NS == 44.5
    assert not np.isnan(curve.values).all()
    assert np.count_nonzero(np.isnan(curve.values)) == 9  # a break a trial


def test_notes_stand_where_their_typing_began(lanes: tuple[Lane, ...]) -> None:
    (note,) = lane(lanes, "notes").items
    assert (note.t0_ns / NS, note.text) == (47.5, "Says the third dial does nothing.")
    (flag,) = lane(lanes, "flags").items
    assert (flag.t0_ns / NS, flag.text, flag.payload["number"]) == (61, "insight", 1)
    (prompt,) = lane(lanes, "prompts").items
    assert prompt.text == "Please keep talking"
    alarms = [item.kind for item in lane(lanes, "alarms").items]
    assert alarms == ["audio.gap", "alarm.raised"]


def test_corrections_are_read_and_what_was_taken_back_is_gone() -> None:
    builder = golden_builder()
    said = Source.MODERATOR
    builder.at(123.1, NoteAdded("Looks lost.", 122 * NS), source=said)
    builder.at(123.1, DeviationNoted("The door was open.", 122 * NS), source=said)
    builder.at(123.2, FlagAdded(2, "doubt"), source=said)
    builder.at(123.2, PromptGiven("Go on"), source=said)
    rows = sorted(builder.rows, key=lambda row: row[0])
    seqs = {event.kind: event.seq for event in stamped(rows)}
    for seq, text in (
        (seqs["note.added"], "Looked lost."),
        (seqs["deviation.noted"], ""),
        (seqs["flag.added"], ""),
        (seqs["prompt.given"], ""),
        (seqs["prompt.given"], "Go on"),
    ):
        builder.at(123.3, NoteCorrected(seq, text, 123 * NS), source=said)
    events = stamped(sorted(builder.rows, key=lambda row: row[0]))
    lanes = fold_lanes([Row(*event[:10], json.dumps(event.payload), "") for event in events])
    assert [item.text for item in lane(lanes, "notes").items][1:] == ["Looked lost."]
    assert [item.text for item in lane(lanes, "flags").items] == ["insight"]
    assert [item.text for item in lane(lanes, "prompts").items][1:] == ["Go on"]


def test_a_bundle_has_the_lanes_of_its_session(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "session")
    bundle = open_record(export([folder], tmp_path / "bundle", zip=True))
    for of_session, of_bundle in zip(lanes_of(open_record(folder)), lanes_of(bundle), strict=True):
        assert of_session.items == of_bundle.items
        np.testing.assert_array_equal(of_session.times, of_bundle.times)
        np.testing.assert_array_equal(of_session.values, of_bundle.values)


def test_a_blind_rater_sees_neither_outcomes_nor_what_others_wrote(tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path))
    shown = lanes_of(record, blind=("names", "outcomes", "future"))
    assert {lane.id for lane in shown} == {"pauses", "screen", "dials", "prompts", "alarms"}
    assert not any(item.outcome for lane in shown for item in lane.items)
    seen = lanes_of(record, blind=("names",))
    assert {"alignment"} <= {lane.id for lane in seen}
    assert not {"flags", "notes"} & {lane.id for lane in seen}


def test_what_comes_is_in_no_lane_until_then(lanes: tuple[Lane, ...]) -> None:
    now = 30 * NS
    past = tuple(lane.until(now) for lane in lanes)
    assert max(item.t1_ns for lane in past for item in lane.items) <= now
    running = [item for item in lane(past, "screen").items if item.t1_ns == now]
    assert [(item.kind, item.outcome) for item in running] == [("part", ""), ("trial", "")]
    assert all((lane.times <= now).all() for lane in past)
    assert next_after(past, now, ("trial", "note", "dial")) is None


def test_sound_lies_where_the_files_have_it(tmp_path: Path) -> None:
    sound = Sound((Span(NS, 72 * NS), Span(103 * NS, 123 * NS)), ((9 * NS, 10 * NS, "overflow"),))
    heard = lane(lanes_of(open_record(golden_session(tmp_path)), sound=sound), "sound")
    kinds = [(item.kind, item.t0_ns / NS, item.t1_ns / NS) for item in heard.items]
    assert kinds == [("recorded", 1, 72), ("lost", 9, 10), ("recorded", 103, 123)]
    assert next_after((heard,), 0, ("silence",)) == 9 * NS


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_task_has_its_trials_on_the_screen(path: Path) -> None:
    rows = [Row(*json.loads(line)) for line in path.read_text().splitlines()]
    lanes = fold_lanes(rows)
    screen = lane(lanes, "screen")
    trials = [item for item in screen.items if item.kind == "trial"]
    assert trials
    assert all(item.t0_ns <= item.t1_ns and item.part_id for item in trials)
    ended = [row for row in rows if row.kind == "trial.ended"]
    assert sum(bool(item.outcome) for item in trials) == len(ended)


def test_jumps_lead_to_trials_notes_and_dials(lanes: tuple[Lane, ...]) -> None:
    assert next_after(lanes, 28 * NS, ("trial",)) == 45 * NS
    assert previous_before(lanes, 45 * NS, ("trial",)) == 28 * NS
    assert next_after(lanes, 0, ("note",)) == 47.5 * NS
    assert next_after(lanes, 0, ("note", "flag")) == 47.5 * NS
    assert next_after(lanes, 48 * NS, ("note", "flag")) == 61 * NS
    assert next_after(lanes, 120 * NS, ("flag",)) is None
    assert previous_before(lanes, 0, ("trial",)) is None
    assert next_after(lanes, 28 * NS, ("dial",)) == 29.5 * NS


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(-5, 105))
def test_the_next_is_the_first_after_and_the_previous_the_last_before(
    onsets: list[int], now: int
) -> None:
    items = tuple(LaneItem("note.added", onset, onset) for onset in sorted(onsets))
    lanes = (Lane("notes", "points", items), Lane("flags", "points", items[:3]))
    after = [onset for onset in onsets if onset > now]
    before = [onset for onset in onsets if onset < now]
    assert next_after(lanes, now, ("note",)) == min(after, default=None)
    assert previous_before(lanes, now, ("note", "flag")) == max(before, default=None)


def test_lanes_can_be_veiled_later(lanes: tuple[Lane, ...], tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path / "again"))
    later = blind_lanes(lanes, ("outcomes",))
    at_once = lanes_of(record, blind=("outcomes",))
    assert [(lane.id, lane.items) for lane in later] == [(lane.id, lane.items) for lane in at_once]
    assert blind_lanes(lanes, ()) == lanes


def test_events_that_were_read_already_give_the_same_lanes(tmp_path: Path) -> None:
    record, folded = open_record(golden_session(tmp_path)), LaneFold()
    History(record, folded.apply).close()
    for lane_read, lane_given in zip(
        lanes_of(record), lanes_of(record, folded=folded), strict=True
    ):
        assert lane_read.items == lane_given.items
        np.testing.assert_array_equal(lane_read.values, lane_given.values)


def test_sound_that_is_not_there_any_more_is_lost_and_none_is_none(tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path))
    none = Sound((), ((0, 124 * NS, "not_recorded"),))
    assert not any(lane.id == "sound" for lane in lanes_of(record, sound=none))
    gone = Sound((), ((NS, 72 * NS, "missing"), (72 * NS, 124 * NS, "not_recorded")))
    (item,) = lane(lanes_of(record, sound=gone), "sound").items
    assert (item.kind, item.text, item.t1_ns) == ("lost", "missing", 72 * NS)


def test_a_span_that_ends_where_a_unit_begins_has_none_of_its_words(tmp_path: Path) -> None:
    path = golden_session(tmp_path)
    units = tuple(Unit(f"u{n}", (20 + n) * NS, (21 + n) * NS) for n in range(3))
    texts = {unit.id: Text(unit.id, f"words {unit.id}") for unit in units}
    texts["u2"] = Text("u2", "words u2", reviewed=True)
    marks = (
        Mark("a", "anna", "moment", "insight", 20 * NS, 21 * NS),
        Mark("b", "anna", "moment", "insight", 22 * NS, 22 * NS),
    )
    annotations = SessionAnnotations(
        path.name, Segmentation(units, True), texts, {"anna": RaterMarks("anna", marks)}
    )
    stretches = find_coded_stretches(open_record(path), path, annotations)
    said = [(s.text, s.unread) for s in stretches if s.code]
    assert said == [("words u0", True), ("words u2", False)]
