"""`labapp completion`: the Tab key in a shell, and the names that it offers.

Names are read only from folders, since the shell waits: no file is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from labapp.base import resources
from labapp.base.console import say
from labapp.base.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_LABAPP_COMPLETE"
"""Set in the environment by the lines of a shell when Tab is pressed."""
MOST = 200
"""Names that are offered at most."""
_HARMLESS = r"[A-Za-z0-9_][A-Za-z0-9_./-]*"
"""Names that a shell takes as they are; others are not offered, since zsh evaluates its list."""
_SESSION = r"sub-([A-Za-z0-9]+)_ses-[A-Za-z0-9]+_[0-9]{8}T[0-9]{6}Z"


def completion(shell: str) -> None:
    """Print the lines that let the Tab key complete commands, options and names in a shell.

    The installation guide says where to put them.

    Example: labapp completion bash

    shell bash|zsh|fish: The shell: bash, zsh or fish.
    """
    if shell not in SHELLS:
        raise UsageError(
            f"There are no completions for {shell!r}.", todo=f"Use one of: {', '.join(SHELLS)}."
        )
    scripts: Any = import_module("typer.completion")  # what it offers, it does not declare
    say(scripts.get_completion_script(prog_name="labapp", complete_var=VARIABLE, shell=shell))


def prepare() -> None:
    """Make ready to answer if a shell asks."""
    if VARIABLE in os.environ:
        answering: Any = import_module("typer.completion")
        answering.completion_init()


Names = Callable[[typer.Context, str], list[str]]


def _offered(names: Iterable[str], beginning: str) -> list[str]:
    fitting = (name for name in names if name.startswith(beginning))
    harmless = dict.fromkeys(name for name in fitting if re.fullmatch(_HARMLESS, name))
    return [*harmless][:MOST]


def _folders(root: Path, pattern: str) -> list[str]:
    """What lies under a root, the last by name first; nothing if it cannot be listed."""
    try:
        return sorted((path.name for path in root.glob(pattern)), reverse=True)
    except OSError:
        return []


def _data_root(context: typer.Context) -> Path:
    given: Any = context.params.get("data")
    return resources.data_root(Path(given) if given else None)


def _sessions(context: typer.Context) -> list[str]:
    names = [
        name for name in _folders(_data_root(context), "*/sub-*") if re.fullmatch(_SESSION, name)
    ]
    return sorted(names, key=lambda name: name.rpartition("_")[2], reverse=True)


def _ids(roots: Iterable[Path], pattern: str) -> list[str]:
    """The ids of what has a file of this pattern: its folders."""
    ids = {
        path.parent.relative_to(root).as_posix() for root in roots for path in root.glob(pattern)
    }
    return sorted(ids)


def studies(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of studies that come with the program or with packages."""
    from labapp.base import discovery

    roots = (resources.assets(), *discovery.asset_folders())
    names = {path.stem for root in roots for path in (root / "studies").glob("*.yaml")}
    return _offered(sorted(names), incomplete)


def sessions(context: typer.Context, incomplete: str) -> list[str]:
    """Names of recorded sessions, the newest first."""
    return _offered(_sessions(context), incomplete)


def recorded_studies(context: typer.Context, incomplete: str) -> list[str]:
    """Names of the folders of studies that have sessions."""
    root = _data_root(context)
    names = {path.parent.name for path in root.glob("*/sub-*") if re.fullmatch(_SESSION, path.name)}
    return _offered(sorted(names), incomplete)


def sessions_or_studies(context: typer.Context, incomplete: str) -> list[str]:
    """Names of recorded sessions and of their studies."""
    return recorded_studies(context, incomplete) + sessions(context, incomplete)


def participants(context: typer.Context, incomplete: str) -> list[str]:
    """Labels of the participants of recorded sessions."""
    labels = {match[1] for name in _sessions(context) if (match := re.fullmatch(_SESSION, name))}
    return _offered(sorted(labels), incomplete)


def models(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of models of every kind, shipped ones and one's own."""
    return _offered(_ids(resources.model_roots(), "*/*/*.yaml"), incomplete)


def stimulus_sets(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of stimulus sets, shipped ones and one's own."""
    roots = (resources.stimuli(), resources.user_stimuli())
    return _offered(_ids(roots, "*/manifest.json"), incomplete)


Study = Annotated[str, studies]
RecordedStudy = Annotated[str, recorded_studies]
Session = Annotated[str, sessions]
SessionOrStudy = Annotated[str, sessions_or_studies]
Participant = Annotated[str, participants]
Model = Annotated[str, models]
StimulusSet = Annotated[str, stimulus_sets]
"""Types of parameters that the Tab key completes."""
