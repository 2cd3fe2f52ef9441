"""The build of labapp: hatchling, which for a wheel also needs what makes the documentation.

The pages are made from the code, so they need what labapp itself needs, and MkDocs. An editable
install has no pages and needs neither.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling import build
from hatchling.build import (  # noqa: F401
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What a wheel is built with, as pip asks for it."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["docs"]]
    return [*build.get_requires_for_build_wheel(config_settings), *needed]
