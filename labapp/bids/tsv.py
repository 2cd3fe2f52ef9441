"""Tab-separated tables as BIDS wants them, each with a JSON sidecar that describes its columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labapp.plugins.bids import Column
from labapp.text_tables import AsItIs, escaped

QUOTE = '"'
_ENTITIES = """
acquisition ceagent chunk datatype direction echo extension flip fmap inv modality mt nucleus part
proc reconstruction recording run sample scans session space staining subject suffix task tracer
tracksys volume
"""
ENTITIES = frozenset(_ENTITIES.split())
"""What the names of BIDS files say, as PyBIDS calls it."""


def bids_name(name: str) -> str:
    """A column's name in BIDS files: `task`, `sessions` and the like stand behind `labapp_`.

    A sidecar describes each column under its name, and programs take what stands there under the
    name of an entity, or of several of it, for the entity's value: PyBIDS refuses a dataset
    where it is not what the file's name says.
    """
    return f"labapp_{name}" if {name, name.removesuffix("s")} & ENTITIES else name


@dataclass(frozen=True)
class Table:
    """Columns and rows; a row holds its cells by column name, absent ones are n/a."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def text(self) -> str:
        """The file: a header line and a line a row."""
        names = [column.name for column in self.columns]
        lines = ["\t".join(map(bids_name, names))]
        lines += [
            "\t".join([cell(row[name]) if name in row else "n/a" for name in names])
            for row in self.rows
        ]
        return "\n".join(lines) + "\n"

    def sidecar(self, **facts: Any) -> str:
        """The JSON file beside it; `facts` come first (TaskName and the like)."""
        return json_text({**facts, **described(self.columns)})


def described(columns: Sequence[Column]) -> dict[str, Any]:
    """What a sidecar or the codebook says of columns, by their names in BIDS files."""
    return {bids_name(column.name): column.sidecar() for column in columns}


def cell(value: Any) -> str:
    """A cell: n/a for nothing, true/false, numbers as written in JSON, lists as JSON, text without
    tabs and line breaks (the journal has it verbatim), escaped as `labapp.text_tables` says.

    What holds a quotation mark is quoted, with its marks doubled, as in CSV: R takes one anywhere
    in a cell for the beginning of a quotation, and loses the rows up to the next.
    """
    if value is None or value == "":
        return "n/a"
    text = _unquoted(value)
    return f'"{text.replace(QUOTE, QUOTE * 2)}"' if QUOTE in text else text


def _unquoted(value: Any) -> str:
    if isinstance(value, AsItIs):
        return value
    if isinstance(value, str):
        return escaped(" ".join(value.split()) if not value.isprintable() else value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def json_text(value: Any) -> str:
    """JSON for people and for comparing: indented, in the order given, with a last newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
