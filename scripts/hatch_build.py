"""Build hook: assets and shipped models travel inside the wheel, under `labapp/_data`.

An editable install reads them from the checkout instead, so it gets no copies; checkpoints of
trainings that are under way are never shipped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for name in ("assets", "models"):
            for child in sorted((root / name).iterdir()):
                if not child.name.startswith(".") and child.name != "readme":
                    inside = f"labapp/_data/{name}/{child.name}"
                    build_data["force_include"][str(child)] = inside
