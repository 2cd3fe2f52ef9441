"""The files of a bundle that follow from its sessions' journals: tables, descriptions, codebook,
README.

An export writes these files; `rebuild_check` makes them anew and compares them. Raise
`TABLE_FORMAT` with every change of their contents: files of different formats are not compared.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from labapp import discovery
from labapp.analysis.beside import title_of
from labapp.bids import people
from labapp.bids.contents import Target, add_tables
from labapp.bids.people import by_participant, participants, session_line
from labapp.bids.phenotype import Phenotypes
from labapp.bids.redaction import AGREED_LIST
from labapp.bids.session_timeline import session_columns
from labapp.bids.task_timeline import event_columns
from labapp.bids.tasks import trial_columns
from labapp.bids.tsv import Table, described, json_text
from labapp.events import describe
from labapp.journal.layout import SOURCEDATA
from labapp.journal.record import Record
from labapp.plugins import registry
from labapp.report.formats import count
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


TABLE_FORMAT = 11
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


_BODY = """\
# {title}

{sessions} of {participants} in the study `{study}`, recorded with labapp and exported as a
BIDS dataset (behavioural data). Every time is in seconds since the session began.

## Where things are

* `participants.tsv`: who took part; `sub-*/sub-*_sessions.tsv`: when, how each session ended, and
  the quality of its recording. A session whose state is not `complete` is not whole.
{tasks}
* `phenotype/`: questionnaires, a row a participant.
* `sourcedata/labapp/`: everything else. `codebook.json` describes every kind of event and every
  column; `manifest.json` has the SHA-256 and size of every file; `models/` has the model cards.
  `sub-*/ses-*/` has, for each session, the journal (`journal.parquet`: every event, verbatim, with
  its hash chain), the study as it was used (`study/`), `environment.json`, the sound, and the
  pictures of the stimulus sets as they were shown, each named by its SHA-256 (`stimuli/`). Where
  somebody coded what was said, `annotations/` has the units (`units.jsonl`), their text
  (`transcript.jsonl`), a file of marks a rater (`raters/`), what was settled between raters
  (`settlements.jsonl`), who coded what (`assignments.jsonl`) and the codebooks: lines of JSON,
  times in nanoseconds. Redacted stretches are in `transcript.jsonl`; their words are nowhere, and
  their sound is silent.

A cell of text in a table that begins with = + - or @ stands behind an apostrophe, so that no
spreadsheet program carries it out; the journal has every text verbatim.

Durations named working durations, and all durations in `_beh.tsv`, leave out pauses, breaks and the
gaps after crashes. A session of several runs (segments) has a sound file for each.

## Sound

{sound}
{video}
## Privacy

The consent form and the table of names and pseudonyms are kept apart and are not part of this
bundle.

{privacy}

## Checking

`labapp sessions verify` on this folder finds every byte that was changed since the export, and
checks the hash chain of each journal. Made with labapp {version}.
"""

_OF_SESSION = (
    "`*_task-session_events.tsv`: runs of the program, parts of the plan, pauses, answers, the "
    "moderator's notes and flags, and the state of the sound."
)
_SOUND = """\
`audio/*.wav` is the microphone, at the nominal rate of the device. `audio/clock.json` places it on
the timeline of the events: `t = offset + frame / rate`, with the rate fitted to the clock of the
computer, and the residual of that fit."""

_VIDEO = """
## Video

`annotations/videos/` of a session has videos of its participant, who agreed to that, and
`videos.jsonl`, which says where each lies on the timeline of the events:
`t = offset_s + video time · (1 + drift_ppm / 1,000,000)`, by the sound that is in both, with the
residual of that fit, or by hand. A face identifies.
"""
_UNSHARED = """
The sound of these sessions was left out, for their participants did not agree that it is passed
on: {names}."""

_NO_SOUND = "The sound was left out of this bundle."
_SILENT = "There is no sound in this bundle."

_IDENTIFIED = """\
This bundle was NOT de-identified: notes, names given to dials and answers are as they were
recorded. Its journals carry the hash chain of the recording."""

_DEIDENTIFIED = f"""\
This bundle was de-identified by an agreed list:

{AGREED_LIST}

Rows that were reduced are marked in the journal (`redacted`). The hash chain was made anew over the
reduced rows: it shows that nothing changed since the export, not since the recording. The
original hashes are left out on purpose, because they would let anybody test guesses of what was
withheld. The lab can make the same copy from the original journal again."""

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
    unshared: Sequence[str] = (),
    shown: bool = False,
) -> str:
    """The text of the README. audio: whether sound was to be in the bundle; heard: whether any is;
    version: of labapp; unshared: sessions whose sound may not be passed on; shown: whether
    there is a video."""
    sound = _SOUND if heard else _SILENT if audio else _NO_SOUND
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
        sound=sound,
        video=_VIDEO if shown else "",
        privacy=privacy + (_VOICE if deidentified and heard else ""),
        version=version,
    )
