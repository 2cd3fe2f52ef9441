"""A task of another package goes through everything without a line of it in labapp."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from labapp.analysis import task_report
from labapp.analysis.analyze import analyze, report, write
from labapp.analysis.tables import load
from labapp.analysis.task_report import Findings
from labapp.base.errors import LabappError, RecordError, SessionError, StudyError, UsageError
from labapp.base.report.page import decimal
from labapp.record.journal.read import check_journal
from labapp.session.bids.verify import verify
from labapp.session.opening import resume
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.study.overview import check
from labapp.study.plugins import registry
from labapp.testing import check_task
from labapp.testing.checking import EXAMPLES
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_new
from labapp.ui.strings import strings_of
from tests.helpers.installed import ROOT, without
from tests.helpers.nightly import EVERYTHING
from tests.helpers.rooms import skip_to
from tests.session.sessions import begin_session, surroundings

STUDY = "counterfactual-choice"
LEFT = Qt.MouseButton.LeftButton
pytestmark = pytest.mark.usefixtures("example")


def short_study(folder: Path) -> Path:
    """Two questions, of a model in closed form."""
    path = folder / "short.yaml"
    path.write_text(
        "{id: short, title: Short, version: 1, unnamed_texts: shipped, flow: [{stages: "
        "{task: counterfactual-choice, models: [circles/gt], questions: 2, candidates: 2}}]}"
    )
    return path


def test_nothing_in_labapp_names_it() -> None:
    named = [
        path
        for folder in ("labapp", "assets", "scripts")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".md", ".toml") and "ounterfactual" in path.read_text()
    ]
    assert not named


def test_its_study_is_found_and_in_order() -> None:
    assert STUDY in [path.stem for path in loading.list_installed()]
    loaded = check(STUDY)
    strings_of(loaded)
    names = {name for name in loaded.files if name.startswith("texts/en/counterfactual")}
    assert names == {
        "texts/en/counterfactual-first.md",
        "texts/en/counterfactual-further.md",
        "texts/en/counterfactual-choice.yaml",
    }


def test_a_study_elsewhere_finds_its_texts_in_the_package(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "{id: own, title: Own, version: 1, language: de, unnamed_texts: shipped, flow: [{stages: "
        "{task: counterfactual-choice, models: [circles/gt], questions: 1, candidates: 2}}]}"
    )
    loaded = check(str(own))
    assert "unterscheidet" in strings_of(loaded)("counterfactual_title", dial=1)
    own.write_text(own.read_text().replace("candidates: 2", "candidates: 3"))
    with pytest.raises(StudyError, match="asks for 3 candidates, and circles/gt has 2 dials"):
        check(str(own))


def test_words_that_a_language_lacks_are_named(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "{id: own, title: Own, version: 1, unnamed_texts: shipped, "
        'words: ["texts/{language}/counterfactual-choice.yaml"], flow: [{stages: '
        "{task: counterfactual-choice, models: [circles/gt], questions: 1, candidates: 2}}]}"
    )
    words = tmp_path / "texts" / "en" / "counterfactual-choice.yaml"
    words.parent.mkdir(parents=True)
    words.write_text("counterfactual_title: Which?\n")
    with pytest.raises(StudyError, match="lacks the words for counterfactual_conf"):
        strings_of(loading.load(own))


@pytest.mark.parametrize("strategy", ["random", "understanding", "forgetful"])
def test_simulated_participants_finish(simulated: dict[str, Path], strategy: str) -> None:
    path = simulated[strategy]
    events = read_verified_events(path)
    assert is_finished(events)
    assert not check_journal(path)
    answers = [event for event in events if event.kind == "counterfactual.answered"]
    assert len(answers) == 10
    drawn = [event.payload for event in events if event.kind == "counterfactual.drawn"]
    for question in drawn:
        places = [
            sum(a != b for a, b in zip(question["query"], candidate, strict=True))
            for candidate in question["candidates"]
        ]
        assert places == [1, 1, 1], "a candidate differs in one dial"
        changed = question["changed"]
        assert len(set(changed)) == 3
        assert changed[question["correct"]] == question["dimension"]


def test_its_strategies_are_its_own(tmp_path: Path) -> None:
    for strategy in ("forgetful", "forgetful=0.5,random=0.5"):
        with pytest.raises(
            UsageError, match="its task 'reconstruction' does not have that strategy"
        ):
            simulate_study("quickstart", 1, strategy, tmp_path / "data")
    with pytest.raises(UsageError, match=f"its task '{STUDY}' does not have that strategy") as told:
        simulate_study(STUDY, 1, "explanation", tmp_path / "data")
    assert "ascent, forgetful, partial, random" in (told.value.todo or "")


def test_every_answer_is_in_the_tables(simulated: dict[str, Path], tmp_path: Path) -> None:
    path = simulated["random"]
    answers = [
        event for event in read_verified_events(path) if event.kind == "counterfactual.answered"
    ]
    tables = load(path)
    assert tables.trials["task"].tolist() == [STUDY] * 10
    assert tables.trials["outcome"].tolist() == ["answered"] * 10
    choices = tables.more["counterfactual_choices"]
    assert choices["candidate"].tolist() == [one.payload["choice"] + 1 for one in answers]
    assert choices["correct"].tolist() == [one.payload["correct"] for one in answers]
    assert choices["included"].all()
    assert tables.stages["n_correct"].sum() == choices["correct"].sum()
    assert tables.stages["counterfactual_confidence"].notna().all()
    assert tables.participants["tasks"].tolist() == [STUDY]
    nothing = tables.of_study("nothing")
    assert nothing.more["counterfactual_choices"].empty
    assert len(tables.included().more["counterfactual_choices"]) == 10
    out = tmp_path / "out"
    write(tables, out, Findings.find(nothing))  # what they say is not the point here
    assert len(pd.read_parquet(out / "counterfactual_choices.parquet")) == 10
    described = pd.read_csv(out / "columns.csv")
    assert "counterfactual_choices" in set(described["table"])
    assert verify(path).ok


def test_real_windows_and_the_moderators_console(qtbot: QtBot, tmp_path: Path) -> None:
    """A simulated participant in the windows of `labapp run`, console and all."""
    short = short_study(tmp_path)
    options = RunOptions(
        data=tmp_path / "data",
        private=tmp_path / "private",
        audio="off",
        simulate="random",
        windowed=True,
        speed=20.0,
    )
    told: list[LabappError] = []
    controller = SessionController(open_new(str(short), "P01", "1", options), options)
    controller.failed.connect(told.append)
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    assert (closed.args[0], told) == (0, [])
    (session,) = (tmp_path / "data" / "short").glob("sub-*")
    events = read_verified_events(session)
    assert is_finished(events)
    answers = [event for event in events if event.kind == "counterfactual.answered"]
    assert len(answers) == 2
    assert {event.source for event in answers} == {"simulated"}


def test_a_hand_answers_on_its_screen(open_room, open_window, qapp, tmp_path) -> None:  # type: ignore[no-untyped-def]
    short = short_study(tmp_path)
    room = open_room(short)
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    screen = window.screen_shown
    assert type(screen).__name__ == "CounterfactualScreen"

    def question():  # type: ignore[no-untyped-def]
        return room.runner.state.part_state.trial

    assert question().started_ns is not None, "its time runs once the pictures are shown"
    QTest.mouseClick(screen.candidates[1], LEFT, pos=QPoint(5, 5))
    assert question().choice == 1
    screen.right()
    assert question().right is None, "how sure one is, is still missing"
    QTest.keyClick(screen.confidence, "4")
    assert question().confidence == 4
    screen.right()
    assert question().right is (question().correct == 1)
    qapp.processEvents()
    assert screen.feedback.text()
    screen.right()
    assert question().number == 2


def test_the_command_line_knows_it(example_site: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labapp", "plugins", "list", "--json"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{example_site}:{ROOT}", "PATH": "/usr/bin", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {
        "name": "counterfactual-choice",
        "group": "labapp.tasks",
        "package": "labapp-counterfactual-choice",
        "version": "1.0.0",
        "state": "ready",
    } in rows


def test_it_is_one_task_type_among_the_others() -> None:
    names = [task_type.name for task_type in registry.task_types()]
    assert names[-1] == STUDY
    assert len(set(names)) == len(names)


def test_a_session_names_the_package_that_is_missing(
    simulated: dict[str, Path], example_site: Path
) -> None:
    path = simulated["random"]
    recorded = json.loads((path / "environment.json").read_text())[0]
    brought = {"package": "labapp-counterfactual-choice", "version": "1.0.0"}
    assert recorded["plugins"] == [{"group": "labapp.tasks", "name": STUDY, **brought}]
    with without(example_site), pytest.raises(RecordError) as told:
        read_verified_events(path)
    assert "It was recorded with labapp-counterfactual-choice 1.0.0" in str(told.value)


def test_an_interrupted_session_names_it_too(example_site: Path, tmp_path: Path) -> None:
    """Before the first event of the task: its journal can be read, its plan cannot."""
    short = short_study(tmp_path)
    session = begin_session(tmp_path, study=short)
    path = session.folder.path
    session.close("interrupted")
    with without(example_site), pytest.raises(SessionError) as told:
        resume(path, lambda loaded, models: surroundings(tmp_path))
    assert "labapp-counterfactual-choice 1.0.0" in str(told.value)


def test_it_passes_the_kit(tmp_path: Path) -> None:
    task_type, study = registry.task_types()[-1], short_study(tmp_path)
    check_task(task_type, study, strategy="understanding", examples=EXAMPLES if EVERYTHING else 2)


def test_the_report_has_a_section_of_its_answers(
    simulated: dict[str, Path], tmp_path: Path
) -> None:
    """By what its package brings; nothing of labapp names it."""
    page = analyze([simulated["understanding"].parent], tmp_path / "out").read_text("utf-8")
    assert "<h3>Counterfactual choice</h3>" in page
    assert "found the candidate that differs from a picture in one dial" in page
    assert "<dt>Counterfactual choice</dt>" in page
    choices = pd.read_csv(tmp_path / "out" / "counterfactual_choices.csv")
    (first, *_) = choices.groupby(["model", "dimension"])
    (model, dial), answers = first
    assert f'<th scope="row">{model}</th><td class="n">{dial}</td>' in page
    assert f'<td class="n">{len(answers)}</td>' in page


def test_a_report_that_cannot_be_loaded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    task_type, where = registry.task_types()[-1], "labapp_counterfactual.nowhere:REPORT"
    monkeypatch.setattr(type(task_type), "report", where)
    task_report._load_reports.cache_clear()
    assert not task_report.has_report(task_type)
    assert f"cannot be loaded from {where}: ModuleNotFoundError" in task_report.left_out()[0]
    task_report._load_reports.cache_clear()


@pytest.mark.parametrize("where", ["", "labapp_counterfactual.nowhere:REPORT"])
def test_a_task_without_sections_is_in_the_report_all_the_same(
    where: str, simulated: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it names none, and where what it names cannot be loaded, which is told."""
    monkeypatch.setattr(type(registry.task_types()[-1]), "report", where)
    task_report._load_reports.cache_clear()
    tables = load(simulated["understanding"].parent)
    page = report(tables)
    assert ("cannot be loaded from labapp_counterfactual.nowhere" in page) == bool(where)
    assert f"<h3>Task {STUDY}</h3>" in page
    choices = tables.more["counterfactual_choices"]
    assert f"{len(choices)} trials of 2 sessions count." in page
    assert "Of the table counterfactual_choices: mean ± SD, median and n." in page
    for column in ("response_s", "confidence"):
        for _, of_model in choices.groupby("model"):
            median = decimal(float(of_model[column].median()), 2)
            n = int(of_model[column].notna().sum())
            assert f"median {median}, n = {n}</span>" in page
