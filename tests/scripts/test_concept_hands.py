"""What the script that plays concept repair by real events takes for wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scripts.concept_hands import ONCE, judge

DONE: list[dict[str, Any]] = [
    {"where": ["stage-1", 1], "set": [0, 2], "device": "mouse"},
    {"where": ["stage-1", 1], "end": "done"},
    {"where": ["stage-1", 2], "set": [1, 1], "device": "keyboard"},
    {"where": ["stage-1", 2], "set": [1, 1], "device": "keyboard"},
    {"where": ["stage-1", 2], "end": "gave_up"},
]
"""The second picture's choice was lost with the process, and made again."""


def event(kind: str, trial: int | None = None, **payload: Any) -> Any:
    return SimpleNamespace(kind=kind, part_id="stage-1", trial=trial, payload=payload)


def journal() -> list[Any]:
    return [
        *(event(kind) for kind, count in ONCE.items() for _ in range(count)),
        event("concept.set", 1, concept=0, to=2, device="mouse"),
        event("repair.ended", 1, how="done"),
        event("concept.set", 2, concept=1, to=1, device="keyboard"),
        event("repair.ended", 2, how="gave_up"),
    ]


def test_a_journal_of_what_was_done_is_in_order() -> None:
    assert list(judge(journal(), DONE)) == []


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ("session.completed", "0 session.completed, not 1"),
        ("concept.set", "('stage-1', 1): None was set, not [([0, 2], 'mouse')]"),
        ("repair.ended", "pictures ended {('stage-1', 2): 'gave_up'}"),
    ],
)
def test_what_is_lost_is_told(lost: str, told: str) -> None:
    events = journal()
    events.remove(next(each for each in events if each.kind == lost))
    assert any(told in line for line in judge(events, DONE))


def test_another_device_and_a_setting_nobody_made_are_told() -> None:
    events = journal()
    events[-2].payload["device"] = "mouse"
    lines = list(judge(events, DONE))
    assert len(lines) == 2
    assert "concepts were set by ['mouse'] alone" in lines
