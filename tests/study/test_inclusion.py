"""Who counts in the analysis, by the study's rules and by what was achieved."""

from __future__ import annotations

from typing import Any

import pytest

from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import PartEnded, PartRestarted, PartStarted
from labapp.record.events.trials import TrialEnded
from labapp.study.inclusion import Achieved, Inclusion, Tally, decide, sum_achievements
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.judging.events import PhotoJudged
from labapp.tasks.judging.plan import PlannedPhoto
from labapp.tasks.reconstruction.events import TrialSolved
from labapp.tasks.single_dimension.events import AnswerGiven


def planned(*rows: dict[str, Any]) -> list[PlannedPart]:
    """Parts with nothing but what an inclusion asks of them."""
    return [registry.part_class(row["part"]).model_construct(**row) for row in rows]


PLAN = planned(
    {"part": "consent", "id": "consent"},
    {"part": "text", "id": "practice-intro"},
    {"part": "single_dimension", "id": "practice", "role": "practice", "asked": [0, 0, 0]},
    {"part": "single_dimension", "id": "stage-1", "role": "stage", "asked": [1, 1, 0, 0]},
    {"part": "break", "id": "break-1"},
    {"part": "reconstruction", "id": "practice-2", "role": "practice", "trials": 3},
    {"part": "reconstruction", "id": "stage-2", "role": "stage", "trials": 7},
    {"part": "questionnaire", "id": "stage-2-seq"},
)
ALL_DONE = Achieved(7, 4, 3, 3, 0)


def tally(*happened: tuple[str, int | None, Payload]) -> Tally:
    found = Tally()
    for part, trial, payload in happened:
        found = found.apply(event(part, trial, payload), payload)
    return found


def event(part: str | None, trial: int | None, payload: Payload, kind: str | None = None) -> Event:
    at = "2026-01-02T03:04:05.000000Z"
    attempt = None if trial is None else 1
    return Event(1, 1, 0, at, "simulated", kind or payload.kind, 1, part, trial, attempt, {})


def solved(part: str, trial: int) -> tuple[str, int, Payload]:
    return part, trial, TrialSolved(3, (0.5,), 0.91)


def answered(part: str, trial: int, *, right: bool) -> tuple[str, int, Payload]:
    return part, trial, AnswerGiven(0, right, 4, 4)


def test_photos_count_in_stages_and_a_stage_that_begins_again_counts_anew() -> None:
    photo = PlannedPhoto.model_construct(options=("a", "b", "c"))
    plan = planned(
        {"part": "warm_up", "id": "warm-up", "exercises": ()},
        {"part": "judging", "id": "stage-1", "task": "prototype-agreement", "photos": (photo,) * 6},
    )
    right = {"output": True, "distinction": False, "step_1": True}
    photos = [("stage-1", n, PhotoJudged({}, right)) for n in range(1, 7)]
    exercise = ("warm-up", 1, PhotoJudged({}, {"verdict": True, "mistake": True}))
    found = sum_achievements(plan, tally(exercise, *photos))
    assert found == Achieved(0, 0, 0, 0, 0, photos=6, above_chance=4.0), "one of three is chance"
    payload = PartRestarted(1, 2)
    again = tally(exercise, *photos).apply(event("stage-1", None, payload), payload)
    assert sum_achievements(plan, again).photos == 0
    for part in ("warm-up", "stage-1"):
        left = tally((part, None, PartEnded(0, "skipped")))
        assert sum_achievements(plan, left).stages_skipped == 1
        assert decide(Inclusion(), sum_achievements(plan, left), completed=True).failed == (
            "completed",
        )


def test_questions_are_counted_by_the_role_of_their_part() -> None:
    found = tally(
        answered("practice", 1, right=True),
        answered("practice", 2, right=False),
        answered("stage-1", 1, right=True),
        answered("stage-1", 2, right=False),
        answered("stage-1", 3, right=True),
        solved("practice-2", 1),
        solved("stage-2", 1),
        solved("stage-2", 4),
        ("stage-2", 4, TrialEnded("solved")),
    )
    assert sum_achievements(PLAN, found) == Achieved(2, 2, 3, 1, 0)


@pytest.mark.parametrize(
    ("part", "outcome", "skipped"),
    [
        ("stage-2", "completed", 0),
        ("stage-2", "time_expired", 0),
        ("stage-2", "skipped", 1),
        ("practice", "skipped", 1),
        ("stage-2-seq", "skipped", 0),
        ("practice-intro", "skipped", 0),
        ("break-1", "skipped", 0),
    ],
)
def test_a_stage_or_practice_must_not_be_skipped(part: str, outcome: str, skipped: int) -> None:
    found = tally((part, None, PartEnded(0, outcome)))
    assert sum_achievements(PLAN, found).stages_skipped == skipped


@pytest.mark.parametrize("kind", ["part.started", "part.restarted"])
def test_a_part_that_begins_again_counts_from_nothing(kind: str) -> None:
    before = tally(solved("stage-2", 1), solved("stage-2", 2), answered("stage-1", 1, right=True))
    again = before.apply(event("stage-2", None, PartStarted(6), kind), PartStarted(6))
    assert sum_achievements(PLAN, again)[:2] == (0, 1)


@pytest.mark.parametrize(
    ("rules", "changes", "failed"),
    [
        ({}, {}, ()),
        ({}, {"stages_skipped": 1}, ("completed",)),
        ({"completed": False}, {"stages_skipped": 1}, ()),
        ({}, {"practice_correct": 2}, ()),
        ({"practice_correct": True}, {"practice_correct": 2}, ("practice_correct",)),
        ({"practice_correct": True}, {"practice_correct": 0}, ("practice_correct",)),
        ({"practice_correct": True}, {"practice_correct": 0, "practice_asked": 0}, ()),
        ({"min_solved": 1}, {"solved": 0}, ("min_solved",)),
        ({"min_solved": 1}, {"solved": 1}, ()),
        (
            {"min_solved": 1, "practice_correct": True},
            {"solved": 0, "practice_correct": 2, "stages_skipped": 3},
            ("completed", "practice_correct", "min_solved"),
        ),
    ],
)
def test_the_rules(rules: dict[str, Any], changes: dict[str, int], failed: tuple[str, ...]) -> None:
    decided = decide(Inclusion(**rules), ALL_DONE._replace(**changes), completed=True)
    assert decided.failed == failed
    assert decided.included is not bool(failed)
    assert decided.facts == ALL_DONE._replace(**changes)._asdict()


def test_a_session_that_ends_early_is_not_completed() -> None:
    assert decide(Inclusion(), ALL_DONE, completed=False).failed == ("completed",)
    assert decide(Inclusion(completed=False), ALL_DONE, completed=False).included


def test_who_withdraws_is_excluded_whatever_the_study_says() -> None:
    decided = decide(Inclusion(completed=False), ALL_DONE, completed=False, withdrawn=True)
    assert (decided.included, decided.failed) == (False, ("withdrawn",))
