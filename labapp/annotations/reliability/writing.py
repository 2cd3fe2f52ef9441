"""Agreement as a folder: agreement.csv, confusion.csv, disagreements.csv, and agreement.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from labapp import access, leftovers
from labapp.agreement.continuum import ATOM_NS
from labapp.agreement.kappa import confusion
from labapp.annotations.reliability.page import page, phase, what
from labapp.annotations.reliability.results import Figure, TierResults, codes_of
from labapp.annotations.reliability.spans import differences
from labapp.annotations.reliability.units import NO_CODE
from labapp.errors import DataFolderError, ExportExists
from labapp.text_tables import write_csv

PAGE = "agreement.md"
FIGURES, CONFUSION, DISAGREEMENTS = "agreement.csv", "confusion.csv", "disagreements.csv"

Row = dict[str, Any]
FIGURE_COLUMNS = (
    "codebook", "version", "tier", "round", "code", "raters", "same_rater", "measure", "level",
    "value", "low", "high", "basis", "n", "n_raters", "n_sessions", "n_participants", "percent",
    "prevalence", "kappa_max", "grid_s", "no_value_because", "no_interval_because", "what",
    "codebook_sha256",
)  # fmt: skip
CONFUSION_COLUMNS = (
    "codebook", "version", "tier", "round", "rater_a", "rater_b", "code_a", "code_b", "n",
)  # fmt: skip
DISAGREEMENT_COLUMNS = (
    "study", "session", "codebook", "version", "tier", "round", "unit", "onset", "offset", "codes",
    "listen",
)  # fmt: skip


def write(
    results: Sequence[TierResults],
    left_out: Sequence[str],
    out: Path,
    *,
    everybody: bool = False,
    sessions: Sequence[Path] = (),
) -> Path:
    """Write the figures into a new folder; returns the page's path. everybody: whether units of
    all speakers are compared; sessions: the folders of those that were, whose studies know of the
    folder until it is whole.

    Raises
    ------
    ExportExists
        The folder is there already.
    DataFolderError
        It cannot be written.
    """
    leftovers.clear_of(sessions)
    if out.exists() or out.is_symlink():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Name a new folder with --out.",
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with leftovers.on_its_way(sessions, out, needed=False) as (hidden,):
            access.own_folder(hidden, exist_ok=False)
            _write(hidden / FIGURES, FIGURE_COLUMNS, figure_rows(results))
            _write(hidden / CONFUSION, CONFUSION_COLUMNS, confusion_rows(results))
            _write(hidden / DISAGREEMENTS, DISAGREEMENT_COLUMNS, disagreement_rows(results))
            with (hidden / PAGE).open("x", encoding="utf-8", newline="\n") as file:
                file.write(page(results, left_out, everybody))
            hidden.rename(out)
    except OSError as error:
        raise _unwritable(out, error) from error
    return out / PAGE


def figure_rows(results: Iterable[TierResults]) -> Iterator[Row]:
    """A row a figure."""
    for figure in (figure for tier in results for figure in tier.figures):
        result, drawn = figure.result, figure.result.interval
        yield _of_tier(figure.tier) | {
            "code": figure.code,
            "raters": ", ".join(figure.raters),
            "same_rater": _yes_no(figure),
            "measure": result.measure,
            "level": result.level,
            "value": result.value,
            "low": drawn.low,
            "high": drawn.high,
            "basis": figure.basis,
            "n": result.n_comparable,
            "n_raters": result.n_raters,
            "n_sessions": figure.n_sessions,
            "n_participants": drawn.clusters or None,
            "percent": figure.percent,
            "prevalence": figure.prevalence,
            "kappa_max": figure.kappa_max,
            "grid_s": figure.grid_s,
            "no_value_because": result.reason,
            "no_interval_because": drawn.reason,
            "what": f"{what(figure)} ({phase(figure)})",
            "codebook_sha256": figure.tier.codebook.sha256,
        }


def confusion_rows(results: Iterable[TierResults]) -> Iterator[Row]:
    """A row a pair of codes that two raters gave the same units, of tiers with one code a unit."""
    for tier in results:
        table = tier.units
        if table is None or not tier.tier.tier.exclusive:
            continue
        scale = [code.id for code in codes_of(tier.tier)]
        for pair in combinations(table.raters, 2):
            ratings = table.of(pair).codes(scale, tier.tier.tier.optional)
            if not ratings.n_units:
                continue
            counts = confusion(ratings)
            for first, row in zip(ratings.categories, counts.tolist(), strict=True):
                for second, n in zip(ratings.categories, row, strict=True):
                    yield _of_tier(tier.tier) | {
                        "rater_a": pair[0],
                        "rater_b": pair[1],
                        "code_a": first,
                        "code_b": second,
                        "n": n,
                    }


def disagreement_rows(results: Iterable[TierResults]) -> Iterator[Row]:
    """A row a unit, or a stretch of time, to which raters gave different codes; onset and offset in
    seconds of session time."""
    for tier in results:
        if tier.units is not None:
            for row in tier.units.rows:
                given = {
                    rater: (codes, values)
                    for rater, codes, values in zip(
                        tier.units.raters, row.codes, row.values, strict=True
                    )
                    if codes is not None
                }
                if len({(codes, *sorted(values.items())) for codes, values in given.values()}) > 1:
                    yield _disagreement(
                        tier,
                        (row.session.study, row.session.name),
                        row.unit.id,
                        (row.unit.t0_ns, row.unit.t1_ns),
                        {rater: _shown(*each) for rater, each in given.items()},
                    )
        for stretch in tier.stretches:
            for begin, end, codes in differences(stretch):
                yield _disagreement(
                    tier,
                    (stretch.session.study, stretch.session.name),
                    "",
                    (begin * ATOM_NS, end * ATOM_NS),
                    {r: _shown(c, {}) for r, c in zip(stretch.raters, codes, strict=True)},
                )


def _disagreement(
    tier: TierResults,
    session: tuple[str, str],
    unit: str,
    times: tuple[int, int],
    codes: dict[str, str],
) -> Row:
    onset, offset = (t / 1e9 for t in times)
    minutes, seconds = divmod(times[0] // 100_000_000, 600)
    return _of_tier(tier.tier) | {
        "study": session[0],
        "session": session[1],
        "unit": unit,
        "onset": round(onset, 3),
        "offset": round(offset, 3),
        "codes": "; ".join(f"{rater}: {text}" for rater, text in codes.items()),
        "listen": f"labapp replay {session[1]} --at {minutes}:{seconds / 10:04.1f}",
    }


def _shown(codes: frozenset[str], values: dict[str, int]) -> str:
    each = (f"{code} {values[code]}" if code in values else code for code in sorted(codes))
    return ", ".join(each) or NO_CODE


def _of_tier(tier: Any) -> Row:
    return {
        "codebook": tier.codebook.id,
        "version": tier.codebook.version,
        "tier": tier.tier.name,
        "round": tier.phase,
    }


def _yes_no(figure: Figure) -> str:
    return "yes" if figure.same_rater else "no"


def _write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        write_csv(
            file,
            columns,
            ([None if row.get(name) == "" else row.get(name) for name in columns] for row in rows),
        )


def _unwritable(out: Path, error: OSError) -> DataFolderError:
    return DataFolderError(
        f"The agreement cannot be written to {out}: {error.strerror or error}.",
        safe="All marks are as they were given.",
        todo="Free some space or name another folder.",
    )
