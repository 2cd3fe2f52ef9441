"""A study's own rules of exclusion: asked as a session ends, and again of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.inclusion import Given, Judged, failed_rules, values_of
from labapp.analysis.retention import retention
from labapp.base.report.page import joined
from labapp.record.journal.read import payloads, read_rows
from labapp.session.bids.export import export
from labapp.session.condition_assignment import session_states
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading, overview
from labapp.study.design import ExcludeRule
from tests.helpers.nightly import EVERYTHING

INSTRUMENT = """\
id: opinions
version: 1
title: Opinions
source: ours
scores: {trust: {mean: [t1, t2], reverse: [t2]}}
scale: {points: 5, low: not at all, high: very much}
items:
- {kind: statement, id: t1, text: I trust it.}
- {kind: statement, id: check_1, text: Choose 2 here.}
- {kind: statement, id: t2, text: I distrust it.}
- kind: choice
  id: saw
  text: What did you see?
  identifying: false
  options:
  - {id: lines, text: Lines}
  - {id: dots, text: Dots}
  - {id: words, text: Words}
  - {id: nothing, text: Nothing}
"""
STUDY = """\
id: ruled
title: Ruled
version: 1
unnamed_texts: shipped
seed: 3
design:
  between: {hint: ["with", "without"]}
  by_moderator: [hint]
  within: [model]
exclude:
  attention: {item: check_1, answer_not: [2, 3, 4, 5]}
  saw_dots: {item: opinions.saw, answer: [dots]}
  low_trust: {score: trust, below: 2}
  fast: {median_response_s_below: 3}
  slow: {median_response_s_above: 60}
  unsolved: {completion_rate_below: 0.2}
  seq_high: {item: seq, above: 6}
flow:
- stages:
    task: reconstruction
    models: [sinelines/gt, sinelines/vae]
    trials: 2
    skip: always
    after: [shipped:seq]
- questionnaire: opinions
"""
MANY = 6 if EVERYTHING else 4
RULES = ("attention", "saw_dots", "low_trust", "fast", "slow", "unsolved", "seq_high")


def ruled(folder: Path, text: str = STUDY) -> Path:
    (folder / "instruments").mkdir(parents=True, exist_ok=True)
    (folder / "instruments" / "opinions.yaml").write_text(INSTRUMENT)
    path = folder / "ruled.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ruled")
    study = ruled(folder / "study")
    simulate_study(str(study), MANY, "understanding=0.6,random=0.4", folder / "data", careless=0.2)
    return folder / "data"


@pytest.fixture(scope="module")
def tables(data: Path) -> Tables:
    return load([data])


def by_hand(tables: Any) -> dict[str, set[str]]:
    """Who fails what, from the tables alone, by pandas."""
    answers, scores, trials, stages = tables.answers, tables.scores, tables.trials, tables.stages
    people = list(tables.participants["participant"])
    own = answers[answers["submitted"].astype(bool)].set_index("participant")
    counted = trials[(trials["role"] == "stage") & ~trials["excluded"] & ~trials["keyboard_away"]]
    counted = counted[counted["outcome"].isin(["solved", "skipped"])]
    medians = counted.groupby("participant")["duration_s"].median().reindex(people)
    rates = stages.groupby("participant")["completion_rate"].mean().reindex(people)
    trust = scores[scores["score"] == "trust"].set_index("participant")["value"].reindex(people)
    check = own[own["item"] == "check_1"]["value"].reindex(people)
    saw = own[own["item"] == "saw"]["value_text"].reindex(people)
    seq = own[own["instrument"] == "seq"]["value"].groupby("participant").max().reindex(people)
    failing = {
        "attention": check.notna() & (check == 1),
        "saw_dots": saw == "dots",
        "low_trust": trust < 2,
        "fast": medians < 3,
        "slow": medians > 60,
        "unsolved": rates < 0.2,
        "seq_high": seq > 6,
    }
    return {who: {rule for rule, fails in failing.items() if fails[who]} for who in people}


def test_the_session_and_the_tables_decide_alike(data: Path, tables: Tables) -> None:
    expected = by_hand(tables)
    assert len({rule for rules in expected.values() for rule in rules}) >= 3, "no rule is tried"
    assert any(not rules for rules in expected.values()), expected
    people = tables.participants.set_index("participant").fillna({"excluded_because": ""})
    for folder in sorted((data / "ruled").glob("sub-*")):
        (decided,) = payloads(read_rows(folder, ("inclusion.decided",)))
        event = decided[1]
        who = folder.name.split("_")[0].removeprefix("sub-")
        assert set(event.failed) - {"completed"} == expected[who], who  # type: ignore[attr-defined]
        reasons = str(people.loc[who, "excluded_because"])
        assert set(filter(None, reasons.split(", "))) == set(event.failed)  # type: ignore[attr-defined]
        assert bool(people.loc[who, "included"]) is not bool(event.failed)  # type: ignore[attr-defined]


def test_who_fails_is_replaced(data: Path, tables: Tables, tmp_path: Path) -> None:
    loaded = loading.load(ruled(tmp_path))
    states = {row.participant: row.state for row in session_states(data / loaded.study.id)}
    people = tables.participants
    included = people.set_index("participant")["included"]
    assert {who for who, state in states.items() if state == "included"} == set(
        included[included].index
    )
    assert "excluded" in states.values()


def test_a_bundle_and_its_copy_without_names_say_the_same(
    data: Path, tables: Tables, tmp_path: Path
) -> None:
    sessions = sorted((data / "ruled").glob("sub-*"))
    here = tables.participants.set_index("participant")["excluded_because"]
    for deidentify in (False, True):
        out = tmp_path / f"bundle-{deidentify}"
        export(sessions, out, deidentify=deidentify)
        there = load([out]).participants.set_index("participant")["excluded_because"]
        pd.testing.assert_series_equal(here, there.reindex(here.index))
        described = next(out.rglob("*sessions.json")).read_text()
        assert "answered otherwise than 2 or 3 or 4 or 5 to check_1" in described


def test_the_report_says_who_is_left_out_and_why(tables: Tables) -> None:
    page = str(joined(retention(tables.participants, "ruled", "s1", tables.withdrawn)))
    assert "the participant answered otherwise than 2 or 3 or 4 or 5 to check_1" in page
    assert "not applied" not in page


@pytest.mark.parametrize(
    ("rule", "values", "fails"),
    [
        ({"answer_not": 2}, (2.0,), False),
        ({"answer_not": 2}, (3.0,), True),
        ({"answer_not": "2"}, (2.0,), False),
        ({"answer_not": ["a", "b"]}, ("a", "b"), False),
        ({"answer_not": ["a", "b"]}, ("a", "c"), True),
        ({"answer": ["a", "b"]}, ("c", "b"), True),
        ({"answer": "a"}, (), False),
        ({"answer_not": "a"}, (), False),
        ({"below": 3}, (2.0,), True),
        ({"below": 3}, (3.0,), False),
        ({"above": 3}, ("text",), False),
    ],
)
def test_a_rule_on_an_answer(rule: dict[str, Any], values: tuple[Any, ...], fails: bool) -> None:
    rules = {"own": ExcludeRule.model_validate({"item": "q", **rule})}
    judged = Judged((Given("i", "q", values), Given("i", "other", ("z", 99.0))), (), (), (), 0.0)
    assert failed_rules(rules, judged) == (("own",) if fails else ())
    assert not failed_rules({"own": rules["own"].model_copy(update={"item": "j.q"})}, judged)


def test_an_answer_is_judged_as_the_table_has_it() -> None:
    assert values_of(None) == values_of("") == ()
    assert values_of(3) == (3.0,)
    assert values_of("a;b") == ("a", "b")


def test_stops_of_the_program_are_judged_by_their_seconds() -> None:
    rules = {"broken": ExcludeRule(interrupted_s_above=60)}
    assert failed_rules(rules, Judged((), (), (), (), 60.5)) == ("broken",)
    assert not failed_rules(rules, Judged((), (), (), (), 60.0))


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("a: {item: check_9, answer: 2}", "has an item 'check_9'; there are: "),
        ("a: {item: check_1, answer: 6}", "6 is no answer to check_1; possible are: whole"),
        (
            "a: {item: saw, answer_not: circles}",
            "'circles' is no answer to saw; possible are",
        ),
        ("a: {item: saw, below: 2}", "saw has no number that could be below another"),
        ("a: {item: check_1, below: 1}", "nobody would fail: check_1 goes from 1 to 5"),
        ("a: {score: trust, above: 0.5}", "everybody would fail: trust goes from 1 to 5"),
        ("a: {score: trust, above: 5}", "nobody would fail: trust goes from 1 to 5"),
        ("a: {score: faith, above: 3}", "has a score 'faith'; there are: "),
        ("completed: {score: trust, above: 3}", "'completed' is a reason that every study has"),
    ],
)
def test_a_rule_that_cannot_be_is_told_with_its_line(tmp_path: Path, rule: str, says: str) -> None:
    at = STUDY.index("exclude:\n")
    text = f"{STUDY[:at]}exclude:\n  {rule}\n{STUDY[STUDY.index('flow:') :]}"
    checked = overview.check_all(str(ruled(tmp_path, text)))
    (error,) = checked.errors
    assert says in str(error)
    assert "line 11, exclude." in str(error)


def test_the_rules_of_the_study_above_are_in_order(tmp_path: Path) -> None:
    assert overview.check_all(str(ruled(tmp_path))).errors == ()
