"""What each figure is, in words."""

from __future__ import annotations

from labapp.annotations.reliability.results import Figure

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
    return f"{drawn.low:.3f} to {drawn.high:.3f} (sessions drawn{left_out})"


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
