"""The JSON of commands: every command that prints any is on the page that says what, and values are
of JSON's own kinds. What commands print is checked against the page wherever a test runs one, see
tests/conftest.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from labapp.base.console import say_json
from labapp.cli.main import app, command_tree
from labapp.session.withdrawal import decide_by_hand
from tests.helpers.journals import golden_session
from tests.helpers.json_contract import promises, words_for_values


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
