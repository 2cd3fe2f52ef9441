"""The final coding: what was settled, else the primary rater's, each stretch once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.model import (
    Assignment,
    Mark,
    RaterMarks,
    Round,
    Segmentation,
    SessionAnnotations,
    Settlement,
    Unit,
)

SESSION = "sub-P01_ses-1_20260102T030405Z"
S = 1_000_000_000


def mark(
    rater: str,
    number: int,
    code: str,
    *,
    unit: bool = True,
    round: Round = "independent",  # noqa: A002 - the field's name
) -> Mark:
    """The rater's mark of the unit that begins at so many seconds and lasts one."""
    return Mark(
        f"{rater}-{number}-{code}-{round}",
        rater,
        "strategy",
        code,
        number * S,
        (number + 1) * S,
        f"u{number}" if unit else None,
        round=round,
    )


def annotations(*marks: Mark, settlements: tuple[Settlement, ...] = ()) -> SessionAnnotations:
    raters = {
        rater: RaterMarks(rater, tuple(m for m in marks if m.rater == rater))
        for rater in {m.rater for m in marks}
    }
    return SessionAnnotations(SESSION, raters=raters, settlements=settlements)


WHOLE = Assignment(SESSION, "anna", 0, 100 * S)


def test_a_stretch_that_two_raters_coded_counts_once() -> None:
    own = [mark("anna", number, "explore") for number in range(4)]
    second = [mark("ben", number, "goal") for number in (1, 2)]
    both = Assignment(SESSION, "ben", S, 3 * S, "second")
    assert final_marks(annotations(*own, *second), [WHOLE, both]) == tuple(own)


def test_where_nobody_is_assigned_a_single_rater_is_final() -> None:
    own = (mark("anna", 1, "explore"), mark("anna", 2, "goal"))
    assert final_marks(annotations(*own)) == own


def test_two_raters_and_no_primary_one_is_an_error_in_words() -> None:
    both = annotations(mark("anna", 1, "explore"), mark("ben", 2, "goal"))
    with pytest.raises(
        AnnotationError, match=r"anna and ben coded 'strategy'.*none of them is its primary rater"
    ):
        final_marks(both)


def test_two_tiers_of_two_raters_are_no_double_coding() -> None:
    affect = replace(mark("ben", 1, "unsure"), tier="affect")
    both = annotations(mark("anna", 1, "explore"), affect)
    assert len(final_marks(both)) == 2


def test_two_primary_raters_of_the_same_time_are_an_error() -> None:
    other = replace(WHOLE, rater="ben", t0_ns=S)
    both = annotations(mark("anna", 1, "explore"), mark("ben", 1, "goal"))
    with pytest.raises(AnnotationError, match=r"both the primary rater of .* at 1\.0 s"):
        final_marks(both, [WHOLE, other])


def test_a_session_may_be_divided_between_primary_raters() -> None:
    parts = [replace(WHOLE, t1_ns=2 * S), replace(WHOLE, rater="ben", t0_ns=2 * S)]
    both = annotations(*(mark(r, n, "explore") for r in ("anna", "ben") for n in range(4)))
    assert [m.rater for m in final_marks(both, parts)] == ["anna", "anna", "ben", "ben"]


def test_training_and_machines_never_count() -> None:
    flags = RaterMarks("moderator", (mark("moderator", 1, "flag"),), machine=True)
    trained = annotations(mark("anna", 1, "explore"), mark("ben", 1, "goal", round="training"))
    both = replace(trained, raters={**trained.raters, "moderator": flags})
    assert [m.rater for m in final_marks(both)] == ["anna"]


def test_what_was_settled_stands_also_where_nothing_was_to_be_coded() -> None:
    settled = replace(mark("anna", 1, "goal"), id="s", round="reconciled")
    settlements = (
        Settlement("1", "strategy", S, 2 * S, "u1", (), (settled,), "cleo", "an aim is named"),
        Settlement("2", "strategy", 2 * S, 3 * S, "u2", (), (), "cleo", "a cough"),
    )
    own = [mark("anna", number, "explore") for number in (1, 2, 3)]
    final = final_marks(annotations(*own, settlements=settlements), [WHOLE])
    assert final == (settled, own[2])


def test_spans_are_settled_by_their_ids() -> None:
    own = [mark("anna", number, "unsure", unit=False) for number in (1, 2)]
    settlement = Settlement("1", "strategy", S, 2 * S, None, (own[0].id,), (), "cleo", "a laugh")
    assert final_marks(annotations(*own, settlements=(settlement,)), [WHOLE]) == (own[1],)


def test_marks_of_the_reconciled_round_stand_for_those_given_alone() -> None:
    own = [mark("anna", number, "explore") for number in (1, 2)]
    spans = [mark("anna", number, "explore", unit=False) for number in (5, 7)]
    together = mark("cleo", 1, "goal", round="reconciled")
    span = mark("cleo", 5, "goal", unit=False, round="reconciled")
    final = final_marks(annotations(*own, *spans, together, span), [WHOLE])
    assert final == (together, own[1], span, spans[1])


def test_a_tier_of_another_codebook_is_another_tier_though_it_is_called_the_same() -> None:
    """One version after another of a codebook is the same one; two codebooks are two."""
    books = {"a1": "aims", "a2": "aims", "f1": "feelings"}
    aim, other = (
        replace(mark("anna", n, "goal"), codebook=sha) for n, sha in ((1, "a1"), (2, "a2"))
    )
    feeling = replace(mark("ben", 1, "glad"), codebook="f1")
    both = annotations(aim, other, feeling)
    assert set(final_marks(both, codebook_ids=books)) == {aim, other, feeling}
    whole = [replace(WHOLE, rater=rater) for rater in ("anna",)]
    together = replace(mark("cleo", 1, "glad", round="reconciled"), codebook="f1")
    final = final_marks(annotations(aim, other, together), whole, books)
    assert set(final) == {aim, other, together}
    settled = replace(together, id="s")
    settlement = Settlement("1", "strategy", S, 2 * S, "u1", (feeling.id,), (settled,), "cleo", "!")
    nothing = replace(settlement, marks=())
    for each, holds in ((settlement, {settled}), (nothing, set())):
        one = annotations(aim, replace(feeling, rater="anna"), settlements=(each,))
        assert set(final_marks(one, whole, books)) == {aim, *holds}


def test_a_unit_that_was_split_counts_once_while_it_is_coded_anew() -> None:
    """The mark on the unit of before counts where none is on a unit in its place yet."""
    units = tuple(Unit(f"v{n}", n * S, (n + 1) * S) for n in range(6))
    before = replace(mark("anna", 0, "explore"), unit="gone", t1_ns=6 * S)
    anew = [replace(mark("anna", n, "goal"), unit=f"v{n}") for n in (1, 5)]
    other = replace(mark("anna", 3, "glad"), unit="v3", tier="affect")
    coded = replace(annotations(before, *anew, other), segmentation=Segmentation(units, True))
    final = [m for m in final_marks(coded) if m.tier == "strategy"]
    assert [(m.code, m.t0_ns // S, m.t1_ns // S) for m in final] == [
        ("explore", 0, 1),
        ("goal", 1, 2),
        ("explore", 2, 5),
        ("goal", 5, 6),
    ]
    assert len({m.id for m in final}) == 4


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.sampled_from("xyz"))))
def test_of_each_unit_and_code_there_is_at_most_one_final_mark_a_rater(
    rows: list[tuple[str, int, str]],
) -> None:
    """Whatever two raters gave: final is what the primary one gave, in order of time."""
    marks = list({m.id: m for m in (mark(*row) for row in rows)}.values())
    final = final_marks(annotations(*marks), [replace(WHOLE, rater="a")])
    assert set(final) == {m for m in marks if m.rater == "a"}
    assert [m.t0_ns for m in final] == sorted(m.t0_ns for m in final)


def test_codes_of_a_simulated_participant_count_where_no_person_coded() -> None:
    planted, own = mark("simulated", 1, "goal"), mark("anna", 2, "explore")
    machine = RaterMarks("simulated", (planted,), machine=True)
    simulated = SessionAnnotations(SESSION, raters={"simulated": machine})
    assert final_marks(simulated) == (planted,)
    for given_, counts in ((own, (own,)), (replace(own, round="training"), ())):
        raters = {**simulated.raters, "anna": RaterMarks("anna", (given_,))}
        coded = replace(simulated, raters=raters)
        assert final_marks(coded) == counts, "a person began to code it"
