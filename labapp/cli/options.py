"""Options that several commands share, and how JSON is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from labapp.base import access
from labapp.base.console import PROGRESS, make_printable, say, say_json, say_line, say_progress
from labapp.base.errors import (
    DONE,
    NOT_DONE,
    CheckFailed,
    NotFoundError,
    RefusedError,
    UsageError,
)
from labapp.session.simulation.names import STRATEGY_NAMES

if TYPE_CHECKING:
    from labapp.ui.starting import RunOptions

Lsl = Annotated[
    bool | None,
    typer.Option(
        "--lsl/--no-lsl",
        help="Send events over LSL (unencrypted), or do not send them. Default: as the study says.",
        show_default=False,
    ),
]
Blind = Annotated[
    bool | None,
    typer.Option(
        "--blind/--no-blind",
        help="Hide from the moderator which model or condition is shown, or do not hide it. "
        "The session records the choice. Default: as the study's tasks require; a resumed "
        "session stays as it was.",
        show_default=False,
    ),
]


@contextmanager
def progress_bar(what: str = "") -> Iterator[Callable[[float | None, str], None]]:
    """A bar with an estimate on the standard error, if somebody sees it move; a function of the
    share that is done (0..1, None if nobody knows) and what is being done.

    It appears when that is first called: what cannot be begun is refused without one. Where a
    window wants it (`labapp.base.console.PROGRESS`), a line for each call instead; in a file or a
    pipe a line every ten seconds, which says `what` until more is known.
    """
    if os.environ.get(PROGRESS):
        yield say_progress
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_interactive:
        from labapp.base.progress import lines

        with lines(what) as tell_lines:
            yield tell_lines
        return
    bar = Progress(console=console, transient=True)
    job = bar.add_task("", total=None)

    def tell(share: float | None, what: str) -> None:
        bar.start()
        total = None if share is None else 1.0
        bar.update(job, total=total, completed=share, description=what)

    try:
        yield tell
    finally:
        bar.stop()


def make_exit(*, well: bool) -> typer.Exit:
    """How a command ends that checks something, or does something for several sessions."""
    return typer.Exit(DONE if well else NOT_DONE)


@contextmanager
def as_check() -> Iterator[None]:
    """In a command that checks: what is refused is a fault that the check found. Raises
    CheckFailed."""
    try:
        yield
    except NotFoundError:
        raise
    except RefusedError as error:
        raise CheckFailed(
            error.what, safe=error.safe, todo=error.todo, faults=error.faults
        ) from error


def confirm(question: str, otherwise: str) -> None:
    """Ask before something is deleted for good. With any other answer than yes, `otherwise` is
    printed and the command ends."""
    if not typer.confirm(make_printable(question), err=True):
        say(otherwise)
        raise make_exit(well=False)


class Report(Protocol):
    """What a command found or did: for machines and for people."""

    def to_json(self) -> Any: ...

    def lines(self) -> Iterable[object]: ...


def show(report: Report, json_: bool, say_one: Callable[[object], None] = say_line) -> None:
    """Print a report: as one JSON value, or line by line."""
    say_either(json_, report.to_json() if json_ else None, report.lines(), say_one)


def say_either(
    json_: bool, value: Any, lines: Iterable[object], say_one: Callable[[object], None] = say_line
) -> None:
    """Print a value as JSON, or the lines that say it for people."""
    if json_:
        say_json(value)
        return
    for line in lines:
        say_one(line)


def one_place(workers: int | None, dask: str | None) -> None:
    """Refuse work that is asked for both here and on a cluster. Raises UsageError."""
    if workers is not None and dask is not None:
        raise UsageError(
            f"--workers {workers} and --dask {dask} were both given: use only one of them.",
            safe="Nothing was begun.",
            todo="Leave one of them out: --workers is for processes of this machine; a Dask "
            "cluster has the workers that were started for it.",
        )


def data_folder(data: Path | None) -> Path:
    """The data root: the given folder or the usual one. Raises UsageError if it is a file."""
    from labapp.base.resources import data_root

    root = data_root(data)
    if root.exists() and not root.is_dir():
        raise UsageError(
            f"{root} is a file, but sessions are stored in a folder.",
            todo="Name the folder with --data.",
        )
    return root


def warn_of_wide(data: Path | None) -> None:
    """Say on the standard error where others can read the data folder."""
    if warning := access.warning(data_folder(data)):
        say(f"Warning: {warning}", err=True)


def session_path(session: str, data: Path | None) -> Path:
    """A path as it is, or a session's name under the data root."""
    path = Path(session)
    if path.exists():
        return path
    root = data_folder(data)
    folders = sorted(root.glob(f"*/{session}")) if path.name == session else []
    if len(folders) == 1:
        return folders[0]
    raise NotFoundError(
        f"There is no session or bundle {session!r} here or in {root}.",
        todo="`labapp sessions list` shows the sessions. You can also give the path of a folder.",
    )


def study_folder(study: str, data: Path | None) -> Path:
    """The folder of a study's sessions: a path as it is, or a study's id under the data root."""
    path = Path(study)
    if path.is_dir():
        return path
    root = data_folder(data)
    if path.name == study and (root / study).is_dir():
        return root / study
    raise NotFoundError(
        f"There is no folder with sessions of a study {study!r} here or in {root}.",
        todo="Give the study's id, or the folder that contains its sessions.",
    )


def study_path(name: str, data: Path | None, *, sessions: bool = False) -> Path:
    """A path as it is, or a study's folder under the data root. Raises NotFoundError.

    sessions: whether a session's name is found there, too.
    """
    path = Path(name)
    if path.exists():
        return path
    root = data_folder(data)
    folders = [root / name]
    if sessions:
        folders += sorted(root.glob(f"*/{name}"))
    there = [folder for folder in folders if folder.is_dir()]
    if path.name == name and len(there) == 1:
        return there[0]
    raise NotFoundError(
        f"There is no study, session or bundle {name!r} here or in {root}.",
        todo="`labapp sessions list` shows what was recorded. You can also give the path of a "
        "folder.",
    )


def strategy_name(name: str | None, mixture: str | None = None) -> str | None:
    """A strategy, or shares of several as text; or none. Whether the study's tasks know it is
    looked at once the study is read. Raises UsageError."""
    from labapp.session.simulation.names import MIXTURE

    if mixture is not None and name != MIXTURE:
        raise UsageError(
            f"--mixture needs --strategy mixture, but the strategy is {name!r}.",
            safe="No session was begun.",
            todo=f"Use --strategy {MIXTURE}, or leave --mixture out.",
        )
    shares = mixture if mixture is not None else name if name and "=" in name else None
    if shares is not None:
        from labapp.session.simulation.strategies import parse

        parse(shares)
        return shares
    return name


def run_options(
    data: Path | None,
    private: Path | None,
    screen: str | None,
    windowed: bool,
    audio: str | None,
    simulate: str | None,
    speed: float,
    blind: bool | None,
    **more: Any,
) -> RunOptions:
    """What the commands that show a session were told; warns of a data folder others can read.

    more: what only one of the commands has. Raises UsageError for a speed or a strategy that cannot
    be.
    """
    from labapp.ui.starting import RunOptions

    simulate = strategy_name(simulate)
    if not 0 < speed <= 1000:
        raise UsageError(f"--speed must be above 0 and at most 1000, found {speed:g}.")
    warn_of_wide(data)
    more |= {"speed": speed, "blind": blind}
    return RunOptions(data, private, screen, windowed, audio, simulate, **more)


Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        help=f"One of {', '.join(STRATEGY_NAMES)}; or a strategy that a task adds. Default: the "
        "first one that the study's tasks support, such as understanding or careful.",
    ),
]
