"""agreement.md: every figure with what it is, and why where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from labapp.annotations.reliability.gathering import TierCoding
from labapp.annotations.reliability.phrases import LANDMARKS, heading, interval, phase, what
from labapp.annotations.reliability.results import Figure, TierResults

ACTIVE = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*_[]<>#&"})
"""Characters that Markdown would carry out."""


def page(results: Sequence[TierResults], left_out: Sequence[str], everybody: bool) -> str:
    """The whole page.

    Parameters
    ----------
    results : sequence of TierResults
        By codebook, version, round and tier.
    left_out : sequence of str
        What is not compared and why, a sentence each.
    everybody : bool
        Whether units of all speakers are compared, not the participant's alone.
    """
    return "\n".join(_lines(results, left_out, everybody)) + "\n"


def _lines(
    results: Sequence[TierResults], left_out: Sequence[str], everybody: bool
) -> Iterator[str]:
    yield "# Agreement of raters"
    yield ""
    yield (
        "Nothing here is pooled over versions of a codebook, nor over training and independent "
        f"coding. Units are {'those of all speakers' if everybody else 'what participants said'}. "
        "Intervals are 95 %, "
        "percentiles of a bootstrap in which whole sessions are drawn, since what is said in one "
        "session hangs together."
    )
    yield ""
    yield LANDMARKS
    if not results:
        yield ""
        yield "There is nothing to compare."
    for each in results:
        yield from _tier(each)
    if left_out:
        yield ""
        yield "## Left out"
        yield ""
        yield from (f"- {_text(line)}" for line in left_out)


def _tier(results: TierResults) -> Iterator[str]:
    tier = results.tier
    yield ""
    yield f"## {_text(_title(tier))}"
    if tier.tier.on == "units" and tier.tier.optional:
        yield ""
        yield (
            "A unit of this tier may be left without a code; that two raters left it so counts as "
            "agreement."
        )
    if not results.figures:
        yield ""
        yield "Nobody is compared."
    for _, some in groupby(results.figures, key=lambda f: (f.same_rater, f.raters)):
        figures = list(some)
        yield ""
        yield f"### {_text(heading(figures[0]))}"
        yield ""
        yield f"{phase(figures[0]).capitalize()}."
        yield ""
        yield from _table(figures)
        if any(figure.skewed and figure.result.measure == "Gwet's AC1" for figure in figures):
            yield ""
            yield (
                "Skewed: fewer than a tenth of the ratings have the code, or fewer than a tenth "
                "lack it. Kappa and alpha are then low although raters agree; read AC1 beside them."
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
