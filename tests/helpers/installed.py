"""Packages that bring tasks, installed for a test and gone after it."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labapp.record.events import registry

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "counterfactual-choice"


def build(source: Path, folder: Path) -> Path:
    """A package as pip installs it, in a folder of its own: a wheel is built by hatchling and
    installed with `--no-deps`, without network."""
    wheels, site = folder / "wheels", folder / "site"
    _run("hatchling", "build", "-t", "wheel", "-d", str(wheels), cwd=source)
    (wheel,) = wheels.glob("*.whl")
    _run("pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    return site


def _run(module: str, *arguments: str, cwd: Path | None = None) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def write_package(
    site: Path,
    name: str,
    code: str = "",
    *,
    group: str = "labapp.tasks",
    entry: str = "TASK",
    where: str = "",
) -> Path:
    """A package of one module with an entry point, as an installed one lies in `site`. where: the
    module that the entry point leads to, where that is there already."""
    module = name.replace("-", "_")
    site.mkdir(parents=True, exist_ok=True)
    if not where:
        (site / f"{module}.py").write_text(code)
    information = site / f"{module}-0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (information / "entry_points.txt").write_text(
        f"[{group}]\n{name} = {where or module}:{entry}\n"
    )
    return site


@contextmanager
def on_path(*sites: Path) -> Iterator[None]:
    """The packages in these folders are installed; afterwards nothing remembers them."""
    kinds = dict(registry._KINDS)
    folders = [str(site) for site in sites]
    sys.path[:0] = folders
    forget()
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(tuple(folders)):
                del sys.modules[name]
        for name in [name for name in registry._KINDS if name not in kinds]:
            if registry._KINDS[name].__module__ not in sys.modules:
                del registry._KINDS[name]
        forget()


@contextmanager
def without(*sites: Path) -> Iterator[None]:
    """Inside `on_path`: the packages in these folders are not installed for a while."""
    kinds = dict(registry._KINDS)
    folders = [str(site) for site in sites]
    modules = {
        name: module
        for name, module in sys.modules.items()
        if (getattr(module, "__file__", None) or "").startswith(tuple(folders))
    }
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if entry not in folders]
    for name in modules:
        del sys.modules[name]
    for name in [name for name, payload in kinds.items() if payload.__module__ in modules]:
        del registry._KINDS[name]
    forget()
    try:
        yield
    finally:
        sys.path[:] = path
        sys.modules.update(modules)
        registry._KINDS.update(kinds)
        forget()


def forget() -> None:
    """Empty whatever labapp keeps of what is installed. What a YAML text says (`base.documents`)
    depends on the text alone, and takes long to read again."""
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "labapp":
            for value in list(vars(module).values()):
                kept = getattr(value, "__module__", "") == "labapp.base.documents"
                if isinstance(value, functools._lru_cache_wrapper) and not kept:
                    value.cache_clear()
