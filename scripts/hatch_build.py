"""Build hook: assets, shipped models and the documentation as pages travel inside the wheel, under
`labapp/_data`. The largest models are in wheels of their own (`scripts/wheels`), which put them
into the same folder. The catalogues of words are compiled first.

An editable install reads them from the checkout instead, so it gets no copies; checkpoints of
trainings that are under way are never shipped. The pages are made from the code, so they need what
labapp needs, and mkdocs-material; `build_backend.py` asks for both. A wheel that is built without
them (`--no-isolation`) has the Markdown instead, which a window of labapp shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("material", "PySide6", "pandas", "pydantic", "typer")


def packages_of_models(root: Path) -> dict[Path, str]:
    """The folders of models that have wheels of their own, with the names of their packages."""
    apart = {}
    for file in sorted(root.glob("scripts/wheels/*/pyproject.toml")):
        package = tomllib.loads(file.read_text("utf-8"))
        inside = package["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
        for folder in inside:
            apart[(file.parent / folder).resolve()] = package["project"]["name"]
    return apart


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        subprocess.run([sys.executable, str(root / "scripts" / "words.py")], check=True)
        if version == "editable":
            return
        apart = packages_of_models(root)
        for name in ("assets", "models"):
            for child in sorted((root / name).iterdir()):
                if not child.name.startswith(".") and child not in apart:
                    inside = f"labapp/_data/{name}/{child.name}"
                    build_data["force_include"][str(child)] = inside
        # What the other wheels have, so that where a model is to be had can be said.
        elsewhere = root / "build" / "elsewhere.json"
        elsewhere.parent.mkdir(exist_ok=True)
        ids = {
            f"{family.name}/{model.name}": package
            for family, package in apart.items()
            for model in sorted(family.iterdir())
        }
        elsewhere.write_text(json.dumps(ids), "utf-8")
        build_data["force_include"][str(elsewhere)] = "labapp/_data/models/elsewhere.json"
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            self.app.display_warning(
                f"This wheel has the documentation as Markdown alone: {', '.join(missing)} "
                "cannot be imported here. For pages, build it without --no-isolation."
            )
            build_data["force_include"][str(root / "docs")] = "labapp/_data/docs"
            return
        pages = root / "build" / "docs"
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(pages)],
            cwd=root,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
            check=True,
        )
        build_data["force_include"][str(pages)] = "labapp/_data/documentation"
