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
        "durable", "errors", "figure_style", "leftovers", "messages", "mistakes", "naming",
        "parallel", "reading", "report", "resources", "translations",
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
ROOMS = {f"labapp.{room}": f"labapp.{wing}.{room}" for wing in WINGS for room in WINGS[wing]}
MODULES = {
    "labapp.agreement.alpha": "labapp.coding.agreement.coefficients",
    "labapp.agreement.ratings": "labapp.coding.agreement.measure",
    "labapp.bids.exporters": "labapp.session.bids.export",
    "labapp.coding.agreement.ratings": "labapp.coding.agreement.measure",
    "labapp.events.agreement": "labapp.record.events.lifecycle",
    "labapp.events.keyboard": "labapp.record.events.lifecycle",
    "labapp.events.pointer": "labapp.record.events.lifecycle",
    "labapp.events.speech": "labapp.record.events.voice",
    "labapp.events.undoing": "labapp.record.events.lifecycle",
    "labapp.explanations.building.selection": "labapp.models.explanations.building.sets",
    "labapp.explanations.methods": "labapp.models.explanations.data",
    "labapp.journal.rows": "labapp.record.journal.read",
    "labapp.metrics.score": "labapp.models.metrics.inputs",
    "labapp.model_fields": "labapp.base.documents",
    "labapp.models.metrics.mig": "labapp.models.metrics.information",
    "labapp.plugins.stages": "labapp.study.plugins.item",
    "labapp.record.events.dials": "labapp.record.events.trials",
    "labapp.record.events.durations": "labapp.record.events.registry",
    "labapp.record.events.event": "labapp.record.events.registry",
    "labapp.record.events.lsl": "labapp.record.events.lifecycle",
    "labapp.record.events.moderation": "labapp.record.events.lifecycle",
    "labapp.record.events.questionnaires": "labapp.record.events.trials",
    "labapp.record.events.stimuli": "labapp.record.events.lifecycle",
    "labapp.record.events.types": "labapp.record.events.registry",
    "labapp.record.journal.rows": "labapp.record.journal.read",
    "labapp.report.formats": "labapp.base.report.page",
    "labapp.representations.display": "labapp.models.representations.space",
    "labapp.representations.priors": "labapp.models.representations.space",
    "labapp.session.recovery": "labapp.session.resuming",
    "labapp.study.assignment": "labapp.study.conditions",
    "labapp.study.instruments.files": "labapp.study.instruments.instrument",
    "labapp.study.instruments.rules": "labapp.study.instruments.instrument",
    "labapp.study.instruments.scoring": "labapp.study.instruments.instrument",
    "labapp.study.instruments.wording": "labapp.study.instruments.items",
    "labapp.study.plugins.stage": "labapp.study.plugins.machine",
    "labapp.study.plugins.task_type": "labapp.study.plugins.registry",
    "labapp.study.sampling": "labapp.study.conditions",
    "labapp.tasks.questionnaire.screen.items": "labapp.tasks.questionnaire.screen.kinds.view",
    "labapp.text_tables": "labapp.base.reading.tables",
    "labapp.ui.moderator.part_words": "labapp.ui.moderator.wording",
    "labapp.ui.participant.question_screen": "labapp.ui.participant.screen",
    "labapp.ui.widgets.bars": "labapp.ui.widgets.dial",
    "labapp.ui.widgets.cards": "labapp.ui.widgets.row_view",
    "labapp.ui.widgets.scale": "labapp.ui.widgets.choice",
    "labapp.ui.widgets.series": "labapp.ui.widgets.dial",
    "labapp.validating": "labapp.base.documents",
}
"""Where the contents of modules are that recipes, tutorials and examples imported."""


def name_now(name: str) -> str | None:
    """The name that a module has now; None if it has not changed."""
    if name in MODULES:
        return MODULES[name]
    room = ".".join(name.split(".", 2)[:2])
    if room not in ROOMS:
        return None
    moved = ROOMS[room] + name.removeprefix(room)
    return MODULES.get(moved, moved)


class FormerNames:
    """Finds a module by the name that it had, and says which name it has now."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if name_now(fullname) is None:
            return None
        # No importlib.abc.Loader, which takes 15 ms to import.
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        now = name_now(spec.name)
        assert now is not None
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
    """Allow modules to be imported by their former names."""
    sys.meta_path.insert(0, FormerNames())
