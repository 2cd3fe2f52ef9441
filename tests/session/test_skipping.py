"""Skipping, conditional items and interviews in a session that is killed and gone on with."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import labapp.analysis
from labapp.analysis import analyze
from labapp.analysis.item_sections import attention, questionnaires
from labapp.analysis.tables import load as load_tables
from labapp.base.clock import NS
from labapp.base.errors import StudyError
from labapp.base.report.page import speaking
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    AskToLeave,
    Command,
    ConfirmSkip,
    CorrectNote,
    EndSession,
    GivePrompt,
    Next,
    Pause,
    Resume,
    SkipStage,
    TakeBackSkip,
)
from labapp.record.events.lifecycle import NoteCorrected
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.session.overview import overview
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.simulation_job import simulate
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, planner
from labapp.study.allocation import variants
from labapp.study.loading import load
from labapp.study.overview import check, notices, prior_of, space_of
from labapp.study.plugins.part import PlannedPart, section_of, sections_of
from labapp.tasks.interview.events import AskQuestion, EndInterview
from labapp.tasks.interview.machine import InterviewState
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireTask
from tests.helpers.own_questionnaires import STUDY, conditional_study
from tests.helpers.skips import skip_question
from tests.session.sessions import begin_session, part_of, resume_session, surroundings
from tests.session.test_resume import drop, go_on

SKIPPING_STUDY = """\
id: skipped
title: A study of two stages
version: 1
unnamed_texts: shipped
inclusion: {completed: yes}
flow:
  - consent: texts/{language}/consent.md
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 2
      skip: always
      intro: texts/{language}/words.md
      after: [shipped:seq]
  - break: texts/{language}/words.md
  - questionnaire: shipped:synthetic-end
  - debrief: texts/{language}/words.md
"""

PLAN = [
    "consent",
    *("stage-1-intro", "stage-1", "stage-1-seq"),
    *("stage-2-intro", "stage-2", "stage-2-seq"),
    *("break-1", "questionnaire-1", "debrief"),
]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[OpenSession]:
    """Before consent; closed at the end."""
    path = tmp_path / "study" / "skipped.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SKIPPING_STUDY)
    for name in ("consent", "words"):
        text = path.parent / "texts" / "en" / f"{name}.md"
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text("# Words\n\nSome words.\n")
    session = begin_session(tmp_path, study=path)
    assert [part.id for part in session.runner.machine.parts] == PLAN
    yield session
    session.close("over")


def skip_to(session: OpenSession, to: int) -> None:
    """Skip for good to a place in the plan."""
    runner = session.runner
    runner.send(SkipStage(runner.state.index, to), Source.MODERATOR)
    runner.send(ConfirmSkip(), Source.MODERATOR)


def skip_section(session: OpenSession) -> None:
    runner = session.runner
    skip_to(session, section_of(runner.machine.parts, runner.state.index).stop)


def outcomes(session: OpenSession) -> dict[str, str | None]:
    runner = session.runner
    records = zip(runner.machine.parts, runner.state.records, strict=True)
    return {part.id: record.outcome for part, record in records}


def plans() -> dict[str, list[PlannedPart]]:
    """The first plan of every shipped study."""
    made = {}
    for path in loading.list_shipped():
        loaded = loading.load(path.stem)
        number, drawn = next(iter(variants(loaded.study)))
        made[path.stem] = planner.realise(
            loaded,
            loaded.study.participants.label(number),
            loaded.study.first_session,
            space_of=space_of,
            prior_of=prior_of,
            stimuli_of=stimuli_of,
            drawn=drawn,
        ).parts
    return {name: list(parts) for name, parts in made.items()}


def test_every_shipped_plan_has_its_stages_with_what_belongs_to_them() -> None:
    for name, parts in plans().items():
        sections = sections_of(parts)
        assert [place for section in sections for place in section] == list(range(len(parts)))
        for section in sections:
            own = [parts[place] for place in section]
            numbers = {(part.role, part.number) for part in own if part.has_trials}  # type: ignore[attr-defined]
            assert len(numbers) <= 1, (name, [part.id for part in own])
            if not numbers:
                assert len(own) == 1
        for place, part in enumerate(parts):
            if (about := part.belongs_to()) is not None:
                stage = [each.id for each in parts].index(about)
                assert section_of(parts, stage) == section_of(parts, place), (name, part.id)
            if part.id.endswith("-intro"):
                stage = [each.id for each in parts].index(part.id.removesuffix("-intro"))
                assert section_of(parts, stage) == section_of(parts, place), (name, part.id)


@pytest.mark.parametrize("at", ["stage-1-intro", "stage-1", "stage-1-seq"])
def test_a_stage_is_skipped_with_its_text_and_its_questionnaire(
    session: OpenSession, at: str
) -> None:
    session.give_consent("Somebody")
    if at != "stage-1-intro":
        skip_to(session, PLAN.index(at))
    assert part_of(session) == at
    skip_section(session)
    assert part_of(session) == "stage-2-intro"
    assert {outcomes(session)[f"stage-1{end}"] for end in ("-intro", "", "-seq")} == {"skipped"}


def test_what_is_chosen_is_asked_although_its_stage_was_skipped(session: OpenSession) -> None:
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-1-seq"))
    assert part_of(session) == "stage-1-seq"


def test_nobody_is_asked_about_a_stage_that_was_skipped(session: OpenSession) -> None:
    """Neither where an older console, or a program, ends the stage alone."""
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-1"))
    session.runner.send(SkipStage(), Source.MODERATOR)
    session.runner.send(ConfirmSkip(), Source.MODERATOR)
    assert part_of(session) == "stage-2-intro"
    assert outcomes(session)["stage-1-seq"] == "skipped"


@pytest.mark.parametrize("skipped", [{1}, {2}, {1, 2}, set()])
def test_no_item_at_the_end_asks_about_a_stage_that_was_skipped(
    session: OpenSession, skipped: set[int]
) -> None:
    session.give_consent("Somebody")
    runner = session.runner
    for stage in (1, 2):
        if stage in skipped:
            skip_section(session)
        else:
            skip_to(session, PLAN.index(f"stage-{stage}"))
            while part_of(session) == f"stage-{stage}":
                skip_question(runner, Source.MODERATOR)
            skip_to(session, PLAN.index(f"stage-{stage}-seq") + 1)
    skip_to(session, PLAN.index("questionnaire-1"))
    state = runner.state
    asked = runner.machine.tasks[state.index].asked(state.part_state).ids
    assert {item for item in asked if item.startswith("stage_easy")} == {
        f"stage_easy_{stage}" for stage in {1, 2} - skipped
    }


def test_consent_is_never_passed_over(session: OpenSession) -> None:
    assert len(session.runner.machine.later(session.runner.state)) == 0
    for to in (None, 1, len(PLAN)):
        skip_to(session, 1) if to is None else skip_to(session, to)
        assert part_of(session) == "consent"
    session.give_consent("Somebody")
    for to in (0, 1, len(PLAN) + 1, -1):  # not back, not here, not beyond the end
        skip_to(session, to)
        assert part_of(session) == "stage-1-intro"


def test_it_is_taken_back_as_any_other_skip(session: OpenSession) -> None:
    session.give_consent("Somebody")
    session.runner.send(SkipStage(1, PLAN.index("questionnaire-1")), Source.MODERATOR)
    assert session.runner.state.pending is not None
    session.runner.send(TakeBackSkip("part"), Source.MODERATOR)
    assert part_of(session) == "stage-1-intro"
    assert set(outcomes(session).values()) == {"completed", None}


def test_a_session_that_was_continued_later_resumes_there(
    session: OpenSession, tmp_path: Path
) -> None:
    """The journal is dropped as `kill -9` leaves it, in the middle of it all."""
    session.give_consent("Somebody")
    skip_to(session, PLAN.index("stage-2"))
    assert part_of(session) == "stage-2"
    again = go_on(tmp_path, drop(session))
    assert part_of(again) == "stage-2"
    again.runner.send(Resume("on"), Source.MODERATOR)
    assert again.runner.state.part_state.trial.number == 1
    skip_to(again, PLAN.index("break-1"))
    assert part_of(again) == "break-1"
    skip_to(again, PLAN.index("debrief"))  # also out of a break
    third = go_on(tmp_path, drop(again))
    assert part_of(third) == "debrief"
    third.runner.send(Resume("on"), Source.MODERATOR)
    skip_section(third)
    assert third.runner.state.ended == "completed"
    third.close("completed")
    path = third.folder.path
    events = read_verified_events(path)
    left_out = [event.part_id for event in events if event.kind == "part.skipped"]
    assert left_out == [
        *("stage-1", "stage-1-seq", "stage-2-intro", "stage-2-seq"),
        "questionnaire-1",
    ]
    assert third.runner.machine.fold(events) == third.runner.state
    tables = load_tables(path)
    stages = tables.stages.set_index("stage")
    assert list(stages["outcome"]) == ["skipped", "skipped"]
    assert list(stages["n_trials"]) == [0, 0]
    assert stages["duration_s"].isna()["stage-1"], "it did not take no time: it never was"
    assert tables.participants["excluded_because"][0] == "completed"
    skipped = tables.deviations[tables.deviations["kind"] == "part_skipped"]
    assert set(left_out) < set(skipped["stage"])
    bundle = export([path], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).ok
    assert list(load_tables(bundle).stages["outcome"]) == ["skipped", "skipped"]


def test_an_older_skip_still_reads(session: OpenSession) -> None:
    """A skip without a goal, as all journals until now have it, skips the part alone."""
    session.give_consent("Somebody")
    session.runner.send(SkipStage(), Source.MODERATOR)
    session.runner.send(ConfirmSkip(), Source.MODERATOR)
    assert part_of(session) == "stage-1"
    events = read_verified_events(drop(session))
    older = [
        event._replace(payload={k: v for k, v in event.payload.items() if k != "to"})
        for event in events
    ]
    assert session.runner.machine.fold(older) == session.runner.state


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
def session_asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_what_was_not_asked_is_told_from_what_was_passed_over(session_asked: Path) -> None:
    answers = table(session_asked)
    assert dict(answers["asked"]) == {
        **dict.fromkeys(("rely", "attention", "hinted", "code", "pension"), True),
        "bad": False,
    }
    bad = answers.loc["bad"]
    assert pd.isna(bad["value"])
    assert bad["first_value"] == 7, "it was answered before it was hidden"
    assert not bad["submitted"]
    scores = labapp.analysis.load(session_asked).scores
    assert scores.empty, "one of its items was not asked"


def test_an_attention_check_is_told_as_passed_or_failed(session_asked: Path) -> None:
    answers = table(session_asked)
    assert answers.loc["attention", "check"] == "failed"
    assert answers["check"].notna().sum() == 1
    (participant,) = labapp.analysis.load(session_asked).participants.to_dict("records")
    assert (participant["n_checks"], participant["n_checks_failed"]) == (1, 1)
    assert not participant["included"]
    assert participant["excluded_because"] == "read"


def test_the_report_counts_checks_also_of_whoever_is_not_included(session_asked: Path) -> None:
    tables = labapp.analysis.load(session_asked)
    told = "".join(map(str, attention(tables.answers)))
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", told)
    assert cells[-6:] == ["use", "attention", "0", "1", "1", "1"]
    german, _ = analyze.choose_language(tables, "de")
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


def test_a_bundle_says_what_was_not_asked(session_asked: Path, tmp_path: Path) -> None:
    bundle = export([session_asked], tmp_path / "bundle")
    assert verify(bundle).ok
    header, row = (
        line.split("\t") for line in (bundle / "phenotype/use.tsv").read_text().splitlines()
    )
    cells = dict(zip(header, row, strict=True))
    assert cells["ses_1_questionnaire_2_not_asked"] == "bad"
    assert "ses_1_questionnaire_2_bad" not in cells
    assert dict(table(bundle)["asked"]) == dict(table(session_asked)["asked"])
    sidecar = json.loads((bundle / "phenotype/use.json").read_text())
    assert "left out" in sidecar["ses_1_questionnaire_2_not_asked"]["Description"]


def test_what_follows_from_an_answer_that_identifies_is_withheld_with_it(
    session_asked: Path, tmp_path: Path
) -> None:
    """`pension` is asked of people of 70 alone."""
    bundle = export([session_asked], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).ok
    answers = table(bundle)
    kept = answers[answers["submitted"]]
    assert set(kept.index) == {"rely", "attention", "hinted", "code"}
    assert not answers.loc["bad", "asked"]


INTERVIEW_STUDY = """\
id: talked
title: A study with an interview
version: 1
flow:
  - consent: shipped:consent
  - interview: shipped:interview
    questions:
      en: ["What did you look for?", "What was hard?"]
      de: ["Worauf haben Sie geachtet?"]
  - debrief: shipped:debrief
"""


def study(folder: Path, text: str = INTERVIEW_STUDY) -> Path:
    path = folder / "talked.yaml"
    path.write_text(text)
    return path


def in_interview(tmp_path: Path) -> OpenSession:
    session = begin_session(tmp_path, study=study(tmp_path))
    session.give_consent("A Name")
    assert part_of(session) == "interview-1"
    return session


def moderate(session: OpenSession, *commands: Command) -> None:
    for command in commands:
        session.runner.send(command, Source.MODERATOR)


def test_the_guide_stamps_its_questions_until_the_moderator_ends_it(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    session.runner.send(Next())
    assert part_of(session) == "interview-1", "the participant does not end it by a key"
    moderate(session, AskQuestion(2), AskQuestion(1), AskQuestion(2), AskQuestion(3))
    state = session.runner.state.part_state
    assert state == InterviewState(asked=(2, 1, 2), since_ns=0), "there is no third question"
    moderate(session, Pause("a phone"), AskQuestion(1), Resume("on"), EndInterview())
    assert part_of(session) == "debrief"
    assert session.runner.state.records[1].outcome == "completed"
    path = drop(session)
    asked = [
        event for event in read_verified_events(path) if event.kind == "interview.question_asked"
    ]
    assert [dict(event.payload) for event in asked][:2] == [
        {"question": 2, "text": "What was hard?"},
        {"question": 1, "text": "What did you look for?"},
    ]
    assert {event.part_id for event in asked} == {"interview-1"}
    assert len(asked) == 3


@pytest.mark.parametrize("end", [EndInterview(), SkipStage()])
def test_killed_in_an_interview(tmp_path: Path, end: Command) -> None:
    killed = in_interview(tmp_path)
    moderate(killed, AskQuestion(1))
    session = go_on(tmp_path, drop(killed))
    assert part_of(session) == "interview-1"
    moderate(session, Resume("everybody is back"), AskQuestion(2))
    assert session.runner.state.part_state.asked == (1, 2)
    moderate(session, end, ConfirmSkip())
    assert part_of(session) == "debrief"
    drop(session)


def test_who_asks_to_stop_is_let_out_of_the_interview(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    session.runner.send(AskToLeave("escape"))
    moderate(session, AskQuestion(1))
    assert session.runner.state.part_state.asked == (1,), "its time is not lost"
    moderate(session, EndInterview())
    assert part_of(session) == "debrief"
    assert not session.runner.state.pauses.leaving
    drop(session)


def test_a_simulated_session_asks_everything_and_goes_on(tmp_path: Path) -> None:
    loaded = load(study(tmp_path))
    around = surroundings(tmp_path)
    path = simulate(loaded, "P01", around, data=tmp_path / "data", strategy="understanding")
    events = read_verified_events(path)
    assert [event.kind for event in events].count("interview.question_asked") == 2
    assert events[-2].kind == "session.completed"


def test_the_flow_tells_of_the_interview(tmp_path: Path) -> None:
    told = overview(str(study(tmp_path)), 1, tmp_path / "data").lines()
    assert "  Interview: a guide of 2 questions, until the moderator ends it" in told


def test_an_interview_without_consent_is_worth_a_word(tmp_path: Path) -> None:
    assert notices(check(study(tmp_path))) == []
    without = INTERVIEW_STUDY.replace("  - consent: shipped:consent\n", "")
    (told,) = notices(check(study(tmp_path, without)))
    assert "mentions the interview" in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("      en:", "      fr:"), "its questions are in fr, de"),
        (("What did you look for?", " "), "a text of at least one character"),
    ],
)
def test_a_guide_that_cannot_be_asked_is_refused(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    with pytest.raises(StudyError, match=told):
        load(study(tmp_path, INTERVIEW_STUDY.replace(*change)))


def noted(session: OpenSession) -> list[str]:
    """How everything that was noted reads now."""
    return [noted.now for noted in session.runner.state.noted.values()]


def seqs(session: OpenSession) -> list[int]:
    return list(session.runner.state.noted)


def test_what_was_noted_is_corrected_and_taken_back(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    moderate(session, AddNote("turns teh dial", 1), AddDeviation("a door", 2), AddFlag(1))
    moderate(session, GivePrompt("Please keep talking"), AskQuestion(1))
    note, deviation, flag, prompt, question = seqs(session)
    moderate(session, CorrectNote(note, " turns the dial ", 3), CorrectNote(deviation, "", 4))
    moderate(session, *(CorrectNote(seq, "", 5) for seq in (flag, prompt, question)))
    assert noted(session) == ["turns the dial", "", "", "", ""]
    before = session.runner.journal.committed_seq
    for nothing in (
        CorrectNote(note, "turns the dial", 6),  # as it reads already
        CorrectNote(flag, "", 6),
        CorrectNote(flag, "another meaning", 6),  # the words are the study's
        CorrectNote(before, "a correction", 6),  # is no note
        CorrectNote(999, "nothing", 6),
    ):
        moderate(session, nothing)
    assert session.runner.journal.committed_seq == before
    moderate(session, CorrectNote(flag, "insight", 7), CorrectNote(deviation, "a window", 7))
    assert noted(session) == ["turns the dial", "a window", "insight", "", ""]
    state = session.runner.state
    moderate(session, EndInterview(), EndSession("enough"), CorrectNote(note, "at the end", 8 * NS))
    assert noted(session)[0] == "at the end", "also when the session is over"
    path = drop(session)
    written = [event for event in read_verified_events(path) if event.kind == NoteCorrected.kind]
    assert all(event.source == Source.MODERATOR for event in written)
    assert dict(written[0].payload) == {
        "seq": note, "text": "turns the dial", "typing_began_ns": 3,
    }  # fmt: skip
    folded = session.runner.machine.fold(read_verified_events(path))
    assert folded.noted == session.runner.state.noted != state.noted
