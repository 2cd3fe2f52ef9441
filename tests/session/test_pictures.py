"""Pictures: at once from a fast decoder; from a slow one in the worker, the session going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labapp.models.representations.decoding import Array, Decoder, decode_one, decode_rows
from labapp.record.events import Event, Source
from labapp.record.events.commands import Next, Pause, Resume
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from labapp.tasks.reconstruction.events import MoveDial
from labapp.tasks.single_dimension.events import Choose, ShowMoreExamples
from labapp.tasks.single_dimension.machine import ChoiceQuestion
from tests.helpers.formulas import formula_decoder, formula_decoders
from tests.helpers.rooms import FormulaDecoder
from tests.helpers.single import write_single_study
from tests.helpers.skips import skip_stage
from tests.helpers.waiting import wait_for
from tests.session.sessions import opened, scheduler_of, spin, trial_of, watch


class Blocking:
    """A decoder whose pictures come when a test lets them; `asked` lists the z it was given, and
    `breaks` says whether it breaks in the worker."""

    def __init__(self, decoder: Decoder) -> None:
        self.inner = decoder
        self.go = threading.Semaphore(0)
        self.asked: list[tuple[float, ...]] = []
        self.main = threading.current_thread()
        self.breaks = False

    def decoder(self) -> FormulaDecoder:
        return FormulaDecoder(self.inner.id, self.inner.space, self.inner.latents, self._formula)

    def _formula(self, z: Array) -> Array:
        if threading.current_thread() is not self.main:
            if self.breaks:
                raise ArithmeticError("the decoder broke")
            self.asked.append(tuple(float(v) for v in z[0]))
            assert self.go.acquire(timeout=20)
        return self.inner.decode(z)


def slow_model(model: str) -> tuple[Blocking, dict[str, object]]:
    """A model that was slow at its warm-up, and how a session is opened with it."""
    slow = Blocking(formula_decoder(model))
    warmed = DecoderWarmed(model, "cpu", 1, 1, 20.0, 30.0)
    decoders = {**formula_decoders(), model: slow.decoder()}
    return slow, {"decoders": decoders, "warmed": (warmed,)}


def with_slow_practice(begin: Callable[..., OpenSession]) -> tuple[OpenSession, Blocking]:
    slow, given = slow_model("circles/gt")
    return begin("practice", **given), slow


def kinds(seen: list[Event], *names: str) -> list[int]:
    return [event.payload["z_seq"] for event in seen if event.kind in names]


def test_a_slow_decoder_skips_what_was_overtaken(begin: Callable[..., OpenSession]) -> None:
    session, slow = with_slow_practice(begin)
    seen = watch(session)
    for value in (0.11, 0.12, 0.13, 0.14, 0.15):
        session.runner.send(MoveDial(0, value, "mouse"))
        if value == 0.11:
            wait_for(lambda: len(slow.asked) == 1)
    assert kinds(seen, "dial.moved") == [1, 2, 3, 4, 5], "the dials never wait"
    slow.go.release()
    slow.go.release()
    spin(session, lambda: trial_of(session).decoded_seq == 5)
    assert kinds(seen, "picture.decoded") == [1, 5]
    assert [z[0] for z in slow.asked] == pytest.approx([0.11, 0.15])


def test_a_question_is_solved_at_the_picture_that_solved_it(
    begin: Callable[..., OpenSession],
) -> None:
    session, slow = with_slow_practice(begin)
    runner = session.runner
    target = trial_of(session).z_target
    runner.send(MoveDial(1, target[1], "mouse"))
    wait_for(lambda: len(slow.asked) == 1)
    slow.go.release()
    spin(session, lambda: trial_of(session).decoded_seq == 1)
    runner.send(MoveDial(0, target[0], "mouse"))
    wait_for(lambda: len(slow.asked) == 2)
    runner.send(MoveDial(0, 0.05, "mouse"))
    assert trial_of(session).z[0] == 0.05
    slow.go.release()
    spin(session, lambda: trial_of(session).solved)
    assert trial_of(session).z == target, "not where the dial was moved meanwhile"
    slow.go.release()
    wait_for(lambda: len(slow.asked) == 3)
    time.sleep(0.05)
    scheduler_of(session).run(lambda: False)
    assert runner.pictures is not None
    np.testing.assert_array_equal(runner.pictures.own, runner.pictures.target)
    solved = [
        event for event in read_verified_events(session.folder.path) if event.kind == "trial.solved"
    ]
    assert [tuple(event.payload["z"]) for event in solved] == [target]


def test_a_picture_that_comes_in_a_pause_is_asked_for_again_after_it(
    begin: Callable[..., OpenSession],
) -> None:
    session, slow = with_slow_practice(begin)
    runner = session.runner
    seen = watch(session)
    runner.send(MoveDial(0, 0.5, "mouse"))
    wait_for(lambda: len(slow.asked) == 1)
    runner.send(Pause("break"), Source.MODERATOR)
    slow.go.release()
    wait_for(lambda: bool(scheduler_of(session)._queue))
    scheduler_of(session).run(lambda: False)
    assert not kinds(seen, "picture.decoded")
    runner.send(Resume("on"), Source.MODERATOR)
    slow.go.release()
    spin(session, lambda: trial_of(session).decoded_seq == 1)
    assert kinds(seen, "picture.decoded") == [1]


def test_a_decoder_that_breaks_in_the_worker_is_noticed(begin: Callable[..., OpenSession]) -> None:
    session, slow = with_slow_practice(begin)
    slow.breaks = True
    session.runner.send(MoveDial(0, 0.11, "mouse"))
    with pytest.raises(ArithmeticError, match="the decoder broke"):
        spin(session, lambda: False)


def test_another_attempt_at_a_question_has_its_own_pictures(
    begin: Callable[..., OpenSession], tmp_path: Path
) -> None:
    for study in ("quickstart", write_single_study(tmp_path / "study")):
        session = begin("stage-1", study=study)
        runner = session.runner
        trial = runner.state.part_state.trial
        before = runner.pictures
        again = replace(trial, attempt=2, z=trial.z[::-1])
        stage = replace(runner.state.part_state, trial=again)
        runner._renderer.sync(runner.part, replace(runner.state, part_state=stage))
        after = runner.pictures
        assert after is not before
        runner._renderer.sync(runner.part, replace(runner.state, part_state=stage))
        assert runner.pictures is after, "and they are decoded once"


def test_a_virtual_clock_never_waits_for_the_worker(tmp_path: Path) -> None:
    warmed = DecoderWarmed("circles/gt", "cpu", 1, 1, 20.0, 30.0)
    session = opened(tmp_path, warmed=(warmed,), decode_at_once=True)
    assert not session.runner._renderer.context.slow
    session.close("test over")
    patient = replace(warmed, p99_ms=1.0)
    session = opened(tmp_path, participant="P02", warmed=(patient,))
    assert not session.runner._renderer.context.slow
    session.close("test over")


@pytest.fixture
def asked(begin: Callable[..., OpenSession], tmp_path: Path) -> tuple[OpenSession, Blocking]:
    """The first single-dimension question of two stages, with a slow decoder."""
    slow, given = slow_model("sinelines/gt")
    study = write_single_study(tmp_path / "study", ["sinelines/gt", "sinelines/vae"])
    return begin("stage-1", study=study, **given), slow


def question_of(session: OpenSession) -> ChoiceQuestion:
    question = session.runner.state.part_state.trial
    assert isinstance(question, ChoiceQuestion)
    return question


def let(slow: Blocking, calls: int) -> None:
    for _ in range(calls):
        slow.go.release()


def test_a_question_begins_when_its_pictures_are_there(
    asked: tuple[OpenSession, Blocking],
) -> None:
    session, slow = asked
    runner = session.runner
    told: list[bool] = []
    runner.listen(lambda: told.append(runner.pictures is not None))
    question = question_of(session)
    assert question.started_ns is None
    assert runner.pictures is None
    runner.send(Choose(0, "mouse"))
    assert question_of(session).choice is None, "nobody answers what is not on the screen"
    let(slow, 2)
    spin(session, lambda: question_of(session).open)
    assert runner.pictures is not None
    decoder = slow.inner
    np.testing.assert_array_equal(runner.pictures.rows, decode_rows(decoder, question.examples))
    np.testing.assert_array_equal(runner.pictures.question, decode_one(decoder, question.z))
    assert told[-1]
    kinds = [row.kind for row in read_verified_events(session.folder.path)]
    assert kinds.count("question.shown") == 1


def test_other_examples_come_while_the_question_goes_on(
    asked: tuple[OpenSession, Blocking],
) -> None:
    session, slow = asked
    runner = session.runner
    let(slow, 2)
    spin(session, lambda: question_of(session).open)
    first = runner.pictures
    assert first is not None
    runner.send(ShowMoreExamples())
    runner.send(Choose(1, "mouse"))
    assert question_of(session).choice == 1
    assert runner.pictures is first, "the former ones stay until the others are there"
    let(slow, 1)
    spin(session, lambda: runner.pictures is not first)
    assert runner.pictures is not None
    assert runner.pictures.question is first.question
    rows = decode_rows(slow.inner, question_of(session).examples)
    np.testing.assert_array_equal(runner.pictures.rows, rows)


def test_pictures_of_a_stage_that_is_over_are_dropped(asked: tuple[OpenSession, Blocking]) -> None:
    session, slow = asked
    runner = session.runner
    wait_for(lambda: len(slow.asked) == 1)
    skip_stage(runner, Source.MODERATOR)
    let(slow, 2)
    wait_for(lambda: bool(scheduler_of(session)._queue))
    scheduler_of(session).run(lambda: False)
    assert runner.pictures is None
    runner.send(Next())
    assert runner.part is not None
    assert runner.part.id == "stage-2"
    assert question_of(session).open, "a fast model's pictures are there at once"


def test_a_question_whose_pictures_come_in_a_pause_begins_after_it(
    asked: tuple[OpenSession, Blocking],
) -> None:
    session, slow = asked
    runner = session.runner
    runner.send(Pause("break"), Source.MODERATOR)
    let(slow, 2)
    spin(session, lambda: runner.pictures is not None)
    assert question_of(session).started_ns is None
    runner.send(Resume("on"), Source.MODERATOR)
    assert question_of(session).open
