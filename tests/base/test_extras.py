"""Extras: what they are, and adding one to an installation, without network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from labapp.base import access, extras, installation
from labapp.base.errors import SetupError, UsageError
from labapp.base.extras import EXTRAS, Extra, add, download, extra_called

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def wheel(folder: Path, name: str, version: str, needs: str = "") -> Path:
    """A wheel of one empty module."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{information}/METADATA", head + needs)
        archive.writestr(
            f"{information}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{information}/RECORD", "")
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own, which pip changes; returns its folder of packages."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    # pip is that of this installation: its own would have to be unpacked first.
    program = str(environment / "bin" / "python")
    pip = Path(metadata.distribution("pip").locate_file(""))  # type: ignore[arg-type]
    (site / "pip").symlink_to(pip / "pip")
    monkeypatch.setattr(extras, "_place", lambda: site)
    monkeypatch.setattr(
        extras, "module_command", lambda module, *words: [program, "-P", "-m", module, *words]
    )
    monkeypatch.setattr(metadata.Distribution, "discover", _of(site))
    return site


def _of(site: Path):  # type: ignore[no-untyped-def]
    discover = metadata.Distribution.discover

    def found(**wanted: object):  # type: ignore[no-untyped-def]
        return discover(**(wanted | {"path": [str(site)]}))

    return found


class Toy(Extra):
    """An extra that needs a package of these tests."""

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        return (Requirement("toy>=1.0"),)


TOY = Toy("toy", "trying", 1)


def test_the_list_is_that_of_the_project() -> None:
    assert {extra.name for extra in EXTRAS} == set(PROJECT["optional-dependencies"]) - {
        "dev",
        "docs",
    }
    for extra in EXTRAS[:-1]:
        wanted = {Requirement(line).name for line in PROJECT["optional-dependencies"][extra.name]}
        assert {each.name for each in extra.requirements} == wanted
    everything = {each.name for each in extra_called("all").requirements}
    assert everything >= {"torch", "av", "pylsl"}
    assert "labapp" not in everything


def test_the_page_has_each_with_its_size() -> None:
    page = (ROOT / "docs/guide/installing.md").read_text("utf-8")
    for extra in EXTRAS:
        (row,) = re.findall(rf"^\| `{extra.name}` \|.*$", page, re.MULTILINE)
        assert f" {extra.installed_mb} MB" in row


def test_one_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="no extra vidio") as refused:
        extra_called("vidio")
    assert "video" in refused.value.todo


def test_it_is_added_from_a_folder_without_network(
    bare: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    wheel(tmp_path / "wheels", "toy", "1.2")
    add(TOY, tmp_path / "wheels", said.append)
    assert (bare / "toy.py").is_file()
    assert said[0].startswith(f"Adding toy (toy>=1.0) to {bare}")
    assert said[-1] == "toy is installed (toy 1.2). Start labapp again if it is open."
    add(TOY, tmp_path / "wheels", said.append)
    assert said[-1] == "toy is installed already. Nothing was changed."


def test_other_users_can_read_what_is_added_or_downloaded(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Commands of labapp write for their own user alone; the packages are for everybody."""
    wheel(tmp_path / "wheels", "toy", "1.2").chmod(0o600)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    before = os.umask(0o022)
    try:
        access.restrict()
        download(TOY, tmp_path / "shared" / "stick", print)
        add(TOY, tmp_path / "shared" / "stick", print)
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)
    (loaded,) = (tmp_path / "shared" / "stick").glob("toy-*.whl")
    made = [loaded, *loaded.parents[:2], *bare.glob("toy*"), *bare.glob("toy-*/*")]
    assert len(made) > 6
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in made} == {
        path.name: "0o755" if path.is_dir() else "0o644" for path in made
    }


def test_what_is_installed_keeps_its_version(
    bare: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An extra that needs another version of it is not added."""
    with zipfile.ZipFile(wheel(tmp_path / "first", "brick", "1.0")) as archive:
        archive.extractall(bare)
    wheel(tmp_path / "wheels", "brick", "2.0")
    wheel(tmp_path / "wheels", "toy", "1.2", "Requires-Dist: brick>=2\n")
    with pytest.raises(SetupError, match="toy could not be added") as failed:
        add(TOY, tmp_path / "wheels", print)
    assert "contains wheels for everything" in failed.value.todo
    assert (bare / "brick-1.0.dist-info").is_dir()
    assert not (bare / "toy.py").exists()


def test_a_folder_without_wheels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder of wheels"):
        add(TOY, tmp_path, print)


def test_an_installation_of_somebody_else_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(
        SetupError, match="You do not have permission to change this installation"
    ) as refused:
        add(TOY, None, print)
    assert "extras add toy" in refused.value.todo
    monkeypatch.setattr(extras, "package_folder", lambda: tmp_path)
    with pytest.raises(SetupError) as refused:
        add(TOY, None, print)
    assert "sudo" in refused.value.todo
    assert "a folder of your own" in refused.value.todo


def test_a_package_with_an_interpreter_starts_by_its_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installation.package_folder() is None
    assert installation.start_command().endswith("/labapp")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python/bin/python3.11"))
    assert installation.start_command().endswith("python3.11 -m labapp")
    for name in ("labapp", "package.json"):
        (tmp_path / name).touch()
    assert installation.package_folder() == tmp_path
    assert installation.install_command("video") == f"{tmp_path}/labapp extras add video"
