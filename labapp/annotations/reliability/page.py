"""agreement.md: every figure with what it is, and why where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from labapp.annotations.reliability.gathering import TierCoding
from labapp.annotations.reliability.results import Figure, TierResults

ACTIVE = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*_[]<>#&"})
"""Characters that Markdown would carry out."""


WHAT = {
    "Cohen's kappa": "agreement of two raters beyond what their own frequencies give by chance",
    "Krippendorff's alpha": "one minus observed over expected disagreement; any number of raters, "
    "ratings may be missing",
    "Krippendorff's alpha with MASI distance": "alpha of units that may have several codes: "
    "sets of codes that overlap count as agreement in part",
    "Gwet's AC1": "agreement beyond chance where chance is only what raters guess on hard units; "
    "it does not fall because a code is rare",
    "Fleiss's kappa": "agreement beyond chance of as many ratings for each unit, by whomever",
    "linear weighted kappa": "kappa of values in which a disagreement counts by its distance",
    "quadratic weighted kappa": "kappa of values in which a disagreement counts by its squared "
    "distance",
    "ICC(2,1)": "the share of all variation of values that is of the units, for a single rater "
    "drawn from many; raters who differ by a constant disagree",
    "nominal u-alpha": "agreement on stretches that raters set themselves: where they are and "
    "which code they have, gaps included; atom of time 1 ms",
    "binary u-alpha": "agreement on where there is a code at all, gaps included; atom of time 1 ms",
    "time-unit kappa": "Cohen's kappa of what holds at the instants of a grid; it changes with the "
    "grid and its origin, and stands here for comparison with other programs",
}
"""By the name of a measure."""

LEVELS = {
    "ordinal": "; values by their order alone",
    "interval": "; values by their differences",
}

LANDMARKS = (
    "Krippendorff names .800 as what to rely on and .667 as the lowest for tentative conclusions. "
    "These are landmarks of his, not verdicts: what is enough hangs on what the codes are used for."
)


def page(results: Sequence[TierResults], left_out: Sequence[str], everybody: bool) -> str:
    """The whole page.

    Parameters
    ----------
    results : by codebook, version, round and tier.
    left_out : what is not compared and why, a sentence each.
    everybody : whether units of all speakers are compared, not the participant's alone.
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
        "percentiles of a bootstrap in which participants are drawn, each with all of his or her "
        "sessions, since what one person says hangs together."
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


def what(figure: Figure) -> str:
    """What a figure is: a clause."""
    result = figure.result
    text = WHAT[result.measure]
    if figure.basis == "values" and result.measure == "Krippendorff's alpha":
        text += LEVELS.get(result.level, "")
    if figure.basis == "windows":
        text += (
            f"; of whether a moment with the code lies in each window of {figure.grid_s:g} s from "
            "the beginning of what both coded"
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
        return "training: to learn the codebook on, not to be reported"
    return "coded independently and locked"
