"""The reconstruction stage and calibration, question by question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import FakeClock
from labapp.models.representations.decoding import TargetDistance, compare, decode_one
from labapp.models.representations.space import sinelines
from labapp.record.events.commands import Begin, Next, Pause, Resume, Skip
from labapp.tasks.reconstruction import machine
from labapp.tasks.reconstruction.events import (
    Decoded,
    EditLabel,
    MarkAlignment,
    MoveDial,
    Presented,
    SelectDial,
    ToggleOverlay,
)
from labapp.tasks.reconstruction.machine import MOST_REDRAWN, CalibrationMark, Trial, draw_pair
from labapp.tasks.reconstruction.planner import CIRCLES_PAIRS
from tests.helpers.play import NS, SPACE, Play, stage_machine, stage_part
from tests.helpers.rooms import decoder_of, make_runner, skip_to
from tests.helpers.skips import skip_question, skip_stage
from tests.session.sessions import virtual

SAMPLE = np.random.default_rng(3).uniform(-1.5, 2.5, (300, 3)).astype(np.float32)


def stage(**changes: object) -> Play:
    return Play(stage_machine(**changes)).start()


def test_a_question_is_drawn_shown_solved_and_left() -> None:
    play = stage()
    assert play.kinds()[1:] == ["part.started", "trial.drawn", "trial.started"]
    play.alignment = lambda trial: 0.95
    play.send(MoveDial(1, 0.5, "mouse"))
    assert play.kinds()[-3:] == ["dial.moved", "picture.decoded", "trial.solved"]
    assert play.trial is not None
    assert play.trial.solved
    assert not play.send(MoveDial(1, 0.7, "mouse")), "locked"
    assert not skip_question(play)
    play.alignment = lambda trial: 0.0
    play.send(Next())
    assert play.stage.outcomes == ("solved",)
    assert play.trial.number == 2
    assert not play.send(Next()), "not solved"


def test_alignment_is_reached_a_thousandth_early() -> None:
    for alignment, solved in ((0.8989, False), (0.899, True), (0.9, True)):
        play = stage()
        play.alignment = lambda trial, value=alignment: value  # type: ignore[misc]
        play.send(MoveDial(1, 0.5, "mouse"))
        assert play.trial is not None
        assert play.trial.solved is solved


@pytest.mark.parametrize("sampling", ["uniform", "held_out", "shuffled_pass"])
def test_a_pair_that_is_solved_at_once_is_drawn_again_unseen(sampling: str) -> None:
    """However it is drawn: nothing of it is shown, and the same pair never comes back."""
    seen: list[object] = []

    def alignment(trial: Trial) -> float:
        if trial.started_ns is None:
            seen.append((trial.z_start, trial.z_target))
        return 1.0 if len(seen) < 4 and trial.started_ns is None else 0.2

    machine = stage_machine(sampling=sampling)
    object.__setattr__(machine.tasks[0], "sample", SAMPLE)
    play = Play(machine, alignment=alignment).start()
    assert play.kinds()[2:] == ["trial.drawn"] * 4 + ["trial.started"]
    assert len(set(seen)) == 4
    assert play.trial is not None
    assert (play.trial.redrawn, play.trial.aligned_at_start, play.trial.solved) == (3, False, False)
    assert play.trial.number == 1
    assert play.machine.fold(play.events) == play.state


def test_the_screen_shows_the_pair_that_was_drawn_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the pictures of a real session."""
    compared = []

    def agree_twice(*pair: Any) -> TargetDistance:
        compared.append(pair)
        measured = compare(*pair)
        return measured._replace(alignment=1.0) if len(compared) < 3 else measured

    room = make_runner(tmp_path, "quickstart", "P01", scheduler=virtual, clock=FakeClock())
    try:
        room.session.begin()
        skip_to(room, "stage-1-intro")
        monkeypatch.setattr(machine, "compare", agree_twice)
        skip_to(room, "stage-1")
        trial, shown = room.runner.state.part_state.trial, room.runner.pictures
        assert (trial.redrawn, trial.aligned_at_start) == (2, False)
        decoder = decoder_of(room.runner.part.model)
        assert np.array_equal(shown.own, decode_one(decoder, trial.z))
        assert np.array_equal(shown.target, decode_one(decoder, trial.z_target))
    finally:
        room.session.close("test over")


def test_what_cannot_be_drawn_differently_is_marked() -> None:
    """A pair that the study fixes, and a threshold that every pair reaches."""
    pairs = (((2.0, 0.0, 0.0), (1.0, 0.6, 0.3)),)
    fixed = stage_machine(sampling="fixed", pairs=pairs, trials=1)
    for drawing, draws in ((fixed, 1), (stage_machine(), MOST_REDRAWN + 1)):
        play = Play(drawing, alignment=lambda trial: 1.0).start()
        assert play.kinds().count("trial.drawn") == draws
        assert play.kinds()[-2:] == ["trial.started", "trial.solved"]


def test_a_pair_aligned_at_the_start_is_kept_and_marked() -> None:
    play = Play(stage_machine(), alignment=lambda trial: 1.0).start()
    assert play.trial is not None
    assert play.trial.aligned_at_start
    assert play.trial.solved
    play.send(Next())
    assert play.stage.outcomes == ("solved",)


def test_a_question_solved_at_a_picture_that_was_late_is_locked_there() -> None:
    play = stage()
    play.auto = False
    play.send(MoveDial(1, 0.5, "mouse"))
    assert play.trial is not None
    wanted = play.trial.z
    play.send(MoveDial(1, 0.9, "mouse"))
    play.send(Decoded(1, wanted, 0.95, 1.0, 0.1))
    assert play.trial.solved
    assert play.trial.z == wanted
    assert not play.send(Decoded(2, (0.0, 0.9, 0.0), 0.2, 9.0, 0.9)), "too late"
    assert play.machine.fold(play.events) == play.state


def test_an_older_picture_never_follows_a_newer_one() -> None:
    play = stage()
    play.auto = False
    for value in (0.1, 0.2, 0.3):
        play.send(MoveDial(1, value, "mouse"))
    assert play.trial is not None
    assert play.send(Decoded(3, play.trial.z, 0.1, 1.0, 0.1))
    assert not play.send(Decoded(2, play.trial.z, 0.99, 1.0, 0.1))


def test_skip_rules() -> None:
    always, never, after = stage(skip="always"), stage(skip="never"), stage(skip_after_s=5.0)
    assert skip_question(always)
    never.wait(120).send(SelectDial(1, "mouse"))
    assert not skip_question(never)
    assert not skip_question(after)
    after.wait(2.9).send(SelectDial(1, "mouse"))
    after.wait(2.0)
    assert not skip_question(after)
    after.wait(0.2)
    assert after.kinds()[-1] == "skip.offered"
    assert skip_question(after)
    assert after.stage.outcomes == ("skipped",)


def test_nothing_is_active_before_the_question_is_on_the_screen() -> None:
    play = Play(stage_machine(labels_editable=True), auto=False).start()
    play.now_ns = 60 * NS
    play.send(Begin())
    play.send(Begin())
    assert play.trial is not None
    assert not play.send(ToggleOverlay(True))
    assert not play.send(EditLabel(0, "size"))
    play.send(Presented(0.0, 1.0, 0.1))
    assert play.send(ToggleOverlay(True))
    assert play.trial.active.total_ns == 0


def test_labels_stay_within_the_stage_and_are_kept_whole() -> None:
    play = stage()
    play.send(EditLabel(0, "  the   shape "))
    play.send(EditLabel(1, "x" * 80))
    assert not play.send(EditLabel(0, "the shape"))
    assert play.stage.labels == ("the shape", "x" * 80, None)
    play.alignment = lambda trial: 1.0
    play.send(MoveDial(1, 0.5, "mouse"))
    play.alignment = lambda trial: 0.0
    play.send(Next())
    assert play.stage.labels == ("the shape", "x" * 80, None)
    play.send(EditLabel(0, ""))
    assert play.stage.labels[0] is None


def test_the_time_limit_does_not_run_in_a_pause_or_a_gap() -> None:
    play = stage(time_limit_s=30.0, trials=5)
    play.wait(10).send(Pause("break"))
    play.wait(100).send(Resume("on"))
    play.wait(10).crash(50)
    play.wait(7).send(Resume("on"))
    # 20 s of work; the gap begins at the last event before the kill, the end of the pause.
    before = play.working_ns()
    play.wait(30 - before / NS - 0.001)
    assert "stage.time_expired" not in play.kinds()
    play.wait(0.001)
    ends = ["stage.time_expired", "trial.ended", "part.ended"]
    assert play.kinds()[-5:] == [*ends, "inclusion.decided", "session.completed"]
    assert play.working_ns() == 30 * NS
    assert play.stage.outcomes == ("time_expired",)
    assert play.stage.outcome == "time_expired"


def test_a_stage_the_moderator_ends_keeps_what_was_solved() -> None:
    play = stage()
    play.alignment = lambda trial: 1.0
    play.send(MoveDial(1, 0.5, "mouse"))
    skip_stage(play)
    assert play.stage.outcomes == ("solved",)
    assert play.stage.outcome == "skipped"
    other = stage()
    skip_stage(other)
    assert other.stage.outcomes == ("stage_skipped",)


def test_dials_go_on_from_the_last_movement_after_a_kill() -> None:
    play = stage()
    play.send(MoveDial(1, 0.5, "mouse"))
    z = play.trial and play.trial.z
    play.crash(60)
    assert play.trial is not None
    assert play.trial.z == z
    assert not play.send(MoveDial(1, 0.6, "mouse")), "stands still until the moderator goes on"
    play.send(Resume("on"))
    assert play.send(MoveDial(1, 0.6, "mouse"))


def test_movements_are_put_on_the_step_and_within_the_limits() -> None:
    play = stage()
    for asked, got in ((0.1234, 0.12), (9.0, 2.0), (-9.0, -1.003), (-0.996, -1.0)):
        play.send(MoveDial(1, asked, "mouse"))
        assert play.trial is not None
        assert play.trial.z[1] == got
    moved = len(play.events)
    play.send(MoveDial(1, -0.9999, "mouse"))
    assert len(play.events) == moved, "no change, no event"


def calibration(alignment: float = 0.2, **changes: object) -> Play:
    machine = stage_machine(marks=True, **changes)
    return Play(machine, alignment=lambda trial: alignment).start()


def test_a_perfect_alignment_neither_ends_nor_locks() -> None:
    play = calibration(1.0)
    assert play.trial is not None
    assert play.trial.running
    assert not play.trial.aligned_at_start
    assert play.send(MoveDial(1, 0.5, "mouse"))
    assert play.trial.running
    assert "trial.solved" not in play.kinds()


def test_a_mark_holds_the_alignment_of_the_picture_on_the_screen() -> None:
    play = calibration(0.25)
    play.send(MarkAlignment("far"))
    assert play.events[-1].payload == {"mark": "far", "z_seq": 0, "alignment": 0.25}
    play.alignment = lambda trial: 0.75
    play.send(MoveDial(1, 0.5, "mouse"))
    play.auto = False
    play.send(MoveDial(1, 0.6, "mouse"))  # its picture is not there yet
    play.send(MarkAlignment("close"))
    assert play.events[-1].payload == {"mark": "close", "z_seq": 1, "alignment": 0.75}
    assert play.trial is not None
    assert play.trial.marks == (CalibrationMark("far", 0.25), CalibrationMark("close", 0.75))


def test_a_question_is_left_once_both_were_marked() -> None:
    play = calibration()
    assert not play.send(Next())
    play.send(MarkAlignment("close"))
    assert play.trial is not None
    assert play.trial.unmarked == ("far",)
    assert not play.send(Next())
    play.send(MarkAlignment("far"))
    play.send(Next())
    ended = [event for event in play.events if event.kind == "trial.ended"]
    assert [event.payload["outcome"] for event in ended] == ["marked"]
    assert play.trial.number == 2
    assert play.trial.unmarked == ("far", "close")


def test_a_mark_is_made_of_a_shown_question_of_a_calibration_only() -> None:
    play = Play(stage_machine()).start()
    assert not play.send(MarkAlignment("far"))
    play = calibration()
    assert not play.send(MarkAlignment("near"))
    play.send(Pause("a question"))
    assert not play.send(MarkAlignment("far"))
    unseen = Play(stage_machine(marks=True), auto=False).start()
    assert not unseen.send(MarkAlignment("far"))


def test_marking_counts_as_activity() -> None:
    play = calibration(inactivity_s=3.0)
    play.wait(2.0)
    play.send(MarkAlignment("far"))
    assert play.trial is not None
    assert play.trial.active.total_ns == 2 * NS
    assert play.trial.active.last_ns == play.working_ns()


def test_skip_is_as_the_study_says() -> None:
    play = calibration(skip="always")
    skip_question(play)
    assert play.stage.outcomes == ("skipped",)
    assert not calibration(skip="never").send(Skip())


@pytest.mark.parametrize(
    ("marks", "outcome"), [((), "stage_skipped"), (("far", "close"), "marked")]
)
def test_what_was_marked_counts_when_the_stage_is_cut_off(
    marks: tuple[str, ...], outcome: str
) -> None:
    play = calibration()
    for mark in marks:
        play.send(MarkAlignment(mark))
    skip_stage(play)
    ended = next(event for event in play.events if event.kind == "trial.ended")
    assert ended.payload["outcome"] == outcome


COMMANDS = st.lists(
    st.one_of(
        st.sampled_from([MarkAlignment("far"), MarkAlignment("close"), Next(), Skip()]),
        st.builds(MoveDial, st.integers(0, 2), st.floats(-1, 2), st.just("mouse")),
    ),
    max_size=40,
)


@given(COMMANDS, st.floats(0, 1))
def test_only_next_after_both_marks_or_skip_ends_a_question(
    commands: list[object], alignment: float
) -> None:
    """And every mark on record has the alignment that was last on the screen."""
    play = calibration(alignment, skip="always")
    for command in commands:
        before = play.trial
        play.send(command)  # type: ignore[arg-type]
        if before is None or play.trial is None or play.trial.number == before.number:
            continue
        assert isinstance(command, Skip) or (isinstance(command, Next) and not before.unmarked)
    shown: dict[tuple[int | None, int], float] = {}
    for event in play.events:
        if event.kind == "trial.started":
            shown[event.trial, 0] = event.payload["alignment"]
        if event.kind == "picture.decoded":
            shown[event.trial, event.payload["z_seq"]] = event.payload["alignment"]
        if event.kind == "alignment.marked":
            at = (event.trial, event.payload["z_seq"])
            assert event.payload["alignment"] == shown[at]
            assert at == list(shown)[-1]


@given(
    st.sampled_from(["held_out", "shuffled_pass", "uniform"]),
    st.integers(0, 2**63 - 1),
    st.sampled_from(["P01", "P02"]),
    st.integers(1, 40),
)
def test_a_pair_depends_on_its_question_alone_and_lies_on_the_dials(
    sampling: str, seed: int, participant: str, trial: int
) -> None:
    part = stage_part(sampling=sampling)
    pair = draw_pair(part, SPACE, SAMPLE, seed, participant, trial)
    assert pair == draw_pair(part, SPACE, SAMPLE.copy(), seed, participant, trial)
    for z in pair:
        assert z == SPACE.snap(z)
    others = [
        draw_pair(part, SPACE, SAMPLE, seed, participant, trial + 1),
        draw_pair(part, SPACE, SAMPLE, seed ^ 1, participant, trial),
        draw_pair(part, SPACE, SAMPLE, seed, participant + "x", trial),
        draw_pair(
            stage_part("stage-9", sampling=sampling), SPACE, SAMPLE, seed, participant, trial
        ),
    ]
    assert any(pair != other for other in others)


def test_a_shuffled_pass_uses_each_of_250_rows_once() -> None:
    rows = np.column_stack([np.zeros(300), np.arange(300) / 150 - 1, np.zeros(300)])
    part = stage_part(sampling="shuffled_pass", trials=125)
    pairs = [draw_pair(part, SPACE, rows.astype(np.float32), 5, "P01", n + 1) for n in range(125)]
    seen = [z[1] for pair in pairs for z in pair]
    expected = [SPACE.dimensions[1].snap(float(np.float32(v))) for v in rows[:250, 1]]
    assert sorted(seen) == sorted(expected)
    assert seen != sorted(seen)
    assert draw_pair(part, SPACE, rows.astype(np.float32), 5, "P01", 126) == pairs[0]


def test_practice_pairs_are_the_published_ones() -> None:
    pairs = (((2.0, 0.0, 0.0), (1.0, 0.6, 0.3)),)
    part = stage_part(sampling="fixed", pairs=pairs, trials=1)
    assert draw_pair(part, SPACE, None, 1, "P01", 1) == pairs[0]
    assert CIRCLES_PAIRS[0] == ((0.0, 0.0), (0.6, 0.3))


def test_the_prior_of_sinelines_has_its_moments() -> None:
    rng = np.random.default_rng(0)
    z = np.array([sinelines(rng) for _ in range(20_000)])
    assert z.mean(axis=0) == pytest.approx([0, 0, 1, 1, np.pi], abs=0.05)
    assert z.std(axis=0) == pytest.approx(
        [1 / np.sqrt(3), 1, 1, 1, 2 * np.pi / np.sqrt(12)], abs=0.05
    )
    assert np.abs(z[:, 0]).max() <= 1
    assert z[:, 2:].min() >= 0


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="no held-out sample"):
        draw_pair(stage_part(sampling="held_out"), SPACE, None, 1, "P01", 1)
    with pytest.raises(ValueError, match="no prior"):
        draw_pair(stage_part(sampling="prior"), SPACE, None, 1, "P01", 1)
