"""Tab-separated tables as BIDS wants them, each with a JSON sidecar that describes its columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column as its sidecar describes it. levels: meaning by value, where there are few."""

    name: str
    description: str
    units: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    format: str = ""

    def sidecar(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"Description": self.description}
        if self.units:
            entry["Units"] = self.units
        if self.levels:
            entry["Levels"] = dict(self.levels)
        if self.format:
            entry["Format"] = self.format
        return entry


@dataclass(frozen=True)
class Table:
    """Columns and rows; a row holds its cells by column name, absent ones are n/a."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def text(self) -> str:
        """The file: a header line and a line a row."""
        names = [column.name for column in self.columns]
        lines = ["\t".join(names)]
        lines += [
            "\t".join([cell(row[name]) if name in row else "n/a" for name in names])
            for row in self.rows
        ]
        return "\n".join(lines) + "\n"

    def sidecar(self, **facts: Any) -> str:
        """The JSON file beside it; `facts` come first (TaskName and the like)."""
        described = {column.name: column.sidecar() for column in self.columns}
        return json_text({**facts, **described})


def cell(value: Any) -> str:
    """A cell: n/a for nothing, true/false, numbers as written in JSON, lists as JSON, text without
    tabs and line breaks (the journal has it verbatim)."""
    if value is None or value == "":
        return "n/a"
    if isinstance(value, str):
        return " ".join(value.split()) if not value.isprintable() else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def seconds(t_ns: int) -> str:
    """Nanoseconds as exact decimal seconds."""
    sign, t_ns = ("-", -t_ns) if t_ns < 0 else ("", t_ns)
    whole, part = divmod(t_ns, NS)
    return f"{sign}{whole}.{part:09d}".rstrip("0").rstrip(".")


def json_text(value: Any) -> str:
    """JSON for people and for comparing: indented, in the order given, with a last newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
