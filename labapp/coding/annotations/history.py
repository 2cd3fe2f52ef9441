"""What was done to a session's annotations, in the order of time, with what was taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from labapp.coding.annotations.editing import WHY
from labapp.coding.annotations.ledger import LARGEST
from labapp.coding.annotations.lines import Line, checked, parse
from labapp.coding.annotations.places import LINES, RATERS
from labapp.coding.annotations.store import annotations_tree
from labapp.record.journal.record import Record

_SHOWN = (
    "tier", "code", "value", "unit", "speaker", "origin", "text", "what", "status", "frozen",
    "accepted", "by", "rater", "round", "reason", "reviewed", "replacement", "memo",
)  # fmt: skip
"""What is shown of a body, in this order; ids and hashes are in the file."""
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Step:
    """A line of a file of annotations. rater: whose file it is; empty for what all share."""

    file: str
    rater: str
    line: Line

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        line = self.line._asdict()
        return {"file": self.file, **line, "body": dict(self.line.body)}

    def __str__(self) -> str:
        body = self.line.body
        facts = [_time(body)] if "t0_ns" in body else []
        facts += [f"{key} {_short(body[key])}" for key in _SHOWN if body.get(key) not in ("", None)]
        why = f" ({body[WHY]})" if body.get(WHY) else ""
        whose = self.rater or self.file
        return f"{self.line.utc[:19]}Z  {whose}  {self.line.kind}{why}  {', '.join(facts)}".rstrip()


def history_of(record: Record, rater: str | None = None) -> tuple[Step, ...]:
    """Every line of a session's annotations, oldest first. Raises AnnotationError if a line is
    damaged."""
    return tuple(sorted(_steps(record, rater), key=lambda step: (step.line.utc, step.file)))


def _steps(record: Record, rater: str | None) -> Iterator[Step]:
    tree = annotations_tree(record)
    for name in tree.names():
        path = PurePosixPath(name)
        if path.suffix != LINES or path.name.startswith("."):
            continue
        whose = path.stem if path.parent == PurePosixPath(RATERS) else ""
        if rater is not None and whose != rater:
            continue
        lines = checked(parse(tree.read(name, LARGEST)), f"{record.name}: {name}")
        yield from (Step(name, whose, line) for line in lines.lines)


def _time(body: Mapping[str, Any]) -> str:
    begin, end = _clock(body["t0_ns"]), _clock(body.get("t1_ns", body["t0_ns"]))
    return begin if begin == end else f"{begin} to {end}"


def _clock(t_ns: Any) -> str:
    seconds = t_ns / 1e9 if isinstance(t_ns, int) else 0.0
    return f"{int(seconds // 60)}:{seconds % 60:05.2f}"


def _short(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
