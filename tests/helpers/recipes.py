"""A recipe or a tutorial of docs, done as its page says: its files written, its packages installed,
its commands and its Python run, in a folder of its own, and what it says that is printed, printed.

A block of `sh` is for people alone: what needs a display, a microphone or somebody who looks.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.helpers.installed import ROOT, on_path

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block of code: its language, the file it is (if it is one), and what stands in it."""
Command = Callable[[list[str]], str]
REFUSED = "# is refused"
"""Behind a command that does not go well."""
WINDOWS = ("demo", "run")
"""Commands that show windows: each in a process of its own, which ends with them."""


@dataclass
class Recipe:
    """A page that is followed in `folder`.

    run: carries out a command of labapp and returns what it printed. outputs: by command. shelf:
    the folder of the page, recipes or tutorials.
    """

    name: str
    folder: Path
    run: Command
    shelf: str = "recipes"
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
                elif language == "text":
                    self._printed(content)
                elif language == "sh":
                    pass  # tests/test_docs.py holds that its commands are there
                elif language == "console":
                    for line in content.splitlines():
                        words = shlex.split(line, comments=True)
                        if line.endswith(REFUSED):
                            self._refused(words)
                        else:
                            self._do(words, stack)
                else:
                    raise AssertionError(f"{self.name}.md: a block of {language} that no file is")
            yield self

    def write_files(self) -> None:
        """Write the files of the page, and do nothing else that it says."""
        for _, name, content in self._blocks():
            if name:
                self._write(name, content)

    def _blocks(self) -> list[tuple[str, str, str]]:
        return BLOCK.findall((DOCS / self.shelf / f"{self.name}.md").read_text("utf-8"))

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
            case ["pip", "install", package]:  # from the network: the tests have it
                assert find_spec(package), f"{self.name}.md: {package} is not installed"
            case ["labapp", *arguments]:
                named = [word for argument in arguments for word in self._named(argument)]
                run = self._shown if named[0] in WINDOWS else self.run
                self.outputs[shlex.join(arguments)] = run(named)
            case _:
                raise AssertionError(f"{self.name}.md: nobody knows how to do {shlex.join(words)}")

    def _shown(self, arguments: list[str]) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "labapp", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _refused(self, words: list[str]) -> None:
        try:
            printed = self.run(words[1:])
        except AssertionError as error:
            self.outputs[shlex.join(words[1:])] = str(error)
        else:
            raise AssertionError(f"{self.name}.md: {shlex.join(words)} went well: {printed}")

    def _named(self, argument: str) -> list[str]:
        """An argument as a shell hands it over: a pattern becomes the files that fit."""
        if "*" not in argument:
            return [argument]
        paths = sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(argument))
        assert paths, f"{self.name}.md: nothing is called {argument}"
        return paths

    def _printed(self, content: str) -> None:
        """Each line was printed by the command before; … stands for anything."""
        printed = " ".join(list(self.outputs.values())[-1].split())
        for line in content.splitlines():
            pattern = ".*?".join(re.escape(part) for part in " ".join(line.split()).split("…"))
            assert re.search(pattern, printed), f"{self.name}.md: {line!r} is not in {printed}"

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
