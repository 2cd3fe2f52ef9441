"""What other packages add: listed, recorded, and named where it is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp import __version__, discovery
from labapp.cli import app
from labapp.plugins import registry
from labapp.session import environment
from labapp.study import loading
from tests.helpers.installed import on_path, write_package


def listed(*arguments: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(app, ["plugins", "list", "--json", *arguments])
    assert done.exit_code == 0, done.output
    rows: list[dict[str, str]] = json.loads(done.stdout)
    return rows


def test_what_is_shipped_is_listed_with_its_version() -> None:
    rows = listed()
    assert {tuple(row) for row in rows} == {("name", "group", "package", "version", "state")}
    assert {row["group"] for row in rows} <= set(discovery.GROUPS)
    shipped = [row for row in rows if row["package"] == "labapp"]
    assert {row["state"] for row in shipped} == {"ready"}
    assert {row["version"] for row in shipped} == {__version__}
    tasks = [row["name"] for row in shipped if row["group"] == "labapp.tasks"]
    assert tasks == [task_type.name for task_type in registry.task_types()]
    instruments = {row["name"] for row in shipped if row["group"] == "labapp.instruments"}
    assert {"seq", "sus", "nasa-tlx"} <= instruments
    metrics = {row["name"] for row in shipped if row["group"] == "labapp.metrics"}
    assert {"mig", "dci", "sap"} <= metrics
    methods = {row["name"] for row in shipped if row["group"] == "labapp.explanations"}
    assert {"protopnet", "prototree", "bagnet"} <= methods


OTHER = "from labapp.tasks.pages.task import Pages\n\nclass Other(Pages):\n    name = 'other'\n"
BROKEN = {
    "cannot-import": (
        "import a_package_that_nobody_has\n",
        "No module named 'a_package_that",
    ),
    "exits": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "no-task": ("TASK = 3\n", "it is int, and no instance of a TaskType"),
    "lacks-it": ("", "has no attribute 'TASK'"),
    "taken": (
        "from labapp.tasks.pages.task import Pages\nTASK = Pages()\n",
        "a task 'pages' is there already",
    ),
    "taken-kind": (
        f"{OTHER}\nTASK = Other()\n",
        "parts of the kind 'debrief' are there already",
    ),
    "nothing-said": (
        f"{OTHER}    parts = None\n\nTASK = Other()\n",
        "it does not say what it is (TypeError",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_named_and_left_out(tmp_path: Path, name: str) -> None:
    code, why = BROKEN[name]
    before = registry.task_types()
    with on_path(write_package(tmp_path / "site", name, code)):
        (row,) = [row for row in listed() if row["package"] == name]
        assert (row["name"], row["group"], row["version"]) == (name, "labapp.tasks", "0.1")
        assert why in row["state"]
        assert [type(known) for known in registry.task_types()] == [type(known) for known in before]
        assert loading.load("quickstart")
        assert environment.describe({})["plugins"] == []


def test_a_group_that_is_not_read_yet_says_so(tmp_path: Path) -> None:
    group = "labapp.exporters"
    site = write_package(tmp_path / "site", "my-exporter", "raise ValueError\n", group=group)
    with on_path(site):
        (row,) = [row for row in listed() if row["group"] == group]
    assert row["package"] == "my-exporter"
    assert row["state"] == discovery.UNREAD


def test_lines_for_people_name_package_and_state(tmp_path: Path) -> None:
    with on_path(write_package(tmp_path / "site", "broken", "import nothing_like_it\n")):
        done = CliRunner().invoke(app, ["plugins", "list"])
    (line,) = [line for line in done.stdout.splitlines() if "broken" in line]
    assert line.startswith("labapp.tasks")
    assert "cannot be imported: ModuleNotFoundError" in line
