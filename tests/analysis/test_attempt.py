"""Which attempts count, by one rule for all tasks."""

from __future__ import annotations

import pytest

from labapp.analysis.task_records import BEGAN_AGAIN, REPEATED, Attempt, Key, supersede


class Done(Attempt):
    """All was said."""

    @property
    def complete(self) -> bool:
        return True


def made(kind: type[Attempt], started_ns: int | None, outcome: str | None) -> Attempt:
    attempt = kind(("stage-1", 1, 1))
    attempt.started_ns, attempt.outcome = started_ns, outcome
    return attempt


@pytest.mark.parametrize(
    ("kind", "started_ns", "outcome", "why"),
    [
        (Attempt, 5, "answered", None),
        (Attempt, 5, "time_expired", None),
        (Attempt, None, "answered", "never shown"),
        (Attempt, 5, None, "interrupted before its end"),
        (Attempt, 5, "stage_skipped", "cut off when the moderator skipped the stage"),
        (Done, 5, None, None),
        (Done, None, None, "never shown"),
    ],
)
def test_what_counts(
    kind: type[Attempt], started_ns: int | None, outcome: str | None, why: str | None
) -> None:
    assert made(kind, started_ns, outcome).excluded_because == why


def test_a_later_attempt_counts_instead() -> None:
    keys: list[Key] = [("a", 1, 1), ("a", 1, 2), ("a", 2, 1), ("b", 1, 1), ("b", 2, 2)]
    attempts = {key: Attempt(key) for key in keys}
    supersede(attempts, {"b": 2})
    assert [one.superseded for one in attempts.values()] == [
        REPEATED,
        None,
        None,
        BEGAN_AGAIN,
        None,
    ]
    finished = attempts["b", 1, 1]
    finished.started_ns, finished.outcome = 3, "answered"
    assert finished.excluded_because == BEGAN_AGAIN


def test_seconds_count_from_the_appearance() -> None:
    attempt = made(Attempt, 2_000_000_000, None)
    assert attempt.since_start(5_500_000_000) == 3.5
    assert attempt.since_start(None) is None
    assert made(Attempt, None, None).since_start(5) is None
