"""What a session earns, and what a participant is told of the own performance."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from labapp.base import resources
from labapp.record.events.commands import DeclineConsent, EndSession, GiveConsent, Next
from labapp.study import inclusion, loading, planner
from labapp.study.inclusion import Achieved, Incentive, compute_payment
from labapp.study.overview import space_of
from labapp.study.plugins import texts
from labapp.tasks.judging.performance import compute, expected_hits, mark_answers, split, values
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
)
from tests.helpers.play import Play, stage_part, whole_machine
from tests.helpers.play_judging import judging_part, photo
from tests.helpers.skips import skip_stage

FOUND = Achieved(5, 7, 3, 3, 0)


def test_a_bonus_is_paid_to_the_cent() -> None:
    paid = Incentive(text="t.md", base=3.75, per_solved=0.1, per_correct=0.05)
    made = compute_payment(paid, FOUND)
    assert (made.base, made.bonus, made.total) == (3.75, 0.85, 4.6)
    assert (made.currency, made.solved, made.correct) == ("$", 5, 7)


def test_sums_have_no_more_than_cents() -> None:
    paid = Incentive(text="t.md", base=0.1, per_solved=0.07, per_correct=0.01)
    assert compute_payment(paid, Achieved(3, 1, 0, 0, 0)).total == 0.32


@pytest.mark.parametrize(
    ("each", "times", "bonus"),
    [(0.125, 1, 0.13), (0.145, 1, 0.15), (1.005, 1, 1.01), (0.035, 3, 0.11), (0.1, 3, 0.3)],
)
def test_half_a_cent_is_rounded_up(each: float, times: int, bonus: float) -> None:
    """Binary fractions and rounding to even would pay 0.12, 0.14 and 1.00 of the first three."""
    made = compute_payment(
        Incentive(text="t.md", base=2, per_solved=each), Achieved(times, 0, 0, 0, 0)
    )
    assert (made.bonus, made.total) == (bonus, round(2 + bonus, 2))


def test_what_is_beyond_guessing_is_paid() -> None:
    paid = Incentive(text="t.md", base=2, per_above_chance=0.1)
    made = compute_payment(paid, Achieved(0, 0, 0, 0, 0, photos=10, above_chance=7.5))
    assert (made.bonus, made.total, made.photos, made.above_chance) == (0.75, 2.75, 10, 7.5)


def test_photos_answered_rightly_beyond_chance_are_counted_per_question() -> None:
    part = judging_part(photos=[photo("heatmap-distinction", n) for n in range(1, 11)])
    rights = [{OUTPUT: n <= 6, DISTINCTION: n <= 2} for n in range(1, 11)]
    tally = inclusion.Tally({(part.id, n): r for n, r in enumerate(rights, start=1)})
    found = inclusion.sum_achievements([part], tally)
    assert (found.photos, found.above_chance) == (10, 6 - 2.5), "two of ten are fewer than 2.5"
    agreed = inclusion.Tally({(part.id, n): {AGREEMENT: n <= 8} for n in range(1, 11)})
    assert inclusion.sum_achievements([part], agreed).above_chance == 3


@pytest.mark.parametrize("currency", ["", "Fr.", "1", "a,b", "dollars"])
def test_a_currency_is_not_taken_for_a_part_of_the_number(currency: str) -> None:
    """Some languages write another mark for the point."""
    with pytest.raises(ValidationError):
        Incentive(text="t.md", currency=currency)
    assert Incentive(text="t.md", currency="CHF ").amount(3) == "CHF3.00"


def test_nobody_is_paid_without_end() -> None:
    for endless in (float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            Incentive(text="t.md", base=endless)


@pytest.mark.parametrize(
    ("value", "said"),
    [(3.75, "$3.75"), (0.1, "$0.10"), (0, "$0.00"), (100, "$100.00"), (0.125, "$0.125")],
)
def test_the_amount_told_is_the_one_that_is_paid(value: float, said: str) -> None:
    assert Incentive(text="t.md", base=value).amount(value) == said


def play(alignment: float = 1.0) -> Play:
    machine = whole_machine(stage_part("practice", role="practice", trials=1), stage_part())
    machine.incentive = Incentive(text="t.md", base=2, per_solved=0.5)
    return Play(machine, alignment=lambda trial: alignment).start()


@pytest.mark.parametrize(
    ("solved", "ends_early", "total"), [(2, False, 3.0), (1, True, 2.5), (0, True, 2.0)]
)
def test_it_is_written_as_the_session_ends(solved: int, ends_early: bool, total: float) -> None:
    session = play()
    session.send(GiveConsent())
    while (part := session.machine.part(session.state)) is None or part.id != "stage-1":
        if part is not None and part.id == "practice":
            session.send(Next())
        else:
            skip_stage(session)
    shown = [session.machine.payment(session.state)]
    for _ in range(solved):
        session.send(Next())
        shown.append(session.machine.payment(session.state))
    while not ends_early and session.state.ended is None:
        skip_stage(session)
    session.send(EndSession("late"))
    last = session.kinds()[-3:]
    assert last[:2] == ["inclusion.decided", "payment.computed"]
    assert session.events[-2].payload["total"] == pytest.approx(total + 0.5 * ends_early)
    final = session.machine.payment(session.state)
    assert final is not None
    assert session.events[-2].payload == final.as_dict()


def test_nothing_is_owed_to_who_does_not_agree() -> None:
    session = play()
    session.send(DeclineConsent())
    assert session.kinds()[-2:] == ["inclusion.decided", "session.ended"]


def test_a_study_that_pays_nothing_says_nothing() -> None:
    session = Play(whole_machine(stage_part())).start()
    session.send(EndSession("late"))
    assert "payment.computed" not in session.kinds()


def test_a_paragraph_without_its_value_is_left_out() -> None:
    text = "# {a}\n\nOnly {b} here.\n\nBoth {a} and {b}.\n\n{c} stays."
    assert texts.fill(text, {"a": "1", "b": ""}) == "# 1\n\n{c} stays."


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_shipped_text_tells_what_can_be_earned_and_nothing_else(language: str) -> None:
    text = Path(resources.assets() / "texts" / language / "incentive-bonus.md").read_text()
    alone = texts.fill(text, {"base": "$3.75", "per_solved": "", "per_correct": ""})
    assert "$3.75" in alone
    assert "{" not in alone
    both = texts.fill(text, {"base": "$3.75", "per_solved": "$0.10", "per_correct": "$0.05"})
    assert len(both.split("\n\n")) == len(alone.split("\n\n")) + 2
    assert "$0.10" in both
    assert "$0.05" in both


@pytest.mark.parametrize("consent", ["  - consent: consent.md\n", ""])
def test_what_is_paid_is_told_with_and_without_a_consent_form(tmp_path: Path, consent: str) -> None:
    for name in ("consent.md", "paid.md"):
        (tmp_path / name).write_text("# Words\n\n{base}\n")
    path = tmp_path / "paid.yaml"
    path.write_text(
        "id: paid\ntitle: Paid\nversion: 1\nincentive: {text: paid.md, base: 5}\n"
        f"flow:\n{consent}  - questionnaire: shipped:seq\n"
    )
    plan = planner.realise(loading.load(path), "P01", space_of=space_of)
    expected = ["consent"] * bool(consent) + ["incentive", "questionnaire-1"]
    assert [part.id for part in plan.parts] == expected


ratings = st.lists(st.integers(1, 4), min_size=1, max_size=10)

WORDS = {1: "surely wrong", 2: "rather wrong", 3: "rather right", 4: "surely right"}


@given(ratings, st.integers(0, 99))
def test_half_of_the_photos_are_believed_and_they_have_the_highest_ratings(
    given_: list[int], seed: int
) -> None:
    sides = split(given_, np.random.default_rng(seed))
    assert sum(sides) == len(given_) // 2
    believed = [rating for rating, side in zip(given_, sides, strict=True) if side]
    others = [rating for rating, side in zip(given_, sides, strict=True) if not side]
    assert not believed or min(believed) >= max(others)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=10))
def test_expected_hits_are_the_mean_over_all_ways_to_break_the_ties(
    photos: list[tuple[int, bool]],
) -> None:
    given_, correct = [r for r, _ in photos], [c for _, c in photos]
    middle = median(given_)
    tied = [n for n, rating in enumerate(given_) if rating == middle]
    left = len(given_) // 2 - sum(rating > middle for rating in given_)
    hits = []
    for chosen in combinations(tied, left):
        sides = [rating > middle or n in chosen for n, rating in enumerate(given_)]
        hits.append(sum(side == is_so for side, is_so in zip(sides, correct, strict=True)))
    assert expected_hits(given_, correct) == Fraction(sum(hits), len(hits))


@given(st.lists(st.integers(1, 4), min_size=10, max_size=10), st.permutations(range(10)))
def test_with_halves_the_hits_on_both_sides_are_equal(given_: list[int], order: list[int]) -> None:
    """So one number carries the published score (a == b)."""
    part = judging_part(
        "prototype-agreement",
        photos=[photo("prototype-agreement", n + 1, correct=order[n] < 5) for n in range(10)],
    )
    answers = {n: {AGREEMENT: rating} for n, rating in enumerate(given_, start=1)}
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert found["hits_correct"] == found["hits_incorrect"]
    assert found["photos_correct"] == found["photos_incorrect"] == "5"


def test_the_coin_is_seeded_and_all_participants_have_their_own() -> None:
    part = judging_part(
        "prototype-agreement",
        photos=[photo("prototype-agreement", n, correct=n % 2 == 0) for n in range(1, 11)],
    )
    answers = {n: {AGREEMENT: 3} for n in range(1, 11)}
    computed = [compute(part, answers, 7, "study", f"P{n:02d}") for n in range(20)]
    assert computed[0] == compute(part, answers, 7, "study", "P00")
    assert len({tuple(sorted(one.assigned.items())) for one in computed}) > 10
    for one in computed:
        assert len(one.ties) == 10
        assert one.expected_hits == 5
        assert one.photos == 10
        assert one.right == {AGREEMENT: 5}, "all were said to be right"
    assert len({one.hits for one in computed}) > 2
    assert compute(part, answers, 7, "study", "P00", attempt=2) != computed[0]


def test_the_agreement_page_lists_the_own_answers_in_the_order_they_were_given() -> None:
    part = judging_part("path-agreement")  # wrong, and so not correct: photos 2 and 4
    answers = {1: {AGREEMENT: 4}, 2: {AGREEMENT: 3}, 3: {AGREEMENT: 2}, 4: {AGREEMENT: 1}}
    performance = compute(part, answers, 7, "study", "P01")
    assert (performance.hits, performance.expected_hits, performance.ties) == (2, 2.0, ())
    found = values(part, performance, answers, lambda number, rating: f"{number} {WORDS[rating]}")
    assert found == {
        "method": "TestNet",
        "accuracy": "76.1",
        "photos": "4",
        "believed": "2",
        "photos_correct": "2",
        "hits_correct": "1",
        "own_correct": "- 1 surely right\n- 3 rather wrong",
        "photos_incorrect": "2",
        "hits_incorrect": "1",
        "own_incorrect": "- 2 rather right\n- 4 surely wrong",
    }


def test_half_of_the_photos_are_believed_however_many_the_model_has_right() -> None:
    part = judging_part("path-agreement")
    answers = {1: {AGREEMENT: 4}, 2: {AGREEMENT: 3}, 3: {AGREEMENT: 2}}  # two right, one wrong
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert (found["photos"], found["photos_correct"], found["believed"]) == ("3", "2", "1")
    text = (resources.assets() / "texts" / "en" / "performance-agreement.md").read_text("utf-8")
    assert "assign the 1 predictions" in texts.fill(text, found)


def test_the_distinction_page_tells_counts_and_shares_with_one_decimal() -> None:
    part = judging_part(photos=[photo("heatmap-distinction", n) for n in (1, 2, 3)])
    right = {OUTPUT: 1, OUTPUT_CONFIDENCE: 1, DISTINCTION: 1, DISTINCTION_CONFIDENCE: 1}
    answers = {n: {**right, OUTPUT: 1 + n % 4, DISTINCTION: 2} for n in (1, 2, 3)}
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert (found["right_output"], found["right_output_percent"]) == ("3", "100.0")
    assert (found["right_distinction"], found["right_distinction_percent"]) == ("1", "33.3")
    assert "hits_correct" not in found


def test_nothing_judged_is_nothing_right() -> None:
    part = judging_part()
    performance = compute(part, {}, 7, "study", "P01")
    assert (performance.photos, performance.right, performance.hits) == (
        0,
        {OUTPUT: 0, DISTINCTION: 0},
        None,
    )
    assert values(part, performance, {})["right_output_percent"] == "0.0"
    part = judging_part("path-agreement")
    performance = compute(part, {}, 7, "study", "P01")
    assert (performance.hits, performance.expected_hits) == (0, 0.0)
    found = values(part, performance, {})
    assert (found["hits_correct"], found["own_incorrect"]) == ("0", "")


@pytest.mark.parametrize(("first", "second", "right"), [(1, 2, True), (1, 1, False), (2, 2, False)])
def test_a_class_reached_by_a_path_needs_both_steps(first: int, second: int, right: bool) -> None:
    gull = photo("path-distinction", 1)
    after = "step_2_absent" if first == 1 else "step_2_present"
    answers = {"step_1": first, after: second, DISTINCTION_CONFIDENCE: 3}
    assert mark_answers("path-distinction", gull, answers)[DISTINCTION] is right
