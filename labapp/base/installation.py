"""This installation of labapp: how it starts programs of its own, and what its extras bring."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

EXTRAS: Mapping[str, str] = {
    "av": "video",
    "captum": "torch",
    "dask": "cluster",
    "distributed": "cluster",
    "faster_whisper": "whisper",
    "onnx": "import",
    "onnxscript": "import",
    "pylsl": "lsl",
    "pywhispercpp": "whispercpp",
    "torch": "torch",
    "vosk": "vosk",
}
"""The packages that only an extra brings, by the names that they are imported by."""


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module, of labapp or of another package, in a process of its own."""
    # -P: a random.py in the folder that somebody works in is not the one that torch needs.
    return [sys.executable, "-P", "-m", module, *arguments]


def code_command(code: str) -> list[str]:
    """The command that runs Python code in a process of its own."""
    return [sys.executable, "-P", "-c", code]


def script_command(path: Path, *, packages: bool = False) -> list[str]:
    """The command that runs a file in a process of its own.

    packages: whether it may import what is installed. Without them it starts 10 ms sooner.
    """
    alone = [] if packages else ["-I", "-S"]
    return [sys.executable, *alone, str(path.resolve())]


def child_environment(**more: str) -> dict[str, str]:
    """The environment of a process that takes labapp from where this one has it."""
    root = str(Path(__file__).resolve().parents[2])
    paths = filter(None, (root, os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def wait_or_kill(child: Popen[bytes], patience_s: float) -> int:
    """Wait for the end of a process that was asked to end, and kill it after so many seconds; its
    exit status."""
    from subprocess import TimeoutExpired

    try:
        return child.wait(patience_s)
    except TimeoutExpired:
        child.kill()
        return child.wait()


def require(package: str) -> None:
    """Raises ModuleNotFoundError if a package is not installed, for work that another process
    will do with it."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def package_folder() -> Path | None:
    """The folder of a package with an interpreter of its own (`make package`) that this runs from;
    None if it runs from a checkout or a wheel."""
    folder = Path(sys.prefix).parent
    return folder if (folder / "package.json").is_file() else None


def start_command() -> str:
    """What a person types to start this installation of labapp."""
    programs = (
        Path(sys.prefix).parent / "labapp" if package_folder() else None,
        Path(sys.executable).with_name("labapp"),
        Path(sys.executable).with_name("labapp.exe"),
    )
    for program in filter(None, programs):
        if program.is_file():
            return shlex.quote(str(program))
    return f"{shlex.quote(sys.executable)} -m labapp"


def install_command(extra: str) -> str:
    """What a person types to add an extra to this installation."""
    return f"{start_command()} extras add {extra}"


def pip_command(package: str) -> str:
    """What a person types to install a package for this interpreter."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"
