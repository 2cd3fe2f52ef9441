"""`labapp plugins`: what labapp is made of, and what installed packages add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import typer

from labapp import __version__, discovery
from labapp.cli_options import Json
from labapp.console import say, say_json
from labapp.discovery import READY

plugins_app = typer.Typer(
    help="Tasks, metrics and more: shipped, and of installed packages. "
    "Example: labapp plugins list",
    short_help="Tasks, metrics and more: shipped, and of installed packages.",
    no_args_is_help=True,
)


@plugins_app.command("list")
def plugins_list(json_: Json = False) -> None:
    """What labapp brings and what installed packages add, and whether it can be used.

    What cannot be used is named with the reason and left out everywhere else.

    Example: labapp plugins list
    """
    rows = [*_shipped(), *_installed()]
    rows.sort(key=lambda row: discovery.GROUPS.index(row["group"]))
    if json_:
        say_json(rows)
        return
    columns = ("group", "name", "package", "version")
    widths = [max(len(row[column]) for row in rows) for column in columns]
    for row in rows:
        cells = (f"{row[column]:{width}}" for column, width in zip(columns, widths, strict=True))
        say("  ".join((*cells, row["state"])))


def _shipped() -> Iterator[dict[str, Any]]:
    """What comes with labapp, in the groups that have members."""
    from labapp import resources
    from labapp.explanations.methods import Method
    from labapp.metrics.registry import METRICS
    from labapp.plugins import registry

    shipped = registry.task_types()[: len(discovery.TASKS)]
    methods = get_args(get_args(Method)[0])
    names = {
        "labapp.tasks": [task_type.name for task_type in shipped],
        "labapp.metrics": list(METRICS),
        "labapp.explanations": [
            get_args(method.model_fields["name"].annotation)[0] for method in methods
        ],
        "labapp.instruments": sorted(
            path.stem for path in (resources.assets() / "instruments").glob("*.yaml")
        ),
    }
    for group, members in names.items():
        for name in members:
            yield _row(name, group, "labapp", __version__, READY)


def _installed() -> Iterator[dict[str, Any]]:
    """What other packages add."""
    from labapp.plugins import registry

    for plugin, state in registry.installed():
        yield _row(plugin.name, plugin.group, plugin.package, plugin.version, state)
    for group in discovery.GROUPS:
        if group != discovery.TASK_GROUP:
            for plugin in discovery.unread(group):
                yield _row(plugin.name, group, plugin.package, plugin.version, plugin.state)


def _row(name: str, group: str, package: str, version: str, state: str) -> dict[str, Any]:
    return {"name": name, "group": group, "package": package, "version": version, "state": state}
