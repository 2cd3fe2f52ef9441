"""What may import what, checked in processes of their own; how long a module may be; that the
drawn tree of errors is the real one."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from labapp.base import errors
from labapp.base.installation import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "labapp"
HEAVY = (
    "torch", "PySide6", "pandas", "matplotlib", "scipy", "sounddevice", "pyarrow", "pyqtgraph",
    "sklearn", "PIL", "dask", "distributed", "statsmodels", "importlib.metadata",
    "jinja2", "multiprocessing", "scipy.stats", "scipy.optimize", "filelock", "logging",
)  # fmt: skip


def modules(folder: str) -> list[str]:
    """Every module below a folder of the package, by its dotted name."""
    found = []
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert found, folder
    return found


def importing(names: list[str]) -> str:
    return "\n".join(f"import {name}" for name in names)


def loaded_after(*steps: str) -> list[set[str]]:
    """Heavy packages in sys.modules after each of some pieces of code, run by one fresh
    interpreter."""
    report = f"\nimport sys, json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))\n"
    done = subprocess.run(
        [sys.executable, "-c", "".join(code + report for code in steps)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [set(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]


SHOWN = re.compile(r"\.((screen|report)(\..*)?|beside)$")
"""Files of a task that are loaded when they are shown: the participant's screen, what stands beside
the mirror, and the sections of the report."""
WRITING = re.compile(r"\.session\.(bids|planning)\b")
"""Rooms that write tables and pages."""
LIGHT = {
    "labapp.cli.main": ["labapp.cli.main"],
    "labapp.record.events": modules("record/events"),
    "labapp.study": modules("study"),
    "labapp.tasks": [m for m in modules("tasks") if not SHOWN.search(m)],
    "labapp.record.journal": [
        m for m in modules("record/journal") if m != "labapp.record.journal.arrow"
    ],
    "labapp.session": [m for m in modules("session") if not WRITING.search(m)],
    "labapp.session.simulation": modules("session/simulation"),
    "labapp.record.audio": modules("record/audio"),
    "labapp.models.stimuli": modules("models/stimuli"),
    "labapp.analysis": ["labapp.analysis.columns", "labapp.analysis.rows"],
    "labapp.cli.metrics": ["labapp.cli.metrics", "labapp.models.metrics.registry"],
}


def test_what_each_part_of_the_program_loads() -> None:
    """A process for all: what none of the steps up to here loads, none of them loads by itself."""
    of_help = (
        "import sys\nfrom labapp.cli.main import main\nsys.argv = ['labapp', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
    )
    packages = [m for m in modules("") if (ROOT / m.replace(".", "/")).is_dir()]
    light = [module for package in LIGHT.values() for module in package]
    *_, after_help, after_packages, after_light, home, windows, api, analysis = loaded_after(
        of_help,
        importing(packages),
        importing(light),
        "import labapp.ui.home, labapp.ui.starting",
        importing(modules("ui")),
        "labapp.analysis.load",
        "import labapp.analysis.analyze, labapp.session.planning.power\n"
        "labapp.analysis.task_report.reports()",
    )
    assert after_help == set()
    assert not after_packages & {"torch", "PySide6", "pandas", "matplotlib", "sounddevice"}
    assert not after_light & {"torch", "PySide6", "pandas", "matplotlib"}
    assert not home & {"torch", "pyqtgraph"}
    assert {"PySide6", "pyqtgraph"} <= windows
    assert not windows & {"torch", "pandas", "matplotlib"}
    assert api - windows >= {"pandas"}
    assert not api & {"torch", "matplotlib"}
    assert not analysis & {"torch", "scipy.stats", "scipy.optimize"}


TORCH = ("captum", "torch")
COME_WITH = ("cycler", "fontTools", "markupsafe", "pydantic_core", "shiboken6")
"""Packages that come with those labapp names: matplotlib (two), jinja2, pydantic, PySide6."""
IMPORTED_AS = {
    "pillow": "PIL", "pyside6_essentials": "PySide6", "python_docx": "docx", "pyyaml": "yaml",
    "scikit_learn": "sklearn",
}  # fmt: skip


def named(requirements: list[str]) -> set[str]:
    """The names by which required packages are imported."""
    names = (re.match(r"[\w.-]+", text).group().replace("-", "_") for text in requirements)  # type: ignore[union-attr]
    return {IMPORTED_AS.get(name.lower(), name) for name in names}


def imports(tree: ast.AST, *, inner: bool = False) -> Iterator[tuple[str, bool]]:
    """The packages that a module imports, and whether only when one of its functions runs."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=aliases):
                yield from ((alias.name.split(".")[0], inner) for alias in aliases)
            case ast.ImportFrom(module=str(name), level=0):
                yield name.split(".")[0], inner
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(node, inner=inner or function)


def test_what_an_extra_brings_is_imported_only_where_it_is_used() -> None:
    """A plain installation has no extra: a module that asked for one at its top could not be
    imported there, nor could any module that imports it. That is so of torch in `labapp.models`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always = named(project["dependencies"]) | {"labapp", *COME_WITH, *sys.stdlib_module_names}
    extras = project["optional-dependencies"]
    sometimes = set().union(
        *(named(extra) for name, extra in extras.items() if name not in ("dev", "docs"))
    )
    # Comes with faster-whisper; asked for only to read the official file of 3dshapes.
    sometimes |= {"ctranslate2", "h5py"}
    faults = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        if set(re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.MULTILINE)) <= always:
            continue  # parsing all of labapp takes five seconds
        apart = path.is_relative_to(PACKAGE / "testing")
        for package, inner in imports(ast.parse(text)):
            if package in always or (apart and package == "hypothesis"):
                continue
            if package in TORCH and path.is_relative_to(PACKAGE / "models"):
                continue
            if not inner or package not in sometimes:
                faults.append(f"{path.relative_to(ROOT)}: {package}")
    assert faults == []


WITHOUT = f"""\
import importlib, sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {TORCH!r}:
            raise ModuleNotFoundError(f"No module named {{name}}", name=name)
sys.meta_path.insert(0, Without())
"""
"""A Python in which torch is not installed."""


def test_without_torch_only_some_modules_of_models_cannot_be_imported() -> None:
    """Sessions, replay and analysis work without it: other modules import it where they use it."""
    names = [name for name in modules("") if not name.endswith("__main__")]
    code = WITHOUT + (
        f"for name in {names!r}:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n"
        f"        assert error.name.split('.')[0] in {TORCH!r}, error\n"
        "        print('without', name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    missing = [line.removeprefix("without ") for line in done.stdout.splitlines()]
    assert [name for name in missing if not name.startswith("labapp.models.")] == []
    # Listing and opening packages, cards and sets need none of it, nor do most metrics.
    light = ("representations.package", "concepts.card", "explanations.building.black_box")
    assert not {f"labapp.models.{name}" for name in light} & {*missing}
    assert len(missing) > 20


def test_every_extra_is_known_by_what_it_brings() -> None:
    """What is missing is said with the extra that brings it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    brought = {
        package: name
        for name, extra in project["optional-dependencies"].items()
        if name not in ("all", "dev", "docs")
        for package in named(extra)
    }
    assert brought == dict(EXTRAS)


def test_no_module_is_longer_than_1000_lines() -> None:
    found = [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in found
    }
    assert {name: length for name, length in lengths.items() if length > 1000} == {}
    assert len(lengths) > 100


def test_the_drawn_tree_of_errors_is_the_real_one() -> None:
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([│ ]*)(├── |└── )?([A-Z]\w+)  +\S", line):
            depth = len(match.group(1)) // 4 + (1 if match.group(2) else 0)
            drawn.append((depth, match.group(3)))
    parents: dict[int, str] = {}
    tree = {}
    for depth, name in drawn:
        tree[name] = parents.get(depth - 1)
        parents[depth] = name
    classes = {
        name: cls
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__ and issubclass(cls, Exception)
    }
    assert set(tree) == set(classes)
    for name, cls in classes.items():
        base = tree[name]
        assert cls.__bases__[-1] == (Exception if base is None else classes[base])


def test_errors_answer_three_questions() -> None:
    error = errors.JournalFull("The disk is full.", safe="All is kept.", todo="Make room.")
    assert str(error).splitlines() == ["The disk is full.", "All is kept.", "Make room."]
    assert (error.exit_status, errors.UsageError("x").exit_status) == (1, 2)


NO_NAMES = ("one", "found", "said")
"""A variable is named for what it holds, and not for how it came."""
MOST_OF_THEM = 20


def test_variables_are_named_for_what_they_hold() -> None:
    places = []
    folders = (PACKAGE, *(ROOT / name for name in ("benchmarks", "examples", "scripts")))
    # A name that something is bound to: before = and :, after for and as, among others.
    names = "|".join(NO_NAMES)
    bound = re.compile(rf"\b({names})\b\s*(=(?!=)|:|,|\)|\]|in\b|[-+*/|&]=)|\bas ({names})\b")
    docstring = re.compile(r'""".*?"""', re.DOTALL)
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        text = path.read_text("utf-8")
        if not bound.search(text) or not bound.search(docstring.sub("", text)):
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case (
                    ast.Name(id=name, ctx=ast.Store())
                    | ast.arg(arg=name)
                    | ast.MatchAs(name=name)
                    | ast.ExceptHandler(name=name)
                ) if name in NO_NAMES:
                    places.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert len(places) <= MOST_OF_THEM, places
