"""What the report says of models that are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from html import unescape

import pytest

from labapp.analysis.analyze import report
from labapp.analysis.inference import SAME, outcome
from labapp.analysis.statistic import Statistic
from labapp.papers.interactive_reconstruction import sections
from labapp.papers.interactive_reconstruction.results import (
    PAIRS,
    Facts,
    GroupResults,
    comparisons,
    correct_tests,
    facts,
)
from tests.helpers.compared import RECONSTRUCTION, SEVEN, TRAVERSALS, found_of, group_of
from tests.helpers.pages import problems
from tests.papers.interactive_reconstruction.conftest import Analysed


def plain(html: Iterable[str]) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", "".join(html))).split())


def as_published(found: GroupResults) -> GroupResults:
    """As if the study were the paper's."""
    group = replace(found.group, repeats="synthetic-crowd")
    compared = tuple(correct_tests(each, found.n_tests) for each in comparisons(group))
    return GroupResults(group, compared, found.n_tests)


def of(known: Analysed, place: int) -> GroupResults:
    return known.groups[place]


def test_each_metric_has_values_tests_and_effects(whole: Analysed) -> None:
    found = of(whole, 1)
    said = plain(sections.of_task("reconstruction", [found]))
    assert "5 participants, 3 models within participants. Repeated-measures ANOVA" in said
    one = next(one for one in found.compared if one.metric.column == "response_time_s")
    summary = one.values("sinelines/ae")
    assert summary.sd is not None
    assert summary.sd_population is not None
    assert f"{summary.mean:.1f} ± {summary.sd:.1f} median {summary.median:.1f}" in said
    assert f"σ {summary.sd_population:.1f}" in said
    assert one.omnibus is not None
    assert sections.statistic(one.omnibus) in said
    assert sections.effect(one.omnibus) in said
    pair = one.pair("sinelines/gt", "sinelines/ae")
    assert pair is not None
    assert f"{sections.statistic(pair)}, n = 5" in said
    assert sections.effect(pair) in said
    assert f"{found.n_tests} tests (analyses of variance and t tests) were made" in said
    assert "ours, not the paper's" in said
    assert "All participants here are simulated" in said
    assert "paper" not in said.partition("Effects with")[0].replace("as in the paper", "").replace(
        "as the paper prints it", ""
    ), "it is not a study of theirs"


def test_the_papers_values_stand_beside_a_study_like_theirs(whole: Analysed) -> None:
    found = as_published(of(whole, 1))
    said = plain([*sections.overview([found]), *sections.of_task("reconstruction", [found])])
    for value in (
        "paper 34 ± 26",
        "paper F(2, 28) = 23.4, p = 1e-06",
        "paper t(14) = −6.4, p = 2e-05",
        "paper 163,500 ± 90,000",
        "paper 3.93 ± 1.12",
    ):
        assert value in said
    assert (
        said.count(
            "from other models of the same name. They are for orientation only; the results here"
        )
        == 1
    )
    assert said.index("for orientation") < said.index("paper 34 ± 26")
    single = as_published(of(whole, 2))
    assert "for orientation" in plain(sections.of_task(single.group.task, [single]))


def test_where_the_paper_contradicts_itself_it_is_said(whole: Analysed) -> None:
    found = as_published(of(whole, 1))
    models = tuple(one.replace("sinelines", "dsprites") for one in found.group.models)

    def renamed(row: Statistic) -> Statistic:
        return replace(row, model=row.model.replace("sinelines", "dsprites"))

    compared = tuple(
        replace(one, rows=tuple(renamed(row) for row in one.rows if row.item != PAIRS))
        for one in found.compared
    )
    other = GroupResults(replace(found.group, models=models), compared, found.n_tests)
    said = plain(sections.of_task("reconstruction", [other]))
    assert "About the paper's values:" in said
    assert "6.1.1 has F = 31.6, which gives p = 7e-08" in said
    assert "vae, Difficulty (SEQ) (Table A.3): 6.1.1 has 6.4" in said
    assert "Tables 2 and A.3 have 6.20" not in said, "the 6.4 that it is of does not stand there"


def test_a_note_on_many_cells_stands_once() -> None:
    said = plain(
        sections.of_task(
            RECONSTRUCTION,
            [found_of(replace(group_of(SEVEN, 4, within=False), repeats="mnist-crowd"))],
        )
    )
    assert said.count("seven groups of 15 have 6 and 98 degrees of freedom") == 1
    assert (
        "Completion rate (6.2.1) and Error AUC, sum (6.2.1) and Difficulty (SEQ) (6.2.1): printed "
        "as F28" in said
    )
    assert "from 5 to 10 dimensions" not in said
    assert "ae5 − ae10, Error AUC, sum (6.2.1): degrees of freedom are not printed" in said
    traversals = replace(
        group_of([f"sinelines/{one}" for one in ("ae", "vae", "gt")], task=TRAVERSALS),
        repeats="synthetic-crowd",
    )
    said = plain(sections.of_task(TRAVERSALS, [found_of(traversals)]))
    assert "Response time (Table A.3) and Confidence (Table A.3) and Dial makes sense" in said


def test_overview_is_table_2(whole: Analysed) -> None:
    found = as_published(of(whole, 1))
    said = plain(sections.overview([found]))
    card = facts("sinelines/vae")
    assert card is not None
    assert card.mse is not None
    assert f"sinelines/vae {card.mse:.1f} paper 3.3" in said
    assert "paper 0.63 ± 0.28" not in said, "it is in the report's unit"
    assert "paper 63 ± 28" in said
    (metric,) = (one for one in found.compared if one.metric.column == "completion_rate")
    summary = metric.values("sinelines/vae")
    assert summary.mean is not None
    assert summary.sd is not None
    assert (
        f"{summary.mean:.0f} ± {summary.sd:.0f} median {summary.median:.0f} n = 5 paper 63 ± 28"
    ) in said
    assert "from the cards of the models with these ids on this computer" in said
    assert list(sections.overview([of(whole, 2)])) == [], "of reconstruction alone"
    ours = plain(sections.overview([of(whole, 0)]))
    assert "paper 3.3" not in ours


def test_many_pairs_are_rows(whole: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    found = of(whole, 0)
    beside = plain(sections.of_task("reconstruction", [found]))
    assert "Metric ae − vae ae − gt vae − gt" in beside
    monkeypatch.setattr(sections, "BESIDE", 2)
    below = plain(sections.of_task("reconstruction", [found]))
    assert "Models Completion rate" in below
    assert "independent t tests with pooled variance" in below


def test_checks_are_folded_away(gapped: Analysed) -> None:
    html = "".join(sections.of_task("reconstruction", [of(gapped, 1)]))
    folded = plain([html[html.index("<details>") : html.index("</details>")]])
    for name in ("Shapiro-Wilk W", "Mauchly's W", "Greenhouse-Geisser", "Friedman", "Wilcoxon"):
        assert name in folded
    assert "Mixed model" in folded
    assert "1 without a value for every model left out" in plain([html])
    between = "".join(sections.of_task("reconstruction", [of(gapped, 0)]))
    for name in ("Brown-Forsythe F", "Kruskal-Wallis", "Mann-Whitney"):
        assert name in between
    assert "Mixed model" not in between


def test_a_test_without_value_says_why() -> None:
    assert sections.test(outcome("paired t", why=SAME)) == (
        "none: there is no variation to test against"
    )
    assert sections.test(outcome("paired t")) == "–"
    fitted = outcome("linear mixed model, Wald chi-square", 3.0, 2, 0.0000123, why="no variance")
    assert sections.test(fitted) == "χ²(2) = 3.00, p = 1.2e-05 (no variance)"
    assert sections.p_value(0.0) == sections.p_value(7.8e-16) == "p < 1e-15"


def test_models_without_a_card_have_no_facts() -> None:
    assert facts("nobody/none") is None
    # Circles have true factors, but nobody measured anything of them.
    assert facts("circles/gt") == Facts()


def test_the_report_has_it_all(whole: Analysed) -> None:
    page = report(whole.tables, findings=whole.found)
    assert not problems(page)
    said = plain([page])
    assert said.count("Models and interactive reconstruction") == 2, "once a study"
    assert "Metrics by model, single-dimension-exemplars" in said
    assert said.count("tests (analyses of variance and t tests) were made over all groups") == 3
    assert said.count("Simulated, with programs instead of people: 5 of 5 sessions.") == 1
    n = whole.groups[0].n_tests
    correction = f"p is two-sided, and Bonferroni's correction is over the {n} tests of the whole"
    for design, tests in (
        ("one-way ANOVA and independent t tests with pooled variance", "where each saw only one"),
        ("repeated-measures ANOVA and paired t tests", "where participants saw several models"),
    ):
        assert said.count(f"Models were compared by {design} {tests}; {correction}") == 1
