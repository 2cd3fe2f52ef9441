"""Build hook: assets, shipped models and the documentation as pages travel inside the wheel, under
`labapp/_data`. The catalogues of words are compiled first.

An editable install reads them from the checkout instead, so it gets no copies; checkpoints of
trainings that are under way are never shipped. The pages are made from the code, so they need what
labapp needs, and mkdocs-material: a wheel that is built elsewhere has none, and says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("material", "pydantic", "torch", "typer")


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        subprocess.run([sys.executable, str(root / "scripts" / "words.py")], check=True)
        if version == "editable":
            return
        for name in ("assets", "models"):
            for child in sorted((root / name).iterdir()):
                if not child.name.startswith("."):
                    inside = f"labapp/_data/{name}/{child.name}"
                    build_data["force_include"][str(child)] = inside
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            self.app.display_warning(
                f"This wheel has no documentation: {', '.join(missing)} cannot be imported here. "
                "Build it with `python -m build --no-isolation --wheel` where `make test` ran."
            )
            return
        pages = root / "build" / "docs"
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(pages)],
            cwd=root,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
            check=True,
        )
        build_data["force_include"][str(pages)] = "labapp/_data/documentation"
