"""What other packages add: listed, recorded, and named where it is missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from labapp import __version__
from labapp.base import discovery, resources
from labapp.base.errors import ModelError, StudyError
from labapp.cli.main import app
from labapp.models.explanations.data import ClassifierRecipe
from labapp.models.metrics.evaluation import scores
from labapp.models.representations.package import load_package
from labapp.session import environment
from labapp.session.opening import SessionDependencies, resume
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import registry
from tests.helpers.installed import on_path, without, write_package
from tests.session.sessions import begin_session, surroundings


def listed(*arguments: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(app, ["plugins", "list", "--json", *arguments])
    assert done.exit_code == 0, done.output
    rows: list[dict[str, str]] = json.loads(done.stdout)
    return rows


def test_what_is_shipped_is_listed_with_its_version() -> None:
    rows = listed()
    keys = ("name", "group", "package", "version", "state", "to_change")
    assert {tuple(row) for row in rows} == {keys}
    assert {row["group"] for row in rows} <= set(discovery.GROUPS)
    shipped = [row for row in rows if row["package"] == "labapp"]
    assert {row["state"] for row in shipped} == {"ready"}
    assert {row["version"] for row in shipped} == {__version__}
    tasks = [row["name"] for row in shipped if row["group"] == "labapp.tasks"]
    assert tasks == [task_type.name for task_type in registry.task_types()]
    instruments = {row["name"] for row in shipped if row["group"] == "labapp.instruments"}
    assert {"seq", "sus", "nasa-tlx"} <= instruments
    metrics = {row["name"] for row in shipped if row["group"] == "labapp.metrics"}
    assert {"mig", "dci", "sap"} <= metrics
    methods = {row["name"] for row in shipped if row["group"] == "labapp.explanations"}
    assert {"protopnet", "prototree", "bagnet"} <= methods


OTHER = "from labapp.tasks.pages.task import Pages\n\nclass Other(Pages):\n    name = 'other'\n"
BROKEN = {
    "cannot-import": (
        "import a_package_that_nobody_has\n",
        "No module named 'a_package_that",
    ),
    "exits": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "no-task": ("TASK = 3\n", "it is int, and no TaskType"),
    "lacks-it": ("", "has no attribute 'TASK'"),
    "taken": (
        "from labapp.tasks.pages.task import Pages\nTASK = Pages()\n",
        "a task 'pages' already exists",
    ),
    "taken-kind": (
        f"{OTHER}\nTASK = Other()\n",
        "parts of the kind 'debrief' already exist",
    ),
    "taken-stages": (
        (
            "from typing import Literal\n"
            "from labapp.study.plugins.item import TaskStages\n"
            "class Stages(TaskStages):\n    task: Literal['unmasking']\n"
            f"{OTHER}    parts, items, stages = (), (), (Stages,)\n\nTASK = Other()\n"
        ),
        "studies can say 'task: unmasking' already",
    ),
    "taken-item": (
        (
            "from typing import ClassVar, Literal\n"
            "from labapp.study.plugins.item import Item\n"
            "class Practice(Item):\n"
            "    key: ClassVar[str] = 'practice'\n    practice: Literal['circles']\n"
            f"{OTHER}    parts, items = (), (Practice,)\n\nTASK = Other()\n"
        ),
        "studies can say 'practice: circles' already",
    ),
    "nothing-said": (
        f"{OTHER}    parts = None\n\nTASK = Other()\n",
        "it does not say what it is (TypeError",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_named_and_left_out(tmp_path: Path, name: str) -> None:
    code, why = BROKEN[name]
    before = registry.task_types()
    with on_path(write_package(tmp_path / "site", name, code)):
        (row,) = [row for row in listed() if row["package"] == name]
        assert (row["name"], row["group"], row["version"]) == (name, "labapp.tasks", "0.1")
        assert why in row["state"]
        assert [type(known) for known in registry.task_types()] == [type(known) for known in before]
        assert loading.load("quickstart")
        assert environment.describe({})["plugins"] == []


GOOD = {
    "labapp.metrics": (
        "from labapp.models.metrics.registry import Metric\n"
        "from labapp.models.metrics.inputs import Score\n"
        "def spread(codes, factors, *, seed=0, as_published=False, times=2):\n"
        "    return Score('spread', times * float(codes.std()), {}, {'times': times})\n"
        "IT = Metric('spread', 'Spread', 'How far apart', 'higher', 'Ours', 'good:spread')"
    ),
    "labapp.exporters": (
        "from labapp.session.bids.export import Exporter\n"
        "class Names(Exporter):\n"
        "    name = 'names'\n"
        "    def write(self, sessions, folder, *, audio):\n"
        "        names = [str(given.record.name.bids) for given in sessions]\n"
        "        folder.add_text('names.txt', '\\n'.join(names))\n"
        "IT = Names()"
    ),
    "labapp.decoders": (
        "from labapp.models.datasets import circles\n"
        "from labapp.models.representations.recipe import Architecture, ClosedForm\n"
        "rule = ClosedForm(circles.pictures, circles.NAMES, circles.LIMITS, circles.sample_prior)\n"
        "IT = Architecture('our-circles', (circles.SIZE, circles.SIZE), 'image', rule)"
    ),
    "labapp.explanations": (
        "from typing import Literal\n"
        "from labapp.models.explanations.data import "
        "ExplanationMethod, MethodChecks, MethodSettings\n"
        "class Settings(MethodSettings):\n    name: Literal['ours']\n    width: int = 3\n"
        "class Checks(MethodChecks):\n    method: Literal['ours']\n"
        "IT = ExplanationMethod('ours', Settings, 'labapp.models.explanations.cnn', 'good:Checks', "
        "birds=False)"
    ),
    "labapp.instruments": (
        "from pathlib import Path\n"
        "from labapp.study.instruments.instrument import Questionnaire\n"
        "file = Path(__file__).parent / 'drowsy.yaml'\n"
        "file.write_text('{id: drowsy, version: 1, title: T, source: Ours, scores: {drowsiness: "
        "{mean: [now]}}, items: [{id: now, points: 9, low: awake, high: asleep}]}')\n"
        "IT = Questionnaire('drowsy', file)"
    ),
}
"""The smallest thing of each group, besides tasks."""
WRONG = {
    "labapp.metrics": ("IT = 3", "it is int, and no Metric"),
    "labapp.exporters": (
        "from labapp.session.bids.export import BidsDataset\nIT = BidsDataset()",
        "an exporter 'bids' already exists",
    ),
    "labapp.decoders": (
        "from labapp.models.representations.recipe import _ALL\nIT = _ALL[0]",
        "an architecture 'closed-form:circles' already exists",
    ),
    "labapp.explanations": (
        GOOD["labapp.explanations"].replace("Literal['ours']", "str").replace("good:", "wrong:"),
        "no MethodSettings with `name: Literal['ours']`",
    ),
    "labapp.explanations nothing": (
        "from labapp.models.explanations import data\nIT = data.ExplanationMethod('ours')",
        "no settings to learn with, no sets that it explains and no scores of pixels",
    ),
    "labapp.instruments": (
        GOOD["labapp.instruments"].replace(
            "'drowsy', file", "'drowsy', Path('/nowhere/drowsy.yaml')"
        ),
        "/nowhere/drowsy.yaml is not there",
    ),
}
"""What cannot be used, and why."""


@pytest.fixture
def brought(tmp_path: Path) -> Iterator[Path]:
    """A package `good` with a thing of each group."""
    site = tmp_path / "site"
    for group, code in GOOD.items():
        name = "good_" + group.removeprefix("labapp.")
        own = code.replace("good:", f"{name}:")
        write_package(site, name, own, group=group, entry="IT")
    with on_path(site):
        yield site


@pytest.mark.parametrize("group", GOOD)
def test_every_group_has_a_catalogue_of_what_is_shipped_and_brought(
    brought: Path, group: str
) -> None:
    catalogue = discovery.catalogue(group)
    (name,) = catalogue.brought
    assert list(catalogue) == [*catalogue.shipped, name]
    assert catalogue[name].name == name
    assert all(isinstance(thing, catalogue.kind) for thing in catalogue.values())
    (row,) = [row for row in listed() if row["group"] == group and row["package"] != "labapp"]
    assert row["state"] == "ready"
    recorded = environment.describe({})["plugins"]
    package = {"package": row["package"], "version": "0.1"}
    assert {"group": group, "name": row["name"], **package} in recorded
    assert discovery.missing([package]) == ""
    with without(brought):
        assert name not in catalogue
        assert f"recorded with {row['package']} 0.1" in discovery.missing([package])


def test_a_task_whose_records_cannot_be_loaded_is_listed_all_the_same(tmp_path: Path) -> None:
    own = "    parts, items, stages = (), (), ()\n    records = 'nowhere.at_all:R'\nIT = Other()"
    code = OTHER + own
    with on_path(write_package(tmp_path / "site", "dots", code, group="labapp.tasks", entry="IT")):
        (row,) = [row for row in listed() if row["package"] != "labapp"]
    assert row["state"].startswith("cannot be used: ")
    assert "nowhere" in row["state"]


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_used_is_named_in_every_group(tmp_path: Path, case: str) -> None:
    (code, why), group = WRONG[case], case.partition(" ")[0]
    broken = write_package(tmp_path / "a", "wrong", code, group=group, entry="IT")
    absent = write_package(tmp_path / "b", "gone", "import nobody_has", group=group, entry="IT")
    with on_path(broken, absent):
        states = {row["package"]: row["state"] for row in listed() if row["group"] == group}
        assert why in states["wrong"]
        assert "cannot be imported: ModuleNotFoundError" in states["gone"]
        assert not discovery.catalogue(group).brought
        assert environment.describe({})["plugins"] == []
        assert discovery.asset_folders() == ()
        assert loading.load("quickstart")


def test_a_brought_metric_is_computed_and_one_that_fails_is_named(
    brought: Path, tmp_path: Path
) -> None:
    codes, factors = np.eye(4), np.arange(8.0).reshape(4, 2)
    score = scores.compute(scores.find("spread"), codes, factors, settings={"times": 4})
    assert score.score == 4 * codes.std()
    code = GOOD["labapp.metrics"].replace("codes.std()", "codes.nothing()")
    site = write_package(
        tmp_path / "other",
        "failing",
        code.replace("spread", "failing").replace("good:", "failing:"),
        group="labapp.metrics",
        entry="IT",
    )
    with on_path(site):
        (row,) = scores.compute_all(codes, factors, names=["failing"])
    assert row.score is None
    assert "The metric 'failing' of an installed package failed: AttributeError" in row.reason


def test_a_brought_questionnaire_is_asked_by_its_id(brought: Path, tmp_path: Path) -> None:
    study = tmp_path / "own.yaml"
    study.write_text(
        "{id: own, title: Own, version: 1, unnamed_texts: shipped, "
        "flow: [{questionnaire: shipped:drowsy}, {questionnaire: shipped:seq}]}"
    )
    assert loading.load(study).instruments["drowsy"].scores
    with without(brought), pytest.raises(StudyError, match=r"'instruments/drowsy.yaml' does not"):
        loading.load(study)


def with_our_architecture(tmp_path: Path) -> Path:
    """The circles, said to be computed by what a package brings."""
    ours = tmp_path / "ours"
    shutil.copytree(resources.models() / "circles" / "gt", ours)
    card = ours / "model.yaml"
    card.write_text(card.read_text().replace("closed-form:circles", "our-circles"))
    return ours


def test_a_brought_architecture_reads_packages_of_models(brought: Path, tmp_path: Path) -> None:
    ours = with_our_architecture(tmp_path)
    decoder = load_package(ours)
    assert decoder.decode(decoder.latents[:2]).shape == (2, 64, 64)
    with without(brought), pytest.raises(ModelError, match="install the package that brings 'our-"):
        load_package(ours)


def test_a_session_whose_decoder_is_gone_names_the_package(brought: Path, tmp_path: Path) -> None:
    ours = with_our_architecture(tmp_path)
    session = begin_session(tmp_path)
    path = session.folder.path
    session.close("interrupted")

    def dependencies_of(loaded: LoadedStudy, models: Sequence[str]) -> SessionDependencies:
        return surroundings(tmp_path, decoders={model: load_package(ours) for model in models})

    with without(brought), pytest.raises(ModelError) as told:
        resume(path, dependencies_of)
    assert "install the package that brings 'our-circles'" in told.value.what
    assert "It was recorded with good_decoders 0.1" in told.value.what


def test_a_recipe_names_a_brought_method(brought: Path) -> None:
    recipe = {
        "id": "faces/ours",
        "title": "Ours",
        "data": {"dataset": "faces", "seed": 8, "train": 1, "validation": 1, "test": 1},
        "method": {"name": "ours", "width": 5},
        "schedule": {"steps": 1, "peak": 0.001},
        "seed": 0,
    }
    made = ClassifierRecipe.model_validate(recipe)
    assert made.whole().model_dump()["method"] == {"name": "ours", "width": 5}
    from labapp.models.explanations.classifier import approach  # imports torch

    assert approach("ours").__name__ == "labapp.models.explanations.cnn"
    with without(brought), pytest.raises(ValidationError, match="'ours'"):
        ClassifierRecipe.model_validate(recipe)


def test_lines_for_people_name_package_and_state(tmp_path: Path) -> None:
    with on_path(write_package(tmp_path / "site", "broken", "import nothing_like_it\n")):
        done = CliRunner().invoke(app, ["plugins", "list"])
    (line,) = [line for line in done.stdout.splitlines() if "broken" in line]
    assert line.startswith("labapp.tasks")
    assert "cannot be imported: ModuleNotFoundError" in line
