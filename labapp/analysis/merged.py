"""Columns of answers that another tool asked and that were merged into a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from labapp.analysis.column import Column
from labapp.base.errors import RecordError
from labapp.base.report.page import count
from labapp.record.journal.merged import Merged, MergedColumn

TABLE = "participants"


def with_merged(
    tables: Mapping[str, Sequence[Column]], merged: Iterable[MergedColumn]
) -> dict[str, tuple[Column, ...]]:
    """The columns of tables with those of merged answers, behind all others of people."""
    added = tuple(Column(each.name, each.kind, each.meaning) for each in merged)
    return {
        name: (*columns, *added) if name == TABLE else tuple(columns)
        for name, columns in tables.items()
    }


def columns_of(merged: Iterable[Merged]) -> tuple[MergedColumn, ...]:
    """Every merged column once, in the order they come. Raises RecordError if sessions have the
    same column with values of different kinds."""
    known: dict[str, MergedColumn] = {}
    for each in merged:
        for column in each.columns:
            if known.setdefault(column.name, column).kind != column.kind:
                raise RecordError(
                    f"The merged column {column.name} has {column.kind} values in some sessions "
                    f"and {known[column.name].kind} values in others.",
                    safe="The sessions were only read.",
                    todo=f"Merge the survey file {each.survey!r} again: labapp participants "
                    "merge FILE --by COLUMN --replace.",
                )
    return tuple(known.values())


def origins(merged: Iterable[Merged]) -> Iterator[str]:
    """For people, from which files answers were merged, and of how many sessions."""
    counts: dict[str, int] = {}
    for each in merged:
        source = f"{each.file} (SHA-256 {each.sha256[:12]}…), {each.utc[:10]}" if each.file else ""
        words = f"the survey {each.survey!r}" + (f" from {source}" if source else "")
        counts[words] = counts.get(words, 0) + 1
    for words, n in counts.items():
        yield f"Answers of {words} were merged into {count(n, 'session')}."
