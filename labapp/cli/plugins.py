"""`labapp plugins`: what labapp is made of, and what installed packages add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labapp import __version__
from labapp.base import discovery
from labapp.base.console import say, say_json
from labapp.base.discovery import READY
from labapp.cli.commands import make_group

plugins_app = make_group("plugins", "labapp plugins list")


@plugins_app.command("list")
def plugins_list(json_: bool = False) -> None:
    """List what labapp and installed packages provide, and whether it can be used.

    Whatever cannot be used is listed with the reason, and left out everywhere else.

    Example: labapp plugins list
    """
    rows = [row for group in discovery.GROUPS for row in _rows(group)]
    if json_:
        say_json(rows)
        return
    columns = ("group", "name", "package", "version")
    widths = [max(len(row[column]) for row in rows) for column in columns]
    for row in rows:
        cells = (f"{row[column]:{width}}" for column, width in zip(columns, widths, strict=True))
        say("  ".join((*cells, row["state"])))
        for change in row["to_change"]:
            say(f"    The next version of labapp needs a change: {change}.")


def _rows(group: str) -> Iterator[dict[str, Any]]:
    """What a group has: what is shipped first."""
    catalogue = discovery.catalogue(group)
    for name in catalogue.shipped:
        yield _row(name, group, "labapp", __version__, READY)
    for plugin, state in catalogue.installed:
        row = _row(plugin.name, group, plugin.package, plugin.version, state)
        if group == discovery.TASK_GROUP and state == READY:
            from labapp.analysis.task_records import older_ways

            try:
                row["to_change"] = list(older_ways(plugin.value))
            except Exception as error:  # noqa: BLE001  (of the package, which can do anything)
                row["state"] = f"cannot be used: {type(error).__name__}: {error}"
        yield row


def _row(name: str, group: str, package: str, version: str, state: str) -> dict[str, Any]:
    known = {"name": name, "group": group, "package": package, "version": version, "state": state}
    return known | {"to_change": []}
