"""Whether a simulated participant gets on: one that does not would keep a session open for ever."""

from __future__ import annotations

from collections.abc import Callable

from labapp.clock import NS
from labapp.errors import LabappError, SessionError
from labapp.plugins.part import PlannedPart
from labapp.session.machine import SessionState
from labapp.session.runner import Runner
from labapp.session.scheduling import Timer

STILL_S = 120.0
"""Seconds of session time in which something of the session must change. What comes by itself (the
least time of a break, a limit of time) is waited for, and so are the moderator's pauses."""
LOOKS = 4
"""So often within that time it is looked."""


class Stuck(SessionError):
    """The simulated participant does not get on."""


def raised(error: LabappError) -> None:
    """What is done about it where there are no windows."""
    raise error


def unknown(part: PlannedPart) -> Stuck:
    """The error for a part that nobody taught the driver."""
    return Stuck(
        f"The simulated participant does not know parts of the kind {part.part!r}.",
        safe="The session is closed; what happened until then is recorded.",
        todo="Let a person go through it, or give its task type a `simulate`.",
    )


class Watch:
    """Looks at a session that is driven.

    on_stuck : is told, once, why the driver does not get on; it ends the session.
    alone : there is no moderator who could end a pause.
    """

    def __init__(
        self, runner: Runner, on_stuck: Callable[[LabappError], None], *, alone: bool
    ) -> None:
        self._runner = runner
        self._on_stuck = on_stuck
        self._alone = alone
        self._timer: Timer | None = None
        self._seen: tuple[SessionState, int] | None = None
        self._over = False

    def start(self) -> None:
        self._look()

    def stop(self) -> None:
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def give_up(self, error: LabappError) -> None:
        """The driver cannot go on."""
        if not self._over:
            self.stop()
            self._on_stuck(error)

    def _look(self) -> None:
        runner, state = self._runner, self._runner.state
        if self._over or runner.finished:
            return
        now_ns = runner.clock.now_ns()
        part = runner.part
        rests = part is not None and part.rests
        waits = state.pauses.held and not rests and not self._alone
        if self._seen is None or self._seen[0] is not state or waits or runner.stalled:
            self._seen = (state, now_ns)
        # A limit of time that is still to come changes something by itself.
        since_ns = max(self._seen[1], runner.machine.next_deadline(state) or 0)
        still_s = STILL_S + (0.0 if part is None else part.lasts_s)
        if now_ns - since_ns >= round(still_s * NS):
            self.give_up(self._stuck())
            return
        self._timer = runner.scheduler.call_later(STILL_S / LOOKS, self._look)

    def _stuck(self) -> Stuck:
        """Where the driver stands, for whoever has to find out why."""
        part = self._runner.part
        where = "between two parts" if part is None else f"in {part.id} ({part.title!r})"
        return Stuck(
            f"The simulated participant did not get on for {STILL_S:.0f} s of session time, "
            f"{where}{self._item(part)}.",
            safe="The session is closed; what happened until then is recorded.",
            todo="Look at this place of the study; report it where a person can get on.",
        )

    def _item(self, part: PlannedPart | None) -> str:
        """The page, the items or the question that the driver stands at."""
        if part is None:
            return ""
        state = self._runner.state
        place = self._runner.machine.tasks[state.index].place(state.part_state)
        return f", {place}" if place else ""
