"""Keys of the replay: the shipped file, one's own, what is refused, and which key is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from labapp.base import resources
from labapp.base.errors import SetupError
from labapp.ui.replay import transport
from labapp.ui.replay.transport import ACTIONS, SECTIONS, parse_stroke, read_keys, stroke_of

KEY, HELD = Qt.Key, Qt.KeyboardModifier
NONE = HELD.NoModifier


def own(text: str) -> Path:
    """Write the user's own keys."""
    path = resources.settings_root() / transport.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_every_action_has_a_key_that_nothing_else_has() -> None:
    shipped = read_keys()
    assert shipped.problem is None
    for section in SECTIONS:
        assert set(shipped.strokes[section]) == set(ACTIONS[section])
    for section in ("replay", "code"):
        for action, strokes in shipped.strokes[section].items():
            assert strokes, action
            for stroke in strokes:
                assert not stroke.belongs_to_codes
                assert shipped.action(stroke, coding=section == "code") == action


def test_no_shipped_key_is_one_of_the_numeric_pad_or_a_function_key_alone() -> None:
    for strokes in read_keys().strokes["replay"].values():
        plain = [s for s in strokes if not KEY.Key_F1 <= s.key <= KEY.Key_F35]
        assert plain
        assert not any(s.modifiers & HELD.KeypadModifier.value for s in strokes)


@pytest.mark.parametrize(
    ("key", "held", "text", "action"),
    [
        (KEY.Key_Space, NONE, " ", "play"),
        (KEY.Key_Space, HELD.ShiftModifier, " ", "play_from_here"),
        (KEY.Key_Less, HELD.ShiftModifier, "<", "back_a_little"),
        (KEY.Key_Semicolon, HELD.ShiftModifier, ";", "back_a_little"),
        (KEY.Key_Question, HELD.ShiftModifier, "?", "keys"),
        (KEY.Key_1, HELD.ControlModifier | HELD.ShiftModifier, "1", "usual_speed"),
        (KEY.Key_Plus, NONE, "+", "faster"),
        (KEY.Key_Plus, HELD.KeypadModifier, "+", "faster"),
        (KEY.Key_Enter, HELD.KeypadModifier, "\r", "repeat_unit"),
        (KEY.Key_Equal, HELD.ShiftModifier, "=", "faster"),
        (KEY.Key_R, HELD.ControlModifier | HELD.ShiftModifier, "\x12", "repeat_slowly"),
    ],
)
def test_a_sign_is_meant_wherever_it_lies(
    key: Qt.Key, held: Qt.KeyboardModifier, text: str, action: str
) -> None:
    assert read_keys().action(stroke_of(key, held, text)) == action


def test_alt_gr_makes_a_sign() -> None:
    both = HELD.ControlModifier | HELD.AltModifier
    assert stroke_of(KEY.Key_BracketLeft, both, "[") == parse_stroke("[")


def test_while_a_text_is_typed_only_keys_that_write_nothing_hold() -> None:
    shipped = read_keys()
    for text in ("Space", ",", "?", "Left", "Ctrl+Left", "Return", "Home"):
        assert shipped.action(parse_stroke(text), typing=True) is None, text
    for text in ("Ctrl+R", "Ctrl+Space", "Escape", "Alt+N"):
        assert shipped.action(parse_stroke(text), typing=True) is not None, text


def test_an_own_file_changes_what_it_names() -> None:
    own("replay:\n  play: [Ctrl+P]\n")
    changed = read_keys()
    assert changed.problem is None
    assert changed.action(parse_stroke("Ctrl+P")) == "play"
    assert changed.action(parse_stroke("Space")) is None
    assert changed.action(parse_stroke(",")) == "back"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("replay:\n  plai: [Space]\n", 2, "unknown action 'plai' (did you mean 'play'?)"),
        ("repaly: {}\n", 1, "unknown section 'repaly' (did you mean 'replay'?)"),
        ("replay:\n  loop: [Ctrl+G]\n", 2, "Ctrl+G is also the key of replay.go_to"),
        ("replay:\n  play: [Space]\n  loop: [Space]\n", 3, "Space is also the key of replay.play"),
        ("replay:\n  play: [Spaec]\n", 2, "found 'Spaec'; allowed: a key such as Space"),
        ("replay:\n  play: ['Shift+,']\n", 2, "the sign itself that Shift makes"),
        ("replay:\n  play: [p]\n", 2, "which belongs to codes"),
        ("replay:\n  play: ['7']\n", 2, "which belongs to codes"),
        ("replay:\n  play: Space\n", 2, "a list of keys"),
        ("replay:\n  play: [1]\n", 2, "a list of keys"),
        ("replay: [Space]\n", 1, "allowed: action: [keys]"),
        ("replay:\n  play: [Space\n", 2, "YAML"),
        ("- play\n", 0, "expected 'key: value' lines"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_reason(text: str, line: int, why: str) -> None:
    path = own(text)
    read = read_keys()
    assert read.action(parse_stroke("Space")) == "play"  # the usual keys hold
    assert isinstance(read.problem, SetupError)
    assert str(path) in read.problem.what
    assert why in read.problem.what
    if line:
        assert f"line {line}" in read.problem.what


def test_a_file_that_cannot_be_read_is_told() -> None:
    (resources.settings_root() / transport.FILE).mkdir(parents=True)
    assert read_keys().problem is not None


@given(st.text(max_size=12))
def test_no_text_is_worse_than_refused(text: str) -> None:
    try:
        stroke = parse_stroke(text)
    except ValueError:
        return
    assert isinstance(stroke.text(), str)
