"""The recipe "add an exporter"."""

from __future__ import annotations

import json
from pathlib import Path

from tests.recipes.conftest import Follow


def test_sessions_leave_in_another_format_as_the_page_says(follow: Follow, tmp_path: Path) -> None:
    with follow("exporter"):
        pass
    (path,) = (tmp_path / "answers").iterdir()
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.name == "P01-1.jsonl"
    assert {"seq"} <= {answer["item"] for answer in answers}
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["P01-1.jsonl"]
