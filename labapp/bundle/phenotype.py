"""Questionnaires as BIDS phenotype files: one table an instrument, one row a participant.

BIDS allows one row a participant there, so an instrument that was asked after several stages, or in
several sessions, has a column for each: `ses_1_stage_2_seq`. What it was asked about stands beside
it: `ses_1_stage_2_model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.bundle.tsv import Column, Table
from labapp.events.lifecycle import QuestionnaireSubmitted, SessionPlanned
from labapp.records.record import Record
from labapp.records.rows import bodies
from labapp.study.instruments import Choice, Choices, Instrument, Item, Rating, Slider


@dataclass(frozen=True)
class Phenotype:
    """One instrument's table, and what its sidecar says of the instrument."""

    instrument: str
    table: Table
    tool: Mapping[str, Any]


@dataclass
class _Collected:
    tool: dict[str, Any] = field(default_factory=dict)
    versions: set[int] = field(default_factory=set)
    columns: dict[str, Column] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


class Phenotypes:
    """Collects the submitted answers of one session after another. Instruments of which no answer
    is there, in a de-identified copy perhaps all that ask about the person, have no table."""

    def __init__(self) -> None:
        self._found: dict[str, _Collected] = {}

    def add(self, record: Record, instruments: Mapping[str, Instrument]) -> None:
        """The answers of a session; instruments: of its study, by id."""
        abouts = _abouts(record.planned)
        submitted = [row for row in record.rows if row.kind == QuestionnaireSubmitted.kind]
        for event, body in bodies(submitted):
            assert isinstance(body, QuestionnaireSubmitted)
            if event.stage is None or (record.redacted and not body.answers):
                continue
            known = instruments.get(body.instrument)
            into = self._found.setdefault(body.instrument, _Collected())
            into.tool = into.tool or _tool(body, known)
            into.versions.add(body.instrument_version)
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
    for item, value in body.answers.items():
        name = f"{prefix}_{_snake(item)}"
        column = _described(name, item, _known(known, item), where)
        into.columns[name] = _together(into.columns.get(name), column)
        if isinstance(value, dict) and "touched" in value:
            row[name], own = value["value"], f"{name}_touched"
            row[own] = value["touched"]
            into.columns[own] = Column(
                own, f"Whether it was moved or confirmed: {column.description}"
            )
        elif isinstance(value, dict):
            row[name] = _chosen(value)
            if "described" in value:
                own = f"{name}_described"
                row[own] = value["described"]
                into.columns[own] = Column(own, f"In their own words: {column.description}")
        else:
            row[name] = value


def _chosen(value: Mapping[str, Any]) -> str:
    """The options of a choice, as one cell."""
    return ";".join(value["chosen"])


def _known(instrument: Instrument | None, item: str) -> Item | None:
    try:
        return instrument.item(item) if instrument else None
    except KeyError:
        return None


def _described(name: str, item: str, known: Item | None, where: str) -> Column:
    words = f"{known.title} ({where}" if known else f"The answer to {item} ({where}"
    if isinstance(known, Rating):
        # Not as Levels: BIDS takes those as the only values there are.
        low, high = known.ends()
        ends = f"{known.first} = {low}, {known.last} = {high}"
        return Column(name, f"{known.text or known.title} ({where}; {ends})", _range(known))
    if isinstance(known, Slider):
        return Column(name, f"{words}; where the slider stood)", known.unit)
    if isinstance(known, Choice):
        levels = {option.id: option.text for option in known.options}
        return Column(name, f"{words})", levels=levels)
    if isinstance(known, Choices):
        levels_said = ", ".join(f"{option.id} = {option.text}" for option in known.options)
        return Column(name, f"{words}; all that were chosen, with ; between them; {levels_said})")
    return Column(name, f"{words})")


def _together(known: Column | None, column: Column) -> Column:
    """A column of several versions of an instrument: every option that there was."""
    if known is None or not column.levels:
        return column
    return replace(column, levels={**known.levels, **column.levels})


def _range(known: Rating) -> str:
    return f"{known.first}-{known.last}"


def _finished(instrument: str, collected: _Collected) -> Phenotype:
    participant = Column("participant_id", "The participant.")
    columns = (participant, *(collected.columns[name] for name in sorted(collected.columns)))
    rows = [{"participant_id": who} | row for who, row in sorted(collected.rows.items())]
    tool = collected.tool
    if len(collected.versions) > 1:
        # Nothing here says who answered which; journal and table of answers do.
        tool = {**tool, "Version": sorted(collected.versions)}
    return Phenotype(instrument, Table(columns, rows), tool)


def _snake(name: str) -> str:
    return name.replace("-", "_")
