"""Parts and items that are shown by the result of an earlier task."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from labapp.base.errors import faults_of
from labapp.record.events import Event, payload_of
from labapp.record.events.lifecycle import PartEnded, PartLeftOut, PartStarted
from labapp.record.journal.opening import open_record
from labapp.session.bids.verify import check_branches, verify
from labapp.session.gate import look_at
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.ui.moderator.state.console import WorkTime, rows_of, view_of
from labapp.ui.moderator.wording import words_of
from tests.helpers.beside import put_beside

STUDY = """\
id: branched
title: Branched
version: 1
recording: {audio: "off"}
flow:
  - practice: circles-traversals
    name: first
  - stages: {task: single-dimension, visualisation: traversals, models: [sinelines/gt]}
    name: training
  - questionnaire: before
  - text: texts/{language}/debrief.md
    only_if: {training.right: {above: 0.5}}
  - stages: {task: single-dimension, visualisation: traversals, models: [sinelines/gt]}
    name: dials
    only_if: {not: {training.right: {above: 0.9}}}
  - text: texts/{language}/debrief.md
    only_if: {any: [{dials.right: {below: 0.6}}, {first.right: 0}]}
  - questionnaire: later
  - debrief: texts/{language}/debrief.md
"""
QUESTIONS = """\
id: NAME
version: 1
source: ours
title: Questions
items:
  - {id: sure, kind: slider, text: "Sure?"}
  - {id: hard, kind: slider, text: "Hard?", only_if: {training.right: {below: 0.9}}}
"""


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    put_beside(folder)
    files = {f"instruments/{name}.yaml": QUESTIONS.replace("NAME", name) for name in WORDS}
    for name, text in {**files, "own.yaml": STUDY}.items():
        for old, new in changes:
            text = text.replace(old, new, 1)
        (folder / name).write_text(text)
    return folder / "own.yaml"


WORDS = ("before", "later")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("{training.right: {above: 0.5}}", "{traning.right: 1}", 12, "nothing called 'traning'"),
        ("{training.right: {above: 0.5}}", "{dials.right: 1}", 12, "nothing called 'dials'"),
        ("{training.right: {above: 0.5}}", "{training.share: 1}", 12, "it has: right"),
        ("{training.right: {above: 0.5}}", "{training.threshold: 1}", 12, "it has: right"),
        ("{training.right: {above: 0.5}}", "{training.right: 80}", 12, "a share from 0 to 1"),
        ("{training.right: {above: 0.5}}", "{training.right: most}", 12, "a share from 0 to 1"),
        ("{training.right: {above: 0.5}}", "{training.right: true}", 12, "a share from 0 to 1"),
        ("{above: 0.5}", "{above: 1}", 12, "never within these limits"),
        ("{above: 0.5}", "{below: 0}", 12, "never within these limits"),
        ("{above: 0.5}", "{above: half}", 12, "a number"),
        ("{not: {training.right: {above: 0.9}}}", "{dials.right: 1}", 15, "called 'dials'"),
        ("name: training", "name: before", 9, "that is not used by a questionnaire in the flow"),
        ("name: training", "name: my training", 9, "name"),
        ("debrief.md\n    only_if", "debrief.md\n    name: x\n    only_if", 12, "right and wrong"),
        ("training.right: {below: 0.9}", "training.righ: 1", 7, "it has: right"),
        ("training.right: {below: 0.9}", "dials.right: 1", 7, "nothing called 'dials'"),
    ],
)
def test_a_mistake_in_a_branch_has_its_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    told = [
        (fault.line, f"{fault.key}: {fault.what}")
        for error in look_at(write(tmp_path, (old, new))).errors
        for fault in faults_of(error)
    ]
    assert any(at == line and said in what for at, what in told), told


def test_results_decide_what_is_shown_and_verify_decides_it_again(tmp_path: Path) -> None:
    path = write(tmp_path / "study")
    folders = [
        folder
        for strategy in ("random", "understanding")
        for folder in simulate_study(str(path), 3, strategy, tmp_path / strategy)
    ]
    seen: set[tuple[bool, bool, bool]] = set()
    for folder in folders:
        record = open_record(folder)
        assert (report := verify(folder)).ok, report.problems
        rows = {row["id"]: row for row in record.planned.plan}
        assert [name for name, row in rows.items() if row.get("named")] == [
            "practice",
            "stage-1",
            "stage-2",
        ]
        events = [event for event, _ in record.payloads()]
        right = {
            part: [
                event.payload["correct"]
                for event in events
                if (event.kind, event.part_id) == ("answer.given", part)
            ]
            for part in ("practice", "stage-1", "stage-2")
        }
        share = {part: sum(given) / len(given) for part, given in right.items() if given}
        started = {e.part_id for e in events if e.kind == PartStarted.kind}
        left_out = {e.part_id for e in events if e.kind == PartLeftOut.kind}
        first, second = "text-1", "text-2"
        assert (first in started) == (share["stage-1"] > 0.5) != (first in left_out)
        assert ("stage-2" in started) == (share["stage-1"] <= 0.9) != ("stage-2" in left_out)
        wanted = share["practice"] == 0 or share.get("stage-2", 1) < 0.6
        assert (second in started) == wanted
        submitted = [e.payload for e in events if e.kind == "questionnaire.submitted"]
        for answers in submitted:
            assert ("hard" in answers["answers"]) == (share["stage-1"] < 0.9)
        seen.add((first in started, "stage-2" in started, wanted))
    assert len(seen) >= 2, "the simulated participants differ"


def test_every_prefix_of_a_session_goes_on_as_it_did(tmp_path: Path) -> None:
    """Resuming and replaying fold the same events: at each end of a part the next one is what the
    session went on with."""
    (folder,) = simulate_study(str(write(tmp_path / "study")), 1, "understanding", tmp_path / "out")
    history = History(open_record(folder))
    machine = history.machine
    assert machine is not None
    events: list[Event] = [event for event, _ in open_record(folder).payloads()]
    state, decided = machine.initial(), 0
    ends = (PartEnded, PartLeftOut)
    for event, following in pairwise(events):
        state = machine.apply(state, event, payload_of(event))
        if isinstance(payload_of(event), ends) and following.kind.startswith("part."):
            (first, *_) = machine._next_part(state)
            assert (first.payload.kind, first.part_id) == (following.kind, following.part_id)
            decided += 1
    assert decided >= 5


def test_a_forged_branch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = simulate_study(str(write(tmp_path / "study")), 1, "understanding", tmp_path / "out")
    record = open_record(folder)
    assert check_branches(record) == []
    rows = [(event, payload) for event, payload in record.payloads()]
    forged = [
        (event, payload.__replace__(correct=not payload.correct))
        if (event.kind, event.part_id) == ("answer.given", "stage-1")
        else (event, payload)
        for event, payload in rows
    ]
    monkeypatch.setattr(type(record), "payloads", lambda self: iter(forged))
    (problem,) = check_branches(record)
    assert "contradicts the plan, which has it only if" in problem


def test_the_console_says_what_a_branch_left_out_and_no_number_that_a_rule_decides(
    tmp_path: Path,
) -> None:
    """A row of the plan whose parts were left out is not unfinished."""
    texts = "texts/{language}/debrief.md"
    rule = f"adaptive: {{method: criterion, right: 1, of: 1, trials: 2}}, intro: {texts!r}"
    models = "models: [sinelines/gt]"
    study = write(tmp_path / "study", (models, f"{models}, {rule}"))
    (folder,) = simulate_study(str(study), 1, "understanding", tmp_path / "out")
    machine, work = History(open_record(folder)).machine, WorkTime()
    assert machine is not None
    state, now_ns = machine.initial(), 0
    for event, payload in open_record(folder).payloads():
        state, now_ns = machine.apply(state, event, payload), event.t_ns
        work.apply(event)
    views = view_of(rows_of(machine.parts), machine, state, work, now_ns)
    for view in views:
        outcomes = {state.records[index].outcome for index in view.row.parts}
        assert view.state == ("left_out" if outcomes == {"left_out"} else "done")
    assert {view.progress for view in views if view.state == "left_out"} == {"not shown"}
    stage = next(part for part in machine.parts if part.id == "stage-1")
    practice = next(part for part in machine.parts if part.id == "practice")
    assert words_of(stage).trial(stage, 1) == "Question 1", "a rule decides how many there are"
    assert words_of(practice).trial(practice, 1) == f"Question 1 of {practice.trial_count()}"
