"""The workflows, which run on other machines: what they name is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from labapp.cli import main

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILE = re.compile(r"(?<![\w./])((?:scripts|locks|\.ci|assets|tests|docs)/[\w./-]*[\w-])")
TARGET = re.compile(r"(?:^|[ \"])make ([a-z-]+)", re.MULTILINE)
COMMAND = re.compile(r"^ *labapp (--)?([a-z]+)", re.MULTILINE)


def workflow(path: Path) -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return read


def runs(path: Path) -> Iterator[str]:
    """The lines of each step that runs something."""
    for job in workflow(path)["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_files_targets_and_commands_of_a_workflow_are_there(path: Path) -> None:
    lines = "\n".join(runs(path))
    files = set(FILE.findall(lines))
    assert files >= {".ci/run", "scripts/setup.sh", "scripts/bare_root.sh", "locks/run.txt"}
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []
    targets = (ROOT / "Makefile").read_text("utf-8").partition(".PHONY: ")[2].split("\n")[0].split()
    assert set(TARGET.findall(lines)) <= set(targets)
    commands = set(typer.main.get_command(main.app).commands)  # type: ignore[attr-defined]
    asked = {name for option, name in COMMAND.findall(lines) if not option}
    assert asked
    assert asked <= commands


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_of_a_workflow_need_jobs_and_files_that_are_made_before(path: Path) -> None:
    jobs = workflow(path)["jobs"]
    made: dict[str, str] = {}
    for name, job in jobs.items():
        needed = job.get("needs", [])
        needed = [needed] if isinstance(needed, str) else needed
        assert set(needed) <= set(jobs)
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            uses, given = step.get("uses", ""), step.get("with", {})
            assert not uses or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", uses)
            if uses.startswith("actions/upload-artifact"):
                made[given["name"]] = name
            if uses.startswith("actions/download-artifact"):
                assert made[given["name"]] in needed
