"""Programs of labapp's own, and what is said where an extra is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from labapp.base.errors import ProgramError, SetupError
from labapp.base.installation import (
    EXTRAS,
    child_environment,
    code_command,
    install_command,
    module_command,
    script_command,
)
from labapp.base.mistakes import told

ROOT = Path(__file__).parents[2]


def test_a_module_of_ours_runs_from_anywhere(tmp_path: Path) -> None:
    """Also where somebody works in a folder with a module that Python itself needs."""
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong one')", "utf-8")
    (tmp_path / "labapp.py").write_text("raise SystemExit('the wrong one')", "utf-8")
    for command in (
        module_command("labapp", "--version"),
        code_command("import labapp, random; print(labapp.__version__)"),
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=child_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip()


def test_a_script_runs_with_packages_or_without(tmp_path: Path) -> None:
    script = tmp_path / "try.py"
    script.write_text("import numpy", "utf-8")
    assert subprocess.run(script_command(script, packages=True), check=False).returncode == 0
    done = subprocess.run(script_command(script), capture_output=True, text=True, check=False)
    assert "No module named 'numpy'" in done.stderr


def test_the_environment_of_a_process_has_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    environment = child_environment(ANSWER="42")
    assert environment["PYTHONPATH"].split(":") == [str(ROOT), "/mine"]
    assert environment["ANSWER"] == "42"


def test_nothing_else_starts_the_interpreter() -> None:
    """A program that a packager made has its own; one place knows it."""
    users = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "labapp").rglob("*.py")
        if "sys.executable" in path.read_text("utf-8")
    ]
    assert users == ["labapp/base/installation.py"]


@pytest.mark.parametrize("package", sorted(EXTRAS))
def test_a_missing_extra_is_said_with_what_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError) as failed:
        __import__(package)
    error = told(failed.value)
    assert isinstance(error, SetupError)
    assert package in error.what
    assert install_command(EXTRAS[package]) in error.todo
    assert error.todo.endswith(f"labapp extras add {EXTRAS[package]}")


def test_another_missing_module_is_a_mistake() -> None:
    assert isinstance(told(ModuleNotFoundError("No module", name="labapp.nowhere")), ProgramError)
