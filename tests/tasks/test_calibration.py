"""A calibration: the participant marks far away and close enough, and nothing is reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events.commands import Next, Pause, Skip
from labapp.tasks.reconstruction.events import MarkAlignment, MoveDial
from labapp.tasks.reconstruction.machine import Mark
from tests.helpers.play import NS, Play, stage_machine
from tests.helpers.skips import skip_question, skip_stage


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
    assert play.trial.marks == (Mark("far", 0.25), Mark("close", 0.75))


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
