"""Conditional items and attention checks in a session: killed in the middle, gone on with, and in
tables and bundles."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import labapp.analysis
from labapp.analysis import analyze
from labapp.analysis.item_sections import attention, questionnaires
from labapp.base.report.page import speaking
from labapp.record.events import Source
from labapp.record.events.commands import Next, Resume
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireTask
from tests.helpers.own_questionnaires import STUDY, conditional_study
from tests.session.sessions import begin_session, part_of, resume_session


def asked(session: OpenSession) -> set[str]:
    runner = session.runner
    task = runner.machine.tasks[runner.state.index]
    assert isinstance(task, QuestionnaireTask)
    return set(task.asked(runner.state.part_state).ids)


def killed(folder: Path, study: Path) -> Path:
    """A session in a child process that is killed after an answer was hidden."""
    child = os.fork()
    if child == 0:
        try:
            begun = begin_session(folder, study=study, cells=("hint: with #1",))
            send = begun.runner.send
            send(Answer("tools", {"chosen": ["python", "matlab"]}))
            send(Answer("age", {"value": 70, "touched": True}))
            send(Next())
            for item, value in (("rely", 2), ("bad", 7), ("attention", 3), ("rely", 6)):
                send(Answer(item, value))
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    (path,) = folder.glob("data/*/sub-*")
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that was killed after an answer was hidden, and gone on with."""
    folder = tmp_path_factory.mktemp("asked")
    path = killed(folder, conditional_study(folder / "study"))
    again = resume_session(folder, path)
    again.begin()
    again.runner.send(Resume("on"), Source.MODERATOR)
    assert part_of(again) == "questionnaire-2"
    assert asked(again) == {"rely", "attention", "hinted", "code", "pension"}
    send = again.runner.send
    send(Next())
    send(Answer("hinted", 5))
    assert again.runner.state.part_state.page == 1
    send(Answer("code", "models"))
    send(Answer("pension", 4))
    send(Next())
    assert again.runner.state.ended == "completed"
    again.close("over")
    return path


def table(path: Path) -> pd.DataFrame:
    answers = labapp.analysis.load(path).answers
    return answers[answers["instrument"] == "use"].set_index("item")


def test_what_was_not_asked_is_told_from_what_was_passed_over(session: Path) -> None:
    answers = table(session)
    assert dict(answers["asked"]) == {
        **dict.fromkeys(("rely", "attention", "hinted", "code", "pension"), True),
        "bad": False,
    }
    bad = answers.loc["bad"]
    assert pd.isna(bad["value"])
    assert bad["first_value"] == 7, "it was answered before it was hidden"
    assert not bad["submitted"]
    scores = labapp.analysis.load(session).scores
    assert scores.empty, "one of its items was not asked"


def test_an_attention_check_is_told_as_passed_or_failed(session: Path) -> None:
    answers = table(session)
    assert answers.loc["attention", "check"] == "failed"
    assert answers["check"].notna().sum() == 1
    (participant,) = labapp.analysis.load(session).participants.to_dict("records")
    assert (participant["n_checks"], participant["n_checks_failed"]) == (1, 1)
    assert not participant["included"]
    assert participant["excluded_because"] == "read"


def test_the_report_counts_checks_also_of_whoever_is_not_included(session: Path) -> None:
    tables = labapp.analysis.load(session)
    told = "".join(map(str, attention(tables.answers)))
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", told)
    assert cells[-6:] == ["use", "attention", "0", "1", "1", "1"]
    german, _ = analyze.chosen(tables, "de")
    assert german is not None
    with speaking(german):
        assert "Aufmerksamkeitsprüfungen" in "".join(map(str, attention(tables.answers)))
    assert not [text for text in german.missing if not text.islower()]
    asked_of_all = replace(tables, participants=tables.participants.assign(included=True))
    sections = "".join(map(str, questionnaires(asked_of_all, "own")))
    assert "hinted" in sections
    assert "attention" not in sections, "a check is no rating"


def test_everybody_is_asked_by_their_own_condition(tmp_path: Path) -> None:
    one = begin_session(
        tmp_path, study=conditional_study(tmp_path / "study"), cells=("hint: without #1",)
    )
    one.runner.send(Answer("tools", {"chosen": ["none_"]}))
    one.runner.send(Answer("age", {"value": 30, "touched": True}))
    one.runner.send(Next())
    assert asked(one) == {"rely", "attention"}
    for item in ("rely", "attention"):
        one.runner.send(Answer(item, 2))
    one.runner.send(Answer("bad", 2))
    one.runner.send(Next())
    one.close("over")
    answers = table(one.folder.path)
    assert set(answers.index[~answers["asked"]]) == {"hinted", "code", "pension"}
    assert answers.loc["attention", "check"] == "passed"
    assert labapp.analysis.load(one.folder.path).scores["value"].tolist() == [4.0]


def test_a_scale_with_an_item_that_was_not_asked_follows_the_rule_on_missing_ones(
    tmp_path: Path,
) -> None:
    study = STUDY.replace("flow:\n", "missing: {scale_items: {at_least: 1}}\nflow:\n")
    path = conditional_study(tmp_path / "study", study=study)
    one = begin_session(tmp_path, study=path, cells=("hint: without #1",))
    one.runner.send(Answer("tools", {"chosen": ["none_"]}))
    one.runner.send(Answer("age", {"value": 30, "touched": True}))
    one.runner.send(Next())
    for item, value in (("rely", 2), ("bad", 1), ("attention", 2), ("rely", 5)):
        one.runner.send(Answer(item, value))
    one.runner.send(Next())
    one.close("over")
    scores = labapp.analysis.load(one.folder.path).scores
    assert scores["value"].tolist() == [5.0], "what was answered before it was hidden is not in it"


def test_a_bundle_says_what_was_not_asked(session: Path, tmp_path: Path) -> None:
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).ok
    header, row = (
        line.split("\t") for line in (bundle / "phenotype/use.tsv").read_text().splitlines()
    )
    cells = dict(zip(header, row, strict=True))
    assert cells["ses_1_questionnaire_2_not_asked"] == "bad"
    assert "ses_1_questionnaire_2_bad" not in cells
    assert dict(table(bundle)["asked"]) == dict(table(session)["asked"])
    sidecar = json.loads((bundle / "phenotype/use.json").read_text())
    assert "left out" in sidecar["ses_1_questionnaire_2_not_asked"]["Description"]


def test_what_follows_from_an_answer_that_identifies_is_withheld_with_it(
    session: Path, tmp_path: Path
) -> None:
    """`pension` is asked of people of 70 alone."""
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).ok
    answers = table(bundle)
    kept = answers[answers["submitted"]]
    assert set(kept.index) == {"rely", "attention", "hinted", "code"}
    assert not answers.loc["bad", "asked"]
