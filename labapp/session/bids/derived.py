"""The files of a bundle that follow from its sessions' journals: tables, descriptions, codebook,
README.

An export writes these files; `rebuild_check` makes them anew and compares them. Raise
`TABLE_FORMAT` with every change of their contents: files of different formats are not compared.

Questionnaires are BIDS phenotype files. BIDS allows one row per participant there, so an instrument
that was asked after several stages, or in several sessions, has a column for each:
`ses_1_stage_2_seq`, and beside it what it was asked about: `ses_1_stage_2_model`. A second time
about the same stage stands under its own part's name.

Whether the tables and descriptions of a bundle are those that its own journals give.

They are made anew as an export makes them and compared by value, one file at a time.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from typing import IO, Any

from labapp.analysis.answered import title_of
from labapp.analysis.declared import SessionFactors
from labapp.analysis.questionnaires import instruments_of
from labapp.base import discovery
from labapp.base.errors import BundleError
from labapp.base.naming import natural
from labapp.base.reading import files as reading
from labapp.base.reading.tables import SAID
from labapp.base.reading.values import json_value
from labapp.base.report.page import count
from labapp.coding.annotations.video_files import LIST
from labapp.record.events import describe
from labapp.record.events.trials import QuestionnaireSubmitted
from labapp.record.journal.flac import FLAC
from labapp.record.journal.layout import ANNOTATIONS, MANIFEST, SOURCEDATA, Tree
from labapp.record.journal.merged import Merged
from labapp.record.journal.opening import read_bundled_record, session_facts, session_prefixes
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record
from labapp.session.bids import tasks
from labapp.session.bids.contents import AGREED_LIST, BundleTarget, add_tables, session_columns
from labapp.session.bids.folder import Table, describe_columns, hash_stream, json_text
from labapp.session.bids.tasks import (
    by_participant,
    describe_column,
    event_columns,
    participants,
    session_line,
    trial_columns,
)
from labapp.study.instruments import Instrument
from labapp.study.instruments.dont_know import DONT_KNOW, is_unknown
from labapp.study.instruments.kinds import cells_of, more_of
from labapp.study.plugins import registry
from labapp.study.plugins.bids import Column

JOURNAL_COLUMNS = {
    "seq": "Number of the event, from 1 without gaps.",
    "segment": "Run of the program on this session, from 1.",
    "t_ns": "Session time in nanoseconds, never decreasing.",
    "utc": "The time of day when it was stored, for people to read; durations are differences "
    "of t_ns.",
    "source": "Who caused it: participant, moderator, system or simulated.",
    "kind": "Kind of event, see events.",
    "v": "Version of the kind.",
    "stage": "Id of the plan's part.",
    "trial": "Number of the question in its stage, from 1.",
    "attempt": "Attempt at the question, from 1.",
    "payload": "The fields of the kind as canonical JSON, verbatim.",
    "hash": (
        "SHA-256 (hexadecimal) of the hash of the row before (64 zeros before the first) and the "
        "row: the JSON array [seq, segment, t_ns, utc, source, kind, v, stage, trial, attempt] "
        "without spaces, followed by the payload."
    ),
    "redacted": "True if the payload was reduced for a de-identified copy.",
}


def codebook(declared: Sequence[str] = ()) -> dict[str, Any]:
    """As plain values for codebook.json. declared: what the sessions' study declares, for the
    columns of its factors."""
    texts = tuple(dict.fromkeys(filter(None, declared)))
    return {
        "text in tables": SAID,
        "events": describe(),
        "journal.parquet": JOURNAL_COLUMNS,
        "participants.tsv": describe_columns(tasks.participant_columns(texts)),
        "sessions.tsv": describe_columns(tasks.session_columns(texts)),
        "task-session_events.tsv": describe_columns(session_columns()),
        **{
            f"task-{files.label}_{suffix}.tsv": describe_columns(columns(files, texts))
            for files in registry.task_files()
            for suffix, columns in (("events", event_columns), ("beh", trial_columns))
        },
    }


TABLE_FORMAT = 27
"""Raised by one whenever these files come out otherwise, be it a word in a description."""
README = "README"


class DerivedFiles:
    """Makes these files, one session after another.

    Attributes
    ----------
    lines : the sessions so far, as sessions.tsv has them.
    reduced : whether one of them is de-identified.
    heard, shown : whether the bundle has sound of one of them, or a video.
    flac : whether its sound is FLAC.
    withdrew : people who withdrew from the study, of whom nothing is in the bundle.
    titles : of the study, as the sessions have it.
    """

    def __init__(self, bundle: BundleTarget, version: str) -> None:
        self.lines: list[Mapping[str, object]] = []
        self.reduced = False
        self.heard = False
        self.shown = False
        self.flac = False
        self.withdrew = 0
        self.titles: list[str] = []
        self._bundle = bundle
        self._version = version
        self._phenotypes = Phenotypes()

    def add(self, record: Record, instruments: Mapping[str, Instrument], *, audio: bool) -> None:
        """The files of one session; instruments: its own, by id; audio: whether the bundle has its
        sound."""
        add_tables(self._bundle, record, self._version, audio=audio)
        self._phenotypes.add(record, instruments)
        self.lines.append(session_line(record))
        self.titles.append(title_of(record) or record.study)
        self.reduced |= record.redacted
        self.heard |= audio

    @property
    def study(self) -> str:
        """The study's id."""
        return str(self.lines[0]["study"])

    def finish(self) -> None:
        """The files of all sessions together, except the README."""
        declared = [str(line["declared"]) for line in self.lines]
        self._add_table("participants", participants(self.lines))
        for participant, own in by_participant(self.lines).items():
            name = f"sub-{participant}/sub-{participant}_sessions"
            self._add_table(name, Table(tasks.session_columns(declared), own))
        for phenotype in self._phenotypes.finished():
            tool = {"MeasurementToolMetadata": phenotype.tool}
            self._add_table(f"phenotype/{phenotype.instrument}", phenotype.table, **tool)
        description = {
            "Name": self.titles[0],
            "BIDSVersion": "1.10.1",
            "DatasetType": "raw",
            "GeneratedBy": [
                {
                    "Name": "labapp",
                    "Version": self._version,
                    "Description": "Recorded and exported by labapp.",
                }
            ],
        }
        self._bundle.add_text("dataset_description.json", json_text(description))
        self._bundle.add_text(f"{SOURCEDATA}/codebook.json", json_text(codebook(declared)))

    def readme(self, *, audio: bool, unshared: Sequence[str]) -> str:
        """The README. audio: whether sound was to be in the bundle; unshared: the sessions whose
        sound may not be passed on."""
        return readme(
            study=self.study,
            title=self.titles[0],
            sessions=len(self.lines),
            participants=len(by_participant(self.lines)),
            audio=audio,
            heard=self.heard,
            flac=self.flac,
            deidentified=self.reduced,
            unshared=unshared,
            shown=self.shown,
            version=self._version,
            withdrew=self.withdrew,
        )

    def _add_table(self, name: str, table: Table, **facts: Any) -> None:
        self._bundle.add_text(f"{name}.tsv", table.text())
        self._bundle.add_text(f"{name}.json", table.sidecar(**facts))


def packages() -> list[dict[str, str]]:
    """The installed packages whose tasks have a share in these files, with their versions."""
    versions = {
        plugin.package: plugin.version
        for plugin, state in registry.TASKS.installed
        if state == discovery.READY
    }
    return [{"package": name, "version": versions[name]} for name in sorted(versions)]


_BODY = """\
# {title}

{sessions} of {participants} in the study `{study}`, recorded with labapp and exported as a
BIDS dataset (behavioural data). Every time is in seconds since the session began.
{withdrew}
## Where things are

* `participants.tsv`: who took part; `sub-*/sub-*_sessions.tsv`: when each session took place, how
  it ended, and the quality of its recording. A session whose state is not `complete` was not
  finished.
{tasks}
* `phenotype/`: questionnaires, one row per participant.
* `sourcedata/labapp/`: everything else. `codebook.json` describes every kind of event and every
  column; `manifest.json` has the SHA-256 and size of every file; `models/` has the model cards.
  `sub-*/ses-*/` has, for each session, the journal (`journal.parquet`: every event, verbatim, with
  its hash chain), the study as it was used (`study/`), `environment.json`, the sound, and the
  pictures of the stimulus sets as they were shown, each named by its SHA-256 (`stimuli/`). Where
  somebody coded what was said, `annotations/` has the units (`units.jsonl`), their text
  (`transcript.jsonl`), a file of marks for each rater (`raters/`), what was settled between raters
  (`settlements.jsonl`), who coded what (`assignments.jsonl`) and the codebooks: lines of JSON,
  times in nanoseconds. Redacted stretches are in `transcript.jsonl`; their words were removed,
  and their sound is silent.

A cell of text in a table that begins with = + - or @ has an apostrophe in front, so that no
spreadsheet program runs it as a formula; the journal has every text verbatim.

Durations named working durations, and all durations in `_beh.tsv`, leave out pauses, breaks and the
gaps after crashes. A session with several runs (segments) has a sound file for each.

## Sound

{sound}
{video}
## Privacy

The consent form and the table of names and pseudonyms are kept apart and are not part of this
bundle.

{privacy}

## Checking

`labapp sessions verify` on this folder detects every byte that was changed since the export, and
checks the hash chain of each journal. Made with labapp {version}.
"""

_WITHDREW = """
{people} withdrew from the study. This dataset contains nothing from them, not even a label.
"""
_OF_SESSION = (
    "`*_task-session_events.tsv`: runs of the program, parts of the plan, pauses, answers, the "
    "moderator's notes and flags, and the state of the sound."
)
_SOUND = """\
`audio/*.wav` is the microphone, at the nominal rate of the device. `audio/clock.json` places it on
the timeline of the events: `t = offset + frame / rate`, with the rate fitted to the clock of the
computer, and the residual of that fit."""

_SOUND_FLAC = """\
`audio/*.flac` is the microphone, at the nominal rate of the device, in the lossless format FLAC;
the journal and `audio/clock.json` name these files `audio/*.wav`, as they were recorded. The hashes
in the journal are those of the decoded samples (16 bits, little-endian). `audio/clock.json` places
the sound on the timeline of the events: `t = offset + frame / rate`, with the rate fitted to the
clock of the computer, and the residual of that fit."""

_VIDEO = """
## Video

`annotations/videos/` of a session has videos of its participant, who agreed to this, and
`videos.jsonl`, which gives the place of each on the timeline of the events:
`t = offset_s + video time · (1 + drift_ppm / 1,000,000)`, by the sound that is in both, with the
residual of that fit, or by hand. A face identifies.
"""
_UNSHARED = """
The sound of these sessions was left out, because their participants did not agree to share it:
{names}."""

_IDENTIFIED = """\
This bundle was NOT de-identified: notes, names given to dials and answers are as they were
recorded. Its journals carry the hash chain of the recording."""

_DEIDENTIFIED = f"""\
This bundle was de-identified by an agreed list:

{AGREED_LIST}

Rows that were reduced are marked in the journal (`redacted`). The hash chain was computed again
over the reduced rows, so it shows that nothing changed since the export, not since the recording.
The original hashes are left out on purpose, because they would let anybody test guesses about what
was withheld. The lab can make the same copy from the original journal again."""

_VOICE = " A voice can be recognised: the sound in this bundle identifies the person who speaks."


def readme(
    *,
    study: str,
    title: str,
    sessions: int,
    participants: int,
    audio: bool,
    heard: bool,
    deidentified: bool,
    version: str,
    flac: bool = False,
    unshared: Sequence[str] = (),
    shown: bool = False,
    withdrew: int = 0,
) -> str:
    """The text of the README. audio: whether sound was to be in the bundle; heard: whether any is,
    and flac, whether as FLAC; version: of labapp; unshared: sessions whose sound may not be passed
    on; shown: whether there is a video; withdrew: people of whom nothing is in the bundle."""
    missing = "There is no sound in" if audio else "The sound was left out of"
    sound = f"{missing} this bundle."
    if heard:
        sound = _SOUND_FLAC if flac else _SOUND
    if audio and unshared:
        sound += _UNSHARED.format(names=", ".join(unshared))
    privacy = _DEIDENTIFIED if deidentified else _IDENTIFIED
    tasks = [files.introduction for files in registry.task_files() if files.introduction]
    return _BODY.format(
        tasks=textwrap.fill(
            " ".join((*tasks, _OF_SESSION)),
            width=100,
            initial_indent="* ",
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        ),
        title=title,
        study=study,
        sessions=count(sessions, "session"),
        participants=count(participants, "participant"),
        withdrew=_WITHDREW.format(people=count(withdrew, "participant")) if withdrew else "",
        sound=sound,
        video=_VIDEO if shown else "",
        privacy=privacy + (_VOICE if deidentified and heard else ""),
        version=version,
    )


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
        known_parts = registry.read_known_parts(record.planned.plan)
        # (stage, model) that a questionnaire part asks about, by the part's id.
        models = {part.id: next(part.models(), "") for part in known_parts}
        abouts = {
            part.id: (about, models.get(about, ""))
            for part in known_parts
            if (about := part.belongs_to()) is not None
        }
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
            for column in map(describe_column, factors.between_columns):
                into.columns[column.name] = column
                row[column.name] = factors.between.get(column.name)
            _collect(into, row, asked, payload, known, kinds.get(event.part_id, {}))
            if payload.not_asked:
                words = (
                    f"The items that were left out by their conditions {asked.words}, separated "
                    "by ;."
                )
                wanted = f"{asked.prefix}_not_asked"
                name = into.name(wanted, asked.session, asked.place, asked.turn, None)
                row[name] = ";".join(payload.not_asked)
                into.columns[name] = Column(name, words)
        for merged in record.merged:
            into = self._found.setdefault(f"merged_{merged.survey}", _InstrumentAnswers())
            into.tool = into.tool or _merged_tool(merged)
            row = into.rows.setdefault(f"sub-{record.participant}", {})
            for asked_there in merged.columns:
                name = f"ses_{record.session}_{asked_there.name}"
                row[name] = merged.answers[asked_there.name]
                into.columns[name] = Column(name, asked_there.meaning, levels=asked_there.values)

    def finished(self) -> Iterator[Phenotype]:
        """A table an instrument, by their ids."""
        participant = Column("participant_id", "The participant.")
        for instrument, own in sorted(self._found.items()):
            columns = (participant, *(own.columns[name] for name in sorted(own.columns)))
            people = sorted(own.rows, key=natural)
            rows = [{"participant_id": who} | own.rows[who] for who in people]
            tool = own.tool
            if len(own.versions) > 1:
                # Nothing here says who answered which; journal and table of answers do.
                tool = {**tool, "Version": sorted(own.versions)}
            yield Phenotype(instrument, Table(columns, rows), tool)


def _merged_tool(merged: Merged) -> dict[str, Any]:
    origin = {"File": merged.file, "SHA256": merged.sha256, "Merged": merged.utc}
    return {
        "Description": f"Answers from another tool, merged as {merged.survey}.",
        **({} if not merged.file else origin),
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
    """Put the answers of one part into its row; kinds: of items whose kinds the plan names."""

    def put(value: Any, wanted: str, column: Column, *owner: object) -> None:
        name = into.name(wanted, asked.session, asked.place, asked.turn, *owner)
        row[name] = value
        column = replace(column, name=name)
        if (earlier := into.columns.get(name)) is not None and column.levels:
            # Of several versions of an instrument, every option that there was.
            column = replace(column, levels={**earlier.levels, **column.levels})
        into.columns[name] = column

    if asked.stage:
        described = Column("", f"The representation of {asked.words.removeprefix('about ')}.")
        put(asked.model, f"{asked.prefix}_model", described)
        for column in map(describe_column, asked.factors.within_columns):
            told = replace(
                column, description=f"Of {asked.words.removeprefix('about ')}: {column.description}"
            )
            cells = asked.factors.within(asked.part)
            put(cells.get(column.name), f"{asked.prefix}_{column.name}", told, column.name)
    for item, value in payload.answers.items():
        name = f"{asked.prefix}_{_snake(item)}"
        kind = kinds.get(item, "")
        column = _describe_item(item, known, asked.words)
        if is_unknown(value):
            described = Column("", f"Whether the answer is not to know: {column.description}")
            put(True, f"{name}_dont_know", described, item, DONT_KNOW)
        more = more_of(value, kind)
        cells = cells_of(value, kind)
        for cell, content in cells.items():
            if not cell:
                put(content, name, column, item)
            elif "" not in cells:
                part = _describe_item(f"{item}_{cell}", known, asked.words)
                put(content, f"{name}_{_snake(cell)}", part, item, cell)
            else:
                described = Column("", f"{more[cell]}: {column.description}")
                put(content, f"{name}_{cell}", described, item, cell)


def _describe_item(item: str, instrument: Instrument | None, where: str) -> Column:
    """An item's column; at its end in which scores it is reverse-scored."""
    column = Column("", f"The answer to {item} ({where})")
    if instrument is None:
        return column
    with suppress(KeyError):
        column = instrument.part(item).column(where)
    scores = instrument.scores if isinstance(instrument.scores, Mapping) else {}
    names = ", ".join(name for name, score in scores.items() if item in score.reverse)
    turned = f" In the score {names} it is reverse-scored." if names else ""
    return replace(column, description=f"{column.description}{turned}")


def _snake(name: str) -> str:
    return name.replace("-", "_")


ROUNDING = 1e-9
"""Relative difference up to which two numbers are equal: another processor may round otherwise."""
TOLD = 5
"""So many differences of a file are told one by one."""


def not_compared(facts: Mapping[str, Any]) -> str:
    """Why the tables of a bundle cannot be made again here, as a note; empty if they can be.

    facts: what its manifest says besides the files.
    """
    stated = facts.get("table_format", 0)
    if stated != TABLE_FORMAT:
        return (
            "Its tables were not compared with its journals, because they have the format "
            f"{stated}, but this version of labapp writes the format {TABLE_FORMAT}."
        )
    here = {row["package"]: row["version"] for row in packages()}
    absent = [
        f"{name} {version}".strip()
        for name, version in _read_packages(facts).items()
        if here.get(name) != version
    ]
    if absent:
        return (
            "Its tables were not compared with its journals, because they were made with "
            f"{', '.join(absent)}, which is not installed here in this version."
        )
    return ""


def check_rebuild(tree: Tree, facts: Mapping[str, Any]) -> tuple[int, list[str]]:
    """How many files were compared with what the journals give, and what is wrong.

    facts: the manifest's. Only for a bundle that is whole otherwise, and of which `not_compared`
    says nothing. One session is in memory at a time.
    """
    order = facts.get("sessions")
    prefixes = {prefix.removeprefix(f"{SOURCEDATA}/"): prefix for prefix in session_prefixes(tree)}
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(prefixes):
        return 0, [f"{SOURCEDATA}/{MANIFEST}: it does not list the sessions that are there"]
    known = _read_packages(facts)
    more = any(row["package"] not in known for row in packages())
    compared = RebuildComparison(tree, more)
    derived = DerivedFiles(compared, str(facts.get("labapp")))
    unshared = []
    try:
        for place in order:
            below = tree.below(prefixes[place])
            record, stated = read_bundled_record(below, place), session_facts(below, place)
            derived.add(record, instruments_of(record), audio=bool(stated.get("sound")))
            derived.shown |= record.tree.has(f"{ANNOTATIONS}/{LIST}")
            derived.flac |= stated.get("sound_format") == FLAC
            if record.audio and not record.may("share_audio"):
                unshared.append(place)
        derived.finish()
        derived.withdrew = int(facts.get("withdrawn", 0))
    except BundleError as error:
        return 0, [error.what]
    # Whether sound was asked for, and was there to be left out, no journal says.
    readmes = [
        derived.readme(audio=audio, unshared=names)
        for audio, names in ((True, unshared), (True, []), (False, []))
    ]
    there = compared.text(README)
    compared.add_text(README, there if there in readmes else readmes[0])
    return len(compared.files), [*compared.problems, *_others(tree, compared.files)]


def _read_packages(facts: Mapping[str, Any]) -> dict[str, str]:
    stated = facts.get("packages")
    rows = stated if isinstance(stated, list) else []
    return {
        str(row.get("package")): str(row.get("version", ""))
        for row in rows
        if isinstance(row, dict)
    }


def _others(tree: Tree, made: Sequence[str]) -> list[str]:
    """Files that no session gives. Of those of the sessions and models others tell."""
    folders = (*(f"{prefix}/" for prefix in session_prefixes(tree)), f"{SOURCEDATA}/models/")
    known = {*made, f"{SOURCEDATA}/{MANIFEST}"}
    return [
        f"{name}: a file that does not follow from any session"
        for name in tree.names()
        if name not in known and not name.startswith(folders)
    ]


@dataclass
class RebuildComparison:
    """Takes the files of a bundle as they ought to be, and compares them with those of a tree.

    Attributes
    ----------
    tree : the bundle that is checked.
    more : whether packages are installed here that had no share in it: what they add to
        descriptions is not missing there.
    files : the names of those compared.
    problems : the differences.
    """

    tree: Tree
    more: bool = False
    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text(self, name: str, largest: int = 0) -> str:
        """A file that is there; empty if none is, which the comparison reports. Raises
        RecordError for one that is larger than documents are, and than `largest` bytes."""
        if not self.tree.has(name):
            return ""
        return self.tree.read(name, max(largest, reading.DOCUMENT)).decode("utf-8", "replace")

    def add_text(self, name: str, text: str) -> None:
        """Compare a table, a description or a text."""
        if not self._is_there(name):
            return
        there = self.text(name, 2 * len(text.encode()))
        if there == text:
            return
        if name.endswith(".tsv"):
            differences = list(_table_differences(there, text))
        elif name.endswith(".json"):
            try:
                differences = list(_differences(json_value(there), json_value(text), self.more, ""))
            except ValueError:
                differences = ["it is no JSON"]
        else:
            differences = ["its content does not match the journals of the bundle"]
        self.problems += [f"{name}: {difference}" for difference in differences[:TOLD]]
        if len(differences) > TOLD:
            self.problems.append(f"{name}: {len(differences) - TOLD} more differences of this kind")

    def add_stream(self, name: str, source: IO[bytes]) -> None:
        """Compare a picture."""
        if not self._is_there(name):
            return
        with self.tree.open(name) as there:
            if hash_stream(there) != hash_stream(source):
                self.problems.append(f"{name}: not the picture of the session")

    def _is_there(self, name: str) -> bool:
        self.files.append(name)
        if there := self.tree.has(name):
            return there
        self.problems.append(
            f"{name}: missing, although it follows from the journals of the bundle"
        )
        return False


def _table_differences(there: str, here: str) -> Iterator[str]:
    """What a table says otherwise than the journal, cell by cell."""
    header, *rows = [line.split("\t") for line in there.removesuffix("\n").split("\n")]
    names, *given = [line.split("\t") for line in here.removesuffix("\n").split("\n")]
    if header != names:
        yield "its columns do not match those from the journal"
        return
    if len(rows) != len(given):
        alike = zip(rows, given, strict=False)
        equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], alike))
        yield (
            f"it has {len(rows)} rows, but the journal gives {len(given)}; the first {equal} match"
        )
        return
    for number, (row, wanted) in enumerate(zip(rows, given, strict=True), 1):
        for name, cell, value in zip_longest(names, row, wanted, fillvalue=""):
            if not _equal_cells(cell, value):
                told = f"{cell[:80]!r}, but the journal gives {value[:80]!r}"
                yield f"row {number}, {name}: it has {told}"


def _equal_cells(there: str, here: str) -> bool:
    if there == here:
        return True
    try:
        return not any(_differences(json_value(there), json_value(here), False, ""))
    except ValueError:
        return False


def _differences(there: Any, here: Any, more: bool, place: str) -> Iterator[str]:
    """What a value says otherwise; place: where in the file it stands; more: entries may be
    missing there."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in [*there, *(name for name in here if name not in there)]:
            where = f"{place} / {name}" if place else str(name)
            if name not in here:
                yield f"{where}: does not follow from the journals of the bundle"
            elif name in there:
                yield from _differences(there[name], here[name], more, where)
            elif not more:
                yield f"{where}: missing"
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for number, pair in enumerate(zip(there, here, strict=True), 1):
            yield from _differences(*pair, more, f"{place} / {number}" if place else str(number))
    elif not _equal(there, here):
        told = "" if len(str(there)) + len(str(here)) > 200 else f" {there!r}, and not {here!r}"
        yield f"{place or 'a cell'}: it says{told or ' something else than the journals give'}"


def _equal(there: Any, here: Any) -> bool:
    numbers = (int, float)
    if type(there) in numbers and type(here) in numbers:
        return math.isclose(there, here, rel_tol=ROUNDING)
    return type(there) is type(here) and bool(there == here)
