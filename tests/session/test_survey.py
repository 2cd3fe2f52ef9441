"""The lab's own survey: its link, its events, going on after a kill, and what leaves the lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.deviations import fold_deviations
from labapp.base.errors import StudyError
from labapp.record.events import Event, Source, payload_of
from labapp.record.events.commands import AskToLeave, ConfirmSkip, Resume, SkipStage
from labapp.record.events.lifecycle import WindowFocus
from labapp.record.journal.opening import iter_records
from labapp.session.bids.export import export
from labapp.session.opening import OpenSession
from labapp.session.overview import overview
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load
from labapp.tasks.survey.events import EndSurvey, FinishSurvey, OpenSurvey
from labapp.tasks.survey.machine import SurveyState
from tests.session.sessions import begin_session, part_of, surroundings
from tests.session.test_resume import drop, go_on

LINK = "https://survey.example.org/s/1?pid={participant}&s={session}&c={colour}&l={language}"
STUDY = f"""\
id: surveyed
title: A study with a survey
version: 1
assignment:
  colour: {{odd: "deep blue", even: red}}
flow:
  - consent: shipped:consent
  - survey: shipped:survey
    link: {LINK}
    open_with: button
  - debrief: shipped:debrief
"""
FILLED = "https://survey.example.org/s/1?pid=P01&s=1&c=deep%20blue&l=en"


def study(folder: Path, old: str = "", new: str = "") -> Path:
    path = folder / "surveyed.yaml"
    path.write_text(STUDY.replace(old, new) if old else STUDY)
    return path


def at_survey(tmp_path: Path, old: str = "", new: str = "") -> OpenSession:
    session = begin_session(tmp_path, study=study(tmp_path, old, new))
    session.give_consent("A Name")
    assert part_of(session) == "survey-1"
    return session


def told(path: Path) -> list[tuple[str, dict[str, object], str]]:
    events = read_verified_events(path)
    return [(e.kind, dict(e.payload), e.source) for e in events if e.kind.startswith("survey.")]


def test_what_was_shown_and_when_the_participant_was_back_is_in_the_journal(
    tmp_path: Path,
) -> None:
    session = at_survey(tmp_path)
    send = session.runner.send
    assert session.runner.state.part_state == SurveyState(link=FILLED)
    send(FinishSurvey())
    assert part_of(session) == "survey-1", "nothing was opened yet"
    send(OpenSurvey(opened=True))
    send(FinishSurvey())
    assert part_of(session) == "debrief"
    assert session.runner.state.records[1].outcome == "completed"
    assert told(drop(session)) == [
        ("survey.shown", {"link": FILLED, "open_with": "button"}, Source.SYSTEM),
        ("survey.opened", {"opened": True}, Source.PARTICIPANT),
        ("survey.returned", {"by": "participant"}, Source.PARTICIPANT),
    ]


def test_a_code_is_opened_elsewhere(tmp_path: Path) -> None:
    session = at_survey(tmp_path, "button", "qr-code")
    session.runner.send(OpenSurvey(opened=True))
    assert session.runner.state.part_state.opened == 0, "there is no button"
    session.runner.send(FinishSurvey())
    assert part_of(session) == "debrief"
    drop(session)


def test_the_moderator_continues_for_the_participant(tmp_path: Path) -> None:
    session = at_survey(tmp_path)
    session.runner.send(AskToLeave("escape"))
    session.runner.send(EndSurvey(), Source.MODERATOR)
    assert part_of(session) == "debrief"
    assert not session.runner.state.pauses.leaving
    assert told(drop(session))[-1] == ("survey.returned", {"by": "moderator"}, Source.MODERATOR)


def test_killed_at_the_survey(tmp_path: Path) -> None:
    killed = at_survey(tmp_path)
    killed.runner.send(OpenSurvey(opened=True))
    session = go_on(tmp_path, drop(killed))
    session.runner.send(Resume("back"), Source.MODERATOR)
    assert session.runner.state.part_state == SurveyState(link=FILLED, opened=1)
    session.runner.send(FinishSurvey())
    assert part_of(session) == "debrief"
    kinds = [kind for kind, *_ in told(drop(session))]
    assert kinds == ["survey.shown", "survey.opened", "survey.returned"], "shown once"


def test_it_can_be_skipped(tmp_path: Path) -> None:
    session = at_survey(tmp_path)
    session.runner.send(SkipStage(), Source.MODERATOR)
    session.runner.send(ConfirmSkip(), Source.MODERATOR)
    assert session.runner.state.records[1].outcome == "skipped"
    drop(session)


def test_a_simulated_participant_opens_no_browser(tmp_path: Path) -> None:
    around = surroundings(tmp_path)
    path = simulate(load(study(tmp_path)), "P01", around, data=tmp_path / "data", strategy="random")
    assert [(kind, fields) for kind, fields, _ in told(path)][1:] == [
        ("survey.opened", {"opened": False}),
        ("survey.returned", {"by": "participant"}),
    ]


def test_a_deidentified_copy_withholds_the_link(tmp_path: Path) -> None:
    session = at_survey(tmp_path)
    session.runner.send(EndSurvey(), Source.MODERATOR)
    path = drop(session)
    out = export([path], tmp_path / "out", deidentify=True, private=tmp_path / "private")
    (record,) = iter_records(out)
    shown = next(row for row in record.rows if row.kind == "survey.shown")
    assert "[withheld]" in shown.payload
    assert "example.org" not in shown.payload
    files = [file for file in out.rglob("*") if file.is_file() and "study" not in file.parts]
    assert not [file for file in files if b"pid=P01" in file.read_bytes()]
    own = export([path], tmp_path / "own")
    (course,) = own.rglob("*_task-session_events.tsv")
    assert FILLED in course.read_text()


def test_leaving_the_window_for_the_survey_is_no_deviation(tmp_path: Path) -> None:
    session = at_survey(tmp_path)
    session.runner.emit(WindowFocus(True))
    session.runner.emit(WindowFocus(False))
    session.runner.emit(WindowFocus(True))
    session.runner.send(EndSurvey(), Source.MODERATOR)
    session.runner.emit(WindowFocus(False))
    found = fold_deviations(brief(drop(session)))
    lost = [each.stage for each in found if each.kind == "focus_lost"]
    assert lost == ["debrief"]


def brief(path: Path) -> list[tuple[Event, object]]:
    return [(event, payload_of(event)) for event in read_verified_events(path)]


def test_the_flow_tells_of_the_survey(tmp_path: Path) -> None:
    lines = overview(str(study(tmp_path)), 1, tmp_path / "data").lines()
    assert any("opened with a button on this computer: https://survey" in line for line in lines)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("https://x.org/?p={participant}&c={color}", r"line 9, .*link: there is no value for {col"),
        ("https://x.org/?p={participant", "line 9, .*link: found .* is not one of them"),
        ("https://x.org/?p={participant-id}", "line 9, .*link: found .* is not one of them"),
        ("x.org/?p={participant}", "line 9, .*link: found .*begins with https"),
        ("ftp://x.org/?p={participant}", "line 9, .*link: found .*begins with https"),
        ("https://{participant}.org/", "line 9, .*link: found .*begins with https"),
        ("https://x.org/?p={participant}&ö=1", "line 9, .*link: found .*without spaces"),
        ("https://x.org/", "line 9, .*link: found .*anonymous"),
        ("https://x.org/?p={participant}&" + "a" * 500, "line 9, .*link: .*at most 500"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, link: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        load(study(tmp_path, LINK, link))


def test_a_missing_link_is_named_by_its_key(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"line 8, flow\[1\].link: missing"):
        load(study(tmp_path, f"    link: {LINK}\n", ""))


def test_an_anonymous_survey_has_no_id_in_its_link(tmp_path: Path) -> None:
    line = f"    link: {LINK}\n"
    load(study(tmp_path, line, "    anonymous: true\n    link: https://x.org/pay\n"))
    with pytest.raises(StudyError, match=r"link: found .*because `anonymous` is true"):
        load(study(tmp_path, line, f"    anonymous: true\n{line}"))
