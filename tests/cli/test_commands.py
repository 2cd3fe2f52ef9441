"""What holds for all commands: exit codes, JSON, where they write, and their documentation."""

from __future__ import annotations

import errno
import json
import re
import sys
import webbrowser
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.console import say_json
from labapp.base.errors import (
    DONE,
    INTERRUPTED,
    NOT_DONE,
    REFUSED,
    WRONG_USAGE,
    LabappError,
    RecordError,
    UsageError,
)
from labapp.cli import completion
from labapp.cli.commands import describe
from labapp.cli.main import OUTPUTS, app, command_tree
from labapp.record.journal.layout import refuse_inside
from labapp.session.withdrawal import decide_by_hand
from labapp.ui import documentation
from labapp.ui.moderator.home import HomeWindow
from tests.helpers.commands import Run
from tests.helpers.journals import golden_session
from tests.helpers.json_contract import promises, words_for_values
from tests.helpers.wrong_input import COMMANDS, Inputs, names

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "exit-codes.md"

EXCEPTIONS = {
    ("sessions withdraw", "damaged session"): DONE,  # people may withdraw whatever became of it
    ("code done", "damaged session"): WRONG_USAGE,  # what is missing are the marks of the rater
    ("transcribe", "damaged session"): REFUSED,  # the speech model, which comes before it
}

"""Bad input that ends differently, and why."""
GIVEN = SimpleNamespace(resilient_parsing=False)
"""What click tells an option's callback where nobody presses Tab."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs"))


def test_every_command_is_tried() -> None:
    assert sorted(COMMANDS) == sorted(names())


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_input_of_each_kind(
    name: str, inputs: Inputs, labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = {name: tmp_path / name for name in ("DATA", "PRIVATE", "MODELS", "STIMULI")}
    for variable, place in places.items():
        monkeypatch.setenv(f"LABAPP_{variable}", str(place))
    for case in inputs.cases(name):
        status, out, err = labapp(*case.words)
        expected = EXCEPTIONS.get((name, case.what), case.status)
        assert status == expected, (case, err)
        if status != DONE:
            assert out if name == "sessions verify" and not err else err, case
            left = [place for place in (*places.values(), inputs.absent) if place.exists()]
            assert not left, case


def test_the_page_lists_every_status() -> None:
    rows = re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [*map(int, rows)] == [DONE, NOT_DONE, WRONG_USAGE, REFUSED, INTERRUPTED]


def _classes(of: type[LabappError] = LabappError) -> set[type[LabappError]]:
    return {of}.union(*(_classes(each) for each in of.__subclasses__()))


def test_every_error_has_a_status_of_the_page() -> None:
    for each in _classes():
        assert each("what").exit_status in (NOT_DONE, WRONG_USAGE, REFUSED), each


def test_a_machine_that_fails_is_not_bad_input() -> None:
    for number, expected in ((errno.ENOSPC, NOT_DONE), (errno.EISDIR, REFUSED)):
        error = RecordError("It cannot be read.")
        error.__cause__ = OSError(number, "why")
        assert error.exit_status == expected


def _options(command: Any, name: str = "labapp") -> Iterator[tuple[str, Any]]:
    for child, each in getattr(command, "commands", {}).items():
        yield from _options(each, f"{name} {child}")
    yield from ((name, option) for option in command.params)


def test_every_option_that_names_an_output_is_checked() -> None:
    """An option that says "write" and is not checked is found here before anybody's session is."""
    outputs = []
    for name, option in _options(command_tree()):
        told = (getattr(option, "help", "") or "").casefold()
        if OUTPUTS & {*option.opts}:
            outputs.append(name)
            assert option.callback is not None, name
        elif "to write" in told or told.startswith("write the participant"):
            pytest.fail(f"{name} {option.opts} writes somewhere, and nothing checks where")
    assert len(outputs) > 15


@pytest.mark.parametrize("way", ["plain", "dots", "link", "link to a folder in it", "relative"])
def test_a_place_inside_a_session_is_refused(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = golden_session(tmp_path / "data")
    link = tmp_path / "link"
    place = session / "inside"
    if way == "dots":
        place = session.parent / "nowhere" / ".." / session.name / "inside"
    elif way == "link":
        link.symlink_to(session)
        place = link / "a" / "b.zip"
    elif way == "link to a folder in it":
        link.symlink_to(session / "audio")
        place = link / "clip.wav"
    elif way == "relative":
        monkeypatch.chdir(session)
        place = Path("audio/../x.csv")
    with pytest.raises(UsageError, match="is inside the folder of the session"):
        refuse_inside(place)
    refuse_inside(tmp_path / "elsewhere")
    refuse_inside(session.parent / "beside.csv")


def test_every_command_refuses_it(tmp_path: Path) -> None:
    """By the option itself, before the command begins."""
    session = golden_session(tmp_path / "data")
    before = sorted(session.iterdir())
    for name, option in _options(command_tree()):
        if not OUTPUTS & {*option.opts}:
            continue
        with pytest.raises(UsageError, match="is inside the folder of the session"):
            option.callback(GIVEN, option, Path(session / "audio" / "out"))
        assert option.callback(GIVEN, option, None) is None, name
    assert sorted(session.iterdir()) == before


def test_annotations_are_no_place_either(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    with pytest.raises(UsageError, match="is inside the annotations of the study"):
        refuse_inside(session.parent / "annotations" / session.name / "out.csv")


def _with_json(command: Any, name: str = "") -> Iterator[str]:
    for child, each in getattr(command, "commands", {}).items():
        yield from _with_json(each, f"{name} {child}".strip())
    if any("--json" in option.opts for option in command.params):
        yield name


def test_the_page_has_every_command_that_prints_json_and_no_other() -> None:
    assert sorted(promises()) == sorted(_with_json(command_tree()))


def run(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert not isinstance(result.exception, AssertionError), result.exception
    return json.loads(result.stdout)


def test_what_a_session_is_is_told_in_values(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    (shown,) = run("sessions", "show", session)
    (listed,) = run("sessions", "list", "--data", tmp_path / "data")
    for facts in (shown, listed):
        assert facts["withdrawn"] is None
        assert facts["decision"] is None
        assert facts["pilot"] is False
        assert facts["blind"] in (True, False, None)
        assert not list(words_for_values(facts))
    assert shown.keys() & listed.keys() >= {"withdrawn", "decision", "pilot", "moved", "blind"}
    decide_by_hand(session, False, "Feueralarm")
    for facts in (
        *run("sessions", "show", session), *run("sessions", "list", "--data", tmp_path / "data"),
    ):  # fmt: skip
        assert (facts["decision"], facts["decision_reason"]) == ("excluded", "Feueralarm")
    assert run("sessions", "tag", session, "left-handed", "glasses")
    tagged = run("sessions", "tag", session, "--remove", "glasses")
    assert tagged == {"session": session.name, "tags": ["left-handed"]}
    listed = ("sessions", "list", "--data", tmp_path / "data")
    (facts,) = run(*listed, "--only", "left-handed")
    assert facts["tags"] == ["left-handed"]
    assert run(*listed, "--without", "left-handed") == []
    told = CliRunner().invoke(app, [*map(str, listed), "--without", "left-handed"]).output
    assert "that are chosen by --without 'left-handed'." in " ".join(told.split())


@pytest.mark.parametrize(
    "words",
    [
        ("studies", "list"), ("studies", "show", "quickstart"), ("studies", "check", "quickstart"),
        ("studies", "texts", "quickstart"), ("plugins", "list"), ("models", "list"),
        ("stimuli", "list"), ("concepts", "list"), ("doctor",),
    ],
)  # fmt: skip
def test_what_the_program_has_is_told_as_the_page_says(words: tuple[str, ...]) -> None:
    run(*words)


def test_values_are_of_json_s_own_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({
        "truth": np.bool_(False), "number": np.int64(3), "none": float("nan"), "path": Path("a"),
        "many": (np.float32(0.5), np.array([1.0, np.inf])),
    })  # fmt: skip
    assert json.loads(capsys.readouterr().out) == {
        "truth": False, "number": 3, "none": None, "path": "a", "many": [0.5, [1.0, None]],
    }  # fmt: skip
    with pytest.raises(TypeError):
        say_json({"what": Decimal("1.5")})


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the pages, which are not built yet."""
    folder = tmp_path / "pages"
    folder.mkdir()
    monkeypatch.setattr(resources, "documentation", lambda: folder)
    return folder


def test_the_pages_are_opened(pages: Path, labapp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (pages / "index.html").write_text("<h1>labapp</h1>")
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    assert labapp("docs")[0] == 0
    assert opened == [(pages / "index.html").as_uri()]
    assert labapp("docs", "--path") == (0, f"{pages / 'index.html'}\n", "")
    assert len(opened) == 1


def test_without_a_browser_their_place_is_told(
    pages: Path, labapp: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pages / "index.html").write_text("<h1>labapp</h1>")
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    status, out, _ = labapp("docs")
    assert (status, str(pages / "index.html") in out) == (0, True)


def test_without_pages_and_a_display_the_place_of_the_texts_is_named(
    pages: Path, labapp: Run
) -> None:
    first = resources.documentation_texts() / "README.md"
    assert labapp("docs", "--path") == (0, f"{first}\n", "")
    status, out, _ = labapp("docs")
    assert (status, str(first) in out) == (0, True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="xdg-open is Linux's")
def test_help_opens_the_pages_by_key_and_by_button(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opened = tmp_path / "opened"
    command = tmp_path / "bin" / "xdg-open"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    window = HomeWindow()
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    help_window = documentation.show_window()  # of the texts, where no pages are built
    assert help_window.isVisible()
    assert "think-aloud" in help_window.page.toPlainText()
    help_window.close()
    (pages / "index.html").write_text("<h1>labapp</h1>")
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.waitUntil(opened.exists)
    window.view.help.click()
    qtbot.waitUntil(lambda: opened.read_text().count(str(pages / "index.html")) == 2)
    window.close()


def test_a_docstring_describes_the_parameters() -> None:
    def measure(session: completion.Session, pause: float = 0.7, json_: bool = False) -> None:
        """Measure pauses.

        --pause SECONDS (0.05 to 60): The seconds of silence that separate two units,
            however short.
        """

    for _ in range(2):  # a tree of commands may be built more than once
        assert describe(measure) == "Measure pauses."
    kinds = get_type_hints(measure, include_extras=True)
    session, pause, json_ = (get_args(kinds[name])[1] for name in ("session", "pause", "json_"))
    assert session.autocompletion is completion.sessions
    assert (pause.metavar, pause.min, pause.max) == ("SECONDS", 0.05, 60)
    assert pause.help == "The seconds of silence that separate two units, however short."
    assert json_.help == "Print JSON instead of text."


def test_nothing_is_left_undescribed_or_described_in_vain() -> None:
    def forgotten(colour: str = "") -> None:
        """Paint."""

    def gone() -> None:
        """Paint.

        --colour: The colour.
        """

    with pytest.raises(TypeError, match="does not describe colour"):
        describe(forgotten)
    with pytest.raises(TypeError, match="no parameters colour"):
        describe(gone)
