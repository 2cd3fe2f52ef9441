"""Sessions as a Psych-DS dataset: the tables of the analysis as CSV, described by schema.org.

Psych-DS (https://psych-ds.github.io, schema 1.5.0) asks for
* `dataset_description.json`, JSON-LD of the type Dataset with `name`, `description` and
  `variableMeasured`, which has every column of every data file and no other;
* data files below `data/` whose names are pairs of a keyword and a value (letters and digits) and
  end with `_data.csv`; the official keywords are study, site, subject, session, task, condition,
  trial, stimulus and description. A file of the same name with `.json` describes its columns alone.

The tables are read from a BIDS dataset of the same sessions, which is written first and removed
again: a de-identified dataset has nothing that a de-identified bundle withholds.
"""

from __future__ import annotations

import io
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from labapp import __version__
from labapp.analysis.columns import row_meanings
from labapp.analysis.declared import DECLARED
from labapp.analysis.inclusion import rule_words
from labapp.base.report.page import count
from labapp.session.bids.contents import AGREED_LIST
from labapp.session.bids.export import BIDS_DATASET, ExportedSession, Exporter
from labapp.session.bids.folder import BundleFolder, json_text
from labapp.session.bids.tasks import tasks_of

if TYPE_CHECKING:
    import pandas as pd

    from labapp.analysis.tables import Tables
    from labapp.analysis.task_records import Columns
    from labapp.record.journal.record import Record
    from labapp.study.instruments import Instrument

SCHEMA_VERSION = "1.5.0"
DESCRIPTION = "dataset_description.json"
README = "README.md"
DICTIONARY = "documentation/data_dictionary.csv"
IGNORE = ".psychds-ignore"
CONTEXT = "https://schema.org/"
_ALL_NUMBERS = re.compile(r"[^A-Za-z0-9]+")


@dataclass
class Contents:
    """What a dataset has, for its descriptions.

    Attributes
    ----------
    tables : of the analysis, of the sessions in it.
    written : by table, its columns and the number of its rows.
    tasks, questionnaires : what participants did, in words; by the name of each.
    recorded_with : versions of labapp.
    reduced : whether it is de-identified.
    withdrew : people who withdrew from the study, of whom nothing is in it.
    unshared : sessions whose sound was asked for and may not be passed on.
    pilot : whether these are pilots.
    """

    withdrew: int = 0
    tasks: dict[str, str] = field(default_factory=dict)
    questionnaires: dict[str, str] = field(default_factory=dict)
    recorded_with: dict[str, None] = field(default_factory=dict)
    reduced: bool = False
    unshared: int = 0
    pilot: bool = False
    written: dict[str, tuple[Columns, int]] = field(default_factory=dict)
    _tables: Tables | None = None

    @property
    def tables(self) -> Tables:
        assert self._tables is not None  # set once the sessions were read
        return self._tables

    @property
    def people(self) -> pd.DataFrame:
        """The table of participants, one row per session."""
        return self.tables.participants

    @property
    def study(self) -> str:
        """The study's id."""
        return str(self.people["study"].iloc[0])

    @property
    def title(self) -> str:
        from labapp.analysis.task_report import study_title

        return study_title(self.people, self.study)

    def gathering(self, sessions: Iterable[ExportedSession]) -> Iterator[ExportedSession]:
        """The sessions as they are, each looked at on its way."""
        for given in sessions:
            record = given.record
            self.reduced |= record.redacted
            self.pilot |= record.pilot
            self.unshared += given.unshared
            self.recorded_with |= dict.fromkeys(each.app_version for each in record.segments)
            self.tasks |= {files.name: files.description for files in tasks_of(record)}
            self.questionnaires |= _asked(record, given.instruments)
            yield given

    def read(self, bundle: BundleFolder) -> None:
        """Read the tables of the sessions."""
        from labapp.analysis.tables import load

        self._tables = load([bundle.root], pilot=self.pilot)


def _asked(record: Record, instruments: Mapping[str, Instrument]) -> dict[str, str]:
    """The titles of the questionnaires that a session's plan asks, with their sources."""
    from labapp.study.plugins import registry

    asked = {
        sheet.instrument
        for part in registry.read_known_parts(record.planned.plan)
        if (sheet := part.questionnaire()) is not None
    }
    return {
        name: f"{instruments[name].title} ({instruments[name].source})"
        for name in sorted(asked & instruments.keys())
    }


def contents_of(
    sessions: Iterable[ExportedSession], folder: BundleFolder, bundle: BundleFolder, *, audio: bool
) -> Contents:
    """Write the BIDS dataset of the sessions into `bundle`, and their tables from there into
    `folder`. Raises BundleError: something of the sessions cannot be written."""
    made = Contents(folder.withdrew)
    bundle.withdrew, bundle.sound = folder.withdrew, folder.sound
    BIDS_DATASET.write(made.gathering(sessions), bundle, audio=audio)
    folder.undated |= bundle.undated
    made.read(bundle)
    frames = made.tables.small()
    columns = made.tables.columns
    for name, frame in frames.items():
        if not frame.empty:
            _add_table(folder, made, name, frame, columns[name])
    return made


def _add_table(
    folder: BundleFolder, made: Contents, name: str, frame: pd.DataFrame, columns: Columns
) -> None:
    """A table and what describes its columns."""
    from labapp.analysis.analyze import with_lists

    stem = data_file(made.study, name)
    _add_csv(folder, f"{stem}.csv", with_lists(frame, columns))
    described = {"@context": CONTEXT, "@type": "Dataset", "variableMeasured": _variables(columns)}
    folder.add_text(f"{stem}.json", json_text(described))
    made.written[name] = columns, len(frame)


def _add_csv(folder: BundleFolder, name: str, frame: pd.DataFrame) -> None:
    from labapp.analysis.analyze import csv_into

    text = io.StringIO()
    csv_into(frame, text)
    folder.add_text(name, text.getvalue())


def data_file(study: str, table: str) -> str:
    """The name of a table's file, without its ending."""
    return f"data/study-{_label(study)}_description-{_label(table)}_data"


def _label(name: str) -> str:
    """A name as the value of a keyword: `codes_all` becomes `codesAll`."""
    first, *others = _ALL_NUMBERS.sub(" ", name).split() or ["x"]
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def _variables(columns: Columns) -> list[dict[str, str]]:
    return [_variable(column.name, column.meaning, column.unit) for column in columns]


def _variable(name: str, meaning: str, unit: str) -> dict[str, str]:
    made = {"@type": "PropertyValue", "name": name, "description": meaning or name}
    return {**made, "unitText": unit} if unit else made


def all_variables(written: Mapping[str, tuple[Columns, int]]) -> list[dict[str, str]]:
    """Every column of every table once. One that means different things in several tables is
    described for each of them."""
    meanings: dict[str, dict[tuple[str, str], list[str]]] = {}
    for table, (columns, _) in written.items():
        for column in columns:
            known = meanings.setdefault(column.name, {})
            known.setdefault((column.meaning, column.unit), []).append(table)
    made = []
    for name, known in meanings.items():
        if len(known) == 1:
            ((meaning, unit),) = known
        else:
            meaning = "; ".join(
                f"in {', '.join(tables)}: {words}{f' ({unit})' if unit else ''}"
                for (words, unit), tables in known.items()
            )
            units = {unit for _, unit in known}
            unit = units.pop() if len(units) == 1 else ""
        made.append(_variable(name, meaning, unit))
    return made


def add_descriptions(folder: BundleFolder, made: Contents, **more: Any) -> None:
    """The dataset's description and its data dictionary. more: properties of schema.org."""
    from labapp.analysis.analyze import dictionary

    description = {
        "@context": CONTEXT,
        "@type": "Dataset",
        "name": made.title,
        "description": summary(made),
        "schemaVersion": SCHEMA_VERSION,
        **more,
        "variableMeasured": all_variables(made.written),
    }
    folder.add_text(DESCRIPTION, json_text(description))
    words = dictionary(made.tables)
    words = words[words["table"].isin(list(made.written))]
    files = {name: f"{data_file(made.study, name)}.csv" for name in made.written}
    words = words.assign(table=words["table"].map(files)).rename(columns={"table": "file"})
    _add_csv(folder, DICTIONARY, words)


def summary(made: Contents) -> str:
    """What the dataset is, in one or two sentences."""
    people = made.people["participant"].nunique()
    simulated = int(made.people["simulated"].sum())
    text = (
        f"Tables of {count(len(made.people), 'session')} of {count(people, 'participant')} in the "
        f"study {made.title} ({made.study}), recorded with labapp."
    )
    if simulated == len(made.people):
        text += " All participants were simulated by a program."
    elif simulated:
        text += f" In {count(simulated, 'session')}, the participant was simulated by a program."
    return text


def participants_text(made: Contents) -> list[str]:
    """Who is in the dataset, who is not, and why: sentences."""
    people = made.people
    included = people["included"].fillna(False)
    counted, left = people[included], people[~included]
    counts = "counts" if len(counted) == 1 else "count"
    lines = [f"The dataset has {_sessions(people)}. According to the study's rules, "]
    lines[0] += f"{_sessions(counted)} {counts} in the analysis (column `included`)."
    if len(left):
        rules = left["excluded_because"].fillna("").replace("", "not completed")
        why = Counter(rule for text in rules for rule in str(text).split(", "))
        declared = people[DECLARED.name].dropna().unique() if DECLARED.name in people else ()
        words = rule_words(map(str, declared))
        reasons = "; ".join(f"{words.get(rule, rule)} ({n})" for rule, n in why.items())
        lines.append(f"The tables also contain the others, with the reason: {reasons}.")
    if made.withdrew:
        lines.append(
            f"{count(made.withdrew, 'participant')} withdrew from the study. The dataset "
            "contains nothing from them, not even a label."
        )
    if made.unshared:
        lines.append(
            f"The sound of {count(made.unshared, 'session')} was left out, because the "
            "participants did not agree to share it."
        )
    if simulated := int(people["simulated"].sum()):
        lines.append(
            f"In {simulated} of {count(len(people), 'session')}, the participant was simulated by "
            "a program (column `simulated`)."
        )
    return lines


def _sessions(people: pd.DataFrame) -> str:
    names = people["participant"].nunique()
    return f"{count(len(people), 'session')} of {count(names, 'participant')}"


_README = """\
# {title}

{summary}

## Participants

{participants}

## What participants did

{tasks}

## Files

Each table is a CSV file (UTF-8, commas), and the JSON file of the same name describes its columns.
`{dictionary}` lists the columns of all files with their types, units and meanings, and
`{description}` describes the dataset for search engines (schema.org, Psych-DS {schema}).

{files}

An empty cell is a missing value. Durations leave out pauses and the gaps after crashes; the
dictionary gives the unit of each. A cell with one number per dimension is a JSON list. A text
that begins with = + - or @ has an apostrophe in front, so that no spreadsheet program runs it as a
formula.

{sound}

## Privacy

{privacy}

Names and consent forms are kept apart from all data and are not part of this dataset.
{more}
## How it was made

The sessions were recorded with labapp {recorded_with}. labapp {version} made the tables from the
journals of the sessions, by the functions of its own analysis (`labapp analyze`).
"""


def readme(made: Contents, title: str, description: str, *, more: str = "", sound: str = "") -> str:
    """The README. more: further sections; sound: what there is of sound."""
    tasks = [f"* {name}. {text}" for name, text in made.tasks.items()]
    tasks += [f"* Questionnaire `{name}`: {title}" for name, title in made.questionnaires.items()]
    meanings = row_meanings()
    files = [
        f"| `{data_file(made.study, name)}.csv` | {meanings.get(name, name)} | {rows} | "
        f"{len(columns)} |"
        for name, (columns, rows) in made.written.items()
    ]
    return _README.format(
        title=title,
        summary=description,
        participants="\n".join(participants_text(made)),
        tasks="\n".join(tasks) or "The sessions have no tasks with trials and no questionnaires.",
        dictionary=DICTIONARY,
        description=DESCRIPTION,
        schema=SCHEMA_VERSION,
        files="\n".join(
            ["| file | a row is | rows | columns |", "| --- | --- | --- | --- |", *files]
        ),
        sound=sound or "Sound and videos are not part of this dataset.",
        privacy=_DEIDENTIFIED if made.reduced else _IDENTIFIED,
        more=f"\n{more}\n" if more else "",
        recorded_with=", ".join(made.recorded_with) or "(version unknown)",
        version=__version__,
    )


_DEIDENTIFIED = f"The dataset was de-identified by an agreed list:\n\n{AGREED_LIST}"
_IDENTIFIED = "The dataset was NOT de-identified: notes and answers are as they were recorded."


class PsychDs(Exporter):
    """The tables of sessions as a Psych-DS dataset."""

    name = "psychds"

    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        silent = (replace(each, sound=False, unshared=False, videos=()) for each in sessions)
        made = aside(silent, folder)
        add_descriptions(folder, made)
        folder.add_text(README, readme(made, made.title, summary(made)))


def aside(sessions: Iterable[ExportedSession], folder: BundleFolder) -> Contents:
    """As `contents_of` without sound, with the BIDS dataset beside the folder, which is removed."""
    place = folder.root.with_name("bids")
    place.mkdir(mode=0o700)
    try:
        return contents_of(sessions, folder, BundleFolder(place), audio=False)
    finally:
        shutil.rmtree(place, ignore_errors=True)


PSYCH_DS = PsychDs()
