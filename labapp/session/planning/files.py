"""A plan as a folder: plan.html, its figures as SVG and PNG, and every number as CSV."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from labapp.base import access
from labapp.base.errors import DataFolderError, ExportExists
from labapp.base.text_tables import write_csv
from labapp.session.planning.declared_contrasts import ContrastPower
from labapp.session.planning.numbers import tables
from labapp.session.planning.plan import Plan
from labapp.study.loading import LoadedStudy

PAGE = "plan.html"
FIGURES = "figures"
SESSIONS = "sessions"


@contextmanager
def created(out: Path | None, option: str = "--out", kept: Collection[str] = ()) -> Iterator[None]:
    """Make the folder before anything is computed for it, and remove it again if nothing came of
    it. None asks for no folder; option: by which the user names it; kept: what may be in it, of one
    that was stopped. Raises ExportExists, DataFolderError."""
    if out is None:
        yield
        return
    try:
        # What was killed leaves its folder, and nothing in it.
        begun = out.is_dir() and all(path.name in kept for path in out.iterdir())
        access.own_folder(out, exist_ok=begun)
    except FileExistsError as error:
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo=f"Name a new folder with {option}.",
        ) from error
    except OSError as error:
        raise _unwritable(out, error) from error
    try:
        yield
    except BaseException:
        with suppress(OSError):  # only an empty folder can be removed so
            out.rmdir()
        raise


def write(plan: Plan, out: Path) -> Path:
    """Write a plan into a folder made by `created`; returns the page's path. Nothing is written
    over. Raises DataFolderError."""
    from labapp.session.planning.figures import plates
    from labapp.session.planning.page import page

    drawn = plates(plan)
    try:
        for name, rows in tables(plan).items():
            if rows:
                _write_rows(out / f"{name}.csv", rows)
        (out / FIGURES).mkdir()
        for plate in drawn:
            plate.save(out / FIGURES)
        text, path = page(plan, drawn), out / PAGE
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(out, error) from error
    return path


def write_contrasts(loaded: LoadedStudy, powers: Sequence[ContrastPower], out: Path) -> Path:
    """Write the plan of contrasts into a folder made by `created`; returns the page's path. Raises
    DataFolderError."""
    from labapp.session.planning import declared_contrasts

    figure = declared_contrasts.plate(powers)
    try:
        _write_rows(out / "contrasts.csv", declared_contrasts.summary(powers))
        _write_rows(out / "power.csv", declared_contrasts.rows(powers))
        (out / FIGURES).mkdir()
        figure.save(out / FIGURES)
        path = out / PAGE
        with path.open("x", encoding="utf-8") as file:
            file.write(declared_contrasts.page(loaded, powers, figure))
    except OSError as error:
        raise _unwritable(out, error) from error
    return path


def _write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row)
    with path.open("x", encoding="utf-8", newline="") as file:
        write_csv(file, list(columns), ([row.get(name) for name in columns] for row in rows))


def _unwritable(out: Path, error: OSError) -> DataFolderError:
    return DataFolderError(
        f"The plan cannot be written to {out}: {error.strerror or error}.",
        safe="No session was recorded; what was there before is untouched.",
        todo="Free some space or name another folder.",
    )
