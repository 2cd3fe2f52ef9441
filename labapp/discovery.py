"""What installed packages add to labapp, by their entry points.

It knows names of groups and of the shipped tasks, and nothing else of labapp, so that even the
vocabulary of events can ask it. Reading entry points takes 26 ms: nothing asks at a start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = (
    "labapp.tasks",
    "labapp.metrics",
    "labapp.exporters",
    "labapp.decoders",
    "labapp.explanations",
    "labapp.instruments",
)
"""The groups of entry points; so far those of tasks are read, the others are only listed."""
TASKS = (
    "consent",
    "pages",
    "resting",
    "interview",
    "questionnaire",
    "reconstruction",
    "single_dimension",
    "judging",
    "unmasking",
)
"""The shipped tasks: folders of `labapp.tasks`, in the order in which lists name them."""
PROFILES = ("interactive_reconstruction",)
"""The published studies of which labapp knows more than their tasks: folders of
`labapp.profiles`."""
TASK_GROUP = "labapp.tasks"
READY = "ready"
UNREAD = "installed, but this version of labapp does not read this group"


@dataclass(frozen=True)
class Plugin:
    """What one entry point adds.

    Attributes
    ----------
    name : str
        Of the entry point.
    group : str
        One of `GROUPS`.
    package, version : str
        The distribution that brings it; empty where it does not say.
    state : str
        `ready`, or why it cannot be used.
    module : str
        Where the entry point leads.
    value
        What the entry point names; None unless it is ready.
    """

    name: str
    group: str
    package: str
    version: str
    state: str
    module: str = ""
    value: Any = None

    @property
    def ready(self) -> bool:
        """Whether it can be used."""
        return self.state == READY

    @property
    def assets(self) -> Path | None:
        """The folder `assets` beside its module, with studies, texts and instruments laid out as in
        labapp's own; None where there is none."""
        source = import_module(self.module).__file__ if self.ready else None
        folder = None if source is None else Path(source).parent / "assets"
        return folder if folder is not None and folder.is_dir() else None


@cache
def plugins(group: str) -> tuple[Plugin, ...]:
    """What installed packages bring of a group, by name.

    One that does not import is left out of everything and says why: it is never fatal.
    """
    return tuple(_plugin(point) for point in _points(group))


def unread(group: str) -> tuple[Plugin, ...]:
    """What installed packages offer in a group that this version does not read; nothing of it is
    imported."""
    return tuple(
        Plugin(point.name, group, *_package(point), UNREAD, point.module)
        for point in _points(group)
    )


def _points(group: str) -> list[EntryPoint]:
    from importlib.metadata import entry_points  # 17 ms, which every start would wait for

    return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))


def _package(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution; empty where it does not say."""
    return ("", "") if point.dist is None else (point.dist.name, point.dist.version)


def _plugin(point: EntryPoint) -> Plugin:
    package, version = _package(point)
    try:
        value = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a stranger does)
        state = f"cannot be imported: {type(error).__name__}: {error}"
        return Plugin(point.name, point.group, package, version, state, point.module)
    return Plugin(point.name, point.group, package, version, READY, point.module, value)


def missing(recorded: Any) -> str:
    """What packages a session was recorded with that are not installed here, as a sentence; empty
    where none is missing. recorded: `plugins` of the session's environment, if it says them."""
    if not isinstance(recorded, list | tuple):
        return ""
    here = {plugin.package for plugin in plugins(TASK_GROUP) if plugin.ready}
    packages = {
        str(row["package"]): f"{row['package']} {row.get('version', '')}".strip()
        for row in recorded
        if isinstance(row, dict) and row.get("package") and row["package"] not in here
    }
    if not packages:
        return ""
    names = ", ".join(packages[name] for name in sorted(packages))
    return f"It was recorded with {names}, which is not installed here or cannot be used."


def load(where: str) -> Any:
    """What `module:name` names. Raises ImportError or AttributeError where it is not there."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


@cache
def load_events() -> None:
    """Import the events of the shipped tasks, which register their kinds."""
    for name in TASKS:
        try:
            import_module(f"labapp.tasks.{name}.events")
        except ModuleNotFoundError as error:
            if error.name != f"labapp.tasks.{name}.events":
                raise  # it is there, and lacks something else
