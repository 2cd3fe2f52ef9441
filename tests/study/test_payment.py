"""What a session earns, when it is written down, and how the text about it adapts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from labapp.base import resources
from labapp.record.events.commands import DeclineConsent, EndSession, GiveConsent, Next
from labapp.study import inclusion, loading, planner
from labapp.study.inclusion import Achieved, Incentive, earned
from labapp.study.overview import space_of
from labapp.study.plugins import texts
from labapp.tasks.judging.plan import AGREEMENT, DISTINCTION, OUTPUT
from tests.helpers.play import Play, stage_part, whole_machine
from tests.helpers.play_judging import judging_part, photo
from tests.helpers.skips import skip_stage

FOUND = Achieved(5, 7, 3, 3, 0)


def test_a_bonus_is_paid_to_the_cent() -> None:
    paid = Incentive(text="t.md", base=3.75, per_solved=0.1, per_correct=0.05)
    made = earned(paid, FOUND)
    assert (made.base, made.bonus, made.total) == (3.75, 0.85, 4.6)
    assert (made.currency, made.solved, made.correct) == ("$", 5, 7)


def test_sums_have_no_more_than_cents() -> None:
    paid = Incentive(text="t.md", base=0.1, per_solved=0.07, per_correct=0.01)
    assert earned(paid, Achieved(3, 1, 0, 0, 0)).total == 0.32


@pytest.mark.parametrize(
    ("each", "times", "bonus"),
    [(0.125, 1, 0.13), (0.145, 1, 0.15), (1.005, 1, 1.01), (0.035, 3, 0.11), (0.1, 3, 0.3)],
)
def test_half_a_cent_is_rounded_up(each: float, times: int, bonus: float) -> None:
    """Binary fractions and rounding to even would pay 0.12, 0.14 and 1.00 of the first three."""
    made = earned(Incentive(text="t.md", base=2, per_solved=each), Achieved(times, 0, 0, 0, 0))
    assert (made.bonus, made.total) == (bonus, round(2 + bonus, 2))


def test_what_is_beyond_guessing_is_paid() -> None:
    paid = Incentive(text="t.md", base=2, per_above_chance=0.1)
    made = earned(paid, Achieved(0, 0, 0, 0, 0, photos=10, above_chance=7.5))
    assert (made.bonus, made.total, made.photos, made.above_chance) == (0.75, 2.75, 10, 7.5)


def test_photos_answered_rightly_beyond_chance_are_counted_per_question() -> None:
    part = judging_part(photos=[photo("heatmap-distinction", n) for n in range(1, 11)])
    rights = [{OUTPUT: n <= 6, DISTINCTION: n <= 2} for n in range(1, 11)]
    tally = inclusion.Tally({(part.id, n): r for n, r in enumerate(rights, start=1)})
    found = inclusion.achieved([part], tally)
    assert (found.photos, found.above_chance) == (10, 6 - 2.5), "two of ten are fewer than 2.5"
    agreed = inclusion.Tally({(part.id, n): {AGREEMENT: n <= 8} for n in range(1, 11)})
    assert inclusion.achieved([part], agreed).above_chance == 3


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
