"""The events of tasks: where they are, that they are light, and that the core knows none."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.base.discovery import TASKS
from labapp.record.events import registry

PACKAGE = Path(__file__).parents[3] / "labapp"
CORE = (
    "base/reading", "models/stimuli", "record/audio", "record/events", "record/journal", "session",
    "study",
)  # fmt: skip
"""The folders that know no task."""


def files(folder: str) -> list[Path]:
    found = sorted((PACKAGE / folder).rglob("*.py"))
    assert found
    return found


def kinds_of_tasks() -> set[str]:
    return {
        name
        for name, cls in registry.registered_kinds().items()
        if cls.__module__.startswith("labapp.tasks.")
    }


def test_the_events_of_a_task_are_in_its_folder() -> None:
    homes = {registry.registered_kinds()[name].__module__ for name in kinds_of_tasks()}
    assert homes <= {f"labapp.tasks.{name}.events" for name in TASKS}
    assert {"dial.moved", "photo.drawn", "consent.given", "response.given"} <= kinds_of_tasks()


@pytest.mark.parametrize("folder", CORE)
def test_the_core_names_no_kind_of_a_task(folder: str) -> None:
    kinds = kinds_of_tasks()
    named = [
        f"{path.relative_to(PACKAGE)}, line {node.lineno}: {node.value}"
        for path in files(folder)
        if any(kind in path.read_text("utf-8") for kind in kinds)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in kinds
    ]
    assert named == []


@pytest.mark.parametrize("folder", CORE)
def test_the_core_imports_no_task(folder: str) -> None:
    imports = [
        f"{path.relative_to(PACKAGE)}, line {node.lineno}: {node.module}"
        for path in files(folder)
        if "labapp.tasks" in path.read_text("utf-8")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("labapp.tasks")
    ]
    assert imports == []


def test_the_vocabulary_is_known_without_anything_that_takes_long_to_import() -> None:
    code = (
        "import json, sys\n"
        "from labapp.record.events import describe\n"
        "describe()\n"
        "print(json.dumps([m for m in ('pydantic', 'numpy', 'yaml') if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == []


def test_every_trial_begins_with_a_kind_that_names_parts_that_are_there() -> None:
    from labapp.study.plugins.registry import part_class

    begins = [cls for cls in registry.registered_kinds().values() if cls.begins]
    assert begins
    for cls in begins:
        assert not cls.of_trial, f"{cls.kind} cannot be of a trial that it begins"
        for kind in cls.begins:
            part_class(kind)  # raises for one that nobody knows


DIALS: list[dict[str, object]] = [{}, {}]
PART = {"id": "stage-1", "dimensions": DIALS, "boxes": [{"dimensions": DIALS}]}
STATES = ("z", "z_start", "z_target")
ABOUT_DIALS = [
    cls
    for _, cls in sorted(registry.registered_kinds().items())
    if {"dimension", *STATES} & {*cls.__struct_fields__}
]


def made(cls: type[registry.Payload], dimension: int, dials: int, box: int = 0) -> registry.Payload:
    """A payload about a dial, with states of so many dials, and nothing in its other fields."""
    wanted: dict[str, object] = {"dimension": dimension, "box": box}
    wanted |= dict.fromkeys(STATES, (0.0,) * dials)
    return cls(**{name: wanted.get(name) for name in cls.__struct_fields__})


@pytest.mark.parametrize("cls", ABOUT_DIALS, ids=lambda cls: str(cls.kind))
def test_a_kind_about_dials_tells_whether_the_part_has_them(cls: type[registry.Payload]) -> None:
    assert made(cls, 1, 2).misfit(PART) == ""
    if "dimension" in cls.__struct_fields__:
        assert "no slider 2" in made(cls, 2, 2).misfit(PART)
        assert made(cls, 0, 0).misfit({"id": "text"})
    if "box" in cls.__struct_fields__:
        assert "box 1" in made(cls, 0, 0, box=1).misfit(PART)
    if {*STATES} & {*cls.__struct_fields__}:
        assert "sliders, not 2" in made(cls, 1, 3).misfit(PART)
