"""The unmasking task, stimulus by stimulus."""

from __future__ import annotations

import pytest

from labapp.record.events import Event
from labapp.record.events.commands import AddFlag, Begin, Next, Pause, Resume, Tick
from labapp.tasks.unmasking.events import Respond, StimulusHidden, StimulusPainted
from tests.helpers.play import NS
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import UnmaskingPlay, unmasking_part

MS = 1_000_000


def of(play: UnmaskingPlay, kind: str) -> list[Event]:
    return [event for event in play.events if event.kind == kind]


def keys(play: UnmaskingPlay, kind: str) -> list[tuple[int | None, int | None]]:
    """Trial and attempt of the events of a kind."""
    return [(event.trial, event.attempt) for event in of(play, kind)]


def test_a_stimulus_is_drawn_painted_answered_and_the_next_one_drawn() -> None:
    play = UnmaskingPlay.of()
    assert play.kinds()[1:] == ["part.started", "stimulus.drawn", "stimulus.shown"]
    assert of(play, "stimulus.drawn")[0].payload == {
        "sequence": 1,
        "mask": 1,
        "image": "p00",
        "method": "middle",
        "percent": 5.0,
        "truth": "disc",
        "prediction": "disc",
        "due_ns": 0,
    }
    play.respond(2, after_s=0.75)
    assert play.kinds()[4:] == [
        *("response.given", "trial.ended"),
        *("stimulus.drawn", "stimulus.shown"),
    ]
    given, shown = of(play, "response.given")[0], of(play, "stimulus.shown")[0]
    assert given.payload == {
        "response": 2,
        "device": "key",
        "input_ns": 750 * MS,
        "timed_by": "event",
    }
    assert given.payload["input_ns"] - shown.payload["painted_ns"] == 750 * MS
    assert of(play, "trial.ended")[0].payload == {"outcome": "answered"}
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1)]


def test_masks_ascend_inside_a_sequence_and_the_last_response_ends_the_part() -> None:
    play = UnmaskingPlay.of(sequences=2, masks=3)
    play.through(0)
    drawn = [event.payload for event in of(play, "stimulus.drawn")]
    assert [(one["sequence"], one["mask"]) for one in drawn] == [
        (sequence, mask) for sequence in (1, 2) for mask in (1, 2, 3)
    ]
    assert [one["percent"] for one in drawn] == [5, 10, 15, 5, 10, 15]
    assert [event.payload["outcome"] for event in of(play, "part.ended")] == ["completed"]
    assert play.state.ended == "completed"
    assert play.state.tally.trials.keys() == {("stage-1", trial) for trial in range(1, 7)}


def test_a_blank_parts_stimuli_but_nothing_parts_the_first_from_the_text_before() -> None:
    play = UnmaskingPlay.of(blank_ms=500)
    play.respond(1, after_s=1)
    play.respond(1, after_s=1)
    drawn = of(play, "stimulus.drawn")
    assert [event.payload["due_ns"] - event.t_ns for event in drawn] == [0, 500 * MS, 500 * MS]
    assert [event.payload["painted_ns"] for event in of(play, "stimulus.shown")] == [
        event.payload["due_ns"] for event in drawn
    ]


def test_nobody_responds_to_what_is_not_painted() -> None:
    play = UnmaskingPlay.of(blank_ms=500)
    play.paints = False
    play.respond(1)
    assert play.stimulus is not None
    assert play.stimulus.due
    assert not play.stimulus.open
    assert not play.respond(1), "the blank is on the screen"
    play.now_ns = play.stimulus.due_ns
    play.paint()
    assert play.stimulus.open
    assert play.respond(1)


def test_a_press_from_before_the_frame_was_meant_for_the_stimulus_before() -> None:
    play = UnmaskingPlay.of()
    play.respond(1, after_s=1)
    assert play.stimulus is not None
    painted = play.stimulus.painted_ns
    assert painted is not None
    assert not play.respond(1, after_s=0.2, input_ns=painted - 1)
    assert play.respond(1, after_s=0, input_ns=painted), "pressed as it was painted"


@pytest.mark.parametrize("response", [-1, 3, 99])
def test_there_is_no_such_button(response: int) -> None:
    assert not UnmaskingPlay.of().respond(response)


def test_time_stamps_from_the_future_are_of_now() -> None:
    play = UnmaskingPlay.of()
    play.paints = False
    play.respond(1, after_s=1, input_ns=99 * NS)
    assert of(play, "response.given")[0].payload["input_ns"] == 1 * NS
    play.paint(99 * NS)
    assert of(play, "stimulus.shown")[1].payload["painted_ns"] == 1 * NS


def test_a_frame_from_before_the_stimulus_was_drawn_is_of_another() -> None:
    play = UnmaskingPlay.of()
    play.paints = False
    play.respond(1, after_s=2)
    play.paint(2 * NS - 1)
    assert len(of(play, "stimulus.shown")) == 1, "it was confirmed late"
    play.paint(2 * NS)
    assert len(of(play, "stimulus.shown")) == 2
    play.paint()
    assert len(of(play, "stimulus.shown")) == 2, "painted once"


def test_what_a_pause_interrupts_is_shown_again_as_another_attempt() -> None:
    play = UnmaskingPlay.of(blank_ms=500)
    play.respond(1)
    play.now_ns += 1 * NS
    play.send(Pause("a question"))
    assert play.stimulus is not None
    assert not play.stimulus.open
    assert not play.respond(1, after_s=5), "nobody responds in a pause"
    play.send(Resume("pause"))
    resumed_ns = play.events[-1].t_ns - 500 * MS
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1), (2, 2)]
    ended = of(play, "trial.ended")
    assert [event.payload["outcome"] for event in ended] == ["answered", "interrupted"]
    assert keys(play, "trial.ended")[-1] == (2, 1)
    again = of(play, "stimulus.drawn")[-1].payload
    assert again["due_ns"] == resumed_ns + 500 * MS, "a blank parts it from the pause"
    assert (again["sequence"], again["mask"]) == (1, 2)
    play.respond(1)
    play.send(Pause("another"))
    play.send(Resume("pause"))
    assert keys(play, "stimulus.drawn")[-2:] == [(3, 1), (3, 3)], "attempts are never used twice"
    play.through()
    assert play.state.ended == "completed"
    assert play.unmasking.outcomes == ("answered",) * 6


def test_a_pause_in_the_blank_interrupts_too() -> None:
    play = UnmaskingPlay.of(blank_ms=500)
    play.paints = False
    play.respond(1)
    play.send(Pause("a question"))
    play.now_ns += 10 * NS
    play.paint()
    play.send(Resume("pause"))
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1), (2, 2)]
    assert len(of(play, "stimulus.shown")) == 1


@pytest.mark.parametrize("painted", [True, False])
def test_what_leaves_the_screen_is_shown_again(painted: bool) -> None:
    play = UnmaskingPlay.of(blank_ms=500)
    play.paints = painted
    play.respond(1)
    play.paints = False
    play.send(StimulusHidden())
    assert len(of(play, "stimulus.shown")) == 1 + painted
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1), (2, 2)]
    assert of(play, "trial.ended")[-1].payload == {"outcome": "interrupted"}
    assert keys(play, "trial.ended")[-1] == (2, 1)
    assert not play.respond(1), "it is not painted yet"
    play.paints = True
    play.send(Tick())
    play.through()
    assert play.unmasking.outcomes == ("answered",) * 6


def test_what_the_end_of_the_program_interrupts_is_shown_again() -> None:
    play = UnmaskingPlay.of()
    play.respond(1)
    play.crash(60)
    assert not play.respond(1), "the moderator goes on first"
    play.send(Resume("resumed"))
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1), (2, 2)]
    play.through()
    assert play.state.ended == "completed"


def test_a_stage_that_begins_again_begins_with_its_first_stimulus() -> None:
    play = UnmaskingPlay.of(restarts=True)
    play.respond(1)
    play.respond(1)
    play.crash(60)
    play.send(Resume("resumed"))
    assert of(play, "part.restarted")[0].payload["attempt"] == 2
    assert keys(play, "stimulus.drawn") == [(1, 1), (2, 1), (3, 1), (1, 2)]
    assert not play.state.tally.trials, "what was answered before does not count"
    play.respond(1)
    play.send(Pause("a question"))
    play.send(Resume("pause"))
    assert keys(play, "stimulus.drawn")[-2:] == [(2, 2), (2, 3)]
    play.crash(60)
    play.send(Resume("resumed"))
    assert keys(play, "stimulus.drawn")[-1] == (1, 4)
    play.through()
    assert play.state.ended == "completed"


def test_the_example_never_begins_again() -> None:
    play = UnmaskingPlay.of(unmasking_part(role="practice"), restarts=True)
    play.respond(1)
    play.crash(60)
    play.send(Resume("resumed"))
    assert "part.restarted" not in play.kinds()
    assert keys(play, "stimulus.drawn")[-1] == (2, 2)


def test_the_moderator_ends_a_part() -> None:
    play = UnmaskingPlay.of()
    play.respond(1)
    skip_stage(play)
    ended = of(play, "trial.ended")[-1]
    assert ended.payload == {"outcome": "stage_skipped"}
    assert (ended.trial, ended.attempt) == (2, 1)
    assert of(play, "part.ended")[0].payload["outcome"] == "skipped"


def test_no_other_command_leads_to_anything() -> None:
    play = UnmaskingPlay.of()
    for command in (Begin(), Next(), Tick(), StimulusPainted(0, "frame", None)):
        assert not play.send(command)
    assert play.machine.next_deadline(play.state) is None


def test_what_the_moderator_notes_belongs_to_the_stimulus_on_the_screen() -> None:
    play = UnmaskingPlay.of()
    play.respond(1)
    play.send(AddFlag(1))
    assert (play.events[-1].part_id, play.events[-1].trial) == ("stage-1", 2)


def test_after_the_end_nothing_is_answered() -> None:
    play = UnmaskingPlay.of(sequences=1, masks=1)
    play.through()
    assert not play.machine.tasks[0].decide(
        play.unmasking, Respond(1, "key", play.now_ns, "event"), play.now_ns
    )
