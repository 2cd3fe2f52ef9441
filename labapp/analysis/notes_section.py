"""The report's section on what the moderator noted: how often, and session by session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from labapp.base.naming import natural
from labapp.base.report.listing import NONE, SHOWN_ROWS, records
from labapp.base.report.page import (
    Html,
    Verbatim,
    clock,
    count,
    details,
    heading,
    joined,
    paragraph,
    table,
    two_lines,
    written,
)

SHOWN_SESSIONS = 100
"""Sessions whose notes are in the page; the table beside it has those of all."""
NAMES = {
    "note": "Notes",
    "flag": "Flags",
    "prompt": "Prompts",
    "deviation": "Deviations written down",
    "question": "Interview questions asked",
}


def notes_section(notes: pd.DataFrame, n_sessions: int) -> Iterator[Html]:
    """Notes, flags, prompts, deviations and interview questions of one study."""
    yield heading(3, "Notes, flags and prompts")
    if notes.empty:
        yield paragraph("The moderator noted nothing.")
        return
    first = notes[notes["corrects"].isna()]
    yield _counts(first, n_sessions)
    by_session = {
        (str(participant), str(session)): some
        for (participant, session), some in notes.groupby(["participant", "session"])
    }
    ordered = sorted(by_session, key=lambda who: (natural(who[0]), natural(who[1])))
    for who in ordered[:SHOWN_SESSIONS]:
        yield _session(*who, by_session[who])
    if (left := len(ordered) - SHOWN_SESSIONS) > 0:
        told = count(left, "more session")
        yield paragraph(f"What was noted in {told} is in the table notes.", "quiet")


def _counts(first: pd.DataFrame, n_sessions: int) -> Html:
    """How often each kind, and each flag, was noted and stands."""
    rows = []
    for kind, name in NAMES.items():
        some = first[first["kind"] == kind]
        if some.empty:
            continue
        rows.append(_count(name, some))
        if kind == "flag":
            for number, flagged in some.groupby("number", sort=True):
                meanings = ", ".join(dict.fromkeys(str(meaning) for meaning in flagged["text"]))
                rows.append(_count(f"\u2003⚑ {number} {meanings}", flagged))
    columns = (
        "Noted",
        two_lines("Times", "taken back not counted"),
        two_lines("Sessions", f"of {n_sessions}"),
        "Corrected",
        "Taken back",
    )
    return table(columns, rows, numeric=(1, 2, 3, 4))


def _count(name: object, some: pd.DataFrame) -> tuple[object, ...]:
    standing = some[~some["taken_back"]]
    reworded = int((standing["text"] != standing["text_now"]).sum())
    sessions = standing.groupby(["participant", "session"]).ngroups
    return (name, len(standing), sessions, reworded, int(some["taken_back"].sum()))


def _session(participant: str, session: str, notes: pd.DataFrame) -> Html:
    """One session, folded: each entry where it began, with its former words."""
    every = records(notes)
    # How each entry read before, oldest first, by its seq: its first words and every correction
    # but the last.
    corrections: dict[int, list[tuple[int, str]]] = {}
    for row in every:
        if row["corrects"] is not None:
            corrections.setdefault(int(row["corrects"]), []).append((row["seq"], row["text"]))
    first = {row["seq"]: str(row["text"]) for row in every}
    before = {
        seq: [first.get(seq, ""), *(text for _, text in sorted(some)[:-1])]
        for seq, some in corrections.items()
    }
    rows = [
        (
            clock(row["working_s"]),
            row["stage"] or NONE,
            row["trial"] or NONE,
            row["kind"],
            _words(row, before.get(row["seq"], [])),
        )
        for row in every
        if row["corrects"] is None
    ]
    names = (two_lines("At", "min:s of working time"), "Part", "Question", "Kind", "Words")
    shown = table(names, rows[:SHOWN_ROWS], numeric=(2,))
    if (left := len(rows) - SHOWN_ROWS) > 0:
        shown = joined([shown, paragraph(f"{left} more are in the table notes.", "quiet")])
    what = (
        count(n, kind)
        for kind in NAMES
        if (n := sum(row["corrects"] is None and row["kind"] == kind for row in every))
    )
    return details(f"Participant {participant}, session {session}: {', '.join(what)}", shown)


def _words(row: dict[str, Any], former: Sequence[str]) -> Html:
    """How an entry reads, below it how it read before."""
    number = f"⚑ {row['number']} " if row["kind"] == "flag" else ""
    now = (row["text"] or "") if row["taken_back"] else row["text_now"]
    known = {row["text_now"], now}
    earlier = [words for words in dict.fromkeys(former) if words and words not in known]
    before = Verbatim(" → ".join(f"“{words}”" for words in earlier))
    return written(Verbatim(f"{number}{now}"), before, taken_back=row["taken_back"])
