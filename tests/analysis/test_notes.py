"""The table of what the moderator noted, with every correction."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from labapp.analysis.rows import SessionRecords
from labapp.analysis.sections import notes_section
from labapp.analysis.tables import Tables, tables_of
from labapp.base.clock import NS
from labapp.record.events import Payload, Source
from labapp.record.events.lifecycle import (
    BlindingSet,
    DeviationNoted,
    FlagAdded,
    NoteAdded,
    NoteCorrected,
    PartEnded,
    PartStarted,
    PromptGiven,
    SessionCompleted,
    SessionPaused,
    SessionPlanned,
    SessionResumed,
    SkipConfirmed,
    SkipRequested,
    SkipTakenBack,
)
from labapp.session.bids.contents import session_columns, session_timeline
from labapp.tasks.interview.events import QuestionAsked
from tests.analysis.sessions import Stamped, begin_trial, builder, end_trial, paired, stage_row

INTERVIEW = {
    "part": "interview", "id": "interview-1", "title": "Interview", "document": "i",
    "questions": ["What was hard?"],
}  # fmt: skip


def session(*, blind: bool | None = True) -> Stamped:
    """A stage of two questions with a pause of 10 s, and an interview of 20 s."""
    made = builder(stage_row(), INTERVIEW)

    def moderates(t: float, payload: Payload) -> int:
        made.at(t, payload, "stage-1" if t < 35 else None, source=Source.MODERATOR)
        return len(made.rows)

    if blind is not None:
        made.at(0, BlindingSet(blind))
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 1)
    made.at(5, SessionPaused("a phone"))
    made.at(15, SessionResumed("on"))
    end_trial(made, 18)
    begin_trial(made, 20, 2)
    # Begun in the first question, kept in the second.
    note = moderates(24, NoteAdded("turns teh dial", round(17.5 * NS)))
    flag = moderates(25, FlagAdded(3, "confusion"))
    moderates(26, PromptGiven("Please keep talking"))
    deviation = moderates(28, DeviationNoted("door open", 27 * NS))
    moderates(30, NoteCorrected(note, "turns the dial", 29 * NS))
    moderates(31, NoteCorrected(flag, "", 31 * NS))
    moderates(32, NoteCorrected(deviation, "window open", 32 * NS))
    moderates(32.5, NoteCorrected(999, "nothing there", 32 * NS))
    if blind is None:  # an old journal that a newer labapp went on with
        made.segment(32.8, 2, gap_from=32.7)
        made.at(32.9, SessionResumed("on"))
    made.at(33, BlindingSet(False), source=Source.MODERATOR)
    end_trial(made, 34, trial=2)
    made.at(35, PartEnded(0, "completed"), "stage-1")
    made.at(36, PartStarted(1), "interview-1")
    made.at(40, QuestionAsked(1, "What was hard?"), "interview-1", source=Source.MODERATOR)
    made.at(56, PartEnded(1, "completed"), "interview-1")
    made.at(57, SessionCompleted())
    moderates(60, NoteAdded("said afterwards: liked it", 58 * NS))
    return paired(made)


def tables(events: Stamped) -> Tables:
    return tables_of([SessionRecords.of(events, "test")])


def rows(table: Any, *names: str) -> list[tuple[Any, ...]]:
    plain = table.astype(object).where(table.notna(), None)
    return list(plain[list(names)].itertuples(index=False, name=None))


def test_an_entry_belongs_to_the_moment_of_its_first_key() -> None:
    notes = tables(session()).notes
    assert rows(notes, "kind", "onset_s", "working_s", "kept_s", "stage", "trial") == [
        ("note", 17.5, 7.5, 24.0, "stage-1", 1),
        ("flag", 25.0, 15.0, 25.0, "stage-1", 2),
        ("prompt", 26.0, 16.0, 26.0, "stage-1", 2),
        ("deviation", 27.0, 17.0, 28.0, "stage-1", 2),
        ("note", 29.0, 19.0, 30.0, "stage-1", 2),
        ("flag", 31.0, 21.0, 31.0, "stage-1", 2),
        ("deviation", 32.0, 22.0, 32.0, "stage-1", 2),
        ("question", 40.0, 30.0, 40.0, "interview-1", None),
        ("note", 58.0, 47.0, 60.0, None, None),
    ]


def test_corrections_are_rows_of_their_own_and_the_first_says_what_counts() -> None:
    notes = tables(session()).notes
    first = notes[notes["corrects"].isna()]
    assert rows(first, "kind", "text", "text_now", "taken_back", "number") == [
        ("note", "turns teh dial", "turns the dial", False, None),
        ("flag", "confusion", "", True, 3),
        ("prompt", "Please keep talking", "Please keep talking", False, None),
        ("deviation", "door open", "window open", False, None),
        ("question", "What was hard?", "What was hard?", False, 1),
        ("note", "said afterwards: liked it", "said afterwards: liked it", False, None),
    ]
    seq_of = dict(zip(first["text"], first["seq"], strict=True))
    corrections = notes[notes["corrects"].notna()]
    assert rows(corrections, "corrects", "text") == [
        (seq_of["turns teh dial"], "turns the dial"),
        (seq_of["confusion"], ""),
        (seq_of["door open"], "window open"),
    ]


def test_a_deviation_is_of_the_question_in_which_it_was_begun_in_both_tables() -> None:
    made = builder(stage_row())
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 2)
    end_trial(made, 6)
    begin_trial(made, 7, 2)
    late = DeviationNoted("door open", 5 * NS)
    made.at(8, late, "stage-1", 2, source=Source.MODERATOR)
    end_trial(made, 9, trial=2)
    made.at(10, PartEnded(0, "completed"), "stage-1")
    made.at(12, replace(late, typing_began_ns=8 * NS), source=Source.MODERATOR)
    found = tables(paired(made))
    wanted = [(5.0, "stage-1", 1), (8.0, "stage-1", 2)]
    noted = found.deviations[found.deviations["kind"] == "noted"]
    assert rows(noted, "session_s", "stage", "trial") == wanted
    assert rows(found.notes, "onset_s", "stage", "trial") == wanted


def test_a_skip_that_was_taken_back_is_a_deviation() -> None:
    made = builder(stage_row())
    made.at(1, PartStarted(0), "stage-1")
    begin_trial(made, 2)
    made.at(4, SkipRequested("trial", 0), "stage-1", 1)
    made.at(6.5, SkipTakenBack("trial"), "stage-1", 1)
    made.at(8, SkipRequested("part", 0), "stage-1", source=Source.MODERATOR)
    made.at(9, SkipTakenBack("part"), "stage-1", source=Source.MODERATOR)
    made.at(10, SkipRequested("part", 0), "stage-1", source=Source.MODERATOR)
    made.at(13, SkipConfirmed("part"), "stage-1")
    found = tables(paired(made)).deviations
    back = found[found["kind"] == "skip_taken_back"]
    assert rows(back, "session_s", "duration_s", "detail", "trial") == [
        (4.0, 2.5, "trial", 1),
        (8.0, 1.0, "part", None),
    ]


def test_a_moderator_who_was_never_blind_is_not_unblinded() -> None:
    assert tables(session(blind=False)).deviations["kind"].tolist() == ["paused", "noted"]


def test_deviations_read_as_they_were_corrected_and_say_of_the_unblinding() -> None:
    found = tables(session())
    assert rows(found.deviations, "kind", "session_s", "detail", "stage") == [
        ("paused", 5.0, "a phone", "stage-1"),
        ("noted", 27.0, "window open", "stage-1"),
        ("unblinded", 33.0, "", "stage-1"),
    ]
    events = session()
    (at,) = (event.seq for event, payload in events if isinstance(payload, DeviationNoted))
    struck = [
        (event, NoteCorrected(payload.seq, "", 0))
        if isinstance(payload, NoteCorrected) and payload.seq == at
        else (event, payload)
        for event, payload in events
    ]
    kinds = tables(struck).deviations["kind"].tolist()
    assert kinds == ["paused", "noted_taken_back", "unblinded"]


@pytest.mark.parametrize(
    ("blind", "told"), [(True, (True, 33.0)), (False, (False, None)), (None, (None, None))]
)
def test_what_is_not_known_of_blinding_is_not_said(blind: bool | None, told: object) -> None:
    (person,) = rows(tables(session(blind=blind)).participants, "blind", "unblinded_s")
    assert person == told


def test_the_interview_is_measured_apart() -> None:
    (person,) = rows(tables(session()).participants, "interview_s", "n_notes", "duration_s")
    assert person == (20.0, 6, 47.0)


def test_the_bundle_has_the_same_onsets() -> None:
    events = session()
    timeline = session_timeline(events).rows
    known = {column.name: column for column in session_columns()}
    types = {
        "note": "note.added", "flag": "flag.added", "prompt": "prompt.given",
        "deviation": "deviation.noted", "question": "interview.question_asked",
    }  # fmt: skip
    at_seq = {row["seq"]: row for row in timeline}
    notes = tables(events).notes
    for note in notes.astype(object).where(notes.notna(), None).to_dict("records"):
        row = at_seq[note["seq"]]
        wanted = types[note["kind"]]
        if row["trial_type"] == "note.corrected":
            wanted = "note.corrected"
            assert row["value"] == note["corrects"]
        assert row["trial_type"] == wanted
        assert row["trial_type"] in known["trial_type"].levels
        assert float(row["onset"]) == note["onset_s"]
        assert row["stage"] == note["stage"]
    assert [float(row["onset"]) for row in timeline] == sorted(
        float(row["onset"]) for row in timeline
    )


def named(participant: str, session_label: str, events: Stamped) -> SessionRecords:
    first, payload = events[0]
    assert isinstance(payload, SessionPlanned)
    planned = replace(payload, participant=participant, session=session_label)
    return SessionRecords.of([(first, planned), *events[1:]], "test")


def test_the_report_folds_each_session_and_shows_how_notes_read() -> None:
    whole = tables_of([named(f"P{n}", "1", session()) for n in (10, 9, 2)])
    page = "".join(notes_section(whole.notes, 3))
    told = re.findall(r"<summary>(.*?)</summary>", page)
    assert told == [
        f"Participant P{n}, session 1: 2 notes, 1 flag, 1 prompt, 1 deviation, 1 question"
        for n in (2, 9, 10)
    ]
    assert page.count("turns the dial") == 3
    assert 'turns the dial<span class="second">was: “turns teh dial”</span>' in page
    assert "<s>⚑ 3 confusion</s> taken back" in page
    assert "⚑ 3 confusion</th>" in page
    cells = re.findall(r"<tr><th scope=\"row\">Flags</th>(.*?)</tr>", page)
    assert [re.findall(r">(\d+)<", cell) for cell in cells] == [["0", "0", "0", "3"]]


def test_words_of_a_note_are_never_markup() -> None:
    made = builder(stage_row())
    made.at(1, PartStarted(0), "stage-1")
    made.at(2, NoteAdded("<b>=1+1</b>", 1 * NS), source=Source.MODERATOR)
    page = "".join(notes_section(tables(paired(made)).notes, 1))
    assert "&lt;b&gt;=1+1&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_study_without_notes_says_so() -> None:
    made = builder(stage_row())
    assert "took no notes" in "".join(notes_section(tables(paired(made)).notes, 1))


def test_only_so_many_sessions_are_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labapp.analysis.sections.SHOWN_SESSIONS", 3)
    made = session()
    whole = tables_of([named(f"P{n}", "1", made) for n in range(5)])
    page = "".join(notes_section(whole.notes, 5))
    assert page.count("<summary>") == 3
    assert "The notes of 2 more sessions are in the table notes" in page
