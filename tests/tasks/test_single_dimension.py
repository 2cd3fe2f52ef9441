"""The single-dimension stage, question by question."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from labapp.models.representations.package import load_package
from labapp.models.representations.space import Discrete, LatentSpace
from labapp.record.events import payload_of
from labapp.record.events.commands import HandIn, Next, Pause, Resume
from labapp.study.representations import ModelInStage
from labapp.tasks.single_dimension.events import Choose, QuestionDrawn, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.machine import SingleDimensionTask
from labapp.tasks.single_dimension.planner import CIRCLES_QUESTIONS, order_dimensions, practice_part
from tests.helpers.nightly import EVERYTHING
from tests.helpers.play import NS
from tests.helpers.play_single import SPACE, SinglePlay
from tests.helpers.skips import skip_stage


def drawn(play: SinglePlay) -> list[QuestionDrawn]:
    """The questions of a journal, as its rows say."""
    payloads = [payload_of(event) for event in play.events]
    return [payload for payload in payloads if isinstance(payload, QuestionDrawn)]


def test_a_question_is_drawn_shown_answered_told_and_left() -> None:
    play = SinglePlay.of()
    assert play.kinds()[1:] == ["part.started", "question.drawn", "question.shown"]
    question = play.question
    assert question is not None
    assert not play.send(HandIn()), "nothing was answered"
    assert not play.send(Next()), "nothing was handed in"
    play.send(Choose(question.correct, "keyboard"))
    play.send(Rate("confidence", 2, "mouse"))
    assert not play.send(HandIn()), "a rating is missing"
    play.send(Rate("understanding", 5, "mouse"))
    play.send(HandIn())
    assert play.events[-1].payload == {
        "choice": question.correct,
        "correct": True,
        "confidence": 2,
        "understanding": 5,
    }
    for late in (Choose(0, "mouse"), Rate("confidence", 5, "mouse"), ShowMoreExamples(), HandIn()):
        assert not play.send(late), "final once told"
    play.send(Next())
    assert play.single.outcomes == ("answered",)
    assert play.question is not None
    assert play.question.number == 2


def test_two_questions_a_dial_in_a_row_in_an_order_of_the_participants() -> None:
    orders = set()
    for seed in range(12):
        order = order_dimensions(SPACE, 2, seed, "test", "P01", 1)
        assert order[::2] == order[1::2]
        assert sorted(order[::2]) == [0, 1, 2]
        orders.add(order)
    assert len(orders) > 1
    play = SinglePlay.of()
    play.through()
    part = play.machine.parts[0]
    assert tuple(q.dimension for q in drawn(play)) == part.asked  # type: ignore[union-attr]
    assert play.state.ended == "completed"
    assert play.single.outcomes == ("answered",) * 6


@pytest.mark.parametrize("visualisation", ["traversals", "exemplars"])
def test_values_lie_in_their_regimes_and_examples_in_theirs(visualisation: str) -> None:
    found = Counter[tuple[int, int]]()
    for seed in range(40 if EVERYTHING else 12):
        play = SinglePlay.of(seed, visualisation=visualisation)
        play.send(ShowMoreExamples())
        play.through()
        for question in drawn(play):
            i = question.dimension
            assert question.z[i] == question.value
            found[i, question.correct] += 1
            if isinstance(SPACE.dimensions[i], Discrete):
                assert question.regime == ""
                assert question.value == question.correct
                if visualisation == "traversals":
                    assert all([z[i] for z in row] == [0, 1, 2, 3] for row in question.examples)
                else:
                    assert [{z[i] for z in row} for row in question.examples] == [
                        {0},
                        {1},
                        {2},
                        {3},
                    ]
                continue
            low, high = question.bounds[question.correct]
            assert low <= question.value <= high
            assert question.regime == ("low", "medium", "high")[question.correct]
            if visualisation == "exemplars":
                assert [len(row) for row in question.examples] == [8, 8, 8]
                for row, (least, most) in zip(question.examples, question.bounds, strict=True):
                    assert all(least <= z[i] <= most for z in row)
                    assert len({z[i] for z in row}) > 1
                continue
            assert [len(row) for row in question.examples] == [7] * 5
            for row in question.examples:
                steps = [b[i] - a[i] for a, b in pairwise(row)]
                assert steps == pytest.approx([steps[0]] * 6, abs=2e-4)
                assert question.bounds[0][0] <= row[0][i] <= question.bounds[0][1]
                assert question.bounds[2][0] <= row[-1][i] <= question.bounds[2][1]
                others = {z[:i] + z[i + 1 :] for z in row}
                assert len(others) == 1, "only this dial is turned"
    assert set(found) == {(0, c) for c in range(4)} | {(i, c) for i in (1, 2) for c in range(3)}
    assert min(found.values()) > (5 if EVERYTHING else 0), found


def test_regimes_are_the_percentiles_of_the_sample() -> None:
    play = SinglePlay.of()
    play.through()
    task = play.machine.tasks[0]
    assert isinstance(task, SingleDimensionTask)
    at = {percent: values[1] for percent, values in task.percentiles.items()}
    (bounds,) = {q.bounds for q in drawn(play) if q.dimension == 1}
    assert bounds == ((at[1], at[5]), (at[48], at[52]), (at[95], at[99]))
    inside = (task.sample[:, 1] >= bounds[1][0]) & (task.sample[:, 1] <= bounds[1][1])
    assert inside.mean() == pytest.approx(0.04, abs=0.01)


@pytest.mark.parametrize("feedback", [False, True])
def test_practice_asks_low_high_medium_of_dial_1_as_published(*, feedback: bool) -> None:
    circles = load_package("circles/gt", device="cpu")
    known = ModelInStage("image", None, tuple(circles.space.to_json()), "uniform")
    part = practice_part("Practice", "exemplars", None, known, think_aloud=True, feedback=feedback)
    play = SinglePlay.of(**part.model_dump())
    task = SingleDimensionTask(
        part, 0, circles.space, circles.latents, circles.percentiles, 1, "P01"
    )
    play = SinglePlay(type(play.machine)((part,), (task,), {}))
    play.start()
    play.through(right=False)
    assert [(q.z, q.regime) for q in drawn(play)] == list(CIRCLES_QUESTIONS)
    assert [q.regime for q in drawn(play)] == ["low", "high", "medium"]
    assert [q.z for q in drawn(play)] == [(0.0, 0.0), (1.0, 1.0), (0.4, 0.75)]
    assert {q.dimension for q in drawn(play)} == {0}
    answers = [e.payload["correct"] for e in play.events if e.kind == "answer.given"]
    assert answers == [False] * 3


def test_without_feedback_handing_in_leads_on_and_nothing_is_ever_told() -> None:
    play = SinglePlay.of(feedback=False)
    for number in range(1, play.machine.parts[0].trials + 1):  # type: ignore[union-attr]
        assert play.question is not None
        assert play.question.number == number
        assert play.question.right is None, "never on the screen with its answer"
        play.answer(right=number % 2 == 0)
    assert play.state.ended == "completed"
    assert play.single.outcomes == ("answered",) * 6
    given = [e.payload["correct"] for e in play.events if e.kind == "answer.given"]
    assert given == [False, True] * 3, "and yet it is recorded"


def test_every_row_of_a_traversal_has_ends_of_its_own() -> None:
    play = SinglePlay.of(visualisation="traversals")
    play.through()
    for question in drawn(play):
        if question.regime:
            i = question.dimension
            assert len({(row[0][i], row[-1][i]) for row in question.examples}) == 5


def test_other_examples_are_other_ones_and_the_question_stays() -> None:
    play = SinglePlay.of()
    question = play.question
    assert question is not None
    play.send(ShowMoreExamples())
    play.send(ShowMoreExamples())
    after = play.question
    assert after is not None
    assert after.resamples == 2
    assert after.z == question.z
    assert after.examples != question.examples
    shown = [e.payload["examples"] for e in play.events if e.kind == "examples.redrawn"]
    assert shown[0] != shown[1]


def test_an_answer_that_is_out_of_range_or_the_same_leads_to_nothing() -> None:
    play = SinglePlay.of()
    assert play.question is not None
    count = 4 if play.question.dimension == 0 else 3
    for command in (Choose(-1, "mouse"), Choose(count, "mouse"), Rate("confidence", 0, "mouse")):
        assert not play.send(command)
    assert not play.send(Rate("understanding", 6, "mouse"))
    assert not play.send(Rate("joy", 3, "mouse"))
    assert play.send(Choose(1, "mouse"))
    assert not play.send(Choose(1, "keyboard"))
    assert play.send(Choose(0, "keyboard")), "changed"


def test_an_interrupted_question_goes_on_where_it_was() -> None:
    play = SinglePlay.of()
    play.send(Choose(1, "mouse"))
    before = play.question
    play.crash(60)
    assert play.question == before
    assert not play.send(Rate("confidence", 3, "mouse")), "a gap is a pause"
    play.send(Resume("going on"))
    play.answer()
    play.send(Next())
    assert play.single.outcomes == ("answered",)
    assert play.machine.fold(play.events) == play.state


def test_the_time_limit_ends_the_stage_and_pauses_do_not_count() -> None:
    play = SinglePlay.of(time_limit_s=60)
    play.wait(30)
    play.send(Pause("break"))
    play.now_ns += 600 * NS
    play.send(Resume("back"))
    play.wait(29.9)
    assert play.state.running
    play.answer()
    play.wait(0.2)
    assert play.state.ended == "completed"
    assert play.single.outcome == "time_expired"
    assert play.single.outcomes == ("answered",), "handed in before the time was up"


def test_a_skipped_stage_cuts_its_question_off() -> None:
    play = SinglePlay.of()
    play.send(Choose(1, "mouse"))
    skip_stage(play)
    assert play.single.outcomes == ("stage_skipped",)
    assert play.state.ended == "completed"


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    one, same, other = SinglePlay.of(1), SinglePlay.of(1), SinglePlay.of(2)
    for play in (one, same, other):
        play.through()
    assert drawn(one) == drawn(same)
    assert drawn(one) != drawn(other)


def test_a_model_with_a_prior_is_asked_within_its_limits() -> None:
    play = SinglePlay.of(sampling="uniform")
    play.through()
    space = LatentSpace.from_json(play.machine.parts[0].dimensions)  # type: ignore[union-attr]
    for question in drawn(play):
        assert space.snap(question.z)[0] == question.z[0]
        assert -3 <= question.z[1] <= 3
        assert 0 <= question.z[2] <= 1
