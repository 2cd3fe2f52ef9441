"""Questionnaires as BIDS phenotype files: one table an instrument, one row a participant.

BIDS allows one row a participant there, so an instrument that was asked after several stages, or in
several sessions, has a column for each: `ses_1_stage_2_seq`. What it was asked about stands beside
it: `ses_1_stage_2_model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labapp.bundle.redaction import DEMOGRAPHICS
from labapp.bundle.tsv import Column, Table
from labapp.events.lifecycle import QuestionnaireSubmitted, SessionPlanned
from labapp.records.record import Record
from labapp.records.rows import bodies
from labapp.study.instruments import Instrument, Scale


@dataclass(frozen=True)
class Phenotype:
    """One instrument's table, and what its sidecar says of the instrument."""

    instrument: str
    table: Table
    tool: Mapping[str, Any]


@dataclass
class _Collected:
    tool: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


class Phenotypes:
    """Collects the submitted answers of one session after another.

    deidentify: leave the demographic instruments out.
    """

    def __init__(self, *, deidentify: bool) -> None:
        self._deidentify = deidentify
        self._found: dict[str, _Collected] = {}

    def add(self, record: Record, instruments: Mapping[str, Instrument]) -> None:
        """The answers of a session; instruments: of its study, by id."""
        abouts = _abouts(record.planned)
        submitted = [row for row in record.rows if row.kind == QuestionnaireSubmitted.kind]
        for event, body in bodies(submitted):
            assert isinstance(body, QuestionnaireSubmitted)
            if event.stage is None or (self._deidentify and body.instrument in DEMOGRAPHICS):
                continue
            known = instruments.get(body.instrument)
            into = self._found.setdefault(body.instrument, _Collected())
            into.tool = into.tool or _tool(body, known)
            _collect(into, record, event.stage, abouts.get(event.stage), body, known)

    def finished(self) -> list[Phenotype]:
        """A table an instrument, by their ids."""
        return [_finished(name, collected) for name, collected in sorted(self._found.items())]


def _abouts(planned: SessionPlanned) -> dict[str, tuple[str, str]]:
    """(stage, model) that a questionnaire part asks about, by the part's id."""
    models = {row["id"]: row["model"] for row in planned.plan if "model" in row}
    return {
        row["id"]: (row["about"], models.get(row["about"], ""))
        for row in planned.plan
        if row.get("about")
    }


def _tool(body: QuestionnaireSubmitted, known: Instrument | None) -> dict[str, Any]:
    described = known.title if known else body.instrument
    tool = {"Description": described, "Version": body.instrument_version}
    if known:
        tool |= {"Source": known.source, "Instruction": known.instruction}
    return tool


def _collect(
    into: _Collected,
    record: Record,
    part: str,
    about: tuple[str, str] | None,
    body: QuestionnaireSubmitted,
    known: Instrument | None,
) -> None:
    row = into.rows.setdefault(f"sub-{record.participant}", {})
    where = f"in session {record.session}"
    prefix = f"ses_{record.session}_{_snake(about[0] if about else part)}"
    if about:
        name = f"{prefix}_model"
        row[name] = about[1]
        into.columns[name] = Column(name, f"The representation of {about[0]} {where}.")
        where = f"about {about[0]} {where}"
    scales = {item.id: item for item in known.items} if known else {}
    for item, value in body.answers.items():
        name = f"{prefix}_{_snake(item)}"
        row[name] = value
        into.columns[name] = _described(name, item, scales.get(item), where)


def _described(name: str, item: str, scale: Scale | None, where: str) -> Column:
    if scale is None:
        return Column(name, f"The answer to {item}, {where}.")
    # Not as Levels: BIDS takes those as the only values there are.
    ends = f"1 = {scale.low}, {scale.points} = {scale.high}"
    return Column(name, f"{scale.text} ({where}; {ends})", f"1-{scale.points}")


def _finished(instrument: str, collected: _Collected) -> Phenotype:
    participant = Column("participant_id", "The participant.")
    columns = (participant, *(collected.columns[name] for name in sorted(collected.columns)))
    rows = [{"participant_id": who} | row for who, row in sorted(collected.rows.items())]
    return Phenotype(instrument, Table(columns, rows), collected.tool)


def _snake(name: str) -> str:
    return name.replace("-", "_")
