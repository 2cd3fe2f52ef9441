"""The people of a study as its tables have them: who counts, by all of their sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labapp.analysis.declared import DECLARED, read_declared
from labapp.analysis.inclusion import BY_HAND, SESSIONS, WITHDRAWN
from labapp.report.listing import records
from labapp.study.people import Person, SessionState, Visits, people


@dataclass(frozen=True, slots=True)
class TableSession:
    """A session as the table of participants has it, or as a withdrawal names it, of which there is
    no row. cells: the places that were freed."""

    participant: str
    session: str
    state: SessionState
    row: Mapping[str, Any] | None = None
    study: str = ""
    cells: tuple[str, ...] = ()

    @property
    def failed(self) -> list[str]:
        """The rules for which it does not count."""
        if self.row is None:
            return [WITHDRAWN]
        return [name for name in str(self.row["excluded_because"] or "").split(", ") if name]


TablePerson = Person[TableSession]


def state_of(row: Mapping[str, Any]) -> SessionState:
    """What became of a session, by its own."""
    failed = str(row["excluded_because"] or "").split(", ")
    if row["outcome"] == "declined":
        return "declined"
    if WITHDRAWN in failed:
        return "withdrawn"
    if row["included"] or SESSIONS in failed:  # which holds of what would count by itself
        return "included"
    if BY_HAND in failed or row["outcome"] == "completed":
        return "excluded"
    return "open" if row["outcome"] == "unfinished" else "ended"


def people_of(
    rows: Sequence[Mapping[str, Any]], withdrawn: Iterable[TableSession] = ()
) -> list[TablePerson]:
    """The people of one study. rows: of its table of participants; withdrawn: sessions that are in
    no table."""
    latest = max(rows, key=_version, default={})
    text = latest.get(DECLARED.name)
    visits = Visits.of(read_declared(text).design if isinstance(text, str) else None)
    there = sorted(rows, key=lambda row: str(row.get("started_utc") or ""))
    sessions = [
        TableSession(str(row["participant"]), str(row.get("session", "1")), state_of(row), row)
        for row in there
    ]
    return people([*sessions, *withdrawn], visits)


def failed_of(person: TablePerson) -> list[str]:
    """The rules for which a person does not count, each once."""
    return list(dict.fromkeys(name for each in person.sessions for name in each.failed))


def _version(row: Mapping[str, Any]) -> tuple[int, str]:
    version = row.get("study_version")
    return (0 if version is None else int(version), str(row.get("started_utc") or ""))


def counted_people(participants: pd.DataFrame) -> pd.DataFrame:
    """The table of participants, in which a session counts only where its participant does."""
    included = list(participants["included"])
    because = list(participants["excluded_because"])
    places = {name: at for at, name in enumerate(_names(participants))}
    for _, own in participants.groupby("study", sort=False):
        for person in people_of(records(own)):
            if person.state == "included":
                continue
            why = WITHDRAWN if person.state == "withdrawn" else SESSIONS
            for session in person.sessions:
                if session.row is not None and session.state == "included":
                    at = places[str(session.row["study"]), person.participant, session.session]
                    included[at] = False
                    because[at] = ", ".join([*session.failed, why])
    given = {"included": included, "excluded_because": because}
    kinds = participants.dtypes
    return participants.assign(
        **{name: pd.Series(of, participants.index, kinds[name]) for name, of in given.items()}
    )


def out_of_order(participants: pd.DataFrame) -> list[dict[str, Any]]:
    """A deviation for each session that was held before an earlier one of its study."""
    out = []
    for study, own in participants.groupby("study", sort=False):
        for person in people_of(records(own)):
            had: list[str] = []
            for each in person.sessions:
                if skipped := person.visits.skipped(each.session, had):
                    who = {"study": study, "participant": person.participant}
                    detail = f"before session {', '.join(skipped)}"
                    out.append(
                        {**who, "session": each.session, "kind": "session_order", "session_s": 0.0}
                        | {"detail": detail}
                    )
                had.append(each.session)
    return out


def _names(participants: pd.DataFrame) -> Iterable[tuple[str, str, str]]:
    keys = (participants[key] for key in ("study", "participant", "session"))
    return ((str(a), str(b), str(c)) for a, b, c in zip(*keys, strict=True))
