"""What a study file may say of the single-dimension task, and what a plan makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import StudyError
from labapp.models.representations.space import LatentSpace
from labapp.record.events.lifecycle import SessionPlanned
from labapp.session.overview import overview
from labapp.study import plan, planner
from labapp.study.loading import load
from labapp.study.overview import prior_of, space_of
from labapp.tasks.reconstruction.planner import Stages
from labapp.tasks.single_dimension.plan import ExamplePart, SingleDimensionPart
from labapp.tasks.single_dimension.planner import SingleDimensionStages
from tests.helpers.single import write_single_study

ONLY_RECONSTRUCTION = (
    "trials: 5",
    "skip: always",
    "skip_after_s: 30",
    "target_alignment: 0.9",
    "labels: editable",
    "overlay_at_start: true",
    "inactivity_s: 3",
)


@pytest.mark.parametrize("line", ONLY_RECONSTRUCTION)
def test_settings_of_reconstruction_are_refused(tmp_path: Path, line: str) -> None:
    key = line.split(":")[0]
    with pytest.raises(StudyError) as refused:
        load(write_single_study(tmp_path, lines=[line]))
    assert f"line 10, flow[0].stages.{key}: unknown key '{key}' for single-dimension" in (
        refused.value.what
    )
    assert "questions_per_dimension" in refused.value.what, "what is allowed"
    assert "skip_after_s," not in refused.value.what.split("allowed:")[-1]


@pytest.mark.parametrize("line", ["visualisation: traversals", "questions_per_dimension: 2"])
def test_settings_of_this_task_are_refused_for_reconstruction(tmp_path: Path, line: str) -> None:
    study = write_single_study(tmp_path, lines=["trials: 1", line])
    text = study.read_text().replace("single-dimension", "reconstruction")
    study.write_text(text.replace("      visualisation: traversals\n", "", 1))
    key = line.split(":")[0]
    with pytest.raises(StudyError, match=f"unknown key '{key}' for reconstruction"):
        load(study)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("task: single-dimension", "task: guessing", "line 7, flow[0].stages.task: found 'gues"),
        ("      task: single-dimension\n", "", "flow[0].stages.task: missing"),
        ("visualisation: traversals", "visualisation: film", "'traversals' or 'exemplars'"),
        ("      visualisation: traversals\n", "", "stages.visualisation: missing"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, says: str) -> None:
    study = write_single_study(tmp_path)
    study.write_text(study.read_text().replace(old, new))
    with pytest.raises(StudyError) as refused:
        load(study)
    assert says in refused.value.what


def test_the_plan_of_a_participant(tmp_path: Path) -> None:
    models = ["sinelines/gt", "sinelines/vae"]
    loaded = load(write_single_study(tmp_path, models, "exemplars", practice=True))
    made = planner.realise(loaded, "P03", space_of=space_of, prior_of=prior_of)
    example, practice = made.parts[0], made.parts[2]
    stages = [p for p in made.parts if isinstance(p, SingleDimensionPart) and p.role == "stage"]
    assert isinstance(example, ExamplePart)
    assert example.dimension == 1
    assert [len(row) for row in example.examples] == [8, 8, 8]
    space = LatentSpace.from_json(example.dimensions)
    assert all(space.snap(z) == pytest.approx(z, abs=0.01) for row in example.examples for z in row)
    assert isinstance(practice, SingleDimensionPart)
    assert (practice.asked, practice.answers) == ((0, 0, 0), ("low", "high", "medium"))
    assert {stage.sampling for stage in stages if stage.model == "sinelines/vae"} == {"held_out"}
    assert {stage.sampling for stage in stages if stage.model == "sinelines/gt"} == {"prior"}
    for stage in stages:
        assert stage.trials == 10
        assert stage.asked[::2] == stage.asked[1::2]
        assert set(stage.asked) == set(range(5))
    again = planner.realise(loaded, "P03", space_of=space_of, prior_of=prior_of)
    assert again == made
    orders = {
        planner.realise(loaded, f"P{n:02d}", space_of=space_of, prior_of=prior_of).parts[4].asked  # type: ignore[union-attr]
        for n in range(1, 7)
    }
    assert len(orders) > 1, "another participant, another order"


def test_a_plan_is_read_back_from_its_event(tmp_path: Path) -> None:
    loaded = load(write_single_study(tmp_path, practice=True))
    made = planner.realise(loaded, "P01", space_of=space_of, prior_of=prior_of)
    planned = SessionPlanned(
        "single",
        1,
        "0",
        "P01",
        "1",
        made.seed,
        {},
        "improved",
        "en",
        "off",
        plan.to_rows(made.parts),
    )
    assert plan.parts_of(planned) == made.parts


def test_a_model_with_a_prior_is_drawn_uniformly(tmp_path: Path) -> None:
    loaded = load(write_single_study(tmp_path, ["sinelines/vae"]))
    made = planner.realise(loaded, "P01", space_of=space_of, prior_of=lambda model: True)
    assert [p.sampling for p in made.parts if isinstance(p, SingleDimensionPart)] == ["uniform"]


def test_the_flow_is_told(tmp_path: Path) -> None:
    study = write_single_study(tmp_path, practice=True, lines=["questions_per_dimension: 3"])
    lines = "\n".join(overview(str(study), 2, tmp_path / "data").lines())
    assert "Practice: 3 single-dimension practice questions, traversals" in lines
    assert "Stage 1: 15 single-dimension questions, traversals" in lines


def test_the_schema_knows_both_tasks() -> None:
    assert set(SingleDimensionStages.model_fields) - set(Stages.model_fields) == {
        "visualisation",
        "adaptive",
        "questions_per_dimension",
        "spreads",
    }
