"""What a plan takes of a model follows its card and the study, never the model's id."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.onnx_decoders import write
from labapp.base import resources
from labapp.base.errors import LabappError
from labapp.models.representations import card as cards
from labapp.models.representations.recipe import Task
from labapp.study.loading import load
from labapp.study.overview import check, prior_of, space_of
from labapp.study.planner import realise
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.single_dimension.plan import SingleDimensionPart

TASK = Task(distance="mae/0.2", target_alignment=0.8, skip_after_s=12, labels_editable=True)
KEYS = "distance: mse/0.1, target_alignment: 0.7, skip_after_s: 9"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lab's own models."""
    folder = tmp_path / "models"
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


def study(folder: Path, flow: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(f"id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\nflow: [{flow}]\n")
    return path


def parts(folder: Path, flow: str) -> list[PlannedPart]:
    made = realise(load(study(folder, flow)), "P01", space_of=space_of, prior_of=prior_of)
    return [part for part in made.parts if part.has_trials]


def stages(folder: Path, model: str, more: str = "") -> ReconstructionPart:
    keys = f"task: reconstruction, models: [{model}], trials: 1{more and ', '}{more}"
    (part,) = parts(folder, f"{{stages: {{{keys}}}}}")
    assert isinstance(part, ReconstructionPart)
    return part


# Ids that begin as those of published studies do, and one that begins as nothing that is known.
@pytest.mark.parametrize("model", ["sinelines/mine", "mnist8k/mine", "circles/gt2", "digits8/pca5"])
def test_the_card_says_how_a_stage_goes_whatever_the_model_is_called(
    model: str, own: Path, tmp_path: Path
) -> None:
    write(own, model, (8, 8, 3), task=TASK)
    part = stages(tmp_path, model)
    assert (part.display, part.distance, part.sampling) == ("colour", "mae/0.2", "held_out")
    assert (part.target_alignment, part.skip_after_s) == (0.8, 12)
    assert part.labels_editable
    assert not part.overlay_at_start
    other = stages(tmp_path, model, f"{KEYS}, overlay_at_start: true, labels: fixed")
    assert (other.distance, other.target_alignment, other.skip_after_s) == ("mse/0.1", 0.7, 9)
    assert other.overlay_at_start
    assert not other.labels_editable


@pytest.mark.parametrize(
    ("of", "model"), [("sinelines/gt", "own/lines"), ("circles/gt", "own/discs")]
)
def test_a_copy_under_another_id_is_asked_about_as_the_model_is(
    of: str, model: str, own: Path, tmp_path: Path
) -> None:
    folder = own / model
    shutil.copytree(resources.models() / of, folder)
    text = yaml.safe_load((folder / cards.CARD).read_text())
    (folder / cards.CARD).write_text(yaml.safe_dump(text | {"id": model}))
    first, second = (stages(tmp_path, name).model_dump() for name in (of, model))
    assert {**first, "model": ""} == {**second, "model": ""}


def older(own: Path, change: dict[str, Any]) -> None:
    """A package whose card says nothing of tasks."""
    folder = write(own, "own/model", (8, 8))
    text = yaml.safe_load((folder / cards.CARD).read_text()) | change
    (folder / cards.CARD).write_text(yaml.safe_dump(text))


def test_an_older_package_goes_as_the_published_study_of_its_data_set(
    own: Path, tmp_path: Path
) -> None:
    older(own, {"dataset": "mnist"})
    part = stages(tmp_path, "own/model")
    assert (part.display, part.distance, part.target_alignment) == ("binary_image", "mnist", 0.75)


def test_what_neither_says_is_asked_for_by_its_keys(own: Path, tmp_path: Path) -> None:
    older(own, {"dataset": "photos"})
    keys = "task: reconstruction, models: [own/model], trials: 1"
    with pytest.raises(LabappError) as error:
        check(study(tmp_path, f"{{stages: {{{keys}}}}}"))
    assert "distance, target_alignment, skip_after_s" in str(error.value)
    part = stages(tmp_path, "own/model", f"{KEYS}, overlay_at_start: false, labels: fixed")
    assert (part.display, part.distance) == ("image", "mse/0.1")


def test_the_practised_model_may_be_named(own: Path, tmp_path: Path) -> None:
    write(own, "own/model", (8, 8), task=TASK, dimensions=3)
    flow = (
        "{practice: circles, model: own/model}, {practice: circles-exemplars, model: own/model}, "
        "{stages: {task: reconstruction, models: [sinelines/gt], trials: 1}}"
    )
    first, second, _ = parts(tmp_path, flow)
    assert isinstance(first, ReconstructionPart)
    assert (first.model, first.trials, first.sampling) == ("own/model", 3, "held_out")
    assert first.target_alignment == TASK.target_alignment
    assert isinstance(second, SingleDimensionPart)
    assert (second.model, second.states, second.sampling) == ("own/model", (), "held_out")
    assert second.answers == ("low", "high", "medium")
