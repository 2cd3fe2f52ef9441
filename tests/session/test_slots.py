"""Slots of a declared design: handed out under a lock, and again, condition and order alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.base.errors import StudyFull
from labapp.record.events.commands import EndSession, Resume
from labapp.record.journal.opening import open_record
from labapp.session import condition_assignment
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import (
    Allocation,
    count_held_cells,
    coverage,
    people_of,
    preview,
    session_states,
)
from labapp.session.overview import overview
from labapp.session.planning.thresholds import fold, people
from labapp.session.resuming import recover
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import withdraw
from labapp.study import loading
from labapp.study.allocation import Slot
from labapp.study.loading import LoadedStudy
from tests.helpers.drawn import begun, ended, interrupted
from tests.helpers.nightly import examples
from tests.session.sessions import resume_session
from tests.session.test_condition_assignment import started, states

STUDY = """\
id: drawn
title: Slots
version: 1
unnamed_texts: shipped
design:
  between: {hint: ["with", "without"]}
  by_moderator: [hint]
  within: [model]
  per_cell: %(per_cell)s
inclusion: {min_solved: 1}
flow:
- stages:
    task: reconstruction
    models: [sinelines/gt, sinelines/vae, sinelines/ae]
    trials: 1
    skip: always
    after: [shipped:seq]
"""


def slotted(folder: Path, per_cell: int = 12, text: str = STUDY) -> LoadedStudy:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "drawn.yaml"
    path.write_text(text % {"per_cell": per_cell})
    return loading.load(path)


def allocation(data: Path, loaded: LoadedStudy) -> Allocation:
    covered = coverage(data, loaded)
    assert isinstance(covered, Allocation)
    return covered


def test_a_slot_is_handed_out_again_condition_and_order(tmp_path: Path) -> None:
    loaded, data = slotted(tmp_path, per_cell=2), tmp_path / "data"
    session = begun(loaded, tmp_path, "P01")
    first = session.planned.assignment
    session.runner.send(EndSession("tired"))
    session.close("ended")
    assert preview(data, loaded, "P02") == preview(data, loaded, "P02"), "nothing is reserved"
    again = {}
    for label in ("P02", "P03", "P04", "P05"):
        running = begun(loaded, tmp_path, label)
        again[label] = running.planned.assignment
        running.close("interrupted")
    (replacement,) = [chosen for chosen in again.values() if chosen["slot"] == first["slot"]]
    assert {**replacement, "number": 1} == first, "the same models in the same order"
    assert len({chosen["slot"][0] for chosen in again.values()}) == 4
    with pytest.raises(StudyFull, match=r"all places of each condition \(2\) are taken"):
        begun(loaded, tmp_path, "P06")
    path = next(data.glob("drawn/sub-P03*"))
    withdraw(path, tmp_path / "private", delete=True)
    last = begun(loaded, tmp_path, "P06")
    assert last.planned.assignment["slot"] == again["P03"]["slot"]
    assert last.planned.assignment["models"] == again["P03"]["models"]
    last.close("test over")


@pytest.mark.parametrize("damage", [None, b"not a database, and long enough to be read" * 40])
def test_a_lost_ledger_is_made_anew_from_the_first_events(
    tmp_path: Path, damage: bytes | None
) -> None:
    loaded, data = slotted(tmp_path), tmp_path / "data"
    ended(loaded, tmp_path, "P01", "delete")
    ended(loaded, tmp_path, "P02")
    interrupted(loaded, tmp_path, "P03")
    before = session_states(data / loaded.study.id)
    assert all(Slot.parse(row.cells[0]) for row in before)
    ledger = data / "drawn" / condition_assignment.ASSIGNMENTS
    ledger.unlink()
    if damage is not None:
        ledger.write_bytes(damage)
    assert session_states(data / loaded.study.id) == before
    interrupted(loaded, tmp_path, "P04")
    assert max(count_held_cells(people_of(data, loaded.study)).values()) == 1


def test_a_further_session_keeps_condition_and_order(tmp_path: Path) -> None:
    text = STUDY.replace("  per_cell", "  sessions: [1, 2]\n  per_cell")
    loaded = slotted(tmp_path, per_cell=1, text=text)
    first = begun(loaded, tmp_path, "P01")
    first.close("interrupted")
    interrupted(loaded, tmp_path, "P02")
    second = begun(loaded, tmp_path, "P01", session="2")
    assert second.planned.assignment == first.planned.assignment, "though the study is full"
    second.close("interrupted")
    assert sorted(count_held_cells(people_of(tmp_path / "data", loaded.study)).values()) == [1, 1]


def test_a_killed_session_goes_on_in_its_slot(tmp_path: Path) -> None:
    loaded = slotted(tmp_path)
    path = interrupted(loaded, tmp_path, "P01")
    (row,) = session_states(tmp_path / "data" / loaded.study.id)
    recover(path)
    again = resume_session(tmp_path, path)
    again.begin()
    again.runner.send(Resume("goes on"))
    assert tuple(again.planned.assignment["slot"]) == row.cells
    again.close("interrupted")
    assert session_states(tmp_path / "data" / loaded.study.id) == [row]


@settings(max_examples=examples(4))
@given(data=st.data())
def test_it_stays_balanced_under_exclusions_and_withdrawals(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("slots")
    loaded = slotted(folder, per_cell=4)
    for number in range(1, 9):
        label = f"P{number:02d}"
        fate = data.draw(st.sampled_from(["held", "held", "ended", "keep", "delete"]))
        if fate == "held":
            interrupted(loaded, folder, label)
        else:
            ended(loaded, folder, label, "" if fate == "ended" else fate)
        now = allocation(folder / "data", loaded)
        for cell in now.rule.cells:
            free = sum(line.open for line in now.slots if line.slot.cell == cell)
            assert now.apart(cell, "model") <= 1 + free
            assert now.to_json()["balance"][cell]["model"]["places apart"] <= 1 + free
        held = [line.slot.cell for line in now.slots if line.held]
        sizes = [Counter(held)[cell] for cell in now.rule.cells]
        assert max(sizes) - min(sizes) <= 1 + now.to_json()["open replacements"]


def test_two_programs_at_once_hand_out_each_slot_once(tmp_path: Path) -> None:
    loaded = slotted(tmp_path, per_cell=6)
    programs = [started(loaded, tmp_path) for _ in range(2)]
    names = [program.communicate(timeout=100)[0].split() for program in programs]
    assert [program.returncode for program in programs] == [0, 0]
    assert sum(map(len, names)) == 12
    now = allocation(tmp_path / "data", loaded)
    assert count_held_cells(now.people) == {str(line.slot): 1 for line in now.slots}
    assert [now.apart(cell, "model") for cell in now.rule.cells] == [0, 0]
    assert [now.follow_apart(cell, "model") for cell in now.rule.cells] == [0, 0]


def test_a_cell_that_the_study_has_no_more_is_told(tmp_path: Path) -> None:
    interrupted(slotted(tmp_path), tmp_path, "P01")
    later = slotted(tmp_path, text=STUDY.replace('"with", "without"', "little, much"))
    covered = allocation(tmp_path / "data", later)
    (former,) = covered.former()
    assert former in ("hint: with", "hint: without")
    assert set(states(tmp_path, later)) == {"P01"}
    assert "In conditions that the study no longer has" in "\n".join(covered.lines())


def test_show_says_who_has_which_slot_and_how_even_that_is(tmp_path: Path) -> None:
    loaded = slotted(tmp_path, per_cell=6)
    ended(loaded, tmp_path, "P01")
    for label in ("P02", "P03", "P04"):
        interrupted(loaded, tmp_path, label)
    found = overview(str(loaded.path), 3, tmp_path / "data")
    text = "\n".join(found.lines())
    assert "P01 ended early, P0" in text
    assert "hint: with; model: at most 1 apart" in text
    assert "This balance applies to the assigned places" in text
    told = json.loads(json.dumps(found.to_json()))["coverage"]
    assert len(told["slots"]) == 12
    assert Counter(slot["state"] for slot in told["slots"]) == {"held": 3, "free": 9}
    assert told["order"] == "williams"
    assert found.to_json()["next"].keys() == {"P05", "P06", "P07"}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedStudy, list[Path]]:
    """A study simulated until it is full, a third of whose participants do not try."""
    folder = tmp_path_factory.mktemp("simulated")
    loaded = slotted(folder, per_cell=3)
    paths = simulate_study(str(loaded.path), None, "knowing", folder / "out", careless=0.3)
    return loaded, paths


def test_the_careless_are_replaced_in_their_slots(
    simulated: tuple[LoadedStudy, list[Path]],
) -> None:
    loaded, paths = simulated
    now = allocation(paths[0].parents[1], loaded)
    assert now.complete
    assert len(paths) > 6
    assert [now.apart(cell, "model") for cell in now.rule.cells] == [0, 0]
    replaced = [line for line in now.slots if len(line.people) > 1]
    assert replaced
    tables = load(paths)
    orders = tables.participants.assign(
        slot=[json.loads(text)["slot"][0] for text in tables.participants["assignment"]]
    )
    assert (orders.groupby("slot")["models"].nunique() == 1).all()
    assert (orders.groupby("slot")["factor_hint"].nunique() == 1).all()
    stages = tables.included().stages
    counts = stages.groupby(["factor_hint", "model", "position"]).size()
    assert len(counts) == 2 * 3 * 3
    assert set(counts) == {1}
    assert tables.scores["position"].tolist() == [1, 2, 3] * len(paths)


def test_a_plan_knows_the_factors_of_simulated_people(
    simulated: tuple[LoadedStudy, list[Path]],
) -> None:
    _, paths = simulated
    events = list(open_record(paths[0]).payloads())
    rows = {name: list(some) for name, some in fold(events, paths[0].name).items()}
    (person,) = rows["participants"]
    known = people(rows, {person["participant"]: "understanding"}, {"understanding": 1.0})
    for frame in (known.tables.trials, known.tables.stages, known.tables.scores):
        assert set(frame["factor_hint"]) == {person["factor_hint"]}
        assert frame["position"].tolist() == [1, 2, 3]


def test_bundles_describe_the_factors(
    simulated: tuple[LoadedStudy, list[Path]], tmp_path: Path
) -> None:
    _, paths = simulated
    for reduced in (False, True):
        bundle = export(paths[:3], tmp_path / f"b{reduced}", deidentify=reduced, private=tmp_path)
        assert verify(bundle).problems == []
        people = pd.read_csv(bundle / "participants.tsv", sep="\t")
        assert set(people["factor_hint"]) <= {"with", "without"}
        described = json.loads((bundle / "participants.json").read_text())
        assert described["factor_hint"]["Description"].endswith("with, without.")
        session = bundle / "sub-P01" / "ses-1" / "beh"
        trials = pd.read_csv(next(session.glob("*reconstruction_beh.tsv")), sep="\t")
        assert trials["position"].tolist() == [1, 2, 3]
        events = pd.read_csv(next(session.glob("*reconstruction_events.tsv")), sep="\t")
        assert set(events["position"]) == {1, 2, 3}
        seq = pd.read_csv(bundle / "phenotype" / "seq.tsv", sep="\t")
        assert seq["ses_1_stage_2_position"].tolist() == [2] * len(seq)
        assert seq["factor_hint"].tolist() == people["factor_hint"].tolist()
        codebook = json.loads((bundle / "sourcedata/labapp/codebook.json").read_text())
        assert "factor_hint" in codebook["participants.tsv"]
        assert "position" in codebook["task-reconstruction_beh.tsv"]
        again = load(bundle)
        pd.testing.assert_frame_equal(again.stages, load(paths[:3]).stages)
