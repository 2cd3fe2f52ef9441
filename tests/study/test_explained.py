"""Plans that judge explanations: every photo once, rows permuted within their class, seeded; and a
stimulus set that does not fit is refused at its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import StudyError
from labapp.models.stimuli import library
from labapp.models.stimuli.library import StimulusSet
from labapp.study import overview, planner
from labapp.study.loading import LoadedStudy, load
from labapp.study.plan import PagesPart, Plan, QuestionnairePart
from labapp.study.plugins import texts
from labapp.tasks.judging import performance
from labapp.tasks.judging.plan import DISTINCTION, JudgingPart, MethodPart, PlannedPhoto
from tests.helpers import stimuli
from tests.helpers.judging import SET_OF
from tests.helpers.nightly import examples

SMALL: dict[str, str] = {**SET_OF}
TASKS = tuple(SMALL)


@pytest.fixture(scope="module", autouse=True)
def sets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("stimuli")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LABAPP_STIMULI", str(made))
        for name in {*SMALL.values(), "heatmaps-signed"}:
            stimuli.write(made, name)
        _loaded.cache_clear()
        stimuli_of.cache_clear()
        yield made


def write(folder: Path, task: str, **said: str) -> Path:
    """A study of one task; said: what its stages say otherwise."""
    stages = {
        "task": task,
        "stimuli": f"tiny-{SMALL[task]}",
        "set": "1",
        "description": "shipped:method-gradcam",
        "intro": "shipped:task-path-agreement",
        **said,
    }
    path = folder / "mine.yaml"
    path.write_text(
        "id: mine\ntitle: Mine\nversion: 1\nflow:\n"
        "  - method: shipped:method-gradcam\n"
        "  - questionnaire: shipped:hive-understanding\n"
        "  - stages:\n" + "".join(f"      {key}: {value}\n" for key, value in stages.items())
    )
    return path


@cache
def stimuli_of(name: str) -> StimulusSet:
    return library.load(name)


@cache
def _loaded(folder: Path, task: str) -> LoadedStudy:
    folder = folder / task
    folder.mkdir(exist_ok=True)
    return load(write(folder, task))


def realised(loaded: LoadedStudy, number: int = 1, seed: int | None = None) -> Plan:
    return planner.realise(
        loaded,
        f"P{number:02d}",
        space_of=overview.space_of,
        stimuli_of=stimuli_of,
        seed=seed,
    )


def stage(plan: Plan) -> JudgingPart:
    return next(part for part in plan.parts if isinstance(part, JudgingPart))


def row_ids(photo: PlannedPhoto) -> list[str]:
    return [row.prototype for row in photo.rows]


@settings(max_examples=examples(60))
@given(task=st.sampled_from(TASKS), number=st.integers(1, 500), seed=st.integers(0, 2**40))
def test_any_plan_has_every_photo_of_the_set_once_with_all_it_needs(
    sets: Path, task: str, number: int, seed: int
) -> None:
    loaded = _loaded(sets, task)
    plan = realised(loaded, number, seed)
    assert plan == realised(loaded, number, seed), "equal arguments, equal plan"
    part, manifest = stage(plan), stimuli_of(f"tiny-{SMALL[task]}").manifest
    listed = {photo.id: photo for photo in manifest.of_set(1)}
    assert sorted(photo.id for photo in part.photos) == sorted(listed)
    of = {one.id: one.of for one in manifest.prototypes}
    for photo in part.photos:
        source = listed[photo.id]
        assert (photo.truth, photo.prediction) == (source.truth, source.prediction)
        assert (photo.options, photo.heatmaps) == (source.options, source.heatmaps)
        ids = [row.prototype for row in source.rows]
        if task == "prototype-distinction":
            assert sorted(row_ids(photo)) == sorted(ids)
            blocks = [row.of for row in photo.rows]
            assert blocks == sorted(blocks, key=photo.options.index), "option after option"
            for option in photo.options:
                ranks = [row.rank for row in photo.rows if row.of == option]
                assert sorted(map(int, map(str, ranks))) == list(range(1, len(ranks) + 1))
        else:
            assert row_ids(photo) == ids
        if task == "prototype-agreement":
            found = [row.similarity for row in photo.rows]
            assert found == sorted(found, key=lambda value: -(value or 0.0))
            assert {of[id_] for id_ in row_ids(photo)} == {photo.prediction}
        assert (photo.final is not None) == (task == "path-distinction")


def test_orders_differ_between_participants_and_not_where_they_are_as_listed(
    sets: Path, tmp_path: Path
) -> None:
    drawn = [stage(realised(_loaded(sets, "prototype-distinction"), n)) for n in range(1, 13)]
    assert len({tuple(photo.id for photo in part.photos) for part in drawn}) > 1
    rows = {tuple(row_ids(photo)) for part in drawn for photo in part.photos if photo.id == "p00"}
    assert len(rows) > 6, "rows are shuffled for each participant"
    listed = load(write(tmp_path, "prototype-distinction", order="as_listed"))
    for n in range(1, 6):
        assert [photo.id for photo in stage(realised(listed, n)).photos] == ["p00", "p01"]


def test_the_introduction_shows_the_worked_examples_as_the_task_has_them(sets: Path) -> None:
    for task in TASKS:
        plan = realised(_loaded(sets, task))
        method = next(part for part in plan.parts if isinstance(part, MethodPart))
        assert method.task == task
        assert method.explained == stage(plan).explained
        assert method.correct is not None
        assert method.incorrect is not None
        assert (method.correct.correct, method.incorrect.correct) == (True, False)
        asked = next(part for part in plan.parts if isinstance(part, QuestionnairePart))
        assert asked.values["method"] == "Tiny"
        assert asked.values["accuracy"] == "81.5"


def test_a_path_that_is_left_to_the_participant_does_not_tell_its_last_steps(
    sets: Path, tmp_path: Path
) -> None:
    def tell(manifest: stimuli.Json) -> None:
        manifest["id"] = "told"
        for photo in manifest["photos"]:
            photo["rows"] += [photo["final"]["first"] | {"present": True}]

    made = stimuli.write(sets / "told", "path-distinction")
    made.folder.rename(sets / "told" / "told")
    stimuli.edited(StimulusSet(made.manifest, sets / "told" / "told", ""), tell)
    loaded = load(write(tmp_path, "path-distinction", stimuli=f"{sets}/told/told"))
    for photo in stage(realised(loaded)).photos:
        assert photo.final is not None
        assert len(photo.rows) == stimuli.STEPS
        assert photo.final.first.prototype not in row_ids(photo)


def test_a_colour_map_is_the_published_one_or_recorded_and_told(sets: Path, tmp_path: Path) -> None:
    task = "heatmap-distinction"
    assert stage(realised(load(write(tmp_path, task)))).explained.colour_map == "jet"
    other = stage(realised(load(write(tmp_path, task, colour_map="cividis"))))
    assert other.explained.colour_map == "cividis"
    assert other.values["hot"] == "yellow"
    assert "Red" not in other.values["scale_text"]
    signed = {"stimuli": "tiny-heatmaps-signed"}
    assert stage(realised(load(write(tmp_path, task, **signed)))).explained.colour_map == "rdbu_r"
    orange = load(write(tmp_path, task, **signed, colour_map="puor_r"))
    assert stage(realised(orange)).values["hot"] == "orange"


@pytest.mark.parametrize(
    ("task", "said", "line", "told"),
    [
        ("heatmap-distinction", {"set": "3"}, 10, ["has no set 3; there are: 1, 2"]),
        ("heatmap-distinction", {"set": '"{nothing}"'}, 10, ["no variable 'nothing'"]),
        ("heatmap-distinction", {"set": "one"}, 10, ["'one' is not the number of a set"]),
        ("heatmap-distinction", {"set": f"'{'9' * 5000}'"}, 10, ["9' is not the number of a set"]),
        ("heatmap-distinction", {"stimuli": "nowhere"}, 9, ["no stimulus set 'nowhere'"]),
        (
            "heatmap-distinction",
            {"stimuli": "tiny-path-agreement"},
            9,
            ["needs heatmaps", "tiny-path-agreement has path"],
        ),
        (
            "prototype-distinction",
            {"stimuli": "tiny-prototype-agreement"},
            9,
            ["p00", "no options", "about which prototype-distinction asks"],
        ),
        (
            "path-distinction",
            {"stimuli": "tiny-path-agreement"},
            9,
            ["p00", "no final steps"],
        ),
        ("heatmap-distinction", {"colour_map": "puor_r"}, 13, ["puor_r", "positive"]),
        ("heatmap-distinction", {"colour_map": "rainbow"}, 13, ["'rainbow'"]),
        ("path-agreement", {"labels": "true"}, 13, ["labels", "only for heatmap-distinction"]),
        ("dance", {}, 8, ["'dance'"]),
    ],
)
def test_what_does_not_fit_is_refused_at_its_line(
    tmp_path: Path, task: str, said: dict[str, str], line: int, told: list[str]
) -> None:
    if task not in SMALL:
        path = write(tmp_path, TASKS[0])
        path.write_text(path.read_text().replace(TASKS[0], task))
    else:
        path = write(tmp_path, task, **said)
    with pytest.raises(StudyError) as caught:
        overview.check(path)
    assert f"line {line}" in caught.value.what
    for words in told:
        assert words in caught.value.what
    assert caught.value.todo


@pytest.mark.parametrize(
    ("task", "change", "said"),
    [
        (
            "prototype-agreement",
            lambda m: m["photos"][0]["rows"][0].update(prototype="gone"),
            "photos[p00].rows[0].prototype: 'gone' is not among the prototypes",
        ),
        (
            "heatmap-distinction",
            lambda m: [m["correct_example"].update({k: "owl"}) for k in ("truth", "prediction")],
            "correct_example.prediction: 'owl' is not among the classes",
        ),
        (
            "path-agreement",
            lambda m: m["photos"][1].update(first_wrong=99),
            "photos[p01].first_wrong: found step 99",
        ),
    ],
)
def test_a_folder_that_was_never_imported_is_refused_with_its_fault(
    tmp_path: Path, task: str, change: Callable[..., None], said: str
) -> None:
    made = stimuli.write(tmp_path / "sets", SMALL[task])
    stimuli.edited(made, change)
    with pytest.raises(StudyError) as caught:
        overview.check(write(tmp_path, task, stimuli=str(made.folder)))
    assert "line 9, flow[2].stages.stimuli" in caught.value.what
    assert said in caught.value.what
    assert f"labapp stimuli check {made.folder}" in caught.value.todo


def test_an_introduction_to_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "id: mine\ntitle: Mine\nversion: 1\nflow:\n  - method: shipped:method-gradcam\n"
    )
    with pytest.raises(StudyError, match="there are none"):
        load(path)


def test_an_introduction_to_stages_that_others_have_is_refused(sets: Path, tmp_path: Path) -> None:
    path = write(tmp_path, "heatmap-distinction")
    path.write_text(
        path.read_text()
        .replace("flow:", "assignment:\n  shown: {odd: 1, even: 2}\nflow:")
        .replace("  - stages:", "  - only_if: {shown: 1}\n    stages:")
    )
    assert stage(realised(load(path), 1)).trials == 4
    with pytest.raises(StudyError, match="shown = 2 there are none") as caught:
        realised(load(path), 2)
    assert "only_if" in caught.value.todo


def test_what_guessing_gets_right_is_told_of_the_set_that_is_shown(
    sets: Path, tmp_path: Path
) -> None:
    def two_of_four(manifest: dict[str, Any]) -> None:
        for photo in (*manifest["photos"], manifest["correct_example"]):
            right, said = (photo["options"].index(photo[key]) for key in ("truth", "prediction"))
            kept = (right, said if said != right else (right + 1) % 4)
            for key in ("options", "heatmaps", "strengths", "logits"):
                photo[key] = [photo[key][place] for place in kept if photo.get(key)]

    made = stimuli.write(tmp_path / "sets", "heatmaps")
    two = stimuli.edited(made, two_of_four)
    path = write(tmp_path, "heatmap-distinction", stimuli=str(made.folder))
    paid = "incentive:\n  text: shipped:incentive-above-chance\n  per_above_chance: 0.1\nflow:\n"
    consent = "  - consent: shipped:consent\n"
    path.write_text(path.read_text().replace("flow:\n", paid + consent))
    loaded = load(path)
    plan = planner.realise(loaded, "P01", space_of=overview.space_of, stimuli_of=lambda _: two)
    told = next(part for part in plan.parts if part.id == "incentive")
    assert isinstance(told, PagesPart)
    said = texts.fill(loaded.text(told.document), told.values)
    assert "2 classes to choose from, so guessing gets about 50 % of the photos" in said


def test_a_path_ends_at_four_classes_whatever_its_set_lists(sets: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path / "sets", "path-distinction")
    classes = [one.id for one in made.manifest.classes]
    assert len(classes) > 4

    def list_all(manifest: dict[str, Any]) -> None:
        for photo in manifest["photos"]:
            photo["options"] = classes

    listed = stimuli.edited(made, list_all)
    loaded = load(write(tmp_path, "path-distinction", stimuli=str(made.folder)))
    plan = planner.realise(loaded, "P01", space_of=overview.space_of, stimuli_of=lambda _: listed)
    part = stage(plan)
    assert len(part.photos[0].options) == len(classes)
    assert (part.values["chance"], part.values["options"]) == ("25", "4")
    assert performance.above_chance(part, [{DISTINCTION: True}] * 8) == 6, "a quarter is chance"


def test_a_question_about_the_accuracy_of_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "id: mine\ntitle: Mine\nversion: 1\nflow:\n"
        "  - questionnaire: shipped:hive-trade-off-species\n"
    )
    with pytest.raises(StudyError, match="the study does not explain a model"):
        overview.check(path)
