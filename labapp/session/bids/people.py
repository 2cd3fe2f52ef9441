"""participants.tsv, and the sessions.tsv of each participant with the quality of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from labapp.analysis.declared import DECLARED, SessionFactors, between_columns, own_rules
from labapp.analysis.inclusion import (
    RULES,
    SESSIONS,
    InclusionStatus,
    conditions,
    fold_inclusion_status,
    inclusion_kinds,
)
from labapp.analysis.participation import people_of
from labapp.analysis.rows import SessionRecords
from labapp.base.naming import natural
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record
from labapp.session.bids.folder import Table
from labapp.session.bids.tasks import described_column
from labapp.study.plugins import registry
from labapp.study.plugins.bids import Column, seconds

STATES = {
    "complete": "Every part of the plan was done.",
    "ended_early": "Ended before the plan was done; what was recorded is kept.",
    "interrupted": "No orderly end: the program was stopped and the session not resumed.",
}
_RULES = "; ".join(f"{rule}: {meaning}" for rule, meaning in RULES.items()) + "."
ACHIEVED = ("solved", "correct", "photos", "stimuli")
"""Columns of what was achieved, which tasks describe."""
CONDITIONS = Column("conditions", "The study's variables, drawn cells in their order.")
PARTICIPANTS = (
    Column("participant_id", "The participant; a pseudonym of the study."),
    Column("study", "Id of the study."),
    Column("sessions", "Number of sessions in this bundle."),
    Column(
        "complete",
        "Whether every session in this bundle is complete.",
        levels={"true": "All are complete.", "false": "At least one is not; see sessions.tsv."},
    ),
    Column(
        "included",
        "Whether the participant counts, by the study's rules and all sessions in this bundle.",
        levels={"true": "Counts.", "false": "Does not; see sessions.tsv."},
    ),
    Column("excluded_because", f"Rules that were not met. {_RULES}"),
    CONDITIONS,
)
_SESSIONS = (
    Column("session_id", "The session."),
    Column("acq_time", "When it began (UTC).", format="datetime"),
    Column("state", "How it ended.", levels=STATES),
    Column("reason", "Why it was ended early."),
    Column(
        "included",
        "Whether it counts, as the session decided at its end by the study's rules; without that "
        "decision (no end, or recorded by an older labapp) whether it was completed. Whoever "
        "withdrew, in the session or later, does not count.",
        levels={"true": "It counts.", "false": "It does not; see excluded_because."},
    ),
    Column("excluded_because", f"Rules that were not met. {_RULES}"),
    Column(
        "decided_by_hand",
        "What the researcher decided about the session, over the rules; n/a where nothing was.",
        levels={"excluded": "It does not count.", "included": "It counts."},
    ),
    Column("decision_reason", "The reason of that decision; n/a in de-identified copies."),
    CONDITIONS,
    *(Column(name, "") for name in ACHIEVED),
    Column("payment", "What the session earned, base and bonus; n/a where nothing is paid."),
    Column("payment_currency", "Currency of the payment."),
    Column("study_version", "Version of the study file."),
    Column("study_sha256", "Hash over the study file and every file it names."),
    Column("length", "Session time at the last event.", "s"),
    Column("working_length", "Length without pauses, breaks and gaps.", "s"),
    Column("segments", "Runs of the program on this session; more than 1 after a crash."),
    Column("gaps", "Time between the end of a killed run and going on, summed.", "s"),
    Column("pauses", "Number of pauses; breaks of the plan are none."),
    Column("events", "Rows in the journal."),
    Column(
        "blind",
        "Whether the console hid the representations from the moderator, from the beginning; n/a "
        "where the journal does not say.",
        levels={"true": "It hid them; see unblinded.", "false": "It named them."},
    ),
    Column("unblinded", "Session time from which it named them to a moderator who was blind.", "s"),
    Column("sound", "Length of the sound recorded.", "s"),
    Column("sound_lost", "Of this, lost and filled with silence.", "s"),
    Column("sound_missing_because", "Why the session was recorded without sound."),
)


def session_columns(declared: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of sessions.tsv. declared: what the study declares, for its factors."""
    words = registry.achievements()
    columns = tuple(
        replace(column, description=f"{words[column.name][:1].upper()}{words[column.name][1:]}.")
        if column.name in ACHIEVED
        else column
        for column in _SESSIONS
    )
    return _with_factors(columns, declared)


def participant_columns(declared: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of participants.tsv. declared: as in `session_columns`."""
    return _with_factors(PARTICIPANTS, declared)


def _with_factors(columns: Sequence[Column], declared: Iterable[str]) -> tuple[Column, ...]:
    """The columns with those of the factors between participants, behind the conditions."""
    declared = tuple(declared)
    at = columns.index(CONDITIONS) + 1
    factors = map(described_column, between_columns(declared))
    own = "; ".join(f"{rule}: {meaning}" for rule, meaning in own_rules(declared).items())
    known = tuple(
        replace(column, description=f"{column.description} Of the study itself: {own}.")
        if own and column.name == "excluded_because"
        else column
        for column in columns
    )
    return (*known[:at], *factors, *known[at:])


def session_line(record: Record) -> Mapping[str, object]:
    """The cells of one session in sessions.tsv, with `participant`, `study` and what that declared
    besides."""
    outline, planned = record.outline, record.planned
    kinds = [pause.kind for pause in outline.pauses]
    factors = SessionFactors(planned, {})
    inclusion_status = _status(record)
    decision = inclusion_status.decision
    paid = inclusion_status.payment
    return {
        "participant": planned.participant,
        "study": planned.study,
        "declared": factors.declared,
        "session_id": f"ses-{record.session}",
        "acq_time": record.rows[0].utc,
        "state": record.state,
        "reason": outline.reason,
        "included": inclusion_status.included,
        "excluded_because": ", ".join(inclusion_status.failed),
        "decided_by_hand": None if decision is None else decision.verdict,
        "decision_reason": None if decision is None else decision.reason or None,
        "conditions": conditions(planned.assignment),
        **factors.between,
        **{name: getattr(inclusion_status.achieved, name) for name in ACHIEVED},
        "payment": None if paid is None else paid.total,
        "payment_currency": None if paid is None else paid.currency,
        "study_version": planned.study_version,
        "study_sha256": planned.study_sha256,
        "length": seconds(outline.last_ns),
        "working_length": seconds(outline.working_ns),
        "segments": len(outline.segments),
        "gaps": seconds(outline.gap_ns),
        "pauses": kinds.count("pause"),
        "events": len(record.rows),
        "blind": outline.blind,
        "unblinded": None if outline.unblinded_ns is None else seconds(outline.unblinded_ns),
        "sound": sum(sound.frames / sound.nominal_rate for sound in outline.audio),
        "sound_lost": outline.lost_s,
        "sound_missing_because": outline.silent_because,
    }


def _status(record: Record) -> InclusionStatus:
    """Whether a session counts; all of it is read alone where the study has rules of its own."""
    withdrawn = bool(record.withdrawn)
    if record.planned.declared.get("exclude"):
        events = list(payloads(record.rows))
        status = SessionRecords.of(events, "", withdrawn=withdrawn).inclusion_status
        return status.decided(record.decision)
    wanted = inclusion_kinds()
    told = payloads([row for row in record.rows if row.kind in wanted])
    return fold_inclusion_status(told, withdrawn=withdrawn).decided(record.decision)


def by_participant(
    lines: Sequence[Mapping[str, object]],
) -> dict[str, list[Mapping[str, object]]]:
    """Session lines by participant's label, each in the order they took place."""
    result: dict[str, list[Mapping[str, object]]] = {}
    for line in sorted(
        lines, key=lambda line: (natural(line["participant"]), str(line["acq_time"]))
    ):
        result.setdefault(str(line["participant"]), []).append(line)
    return result


def participants(lines: Sequence[Mapping[str, object]]) -> Table:
    """A row a participant, by their labels."""
    declared = [str(line["declared"]) for line in lines]
    factors = [column.name for column in between_columns(declared)]
    states = {person.participant: person.state for person in people_of([*map(_row, lines)])}
    rows = [
        {
            "participant_id": f"sub-{participant}",
            "study": theirs[0]["study"],
            "sessions": len(theirs),
            "complete": all(line["state"] == "complete" for line in theirs),
            "included": states[participant] == "included",
            "excluded_because": _joined(line["excluded_because"] for line in theirs)
            or (SESSIONS if states[participant] in ("missed", "awaited") else None),
            "conditions": _joined(line["conditions"] for line in theirs),
            **{name: _joined(line.get(name) for line in theirs) for name in factors},
        }
        for participant, theirs in by_participant(lines).items()
    ]
    return Table(participant_columns(declared), rows)


def _row(line: Mapping[str, object]) -> Mapping[str, object]:
    """A line as the table of participants has it, as far as people are counted by it."""
    outcome = {"complete": "completed", "interrupted": "unfinished"}.get(
        str(line["state"]), "ended"
    )
    return {
        "participant": line["participant"],
        "session": str(line["session_id"]).removeprefix("ses-"),
        "outcome": outcome,
        "included": line["included"],
        "excluded_because": line["excluded_because"],
        "started_utc": line["acq_time"],
        "study_version": line["study_version"],
        DECLARED.name: line["declared"],
    }


def _joined(values: Iterable[object]) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values if value))
