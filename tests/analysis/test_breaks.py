"""A break of the plan is no deviation, and no duration counts it."""

from __future__ import annotations

from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables, tables_of
from labapp.record.events.lifecycle import (
    PartEnded,
    PartStarted,
    SessionCompleted,
    SessionPaused,
    SessionResumed,
)
from labapp.session.bids.contents import session_timeline
from tests.analysis.sessions import Stamped, builder, paired
from tests.helpers.journals import SessionBuilder

BREAK = {"part": "break", "id": "break-1", "title": "Break", "document": "b", "at_least_s": 30.0}
TEXT = {"part": "text", "id": "text-1", "title": "Text", "document": "t", "values": {}}


def session(*, killed: bool = False) -> Stamped:
    """10 s of a text with a pause of 5 s in it, a break of 60 s, and the end 3 s later; killed: the
    program stood still from 40 to 50."""
    made: SessionBuilder = builder(TEXT, BREAK)
    made.at(1, PartStarted(0), "text-1")
    made.at(3, SessionPaused("the phone rang"))
    made.at(8, SessionResumed("on"))
    made.at(16, PartEnded(0, "completed"), "text-1")
    made.at(16, PartStarted(1), "break-1")
    made.at(16, SessionPaused("break"))
    if killed:
        made.segment(50, 2, gap_from=40)
    made.at(76, SessionResumed("break over"))
    made.at(76, PartEnded(1, "completed"), "break-1")
    made.at(79, SessionCompleted())
    return paired(made)


def tables(events: Stamped) -> Tables:
    return tables_of([SessionRecords.of(events, "test")])


def test_a_break_is_counted_apart_from_pauses() -> None:
    found = tables(session())
    (person,) = found.participants.to_dict("records")
    assert (person["n_pauses"], person["paused_s"]) == (1, 5.0)
    assert (person["n_breaks"], person["breaks_s"]) == (1, 60.0)
    assert (person["elapsed_s"], person["duration_s"]) == (79.0, 79.0 - 60 - 5)
    assert found.deviations["kind"].tolist() == ["paused"]


def test_a_kill_in_a_break_is_an_interruption_as_long_as_the_program_was_away() -> None:
    found = tables(session(killed=True))
    (person,) = found.participants.to_dict("records")
    assert (person["n_breaks"], person["breaks_s"]) == (1, 60.0)
    assert (person["n_gaps"], person["gap_s"]) == (1, 0.0), "its time is the break's"
    assert person["duration_s"] == 14.0
    parts = ("duration_s", "paused_s", "breaks_s", "gap_s")
    assert sum(person[part] for part in parts) == person["elapsed_s"]
    assert found.deviations["kind"].tolist() == ["paused", "interrupted"]
    assert found.deviations["duration_s"].tolist() == [5.0, 10.0]


def test_the_timeline_names_the_break() -> None:
    for killed in (False, True):
        rows = session_timeline(session(killed=killed)).rows
        still = [
            (row["trial_type"], row["onset"], row["duration"])
            for row in rows
            if row["trial_type"] in ("pause", "break", "gap")
        ]
        assert [kind for kind, _, _ in still] == ["pause", "break"]
        assert float(still[1][1]) == 16
        assert float(still[1][2]) == 60
