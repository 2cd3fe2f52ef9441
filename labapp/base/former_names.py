"""The names that modules had until 0.1, for packages that were written for them."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

WINGS = {
    "base": (
        "access", "clock", "console", "descriptions", "discovery", "documentation", "documents",
        "durable", "errors", "figure_style", "leftovers", "messages", "mistakes", "model_fields",
        "naming", "parallel", "reading", "report", "resources", "text_tables", "translations",
        "validating",
    ),
    "record": ("audio", "events", "journal", "lsl"),
    "coding": ("agreement", "annotations", "exchange", "transcription", "videos"),
    "models": (
        "concepts", "datasets", "explanations", "metrics", "representations", "stimuli", "training",
    ),
    "study": ("plugins",),
    "session": ("bids", "planning", "replay", "simulation"),
}  # fmt: skip
"""Where rooms are that were at the top until 0.1: packages of others import them there."""
FORMER = {f"labapp.{room}": f"labapp.{wing}.{room}" for wing in WINGS for room in WINGS[wing]}


class FormerNames:
    """Finds a module by the name that it had, and says which name it has now."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        room = ".".join(fullname.split(".", 2)[:2])
        if room not in FORMER:
            return None
        # No importlib.abc.Loader, which takes 15 ms to import.
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        room = ".".join(spec.name.split(".", 2)[:2])
        now = FORMER[room] + spec.name.removeprefix(room)
        module = import_module(now)
        # The import system writes the spec of the name that was asked for into the module.
        spec.loader_state = module.__spec__
        warnings.warn(f"{spec.name} is {now} now", DeprecationWarning, stacklevel=2)
        return module

    def exec_module(self, module: ModuleType) -> None:
        asked_for = module.__spec__
        assert asked_for is not None
        module.__spec__ = asked_for.loader_state


def add_former_names() -> None:
    """Let modules be imported by the names that they had."""
    sys.meta_path.insert(0, FormerNames())
