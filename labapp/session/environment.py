"""Where a session takes place: versions, machine, process; screens and the microphone are known
to the caller."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from labapp import __version__
from labapp.base import discovery

LIBRARIES = (
    "PySide6-Essentials",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "safetensors",
    "sounddevice",
    "torch",
)


@cache
def boot_id() -> str:
    """Names this run of the machine: two segments with one boot id share a monotonic clock.

    Where the system does not tell, one of this process's own, which claims nothing of others.
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return str(uuid.uuid4())


@cache
def _version(library: str) -> str:
    """That of this run. To read it takes longer than simulating many a part."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "not installed"


def describe(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The environment of this run; extra: what only the caller knows (screens, microphone)."""
    return {
        "labapp": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "libraries": {library: _version(library) for library in LIBRARIES},
        "plugins": [
            {
                "group": plugin.group,
                "name": plugin.name,
                "package": plugin.package,
                "version": plugin.version,
            }
            for plugin in discovery.in_use()
        ],
        **extra,
    }
