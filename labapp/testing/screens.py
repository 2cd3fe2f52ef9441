"""The screens of a task as a participant meets them: a simulated participant goes through a real
session, what it does is done by keys in the real window, and pictures are compared.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from labapp.base.clock import FakeClock
from labapp.base.errors import LabappError
from labapp.models.representations.decoding import Decoder
from labapp.record.events import Event, Source
from labapp.record.events import registry as kinds
from labapp.record.events.commands import Command, HandIn, Next
from labapp.session import opening
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.runner import VirtualScheduler
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.registry import TaskType
from labapp.testing.answers import check_leaving
from labapp.testing.rehearsal import Notes
from labapp.ui.participant.screen import Screen, centre, make_screen, screen_class
from labapp.ui.participant.view import Bridge, ParticipantActions, SessionView
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.qtapp import make_app
from labapp.ui.strings import strings_of

SIZES = ((900, 560), (1920, 1080), (1280, 1024), (1366, 768))
"""Logical pixels: the least that a participant's window can have, a usual screen, one that is
nearly square, and a small laptop's."""
DRAWN = 10
"""States of a part that are drawn at every size; all are rendered."""
LOOKED = 4
"""States of a part in which everything on its screen is pressed."""
TRIED = 3
"""So often it is looked in a part by which key a command is sent."""
MOST_TABS = 60
ANY_TASK = (Next, HandIn)
NO_SCREEN = (
    "No screen of the task was ever made: let `ready` of its pictures hold once there is something "
    "to show."
)
Held = Qt.KeyboardModifier
ARROWS = (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down)
PLAIN = (*range(Qt.Key.Key_1, Qt.Key.Key_9 + 1), Qt.Key.Key_Space, Qt.Key.Key_Return)
KEYS = (
    *((Qt.Key(key), Held.NoModifier) for key in (*PLAIN, *ARROWS)),
    *((key, held) for held in (Held.ControlModifier, Held.AltModifier) for key in ARROWS),
)
"""What is pressed wherever Tab leads to."""
LETTERS = tuple((Qt.Key(key), Held.NoModifier) for key in range(Qt.Key.Key_A, Qt.Key.Key_Z + 1))
"""What is pressed besides where the focus is without Tab: keys of the page."""


def check_screens(
    task_type: TaskType[Any],
    study: Any,
    participant: str,
    decoders: dict[str, Decoder],
    strategy: str,
    own: Collection[type[Command]],
    notes: Notes,
    **around: Any,
) -> None:
    """Go through a real session in the participant's window. own: the task's commands."""
    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = make_app()
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    with TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        session = opening.create(
            study,
            participant,
            SessionDependencies(
                decoders=decoders,
                warmed=(),
                make_scheduler=lambda _: scheduler,
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
        desk = Desk(task_type, session, own, notes)
        stack.callback(desk.close)
        session.begin()
        driver = ByHand(
            session.runner,
            session.give_consent,
            strategy,
            session.planned.seed,
            participant,
            FAST,
            paints=True,
            language=session.planned.language,
        )
        driver.desk = desk
        driver.start()
        try:
            scheduler.run(lambda: session.runner.finished or desk.failed)
        except LabappError as error:
            notes.add(f"With its screens open, the session does not get to its end: {error.what}")
        finally:
            driver.stop()
        app.processEvents()
        desk.conclude()
        finished = session.runner.finished
        stack.close()
        if finished and not notes.sentences:
            check_leaving(session.folder.path, folder, notes)


class ByHand(Driver):
    """A simulated participant who does by keys what can be done so."""

    desk: Desk

    def send(self, command: Command, then_s: float, *, moving: bool = False) -> None:
        if self.desk.does(command, lambda: super(ByHand, self).send(command, 0.0)):
            self.later(then_s)
        else:
            super().send(command, then_s, moving=moving)


class Desk:
    """The participant's window, and a screen beside it that no hand ever touches."""

    def __init__(
        self,
        task_type: TaskType[Any],
        session: OpenSession,
        own: Collection[type[Command]],
        notes: Notes,
    ) -> None:
        self.task_type, self.runner, self.own, self.notes = task_type, session.runner, own, notes
        self.failed = False
        self._heard: list[Command] = []
        self._muted = False
        self._send = session.runner.send
        vars(session.runner)["send"] = self._pass_on
        self._hook, sys.excepthook = sys.excepthook, self._raises
        loaded = session.loaded
        self.runner.listen(self.look)  # before the window, which a screen that sends keeps busy
        self.bridge = Bridge(session.runner)
        self.window = ParticipantWindow(
            self.bridge,
            loaded,
            strings_of(loaded),
            loaded.study.presentation,
            session.give_consent,
            open_link=lambda link: False,
        )
        self.window.open_on(windowed=True)
        self.window.activateWindow()
        hand = ParticipantActions(self._pass_on, lambda *given: True)
        self.view = replace(self.window.session, hand=hand)
        self.bridge.happened.connect(self._note_begin)
        self._holder = QWidget()  # a window of its own would be no smaller than its content
        self._screen: Screen | None = None
        self._index, self._drawn = -1, 0
        self._tried: Counter[tuple[str, type[Command]]] = Counter()
        self._looked: Counter[str] = Counter()
        self._ever: dict[str, bool] = {NO_SCREEN: False}
        self._at_once: dict[str, bool] = {}
        self._trial: Any = None
        self._asked = ""
        self._questions: dict[str, tuple[str, QImage]] = {}

    def _pass_on(self, command: Command, source: Source = Source.PARTICIPANT) -> None:
        """Between what is pressed and the session."""
        if source is not Source.SIMULATED:
            self._heard.append(command)
        if not (self._muted or self.failed):
            self._send(command, source)

    @contextmanager
    def _hearing(self, *, muted: bool = True) -> Iterator[list[Command]]:
        """What is asked for inside; muted: nothing of it reaches the session."""
        before = self._heard, self._muted
        self._heard, self._muted = [], muted
        try:
            yield self._heard
        finally:
            self._heard, self._muted = before

    @property
    def part(self) -> PlannedPart | None:
        """The part on the screen, where it is of the task and can be seen."""
        part = self.runner.part
        if part is None or registry.task_type_of(part) is not self.task_type or self.failed:
            return None
        return part if self.runner.ready and self.view.cover() is None else None

    def _fail(self, part: PlannedPart, what: str) -> None:
        self.failed = True
        self._note(part, what)

    def _note(self, part: PlannedPart, what: str) -> None:
        self.notes.add(what.format(f"screen {self.task_type.screen(part)} of {part.id!r}"))

    def _once(self, sentence: str, *, good: bool) -> None:
        """To be noted in the end where it was never good."""
        self._ever[sentence] = self._ever.get(sentence, False) or good

    def _raises(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """What is raised inside Qt, where nobody else hears it."""
        if not self.failed and (part := self.runner.part) is not None:
            words = f"{kind.__name__}: {error}".replace("{", "{{").replace("}", "}}")
            self._fail(
                part,
                f"The {{}} cannot be shown: {words}. Let it draw every state that its machine can "
                "have.",
            )

    def _note_begin(self, event: Event) -> None:
        payload = kinds.find_kind(event.kind)
        if payload is not None and payload.begins:
            self._asked = repr(event.payload)

    def look(self) -> None:
        """Render the current state without any action by the participant."""
        if (part := self.part) is None:
            return
        try:
            with self._hearing() as sent:
                self._render()
        except Exception as error:  # noqa: BLE001 (whatever a task's screen does)
            self._raises(type(error), error, None)
        else:
            if sent and not part.timed:  # a timed picture's screen says when it is painted
                self._fail(
                    part,
                    f"The {{}} sends {_names(sent)} while it is rendered, and nobody did anything: "
                    "let `render_state`, `head` and `foot` only show the state, and send what a "
                    "key or the mouse asks for.",
                )
            QApplication.sendPostedEvents()

    def _render(self) -> None:
        if self._index != self.runner.state.index:
            self._let_go()
            self._screen = make_screen(self.view)
            self._screen.setParent(self._holder)
            self._index, self._drawn = self.runner.state.index, 0
            self._once(NO_SCREEN, good=True)
        screen = self._screen
        assert screen is not None
        screen.render_state()
        screen.head()
        screen.foot()
        if self._drawn < DRAWN:
            self._drawn += 1
            for size in SIZES:
                screen.resize(*size)
                screen.grab()

    def _picture(self, screen: Screen | None = None) -> QImage:
        """What is seen between the bars."""
        if (screen := screen or self._screen) is None:
            return QImage()
        if (opened := screen.opened()) is not None:
            opened.resize(screen.size())
        return (opened or screen).grab().toImage()

    def does(self, command: Command, send: Callable[[], None]) -> bool:
        """Carry out what a simulated participant wants, with keys if possible, and observe the
        result; False if the command has to be sent instead. send: sends it."""
        part, own = self.part, type(command) in self.own
        if part is None or part.timed or part.talks or not (own or isinstance(command, ANY_TASK)):
            return False
        key = (part.id, type(command))
        self._tried[key] += 1
        if self._tried[key] > TRIED or not self._leads_on(command):
            return False
        QApplication.processEvents()
        self.window.refresh()  # what comes with time, too
        self.look()
        trial = (self.runner.state.index, self.runner.machine.trial_key(self.runner.state))
        begins, self._trial = trial != self._trial, trial
        before, state = self._picture(), self.runner.state.part_state
        if begins and self._asked:
            asked, first = self._questions.setdefault(part.id, (self._asked, before))
            if asked != self._asked:
                alike = (
                    f"All questions of {part.id!r} look the same, though others were drawn: let "
                    "`render_state` show the question of the state."
                )
                self._once(alike, good=first != before)
        if (begins or self._tried[key] == 1) and self._looked[part.id] < LOOKED:
            self._looked[part.id] += 1
            self._look_closely(part, before)
        if self.failed or not self._press(command, part, begins=begins and own):
            send()
        now, name = self.runner.state, f"{type(command).__name__}"
        if own and (now.index, self.runner.machine.trial_key(now)) == trial and self.part is part:
            self._once(
                f"{name} changes nothing in the state of {part.id!r}: let `apply` (or `after` of a "
                "question) take in the event that it leads to.",
                good=now.part_state != state,
            )
            if now.part_state != state:
                self._once(
                    f"Nothing of {name} is seen in {part.id!r}: the picture before and after it is "
                    "the same. Let the state hold what was answered, and `render_state` show it.",
                    good=self._picture() != before,
                )
        return True

    def _leads_on(self, command: Command) -> bool:
        state, now_ns = self.runner.state, self.runner.clock.now_ns()
        machine = self.runner.machine.tasks[state.index]
        return bool(machine.decide(state.part_state, command, now_ns))

    def _press(self, command: Command, part: PlannedPart, *, begins: bool) -> bool:
        """Send a command by the keys that lead to it; whether it was sent so."""
        window, way, at_once = self.window, None, False
        start = window.focusWidget() or window
        for tabs in range(MOST_TABS):
            place = window.focusWidget() or window
            writes = isinstance(place, QLineEdit | QPlainTextEdit)
            for pressed in (*KEYS, *(() if tabs or writes else LETTERS)):
                with self._hearing() as heard:
                    QTest.keyClick(place, *pressed)
                    place.setFocus()
                if not heard:
                    continue
                window.refresh()  # a screen shows the state, which is as it was
                self._devices(part, heard, "keyboard", "A key")
                at_once = at_once or (not tabs and any(type(each) in self.own for each in heard))
                if any(_same(each, command) for each in heard):
                    way = (tabs, pressed, True)
                    break
                if way is None and any(type(each) is type(command) for each in heard):
                    way = (tabs, pressed, False)
            with self._hearing():
                QTest.keyClick(place, Qt.Key.Key_Tab)
            if window.focusWidget() is start or (way and way[2]):
                break
        start.setFocus()
        with self._hearing():
            QApplication.processEvents()  # what waits for the next frame
        self._once(
            f"No key sends {type(command).__name__} in {part.id!r}, wherever Tab leads to: let a "
            "widget that takes the focus send it, or `take_key` of the screen, and open the right "
            "button (`foot`) once *Next* leads on.",
            good=way is not None,
        )
        if begins and self._at_once.setdefault(part.id, at_once) and not at_once:
            self.notes.add(
                f"In {part.id!r} keys answer the first question at once, and not a later one, "
                'where the focus is nowhere: set `self.wish = "content"` in `render_state` where '
                "another question comes, so that `entrance()` gets the focus."
            )
        if way is None:
            return False
        with self._hearing(muted=False) as heard:
            for pressed in (*((Qt.Key.Key_Tab, Held.NoModifier),) * way[0], way[1]):
                QTest.keyClick(window.focusWidget() or window, *pressed)
            QApplication.processEvents()
        return any(_same(each, command) for each in heard)

    def _devices(
        self, part: PlannedPart, heard: Collection[Command], device: str, what: str
    ) -> None:
        for command in heard:
            told = getattr(command, "device", device)
            if type(command) in self.own and told != device:
                self._note(
                    part,
                    f"{what} on the {{}} sends {type(command).__name__} with the device {told!r}: "
                    f"hand on the device that the widget tells, which is {device!r} here.",
                )

    def _look_closely(self, part: PlannedPart, seen: QImage) -> None:
        """Compare a screen that is made now, press everything on it, and on one that is only
        read."""
        with self._make_screen(self.view) as screen, self._hearing() as heard:
            if self._picture(screen) != seen:
                self._note(
                    part,
                    "The {} shows something else when it is made again in the same state, as after "
                    "a crash or in the moderator's mirror: let `render_state` show all of it from "
                    "the state, and keep nothing in the screen.",
                )
            if (foot := screen.foot()).right and foot.enabled:
                screen.right()
            if heard and not any(map(self._leads_on, heard)):
                self._note(
                    part,
                    f"The button {foot.right!r} on the {{}} can be pressed too early: it sends "
                    f"{_names(heard)}, and nothing follows. Give `enabled=False` in `foot` until "
                    "`decide` answers it, or say what is missing.",
                )
            heard.clear()
            for widget in screen.findChildren(QWidget):
                if widget.isVisibleTo(screen) and widget.isEnabled():
                    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
            self._devices(part, heard, "mouse", "The mouse")
        with self._make_screen(self.view.only_read()) as screen, self._hearing() as heard:
            for widget in (screen, *screen.findChildren(QWidget)):
                QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
                for pressed in (*PLAIN[-3:], ARROWS[0], PLAIN[0]):
                    QTest.keyClick(widget, Qt.Key(pressed))
            for shortcut in screen.findChildren(QShortcut):
                shortcut.activated.emit()
            with suppress(Exception):
                screen.right()
            QApplication.sendPostedEvents()
            if heard:
                self._note(
                    part,
                    f"The {{}} takes input where it is only read ({_names(heard)}): let it ask for "
                    "everything by `send` of its view.",
                )

    @contextmanager
    def _make_screen(self, view: SessionView) -> Iterator[Screen]:
        """A screen made for now, without labapp's own filter of input. What it raises when it is
        pressed is not looked at: a screen need not know what to do with what cannot happen."""
        hook, sys.excepthook = sys.excepthook, lambda *raised: None
        part = view.part
        assert part is not None
        screen = screen_class(self.task_type.screen(part))(view, part)
        centre(screen)
        screen.setParent(self._holder)
        try:
            screen.resize(*SIZES[-1])
            for _ in range(2):
                screen.render_state()
                screen.grab()  # lays it out
                QApplication.sendPostedEvents()
            yield screen
        finally:
            sys.excepthook = hook
            screen.close()
            screen.deleteLater()
            QApplication.sendPostedEvents(screen, QEvent.Type.DeferredDelete)

    def conclude(self) -> None:
        for sentence, good in self._ever.items():
            if not good and not self.failed:
                self.notes.add(sentence)

    def _let_go(self) -> None:
        if self._screen is not None:
            self._screen.close()
            self._screen.deleteLater()
            self._screen = None

    def close(self) -> None:
        self._let_go()
        self.window.close_for_good()
        self.window.deleteLater()
        self._holder.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        sys.excepthook = self._hook


def _names(commands: Collection[Command]) -> str:
    return ", ".join(sorted({type(command).__name__ for command in commands}))


def _same(mine: Any, theirs: Any) -> bool:
    """Whether two commands ask for the same, with whatever device."""
    return type(mine) is type(theirs) and all(
        getattr(mine, field.name) == getattr(theirs, field.name)
        for field in fields(mine)
        if field.name != "device" and not field.name.endswith("_ns")
    )
