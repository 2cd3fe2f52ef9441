"""What installed packages add to labapp, by their entry points.

It knows names of groups and of the shipped tasks, and nothing else of labapp, so that even the
vocabulary of events can ask it. Reading entry points takes 26 ms: nothing asks at a start.

Each group has a `Catalogue`, which holds what is shipped and what packages bring alike; the class
of its things says in its docstring what an entry point has to name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

CATALOGUES = {
    "labapp.tasks": "labapp.study.plugins.registry:TASKS",
    "labapp.metrics": "labapp.models.metrics.registry:METRICS",
    "labapp.exporters": "labapp.session.bids.export:EXPORTERS",
    "labapp.decoders": "labapp.models.representations.recipe:ARCHITECTURES",
    "labapp.explanations": "labapp.models.explanations.data:METHODS",
    "labapp.instruments": "labapp.study.instruments.instrument:QUESTIONNAIRES",
    "labapp.items": "labapp.study.instruments.kinds:ITEM_KINDS",
    "labapp.scores": "labapp.study.instruments.instrument:RULES",
}
"""The groups of entry points, each with the `Catalogue` of its things."""
GROUPS = tuple(CATALOGUES)
TASKS = (
    "consent",
    "pages",
    "resting",
    "interview",
    "survey",
    "questionnaire",
    "reconstruction",
    "single_dimension",
    "judging",
    "unmasking",
    "concept_repair",
)
"""The shipped tasks: folders of `labapp.tasks`, in the order in which lists name them."""
PROFILES = ("interactive_reconstruction",)
"""The published studies of which labapp knows more than their tasks: folders of
`labapp.papers`."""
PROFILE_NAMES = ("ross2021",)
"""How studies name them in `analysis.profile`, in the same order."""
TASK_GROUP = "labapp.tasks"
READY = "ready"


@dataclass(frozen=True)
class Plugin:
    """What one entry point adds.

    Attributes
    ----------
    group : one of `GROUPS`.
    package, version : the distribution that brings it; empty if it does not say.
    state : `ready`, or why it cannot be used.
    value : what the entry point names; None unless it is ready.
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
        labapp's own; None if there is none."""
        source = import_module(self.module).__file__ if self.ready else None
        folder = None if source is None else Path(source).parent / "assets"
        return folder if folder is not None and folder.is_dir() else None


@cache
def plugins(group: str) -> tuple[Plugin, ...]:
    """What installed packages bring of a group, by name.

    One that does not import is left out of everything and says why: it is never fatal.
    """
    points = _every_point().select(group=group)
    return tuple(map(_plugin, sorted(points, key=lambda point: (point.name, point.value))))


@cache
def _every_point() -> Any:
    from importlib.metadata import entry_points  # 17 ms, which every start would wait for

    return entry_points()


def _plugin(point: EntryPoint) -> Plugin:
    package, version = ("", "") if point.dist is None else (point.dist.name, point.dist.version)
    try:
        value = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a stranger does)
        state = f"cannot be imported: {type(error).__name__}: {error}"
        return Plugin(point.name, point.group, package, version, state, point.module)
    return Plugin(point.name, point.group, package, version, READY, point.module, value)


class Catalogue(Mapping[str, T], Generic[T]):
    """The things of one group by name: the shipped ones first, then those that packages bring.

    A name that is shipped is found without a look at what is installed. Of a package's thing that
    cannot be used, `installed` says why, and nothing else has it.

    Parameters
    ----------
    group : one of `GROUPS`.
    noun : what a thing is called in messages, such as "a metric".
    kind : the class that things are instances of; each has a `name`.
    shipped : gives the shipped things, when they are first wanted.
    problem : why a thing of the right class cannot be used beside those that are there already;
        empty if it can.
    """

    def __init__(
        self,
        group: str,
        noun: str,
        kind: type[Any],
        shipped: Callable[[], Iterable[T]],
        problem: Callable[[T, Sequence[T]], str] = lambda thing, others: "",
    ) -> None:
        self.group = group
        self.noun = noun
        self.kind = kind
        self.problem = problem
        self._shipped = shipped

    @property
    def shipped(self) -> Mapping[str, T]:
        """Those that come with labapp."""
        return _load_shipped(self)

    @property
    def installed(self) -> tuple[tuple[Plugin, str], ...]:
        """What packages bring, each with its state: `ready`, or why it is left out."""
        return _find_installed(self)

    @property
    def brought(self) -> dict[str, T]:
        """What packages bring and can be used."""
        return {
            _name(plugin.value): plugin.value for plugin, state in self.installed if state == READY
        }

    def package(self, name: str) -> str:
        """The package that provides an object, with its version; labapp itself for shipped ones."""
        for plugin, state in self.installed:
            if state == READY and _name(plugin.value) == name and name not in self.shipped:
                return f"{plugin.package} {plugin.version}".strip()
        return "labapp"

    def left_out(self) -> str:
        """What packages bring and cannot be used, in a sentence; empty if there is none."""
        states = [f"{p.package}: {p.name} {state}" for p, state in self.installed if state != READY]
        return f"Installed, but not used: {'; '.join(states)}." if states else ""

    def __getitem__(self, name: str) -> T:
        return self.shipped[name] if name in self.shipped else self.brought[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.shipped
        yield from self.brought

    def __len__(self) -> int:
        return len(self.shipped) + len(self.brought)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def _state(self, value: Any, others: Mapping[str, T]) -> str:
        """Why a package's object cannot be used beside others; `ready` if it can."""
        if not isinstance(value, self.kind):
            of = type(value).__name__
            return f"left out: it is {of}, not {self.kind.__name__}"
        try:
            name = _name(value)
            if name in others:
                return f"left out: {self.noun} {name!r} already exists"
            why = self.problem(value, tuple(others.values()))
        except Exception as error:  # noqa: BLE001 (whatever a stranger's object does when asked)
            return f"left out: its properties cannot be read ({type(error).__name__}: {error})"
        return f"left out: {why}" if why else READY


def _name(thing: Any) -> str:
    name: str = thing.name
    return name


@cache
def _load_shipped(catalogue: Catalogue[T]) -> dict[str, T]:
    return {_name(thing): thing for thing in catalogue._shipped()}


@cache
def _find_installed(catalogue: Catalogue[Any]) -> tuple[tuple[Plugin, str], ...]:
    there = dict(catalogue.shipped)
    states = []
    for plugin in plugins(catalogue.group):
        state = catalogue._state(plugin.value, there) if plugin.ready else plugin.state
        if state == READY:
            there[_name(plugin.value)] = plugin.value
        states.append((plugin, state))
    return tuple(states)


def catalogue(group: str) -> Catalogue[Any]:
    """The catalogue of a group."""
    things: Catalogue[Any] = load(CATALOGUES[group])
    return things


@cache
def in_use() -> tuple[Plugin, ...]:
    """All that packages bring and that can be used, in the order of `GROUPS`."""
    return tuple(
        plugin
        for group in GROUPS
        if plugins(group)  # nothing of a room is imported where no package adds to it
        for plugin, state in catalogue(group).installed
        if state == READY
    )


@cache
def asset_folders() -> tuple[Path, ...]:
    """The folders of studies, texts and instruments of the packages in use, each once."""
    folders = (plugin.assets for plugin in in_use())
    return tuple(dict.fromkeys(folder for folder in folders if folder is not None))


def missing(recorded: Any) -> str:
    """What packages a session was recorded with that are not installed here, as a sentence; empty
    if none is missing. recorded: `plugins` of the session's environment, if it says them."""
    if not isinstance(recorded, list | tuple):
        return ""
    here = {plugin.package for plugin in in_use()}
    packages = {
        str(row["package"]): f"{row['package']} {row.get('version', '')}".strip()
        for row in recorded
        if isinstance(row, dict) and row.get("package") and row["package"] not in here
    }
    if not packages:
        return ""
    names = ", ".join(packages[name] for name in sorted(packages))
    are = "is" if len(packages) == 1 else "are"
    return f"It was recorded with {names}, which {are} not installed here or cannot be used."


def load(where: str) -> Any:
    """What `module:name` names. Raises ImportError or AttributeError if it is not there."""
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
