"""Scores and choices in the tables, from the events of a session."""

from __future__ import annotations

from typing import Any

import pytest

from labapp.analysis.task_records import Row
from labapp.base.errors import RecordError
from labapp.record.events.lifecycle import PartStarted
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from tests.analysis.sessions import builder, records, stage_row
from tests.helpers.questionnaires import TLX_PAIRS, TLX_SUBSCALES


def ask(part: str, instrument: str, about: str | None = None, **more: Any) -> dict[str, Any]:
    row = {
        "part": "questionnaire",
        "id": part,
        "title": "",
        "instrument": instrument,
        "about": about,
    }
    return row | {"scoring": instrument} | more


def scores(*asked: tuple[dict[str, Any], dict[str, Any] | None]) -> list[Row]:
    """The rows of scores after these parts, each answered so (None: shown and not submitted)."""
    made = builder(stage_row(), *(part for part, _ in asked))
    for index, (part, answers) in enumerate(asked, start=1):
        made.at(10 * index, PartStarted(index), part["id"])
        if answers is None:
            made.at(10 * index + 1, ResponseChanged(part["instrument"], "seq", 2), part["id"])
        else:
            payload = QuestionnaireSubmitted(part["instrument"], 3, answers)
            made.at(10 * index + 2, payload, part["id"])
    return records(made).rows()["scores"]


RATINGS = dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True))
PAIRS = {item: {"chosen": [pair[0]]} for item, pair in TLX_PAIRS.items()}
"""Weights 5 4 3 2 1 0 in the order of the subscales."""


def test_a_row_a_score_with_what_it_is_about() -> None:
    rows = scores((ask("t", "nasa-tlx", "stage-1"), RATINGS))
    by_name = {row["score"]: row for row in rows}
    assert list(by_name) == [*TLX_SUBSCALES, "raw_tlx"]
    row = by_name["temporal_demand"]
    assert (row["value"], row["low"], row["high"]) == (60.0, 0, 100)
    assert (row["stage"], row["about"], row["instrument_version"]) == ("t", "stage-1", 3)
    assert row["model"] == stage_row()["model"]
    assert "weighted_tlx" not in by_name


def test_the_weighted_workload_takes_the_weights_about_the_same_stage() -> None:
    whole = sum(w * 5 * r for w, r in zip((5, 4, 3, 2, 1, 0), RATINGS.values(), strict=True))
    other = {item: {"chosen": [pair[1]]} for item, pair in TLX_PAIRS.items()}
    rows = scores(
        (ask("t", "nasa-tlx", "stage-1"), RATINGS),
        (ask("w-all", "nasa-tlx-weights"), other),
        (ask("w-1", "nasa-tlx-weights", "stage-1"), PAIRS),
    )
    (weighted,) = (row for row in rows if row["score"] == "weighted_tlx")
    assert weighted["value"] == whole / 15
    assert (weighted["stage"], weighted["instrument"]) == ("t", "nasa-tlx")
    rows = scores(
        (ask("w-all", "nasa-tlx-weights"), PAIRS), (ask("t", "nasa-tlx", "stage-1"), RATINGS)
    )
    (weighted,) = (row for row in rows if row["score"] == "weighted_tlx")
    assert weighted["value"] == whole / 15, (
        "those about the whole session, where there are no other"
    )


def test_what_was_not_submitted_or_names_no_function_has_no_score() -> None:
    assert scores((ask("s", "seq"), None)) == []
    assert scores((ask("c", "comments", scoring=None), {"comments": "fine"})) == []
    with pytest.raises(RecordError, match="nobody here knows the scoring 'of tomorrow'"):
        scores((ask("c", "own", scoring="of tomorrow"), {"a": 1}))


def test_items_as_they_are_have_no_limits_of_a_score() -> None:
    (row,) = scores((ask("u", "mine", scoring="as-answered"), {"effort": 4, "why": "so"}))
    assert (row["score"], row["value"], row["low"], row["high"]) == ("effort", 4.0, None, None)


@pytest.mark.parametrize(
    ("instrument", "said"),
    [
        ("synthetic-end", {}),  # an older plan says nothing of it: the shipped file does
        ("of-my-own", {"per_stage": ["stage_easy"]}),
    ],
)
def test_what_is_asked_once_a_stage_is_about_that_stage(
    instrument: str, said: dict[str, Any]
) -> None:
    items = ["frustrating", "stage_easy_1", "stage_easy_2"]
    asked = ask("end", instrument, scoring="as-answered", items=items, **said)
    rows = scores((asked, {"frustrating": 3, "stage_easy_1": 5, "stage_easy_2": 4}))
    told = [(row["score"], row["about"], row["value"]) for row in rows]
    assert told == [
        ("frustrating", None, 3.0),
        ("stage_easy", "stage-1", 5.0),
        ("stage_easy_2", None, 4.0),  # the plan has no such stage
    ]
    assert rows[1]["model"] == stage_row()["model"]


def test_a_plan_from_before_scoring_still_has_its_seq() -> None:
    old = ask("s", "seq", "stage-1")
    del old["scoring"]
    (row,) = scores((old, {"seq": 6}))
    assert (row["score"], row["value"]) == ("seq", 6.0)


@pytest.mark.parametrize(
    ("instrument", "said", "about_person"),
    [
        ("lab-demographics", {}, True),
        ("demography", {}, False),
        ("demographics", {"about_person": False}, False),
        ("us", {"about_person": True}, True),
    ],
)
def test_whom_it_asks_about_the_plan_says_and_of_an_older_one_the_name(
    instrument: str, said: dict[str, Any], about_person: bool
) -> None:
    made = builder(ask("q", instrument, scoring=None, **said))
    made.at(1, PartStarted(0), "q")
    made.at(2, ResponseChanged(instrument, "age", 3), "q")
    assert [row["about_person"] for row in records(made).rows()["answers"]] == [about_person]


def test_choices_and_what_was_written_beside_them() -> None:
    made = builder(ask("d", "demographics", scoring=None))
    made.at(1, PartStarted(0), "d")
    own = {"chosen": ["woman", "own"], "described": "my words"}
    made.at(2, ResponseChanged("demographics", "gender", {"chosen": ["man"]}), "d")
    made.at(4, ResponseChanged("demographics", "gender", own), "d")
    made.at(5, ResponseChanged("demographics", "age", {"chosen": ["from_70"]}), "d")
    made.at(6, ResponseChanged("demographics", "age", {"chosen": []}), "d")
    made.at(7, QuestionnaireSubmitted("demographics", 1, {"gender": own}), "d")
    rows = {row["item"]: row for row in records(made).rows()["answers"]}
    gender, age = rows["gender"], rows["age"]
    assert (gender["value_text"], gender["described"]) == ("woman;own", "my words")
    assert (gender["first_value_text"], gender["first_s"], gender["last_s"]) == ("man", 1.0, 3.0)
    assert (gender["changes"], gender["submitted_s"]) == (1, 6.0)
    assert (age["value_text"], age["first_value_text"], age["submitted"]) == (
        None,
        "from_70",
        False,
    )
