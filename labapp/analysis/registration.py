"""A registration that `labapp plan --preregister` wrote, compared with what was done later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.base.errors import UsageError
from labapp.base.reading import files as reading
from labapp.base.reading.values import json_value

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
        """From its record, or the folder that holds it. Raises UsageError."""
        record = path / RECORD if reading.is_folder(path) else path
        try:
            fields = json_value(reading.content(record, LARGEST).decode())
            if not isinstance(fields, dict) or fields.get("format") != FORMAT:
                raise ValueError("no record of a registration of this format")
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
            raise UsageError(
                f"{record} cannot be read as a registration ({why}).",
                safe="Nothing was written.",
                todo=f"Give the folder that `labapp plan STUDY --preregister` wrote, or its "
                f"{RECORD}.",
            ) from error

    def changes(self, declared: Mapping[str, Any]) -> Iterator[str]:
        """What a study that was recorded declares otherwise, a sentence each."""
        yield from _differences("", self.declared, declared)

    def unregistered(self, outcomes: Sequence[str], contrasts: Sequence[str]) -> list[str]:
        """Those of the outcomes and contrasts of an analysis that were not registered."""
        analysis = self.declared.get("analysis", {})
        named = analysis.get("outcomes", {})
        known = {*named.get("primary", ()), *named.get("secondary", ())}
        known |= {contrast["name"] for contrast in analysis.get("contrasts", ())}
        return [name for name in (*outcomes, *contrasts) if name not in known]


def _differences(place: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            inner = f"{place}.{key}" if place else str(key)
            if key not in before:
                yield f"{inner}: not registered; now {_short(after[key])}"
            elif key not in after:
                yield f"{inner}: registered as {_short(before[key])}; now not said"
            else:
                yield from _differences(inner, before[key], after[key])
    elif _plain(before) != _plain(after):
        yield f"{place}: registered as {_short(before)}; now {_short(after)}"


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}…"
