"""What the moderator is told of events that are sent to other devices."""

from __future__ import annotations

from labapp.base.errors import LslError
from labapp.record.events.lifecycle import AlarmRaised, LslOff, LslOpened
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import Row
from labapp.ui.moderator.console import SECOND_TICKS
from tests.ui.desk import Desk


class Streams:
    received = False

    def close(self) -> None:
        """Nothing is open."""


def test_what_is_sent_to_other_devices_is_told_and_only_then(desk: Desk) -> None:
    fact = desk.console.voice.facts["lsl"]
    desk.console.refresh()
    assert fact.isHidden()
    streams = desk.runner.streams = Streams()
    desk.runner.emit(LslOpened("6a", ("labapp-events",), "1.18"))
    desk.console.refresh()
    assert not fact.isHidden()
    assert fact.full() == "! nobody receives"
    streams.received = True
    for _ in range(SECOND_TICKS):
        desk.console.refresh()
    assert fact.full() == "received"
    desk.runner.emit(AlarmRaised("lsl_failed", "Events are not sent over LSL any more: gone"))
    desk.console.refresh()
    assert fact.full() == "! Events are not sent over LSL any more: gone"
    assert "LSL failed" in desk.alarms()[-1]
    desk.runner.emit(LslOff("The package pylsl is not installed"))
    desk.console.refresh()
    assert fact.full() == "! The package pylsl is not installed"


def test_events_that_are_sent_are_told_to_be_open_to_the_network() -> None:
    def none() -> None:
        return None

    def missing() -> LslError:
        return LslError("pylsl is not installed.", todo="Install it.")

    assert checklist.lsl_row("off", missing) == Row("lsl", "ok", "", required=False)
    row = checklist.lsl_row("required", none)
    assert (row.state, "unencrypted" in row.text) == ("ok", True)
    row = checklist.lsl_row("required", missing)
    assert (row.state, row.blocks, row.text) == (
        "missing",
        True,
        "pylsl is not installed. Install it.",
    )
    assert checklist.readiness([row]).why == "Start needs LSL."
    row = checklist.lsl_row("optional", missing)
    assert (row.state, row.blocks) == ("warn", False)
