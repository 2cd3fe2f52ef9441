"""The bar below the timeline: play, time, speed, going back on play, loop, and the keys.

Also the keys of the replay window: the shipped ones, those of the user's own file, and their check.
A key is written as Qt writes it (`Ctrl+Shift+R`). Signs are matched by what they are, not by where
they lie: on one keyboard `<` is Shift and the comma, on another a key of its own.

Also the bar above the replay, which says whose session it is and, in a few words, what is to be
known of it, and the right of the window: the text, and panels beside it, or as tabs below it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QKeyCombination, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QSplitter, QStackedWidget, QWidget

from labapp.base import resources
from labapp.base.documents import Located, Problem, make_document_error, parse_yaml
from labapp.base.errors import SetupError, UsageError
from labapp.base.reading import files
from labapp.coding.annotations.model import time_ns
from labapp.ui import theme, timers
from labapp.ui.language import N_, N_all, number, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.wording import format_time
from labapp.ui.widgets.controls import Button, Measured

NOTICE_MS, READ_MS = 4000, 70
"""So long a sentence is shown at least, and for each of its characters."""
WHOLE_WIDTH = 460
"""Of a sentence that has no room in its line, in logical pixels."""
TIME_WIDTH = 112
WIDEST_TIME = "0:00:00.0"
LONGEST = 100
"""Characters of a time, far more than any has."""


class Transport(QFrame):
    """A passive view: told through its setters, telling through its signals.

    Signals
    -------
    play_pressed(), loop_pressed(), clip_pressed(), keys_pressed() : the buttons.
    speed_pressed(), back_pressed() : the chips: the next speed; the next number of seconds.
    time_entered(int) : a session time was typed, in nanoseconds.
    time_left() : no time is typed any more.
    """

    play_pressed = Signal()
    speed_pressed = Signal()
    back_pressed = Signal()
    loop_pressed = Signal()
    clip_pressed = Signal()
    keys_pressed = Signal()
    time_entered = Signal(object)
    time_left = Signal()

    def __init__(self, keys: KeyMap, end_ns: int) -> None:
        super().__init__()
        self._keys = keys
        self._hint_text = ""
        self.setProperty("role", "foot")
        self.play = Button("", pressed=self.play_pressed)
        self.play.setAccessibleName(tr("key.play"))
        self.time = bits.label("", "clock")
        self.time.setCursor(Qt.CursorShape.PointingHandCursor)
        self.time.mousePressEvent = lambda event: self.ask_time()  # type: ignore[method-assign]
        self.field = TimeField()
        bits.limit(self.field, LONGEST)
        self.field.setAccessibleName(tr("replay.go_to_hint"))
        self.field.setPlaceholderText("12:34.5")
        self.times = QStackedWidget()
        self.times.addWidget(self.time)
        self.times.addWidget(self.field)
        self.total = bits.label(role="secondary")
        self.speed, self.back, self.loop, self.clip = (_chip() for _ in range(4))
        self.clip.setText(tr("find.clip_ask"))
        self.clip.clicked.connect(self.clip_pressed)
        self.loop.setCheckable(True)
        self.hint = bits.ElidedLabel(role="secondary")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.all_keys = _chip()
        self.whole = QFrame(self)
        self.whole.setProperty("role", "band")
        self.whole.setProperty("tone", "warn")
        bits.column(self.whole, 0, theme.SPACE_S).addWidget(bits.label(wrap=True))
        self.whole.hide()
        row = self._row = bits.row(self, theme.SPACE_S, (theme.SPACE_L, theme.SPACE_S) * 2)
        bits.fill(row, self.play, self.times, self.total, self.speed, self.back, self.loop)
        bits.fill(row, self.clip)
        bits.fill(row, (self.hint, 1), self.all_keys)
        Measured(self.time, self._fit_time)
        self.total.setText(tr("replay.of_time", time=format_time(end_ns, 0)))
        self.all_keys.setText(tr("replay.all_keys_button", key=keys.key_text("keys")))
        self._notice = timers.once(self, self._show_hint)
        self.speed.clicked.connect(self.speed_pressed)
        self.back.clicked.connect(self.back_pressed)
        self.loop.clicked.connect(self.loop_pressed)
        self.all_keys.clicked.connect(self.keys_pressed)
        self.field.returnPressed.connect(self._go_to_entered)
        tips = {
            self.time: ("go_to",),
            self.speed: ("slower", "faster"),
            self.back: ("less_back", "more_back"),
            self.loop: ("loop",),
            self.clip: ("clip",),
        }
        for widget, actions in tips.items():
            widget.setToolTip("  ".join(map(keys.key_text, actions)))
        self.set_playing(False)
        self.set_time(0)
        self.set_speed(1.0)
        self.set_loop(False)

    # --- what is shown ------------------------------------------------------------------------

    def set_low(self, low: bool) -> None:
        """Whether it is as low as can be."""
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._row.setContentsMargins(theme.SPACE_L, edge, theme.SPACE_L, edge)

    def set_playing(self, playing: bool) -> None:
        sign = "❚❚" if playing else "▶"
        self.play.setText(f"{sign}  {self._keys.key_text('play')}")

    def set_time(self, t_ns: int) -> None:
        bits.set_text(self.time, format_time(t_ns))

    def set_speed(self, speed: float) -> None:
        """Show how many times as quick it plays."""
        self.speed.setText(tr("replay.speed_value", speed=number(f"{speed:g}")))
        self.speed.setAccessibleName(tr("replay.speed"))

    def set_back(self, seconds: float) -> None:
        """Show how far resuming goes back."""
        self.back.setText(tr("replay.back_on_play", n=number(f"{seconds:g}")))

    def set_loop(self, on: bool) -> None:
        self.loop.setText(tr("replay.looping") if on else tr("replay.loop"))
        self.loop.setChecked(on)

    def set_clipping(self, on: bool) -> None:
        """Whether a clip is being written: then the button stops it."""
        self.clip.setText(tr("button.stop") if on else tr("find.clip_ask"))

    def _fit_time(self) -> None:
        widest = self.time.fontMetrics().horizontalAdvance(WIDEST_TIME)
        self.times.setFixedWidth(max(TIME_WIDTH, widest))

    def set_hint(self, text: str) -> None:
        """Say what the most used keys are."""
        self._hint_text = text
        if not self._notice.isActive():
            self._show_hint()

    def tell(self, text: str) -> None:
        """Say a sentence for some seconds: in the line of the hint, or above it where it is
        longer."""
        bits.set_property(self.hint, "tone", "warn")
        self.hint.set_full(text)
        self._notice.start(max(NOTICE_MS, READ_MS * len(text)))
        needed = self.hint.fontMetrics().horizontalAdvance(text)
        self.whole.setVisible(needed > self.hint.contentsRect().width() and self.isVisible())
        if not self.whole.isVisible():
            return
        window, words = self.window(), self.whole.findChild(QLabel)
        assert words is not None
        self.whole.setParent(window)
        words.setText(text)
        width = min(WHOLE_WIDTH, window.width() - 2 * theme.SPACE_L)
        self.whole.setFixedSize(width, self.whole.heightForWidth(width))
        above = self.mapTo(window, self.rect().topLeft()).y() - theme.SPACE_S
        left = window.width() - width - theme.SPACE_L
        self.whole.move(left, above - self.whole.height())
        self.whole.show()
        self.whole.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.whole.hide()

    def _show_hint(self) -> None:
        self.whole.hide()
        bits.set_property(self.hint, "tone", "")
        self.hint.set_full(self._hint_text)

    # --- going to a time ----------------------------------------------------------------------

    def ask_time(self) -> None:
        """Let the user type a time in place of the displayed one."""
        self.field.setText(self.time.text())
        self.times.setCurrentWidget(self.field)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def asking(self) -> bool:
        """Whether a time is being typed."""
        return self.times.currentWidget() is self.field

    def leave_time(self) -> None:
        """Type no time any more."""
        if self.asking:
            self.times.setCurrentWidget(self.time)
            self.time_left.emit()

    def _go_to_entered(self) -> None:
        try:
            t_ns = time_ns(self.field.text())
        except UsageError:
            self.tell(tr("replay.time_format"))
            self.field.selectAll()
            return
        self.leave_time()
        self.time_entered.emit(t_ns)

    def rest(self) -> None:
        """Stop what waits."""
        self._notice.stop()


class TimeField(QLineEdit):
    """Where a time is typed: Enter is its own, and does nothing else behind it."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()


def _chip() -> Button:
    chip = Button("", "pill")
    chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return chip


FILE = "keys.yaml"
LARGEST = 64 * 1024
"""Bytes of a file of keys."""

SECTIONS = ("replay", "code", "text")
"""When keys hold: at any time, in coding, while a text is typed."""

ACTIONS: dict[str, dict[str, str]] = {
    "replay": N_all(
        "key",
        *("play", "play_from_here", "backwards", "back", "forward", "back_a_little"),
        *("forward_a_little", "slower", "faster", "usual_speed", "previous_unit"),
        *("next_unit", "repeat_unit", "repeat_slowly", "loop", "go_to", "to_begin"),
        *("to_end", "next_trial", "previous_trial", "next_note", "previous_note"),
        *("next_flag", "previous_flag", "next_silence", "previous_silence"),
        *("next_dial", "previous_dial", "video", "clip", "zoom_in", "zoom_out"),
        *("less_back", "more_back", "keys", "leave", "close"),
    ),
    "code": {
        **N_all(
            "key",
            *("tier_up", "tier_down", "take_last", "undo", "redo", "find_code", "find"),
            *("edit_text", "memo", "memo_code", "memo_session", "new_code", "codebook"),
            *("recode", "show_old", "next_disagreement"),
        ),
        "exchange": N_("exchange.title"),
        **N_all(
            "key",
            *("done", "advance", "hold", "segmenting", "split", "merge", "begin_here"),
            *("end_here", "begin_earlier", "begin_later", "end_earlier", "end_later", "speaker"),
            *("freeze", "redact", "accept_change", "decline_change", "less_reaction"),
            "more_reaction",
        ),
    },
    "text": {},
}
"""What can be done by a key: by section and the action's name in the file, in words."""

REPEATING = frozenset(
    {
        *("back", "forward", "back_a_little", "forward_a_little", "slower", "faster"),
        *("previous_unit", "next_unit", "zoom_in", "zoom_out"),
    }
)
"""Actions that go on while their key is held down."""

_MODIFIERS = Qt.KeyboardModifier
_COMMAND = _MODIFIERS.ControlModifier | _MODIFIERS.AltModifier
_NEVER_TYPED = _MODIFIERS.KeypadModifier | _MODIFIERS.GroupSwitchModifier
_LAST_SIGN = 0x10FFFF
"""Keys up to here are characters, those above are Qt's names of others."""

_SIGNS = {
    Qt.Key.Key_Left: "←",
    Qt.Key.Key_Right: "→",
    Qt.Key.Key_Up: "↑",
    Qt.Key.Key_Down: "↓",
    Qt.Key.Key_Return: "⏎",
    Qt.Key.Key_Minus: "−",
}
"""Keys that are shown by a sign, as on the keyboard."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key with its modifiers, in the form in which keys are compared.

    Attributes
    ----------
    key : of `Qt.Key`.
    modifiers : of `Qt.KeyboardModifier`; Shift is left out where it only makes the sign.
    """

    key: int
    modifiers: int

    @property
    def typed(self) -> bool:
        """Whether a text field would write a character."""
        return self.key <= _LAST_SIGN and not self.modifiers & _COMMAND.value

    @property
    def belongs_to_codes(self) -> bool:
        """Whether it is a letter or a digit alone."""
        return self.typed and chr(self.key).isalnum()

    def text(self) -> str:
        """As people read it on this system."""
        combination = QKeyCombination(_MODIFIERS(self.modifiers), Qt.Key(self.key))
        text = QKeySequence(combination).toString(QKeySequence.SequenceFormat.NativeText)
        sign = _SIGNS.get(Qt.Key(self.key))
        if sign is None:
            return text
        name = QKeySequence(self.key).toString(QKeySequence.SequenceFormat.NativeText)
        return text.removesuffix(name) + sign


def stroke_of(key: int, modifiers: Qt.KeyboardModifier, text: str = "") -> Stroke:
    """A pressed key in the form in which keys are compared; text: what it would write, if known."""
    left = modifiers & ~_NEVER_TYPED
    if key == Qt.Key.Key_Enter:
        key = Qt.Key.Key_Return
    if key == Qt.Key.Key_Backtab:
        key, left = Qt.Key.Key_Tab, left | _MODIFIERS.ShiftModifier
    # Digits are signs, too: on some keyboards they need Shift.
    sign = key <= _LAST_SIGN and not chr(key).isalpha() and key != Qt.Key.Key_Space
    if sign:
        left &= ~_MODIFIERS.ShiftModifier
        if left & _COMMAND == _COMMAND and text.isprintable() and text:
            left &= ~_COMMAND  # AltGr, which Windows calls both
    return Stroke(int(key), left.value)


def parse_stroke(text: str) -> Stroke:
    """A key as it is written in a file. Raises ValueError, which says what is allowed."""
    sequence = QKeySequence.fromString(text, QKeySequence.SequenceFormat.PortableText)
    if sequence.count() != 1 or sequence[0].key() == Qt.Key.Key_unknown:  # type: ignore[index]
        raise ValueError("a key such as Space, Left, Ctrl+R or a symbol")
    combination = sequence[0]  # type: ignore[index]
    key, modifiers = combination.key(), combination.keyboardModifiers()
    stroke = stroke_of(key, modifiers)
    if modifiers & _MODIFIERS.ShiftModifier and not stroke.modifiers & (
        _MODIFIERS.ShiftModifier.value
    ):
        raise ValueError("the symbol that this key produces with Shift, such as < or ?")
    return stroke


@dataclass(frozen=True)
class KeyMap:
    """Which key does what. strokes: by section and action; problem: the error for which the
    user's own file is not used."""

    strokes: Mapping[str, Mapping[str, tuple[Stroke, ...]]]
    problem: SetupError | None = None
    _by_stroke: Mapping[str, Mapping[Stroke, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_stroke = {
            section: {stroke: action for action, keys in actions.items() for stroke in keys}
            for section, actions in self.strokes.items()
        }
        object.__setattr__(self, "_by_stroke", by_stroke)

    def action(self, stroke: Stroke, *, coding: bool = False, typing: bool = False) -> str | None:
        """The name of what a key does; None for nothing.

        typing: whether a text is typed: keys that write something there do nothing else.
        """
        sections = ["text"] if typing else []
        sections += ["code", "replay"] if coding else ["replay"]
        writes = stroke.typed or stroke.key in _EDITING
        for section in sections:
            if typing and section != "text" and writes:
                continue
            if action := self._by_stroke[section].get(stroke):
                return action
        return None

    def keys(self, action: str) -> tuple[Stroke, ...]:
        return next((actions[action] for actions in self.strokes.values() if action in actions), ())

    def key_text(self, action: str) -> str:
        """The first key of an action as people read it; empty if it has none."""
        return next((stroke.text() for stroke in self.keys(action)), "")


_KEY = Qt.Key
_EDITING = frozenset(
    {
        *(_KEY.Key_Left, _KEY.Key_Right, _KEY.Key_Up, _KEY.Key_Down, _KEY.Key_Home, _KEY.Key_End),
        *(_KEY.Key_Backspace, _KEY.Key_Delete, _KEY.Key_Return, _KEY.Key_Tab),
        *(_KEY.Key_PageUp, _KEY.Key_PageDown),
    }
)
"""Keys that move the caret, change text or leave its field, whatever is held with them."""


def read_keys() -> KeyMap:
    """The shipped keys with those of the user's own file; without these where they are wrong.
    Raises SetupError: the shipped file cannot be used."""
    shipped = resources.assets() / "replay" / FILE
    usual = _read(shipped, {})
    own = resources.settings_root() / FILE
    if not files.exists(own):
        return KeyMap(usual)
    try:
        return KeyMap(_read(own, usual))
    except SetupError as error:
        return KeyMap(usual, error)


Strokes = dict[str, dict[str, tuple[Stroke, ...]]]


def _read(path: Path, usual: Mapping[str, Mapping[str, tuple[Stroke, ...]]]) -> Strokes:
    """The keys of a file, with the usual ones of what it does not name."""
    try:
        content = files.content(path, LARGEST)
    except (OSError, ValueError) as error:
        raise SetupError(
            f"The keys in {path} cannot be read ({error}).",
            safe="Sessions and annotations are not affected; the usual keys apply.",
            todo="Correct the file, or remove it.",
        ) from error
    located = parse_yaml(path, content, SetupError)
    problems: list[Problem] = []
    result: Strokes = {section: dict(usual.get(section, {})) for section in SECTIONS}
    for section, action, strokes in _actions(located, problems):
        result[section][action] = strokes
    if not problems:
        problems += _clashes(located, result)
    if problems:
        raise make_document_error(path, problems, "file of keys", SetupError)
    return result


def _actions(
    located: Located, problems: list[Problem]
) -> Iterator[tuple[str, str, tuple[Stroke, ...]]]:
    """What a file gives keys to; what is wrong is added to the problems."""
    for section, actions in located.value.items():
        at = (section,)
        if section not in SECTIONS:
            problems.append(_unknown(located, at, SECTIONS))
        elif not isinstance(actions, dict):
            problems.append(_problem(located, at, "found no actions; allowed: action: [keys]"))
        else:
            for action, keys in actions.items():
                if action not in ACTIONS[section]:
                    problems.append(_unknown(located, (section, action), ACTIONS[section]))
                else:
                    strokes = _strokes(located, section, action, keys, problems)
                    yield section, action, strokes


def _strokes(
    located: Located, section: str, action: str, keys: object, problems: list[Problem]
) -> tuple[Stroke, ...]:
    at = (section, action)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        problems.append(_problem(located, at, "allowed: a list of keys, each a text in quotes"))
        return ()
    result: list[Stroke] = []
    for place, key in enumerate(keys):
        try:
            stroke = parse_stroke(key)
        except ValueError as error:
            what = f"found {key!r}; allowed: {error}"
            problems.append(_problem(located, (*at, place), what))
            continue
        if stroke.belongs_to_codes or (section == "text" and stroke.typed):
            owner = "the text that is typed" if section == "text" else "codes"
            what = (
                f"found {key!r}, which belongs to {owner}; allowed: symbols, or keys with "
                "Ctrl or Alt"
            )
            problems.append(_problem(located, (*at, place), what))
            continue
        result.append(stroke)
    return tuple(result)


def _clashes(located: Located, strokes: Strokes) -> Iterator[Problem]:
    """Keys that do two things at the same time."""
    for section in SECTIONS:
        together = ("replay", section) if section == "code" else (section,)
        owners: dict[Stroke, tuple[str, str]] = {}
        for part in together:
            for action, keys in strokes[part].items():
                for stroke in keys:
                    other = owners.setdefault(stroke, (part, action))
                    if other == (part, action):
                        continue
                    # Of the two, the line in this file, if only one of them stands there.
                    at = next((o for o in ((part, action), other) if o in located.lines), other)
                    named = other if at == (part, action) else (part, action)
                    what = f"{stroke.text()} is also the key of {'.'.join(named)}"
                    yield _problem(located, at, f"{what}; give one of them a different key")


def _problem(located: Located, at: tuple[str | int, ...], what: str) -> Problem:
    return Problem(located.lines.get(at, 1), located.key(at), what)


def _unknown(located: Located, at: tuple[str, ...], allowed: object) -> Problem:
    names = sorted(allowed)  # type: ignore[call-overload]
    near = difflib.get_close_matches(str(at[-1]), names, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    kind = "section" if len(at) == 1 else "action"
    return _problem(located, at, f"unknown {kind} {at[-1]!r}{hint}; allowed: {', '.join(names)}")


MOST_CHIP_PX = 220
CHIP_EDGE_PX = 6
TRYING_MS = 2500
"""So long it takes at most until a loudspeaker is open, or is not."""


class Header(QFrame):
    """The title, chips, and on the right what is added to it."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.title = bits.label(title, "brand")
        self._chips: list[Chip] = []
        self._row = bits.row(self, theme.SPACE_S, (theme.SPACE_L, theme.SPACE_S) * 2)
        bits.fill(self._row, self.title, 1)
        self.set_low(False)

    @property
    def chips(self) -> list[str]:
        return [chip.full() for chip in self._chips]

    def set_chips(self, texts: Sequence[str]) -> None:
        """Show these chips instead of those that are there."""
        if list(texts) == self.chips:
            return
        for chip in self._chips:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [Chip(text) for text in texts]
        for place, chip in enumerate(self._chips, start=1):
            self._row.insertWidget(place, chip)

    def set_low(self, low: bool) -> None:
        """Whether it is as low as can be."""
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._row.setContentsMargins(theme.SPACE_L, edge, theme.SPACE_L, edge)
        self.setMinimumHeight(theme.TARGET_HEIGHT + 2 * edge)

    def add(self, widget: QWidget) -> None:
        """Put something on the right."""
        self._row.addWidget(widget)


class Chip(bits.ElidedLabel):
    """A few words in a frame; shortened where there is no room."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "pill")
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Preferred)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        wide = self.fontMetrics().horizontalAdvance(self.full()) + 2 * theme.SPACE_S + CHIP_EDGE_PX
        return QSize(min(wide, MOST_CHIP_PX), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.SPACE_XXL, super().minimumSizeHint().height())


def without_sound(why: str) -> str:
    """What is told where no loudspeaker is open, in the language that is spoken."""
    safe = tr("replay.sound_safe")
    todo = tr("replay.sound_todo")
    return f"{why} {safe} {todo}"


class Notices(QFrame):
    """Sentences on what cannot be shown, until they are put away; in a low window one line of them,
    until more is asked for.

    Signals
    -------
    again_pressed() : what went wrong is to be tried again.
    """

    again_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._low = False
        self.setProperty("role", "band")
        self.setProperty("tone", "warn")
        self.text = bits.label(role="secondary", wrap=True)
        self.line = bits.ElidedLabel(role="secondary")
        self.again = Button(tr("replay.try_again"), "compact", pressed=self._try)
        self.again.hide()
        self._trying = timers.once(self, lambda: self.again.setEnabled(True), TRYING_MS)
        self.more = Button(tr("replay.more"), "compact")
        self.more.setCheckable(True)
        self.away = Button(tr("button.hide"), "compact", pressed=self.hide)
        self._row = bits.row(self, theme.SPACE_M)
        bits.fill(self._row, (self.text, 1), (self.line, 1), self.again, self.more, self.away)
        self.more.toggled.connect(self._fold)
        self._fold()
        self.hide()

    def set_sentences(self, sentences: Sequence[str], *, can_try: bool = False) -> None:
        """Show these; nothing if there are none. can_try: whether something of it can be tried
        again."""
        self.again.setVisible(can_try)
        bits.set_text(self.text, " ".join(dict.fromkeys(sentences)))
        self.line.set_full(self.text.text())
        self.setVisible(bool(sentences))

    def set_low(self, low: bool) -> None:
        """Whether there is room for one line alone."""
        self._low = low
        self._fold()

    def _try(self) -> None:
        self.again.setEnabled(False)  # until it is known what came of it
        self._trying.start()
        self.again_pressed.emit()

    def _fold(self) -> None:
        folded = self._low and not self.more.isChecked()
        self.line.setVisible(folded)
        self.text.setVisible(not folded)
        self.more.setVisible(self._low)
        self.more.setText(tr("replay.less") if self.more.isChecked() else tr("replay.more"))
        edge = 0 if self._low else theme.SPACE_XS
        self._row.setContentsMargins(theme.SPACE_M, edge, theme.SPACE_M if edge else 0, edge)


PANEL_WIDTH = 236
"""Of the column of panels, in logical pixels."""
LEAST_TEXT = 260


class TransportCard(QFrame):
    """A card with a heading on the left and a remark on the right of it."""

    def __init__(self, title: str, body: QWidget) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.heading = bits.label(title.upper(), "section")
        self.remark = bits.ElidedLabel(role="section")
        self.remark.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.body = body
        layout = self._layout = bits.column(self, theme.SPACE_S)
        head = bits.fill(bits.row(None, theme.SPACE_S), self.heading, (self.remark, 1))
        bits.fill(layout, head, (body, 1))
        self.set_low(False)

    def set_low(self, low: bool) -> None:
        """Whether there is little room: then it has no heading, and less round what it holds."""
        self.heading.setVisible(not low)
        self.remark.setVisible(not low)
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._layout.setContentsMargins(theme.SPACE_M, edge, theme.SPACE_M, edge)

    def set_remark(self, text: str) -> None:
        """Say something on the right of the heading."""
        self.remark.set_full(text.upper())

    def replace(self, title: str, body: QWidget) -> QWidget:
        """Hold something else; returns what it held."""
        before, self.body = self.body, body
        self._layout.replaceWidget(before, body)
        before.hide()
        before.setParent(None)
        self.heading.setText(title.upper())
        return before


class Side(QWidget):
    """The text, and panels: beside it where there is room, else as tabs below it."""

    def __init__(self, text: QWidget) -> None:
        super().__init__()
        self.text = TransportCard(tr("coding.said"), text)
        self._panels: list[tuple[str, QWidget]] = []
        self._cards: list[TransportCard] = []
        self.wide: bool | None = None
        """Whether the panels are next to the text."""
        self._tabs: list[Button] = []
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.text)
        self._below = QFrame()
        self._below.setProperty("role", "card")
        below = bits.column(self._below, theme.SPACE_XS, (theme.SPACE_M, 0) + (theme.SPACE_M,) * 2)
        self._tab_row = bits.row(None, theme.SPACE_S)
        self._stack = QStackedWidget()
        bits.fill(below, self._tab_row, (self._stack, 1))
        self.split.addWidget(self._below)
        self._beside = QWidget()
        self._column = bits.column(self._beside, theme.SPACE_M)
        self._beside.setFixedWidth(PANEL_WIDTH)
        bits.fill(bits.row(self, theme.SPACE_M), (self.split, 1), self._beside)
        self.split.setMinimumWidth(LEAST_TEXT)
        self.set_wide(True)

    @property
    def panels(self) -> list[QWidget]:
        return [widget for _, widget in self._panels]

    def set_text(self, title: str, widget: QWidget) -> QWidget:
        """Show something else in the place of the text; returns what was there."""
        return self.text.replace(title, widget)

    def set_panels(self, panels: list[tuple[str, QWidget]]) -> None:
        """Show these panels, each with its title, instead of those that are there.

        Those that are not shown any more belong to the caller.
        """
        self._clear()
        for _, widget in self._panels:
            if widget not in [other for _, other in panels]:
                widget.setParent(None)
        self._panels = panels
        self._fill()

    def set_wide(self, wide: bool) -> None:
        """Whether there is room for the panels beside the text."""
        if wide != self.wide:
            self._clear()
            self.wide = wide
            self._fill()

    def show_panel(self, widget: QWidget) -> None:
        """Turn to a panel where they are tabs."""
        if not self.wide and widget in self.panels:
            self._tabs[self.panels.index(widget)].click()

    def _clear(self) -> None:
        """Take the panels out of wherever they are; they go on living."""
        for _, widget in self._panels:
            widget.hide()
            widget.setParent(self)
        for card in self._cards:
            card.setParent(None)
            card.deleteLater()
        for tab in self._tabs:
            self._tab_row.removeWidget(tab)
            tab.deleteLater()
        while self._tab_row.count():
            self._tab_row.takeAt(0)
        self._cards, self._tabs = [], []

    def _fill(self) -> None:
        self._beside.setVisible(bool(self.wide and self._panels))
        self._below.setVisible(bool(not self.wide and self._panels))
        for title, widget in self._panels:
            if self.wide:
                card = TransportCard(title, widget)
                self._cards.append(card)
                self._column.addWidget(card, 1)
                widget.show()
            else:
                tab = Button(title, "page-tab")
                tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                self._tabs.append(tab)
                self._tab_row.addWidget(tab)
                self._stack.addWidget(widget)
        if self._tabs:
            self._tab_row.addStretch(1)
            bits.turn_pages(self._tabs, self._stack.setCurrentIndex)
            self._stack.setCurrentIndex(0)
            self._panels[0][1].show()  # the stack leaves it as it was hidden
