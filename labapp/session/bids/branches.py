"""Whether the parts of a session were shown and left out as its plan says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from labapp.base import leftovers
from labapp.base.errors import LabappError, RecordError
from labapp.record.events.lifecycle import PartLeftOut, PartStarted
from labapp.record.journal.layout import STUDY, study_files_of
from labapp.record.journal.record import Record
from labapp.session.runner import machine_of
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.study.when import describe, holds


def check_branches(record: Record) -> list[str]:
    """The first part that was shown or left out against its condition (`only_if`), in words.
    Nothing is said of a session without conditions, of a study that cannot be read, and of a
    de-identified copy, which lacks answers."""
    if record.redacted or not any(row.get("only_if") for row in record.planned.plan):
        return []
    with suppress(LabappError):
        machine = machine_of(_load_study(record), record.planned, {})
        state = machine.initial()
        for event, payload in record.payloads():
            if isinstance(payload, PartStarted | PartLeftOut):
                condition = machine.parts[payload.index].only_if
                if holds(condition, state.answers) != isinstance(payload, PartStarted):
                    what = f"event {event.seq} ({payload.kind}) of {event.part_id}"
                    return [
                        f"{what} contradicts the plan, which has it only if {describe(condition)}"
                    ]
            state = machine.apply(state, event, payload)
    return []


def _load_study(record: Record) -> LoadedStudy:
    """The study as the session had it. Raises LabappError."""
    below = record.tree.below(STUDY)
    with TemporaryDirectory(
        prefix=leftovers.prefix("verify"), ignore_cleanup_errors=True
    ) as folder:
        for name in below.names():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(below.read(name))
        studies = study_files_of(below.names())
        if len(studies) != 1:
            raise RecordError("The session has no copy of its study file.")
        return loading.load(Path(folder) / studies[0], record.planned.language, recorded=True)
