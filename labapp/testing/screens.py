"""A task's screens: made and drawn in the states that a session meets."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from labapp.errors import LabappError
from labapp.plugins import registry
from labapp.plugins.task_type import TaskType
from labapp.representations.decoding import Decoder
from labapp.session import opening
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.testing.watching import Notes

SIZES = ((1366, 768), (900, 560), (1920, 1080), (1280, 1024))
"""Logical pixels: a small laptop's screen, the least that a participant's window can have, a usual
screen, and one that is nearly square."""
DRAWN = 10
"""States of a part that are drawn at every size; all are rendered."""
PRESSED = (1, 2, 5)
"""Which states of a part a hand presses everything in, on a screen that is only read."""


def check_screens(
    task_type: TaskType[Any],
    study: Any,
    participant: str,
    decoders: dict[str, Decoder],
    strategy: str,
    notes: Notes,
    **around: Any,
) -> None:
    """A simulated participant goes through a real session, and the screens of the task are rendered
    in every state on the way, by somebody who only looks on."""
    from labapp.clock import Clock, FakeClock
    from labapp.session.scheduling import VirtualScheduler
    from labapp.simulation.driver import Driver
    from labapp.simulation.pace import FAST
    from labapp.testing.leaving import check_leaving
    from labapp.ui.qtapp import make_app

    app = make_app()
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)

    def make_scheduler(_: Clock) -> VirtualScheduler:
        return scheduler

    with TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        session = opening.create(
            study,
            participant,
            SessionDependencies(
                decoders=decoders,
                warmed=(),
                make_scheduler=make_scheduler,
                private=folder / "private",
                commit_timeout_s=5.0,
                decode_at_once=True,
                fsync_on_commit=False,
                **around,
            ),
            data=folder / "data",
            make_clock=lambda start: clock,
        )
        stack.callback(session.close, "checked")
        onlooker = Onlooker(task_type, session, notes)
        stack.callback(onlooker.close)
        session.runner.listen(onlooker.look)
        session.begin()
        driver = Driver(
            session.runner,
            session.give_consent,
            strategy,
            session.planned.seed,
            participant,
            FAST,
            paints=True,
            language=session.planned.language,
        )
        driver.start()
        try:
            scheduler.run(lambda: session.runner.finished or onlooker.failed)
        except LabappError as error:
            notes.add(f"With its screens open, the session does not get to its end: {error.what}")
        finally:
            driver.stop()
        app.processEvents()
        if not onlooker.made and not onlooker.failed:
            notes.add(
                "No screen of the task was ever made: let `ready` of its pictures hold once there "
                "is something to show."
            )
        finished = session.runner.finished
        stack.close()
        if finished and not notes.sentences:
            check_leaving(session.folder.path, folder, notes)


class Onlooker:
    """Makes the screen of each part of the task and renders it whenever something changed."""

    def __init__(self, task_type: TaskType[Any], session: OpenSession, notes: Notes) -> None:
        from labapp.ui import theme
        from labapp.ui.images import Images
        from labapp.ui.participant.view import SessionView
        from labapp.ui.strings import strings_of

        self.task_type = task_type
        self.runner = session.runner
        self.notes = notes
        self.failed = False
        self.made = 0
        loaded, gallery = session.loaded, session.runner.gallery
        self.view = SessionView(
            session.runner,
            loaded,
            strings_of(loaded),
            theme.LIGHT,
            loaded.study.presentation,
            None if gallery is None else Images(gallery),
        )
        self._screen: Any = None
        self._index = -1
        self._drawn = 0
        self._raised: BaseException | None = None

    def look(self) -> None:
        """Render the state that there is now."""
        part, runner = self.runner.part, self.runner
        if part is None or registry.task_type_of(part) is not self.task_type or self.failed:
            return
        if not runner.ready or self.view.cover() is not None:
            return
        hook, sys.excepthook = sys.excepthook, self._raises
        try:
            self._render()
        except Exception as error:  # noqa: BLE001 (whatever a task's screen does)
            self._raised = error
        finally:
            sys.excepthook = hook
        if self._raised is not None:
            self.failed = True
            self.notes.add(
                f"The screen {self.task_type.screen(part)} of {part.id!r} cannot be shown: "
                f"{type(self._raised).__name__}: {self._raised}. Let it draw every state that its "
                "machine can have."
            )

    def _render(self) -> None:
        from PySide6.QtWidgets import QApplication

        from labapp.ui.participant.screens import make_screen

        if self._index != self.runner.state.index:
            self._let_go()
            self._screen = make_screen(self.view)
            self._index = self.runner.state.index
            self.made += 1
            self._drawn = 0
        screen = self._screen
        screen.render_state()
        screen.head()
        screen.foot()
        if self._drawn < DRAWN:
            self._drawn += 1
            if self._drawn in PRESSED:
                self._press()
            for size in SIZES:
                screen.resize(*size)
                screen.grab()
        QApplication.sendPostedEvents()

    def _press(self) -> None:
        """Note it where a hand on a mirror of the screen does something to the session."""
        from labapp.testing.mirror import commands_of_mirror

        part = self.runner.part
        assert part is not None
        asked = commands_of_mirror(self.runner, self.view, part, SIZES[0])
        if asked:
            names = ", ".join(sorted({type(command).__name__ for command in asked}))
            self.notes.add(
                f"The screen {self.task_type.screen(part)} of {part.id!r} takes input where it is "
                f"only read ({names}): let it ask for everything by `send` of its view."
            )

    def _raises(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """What is raised inside Qt, where nobody else hears it."""
        self._raised = error

    def _let_go(self) -> None:
        if self._screen is not None:
            self._screen.close()
            self._screen.deleteLater()
            self._screen = None

    def close(self) -> None:
        """Let the screen go."""
        from PySide6.QtCore import QEvent
        from PySide6.QtWidgets import QApplication

        self._let_go()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
