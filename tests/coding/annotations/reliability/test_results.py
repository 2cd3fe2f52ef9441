"""What is compared with what, and which figures come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from labapp.coding.agreement.coefficients import Continuum, Span, unit_alpha
from labapp.coding.annotations.codebook import parse
from labapp.coding.annotations.model import Assignment
from labapp.coding.annotations.reliability.gathering import CodedSession, Gathered, gather
from labapp.coding.annotations.reliability.results import Figure, TierResults, results_of
from tests.coding.annotations.reliability.coded import (
    BOOK,
    TEXT,
    Given,
    S,
    codebook,
    rater,
    session,
    span_marks,
    unit_marks,
)

NAME = "sub-P01_ses-1_20260102T030405Z"
ANNA = ["explore"] * 5 + ["goal"] * 4 + ["random"] * 3
BEN = ["explore"] * 4 + ["goal"] * 5 + ["random", "explore", "random"]


def gathered(*sessions: CodedSession) -> Gathered:
    return gather(sessions, {BOOK.sha256: BOOK})


def of_tier(name: str, *sessions: CodedSession, step: int = 1000, **how: Any) -> TierResults:
    (tier,) = (each for each in gathered(*sessions).tiers if each.tier.name == name)
    return results_of(tier, step=step, **how)


def figure(results: TierResults, measure: str, code: str = "", **more: object) -> Figure:
    (same,) = (
        each
        for each in results.figures
        if (each.result.measure, each.code) == (measure, code)
        and all(getattr(each, name) == value for name, value in more.items())
    )
    return same


def two(anna: Given, ben: Given, **more: Any) -> CodedSession:
    return session(
        [rater("anna", unit_marks("anna", anna)), rater("ben", unit_marks("ben", ben))], **more
    )


def test_two_raters_have_a_kappa_overall_and_by_code() -> None:
    results = of_tier("strategy", two(ANNA, BEN))
    whole = results.figures[0]
    assert whole.result.measure == "Cohen's kappa"
    assert whole.result.value == pytest.approx(cohen_kappa_score(ANNA, BEN), abs=1e-12)
    assert (whole.result.n_comparable, whole.n_sessions, whole.raters) == (12, 1, ("anna", "ben"))
    assert whole.percent == pytest.approx(100 * 10 / 12)
    assert "1 participant is too few" in whole.result.interval.reason
    goal = figure(results, "Cohen's kappa", "goal")
    has = [[code == "goal" for code in given] for given in (ANNA, BEN)]
    assert goal.result.value == pytest.approx(cohen_kappa_score(*has), abs=1e-12)
    assert goal.prevalence == pytest.approx(9 / 24)
    assert not goal.skewed
    assert figure(results, "Gwet's AC1", "goal").result.value is not None


def test_three_raters_have_an_alpha_and_pairs_a_kappa() -> None:
    cleo = [None if at % 3 else code for at, code in enumerate(ANNA)]
    results = of_tier(
        "strategy",
        session(
            [rater(n, unit_marks(n, g)) for n, g in zip("abc", (ANNA, BEN, cleo), strict=True)]
        ),
    )
    assert results.figures[0].result.measure == "Krippendorff's alpha"
    assert results.figures[0].result.n_raters == 3
    pairs = [f.raters for f in results.figures if f.result.measure == "Cohen's kappa"]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    assert figure(results, "Cohen's kappa", raters=("a", "c")).result.value == 1
    fleiss = figure(results, "Fleiss's kappa")
    assert fleiss.result.value is None
    assert "use alpha if ratings are missing" in fleiss.result.reason


def test_one_code_only_has_no_kappa_and_says_why() -> None:
    results = of_tier("strategy", two(["goal"] * 12, ["goal"] * 12))
    kappa = results.figures[0].result
    assert kappa.value is None
    assert "all gave only “goal”" in kappa.reason
    assert figure(results, "Gwet's AC1").result.value == 1
    assert figure(results, "Gwet's AC1", "goal").skewed


def test_what_the_moderator_said_is_not_compared_unless_asked() -> None:
    coded = two(ANNA, BEN, moderator=(0, 1))
    assert of_tier("strategy", coded).figures[0].result.n_comparable == 10
    assert of_tier("strategy", coded, everybody=True).figures[0].result.n_comparable == 12


def test_an_optional_tier_has_no_code_where_a_rater_was_to_code() -> None:
    """Ben was to code the first half only."""
    glad = ["glad", None, "glad", None, None, None, "glad", None, None, None, None, None]
    assigned = [
        Assignment(NAME, "anna", 0, 60 * S),
        Assignment(NAME, "ben", 0, 6 * S, "second"),
        Assignment(NAME, "ben", 6 * S, 12 * S, "second"),
        Assignment(NAME, "cleo", 0, 60 * S, "second", "training"),
    ]
    coded = two(glad, glad[:2], assignments=assigned)
    results = of_tier("mood", coded)
    assert results.figures[0].result.n_comparable == 6
    assert results.figures[0].percent == pytest.approx(100 * 5 / 6)


def test_a_unit_that_needs_a_code_and_has_none_is_missing() -> None:
    coded = two(ANNA, ["explore", None, *BEN[2:]])
    assert of_tier("strategy", coded).figures[0].result.n_comparable == 11
    apart = two(ANNA[:6], [None] * 6 + ANNA[6:])
    result = of_tier("strategy", apart).figures[0].result
    assert (result.value, result.n_raters) == (None, 2)
    assert result.reason == "there is no unit that two raters coded"


def test_a_tier_that_nobody_used_is_told() -> None:
    result = gathered(two(ANNA, BEN))
    assert [tier.tier.name for tier in result.tiers] == ["strategy"]
    assert "mood of small, version 1: nobody used a code" in result.left_out[0]


def test_several_codes_a_unit_are_compared_as_sets() -> None:
    anna = ["hair face", "hair", None, "face"] * 3
    results = of_tier("topic", two(anna, ["hair face", "hair", None, "hair face"] * 3))
    (masi,) = (f for f in results.figures if not f.code)
    assert masi.result.measure == "Krippendorff's alpha with MASI distance"
    assert masi.result.value is not None
    assert 0.5 < masi.result.value < 1
    assert figure(results, "Cohen's kappa", "face").result.value == pytest.approx(1)
    hair = figure(results, "Cohen's kappa", "hair")
    assert hair.result.value == pytest.approx(0.5)
    assert hair.kappa_max == pytest.approx(0.5)


def test_values_have_weighted_kappas_alphas_and_an_intraclass_correlation() -> None:
    anna, ben = [1, 2, 3, 4, 5, 1], [1, 2, 4, 4, 5, 2]
    results = of_tier(
        "sure", two([f"sure={value}" for value in anna], [f"sure={value}" for value in ben])
    )
    for weights in ("linear", "quadratic"):
        value = figure(results, f"{weights} weighted kappa", "sure").result.value
        assert value == pytest.approx(
            cohen_kappa_score(anna, ben, labels=[1, 2, 3, 4, 5], weights=weights), abs=1e-12
        )
    levels = {
        f.result.level: f.result.value for f in results.figures
        if f.basis == "values" and f.result.measure == "Krippendorff's alpha"
    }  # fmt: skip
    assert set(levels) == {"ordinal", "interval"}
    icc = figure(results, "ICC(2,1)", "sure").result.value
    assert icc is not None
    assert 0.9 < icc < 1


SPANS_A = [(1.2, 3.85, "reading"), (5, 7.42, "turning"), (7.42, 9, "reading")]
SPANS_B = [(1.6, 4.25, "reading"), (5, 7.42, "turning"), (7.42, 9, "reading")]


def spans(
    anna: Sequence[tuple[float, float, str]],
    ben: Sequence[tuple[float, float, str]],
    **more: Any,
) -> CodedSession:
    raters = [rater("anna", span_marks("anna", anna)), rater("ben", span_marks("ben", ben))]
    return session(raters, end_s=10, **more)


def test_spans_have_u_alpha_and_a_kappa_with_its_grid() -> None:
    results = of_tier("doing", spans(SPANS_A, SPANS_B))
    whole = [
        Continuum(
            0,
            10_000,
            tuple(
                tuple(Span(round(a * 1000), round(b * 1000), c) for a, b, c in own)
                for own in (SPANS_A, SPANS_B)
            ),
        )
    ]
    assert figure(results, "nominal u-alpha").result.value == unit_alpha(whole).value
    assert figure(results, "binary u-alpha").result.value == unit_alpha(whole, binary=True).value
    kappa = figure(results, "time-unit kappa")
    assert (kappa.result.n_comparable, kappa.grid_s) == (10, 1.0)
    finer = figure(of_tier("doing", spans(SPANS_A, SPANS_B), step=100), "time-unit kappa")
    assert (finer.result.n_comparable, finer.grid_s) == (100, 0.1)
    assert figure(results, "binary u-alpha", "turning").result.value == pytest.approx(1)


def test_codes_that_may_overlap_are_compared_each_by_itself() -> None:
    anna = [(1, 4, "uncertain"), (3, 6, "bored"), (3.5, 5, "uncertain"), (8, 8, "insight")]
    ben = [(1, 5, "uncertain"), (3, 6, "bored"), (8.3, 8.3, "insight")]
    results = of_tier("affect", spans(anna, ben))
    whole = results.figures[0].result
    assert whole.value is None
    assert "each code is compared separately" in whole.reason
    # 1 to 4 and 3.5 to 5 of one code are 1 to 5.
    assert figure(results, "binary u-alpha", "uncertain").result.value == pytest.approx(1)
    assert figure(results, "binary u-alpha", "bored").result.value == pytest.approx(1)
    moments = figure(results, "Cohen's kappa", "insight")
    assert figure(results, "Gwet's AC1", "insight").result.value == 1
    assert (moments.basis, moments.grid_s, moments.result.value) == ("windows", 1.0, 1)


def test_time_that_both_were_to_code_is_compared_alone() -> None:
    assigned = [
        Assignment(NAME, "anna", 0, 10 * S),
        Assignment(NAME, "ben", 5 * S, 10 * S, "second"),
    ]
    results = of_tier("doing", spans(SPANS_A, SPANS_B[1:], assignments=assigned))
    assert figure(results, "nominal u-alpha").result.value == pytest.approx(1)
    assert len(results.stretches) == 1


def test_three_raters_of_whom_two_code_at_a_time() -> None:
    points = [(2, 2, "insight"), (7, 7, "insight")]
    coded = session(
        [
            rater(n, span_marks(n, own + points))
            for n, own in (("anna", SPANS_A), ("ben", SPANS_B), ("cleo", SPANS_A))
        ],
        assignments=[
            Assignment(NAME, "anna", 0, 10 * S),
            Assignment(NAME, "ben", 0, 5 * S, "second"),
            Assignment(NAME, "cleo", 5 * S, 10 * S, "second"),
        ],
        end_s=10,
    )
    results = of_tier("doing", coded)
    assert [(s.raters, s.t0, s.t1) for s in results.stretches] == [
        (("anna", "ben"), 0, 5000),
        (("anna", "cleo"), 5000, 10000),
    ]
    value = figure(results, "nominal u-alpha").result.value
    assert value is not None
    assert 0 < value < 1
    moments = figure(of_tier("affect", coded), "Krippendorff's alpha", "insight").result
    assert (moments.value, moments.n_comparable, moments.n_raters) == (1, 10, 3)


def test_who_was_not_blind_is_told() -> None:
    anna = [replace(mark, blind=("names",)) for mark in unit_marks("anna", ANNA)]
    coded = session([rater("anna", anna), rater("ben", unit_marks("ben", BEN))])
    assert of_tier("strategy", coded).remarks == (
        "anna was shown how questions ended at 12 of 12 marks.",
        "anna was shown what came after the playhead at 12 of 12 marks.",
    )


def test_a_rater_who_coded_twice_is_compared_with_herself_alone() -> None:
    coded = session(
        [
            rater(name, unit_marks(name, given))
            for name, given in (("anna", ANNA), ("ben", BEN), ("later", ANNA))
        ]
    )
    results = of_tier("strategy", coded, again=[("anna", "later")])
    same = figure(results, "Cohen's kappa", same_rater=True)
    assert (same.raters, same.result.value) == (("anna", "later"), 1)
    between = figure(results, "Cohen's kappa", same_rater=False)
    assert between.raters == ("anna", "ben")
    alone = of_tier(
        "strategy",
        session([rater(n, unit_marks(n, ANNA)) for n in ("anna", "later")]),
        again=[("anna", "later")],
    )
    assert all(each.same_rater for each in alone.figures)


def test_versions_of_a_codebook_are_never_pooled() -> None:
    second = codebook(2)
    later = [
        rater(n, unit_marks(n, g, second), book=second) for n, g in (("anna", ANNA), ("ben", BEN))
    ]
    sessions = (two(ANNA, ANNA), session(later, name="sub-P02_ses-1_20260102T030405Z"))
    tiers = gather(sessions, {BOOK.sha256: BOOK, second.sha256: second}).tiers
    strategy = [tier for tier in tiers if tier.tier.name == "strategy"]
    assert [tier.codebook.version for tier in strategy] == [1, 2]
    values = [results_of(tier, step=1000).figures[0].result.value for tier in strategy]
    assert values[0] == 1
    assert values[1] == pytest.approx(cohen_kappa_score(ANNA, BEN))


def test_a_rater_who_began_to_recode_has_left_nothing_without_a_code() -> None:
    second = codebook(2)
    glad = ["glad", None, None, None]
    half = unit_marks("ben", glad[:1]) + unit_marks("ben", [None, None, "glad"], second)
    spans_ = span_marks("ben", SPANS_B)
    coded = session(
        [
            rater("anna", unit_marks("anna", glad) + span_marks("anna", SPANS_A)),
            rater("ben", half + spans_, book=second),
        ],
        n_units=4,
    )
    result = gather([coded], {BOOK.sha256: BOOK, second.sha256: second})
    first = {t.tier.name: t for t in result.tiers if t.codebook.version == 1}
    # Of four units ben has coded one by the first version, and one by the second.
    assert results_of(first["mood"], step=1000).figures[0].result.n_comparable == 1
    spans_result = results_of(first["doing"], step=1000).figures[0].result
    assert spans_result.reason == "no time was coded by two raters"
    assert any("coded with several versions of small" in line for line in result.left_out)


def test_opening_a_new_version_is_no_coding_by_it() -> None:
    second = codebook(2)
    coded = session(
        [
            rater("anna", unit_marks("anna", ANNA), book=second),
            rater("ben", unit_marks("ben", BEN), book=second),
        ]
    )
    result = gather([coded], {BOOK.sha256: BOOK, second.sha256: second})
    assert {tier.codebook.version for tier in result.tiers} == {1}
    assert not any("several versions" in line for line in result.left_out)


def test_training_is_apart_and_drafts_and_programs_are_left_out() -> None:
    learning = session(
        [
            rater(n, unit_marks(n, g, round_="training"), "draft", "training")
            for n, g in (("anna", ANNA), ("ben", BEN))
        ]
    )
    draft = session(
        [
            rater("anna", unit_marks("anna", ANNA)),
            rater("ben", unit_marks("ben", BEN), "done"),
            rater("asr", unit_marks("asr", BEN), machine=True),
            rater("cleo", unit_marks("cleo", BEN, round_="reconciled"), round_="reconciled"),
        ],
        name="sub-P02_ses-1_20260102T030405Z",
    )
    result = gathered(learning, draft)
    strategy = {t.phase: t for t in result.tiers if t.tier.name == "strategy"}
    assert strategy["training"].raters == ("anna", "ben")
    assert strategy["independent"].raters == ("anna",)
    alone = results_of(strategy["independent"], step=1000).figures[0].result
    assert (alone.value, alone.reason) == (None, "there is only one rater")
    left_out = "\n".join(result.left_out)
    assert "ben: independent coding that is not locked yet (done)" in left_out
    assert "asr: these marks were not made by a person (1 session)." in left_out
    assert "cleo: what was settled after a discussion" in left_out


def test_marks_by_an_unknown_codebook_are_told() -> None:
    result = gather([two(ANNA, BEN)], {})
    assert result.tiers == ()
    assert "a version of a codebook that is not in the study" in result.left_out[0]


def test_units_that_are_not_frozen_or_were_changed_are_told() -> None:
    open_ = session([rater(n, unit_marks(n, ANNA)) for n in ("anna", "ben")], frozen=False)
    assert "not frozen" in of_tier("strategy", open_).remarks[0]
    fewer = session([rater(n, unit_marks(n, ANNA)) for n in ("anna", "ben")], n_units=10)
    results = of_tier("strategy", fewer)
    assert "4 marks are left out" in results.remarks[0]
    assert results.figures[0].result.n_comparable == 10


def test_ten_sessions_have_an_interval() -> None:
    sessions = [
        two(ANNA, BEN if at % 2 else ANNA, name=f"sub-P{at:02}_ses-1_20260102T030405Z")
        for at in range(10)
    ]
    result = of_tier("strategy", *sessions).figures[0].result
    assert result.value is not None
    assert result.interval.low is not None
    assert result.interval.low < result.value
    assert result.interval.clusters == 10


@pytest.mark.parametrize("tier", ["strategy", "doing", "affect"])
def test_participants_are_drawn_with_all_of_their_sessions(tier: str) -> None:
    """Two sessions of each of ten participants are ten to draw from, and not twenty."""

    def coded(at: int, of: str) -> CodedSession:
        end = 10 + at
        anna = [*unit_marks("anna", ANNA), *span_marks("anna", [(0, 20, "reading")])]
        ben = [*unit_marks("ben", BEN), *span_marks("ben", [(0, end, "reading")])]
        anna += span_marks("anna", [(5, 5, "insight"), (30, 40, "bored")])
        ben += span_marks("ben", [(end, end, "insight"), (30, 40 + at, "bored")])
        name = f"sub-P{at:02}_ses-{of}_20260102T030405Z"
        raters = [rater("anna", anna), rater("ben", ben)]
        return session(raters, name=name, participant=f"P{at}")

    twice = [coded(at, of) for at in range(10) for of in ("1", "2")]
    ten = [each for each in of_tier(tier, *twice).figures if each.result.interval.low is not None]
    assert ten
    for each in ten:
        assert (each.n_sessions, each.result.interval.clusters) == (20, 10)
    for each in of_tier(tier, *twice[:18]).figures:
        assert each.result.interval.low is None
    reasons = [each.result.interval.reason for each in of_tier(tier, *twice[:18]).figures]
    assert any("9 participants are too few" in reason for reason in reasons)


def test_an_intraclass_correlation_counts_the_units_of_all_raters_alone() -> None:
    """Cleo coded two sessions of twelve: the interval may not be that of twelve."""
    sessions = []
    for number in range(12):
        names = ("anna", "ben", "cleo") if number < 2 else ("anna", "ben")
        given = {
            name: [f"sure={1 + (at + number * shift) % 5}" for at in range(12)]
            for shift, name in enumerate(names)
        }
        raters = [rater(name, unit_marks(name, values)) for name, values in given.items()]
        sessions.append(session(raters, name=f"sub-P{number:02}_ses-1_20260102T030405Z"))
    tier = next(t for t in gather(sessions, {BOOK.sha256: BOOK}).tiers if t.tier.name == "sure")
    figures = {f.result.measure: f for f in results_of(tier, step=1000).figures if f.code == "sure"}
    icc = figures["ICC(2,1)"]
    assert (icc.result.n_comparable, icc.n_sessions) == (24, 2)
    assert icc.result.interval.low is None


def test_looking_into_another_codebook_is_no_coding_by_it() -> None:
    """Anna coded by one codebook, and opened the other to look; Ben coded by both."""
    other = parse(TEXT.replace("codebook: small", "codebook: other").encode(), Path("o.yaml"))
    moods = ["glad"] * 6 + [""] * 6
    anna = rater("anna", unit_marks("anna", ANNA), book=other)
    ben = rater(
        "ben",
        [*unit_marks("ben", BEN), *(replace(m, id=f"{m.id}-2") for m in
                                    unit_marks("ben", moods, other))],
    )  # fmt: skip
    both = gather([session([anna, ben])], {book.sha256: book for book in (BOOK, other)})
    compared = {(t.codebook.id, t.tier.name): t.raters for t in both.tiers}
    assert compared["small", "strategy"] == ("anna", "ben")
    assert compared["other", "mood"] == ("ben",)
    assert any("anna" in text and "opened other" in text for text in both.left_out)
