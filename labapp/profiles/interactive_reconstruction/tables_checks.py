"""What the tests of a group assume, and what tests say that assume less (ours)."""

from __future__ import annotations

from labapp.profiles.interactive_reconstruction import words
from labapp.profiles.interactive_reconstruction.comparisons import (
    DIFFERENCES,
    RESIDUALS,
    SPHERICITY,
    VARIANCES,
    WITHOUT_SPHERICITY,
)
from labapp.profiles.interactive_reconstruction.results import Compared, Found, Pair
from labapp.report.page import Html, details, joined, paragraph, table, two_lines

TITLES = {
    RESIDUALS: ("Normal residuals", "Shapiro-Wilk W"),
    VARIANCES: ("Same variances", "Brown-Forsythe F"),
    SPHERICITY: ("Sphericity", "Mauchly's W"),
    WITHOUT_SPHERICITY: ("Without sphericity", "ANOVA, Greenhouse-Geisser"),
}
SUMMARY = "Assumption checks and tests that assume less (ours)"
READ = (
    "A small p of a check says that what a test assumes does not hold. Tests by ranks assume no "
    "normal distribution; Greenhouse and Geisser's correction no sphericity; the mixed model is "
    "fitted where a participant lacks a model, with all others' values too."
)


def checks(result: Found, names: dict[str, str]) -> Html:
    """Folded away; names: of the models as the tables have them."""
    parts = [paragraph(READ, "quiet"), _over_all(result)]
    if any(comparison.pairs for comparison in result.compared):
        parts.append(_pairs(result, names))
    return details(SUMMARY, joined(parts))


def _over_all(result: Found) -> Html:
    """A row a metric."""
    made = [
        name for name in TITLES if any(name in comparison.checks for comparison in result.compared)
    ]
    ranks = "Friedman" if result.group.within else "Kruskal-Wallis"
    mixed = any(comparison.mixed is not None for comparison in result.compared)
    rows = [
        [
            comparison.metric.title,
            *(
                words.test(comparison.checks[name]) if name in comparison.checks else ""
                for name in made
            ),
            ""
            if comparison.omnibus is None or comparison.omnibus.robust is None
            else words.test(comparison.omnibus.robust),
            *([words.test(comparison.mixed) if comparison.mixed else "no gaps"] * mixed),
        ]
        for comparison in result.compared
    ]
    titles = [two_lines(*TITLES[name]) for name in made]
    more = [two_lines("Mixed model", "Wald")] * mixed
    return table(["Metric", *titles, two_lines("By ranks", ranks), *more], rows)


def _pairs(result: Found, names: dict[str, str]) -> Html:
    """A row a metric and pair."""
    ranks = "Wilcoxon" if result.group.within else "Mann-Whitney"
    rows = [
        [
            comparison.metric.title,
            f"{names[pair.model]} − {names[pair.other]}",
            *([_normal(comparison, pair)] * result.group.within),
            words.test(pair.robust) if pair.robust else "",
        ]
        for comparison in result.compared
        for pair in comparison.pairs
    ]
    normal = [two_lines("Normal differences", "Shapiro-Wilk W")] * result.group.within
    return table(["Metric", "Models", *normal, two_lines("By ranks", ranks)], rows)


def _normal(comparison: Compared, pair: Pair) -> str:
    check = comparison.checks.get(f"{DIFFERENCES}, {pair.model} − {pair.other}")
    return "" if check is None else words.test(check)
