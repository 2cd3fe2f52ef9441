"""The shipped study concept-forecast: what it shows was drawn beforehand, and is balanced."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from labapp.analysis.checking import unfit_labels
from labapp.base.errors import StudyError
from labapp.base.resources import assets
from labapp.models.stimuli import interventions, library, pictures, score_files
from labapp.models.stimuli.pictures import identity_of
from labapp.study import loading, planner, stimulus_stages
from labapp.study.conditions import Cells
from labapp.study.plan import Plan
from labapp.tasks.concept_repair.plan import ConceptRepairPart, rules_of
from labapp.tasks.concept_repair.planner import ListedChange, read_changes
from tests.helpers import concepts
from tests.helpers.play import SPACE

FORECAST = "concept-forecast"
PLACES = ("first", "second", "third", "fourth")


@pytest.fixture(scope="module")
def cells() -> list[dict[str, str]]:
    place = loading.load(FORECAST).study.assignment["place"]
    assert isinstance(place, Cells)
    return [{name: str(value) for name, value in cell.items()} for cell in place.cells.values()]


@pytest.fixture(scope="module")
def lists(cells: list[dict[str, str]]) -> list[dict[tuple[str, str], tuple[ListedChange, ...]]]:
    folder = assets() / "changes" / FORECAST
    return [read_changes((folder / f"{cell['list']}.csv").read_text("utf-8")) for cell in cells]


def test_each_model_is_met_equally_often_at_each_place(cells: list[dict[str, str]]) -> None:
    assert len(cells) == 72
    met = {place: Counter(cell[place] for cell in cells) for place in PLACES}
    assert {len(counts) for counts in met.values()} == {24}
    assert {count for counts in met.values() for count in counts.values()} == {3}
    assert all(len({cell[place] for place in PLACES}) == 4 for cell in cells)


def test_each_model_has_a_label_in_english_and_german(cells: list[dict[str, str]]) -> None:
    loaded = loading.load(FORECAST)
    sets = {cell[place] for cell in cells for place in PLACES}
    models = [library.load(name).manifest.concept_model for name in sets]
    names = {model.model for model in models if model is not None}
    assert set(loaded.study.labels) == names
    assert len(names) == 24
    for label in loaded.study.labels.values():
        assert isinstance(label, dict)
        assert set(label) == {"en", "de"}
    assert not list(unfit_labels(loaded))


def test_every_test_has_twelve_changes_of_each_type_and_nobody_sees_a_picture_twice(
    cells: list[dict[str, str]],
    lists: list[dict[tuple[str, str], tuple[ListedChange, ...]]],
) -> None:
    """By the answers of the sets, worked out anew."""
    types: dict[tuple[str, ListedChange], str | None] = {}
    shown: dict[tuple[str, str], str] = {}
    for name in {cell[place] for cell in cells for place in PLACES}:
        made = library.load(name)
        ids = [concept.id for concept in made.manifest.concepts]
        rules = rules_of(
            made.manifest.concepts, tuple(known.concepts for known in made.manifest.classes)
        )
        assert made.manifest.answers is not None
        answers = score_files.read_answers(made.folder, made.manifest.answers)
        photos = {photo.id: place for place, photo in enumerate(made.manifest.photos)}
        wanted = {change for own in lists for key in own if key[0] == name for change in own[key]}
        for change in wanted:
            photo = made.manifest.photos[photos[change.picture]]
            state = [interventions.AS_IT_IS] * len(ids)
            state[ids.index(change.concept)] = change.to
            types[name, change] = interventions.change_type(
                answers[photos[change.picture]], rules, photo.beliefs, tuple(state)
            )
            shown[name, change.picture] = photo.photo.rpartition("/")[2]
    for cell, own in zip(cells, lists, strict=True):
        assert set(own) == {(cell[p], phase) for p in PLACES for phase in ("exposure", "test")}
        for place in PLACES:
            name = cell[place]
            counts = Counter(types[name, change] for change in own[name, "test"])
            assert counts == {"follows": 12, "stays": 12, "leaks": 12}
            assert len(own[name, "exposure"]) == 24
        met = [
            shown[name, change.picture] for (name, _), changes in own.items() for change in changes
        ]
        assert len(met) == len(set(met)) == 240


def test_common_pictures_are_met_with_many_models(
    lists: list[dict[tuple[str, str], tuple[ListedChange, ...]]],
) -> None:
    by_picture: dict[str, Counter[str]] = {}
    for own in lists:
        for (name, _), changes in own.items():
            for change in changes:
                by_picture.setdefault(change.picture, Counter())[name] += 1
    everybody = [counts for counts in by_picture.values() if counts.total() == len(lists)]
    assert len(everybody) == 192  # each participant meets each of them once
    assert {len(counts) for counts in everybody} == {24}  # with each model
    assert {count for counts in everybody for count in counts.values()} == {3}  # equally often


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planner.realise(
        loading.load(FORECAST), "P01", space_of=lambda model: SPACE, drawn=("list-01",)
    )


def test_the_plan_shows_answers_first_and_withholds_them_then(plan: Plan) -> None:
    stages = [
        part for part in plan.parts if isinstance(part, ConceptRepairPart) and part.role == "stage"
    ]
    assert [part.withheld for part in stages] == [False, True] * 4
    assert [part.trials for part in stages] == [24, 36] * 4
    for exposure, test in zip(stages[::2], stages[1::2], strict=True):
        assert exposure.model == test.model
        assert exposure.repaired.classes == test.repaired.classes  # the same names
    assert len({part.model for part in stages}) == 4
    practice = next(
        part for part in plan.parts if isinstance(part, ConceptRepairPart) and part.role != "stage"
    )
    assert not practice.withheld


def test_the_plans_of_all_read_a_picture_once(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    read, checked = Counter[str](), Counter[str]()
    stimuli_of = cache(library.load)
    monkeypatch.setattr(
        pictures, "identity_of", lambda folder, ref: read.update([f"{folder}/{ref}"]) or ref
    )
    faults = stimulus_stages.inner_faults
    monkeypatch.setattr(
        stimulus_stages, "inner_faults", lambda of: checked.update([of.id]) or faults(of)
    )
    loaded = loading.load(FORECAST)
    for participant in ("P01", "P02"):
        planner.realise(
            loaded, participant, space_of=lambda model: SPACE, stimuli_of=stimuli_of,
            drawn=("list-01",),
        )  # fmt: skip
    assert set(read.values()) == {1}
    assert set(checked.values()) == {1}


def test_sets_of_one_task_share_the_files_of_their_pictures() -> None:
    keeper, other = map(library.load, ("shapes-forecast-linear-seed-0", "shapes-forecast-8-seed-0"))
    assert not list(other.folder.glob("pictures/*"))
    photo = other.manifest.photos[0]
    own = next(each for each in keeper.manifest.photos if each.id == photo.id)
    assert identity_of(keeper.folder, own.photo) == identity_of(other.folder, photo.photo)


def test_the_pictures_are_as_the_models_saw_them() -> None:
    from labapp.models.stimuli import pictures

    made = library.load("shapes-forecast-linear-seed-0")
    photo = next(each for each in made.manifest.photos if each.set == 2)
    pixels = pictures.read(made.folder, photo.photo)
    assert pixels.shape == (32, 32, 3)
    apart = np.abs(np.diff(pixels.astype(int), axis=1)).mean()
    assert apart > 40  # noise on most pixels


def test_a_file_of_changes_is_refused_with_its_line() -> None:
    for text, told in (
        ("list,changes\n", "line 1"),
        ("stimuli,phase,changes\na,test\n", "line 2: 2 cells"),
        ("stimuli,phase,changes\na,test,p1:size:up\n", "line 2: changes must have the form"),
        (
            "stimuli,phase,changes\na,test,p1:size:on\na,test,p2:size:on\n",
            "line 3: the same stimuli",
        ),
    ):
        with pytest.raises(ValueError, match=told):
            read_changes(text)


def listed_study(folder: Path, changes: str) -> Path:
    made = concepts.write(folder, 2)
    path = concepts.write_study(
        folder / "study", made, instruction="foresight", foresee="all", answers="withheld",
        changes={"file": "changes.csv", "phase": "test"},
    )  # fmt: skip
    (folder / "study" / "changes.csv").write_text(changes, "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("tiny-concepts-2,exposure,p01:size:on", "no row for the stimulus set tiny-concepts-2"),
        ("tiny-concepts-2,test,p99:size:on", "the picture 'p99'"),
        ("tiny-concepts-2,test,p01:colour:on", "the concept 'colour'"),
        ("tiny-concepts-2,test,p01:size:on p01:side:on", "more than once"),
    ],
)
def test_a_study_whose_changes_do_not_fit_its_set_is_refused(
    row: str, told: str, tmp_path: Path
) -> None:
    path = listed_study(tmp_path, f"stimuli,phase,changes\n{row}\n")
    with pytest.raises(StudyError, match=told):
        planner.realise(loading.load(path), "P01", space_of=lambda model: SPACE)


def test_changes_are_planned_as_they_are_listed(tmp_path: Path) -> None:
    path = listed_study(
        tmp_path, "stimuli,phase,changes\ntiny-concepts-2,test,p01:size:on p02:side:off\n"
    )
    parts = planner.realise(loading.load(path), "P01", space_of=lambda model: SPACE).parts
    stage = next(part for part in parts if isinstance(part, ConceptRepairPart))
    given = {item.photo: item.given for item in stage.items}
    assert {photo: (g.concept, g.to) for photo, g in given.items() if g} == {
        "p01": (0, interventions.ON),
        "p02": (1, interventions.OFF),
    }
    assert stage.withheld
