"""`labapp code agree`: how far raters agree, in studies or in any table of ratings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import UsageError
from labapp.cli.options import Data, Json, study_path


def code_agree(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STUDY]…", help="Studies by name or folder; sessions or bundles by path."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Of studies: the folder to write; it must not exist."),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="TIME", help="Of time-unit kappa: 1s (default), 100ms."),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        typer.Option(
            "--repeat",
            metavar="RATER=RATER",
            help="Of studies: two codings by one person, as in anna=anna2; several times.",
        ),
    ] = None,
    all_speakers: Annotated[
        bool, typer.Option("--all-speakers", help="Of studies: not the participant's units alone.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE.csv",
            help="Any ratings: the first column the unit, a column a rater, empty = missing.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", metavar="NAME", help="Of a table: alpha, kappa or fleiss."),
    ] = None,
    level: Annotated[
        str | None, typer.Option("--level", help="Of a table: nominal, ordinal, interval or ratio.")
    ] = None,
    data: Data = None,
    json_: Json = False,
) -> None:
    """How far raters agree: in the sessions of studies, or in any table of ratings.

    Example: labapp code agree my-study --out agreement
    """
    of_studies: dict[str, object] = {
        "--out": out, "--grid": grid, "--repeat": repeat, "--all-speakers": all_speakers
    }  # fmt: skip
    of_table: dict[str, object] = {"--measure": measure, "--level": level}
    if table is not None:
        _refuse_options("not beside --table", {"STUDY": studies} | of_studies)
        _agree_in_table(table, measure or "alpha", level or "nominal", json_)
        return
    _refuse_options("only with --table", of_table)
    if not studies or out is None:
        raise UsageError(
            "Nothing to compare was given." if not studies else "There is no --out.",
            todo="Name a study and a folder: labapp code agree my-study --out agreement; or a "
            "table: labapp code agree --table ratings.csv",
        )
    step = _atoms(grid or "1s")
    again = [_pair(text) for text in repeat or []]
    from labapp.coding.annotations.reliability.study import study_agreement

    paths = [study_path(name, data) for name in studies]
    result = study_agreement(paths, out, step=step, again=again, everybody=all_speakers)
    if json_:
        say_json(result.to_json())
        return
    for line in result.lines():
        say_line(line)
    for line in result.left_out:
        say_line(f"Left out: {line}", err=True)
    say(f"agreement: {result.page}")


def _atoms(text: str) -> int:
    """A length of time as 1s or 100ms, in whole milliseconds."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*(ms|s)", text.strip(), re.ASCII)
    length = float(match[1]) * (1000 if match[2] == "s" else 1) if match else 0
    if length < 1 or length != int(length):
        raise UsageError(
            f"--grid {text}: that is no length of time in whole milliseconds.",
            todo="Give it as 1s, 0.5s or 100ms.",
        )
    return int(length)


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition("=")
    if not first or not second or first == second:
        raise UsageError(
            f"--repeat {text}: two names of one person's codings are needed.",
            todo="Give the first and the second coding, as in --repeat anna=anna2.",
        )
    return first, second


def _refuse_options(where: str, options: Mapping[str, object]) -> None:
    if given := [name for name, value in options.items() if value]:
        raise UsageError(
            f"{' and '.join(given)}: {where}.",
            todo="Compare the sessions of studies or a table of ratings, one after the other.",
        )


def _agree_in_table(path: Path, measure: str, level: str, json_: bool) -> None:
    from labapp.coding.agreement.coefficients import LEVELS
    from labapp.coding.agreement.table import MEASURES, agree, read_table

    _among("--measure", measure, MEASURES)
    _among("--level", level, LEVELS)
    table = read_table(path)
    result = agree(table, measure, level)  # type: ignore[arg-type]
    notes = list(table.notes)
    if level == "nominal":
        notes += [
            f"{cell!r} stands in {times} cells and counts as a code; a missing rating is an empty "
            "cell."
            for cell, times in table.doubtful.items()
        ]
        notes += [
            f"{' and '.join(map(repr, forms))} differ only in capital letters and count as "
            "different codes."
            for forms in table.differing_in_case
        ]
    if result.n_comparable < result.n_units:
        notes.append(
            f"{result.n_comparable} of {result.n_units} units have two ratings or more; the others "
            "cannot be compared."
        )
    for note in notes:
        say_line(f"Note: {note}", err=True)
    if json_:
        told = {"notes": notes} if notes else {}
        say_json({**result.to_json(), "measure": measure, **told})
        return
    value = "undefined" if result.value is None else f"{result.value:.6g}"
    say(f"{result.measure}, {level}: {value}")
    if result.reason:
        say(f"Why: {result.reason}.")
    say(f"{result.n_units} units, {result.n_raters} raters")


def _among(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{option} {value}: there is no such choice.", todo=f"Give one of {', '.join(allowed)}."
        )
