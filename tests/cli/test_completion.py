"""What Tab offers: in a real bash here, in zsh and fish by scripts/trial_completion.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.cli import main
from labapp.cli.completion import SHELLS, VARIABLE
from tests.helpers.commands import Run
from tests.helpers.journals import golden_session
from tests.helpers.shells import Shell


@pytest.fixture
def offered(labapp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """What is offered for a line whose last word is not complete."""
    session = golden_session(tmp_path / "data")
    (session.parent / "sub-$(touch x)_ses-1_20260102T030405Z").mkdir()
    monkeypatch.setenv("LABAPP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv(VARIABLE, "complete_bash")

    def offer(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        status, out, err = labapp()
        assert (status, err) == (0, "")
        return out.split()

    return offer


def test_names_of_what_is_there_are_offered(offered: Run) -> None:
    (session,) = offered("labapp sessions show sub-")
    assert session.startswith("sub-P01_ses-1_"), "the other one is no name that a shell could take"
    assert offered("labapp code export sub-") == [session]
    assert offered("labapp code status ") == ["golden"]
    assert offered("labapp code segment g") == ["golden"]
    assert offered("labapp run --participant ") == ["P01"]
    assert offered("labapp run quick") == ["quickstart"]
    assert "sinelines/vae" in offered("labapp models show sinelines/")
    assert offered("labapp stimuli sheet faces-") == ["faces-unmasking"]
    assert offered("labapp sessions show --data /nowhere sub-") == []


def test_commands_and_options_are_offered(offered: Run) -> None:
    assert offered("labapp ") == [*main.COMMANDS]
    assert offered("labapp sessions ver") == ["verify"]
    assert sorted(offered("labapp sessions verify --")) == ["--data", "--help", "--json"]


def test_what_was_given_and_is_wrong_stops_no_completion(offered: Run) -> None:
    assert offered("labapp metrics mig --codes nothing.npy --fac") == ["--factors"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_its_lines(labapp: Run, shell: str) -> None:
    status, out, _ = labapp("completion", shell)
    assert (status, VARIABLE in out) == (0, True)


def test_another_shell_is_refused(labapp: Run) -> None:
    status, _, err = labapp("completion", "tcsh")
    assert (status, "bash, zsh, fish" in err) == (2, True)


def test_tab_in_bash(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    bash = Shell("bash", tmp_path, {"LABAPP_DATA": str(tmp_path / "data")})
    try:
        bash.tab("labapp sessions show sub-P01", session.name)
    finally:
        bash.close()
