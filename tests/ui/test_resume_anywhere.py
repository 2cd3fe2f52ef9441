"""Whole sessions in real windows: resumed anywhere, and by simulated participants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.analysis.tables import load
from labapp.base.errors import LabappError
from labapp.record.events.commands import Next
from labapp.session.bids.verify import verify
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.simulation.simulation_job import Decoders
from labapp.study.plugins import registry
from labapp.tasks.unmasking.events import Respond
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_again, open_new
from tests.helpers.nightly import EVERYTHING
from tests.helpers.questionnaires import leave_why_empty, written_session, written_study
from tests.helpers.unmasking import MASKS, made, write_unmasking_study
from tests.torture import studies
from tests.torture.rehearsal import Place, Rehearsal, cut, places, rehearse
from tests.torture.windows import go_on

ORDER = sorted(studies.SMALL, key=lambda name: name != "masked")

"""First that which `make test` resumes: it is looked at without the others."""


class Rehearsals(dict[str, Rehearsal]):
    """By study, each simulated when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.decoders = folder, Decoders()

    def __missing__(self, name: str) -> Rehearsal:
        folder = self.folder / name
        study = studies.SMALL[name](folder / "study")
        self[name] = rehearse(study, folder / "data", self.decoders)
        return self[name]


@pytest.fixture(scope="module")
def rehearsals(tmp_path_factory: pytest.TempPathFactory) -> Rehearsals:
    return Rehearsals(tmp_path_factory.mktemp("rehearsals"))


def sample(rehearsals: Rehearsals, study: str) -> list[Place]:
    """One row of a study for every kind of part that no study before it has; others are for
    `make torture`."""
    met: set[str] = set()
    for name in ORDER[: ORDER.index(study)]:
        met |= {place.part for place in places(rehearsals[name])}
    by_part: dict[str, list[Place]] = {}
    for place in places(rehearsals[study]):
        by_part.setdefault(place.part, []).append(place)
    return [rows[len(rows) // 2] for part, rows in by_part.items() if part not in met]


def test_the_small_studies_have_every_kind_of_part(rehearsals: Rehearsals) -> None:
    """Whoever makes a new kind of part gives a study that has it to tests.torture.studies."""
    kinds = {
        part["part"]
        for name in ORDER
        for part in read_verified_events(rehearsals[name].folder)[0].payload["plan"]
    }
    assert kinds == set(registry.part_kinds())


@pytest.mark.parametrize("name", ORDER)
def test_it_goes_on(rehearsals: Rehearsals, name: str, tmp_path: Path, qtbot: QtBot) -> None:
    rehearsal = rehearsals[name]
    chosen = sample(rehearsals, name)
    for place in chosen if EVERYTHING else chosen[-1:]:
        folder = cut(rehearsal, place.seq, tmp_path / str(place.seq))
        outcome = go_on(folder, rehearsal.strategy, tmp_path / "private", rehearsal.warm, 5)
        assert outcome.problems == [], str(place)
        assert outcome.events > 0


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(
        data=tmp_path / "data",
        private=tmp_path / "private",
        audio="off",
        simulate="random",
        windowed=True,
    )


def run(study: Path, options: RunOptions, qtbot: QtBot) -> tuple[int, str]:
    """Exit status and what was told, of a session in its windows. (`labapp run` itself ends the
    application's event loop, after which no test of this process could wait for anything.)"""
    told: list[LabappError] = []
    controller = SessionController(open_new(str(study), "P01", "1", options), options)
    controller.failed.connect(told.append)
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    return closed.args[0], "\n".join(map(str, told))


def test_a_required_written_item_is_answered(
    qtbot: QtBot, tmp_path: Path, options: RunOptions
) -> None:
    """The field has the focus, and gives nothing of its own when the page is turned."""
    study = written_study(tmp_path / "study")
    assert run(study, options, qtbot) == (0, "")
    events = read_verified_events(written_session(tmp_path / "data"))
    answers = [event for event in events if event.kind == "response.changed"]
    assert [event.payload["item"] for event in answers] == ["first", "why"]
    assert {event.source for event in answers} == {"simulated"}
    assert all(event.payload["value"] for event in answers)


def test_one_that_takes_no_answer_ends_the_session(
    qtbot: QtBot, tmp_path: Path, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_why_empty(monkeypatch)
    study = written_study(tmp_path / "study")
    quick = replace(options, speed=60.0)
    status, told = run(study, quick, qtbot)
    assert status == 1
    assert "in questionnaire-1 ('A sheet'), page 2: no answer to 'why'" in told
    assert not is_finished(read_verified_events(written_session(tmp_path / "data")))


STIMULI = 4 * 2 * len(MASKS)

"""Of the first set: four images, two methods."""


def test_a_whole_session_in_windows(qtbot, qapp, tmp_path):
    study = write_unmasking_study(
        tmp_path / "study",
        made(tmp_path / "set"),
        before=[{"consent": "texts/{language}/consent.md"}],
        after=[{"debrief": "texts/{language}/debrief.md"}],
        blank_ms=40,
        breaks={"every": 5, "text": "rest.md"},
    )
    options = RunOptions(
        data=tmp_path / "data",
        private=tmp_path / "private",
        audio="off",
        simulate="understanding",
        windowed=True,
    )
    opened = open_new(str(study), "P01", "1", options)
    controller = SessionController(opened, options)
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    assert closed.args == [0]
    folder = opened.folder.path
    assert verify(folder).problems == []
    events = read_verified_events(folder)
    assert is_finished(events)
    shown, answered = {}, {}
    for event in events:
        if event.kind == "stimulus.drawn":
            due_ns = event.payload["due_ns"]
        elif event.kind == "stimulus.shown":
            shown[event.key] = event.payload
            assert event.payload["painted_ns"] >= due_ns
            assert event.payload["painted_ns"] <= event.t_ns
        elif event.kind == "response.given":
            answered[event.key] = event.payload
    assert shown.keys() == answered.keys()
    assert len(shown) == STIMULI + len(MASKS), "each once, and those of the example"
    # Painted by the screen, answered by nobody's hands.
    assert {one["shown_by"] for one in shown.values()} <= {"flush", "frame"}
    assert {one["timed_by"] for one in answered.values()} == {"simulated"}
    assert all(answered[key]["input_ns"] >= shown[key]["painted_ns"] for key in shown)
    rows = load([folder]).annotations
    assert len(rows[rows["role"] == "stage"]) == STIMULI
    assert (rows["excluded"] == (rows["role"] == "practice")).all()


def on_screen(qtbot, runner):
    """Wait until a stimulus is painted; texts before it are gone through. What was sent before is
    stored first, or the stimulus that is left would do."""

    def settled() -> bool:
        return not runner._waiting and runner.part is not None

    qtbot.waitUntil(settled)
    while not isinstance(runner.part, UnmaskingPart):
        runner.send(Next())
        qtbot.waitUntil(settled)
    qtbot.waitUntil(lambda: settled() and runner.state.part_state.trial.open)


def answer(qtbot, runner):
    on_screen(qtbot, runner)
    runner.send(Respond(1, "keyboard", runner.clock.now_ns(), "event"))


def test_a_session_that_stopped_while_a_picture_was_on_goes_on_in_windows(qtbot, qapp, tmp_path):
    study = write_unmasking_study(
        tmp_path / "study", made(tmp_path / "set"), blank_ms=40, masks=[45.0]
    )
    options = RunOptions(
        data=tmp_path / "data", private=tmp_path / "private", audio="off", windowed=True
    )
    begun = open_new(str(study), "P01", "1", options)
    controller = SessionController(begun, options)
    controller.start()
    for _ in range(4):
        answer(qtbot, begun.runner)
    on_screen(qtbot, begun.runner)
    stopped = begun.runner.state.part_state.trial
    controller._end()
    again = open_again(begun.folder.path, replace(options, simulate="understanding"))
    controller = SessionController(again, replace(options, simulate="understanding"))
    with qtbot.waitSignal(controller.closed, timeout=60_000) as closed:
        controller.start()
    assert closed.args == [0]
    assert verify(begun.folder.path).problems == []
    ended = [
        (event.attempt, event.payload["outcome"])
        for event in read_verified_events(begun.folder.path)
        if event.kind == "trial.ended" and event.key[:2] == ("stage-1", stopped.number)
    ]
    assert ended == [(1, "interrupted"), (2, "answered")]
