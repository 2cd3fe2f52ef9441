"""The files of a bundle that follow from its sessions' journals: tables, descriptions, codebook,
README.

An export writes these files; `rebuild_check` makes them anew and compares them. Raise
`TABLE_FORMAT` with every change of their contents: files of different formats are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labapp import discovery
from labapp.analysis.beside import title_of
from labapp.bids import people
from labapp.bids.contents import Target, add_tables
from labapp.bids.people import by_participant, participants, session_line
from labapp.bids.phenotype import Phenotypes
from labapp.bids.readme import readme
from labapp.bids.session_timeline import session_columns
from labapp.bids.task_timeline import event_columns
from labapp.bids.tasks import trial_columns
from labapp.bids.tsv import Table, described, json_text
from labapp.events import describe
from labapp.journal.layout import SOURCEDATA
from labapp.journal.record import Record
from labapp.plugins import registry
from labapp.study.instruments import Instrument
from labapp.text_tables import SAID

JOURNAL_COLUMNS = {
    "seq": "Number of the event, from 1 without holes.",
    "segment": "Run of the program on this session, from 1.",
    "t_ns": "Session time in nanoseconds, never decreasing.",
    "utc": "The wall clock when it was stored, for people; durations are differences of t_ns.",
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
    "redacted": "True where the payload was reduced for a de-identified copy.",
}


def codebook(declared: Sequence[str] = ()) -> dict[str, Any]:
    """As plain values for codebook.json. declared: what the sessions' study declares, for the
    columns of its factors."""
    texts = tuple(dict.fromkeys(filter(None, declared)))
    return {
        "text in tables": SAID,
        "events": describe(),
        "journal.parquet": JOURNAL_COLUMNS,
        "participants.tsv": described(people.participant_columns(texts)),
        "sessions.tsv": described(people.session_columns(texts)),
        "task-session_events.tsv": described(session_columns()),
        **{
            f"task-{files.label}_{suffix}.tsv": described(columns(files, texts))
            for files in registry.task_files()
            for suffix, columns in (("events", event_columns), ("beh", trial_columns))
        },
    }


TABLE_FORMAT = 10
"""Raised by one whenever these files come out otherwise, be it a word in a description."""
BIDS_VERSION = "1.10.1"
README = "README"


class DerivedFiles:
    """Makes these files, one session after another.

    Attributes
    ----------
    lines : the sessions so far, as sessions.tsv has them.
    reduced : bool
        Whether one of them is de-identified.
    heard : bool
        Whether the bundle has sound of one of them.
    titles : of the study, as the sessions have it.
    """

    def __init__(self, bundle: Target, version: str) -> None:
        self.lines: list[Mapping[str, object]] = []
        self.reduced = False
        self.heard = False
        self.shown = False
        """Whether the bundle has a video."""
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
        """The files of all sessions together, but for the README."""
        declared = [str(line["declared"]) for line in self.lines]
        self._add_table("participants", participants(self.lines))
        for participant, own in by_participant(self.lines).items():
            name = f"sub-{participant}/sub-{participant}_sessions"
            self._add_table(name, Table(people.session_columns(declared), own))
        for phenotype in self._phenotypes.finished():
            tool = {"MeasurementToolMetadata": phenotype.tool}
            self._add_table(f"phenotype/{phenotype.instrument}", phenotype.table, **tool)
        description = _description(self.titles[0], self._version)
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
            deidentified=self.reduced,
            unshared=unshared,
            shown=self.shown,
            version=self._version,
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


def _description(title: str, version: str) -> dict[str, Any]:
    return {
        "Name": title,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw",
        "GeneratedBy": [
            {
                "Name": "labapp",
                "Version": version,
                "Description": "Recorded and exported by labapp.",
            }
        ],
    }
