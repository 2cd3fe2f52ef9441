"""A recipe of docs/recipes, done as its page says: its files written, its packages installed, its
commands and its Python run, in a folder of its own."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers.installed import ROOT, on_path

RECIPES = ROOT / "docs" / "recipes"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block of code: its language, the file it is (if it is one), and what stands in it."""
Command = Callable[[list[str]], str]


@dataclass
class Recipe:
    """A page that is followed in `folder`.

    run: carries out a command of labapp and returns what it printed. outputs: by command.
    """

    name: str
    folder: Path
    run: Command
    outputs: dict[str, str] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def followed(self) -> Iterator[Recipe]:
        """Everything on the page is done, from the top to the bottom; its packages stay installed
        meanwhile."""
        with ExitStack() as stack:
            for language, name, content in self._blocks():
                if name:
                    self._write(name, content)
                elif language == "python":
                    exec(compile(content, f"{self.name}.md", "exec"), self.names)
                elif language == "console":
                    for line in content.splitlines():
                        self._do(shlex.split(line, comments=True), stack)
                else:
                    raise AssertionError(f"{self.name}.md: a block of {language} that no file is")
            yield self

    def write_files(self) -> None:
        """Write the files of the page, and do nothing else that it says."""
        for _, name, content in self._blocks():
            if name:
                self._write(name, content)

    def _blocks(self) -> list[tuple[str, str, str]]:
        return BLOCK.findall((RECIPES / f"{self.name}.md").read_text("utf-8"))

    def _write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def _do(self, words: list[str], stack: ExitStack) -> None:
        match words:
            case []:
                return
            case ["pip", "install", "--no-deps", source]:
                stack.enter_context(on_path(self.install(source)))
            case ["labapp", *arguments]:
                self.outputs[shlex.join(arguments)] = self.run(arguments)
            case _:
                raise AssertionError(f"{self.name}.md: nobody knows how to do {shlex.join(words)}")

    def install(self, name: str) -> Path:
        """The package in a folder as pip would lay it out: what its wheel would hold, and its entry
        points (tests/examples has a real wheel built and installed)."""
        source = self.folder / name
        project = tomllib.loads((source / "pyproject.toml").read_text())
        about, site = project["project"], source / "site"
        assert project["build-system"]["build-backend"] == "hatchling.build"
        for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
            shutil.copytree(source / package, site / package)
        information = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
        )
        (information / "entry_points.txt").write_text(
            "".join(
                f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in points.items())
                for group, points in about["entry-points"].items()
            )
        )
        return site
