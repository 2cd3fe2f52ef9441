"""Rules of exclusion, quotas and conditions in words, with labels and the words of items."""

from __future__ import annotations

import json

import pytest

from labapp.analysis import wording
from labapp.base.report.labels import Labels, Worded, labelling
from labapp.base.report.page import Translation, speaking
from labapp.study.design import ExcludeRule
from labapp.study.quotas import Quota

ITEMS = {
    "people.used": Worded("How often?", {"often": "Often", "never": "Never"}),
    "people.tired": Worded("How tired are you?"),
}
LABELS = {"tired": "Tiredness", "without": "Without a hint", "hint": "Hint"}


@pytest.mark.parametrize(
    ("rule", "english", "german"),
    [
        (
            {"item": "tired", "above": 80, "only_if": {"hint": "without"}},
            "Tiredness above 80 (applies only to: Without a hint)",
            "Tiredness über 80 (gilt nur für: Without a hint)",
        ),
        (
            {"item": "people.used", "answer": ["often", "never"]},
            "“How often?”: Often or Never",
            "„How often?“: Often oder Never",
        ),
        (
            {"item": "used", "answer_not": "often"},
            "“How often?”: not Often",
            "„How often?“: nicht Often",
        ),
        (
            {"when": {"age": {"above": 17, "below": 65.5}, "not": {"hint": "with"}}},
            "Age above 17 and below 65.5 and not (Hint: with)",
            "Age über 17 und unter 65,5 und nicht (Hint: with)",
        ),
        (
            {"when": {"any": [{"people.used": "often"}, {"hint": "without"}]}},
            "(“How often?”: Often or Without a hint)",
            "(„How often?“: Often oder Without a hint)",
        ),
        (
            {"failed_checks_above": 0},
            "A failed attention or comprehension check",
            "Eine nicht bestandene Aufmerksamkeits- oder Verständnisprüfung",
        ),
        (
            {"completion_rate_below": 0.25},
            "Less than 25 % of the questions solved",
            "Weniger als 25 % der Aufgaben gelöst",
        ),
        (
            {"median_response_s_above": 12.5},
            "Median response time above 12.5 s",
            "Mediane Antwortzeit über 12,5 s",
        ),
    ],
)
def test_a_rule_in_words(rule: dict[str, object], english: str, german: str) -> None:
    made = ExcludeRule.model_validate(rule)
    with labelling(LABELS | {"age": "Age"}, items=ITEMS):
        assert wording.describe_rule(made) == english
        with speaking(Translation("de", {".": ",", ",": ".", "and": "und", "or": "oder"})):
            assert wording.describe_rule(made) == german


def test_a_rule_is_called_by_its_label_and_else_in_words() -> None:
    rules = {"old": {"item": "age", "above": 65}, "quick": {"median_response_s_below": 1}}
    declared = json.dumps({"exclude": rules})
    with labelling({"old": "Older than 65", "age": "Age"}):
        names = wording.rule_names([declared])
        meanings = wording.meanings_of_rules([declared])
    assert (names["old"], meanings["old"]) == ("Older than 65", "Age above 65")
    assert (names["quick"], meanings["quick"]) == ("Median response time below 1 s", "")
    assert wording.list_rules("completed, old, other", names) == (
        "Did not finish; Older than 65; other"
    )


def test_a_quota_in_words() -> None:
    quota = Quota.model_validate({"when": {"people.used": "often"}, "at_most": 3})
    with labelling({"experts": "Experts", "people.used": "Prior use"}, items=ITEMS):
        assert wording.describe_quota("experts", quota) == ("Experts", "Prior use: Often")
        assert wording.describe_quota("old", quota) == ("", "Prior use: Often")


def test_a_bare_name_that_two_questionnaires_have_takes_the_label_of_neither() -> None:
    items = {"a.x": Worded("One"), "b.x": Worded("Other")}
    made = Labels({"a.x": "Label"}, {}, items, ())
    assert made.of_item("x") == ("", Worded())
    assert made.of_item("a.x") == ("Label", Worded("One"))


def test_an_answer_is_listed_with_the_words_of_its_item() -> None:
    items = ITEMS | {"people": Worded("About you")}
    with labelling({"people.tired": "Tiredness"}, items=items):
        assert wording.cells_of_item("people", "tired") == ("About you", "Tiredness")
        assert wording.cells_of_item("people", "used") == ("About you", "How often?")
        assert wording.cells_of_item("other", "used_1") == ("other", "used_1")
        assert wording.name_item("people.used") == (
            "“How often?”",
            {"often": "Often", "never": "Never"},
        )
    assert wording.cells_of_item("people", "tired") == ("people", "tired")
