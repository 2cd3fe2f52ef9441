"""From the files of studies to a folder of figures: what the command and windows call.

Agreement as a folder: agreement.csv, confusion.csv, disagreements.csv, and agreement.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, product
from pathlib import Path
from typing import Any

from labapp.base import access, leftovers
from labapp.base.errors import DataFolderError, ExportExists, UsageError
from labapp.base.reading.tables import write_csv
from labapp.coding.agreement.coefficients import ATOM_NS, confusion
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import SessionAnnotations
from labapp.coding.annotations.reliability.gathering import (
    NO_CODE,
    CodedSession,
    TierCoding,
    gather,
)
from labapp.coding.annotations.reliability.results import (
    Figure,
    TierResults,
    codes_of,
    differences,
    results_of,
)
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.store import annotations_of, codebooks_in, study_sessions
from labapp.record.journal.opening import is_session, iter_records, places
from labapp.record.journal.record import Record
from labapp.record.journal.sessions import sessions_in

STEP = 1_000
"""The grid of time-unit kappa unless it is said otherwise, in milliseconds."""


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """How far raters agree. results: by codebook, version, round and tier; left_out: what is not
    compared and why, a sentence each."""

    results: tuple[TierResults, ...]
    left_out: tuple[str, ...]
    page: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        figures = list(figure_rows(self.results))
        return {"page": str(self.page or ""), "figures": figures, "left_out": list(self.left_out)}

    def lines(self) -> list[str]:
        """The main figure of each tier, a line each."""
        lines = []
        for tier in self.results:
            for figure in tier.figures[:1]:
                result = figure.result
                value = f"none ({result.reason})" if result.value is None else f"{result.value:.3f}"
                lines.append(
                    f"{tier.tier.tier.name}, {tier.tier.phase}: {result.measure} {value}, "
                    f"{result.n_comparable} {figure.basis}, {', '.join(figure.raters)}"
                )
        return lines or ["There is nothing to compare."]


def study_agreement(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    step: int = STEP,
    again: Sequence[tuple[str, str]] = (),
    everybody: bool = False,
) -> StudyAgreement:
    """Compare the raters of studies. Raises LabappError: a place is no study, a name is nobody's,
    or the folder cannot be written.

    Parameters
    ----------
    paths : folders of studies, sessions or bundles.
    out : a folder to write, which must not exist.
    step : the grid of time-unit kappa in milliseconds.
    again : raters who coded twice: the names of the first and of the second coding.
    everybody : whether units of all speakers are compared, not only the participant's.
    """
    coded = read_studies(paths)
    names = {rater for session in coded.sessions for rater in session.annotations.raters}
    if unknown := sorted({rater for pair in again for rater in pair} - names):
        raise UsageError(
            f"{unknown[0]} has made no marks here.",
            todo=f"Raters here: {', '.join(sorted(names)) or 'none'}.",
        )
    gathered = gather(coded.sessions, coded.codebooks)
    results = tuple(
        results_of(tier, step=step, again=again, everybody=everybody) for tier in gathered.tiers
    )
    left_out = (*coded.remarks, *gathered.left_out)
    page = None
    if out is not None:
        folders = [each for path in paths for each in places(path) if is_session(each)]
        page = write(results, left_out, out, everybody=everybody, sessions=folders)
    return StudyAgreement(results, left_out, page)


@dataclass(frozen=True, slots=True)
class CodedStudies:
    """What was read.

    Attributes
    ----------
    sessions : in the order of their paths and names.
    codebooks : every version that marks were given by, by its SHA-256.
    remarks : what was left out or cut off and why, a sentence each.
    """

    sessions: tuple[CodedSession, ...]
    codebooks: dict[str, Codebook]
    remarks: tuple[str, ...]


def read_studies(paths: Sequence[Path]) -> CodedStudies:
    """Read the annotations of studies, sessions and bundles. Raises LabappError if a path is none
    of these, a session is given twice, or a file of it is damaged."""
    sessions: dict[tuple[str, str], CodedSession] = {}
    codebooks: dict[str, Codebook] = {}
    remarks: list[str] = []
    for path in paths:
        for record, coded in _records(path, remarks):
            key = record.study, str(record.name)
            if key in sessions:
                raise UsageError(
                    f"{key[1]} is given twice.", todo="Name each study, session or bundle once."
                )
            remarks += [f"{key[1]}: {remark}" for remark in coded.remarks]
            codebooks.update(codebooks_in(record))
            units = coded.segmentation.units
            end = max(record.rows[-1].t_ns, *(unit.t1_ns for unit in units), 0) + 1
            sessions[key] = CodedSession(
                record.study, record.participant, coded, 0, end, assignments_of(record)
            )
    return CodedStudies(tuple(sessions.values()), codebooks, tuple(remarks))


def _records(path: Path, remarks: list[str]) -> Iterator[tuple[Record, SessionAnnotations]]:
    """The sessions that may be used; the others are told of in `remarks`."""
    if sessions_in(path):
        study = study_sessions(path)
        remarks += [f"{name}: {why.rstrip('.')}." for name, why in study.left_out]
        yield from ((session.record, session.annotations) for session in study.usable)
        return
    for record in iter_records(path):
        if record.withdrawn:
            remarks.append(f"{record.name}: its participant withdrew.")
        else:
            yield record, annotations_of(record)


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
    """Write the figures into a new folder; returns the page's path. everybody: whether units of all
    speakers are compared; sessions: the folders of those that were, whose studies know of the
    folder until it is whole. Raises ExportExists: the folder is there already; DataFolderError: it
    cannot be written."""
    leftovers.clear_of(sessions)
    if out.exists() or out.is_symlink():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    try:
        access.make_above(out)
        with leftovers.on_its_way(sessions, out, needed=False) as (hidden,):
            access.own_folder(hidden, exist_ok=False)
            _write(hidden / FIGURES, FIGURE_COLUMNS, figure_rows(results))
            _write(hidden / CONFUSION, CONFUSION_COLUMNS, confusion_rows(results))
            _write(hidden / DISAGREEMENTS, DISAGREEMENT_COLUMNS, disagreement_rows(results))
            with (hidden / PAGE).open("x", encoding="utf-8", newline="\n") as file:
                file.write("\n".join(_page(results, left_out, everybody)) + "\n")
            hidden.rename(out)
    except OSError as error:
        raise DataFolderError.unwritten(
            "The agreement", out, error, "All marks are unchanged."
        ) from error
    return out / PAGE


def figure_rows(results: Iterable[TierResults]) -> Iterator[Row]:
    """A row a figure."""
    for figure in (figure for tier in results for figure in tier.figures):
        result, drawn = figure.result, figure.result.interval
        yield _of_tier(figure.tier) | {
            "code": figure.code,
            "raters": ", ".join(figure.raters),
            "same_rater": figure.same_rater,
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
    """One row per pair of codes that two raters gave the same units, of one-code tiers."""
    for tier in results:
        table = tier.units
        if table is None or not tier.tier.tier.exclusive:
            continue
        scale = [code.id for code in codes_of(tier.tier)]
        for pair in combinations(table.raters, 2):
            ratings = table.of(pair).codes(scale, tier.tier.tier.optional)
            if not ratings.n_units:
                continue
            every = product(ratings.categories, repeat=2)
            for codes, n in zip(every, confusion(ratings).ravel().tolist(), strict=True):
                yield _of_tier(tier.tier) | {
                    "rater_a": pair[0],
                    "rater_b": pair[1],
                    "code_a": codes[0],
                    "code_b": codes[1],
                    "n": n,
                }


def disagreement_rows(results: Iterable[TierResults]) -> Iterator[Row]:
    """One row per unit, or a stretch of time, to which raters gave different codes; onset and
    offset in seconds of session time."""
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
                        row.session,
                        row.unit.id,
                        (row.unit.t0_ns, row.unit.t1_ns),
                        {rater: _format_codes(*each) for rater, each in given.items()},
                    )
        for stretch in tier.stretches:
            for begin, end, codes in differences(stretch):
                yield _disagreement(
                    tier,
                    stretch.session,
                    "",
                    (begin * ATOM_NS, end * ATOM_NS),
                    {r: _format_codes(c, {}) for r, c in zip(stretch.raters, codes, strict=True)},
                )


def _disagreement(
    tier: TierResults,
    session: CodedSession,
    unit: str,
    times: tuple[int, int],
    codes: dict[str, str],
) -> Row:
    onset, offset = (t / 1e9 for t in times)
    minutes, seconds = divmod(times[0] // 100_000_000, 600)
    return _of_tier(tier.tier) | {
        "study": session.study,
        "session": session.name,
        "unit": unit,
        "onset": round(onset, 3),
        "offset": round(offset, 3),
        "codes": "; ".join(f"{rater}: {text}" for rater, text in codes.items()),
        "listen": f"labapp replay {session.name} --at {minutes}:{seconds / 10:04.1f}",
    }


def _format_codes(codes: frozenset[str], values: dict[str, int]) -> str:
    each = (f"{code} {values[code]}" if code in values else code for code in sorted(codes))
    return ", ".join(each) or NO_CODE


def _of_tier(tier: Any) -> Row:
    return {
        "codebook": tier.codebook.id,
        "version": tier.codebook.version,
        "tier": tier.tier.name,
        "round": tier.phase,
    }


def _write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        write_csv(file, columns, ([_cell(row.get(name)) for name in columns] for row in rows))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value == "" else value


ACTIVE = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*_[]<>#&"})
"""Characters that Markdown would carry out."""


WHAT = {
    "Cohen's kappa": "agreement of two raters beyond what their own frequencies would give by "
    "chance",
    "Krippendorff's alpha": "one minus observed over expected disagreement; any number of raters, "
    "ratings may be missing",
    "Krippendorff's alpha with MASI distance": "alpha of units that may have several codes: "
    "sets of codes that overlap count as agreement in part",
    "Gwet's AC1": "agreement beyond chance where chance is only what raters guess on hard units; "
    "it does not fall because a code is rare",
    "Fleiss's kappa": "agreement beyond chance if every unit has the same number of ratings, "
    "from any raters",
    "linear weighted kappa": "kappa of values, with disagreements weighted by their distance",
    "quadratic weighted kappa": "kappa of values, with disagreements weighted by their squared "
    "distance",
    "ICC(2,1)": "the share of the variation in values that is due to the units, for a single "
    "rater drawn from many; raters who differ by a constant disagree",
    "nominal u-alpha": "agreement on stretches that raters set themselves: where they are and "
    "which code they have, gaps included; atom of time 1 ms",
    "binary u-alpha": "agreement on where there is a code at all, gaps included; atom of time 1 ms",
    "time-unit kappa": "Cohen's kappa of what applies at the points of a time grid; it depends "
    "on the grid and its origin, and is given for comparison with other "
    "programs",
}
"""By the name of a measure."""

LEVELS = {
    "ordinal": "; only the order of the values matters",
    "interval": "; values by their differences",
}


def _page(
    results: Sequence[TierResults], left_out: Sequence[str], everybody: bool
) -> Iterator[str]:
    yield "# Agreement of raters\n"
    yield (
        "Nothing here is pooled over versions of a codebook, or over training and independent "
        "coding. Units are "
        f"{'those of all speakers' if everybody else 'what participants said'}. Intervals are 95 "
        "%: percentiles of a bootstrap that draws participants with all their sessions, since "
        "what one person says is related.\n"
    )
    yield (
        "Krippendorff recommends .800 for reliable conclusions and at least .667 for tentative "
        "ones. These are guidelines, not verdicts: how much is enough depends on what the codes "
        "are used for."
    )
    if not results:
        yield "\nThere is nothing to compare."
    for each in results:
        yield from _tier(each)
    if left_out:
        yield "\n## Left out\n"
        yield from (f"- {_text(line)}" for line in left_out)


def _tier(results: TierResults) -> Iterator[str]:
    tier = results.tier
    yield f"\n## {_text(_title(tier))}"
    if tier.tier.on == "units" and tier.tier.optional:
        yield (
            "\nA unit of this tier may have no code; if two raters both give none, that counts "
            "as agreement."
        )
    if not results.figures:
        yield "\nNobody is compared."
    for _, some in groupby(results.figures, key=lambda f: (f.same_rater, f.raters)):
        figures = list(some)
        yield f"\n### {_text(heading(figures[0]))}\n"
        yield f"{phase(figures[0]).capitalize()}.\n"
        yield from _table(figures)
        if any(figure.skewed and figure.result.measure == "Gwet's AC1" for figure in figures):
            yield (
                "\nSkewed: fewer than a tenth of the ratings have the code, or fewer than a "
                "tenth lack it. Kappa and alpha can then be low although raters agree, so read "
                "AC1 as well."
            )
        yield ""
        yield from (f"- *{_text(name)}*: {_text(text)}." for name, text in _meanings(figures))
        reasons = dict.fromkeys(
            figure.result.interval.reason
            for figure in figures
            if figure.result.value is not None and figure.result.interval.low is None
        )
        yield from (f"- *No interval*: {_text(reason)}." for reason in reasons)
    if results.remarks:
        yield ""
        yield from (f"- {_text(line)}" for line in results.remarks)


def _title(tier: TierCoding) -> str:
    name = tier.tier.title or tier.tier.name
    book = tier.codebook.title or tier.codebook.id
    training = ", training" if tier.phase == "training" else ""
    return f"{name} ({book}, version {tier.codebook.version}{training})"


def _table(figures: Sequence[Figure]) -> Iterator[str]:
    yield "| code | measure | value | 95 % interval | counted | sessions | same, % | has it, % |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for figure in figures:
        result = figure.result
        name = result.measure + (f", {result.level}" if figure.basis == "values" else "")
        most = f" (at most {figure.kappa_max:.3f})" if figure.kappa_max is not None else ""
        value = f"none: {result.reason}" if result.value is None else f"{result.value:.3f}{most}"
        cells = (
            figure.code or "all",
            name,
            value,
            interval(figure) if result.value is not None else "",
            f"{result.n_comparable} {figure.basis}",
            str(figure.n_sessions),
            "" if figure.percent is None else f"{figure.percent:.1f}",
            ""
            if figure.prevalence is None
            else f"{100 * figure.prevalence:.1f}{' (skewed)' * figure.skewed}",
        )
        yield f"| {' | '.join(_text(cell) for cell in cells)} |"


def _meanings(figures: Sequence[Figure]) -> list[tuple[str, str]]:
    """Each kind of figure once."""
    meanings: dict[tuple[str, str], None] = {}
    for figure in figures:
        of = " of a code" if figure.code and figure.basis == "units" else ""
        of = f" of values, {figure.result.level}" if figure.basis == "values" else of
        of = " of moments" if figure.basis == "windows" else of
        meanings[figure.result.measure + of, what(figure)] = None
    return list(meanings)


def _text(text: str) -> str:
    """A text in which Markdown finds nothing to do."""
    return " ".join(text.split()).translate(ACTIVE)


def what(figure: Figure) -> str:
    """What a figure is: a clause."""
    result = figure.result
    text = WHAT[result.measure]
    if figure.basis == "values" and result.measure == "Krippendorff's alpha":
        text += LEVELS.get(result.level, "")
    if figure.basis == "windows":
        text += (
            "; whether a window contains a moment with the code, in windows of "
            f"{figure.grid_s:g} s from the beginning of what both coded"
        )
    if figure.basis == "instants":
        text += f"; grid of {figure.grid_s:g} s from the beginning of what both coded"
    if figure.code and figure.basis == "units":
        text += "; the code against its absence"
    return text


def interval(figure: Figure) -> str:
    """Its interval."""
    drawn = figure.result.interval
    if drawn.low is None or drawn.high is None:
        return "none"
    left_out = f", {drawn.undefined} draws without a value left out" if drawn.undefined else ""
    return f"{drawn.low:.3f} to {drawn.high:.3f} ({drawn.clusters} participants drawn{left_out})"


def heading(figure: Figure) -> str:
    """The round and the raters, as a heading."""
    if figure.same_rater:
        return f"One rater, coded twice: {' and '.join(figure.raters)}"
    return f"Between raters: {', '.join(figure.raters) or 'nobody'}"


def phase(figure: Figure) -> str:
    """What the round of a figure is good for."""
    if figure.tier.phase == "training":
        return "training: for learning the codebook, not for reporting"
    return "coded independently and locked"
