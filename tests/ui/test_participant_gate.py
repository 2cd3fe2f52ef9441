"""Movement is merged per painted frame, and the last value always arrives."""

from __future__ import annotations

import pytest

from labapp.ui.participant.window import LONGEST_MS, MoveGate


@pytest.fixture
def gate(qapp):
    sent: list[tuple[int, float, str]] = []
    frames: list[int] = []
    made = MoveGate(lambda *move: sent.append(move), lambda: frames.append(len(sent)))
    made.sent, made.frames = sent, frames
    yield made
    made.clear()


def test_the_first_goes_at_once_and_the_rest_are_merged_per_dial(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    for i in range(2, 9):
        gate.ask(0, i / 10, "mouse")
    gate.ask(3, -1.0, "keyboard")
    assert gate.sent == [(0, 0.1, "mouse")]
    assert gate.frames == [1]
    assert gate.waits(0)
    assert gate.waits(3)
    gate.frame_painted()
    assert len(gate.sent) == 1  # not from inside the paint event
    qapp.processEvents()
    assert gate.sent[1:] == [(0, 0.8, "mouse"), (3, -1.0, "keyboard")]
    assert not gate.waits(0)


def test_it_opens_again_after_a_frame(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    gate.frame_painted()
    gate.ask(0, 0.2, "mouse")
    assert gate.sent == [(0, 0.1, "mouse"), (0, 0.2, "mouse")]
    gate.ask(0, 0.3, "mouse")
    gate.frame_painted()
    qapp.processEvents()
    gate.ask(0, 0.4, "mouse")  # the frame of 0.3 is still to come
    assert gate.sent[-1] == (0, 0.3, "mouse")


def test_the_last_value_arrives_though_no_frame_comes(gate, qtbot):
    gate.ask(0, 0.1, "mouse")
    gate.ask(0, 0.2, "mouse")
    qtbot.waitUntil(lambda: len(gate.sent) == 2, timeout=20 * LONGEST_MS)
    assert gate.sent[-1] == (0, 0.2, "mouse")


def test_clear_forgets(gate, qapp):
    gate.ask(0, 0.1, "mouse")
    gate.ask(0, 0.2, "mouse")
    gate.clear()
    gate.frame_painted()
    qapp.processEvents()
    assert gate.sent == [(0, 0.1, "mouse")]
    gate.ask(1, 0.5, "mouse")
    assert gate.sent[-1] == (1, 0.5, "mouse")
