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


def checks(found: Found, names: dict[str, str]) -> Html:
    """Folded away; names: of the models as the tables have them."""
    parts = [paragraph(READ, "quiet"), _over_all(found)]
    if any(one.pairs for one in found.compared):
        parts.append(_pairs(found, names))
    return details(SUMMARY, joined(parts))


def _over_all(found: Found) -> Html:
    """A row a metric."""
    made = [name for name in TITLES if any(name in one.checks for one in found.compared)]
    ranks = "Friedman" if found.group.within else "Kruskal-Wallis"
    mixed = any(one.mixed is not None for one in found.compared)
    rows = [
        [
            one.metric.title,
            *(words.test(one.checks[name]) if name in one.checks else "" for name in made),
            ""
            if one.omnibus is None or one.omnibus.robust is None
            else words.test(one.omnibus.robust),
            *([words.test(one.mixed) if one.mixed else "no gaps"] * mixed),
        ]
        for one in found.compared
    ]
    titles = [two_lines(*TITLES[name]) for name in made]
    more = [two_lines("Mixed model", "Wald")] * mixed
    return table(["Metric", *titles, two_lines("By ranks", ranks), *more], rows)


def _pairs(found: Found, names: dict[str, str]) -> Html:
    """A row a metric and pair."""
    ranks = "Wilcoxon" if found.group.within else "Mann-Whitney"
    rows = [
        [
            one.metric.title,
            f"{names[pair.one]} − {names[pair.other]}",
            *([_normal(one, pair)] * found.group.within),
            words.test(pair.robust) if pair.robust else "",
        ]
        for one in found.compared
        for pair in one.pairs
    ]
    normal = [two_lines("Normal differences", "Shapiro-Wilk W")] * found.group.within
    return table(["Metric", "Models", *normal, two_lines("By ranks", ranks)], rows)


def _normal(one: Compared, pair: Pair) -> str:
    found = one.checks.get(f"{DIFFERENCES}, {pair.one} − {pair.other}")
    return "" if found is None else words.test(found)
