"""Questionnaires as BIDS phenotype files: one table an instrument, one row a participant.

BIDS allows one row a participant there, so an instrument that was asked after several stages, or in
several sessions, has a column for each: `ses_1_stage_2_seq`. What it was asked about stands beside
it: `ses_1_stage_2_model`. A second time about the same stage stands under its own part's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.analysis.declared import SessionFactors
from labapp.bids.tasks import described_column
from labapp.bids.tsv import Table
from labapp.events.questionnaires import QuestionnaireSubmitted
from labapp.journal.record import Record
from labapp.journal.rows import payloads
from labapp.naming import natural
from labapp.plugins import registry
from labapp.plugins.bids import Column
from labapp.plugins.part import PlannedPart
from labapp.study.instruments import Instrument, Item
from labapp.study.instruments.kinds import cells_of, more_of


@dataclass(frozen=True)
class Phenotype:
    """One instrument's table, and what its sidecar says of the instrument."""

    instrument: str
    table: Table
    tool: Mapping[str, Any]


@dataclass
class _InstrumentAnswers:
    """owners: of what each column is, by its name."""

    tool: dict[str, Any] = field(default_factory=dict)
    versions: set[int] = field(default_factory=set)
    columns: dict[str, Column] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    owners: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def name(self, wanted: str, *owner: object) -> str:
        """The name of a column: as wanted, or with a number behind where another one has that, for
        a study gives its items any ids."""
        name, number = wanted, 1
        while self.owners.setdefault(name, owner) != owner:
            number += 1
            name = f"{wanted}_{number}"
        return name


@dataclass(frozen=True, slots=True)
class _Occasion:
    """Where an instrument was asked. stage: which it was about, empty for the whole session; turn:
    the first, second … part of the session that asks it about that; factors: of the session."""

    session: str
    part: str
    stage: str
    model: str
    turn: int
    factors: SessionFactors

    @property
    def prefix(self) -> str:
        return f"ses_{self.session}_{_snake(self.part if self.turn > 1 else self.place)}"

    @property
    def place(self) -> str:
        return self.stage or self.part

    @property
    def words(self) -> str:
        again = f", in part {self.part}" if self.turn > 1 else ""
        about = f"about {self.stage} " if self.stage else ""
        return f"{about}in session {self.session}{again}"


class Phenotypes:
    """Collects the submitted answers of one session after another. Instruments of which no answer
    is there, in a de-identified copy perhaps all that ask about the person, have no table."""

    def __init__(self) -> None:
        self._found: dict[str, _InstrumentAnswers] = {}

    def add(self, record: Record, instruments: Mapping[str, Instrument]) -> None:
        """The answers of a session; instruments: of its study, by id."""
        known_parts = registry.known_parts(record.planned.plan)
        abouts = _abouts(known_parts)
        factors = SessionFactors(record.planned, {part.id: part for part in known_parts})
        kinds = {
            part.id: sheet.kinds
            for part in known_parts
            if (sheet := part.questionnaire()) is not None
        }
        submitted = [row for row in record.rows if row.kind == QuestionnaireSubmitted.kind]
        turns: dict[tuple[str, str], list[str]] = {}
        for event, payload in payloads(submitted):
            assert isinstance(payload, QuestionnaireSubmitted)
            if event.part_id is None or (record.redacted and not payload.answers):
                continue
            known = instruments.get(payload.instrument)
            into = self._found.setdefault(payload.instrument, _InstrumentAnswers())
            into.tool = into.tool or _tool(payload, known)
            into.versions.add(payload.instrument_version)
            stage, model = abouts.get(event.part_id, ("", ""))
            parts = turns.setdefault((payload.instrument, stage or event.part_id), [])
            if event.part_id not in parts:
                parts.append(event.part_id)
            turn = parts.index(event.part_id) + 1
            asked = _Occasion(record.session, event.part_id, stage, model, turn, factors)
            row = into.rows.setdefault(f"sub-{record.participant}", {})
            for column in map(described_column, factors.between_columns):
                into.columns[column.name] = column
                row[column.name] = factors.between.get(column.name)
            _collect(into, row, asked, payload, known, kinds.get(event.part_id, {}))
            _left_out(into, row, asked, payload)

    def finished(self) -> list[Phenotype]:
        """A table an instrument, by their ids."""
        return [_finished(name, collected) for name, collected in sorted(self._found.items())]


def _abouts(parts: Sequence[PlannedPart]) -> dict[str, tuple[str, str]]:
    """(stage, model) that a questionnaire part asks about, by the part's id."""
    models = {part.id: next(part.models(), "") for part in parts}
    return {
        part.id: (about, models.get(about, ""))
        for part in parts
        if (about := part.belongs_to()) is not None
    }


def _tool(payload: QuestionnaireSubmitted, known: Instrument | None) -> dict[str, Any]:
    described = known.title if known else payload.instrument
    tool = {"Description": described, "Version": payload.instrument_version}
    if known:
        tool |= {"Source": known.source, "Instruction": known.instruction}
    return tool


def _collect(
    into: _InstrumentAnswers,
    row: dict[str, Any],
    asked: _Occasion,
    payload: QuestionnaireSubmitted,
    known: Instrument | None,
    kinds: Mapping[str, str],
) -> None:
    """Put the answers of one part into its row; kinds: of items that packages bring."""

    def put(value: Any, wanted: str, column: Column, *owner: object) -> None:
        name = into.name(wanted, asked.session, asked.place, asked.turn, *owner)
        row[name] = value
        into.columns[name] = _together(into.columns.get(name), replace(column, name=name))

    if asked.stage:
        described = Column("", f"The representation of {asked.words.removeprefix('about ')}.")
        put(asked.model, f"{asked.prefix}_model", described)
        for column in map(described_column, asked.factors.within_columns):
            told = replace(
                column, description=f"Of {asked.words.removeprefix('about ')}: {column.description}"
            )
            cells = asked.factors.within(asked.part)
            put(cells.get(column.name), f"{asked.prefix}_{column.name}", told, column.name)
    for item, value in payload.answers.items():
        name = f"{asked.prefix}_{_snake(item)}"
        kind = kinds.get(item, "")
        column = _described(item, _known(known, item), asked.words)
        column = replace(column, description=f"{column.description}{_reversed(item, known)}")
        more = more_of(value, kind)
        for cell, content in cells_of(value, kind).items():
            if not cell:
                put(content, name, column, item)
            else:
                described = Column("", f"{more[cell]}: {column.description}")
                put(content, f"{name}_{cell}", described, item, cell)


def _left_out(
    into: _InstrumentAnswers,
    row: dict[str, Any],
    asked: _Occasion,
    payload: QuestionnaireSubmitted,
) -> None:
    """Which items of one part were not asked, so that they are told from those passed over."""
    if not payload.not_asked:
        return
    words = f"The items that their conditions left out {asked.words}, with ; between them."
    wanted = f"{asked.prefix}_not_asked"
    name = into.name(wanted, asked.session, asked.place, asked.turn, None)
    row[name] = ";".join(payload.not_asked)
    into.columns[name] = Column(name, words)


def _known(instrument: Instrument | None, item: str) -> Item | None:
    try:
        return instrument.item(item) if instrument else None
    except KeyError:
        return None


def _reversed(item: str, instrument: Instrument | None) -> str:
    """In which scores an item counts the other way round, as the end of its description."""
    scores = instrument.scores if instrument is not None else None
    if not isinstance(scores, Mapping):
        return ""
    names = ", ".join(name for name, score in scores.items() if item in score.reverse)
    return f" In the score {names} it counts the other way round." if names else ""


def _described(item: str, known: Item | None, where: str) -> Column:
    return known.column(where) if known else Column("", f"The answer to {item} ({where})")


def _together(known: Column | None, column: Column) -> Column:
    """A column of several versions of an instrument: every option that there was."""
    if known is None or not column.levels:
        return column
    return replace(column, levels={**known.levels, **column.levels})


def _finished(instrument: str, collected: _InstrumentAnswers) -> Phenotype:
    participant = Column("participant_id", "The participant.")
    columns = (participant, *(collected.columns[name] for name in sorted(collected.columns)))
    rows = [
        {"participant_id": who} | collected.rows[who] for who in sorted(collected.rows, key=natural)
    ]
    tool = collected.tool
    if len(collected.versions) > 1:
        # Nothing here says who answered which; journal and table of answers do.
        tool = {**tool, "Version": sorted(collected.versions)}
    return Phenotype(instrument, Table(columns, rows), tool)


def _snake(name: str) -> str:
    return name.replace("-", "_")
