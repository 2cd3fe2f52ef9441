"""The exit status of a command belongs to the class of its error; docs/guide/exit-codes.md lists
them."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from labapp.base.errors import (
    DONE,
    INTERRUPTED,
    NOT_DONE,
    REFUSED,
    WRONG_USAGE,
    LabappError,
    RecordError,
)
from tests.helpers.commands import Run
from tests.helpers.wrong_input import COMMANDS, Inputs, names

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "exit-codes.md"
EXCEPTIONS = {
    ("sessions withdraw", "damaged session"): DONE,  # people may withdraw whatever became of it
    ("code done", "damaged session"): WRONG_USAGE,  # what is missing are the marks of the rater
    ("transcribe", "damaged session"): REFUSED,  # the speech model, which comes before it
}
"""Bad input that ends differently, and why."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs"))


def test_every_command_is_tried() -> None:
    assert sorted(COMMANDS) == sorted(names())


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_input_of_each_kind(
    name: str, inputs: Inputs, labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("DATA", "PRIVATE", "MODELS", "STIMULI"):
        monkeypatch.setenv(f"LABAPP_{variable}", str(tmp_path / variable))
    for case in inputs.cases(name):
        status, out, err = labapp(*case.words)
        expected = EXCEPTIONS.get((name, case.what), case.status)
        assert status == expected, (case, err)
        if status != DONE:
            assert out if name == "sessions verify" and not err else err, case


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
