"""The lock files name everything, at the chosen versions and with hashes."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.lock import LEFT_OUT, LOCKS, unresolved

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SYSTEMS = [
    dict(zip(("sys_platform", "platform_system", "platform_machine", "os_name"), row, strict=True))
    for row in (
        ("linux", "Linux", "x86_64", "posix"),
        ("win32", "Windows", "AMD64", "nt"),
        ("darwin", "Darwin", "arm64", "posix"),
    )
]
ENVIRONMENTS = [
    system | {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
    for system in SYSTEMS
    for minor in (11, 12, 13, 14)
]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """By package, its line and its hashes."""
    text = (ROOT / "locks" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    lines = {}
    for line in text.splitlines()[1:]:
        words = re.split(r"\s+--hash=", line.strip())
        each = Requirement(words[0])
        assert normal(each.name) not in lines, each.name
        lines[normal(each.name)] = (each, words[1:])
    return lines


def wanted(extras: tuple[str, ...]) -> list[Requirement]:
    groups = PROJECT["optional-dependencies"]
    return [
        Requirement(line)
        for line in [*PROJECT["dependencies"], *(x for name in extras for x in groups[name])]
    ]


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_has_one_version_and_hashes(name: str) -> None:
    for each, hashes in locked(name).values():
        assert re.fullmatch(r"==[\w.+]+", str(each.specifier)), each
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), each
        assert not each.name.startswith(LEFT_OUT)


@pytest.mark.parametrize("name", LOCKS)
def test_the_versions_are_those_that_were_chosen(name: str) -> None:
    """After a change of pyproject.toml or constraints.txt: `make lock`."""
    _, *lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    chosen = {normal(line.partition("==")[0]): line.partition("==")[2] for line in lines}
    for package, (each, _) in locked(name).items():
        if package in chosen:
            assert str(each.specifier) == f"=={chosen[package]}", package


@pytest.mark.parametrize("name", LOCKS)
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: "-".join(e.values()))
def test_what_the_project_needs_is_there_on_every_system(
    name: str, environment: dict[str, str]
) -> None:
    """After a change of pyproject.toml or constraints.txt: `make lock`."""
    lines = locked(name)
    for need in wanted(LOCKS[name]):
        if need.name.startswith(LEFT_OUT) or (
            need.marker and not need.marker.evaluate(environment)
        ):
            continue
        each, _ = lines[normal(need.name)]
        assert each.marker is None or each.marker.evaluate(environment)
        assert need.specifier.contains(str(each.specifier).removeprefix("=="))


def test_it_is_complete() -> None:
    """Of this system, whose packages are installed: what they need is there, too."""
    lines = locked("test")
    todo, reached = [*wanted(LOCKS["test"])], set()
    while todo:
        need = todo.pop()
        package = normal(need.name)
        if package in reached or package.startswith(LEFT_OUT):
            continue
        if need.marker and not need.marker.evaluate({"extra": ""}):
            continue
        assert package in lines, need
        reached.add(package)
        todo += [Requirement(line) for line in requires(package) or ()]
    assert len(reached) > 100


def test_what_runs_is_a_part_of_what_tests() -> None:
    tested = locked("test")
    for package, (each, hashes) in locked("run").items():
        assert str(tested[package][0].specifier) == str(each.specifier)
        assert tested[package][1] == hashes


def test_all_resolve_from_wheels_on_every_system() -> None:
    assert list(unresolved()) == []
