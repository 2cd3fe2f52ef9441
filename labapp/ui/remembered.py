"""What the home remembers from one start to the next: own studies and the last choices."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from labapp import resources
from labapp.errors import DataFolderError
from labapp.reading import files
from labapp.reading.values import json_value

FILE = "home.json"
MOST_STUDIES = 30
"""Own studies that are remembered; the one that was not chosen for longest gives way."""
NO_MICROPHONE = "off"
LARGEST = 256 * 1024
"""Bytes; a larger file is something else."""


@dataclass(frozen=True)
class Remembered:
    """The last choices on the home.

    Attributes
    ----------
    study
        Id of a shipped study, or path of one's own.
    own
        Titles of own studies by their paths, the last chosen one first.
    microphone
        The device's spec (`labapp.audio.devices.Device.spec`), `off` for none, empty for the usual.
    screen
        Name of the participant's screen; empty for the usual.
    blind
        Whether the moderator's windows name no representation.
    """

    study: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    microphone: str = ""
    screen: str = ""
    blind: bool = False

    def with_study(self, study: str, title: str, *, own: bool) -> Remembered:
        """After a study was chosen."""
        if not own:
            return replace(self, study=study)
        others = {path: text for path, text in self.own.items() if path != study}
        known = list(({study: title} | others).items())[:MOST_STUDIES]
        return replace(self, study=study, own=dict(known))


def read() -> Remembered:
    """What the last start left; the usual choices where there is nothing.

    Raises DataFolderError where the file is there and is no such file: nothing of it is used.
    """
    path = _path()
    if not files.exists(path):
        return Remembered()
    try:
        return _checked(json_value(files.content(path, LARGEST)))
    except (OSError, ValueError) as error:
        raise DataFolderError(
            f"The home's last choices in {path} cannot be read ({error}).",
            safe="Sessions and studies are not affected; the home starts with the usual choices.",
            todo="Choose again: the file is then written anew.",
        ) from error


def _checked(value: Any) -> Remembered:
    usual = asdict(Remembered())
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    known = {name: value.get(name, default) for name, default in usual.items()}
    for name, default in usual.items():
        if type(known[name]) is not type(default):
            raise ValueError(f"{name!r} is not as expected")
    if not all(isinstance(title, str) for title in known["own"].values()):
        raise ValueError("'own' is not as expected")
    return Remembered(**known)


def write(choices: Remembered) -> None:
    """Keep the choices for the next start. Raises DataFolderError."""
    path = _path()
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # In ASCII: the path of a study may hold bytes that are no text.
        partial.write_text(json.dumps(asdict(choices), indent=1), encoding="ascii")
        partial.replace(path)
    except OSError as error:
        raise DataFolderError(
            f"The home's choices could not be kept in {path} ({error.strerror}).",
            safe="Sessions and studies are not affected.",
            todo="Make the folder writable, or name another one in $LABAPP_SETTINGS.",
        ) from error


def _path() -> Path:
    return resources.settings_root() / FILE
