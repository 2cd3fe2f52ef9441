"""What questionnaires ask, in the tables: words, ranges, reversal, the order shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labapp.analysis import load
from labapp.analysis.questionnaires import item_rows
from labapp.analysis.tables import Tables
from labapp.record.events.commands import Next
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.machine import Answer
from tests.helpers.questionnaires import own_study
from tests.session.sessions import begin_session

RELIANCE = """\
id: reliance
version: 2
title: Reliance
source: Made for the tests.
order: shuffled
scale: {points: 5, low: not at all, high: completely, numbers: true}
scores:
  reliance: {mean: [rely, wary, trust], reverse: [wary], from: 0, meaning: 4 most}
items:
  - {id: rely, kind: statement, identifying: no, required: no, text: I would rely on this model.}
  - {id: wary, kind: statement, identifying: no, required: no, text: I am wary of this model.}
  - {id: trust, kind: statement, identifying: no, required: no, text: I trust it.}
  - {id: reads, kind: statement, identifying: no, check: 2, text: Please choose 2.}
  - {id: why, kind: written, identifying: yes, required: no, text: "Why?"}
"""
ANSWERS = {"rely": 5, "wary": 2, "trust": 4, "reads": 2}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    made = begin_session(folder, study=own_study(folder / "study", RELIANCE))
    for item, value in ANSWERS.items():
        made.runner.send(Answer(item, value))
    made.runner.send(Next())
    made.close("test over")
    return made.folder.path


@pytest.fixture(scope="module")
def tables(session: Path) -> Tables:
    return load(session)


def test_items_stand_in_the_order_of_their_file_with_all_their_words(tables: Tables) -> None:
    items = tables.items[tables.items["instrument"] == "reliance"]
    assert list(items["item"]) == ["rely", "wary", "trust", "reads", "why"]
    assert list(items["listed"]) == [1, 2, 3, 4, 5]
    wary = items.iloc[1]
    assert (wary["text"], wary["low"], wary["high"]) == ("I am wary of this model.", 1, 5)
    assert json.loads(wary["answers"]) == {"1": "not at all", "5": "completely"}
    assert (wary["reversed_in"], wary["language"], wary["instrument_version"]) == (
        "reliance", "en", 2,
    )  # fmt: skip
    assert items["reversed_in"].notna().sum() == 1
    assert items.iloc[3]["check"] == "2"
    assert items["only_if"].isna().all()


def test_conditions_stand_with_the_items(tmp_path: Path) -> None:
    text = RELIANCE.replace("shuffled", "fixed").replace('text: "W', 'only_if: {wary: 5}, text: "W')
    asked = Instrument.parse(tmp_path / "reliance.yaml", text.encode())
    *others, why = item_rows([asked], "en")
    assert json.loads(why["only_if"]) == {"wary": [5]}
    assert all(item["only_if"] is None for item in others)


def test_the_place_on_the_screen_stands_with_the_answer(tables: Tables, session: Path) -> None:
    planned = open_record(session).planned.plan
    (part,) = (part for part in planned if part.get("instrument") == "reliance")
    order = list(part["items"])
    assert sorted(order) == sorted([*ANSWERS, "why"])
    answers = tables.answers
    assert {row["item"]: row["place"] for _, row in answers.iterrows()} == {
        item: order.index(item) + 1 for item in answers["item"]
    }


def test_the_score_can_be_made_again_from_the_tables(tables: Tables) -> None:
    asked = tables.answers.merge(tables.scales, on=["study", "instrument", "item"])
    counts = asked["value"].where(~asked["reversed"], asked["low"] + asked["high"] - asked["value"])
    assert (counts + asked["moved"]).mean() == tables.scores["value"].iloc[0] == (4 + 3 + 3) / 3


def test_a_bundle_gives_the_same_tables_and_says_what_the_numbers_mean(
    session: Path, tables: Tables, tmp_path: Path
) -> None:
    bundle = export([session], tmp_path / "bundle")
    again = load(bundle)
    for name in ("items", "scales", "answers", "scores"):
        assert again.by_name()[name].equals(tables.by_name()[name]), name
    sidecar = json.loads((bundle / "phenotype" / "reliance.json").read_text())
    (wary,) = (column for name, column in sidecar.items() if name.endswith("_wary"))
    assert wary["Levels"] == {
        "1": "not at all", "2": "2", "3": "3", "4": "4", "5": "completely",
    }  # fmt: skip
    assert wary["Description"].startswith("I am wary of this model.")
    assert wary["Description"].endswith("In the score reliance it counts the other way round.")
    (rely,) = (column for name, column in sidecar.items() if name.endswith("_rely"))
    assert "other way round" not in rely["Description"]
