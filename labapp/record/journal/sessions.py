"""The list of sessions under a data root."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from labapp.base.clock import utc_text
from labapp.base.errors import RecordError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.resources import twin_of
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal import anchor
from labapp.record.journal.comments import comment_problems, comments
from labapp.record.journal.decisions import Decision, Move, decision_problems, decisions, moves
from labapp.record.journal.guard import readable
from labapp.record.journal.layout import EXPORTS, FolderName
from labapp.record.journal.lock import held
from labapp.record.journal.outline import brief_kinds, outline
from labapp.record.journal.read import extent, read_rows
from labapp.record.journal.rows import payloads
from labapp.record.journal.withdrawn import withdrawal_of, withdrawal_problems

ListedState = Literal["complete", "ended_early", "interrupted", "running", "damaged"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the list.

    id: name of the session folder; length_s: working time (without pauses and gaps) in s;
    blind: whether the console hid the representations from the beginning, None where the journal
    does not say; unblinded_s: session time in s from which it named them all the same;
    not_counted: the rules of the study for which a session that came to its end does not count;
    lost_s: seconds of sound filled with silence; sound: whether there is any; exported: paths of
    the bundles made of it, as logged; withdrawn: keep or delete where the participant withdrew, and
    what is to become of the data; decision: excluded or included where that was decided by hand,
    and decision_reason why; pilot: whether it is a trial run, kept apart from the study; moved: why
    it was moved from the pilots into the study, or back, empty where it never was; comments: the
    moderator's, oldest first; problem: why it is damaged.
    """

    id: str
    path: Path
    study: str
    participant: str
    session: str
    started: str
    state: ListedState
    length_s: float = 0.0
    events: int = 0
    sound: bool = False
    lost_s: float = 0.0
    blind: bool | None = None
    unblinded_s: float | None = None
    not_counted: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    withdrawn: str = ""
    decision: str = ""
    decision_reason: str = ""
    pilot: bool = False
    moved: str = ""
    comments: tuple[str, ...] = ()
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; None instead of empty text."""
        return {key: None if value == "" else value for key, value in asdict(self).items()}


def list_sessions(data_root: Path) -> list[SessionSummary]:
    """Every session under the data root, by study and start; other folders are passed over.

    A damaged session is listed as such. Reads only a few rows of each journal, and only of those
    that were written to since they were last listed.
    """
    from labapp.record.journal.session_index import SessionIndex

    lines = {line.path: line for line in SessionIndex(data_root).read()}
    folders = (folder for study in study_folders(data_root) for folder in sessions_in(study))
    return [lines[folder] for folder in folders if folder in lines]


def list_problems(data_root: Path) -> list[str]:
    """What is wrong with the lists beside the sessions, of withdrawals, exports, remarks and
    decisions, a line each: a list that is damaged stops no other."""
    result = []
    for study in _children(data_root):
        result += [
            *withdrawal_problems(study),
            *export_problems(study),
            *comment_problems(study),
            *decision_problems(study),
        ]
    return result


def study_folders(data_root: Path) -> list[Path]:
    """The folders under the data root, in which studies keep their sessions."""
    return _children(data_root)


def sessions_in(study: Path) -> list[Path]:
    """The session folders of a study, by their start."""
    sessions = [child for child in _children(study) if FolderName.parse(child.name)]
    return sorted(sessions, key=lambda path: (path.name.rsplit("_", 1)[-1], path.name))


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if files.is_folder(child))
    except OSError:
        # Not a folder, or one of somebody else's: nothing of ours is listed from it.
        return []


def summary(folder: Path) -> SessionSummary:
    """The line of one session folder."""
    line = recorded(folder)
    exported = exports_of(folder)
    try:
        withdrawn = withdrawal_of(folder, line.withdrawn, listed=True)
    except RecordError as error:
        return replace(line, state="damaged", problem=error.what, exported=exported)
    own = comments(folder.parent).get(folder.name, ())
    decision = decisions(folder.parent).get(folder.name)
    line = replace(line, exported=exported, withdrawn=withdrawn, comments=own)
    return decided(line, decision, moves(folder.parent).get(folder.name))


def decided(
    line: SessionSummary, decision: Decision | None, move: Move | None = None
) -> SessionSummary:
    """A line with what was decided by hand."""
    if decision is not None:
        line = replace(line, decision=decision.verdict, decision_reason=decision.reason)
    if move is not None:
        line = replace(line, pilot=move.pilot, moved=move.reason)
    return line


def recorded(folder: Path) -> SessionSummary:
    """As `summary`, by the session's own folder alone: without what the logs beside it say of
    exports and withdrawals."""
    name = _name(folder)
    known = _known(folder, name)
    try:
        known["started"] = utc_text(name.started)
        with readable(folder.name):
            return SessionSummary(**known | _facts(folder))
    except RecordError as error:
        return SessionSummary(**known, state="damaged", problem=error.what)


def begun_line(folder: Path, facts: dict[str, Any]) -> SessionSummary:
    """The line of a session folder of which these facts were read before."""
    name = _name(folder)
    return SessionSummary(**_known(folder, name) | {"started": utc_text(name.started)} | facts)


def _name(folder: Path) -> FolderName:
    name = FolderName.parse(folder.name)
    if name is None:
        raise ValueError(f"{folder} is not a session folder")
    return name


def _known(folder: Path, name: FolderName) -> dict[str, Any]:
    """What a folder's name and place say."""
    return {
        "id": folder.name,
        "path": folder,
        "study": folder.parent.name,
        "participant": name.participant,
        "session": name.session,
        "started": "",
    }


def _facts(folder: Path) -> dict[str, Any]:
    running = held(folder)
    events, last_ns = extent(folder)
    rows = read_rows(folder, brief_kinds())
    planned = next(payloads(rows[:1]), (None, None))[1]
    if not isinstance(planned, SessionPlanned):
        raise RecordError("The journal does not begin with the session's plan.")
    summary = outline(rows, last_ns)
    name = _name(folder)
    if (planned.participant, planned.session) != (name.participant, name.session):
        who = {"participant": planned.participant, "session": planned.session}
        raise RecordError(Message("renamed", folder=folder.name, **who))
    return {
        "study": planned.study,
        "state": "running" if running and summary.state == "interrupted" else summary.state,
        "length_s": summary.working_ns / 1e9,
        "events": events,
        "sound": bool(summary.audio),
        "lost_s": summary.lost_s,
        "blind": summary.blind,
        "unblinded_s": None if summary.unblinded_ns is None else summary.unblinded_ns / 1e9,
        "not_counted": summary.not_counted,
        "withdrawn": summary.withdrawal,
        "pilot": planned.pilot,
    }


BEGUN, DONE, GIVEN_UP = "begun", "done", "given up"
"""States of an export in the log; lines without one are of older versions, and done."""


def exports_of(folder: Path) -> tuple[str, ...]:
    """Bundles made of a session, from the log beside it; foreign lines are passed over."""
    return bundles(folder.parent).get(folder.name, ())


def bundles(study: Path) -> dict[str, tuple[str, ...]]:
    """Bundles made of each session of a study, by the names of their folders."""
    result: dict[str, tuple[str, ...]] = {}
    # A session may have been exported before it was moved from the pilots, or to them.
    for entry in filter(_made, (*exports(study), *exports(twin_of(study)))):
        for name in dict.fromkeys(map(str, entry["sessions"])):
            result[name] = (*result.get(name, ()), str(entry.get("bundle", "")))
    return result


def exported_from(study: Path) -> list[FolderName]:
    """The sessions of a study that were exported, also those whose folders are gone."""
    made = (entry for entry in exports(study) if _made(entry))
    names = (str(name) for entry in made for name in entry["sessions"])
    return [name for name in map(FolderName.parse, dict.fromkeys(names)) if name is not None]


def exports(study: Path) -> list[dict[str, Any]]:
    """The last that the log says of each export of a study, in the order they began. What cannot be
    read is passed over; `export_problems` tells of it."""
    last: dict[str, dict[str, Any]] = {}
    try:
        lines = _exports(study)
    except OSError:
        return []
    for number, entry in lines:
        if entry is not None:
            last[str(entry.get("export", number))] = entry
    return list(last.values())


def export_problems(study: Path) -> list[str]:
    """What is wrong with the log of a study's exports, a line each, for people."""
    path = study / EXPORTS
    try:
        lines = _exports(study)
    except OSError as error:
        return [Message("exports_unreadable", file=str(path), error=str(error.strerror or error))]
    return [
        Message("exports_damaged", file=str(path), number=number)
        for number, entry in lines
        if entry is None
    ]


def _made(entry: dict[str, Any]) -> bool:
    """Whether there is, or was, a bundle. One whose program was killed after it had put the bundle
    in its place said no more of it."""
    state = entry.get("state", DONE)
    return bool(state == DONE or (state == BEGUN and there(entry.get("bundle"))))


def there(path: object) -> bool:
    """Whether there is something at a path that a log says."""
    try:
        return Path(str(path)).exists()
    except (OSError, ValueError):
        return False


def _exports(study: Path) -> list[tuple[int, dict[str, Any] | None]]:
    """The lines of the log of exports that are not empty, by number; None for a damaged one. Raises
    OSError where it cannot be read."""
    path = study / EXPORTS
    text = files.content(path).decode("utf-8", "replace") if files.exists(path) else ""
    lines = enumerate(text.split("\n"), start=1)
    entries = [(number, anchor.entry_in(line)) for number, line in lines if line.strip()]
    return [
        (number, entry if entry and isinstance(entry.get("sessions"), list) else None)
        for number, entry in entries
    ]
