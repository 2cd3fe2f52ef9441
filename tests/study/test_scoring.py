"""Scores against published worked examples and the rules of the publications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis.questionnaires import AnswerRecord, fold_scores
from labapp.analysis.task_records import Parts
from labapp.study.instruments import Instrument, Rating
from labapp.study.instruments.instrument import (
    OLD_NAMES,
    Score,
    as_answered,
    of_name,
    resolve_scoring,
)
from tests.helpers.nightly import EVERYTHING
from tests.helpers.questionnaires import TLX_PAIRS, TLX_SUBSCALES
from tests.study.test_instruments import made, shipped

Answers = Mapping[str, Any]
SUS = tuple(f"sus_{number}" for number in range(1, 11))
UEQ = tuple(f"ueq_{number}" for number in range(1, 9))


def scored(file: Instrument, answers: Answers) -> dict[str, float]:
    """The scores of one questionnaire."""
    assert isinstance(file.scores, dict)
    values = {name: score.of(answers) for name, score in file.scores.items()}
    return {name: value for name, value in values.items() if value is not None}


def weighed(ratings: Answers, comparisons: Answers) -> dict[str, float]:
    """The scores of NASA-TLX and of its comparisons, as a session has them."""
    rows = []
    asked = []
    for part, name, answers in (
        ("r", "nasa-tlx", ratings),
        ("c", "nasa-tlx-weights", comparisons),
    ):
        planned = shipped(name).planned_scores()
        row = {"part": "questionnaire", "id": part, "title": "", "instrument": name, "about": None}
        asked.append(row | {"scoring": planned})
        rows += [
            AnswerRecord(part, name, item, value, value, 0.0, 0.0, 0, 1, 1.0)
            for item, value in answers.items()
        ]
    return {record.score: record.value for record in fold_scores(rows, Parts.of(asked))}


def compared(order: list[str]) -> dict[str, Any]:
    """The 15 comparisons of somebody who ranks the subscales so, the most demanding first."""
    return {
        item: {"chosen": [min(pair, key=order.index)]} for item, pair in sorted(TLX_PAIRS.items())
    }


def test_sus_as_in_brookes_worked_example() -> None:
    """Brooke (1996): contributions 4 1 1 4 1 2 1 1 4 3, total 22, score 55."""
    answers = dict(zip(SUS, (5, 4, 2, 1, 2, 3, 2, 4, 5, 2), strict=True))
    assert scored(shipped("sus"), answers) == {"sus": 55.0}


@pytest.mark.parametrize(("odd", "even", "score"), [(5, 1, 100), (1, 5, 0), (3, 3, 50)])
def test_sus_at_its_ends(odd: int, even: int, score: float) -> None:
    answers = {item: odd if n % 2 else even for n, item in enumerate(SUS, start=1)}
    assert scored(shipped("sus"), answers) == {"sus": score}


def test_raw_workload_is_the_mean_of_five_times_the_gradations() -> None:
    """Hart and Staveland (1988): gradations of 5 from 0 to 100; Hart (2006): their plain mean."""
    answers = dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True))
    scores = scored(shipped("nasa-tlx"), answers)
    assert [scores[name] for name in TLX_SUBSCALES] == [30, 15, 60, 40, 30, 40]
    assert scores["raw_tlx"] == pytest.approx(215 / 6)


def test_weighted_workload_of_a_worked_example() -> None:
    """Ratings 30 15 60 40 30 40 of somebody who ranks them so, weights 5 4 3 2 1 0: 150 + 60 + 180
    + 80 + 30 + 0 = 500 of 15 (the rule of the NASA TLX manual v. 1.0)."""
    answers = dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True))
    scores = weighed(answers, compared(list(TLX_SUBSCALES)))
    assert scores["weighted_tlx"] == 500 / 15
    assert list(scores)[6:8] == ["raw_tlx", "weighted_tlx"]


def test_weights_count_how_often_each_was_chosen() -> None:
    order = ["effort", "frustration", "mental_demand", "performance", "temporal_demand"]
    order.append("physical_demand")
    weights = scored(shipped("nasa-tlx-weights"), compared(order))
    assert [weights[f"weight_{name}"] for name in order] == [5, 4, 3, 2, 1, 0]


def test_ueq_s_by_its_rule() -> None:
    """Schrepp, Hinderks and Thomaschewski (2017): answers -3 to 3, means of four and of eight."""
    answers = dict(zip(UEQ, (7, 7, 6, 4, 1, 2, 3, 4), strict=True))
    assert scored(shipped("ueq-s"), answers) == {"pragmatic": 2.0, "hedonic": -1.5, "overall": 0.25}


def test_what_is_missing_leaves_scores_out() -> None:
    for name in OLD_NAMES:
        assert scored(shipped(name), {}) == {}
    tlx, comparisons = shipped("nasa-tlx"), compared(list(TLX_SUBSCALES))
    half = dict.fromkeys(TLX_SUBSCALES[:3], 20)
    assert scored(tlx, half) == dict.fromkeys(TLX_SUBSCALES[:3], 100.0)
    assert "weighted_tlx" not in weighed(half, comparisons)
    full = dict.fromkeys(TLX_SUBSCALES, 20)
    assert weighed(full, {}) == dict.fromkeys((*TLX_SUBSCALES, "raw_tlx"), 100.0)
    comparisons.popitem()
    assert scored(shipped("nasa-tlx-weights"), comparisons) == {}
    assert set(scored(shipped("ueq-s"), dict.fromkeys(UEQ[:4], 4))) == {"pragmatic"}
    assert scored(shipped("seq"), {"comments": "none"}) == {}


def test_items_as_they_are() -> None:
    answers = {"plan": 4, "comments": "fine", "gender": {"chosen": ["woman"]}, "easy": 0}
    assert as_answered(answers) == {"plan": 4.0, "easy": 0.0}


def by_rule(name: str) -> Callable[[Answers], dict[str, float]]:
    """The rules of the publications, written down as formulas."""

    def sus(a: Answers) -> dict[str, float]:
        odd, even = sum(a[item] - 1 for item in SUS[::2]), sum(5 - a[item] for item in SUS[1::2])
        return {"sus": 2.5 * (odd + even)}

    def tlx(a: Answers) -> dict[str, float]:
        scores = {item: 5.0 * a[item] for item in TLX_SUBSCALES}
        return scores | {"raw_tlx": sum(scores.values()) / 6}

    def ueq_s(a: Answers) -> dict[str, float]:
        groups = {"pragmatic": UEQ[:4], "hedonic": UEQ[4:], "overall": UEQ}
        return {name: sum(a[item] - 4 for item in g) / len(g) for name, g in groups.items()}

    def seq(a: Answers) -> dict[str, float]:
        return {"seq": float(a["seq"])}

    return {"sus": sus, "nasa-tlx": tlx, "ueq-s": ueq_s, "seq": seq}[name]


LIMITS = {
    "seq": (1, 7),
    "sus": (0, 100),
    **dict.fromkeys((*TLX_SUBSCALES, "raw_tlx", "weighted_tlx"), (0, 100)),
    **dict.fromkeys((f"weight_{name}" for name in TLX_SUBSCALES), (0, 5)),
    **dict.fromkeys(("pragmatic", "hedonic", "overall"), (-3, 3)),
}
"""As published."""


def test_limits_follow_from_the_items_and_are_the_published_ones() -> None:
    declarations = {name: score for old in OLD_NAMES for name, score in of_name(old).items()}
    assert {name: (score.low, score.high) for name, score in declarations.items()} == LIMITS
    assert all(score.meaning for score in declarations.values())


@pytest.mark.parametrize("name", ["seq", "sus", "nasa-tlx", "ueq-s"])
@settings(max_examples=100 if EVERYTHING else 10)
@given(data=st.data())
def test_declarations_give_the_numbers_of_the_published_rules(
    name: str, data: st.DataObject
) -> None:
    """To the last bit: the tables of sessions from before are these."""
    file = shipped(name)
    answers = {}
    for item in file.items:
        assert isinstance(item, Rating)
        answers[item.id] = data.draw(st.integers(item.first, item.last))
    scores = scored(file, answers)
    assert scores == by_rule(name)(answers)
    for score, value in scores.items():
        assert LIMITS[score][0] <= value <= LIMITS[score][1]


@given(st.permutations(TLX_SUBSCALES), st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_weighted_workload_lies_among_the_subscales(order: list[str], given_: list[int]) -> None:
    scores = weighed(dict(zip(TLX_SUBSCALES, given_, strict=True)), compared(list(order)))
    weights = [scores[f"weight_{name}"] for name in TLX_SUBSCALES]
    assert sum(weights) == 15
    total = sum(weight * 5.0 * g for weight, g in zip(weights, given_, strict=True))
    assert scores["weighted_tlx"] == total / 15
    assert 5 * min(given_) - 1e-9 <= scores["weighted_tlx"] <= 5 * max(given_) + 1e-9


OWN = """\
scores:
  trust: {mean: [a, b, c], reverse: [b], meaning: 5 most}
  doubt: {sum: [b, c], from: 0}
  both: {weighted: {trust: doubt, doubt: trust}}
scale: {points: 5, low: "no", high: "yes"}
items:
  - {id: a, kind: statement, text: A}
  - {id: b, kind: statement, text: B}
  - {id: c, kind: statement, text: C}
"""


def test_a_questionnaire_of_ones_own_declares_the_same() -> None:
    file = made(OWN)
    assert scored(file, {"a": 5, "b": 1, "c": 2}) == {"trust": 4.0, "doubt": 1.0}
    assert isinstance(file.scores, dict)
    ends = {name: (score.low, score.high) for name, score in file.scores.items()}
    assert ends == {"trust": (1, 5), "doubt": (0, 8), "both": (0, 8)}
    kept = resolve_scoring(file.planned_scores())
    assert kept == file.scores, "a journal is scored without the file"


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_older_file_and_an_older_journal_have_the_shipped_scores(name: str) -> None:
    from labapp.base import resources

    path = resources.assets() / "instruments" / f"{name}.yaml"
    text = path.read_text("utf-8")
    head, _, rest = text.partition("scores:\n")
    body = rest[
        min(rest.index(key) for key in ("\nitems:", "\norder:", "\nscale:") if key in rest) :
    ]
    older = Instrument.parse(Path("old.yaml"), f"{head}scoring: {name}{body}".encode())
    assert older.scores == shipped(name).scores == resolve_scoring(name)
    assert older.planned_scores() == name


def test_what_an_older_file_leaves_out_is_not_scored() -> None:
    file = made(
        "scoring: ueq-s\nitems:\n"
        + "".join(f"  - {{id: ueq_{n}, points: 7, low: x, high: y}}\n" for n in range(1, 5))
    )
    assert isinstance(file.scores, dict)
    assert list(file.scores) == ["pragmatic"]


def test_scores_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(ValueError, match="its scores cannot be read"):
        resolve_scoring({"trust": {"median": ["a"]}})
    assert isinstance(
        resolve_scoring({"trust": {"mean": ["a"], "numbers": [1, 5]}})["trust"], Score
    )  # type: ignore[index]


FIVE = {"mean": ["a", "b", "c", "d", "e"], "reverse": ["b"], "numbers": (1, 7)}


@pytest.mark.parametrize(
    ("answers", "at_least", "mean"),
    [
        ({"a": 7, "b": 2, "c": 5, "d": 6, "e": 4}, None, 28 / 5),
        ({"a": 7, "b": 2, "c": 5, "d": 6}, None, None),
        ({"a": 7, "b": 2, "c": 5, "d": 6}, 4, 24 / 4),
        ({"b": 1, "c": 5, "d": 6}, 3, 18 / 3),
        ({"b": 1, "c": 5}, 3, None),
        ({"a": 7, "b": 2, "c": 5, "d": 6}, 9, None),
    ],
    ids=["all", "one missing", "enough", "enough with the reversed", "too few", "short scale"],
)
def test_a_scale_is_worked_out_from_so_many_answers(
    answers: Answers, at_least: int | None, mean: float | None
) -> None:
    assert Score.model_validate(FIVE).of(answers, at_least) == mean
    added = {"sum": FIVE["mean"], **{key: FIVE[key] for key in ("reverse", "numbers")}}
    total = Score.model_validate(added).of(answers, at_least)
    assert total == (None if mean is None else pytest.approx(5 * mean))


def test_what_is_no_scale_of_ratings_needs_all_its_answers() -> None:
    counted = Score.model_validate({"chosen": "yes", "among": ["x", "y"]})
    assert counted.of({"x": {"chosen": ["yes"]}}, 1) is None


def test_a_session_scores_as_its_study_declares_of_missing_answers() -> None:
    scoring = {"own": {"mean": ["a", "b", "c"], "numbers": [1, 5]}}
    part = {"part": "questionnaire", "id": "q", "title": "", "instrument": "own", "about": None}
    rows = [AnswerRecord("q", "own", item, 4, 4, 0.0, 0.0, 0, 1, 1.0) for item in "ab"]
    parts = Parts.of([part | {"scoring": scoring}])
    assert fold_scores(rows, parts) == []
    for at_least, values in ((2, [4.0]), (3, [])):
        assert [record.value for record in fold_scores(rows, parts, at_least)] == values
