"""No test fails because the machine was busy: none gives up soon on what is to come, or expects
that something took no longer. `tests/helpers/waiting.py` waits, and so does pytest-qt for a minute;
what is not to wait is best seen where it would wait for ever."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LEAST_S = 20
BOUND = re.compile(r"time\.monotonic\(\) (?:\+|- \w+ <=?) ([\d.]+)|timeout=(\d[\d_]{3,})\b")
"""In seconds, or in milliseconds for Qt."""


def is_hasty(line: str) -> bool:
    bounds = [float(s or int(ms) / 1000) for s, ms in BOUND.findall(line)]
    return any(bound < LEAST_S for bound in bounds)


def test_no_test_is_hasty() -> None:
    assert not [
        f"{path.relative_to(TESTS)}:{number}"
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if is_hasty(line)
    ]


@pytest.mark.parametrize(
    ("line", "hasty"),
    [
        ("deadline = time.monotonic() + 5", True),
        ("assert time.monotonic() - began < 0.2", True),
        ("qtbot.waitUntil(come, timeout=3000)", True),
        ("assert time.monotonic() - began < 30", False),
        ("qtbot.waitUntil(come, timeout=30_000)", False),
        ("subprocess.run(command, timeout=100)", False),
    ],
)
def test_what_is_hasty_is_found(line: str, hasty: bool) -> None:
    assert is_hasty(line) == hasty
