"""What leaves the lab of sessions in which concepts were set."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.base.clock import FakeClock
from labapp.models.stimuli import interventions
from labapp.record.events.commands import Next
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import SAME, ConceptGridPart, ConceptRepairPart
from tests.helpers import concepts
from tests.helpers.bids import errors_in, rows, validated
from tests.helpers.rooms import make_runner
from tests.session.sessions import virtual

STEM = "sub-P01/ses-1/beh/sub-P01_ses-1_task"
BY = "mouse"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pictures: of each the first concept is set right, taken back where it was not foretold,
    and the picture ended; then the grid with one tick."""
    folder = tmp_path_factory.mktemp("data")
    made = concepts.write(folder / "sets", 4)
    study = concepts.write_study(folder / "study", made, foresee="half")
    room = make_runner(folder, study, "P01", scheduler=virtual, clock=FakeClock())
    room.session.begin()
    runner = room.runner
    while not runner.finished:
        room.clock.advance(1.0)
        part, trial = runner.part, getattr(runner.state.part_state, "trial", None)
        if isinstance(part, ConceptRepairPart) and trial is not None:
            item = part.items[trial.number - 1]
            runner.send(SetConcept(0, interventions.set_to(item.concepts[0]), BY))
            room.clock.advance(0.5)
            if item.foresee:
                runner.send(PickAnswer(SAME, BY))
                runner.send(Foretell(True, BY))
            else:
                runner.send(UndoChange(BY))
            runner.send(RepairDone())
        elif isinstance(part, ConceptGridPart) and trial is not None:
            runner.send(TickPair(0, 1, BY))
            runner.send(Next())
        else:
            runner.send(Next())
    room.session.close("test over")
    return room.session.folder.path


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, session: Path) -> Path:
    return export([session], tmp_path_factory.mktemp("bundles") / "bundle")


def test_a_row_is_a_picture_and_a_pair(bundle: Path) -> None:
    repairs = rows(bundle, f"{STEM}-conceptrepair_beh")
    assert [row["trial"] for row in repairs] == ["1", "2", "3", "4"]
    assert {row["n_changes"] for row in repairs} == {"1"}
    assert [row["foresee"] == "true" for row in repairs] == [
        row["n_undone"] == "0" for row in repairs
    ]
    grid = rows(bundle, f"{STEM}-conceptgrid_beh")
    assert len(grid) == 12
    assert [(row["concept"], row["other"]) for row in grid if row["ticked"] == "true"] == [
        ("size", "side")
    ]


def test_the_timeline_names_concepts_and_states(bundle: Path) -> None:
    found = rows(bundle, f"{STEM}-conceptrepair_events")
    onsets = [Decimal(row["onset"]) for row in found]
    assert onsets == sorted(onsets)
    types = [row["trial_type"] for row in found if row["trial_type"] != "stage"]
    assert types.count("trial") == types.count("set") == types.count("ended") == 4
    assert types.count("chosen") == types.count("foretold") == types.count("undone") == 2
    for row in found:
        if row["trial_type"] == "set":
            assert row["concept"] == "size"
            assert (row["was"], row["device"]) == ("model", BY)
            assert row["to"] in ("off", "on")
            assert len(json.loads(row["probabilities"])) == 8
        if row["trial_type"] == "trial":
            assert len(json.loads(row["beliefs"])) == 4
    (ticked,) = [
        row for row in rows(bundle, f"{STEM}-conceptgrid_events") if row["trial_type"] == "ticked"
    ]
    assert (ticked["concept"], ticked["other"], ticked["on"]) == ("size", "side", "true")
    others = {row["trial_type"] for row in rows(bundle, f"{STEM}-session_events")}
    assert not others & {"concept.set", "grid.ticked", "concepts.drawn"}


def test_the_bundle_is_whole_and_valid(bundle: Path) -> None:
    assert verify(bundle).problems == []
    result = validated(bundle)
    assert errors_in(result) == []
    assert sorted(result["summary"]["tasks"]) == ["concept grid", "concept repair", "session"]


def test_a_deidentified_copy_says_the_same(tmp_path: Path, session: Path) -> None:
    bundle = export([session], tmp_path / "bundle", deidentify=True)
    assert verify(bundle).problems == []
    whole, reduced = load(session), load(bundle)
    for name in ("repairs", "concept_changes", "concept_grids", "concept_models", "concept_curves"):
        pd.testing.assert_frame_equal(whole.by_name()[name], reduced.by_name()[name])
    assert "withheld" not in (bundle / f"{STEM}-conceptrepair_events.tsv").read_text("utf-8")


def test_the_sets_manifest_and_pictures_go_along(bundle: Path, session: Path) -> None:
    source = bundle / "sourcedata/labapp/sub-P01/ses-1"
    assert (source / "study/stimuli/tiny-concepts-4/manifest.json").is_file()
    assert len(list((session / "stimuli").iterdir())) == 4
