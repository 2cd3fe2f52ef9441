"""Every screen of every shipped study, in both languages: where the focus is and where Tab goes,
and what a screen reader is told.

The screens come from a preview, once each: what another study shows alike is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTextBrowser,
    QWidget,
)

from labapp.base.resources import assets
from labapp.record.events.commands import Pause, Resume
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import load
from labapp.ui import fitting
from labapp.ui.participant.screen import QuestionCard
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.preview import Preview, PreviewScreen, open_preview
from labapp.ui.widgets.choice import Option
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.dial import BottomBar, Foot
from tests.ui.hearing import Role, heard
from tests.ui.quiet import SETTLES, restless_widgets

STUDIES = sorted(path.stem for path in (assets() / "studies").glob("*.yaml"))
USED = (QAbstractButton, QAbstractSlider, QLineEdit, QPlainTextEdit)
"""What a hand can use."""
ROLES: dict[type[QWidget], set[QAccessible.Role]] = {
    Option: {Role.RadioButton, Role.CheckBox},
    QAbstractButton: {Role.Button, Role.CheckBox},
    QAbstractSlider: {Role.Slider},
    QLineEdit: {Role.EditableText},
    QPlainTextEdit: {Role.EditableText},
    QTextBrowser: {Role.StaticText},
    Picture: {Role.Graphic},
    QWidget: {Role.Grouping, Role.Client},
}
"""By kind, the first that fits: groups of buttons, and areas that keys scroll, are the last."""
LOOKS = ("part", "task", "instrument", "visualisation", "sign", "labels_editable")


def look_of(place: PreviewScreen, preview: Preview) -> tuple[str, ...]:
    """Screens with the same one look alike."""
    part = place.part
    described = getattr(part, "explained", None)
    kind = getattr(described, "kind", "")
    names = (str(getattr(part, name, "")) for name in LOOKS)
    presentation = preview.opened.loaded.study.presentation
    return (*names, str(kind), str(place.page), presentation)


def screens(
    language: str, studies: Sequence[str], size: tuple[int, int] = (1366, 768)
) -> Iterator[tuple[Preview, PreviewScreen, str]]:
    """Every screen that looks otherwise than those before it, and its study."""
    seen: set[tuple[str, ...]] = set()
    for study in studies:
        with open_preview(load(study, language), None, None) as preview:
            preview.course = Course(preview.runner.machine)  # nobody has to go through it first
            preview.window.resize(*size)
            offer_skip(preview.window.bottom)
            preview.window.show()
            preview.window.activateWindow()
            for place in preview.places:
                if (look := look_of(place, preview)) not in seen:
                    seen.add(look)
                    preview.show(place)
                    yield preview, place, study


def offer_skip(bar: BottomBar) -> None:
    """Let every foot that has nothing on its left offer to leave, as a question does in time."""
    show = bar.show_foot

    def shown(foot: Foot) -> None:
        show(foot if foot.left else replace(foot, left="Skip", leaves=True))

    bar.show_foot = shown  # type: ignore[method-assign]


def leaving(window: ParticipantWindow) -> list[QAbstractButton]:
    """What skips, declines or leaves."""
    left = [window.bottom.left] if window.bottom.foot.leaves else []
    return [*left, *(q.go for q in window.findChildren(QuestionCard) if hasattr(q, "go"))]


def tab(window: ParticipantWindow, *, back: bool = False) -> QWidget | None:
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab)
    return QApplication.focusWidget()


def stops(window: ParticipantWindow) -> list[QWidget]:
    """All that Tab stops at from nowhere on, once round."""
    window.setFocus()
    order: list[QWidget] = []
    while (widget := tab(window)) is not None and widget not in order and widget is not window:
        order.append(widget)
        assert len(order) < 200
    return order


def place_of(window: ParticipantWindow, widget: QWidget) -> QRect:
    """Where it is; an option stands for its choice."""
    widget = widget.choice if isinstance(widget, Option) else widget
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def reads(before: QRect, after: QRect) -> bool:
    """Whether a stop may follow another one: further right in the row, further down, or at the top
    of a column further right. Not back up, and not back to the left in the same row."""
    middle = after.center().y()
    if before.top() <= middle <= before.bottom():
        return after.center().x() >= before.left()
    return middle > before.bottom() or after.center().x() > before.center().x()


def usable(window: ParticipantWindow) -> set[QWidget]:
    """What a hand could use now; of a choice it is the choice."""
    shown = [w for w in window.findChildren(QWidget) if w.isVisible() and w.isEnabled()]
    controls = [w for w in shown if isinstance(w, USED) and not isinstance(w, QScrollBar)]
    return {w.choice if isinstance(w, Option) else w for w in controls}


def focus_faults(preview: Preview, window: ParticipantWindow) -> Iterator[str]:
    """What is wrong with the focus and the order of Tab."""
    if QApplication.focusWidget() in (None, *leaving(window)):
        yield f"it comes up with the focus on {QApplication.focusWidget()}"
    order = stops(window)
    content = [w for w in order if window.stack.isAncestorOf(w)]
    bars = [window.bottom.left, window.bottom.right, window.top.help]
    bars.sort(key=lambda button: button in leaving(window))
    if order != [*content, *(w for w in bars if w.isVisible() and w.isEnabled())]:
        yield f"the bars do not come behind the content, or what leaves not last: {order}"
    missed = usable(window) - {w.choice if isinstance(w, Option) else w for w in order}
    if missed:
        yield f"Tab never comes to {missed}"
    screen = window.screen_shown
    turn = [w.focusProxy() or w for w in screen.turn()] if screen is not None else []
    if [w for w in content if w in turn] != [w for w in turn if w in content]:
        yield "Tab does not go in the turn that the task wants"
    for before, after in pairwise(w for w in content if w not in turn):
        if not reads(place_of(window, before), place_of(window, after)):
            yield f"Tab goes from {before} back to {after}"
    window.setFocus()
    if [tab(window, back=True) for _ in order] != order[::-1]:
        yield "Shift+Tab is not the way back"
    for stop in content[:3]:
        for change in (QWidget.hide, lambda w: w.setEnabled(False)):
            stop.setFocus(Qt.FocusReason.TabFocusReason)
            change(stop)
            if QApplication.focusWidget() in (None, stop, *leaving(window)):
                yield f"where {stop} goes, the focus goes to {QApplication.focusWidget()}"
            stop.show()
            stop.setEnabled(True)
    window.bottom.left.setFocus(Qt.FocusReason.TabFocusReason)
    preview.runner.send(Pause("test"))
    preview.runner.send(Resume("test"))
    QApplication.processEvents()
    if QApplication.focusWidget() in (None, *leaving(window)):
        yield f"after a pause the focus is on {QApplication.focusWidget()}"


def key_faults(window: ParticipantWindow) -> Iterator[str]:
    """Whether Enter or Space leaves or skips something on a screen as it comes up."""
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        pressed: list[str] = []
        for button in (buttons := leaving(window)):
            button.clicked.connect(pressed.append)
        QTest.keyClick(window.windowHandle(), key)
        for button in buttons:
            button.clicked.disconnect(pressed.append)
        if pressed:
            yield f"{key.name} leaves"


def role_faults(window: ParticipantWindow) -> Iterator[str]:
    """What a screen reader is not told, or wrongly."""
    labels = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    yield from (f"a tag is shown: {text}" for text in labels if re.search(r"</?[a-z]+.*?>", text))
    written = " ".join(labels)
    classes = classes_of(window)
    for widget in window.findChildren(QWidget):
        focusable = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if not widget.isVisible() or not (focusable or isinstance(widget, (*USED, Picture))):
            continue
        if isinstance(widget, QScrollBar):
            continue
        told = heard(widget)
        fits = next(roles for kind, roles in ROLES.items() if isinstance(widget, kind))
        if not told.name.strip():
            yield f"{widget} has no name"
        if told.role not in fits:
            yield f"{widget} is told as {told.role.name}"
        if isinstance(widget, Option) and not told.group.strip():
            yield f"{widget} has no question"
        if isinstance(widget, Picture):
            said = f"{told.name} {told.description}"
            yield from (
                f"{widget} gives away {name}: {said}"
                for name in classes
                if name in said and name not in written
            )


def classes_of(window: ParticipantWindow) -> set[str]:
    """The names of what the pictures of a part may show."""
    part = window.session.part
    explained = getattr(part, "explained", None)
    names = explained.names if explained is not None else getattr(part, "names", ())
    values = names.values() if hasattr(names, "values") else names
    return {str(name) for name in values}


def faults_of(language: str, studies: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is wrong, and the studies that show what none before them does."""
    faults, needed = [], []
    for preview, place, study in screens(language, studies):
        needed.append(study)
        window = preview.window
        first = QApplication.focusWidget()
        found = [*role_faults(window), *focus_faults(preview, window)]
        (first or window).setFocus()
        found += key_faults(window)
        found += [f"{name} is laid out without an end" for name in restless_widgets()]
        faults += [f"{study}, {language}, {place.file}: {fault}" for fault in found]
    return faults, list(dict.fromkeys(needed))


@cache
def in_english() -> tuple[list[str], list[str]]:
    return faults_of("en", STUDIES)


def test_the_focus_is_right_and_everything_is_told_on_a_studys_screens(qapp: QApplication) -> None:
    faults, _ = faults_of("en", ["quickstart"])
    assert not faults, "\n".join(faults)


def test_the_focus_is_right_and_everything_is_told_on_every_screen(qapp: QApplication) -> None:
    faults, needed = in_english()
    assert not faults, "\n".join(faults)
    assert len(needed) > 8


def test_it_is_so_in_german(qapp: QApplication) -> None:
    """In the studies that show what none before them does: the others show the same screens."""
    _, needed = in_english()
    faults, _ = faults_of("de", needed)
    assert not faults, "\n".join(faults)


SCROLLING = ("quickstart", "bagnet-distinction", "protopnet-agreement", "prototree-distinction")
"""Studies with a screen of each kind that scrolls in a small window."""


def test_what_is_to_be_read_begins_at_its_top(qapp: QApplication) -> None:
    """In the smallest window, where texts scroll."""
    scrolling, faults = 0, []
    for preview, place, study in screens("en", SCROLLING, fitting.PARTICIPANT):
        for _ in range(SETTLES):
            QApplication.processEvents()
        for area in preview.window.findChildren(QAbstractScrollArea):
            bar = area.verticalScrollBar()
            if area.isVisible() and bar.maximum() > 0:
                scrolling += 1
                if bar.value():
                    faults.append(f"{study}, {place.file}: {area} is at {bar.value()}")
    assert not faults, "\n".join(faults)
    assert scrolling > 8
