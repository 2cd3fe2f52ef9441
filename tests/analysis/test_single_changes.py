"""First against last questions of a single-dimension stage."""

from __future__ import annotations

import pytest

from labapp.base.clock import NS
from labapp.tasks.single_dimension.events import AnswerGiven, QuestionDrawn
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from labapp.tasks.single_dimension.records import QuestionRecord, Stage

PART = SingleDimensionPart(
    id="stage-1",
    title="Stage 1",
    role="stage",
    number=1,
    of=1,
    model="m/x",
    display="binary_image",
    dimensions=({"type": "continuous", "name": "z1", "low": 0.0, "high": 1.0, "step": 0.01},),
    visualisation="traversals",
    asked=(0, 0, 0, 0, 0),
    sampling="held_out",
    time_limit_s=None,
    think_aloud=False,
)


def question(number: int, seconds: int, *, right: bool) -> QuestionRecord:
    """Answered after so many seconds."""
    drawn = QuestionDrawn(0, "low", 0.1, 0, (0.1,), ((0.0, 0.2),), (((0.1,),),))
    made = QuestionRecord(PART, ("stage-1", number, 1), drawn)
    made.started_ns, made.answered_ns = 0, seconds * NS
    made.answer, made.outcome = AnswerGiven(0, right, 3, 3), "answered"
    return made


def test_the_last_answers_against_the_first_whatever_their_order() -> None:
    five = [
        question(4, 6, right=True),
        question(1, 20, right=False),
        question(3, 1000, right=False),  # the middle one is in neither group
        question(5, 4, right=True),
        question(2, 10, right=True),
    ]
    stage = Stage(five)
    assert stage.size == 2
    assert stage.change("response_time_s") == pytest.approx(-10.0)
    assert stage.change("correctness_rate") == pytest.approx(0.5)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_answers_say_nothing_of_change(n: int) -> None:
    stage = Stage([question(i + 1, 5, right=True) for i in range(n)])
    assert stage.size == 0
    assert stage.change("response_time_s") is stage.change("correctness_rate") is None
