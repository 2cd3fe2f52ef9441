"""What sessions say of their study's design and analysis, and its factors as columns of the tables.

The first event of a session repeats what the study file declared. Everything here is read from
there, so that it is the same for a session folder, a bundle and a table that was read again.

A registration that `labapp plan --preregister` wrote, compared with what was done later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from labapp.analysis.column import WHO, Column, text, whole
from labapp.base.errors import RecordError, RefusedError
from labapp.base.reading import files as reading
from labapp.base.reading.values import json_value
from labapp.record.events.lifecycle import SessionPlanned
from labapp.study.design import MODEL, SESSION, Declared, Design
from labapp.study.plugins.part import PlannedPart, with_trials

if TYPE_CHECKING:
    import pandas as pd

    from labapp.analysis.tables import Tables


PREFIX = "factor_"
"""Before the name of a factor in the name of its column, so that no factor can be called like a
column of ours."""
POSITION = whole(
    "position",
    "place at which the participant met the row's combination of levels of the factors within "
    "participants (including the model, if it is one), from 1; empty for what is of no stage",
)
DECLARED = text(
    "declared",
    "what the study declared of its design, of exclusion, missing data, analysis and hypotheses "
    "(JSON)",
)

QUOTAS = text(
    "quotas",
    "the study's quotas to which the participant's answers assign them, separated by "
    "semicolons; those that were full by then end with !",
)

MODELS = "models"
LATER = {MODELS, "adaptive", "interrupts"}
"""Key of what studies declare."""
CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "fdr": "Benjamini-Hochberg correction of the false discovery rate",
    "none": "no correction",
}


def is_of_design(column: Column) -> bool:
    """Whether a column tells of the factors of a design."""
    return column.name.startswith(PREFIX) or column.name == POSITION.name


def factor_column(factor: str) -> str:
    """The name of the column that has a factor's levels."""
    return factor if factor in (MODEL, SESSION) else f"{PREFIX}{factor}"


class Declaration(Declared):
    """What a study declares, as its sessions have it; the defaults if it says nothing.

    Attributes
    ----------
    study : id of the study.
    versions : of the study file that declare exactly this, ascending.
    others : by version of the study file that declares something else, the keys that differ.
    """

    study: str
    versions: tuple[int, ...] = ()
    others: Mapping[int, tuple[str, ...]] = Field(default_factory=dict)

    @property
    def remark(self) -> str:
        """That other versions of the study declare otherwise, in words; empty if none does."""
        if not self.others:
            return ""
        told = "; ".join(f"version {n}: {', '.join(keys)}" for n, keys in self.others.items())
        return (
            f"Versions of the study {self.study} differ in what they declare. The analysis "
            f"follows version {self.versions[-1]}. It differs in {told}."
        )


def read_declaration(tables: Tables, study: str) -> Declaration:
    """What a study declares, by the latest version of its file that any session was run with.

    Raises RecordError for what this version of labapp cannot read.
    """
    sessions = tables.participants[tables.participants["study"] == study]
    sessions = sessions[sessions["study_version"].notna()]
    texts = sessions[DECLARED.name] if DECLARED.name in sessions else [None] * len(sessions)
    by_version: dict[int, dict[str, None]] = {}
    order = sorted(
        zip(sessions["study_version"], sessions["started_utc"].fillna(""), texts, strict=True),
        key=lambda row: row[:2],
    )
    for version, _, declared in order:
        by_version.setdefault(int(version), {})[declared if isinstance(declared, str) else ""] = (
            None
        )
    if not by_version:
        return Declaration(study=study)
    latest = list(by_version[max(by_version)])[-1]
    same = tuple(
        v for v, declarations in sorted(by_version.items()) if list(declarations) == [latest]
    )
    others = {
        version: differing
        for version, declarations in sorted(by_version.items())
        if (differing := _differing(latest, declarations))
    }
    return Declaration(
        study=study,
        versions=same or (max(by_version),),
        others=others,
        **dict(read_declared(latest)),
    )


def own_languages(participants: pd.DataFrame) -> dict[str, list[str]]:
    """By study the languages in which it could be reported: of one whose file names several the
    first, else those of its participants, that of the latest version last. participants: that
    table."""
    languages: dict[str, list[str]] = {}
    rows = participants[participants["language"].notna()]
    if "study_version" in rows:
        rows = rows.sort_values("study_version", kind="stable")
    texts = rows[DECLARED.name] if DECLARED.name in rows else [None] * len(rows)
    for study, read, declared in zip(rows["study"], rows["language"], texts, strict=True):
        several = read_declared(declared).languages if isinstance(declared, str) else ()
        own = [] if several else languages.get(str(study), [])
        language = several[0] if several else str(read)
        languages[str(study)] = [*(each for each in own if each != language), language]
    return languages


def labels_of(participants: pd.DataFrame, language: str) -> dict[str, str]:
    """What the studies call outcomes, factors, levels and models, by name; of two labels for one
    name that of the study that was recorded last. participants: that table."""
    labels: dict[str, str] = {}
    if DECLARED.name in participants:
        rows = participants.sort_values(["study_version", "started_utc"])
        for declared in dict.fromkeys(rows[DECLARED.name].dropna().map(str)):
            labels |= read_declared(declared).labels_in(language)
    return labels


def models_of(participants: pd.DataFrame) -> list[str]:
    """The models of the studies, in the order in which their stages list them, as far as sessions
    say it. participants: that table."""
    models: dict[str, None] = {}
    if DECLARED.name in participants:
        for declared in dict.fromkeys(participants[DECLARED.name].dropna().map(str)):
            models |= dict.fromkeys(read_declared(declared).models)
    return list(models)


def find_repeated_study(tables: Tables, study: str, paper: str) -> str:
    """Which study of a paper the sessions of a study say that they replicate; empty if they
    replicate none of it, or several."""
    sessions = tables.participants[tables.participants["study"] == study]
    sessions = sessions[sessions["study_version"].notna()]
    names = sessions[["replicates_paper", "replicates_study"]].dropna().drop_duplicates()
    told = [(str(of), str(repeated)) for of, repeated in names.to_numpy()]
    return told[0][1] if len(told) == 1 and told[0][0] == paper else ""


def follows(tables: Tables, study: str, profile: str, paper: str) -> bool:
    """Whether a study declares a published study's analysis: by `analysis.profile`, or because it
    repeats a study of that paper."""
    if find_repeated_study(tables, study, paper):
        return True
    return read_declaration(tables, study).analysis.profile == profile


def _differing(latest: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The keys that other texts say otherwise."""
    own = json.loads(latest or "{}")
    keys: dict[str, None] = {}
    for other in (json.loads(declared or "{}") for declared in texts):
        keys |= dict.fromkeys(key for key in {**own, **other} if own.get(key) != other.get(key))
    return tuple(keys)


@lru_cache(maxsize=64)
def read_declared(declared: str) -> Declared:
    """What a study declares, from its JSON; empty text for nothing. Raises RecordError."""
    try:
        return Declared.model_validate(json.loads(declared or "{}"))
    except ValueError as error:
        raise RecordError(
            "The design that was declared in a study cannot be read "
            f"({str(error).splitlines()[0]}).",
            safe="The sessions are untouched.",
            todo="Use the version of labapp with which the sessions were recorded, or a newer one.",
        ) from error


def format_declaration(planned: SessionPlanned) -> str:
    """What a session says of its study's declaration, as the table of participants has it."""
    return json.dumps(planned.declared, ensure_ascii=False) if planned.declared else ""


def with_declared(
    columns: Mapping[str, Sequence[Column]], declared: Iterable[str]
) -> Mapping[str, tuple[Column, ...]]:
    """The columns of tables with those of the factors of some studies; without a design, as they
    are. declared: JSON of what the studies declare (`format_declaration`)."""
    return _with_declared(
        tuple((name, tuple(known)) for name, known in columns.items()),
        tuple(dict.fromkeys(filter(None, declared))),
    )


@lru_cache(maxsize=64)
def _with_declared(
    tables: tuple[tuple[str, tuple[Column, ...]], ...], declared: tuple[str, ...]
) -> Mapping[str, tuple[Column, ...]]:
    if not declared:
        return dict(tables)
    between, within = between_columns(declared), within_columns(declared)
    made = {}
    for name, columns in tables:
        names = [column.name for column in columns]
        if names[: len(WHO)] == [column.name for column in WHO] and name != "snapshots":
            added = (*between, *(within if "stage" in names else ()))
            columns = (*columns[: len(WHO)], *added, *columns[len(WHO) :])
        if name == "participants":
            at = [column.name for column in columns].index("assignment") + 1
            quotas = (QUOTAS,) if any(read_declared(each).quotas for each in declared) else ()
            columns = (*columns[:at], DECLARED, *quotas, *columns[at:])
            columns = tuple(_with_rules(column, declared) for column in columns)
        made[name] = columns
    return made


def own_rules(declared: Iterable[str]) -> dict[str, str]:
    """The rules of exclusion that studies declare, by name, and what it means to fail each."""
    return {
        name: f"the participant {rule.fails()}"
        for text in dict.fromkeys(filter(None, declared))
        for name, rule in read_declared(text).exclude.items()
    }


def _with_rules(column: Column, declared: Iterable[str]) -> Column:
    """The column of why a session does not count, with what the study's own rules mean."""
    if column.name != "excluded_because" or not (rules := own_rules(declared)):
        return column
    told = "; ".join(f"{rule}: {meaning}" for rule, meaning in rules.items())
    return replace(column, meaning=f"{column.meaning}; {told}")


def _designs(declared: Iterable[str]) -> list[Design]:
    texts = dict.fromkeys(filter(None, declared))
    return [design for text in texts if (design := read_declared(text).design) is not None]


def _level_columns(
    factors: Iterable[tuple[str, Iterable[object] | None]], meaning: str
) -> tuple[Column, ...]:
    """One column per factor, with the levels of all studies that have it; meaning: with {factor}
    and {levels}."""
    levels: dict[str, dict[str, None]] = {}
    for factor, own in factors:
        if own is not None:
            levels.setdefault(factor, {}).update(dict.fromkeys(map(str, own)))
    return tuple(
        text(factor_column(factor), meaning.format(factor=factor, levels=", ".join(own)))
        for factor, own in levels.items()
    )


def between_columns(declared: Iterable[str]) -> tuple[Column, ...]:
    """One column per factor of which each participant has one level."""
    return _level_columns(
        (factor for design in _designs(declared) for factor in design.between.items()),
        "the participant's level of the factor {factor} of the study's design: {levels}",
    )


def within_columns(declared: Iterable[str]) -> tuple[Column, ...]:
    """One column per factor of which each participant meets every level, and the position; the
    models have a column of their own."""
    designs = _designs(declared)
    columns = _level_columns(
        (factor for design in designs for factor in design.within_levels.items()),
        "level of the factor {factor} of the study's design, which participants meet one after the "
        "other: {levels}; empty for what is of none",
    )
    return (*columns, POSITION) if any(design.within for design in designs) else columns


class SessionFactors:
    """The factors of one session: its participant's levels, and those of each part of its plan.

    Parameters
    ----------
    planned : the session's first event.
    parts : its parts by id, in the plan's order.
    """

    def __init__(self, planned: SessionPlanned, parts: Mapping[str, PlannedPart]) -> None:
        self.declared = format_declaration(planned)
        self.design = read_declared(self.declared).design
        self.between_columns = between_columns([self.declared])
        self.within_columns = within_columns([self.declared])
        self._parts = parts
        factors = self.design.between if self.design is not None else {}
        self.between: dict[str, str] = {
            factor_column(factor): str(planned.assignment[factor])
            for factor in factors
            if factor in planned.assignment
        }
        self._positions = self._of_stages()

    def _of_stages(self) -> dict[str, int]:
        """The position of each stage, by its id."""
        if self.design is None or not self.design.within:
            return {}
        met: dict[tuple[str, ...], int] = {}
        positions = {}
        for part in with_trials(self._parts.values()):
            if part.measures:
                levels = tuple(
                    part.model if factor == MODEL else part.levels.get(factor, "")
                    for factor in self.design.within_levels
                )
                if all(levels):
                    positions[part.id] = met.setdefault(levels, len(met) + 1)
        return positions

    def within(self, part_id: str | None, about: str | None = None) -> dict[str, Any]:
        """The cells of a row that is of a part; about: the stage that it asks about."""
        part = self._parts.get(part_id or "")
        if part is None or self.design is None or not self.design.within:
            return {}
        stage = self._parts.get(about or part.belongs_to() or part.id, part)
        cells: dict[str, Any] = {
            factor_column(factor): level for factor, level in (stage.levels or part.levels).items()
        }
        return cells | {POSITION.name: self._positions.get(stage.id)}


RECORD = "registration.json"
FORMAT = 1
LARGEST = 1024 * 1024
"""Bytes. A record is a page of text and a hash a file."""


@dataclass(frozen=True)
class Registration:
    """What was registered.

    Attributes
    ----------
    study, study_version, study_sha256 : of the study's files.
    registered_utc : when, as 2026-11-23T05:10:00Z.
    sessions_before : sessions that there were then.
    declared : design, exclusion, missing data, analysis and hypotheses, as in the study's file.
    models : by id of a model the hash of its card; nothing in a record of an earlier version.
    """

    study: str
    study_version: int
    study_sha256: str
    registered_utc: str
    sessions_before: int
    declared: Mapping[str, Any]
    models: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Registration:
        """From its record, or the folder that holds it. Raises RefusedError."""
        record = path / RECORD if reading.is_folder(path) else path
        try:
            fields = json_value(reading.content(record, LARGEST).decode())
            if not isinstance(fields, dict) or fields.get("format") != FORMAT:
                raise ValueError("this is not the record of a registration in this format")
            return cls(
                str(fields["study"]),
                int(fields["study_version"]),
                str(fields["study_sha256"]),
                str(fields["registered_utc"]),
                int(fields["sessions_before"]),
                dict(fields["declared"]),
                {str(model): str(sha) for model, sha in dict(fields.get("models", {})).items()},
            )
        except (OSError, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise RefusedError(
                f"{record} cannot be read as a registration ({why}).",
                todo=f"Give the folder that `labapp plan STUDY --preregister` wrote, or its "
                f"{RECORD}.",
            ) from error

    def changes(self, declared: Mapping[str, Any]) -> Iterator[str]:
        """What a study that was recorded declares otherwise, a sentence each."""
        # Records of earlier versions of labapp do not have them.
        now = {key: declared[key] for key in declared if key not in LATER or key in self.declared}
        yield from _differences("", self.declared, now)

    def find_unregistered(self, outcomes: Sequence[str], contrasts: Sequence[str]) -> list[str]:
        """Those of the outcomes and contrasts of an analysis that were not registered."""
        analysis = self.declared.get("analysis", {})
        named = analysis.get("outcomes", {})
        known = {name for names in named.values() for name in names}
        known |= {contrast["name"] for contrast in analysis.get("contrasts", ())}
        return [name for name in (*outcomes, *contrasts) if name not in known]


def _differences(place: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            inner = f"{place}.{key}" if place else str(key)
            if key not in before:
                yield f"{inner}: not registered; now {_short(after[key])}"
            elif key not in after:
                yield f"{inner}: registered as {_short(before[key])}; now missing"
            else:
                yield from _differences(inner, before[key], after[key])
    elif _plain(before) != _plain(after):
        yield f"{place}: registered as {_short(before)}; now {_short(after)}"


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}…"
