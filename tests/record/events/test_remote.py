"""What was asked for at another computer has the time of its key there, and says who asked."""

from __future__ import annotations

from labapp.analysis.deviations import fold_notes
from labapp.coding.annotations.store import moderator_marks
from labapp.record.events import Event, Payload, payload_of
from labapp.record.events.lifecycle import FlagAdded, NoteAdded, PromptGiven
from labapp.record.events.registry import Source
from labapp.record.events.remote import Afar, RemoteAsked, RemoteJoined
from labapp.session.bids.contents import session_timeline
from labapp.ui.moderator.state.console import ConsoleState
from tests.analysis.sessions import paired
from tests.helpers.journals import SessionBuilder

ANNA, BEN = 1, 2


def noted() -> list[tuple[Event, Payload]]:
    """A flag and a prompt of a moderator's and a note of an observer's, each over a slow link; then
    the same kinds at the session's own computer."""
    builder = SessionBuilder()
    builder.plan([{"part": "text", "id": "part-1", "title": "", "document": "a.md"}])
    builder.segment(0, 1)
    builder.at(1, RemoteJoined(ANNA, "Anna", "moderator", False), None)
    builder.at(1, RemoteJoined(BEN, "Ben", "observer", False), None)
    moderator = {"source": Source.MODERATOR}
    builder.at(5, RemoteAsked(ANNA, 1, 3_000_000_000, 1), None, **moderator)
    builder.at(5, FlagAdded(1, "insight"), None, **moderator)
    builder.at(6, RemoteAsked(ANNA, 2, 4_000_000_000, 1), None, **moderator)
    builder.at(6, PromptGiven("Please keep talking"), None, **moderator)
    builder.at(7, RemoteAsked(BEN, 1, 6_500_000_000, 1), None, **moderator)
    builder.at(7, NoteAdded("does she see it?", 6_000_000_000), None, **moderator)
    builder.at(8, FlagAdded(1, "insight"), None, **moderator)
    builder.at(9, NoteAdded("here", 8_500_000_000), None, **moderator)
    return paired(builder)


def test_only_what_follows_from_a_request_is_of_it() -> None:
    afar, times, sources = Afar(), [], []
    for event, payload in noted():
        afar.apply(event, payload)
        if isinstance(payload, FlagAdded | NoteAdded | PromptGiven):
            times.append(afar.time_ns(event) / 1e9)
            sources.append(afar.source(event))
    assert times == [3, 4, 6.5, 8, 9]
    assert sources == ["moderator", "moderator", "observer", "moderator", "moderator"]


def test_a_time_after_the_event_is_not_believed() -> None:
    afar = Afar()
    asked = Event(1, 1, 5, "", "moderator", "remote.asked", 1, None, None, None, {})
    afar.apply(asked, RemoteAsked(ANNA, 1, 900, 1))
    flag = asked._replace(seq=2, t_ns=6, kind="flag.added")
    assert afar.time_ns(flag) == 6


def test_tables_marks_bundles_and_consoles_say_the_same() -> None:
    events = noted()
    expected = [
        (3.0, "moderator"),
        (4.0, "moderator"),
        (6.0, "observer"),
        (8.0, "moderator"),
        (8.5, "moderator"),
    ]
    entries = fold_notes(events)
    assert [(entry.onset_ns / 1e9, entry.source) for entry in entries] == expected
    marks = moderator_marks(events).marks
    assert [mark.t0_ns / 1e9 for mark in marks] == [at for at, _ in expected]
    kinds = ("flag.added", "prompt.given", "note.added")
    rows = [row for row in session_timeline(events).rows if row["trial_type"] in kinds]
    assert [(float(row["onset"]), row["source"]) for row in rows] == expected
    console = ConsoleState([], [event for event, _ in events])
    assert [note.t_ns / 1e9 for note in console.notes] == [at for at, _ in expected]
    assert [note.by for note in console.notes] == ["", "", "Ben", "", ""]
    assert all(payload_of(event) == payload for event, payload in events)
