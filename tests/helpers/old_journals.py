"""Journals as earlier programs wrote them: a file a generation in tests/golden/journals."""

from __future__ import annotations

import json
from pathlib import Path

from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import Row as Cells
from labapp.record.journal.read import Row, check_rows, payloads
from tests.helpers.journals import GOLDEN

FOLDER = GOLDEN / "journals"


def read(path: Path) -> list[Row]:
    """The rows of a whole journal."""
    rows = [Row(*json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    assert check_rows(rows, path.name) == []
    return rows


def tables_of(path: Path) -> dict[str, list[Cells]]:
    """The rows of its tables."""
    return SessionRecords.of(list(payloads(read(path))), path.name).rows()
