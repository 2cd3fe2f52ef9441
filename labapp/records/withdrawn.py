"""Who withdrew from a study: `withdrawn.jsonl`, beside its session folders.

A finished journal is not written to, and a deleted one is no more, so that a withdrawal is kept
here: a line a session, which keeps the participant's label taken. A folder whose name begins with
`.withdrawn-` is one whose deletion was interrupted; it counts as withdrawn too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.records.layout import LEAVING, WITHDRAWN, FolderName


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """folder: name of the session folder; utc: when it was withdrawn, empty where that is not
    known; kept: whether the participant lets the data be kept; cells: the conditions freed."""

    folder: str
    participant: str
    session: str
    utc: str
    kept: bool
    cells: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "session": self.folder,
            "utc": self.utc,
            "data": "kept" if self.kept else "deleted",
            "cells": list(self.cells),
        }


def withdrawals(study: Path) -> dict[str, Withdrawal]:
    """Withdrawals by session folder, from the study's folder under the data root.

    The last line on a session counts; foreign lines are passed over.
    """
    found: dict[str, Withdrawal] = {}
    if study.is_dir():
        for child in study.iterdir():
            name = child.name.removeprefix(LEAVING)
            if name != child.name and (parsed := FolderName.parse(name)):
                found[name] = Withdrawal(name, parsed.participant, parsed.session, "", False)
    return found | _written(study)


def _written(study: Path) -> dict[str, Withdrawal]:
    found: dict[str, Withdrawal] = {}
    try:
        lines = (study / WITHDRAWN).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return found
    for line in lines:
        if (read := _read(line)) is not None:
            found[read.folder] = read
    return found


def withdrawal_of(folder: Path, said: str = "") -> str:
    """Keep, delete, or empty where nobody withdrew; said: what the journal's end says of it."""
    known = _written(folder.parent).get(folder.name)
    return said if known is None else "keep" if known.kept else "delete"


def _read(line: str) -> Withdrawal | None:
    try:
        entry = json.loads(line)
        name = FolderName.parse(entry["session"])
        assert name is not None
        return Withdrawal(
            entry["session"],
            name.participant,
            name.session,
            str(entry["utc"]),
            entry["data"] == "kept",
            tuple(map(str, entry["cells"])),
        )
    except (ValueError, KeyError, TypeError, AssertionError):
        return None
