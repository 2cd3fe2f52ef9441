"""What windows remember from one start to the next, a small file of plain values each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from labapp.base import resources
from labapp.base.errors import DataFolderError
from labapp.base.reading import files
from labapp.base.reading.values import json_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE = "home.json"
MOST_STUDIES = 30
"""Own studies that are remembered; the one that was not chosen for longest gives way."""
NO_MICROPHONE = "off"
LARGEST = 256 * 1024
"""Bytes; a larger file is something else."""


@dataclass(frozen=True)
class Remembered:
    """The last choices on the home.

    study: id of a shipped study, or path of one's own. own: titles of own studies by their paths,
    the last chosen one first. microphone: the device's spec
    (`labapp.record.audio.devices.Device.spec`), `off` for none; like the name of the participant's
    screen, empty for the usual one.
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


BACKUP_FILE = "backup.json"


@dataclass(frozen=True)
class BackupChoice:
    """Where this computer copies finished sessions to. id: of that place, see
    `labapp.session.backup`; both are empty if nobody chose one."""

    to: str = ""
    id: str = ""


def read_backup() -> BackupChoice:
    """The folder to which finished sessions are copied. Raises DataFolderError as `read`."""
    return read_choices(BACKUP_FILE, BackupChoice(), "backup")


def write_backup(choice: BackupChoice) -> None:
    """Keep where finished sessions are copied to. Raises DataFolderError."""
    write_choices(BACKUP_FILE, choice, "backup")


Choices = TypeVar("Choices", bound="DataclassInstance")


def read() -> Remembered:
    """What the last start of the home left; the usual choices where there is nothing.

    Raises DataFolderError if the file is there and is no such file: nothing of it is used.
    """
    return read_choices(FILE, Remembered(), "home", _check_own)


def _check_own(choices: Remembered) -> None:
    if not all(isinstance(title, str) for title in choices.own.values()):
        raise ValueError("'own' is not as expected")


def read_choices(
    name: str, usual: Choices, window: str, check: Callable[[Choices], None] = lambda choices: None
) -> Choices:
    """The last choices in a window; the usual ones, which have the types of all fields, where
    nothing was left.

    name: of the file in the settings folder; window: what the window is called, in English; check:
    raises ValueError for values that cannot be. Raises DataFolderError if the file is there and
    is no such file: nothing of it is used.
    """
    path = resources.settings_root() / name
    if not files.exists(path):
        return usual
    try:
        choices = _check_choices(json_value(files.content(path, LARGEST)), usual)
        check(choices)
    except (OSError, ValueError) as error:
        raise DataFolderError(
            f"The {window}'s last choices in {path} cannot be read ({error}).",
            safe=f"Sessions and studies are not affected; the {window} starts with the usual "
            "choices.",
            todo="Choose again, and the file will be rewritten.",
        ) from error
    return choices


def _check_choices(value: Any, usual: Choices) -> Choices:
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    known = {name: value.get(name, default) for name, default in asdict(usual).items()}
    for name, default in asdict(usual).items():
        if type(known[name]) is not type(default):
            raise ValueError(f"{name!r} is not as expected")
    return replace(usual, **known)


def write(choices: Remembered) -> None:
    """Keep the home's choices for the next start. Raises DataFolderError."""
    write_choices(FILE, choices, "home")


def write_choices(name: str, choices: DataclassInstance, window: str) -> None:
    """Keep the choices in a window for the next start. Raises DataFolderError."""
    path = resources.settings_root() / name
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # In ASCII: the path of a study may hold bytes that are no text.
        partial.write_text(json.dumps(asdict(choices), indent=1), encoding="ascii")
        partial.replace(path)
    except OSError as error:
        raise DataFolderError(
            f"The {window}'s choices could not be saved in {path} ({error.strerror}).",
            safe="Sessions and studies are not affected.",
            todo="Make the folder writable, or set $LABAPP_SETTINGS to another one.",
        ) from error
