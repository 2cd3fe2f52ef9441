"""The unmasking study from consent to debrief in real windows, with a simulated participant's fast
hands: what the screen says of times is in the journal, and what comes of it can be analysed."""

from __future__ import annotations

from dataclasses import replace

from labapp.analysis.tables import load
from labapp.record.events.commands import Next
from labapp.session.bids.verify import verify
from labapp.session.resuming import finished, read_verified_events
from labapp.tasks.unmasking.events import Respond
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_again, open_new
from tests.helpers.unmasking import MASKS, made, write_unmasking_study

STIMULI = 4 * 2 * len(MASKS)
"""Of the first set: four images, two methods."""


def test_a_whole_session_in_windows(qtbot, qapp, tmp_path):
    study = write_unmasking_study(
        tmp_path / "study",
        made(tmp_path / "set"),
        before=[{"consent": "texts/{language}/consent.md"}],
        after=[{"debrief": "texts/{language}/debrief.md"}],
        blank_ms=40,
        breaks={"every": 5, "text": "rest.md"},
    )
    options = RunOptions(
        data=tmp_path / "data",
        private=tmp_path / "private",
        audio="off",
        simulate="understanding",
        windowed=True,
    )
    opened = open_new(str(study), "P01", "1", options)
    controller = SessionController(opened, options)
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    assert closed.args == [0]
    folder = opened.folder.path
    assert verify(folder).problems == []
    events = read_verified_events(folder)
    assert finished(events)
    shown, answered = {}, {}
    for event in events:
        if event.kind == "stimulus.drawn":
            due_ns = event.payload["due_ns"]
        elif event.kind == "stimulus.shown":
            shown[event.key] = event.payload
            assert event.payload["painted_ns"] >= due_ns
            assert event.payload["painted_ns"] <= event.t_ns
        elif event.kind == "response.given":
            answered[event.key] = event.payload
    assert shown.keys() == answered.keys()
    assert len(shown) == STIMULI + len(MASKS), "each once, and those of the example"
    # Painted by the screen, answered by nobody's hands.
    assert {one["shown_by"] for one in shown.values()} <= {"flush", "frame"}
    assert {one["timed_by"] for one in answered.values()} == {"simulated"}
    assert all(answered[key]["input_ns"] >= shown[key]["painted_ns"] for key in shown)
    rows = load([folder]).annotations
    assert len(rows[rows["role"] == "stage"]) == STIMULI
    assert (rows["excluded"] == (rows["role"] == "practice")).all()


def on_screen(qtbot, runner):
    """Wait until a stimulus is painted; texts before it are gone through."""
    while not isinstance(runner.part, UnmaskingPart):
        runner.send(Next())
    qtbot.waitUntil(lambda: runner.state.part_state.trial.open)


def answer(qtbot, runner):
    on_screen(qtbot, runner)
    runner.send(Respond(1, "keyboard", runner.clock.now_ns(), "event"))


def test_a_session_that_stopped_while_a_picture_was_on_goes_on_in_windows(qtbot, qapp, tmp_path):
    study = write_unmasking_study(
        tmp_path / "study", made(tmp_path / "set"), blank_ms=40, masks=[45.0]
    )
    options = RunOptions(
        data=tmp_path / "data", private=tmp_path / "private", audio="off", windowed=True
    )
    begun = open_new(str(study), "P01", "1", options)
    controller = SessionController(begun, options)
    controller.start()
    for _ in range(4):
        answer(qtbot, begun.runner)
    on_screen(qtbot, begun.runner)
    stopped = begun.runner.state.part_state.trial
    controller._end()
    again = open_again(begun.folder.path, replace(options, simulate="understanding"))
    controller = SessionController(again, replace(options, simulate="understanding"))
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    assert closed.args == [0]
    assert verify(begun.folder.path).problems == []
    ended = [
        (event.attempt, event.payload["outcome"])
        for event in read_verified_events(begun.folder.path)
        if event.kind == "trial.ended" and event.key[:2] == ("stage-1", stopped.number)
    ]
    assert ended == [(1, "interrupted"), (2, "answered")]
