"""Plans that unmask pictures: every image with every method once, masks ascending, seeded; and what
does not fit is refused at its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import StudyError
from labapp.models.stimuli import library, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking, find_recorded_outputs
from labapp.study import overview, planner
from labapp.study.loading import LoadedStudy, load
from labapp.study.overview import check_all
from labapp.study.plan import BreakPart, PagesPart, Plan, QuestionnairePart, pictures_of, to_rows
from labapp.study.plugins import registry
from labapp.study.stimulus_stages import PredictMasked
from labapp.tasks.unmasking.plan import UnmaskingPart
from tests.helpers import stimuli
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.unmasking import MASKS, made, write_unmasking_study


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, found: StimulusSet) -> LoadedStudy:
    return load(write_unmasking_study(tmp_path_factory.mktemp("study"), found))


def realised(
    loaded: LoadedStudy,
    number: int = 1,
    seed: int | None = None,
    predict_masked: PredictMasked = find_recorded_outputs,
) -> Plan:
    return planner.realise(
        loaded,
        f"P{number:02d}",
        space_of=overview.space_of,
        predict_masked=predict_masked,
        seed=seed,
    )


def parts_of(plan: Plan, role: str = "stage") -> list[UnmaskingPart]:
    return [one for one in plan.parts if isinstance(one, UnmaskingPart) and one.role == role]


def stage(plan: Plan) -> UnmaskingPart:
    (part,) = parts_of(plan)
    return part


def order(plan: Plan) -> list[tuple[str, str]]:
    return [(one.image, one.method) for part in parts_of(plan) for one in part.sequences]


@settings(max_examples=examples(30))
@given(number=st.integers(1, 500), seed=st.integers(0, 2**40))
def test_any_plan_has_every_image_with_every_method_once_and_masks_that_ascend(
    loaded: LoadedStudy, found: StimulusSet, number: int, seed: int
) -> None:
    plan = realised(loaded, number, seed)
    assert plan == realised(loaded, number, seed), "equal arguments, equal plan"
    part = stage(plan)
    images = [photo.id for photo in found.manifest.of_set(1)]
    assert sorted(order(plan)) == sorted(product(images, ("middle", "edge")))
    assert part.trials == part.total == 24
    listed = {photo.id: photo for photo in found.manifest.photos}
    for sequence in part.sequences:
        photo = listed[sequence.image]
        said = (sequence.truth, sequence.prediction, sequence.picture, sequence.logits)
        assert said == (photo.truth, photo.prediction, photo.photo, photo.logits)
        assert tuple(mask.percent for mask in sequence.masks) == MASKS
        assert [mask.pixels for mask in sequence.masks] == [29, 86, 259], "of 24 x 24"
        refs = [MaskedRef.of(mask.picture) for mask in sequence.masks]
        assert {(ref.photo, ref.method) for ref in refs} == {(sequence.image, sequence.method)}
        assert [ref.percent for ref in refs] == list(MASKS)


def test_the_order_is_the_participants_own_or_as_listed(
    loaded: LoadedStudy, found: StimulusSet, tmp_path: Path
) -> None:
    assert len({tuple(order(realised(loaded, number))) for number in range(1, 9)}) == 8
    if EVERYTHING:
        first = Counter(order(realised(loaded, number))[0] for number in range(1, 81))
        assert len(first) == 8, "any of the eight sequences comes first for somebody"
        assert max(first.values()) < 28
    listed = load(write_unmasking_study(tmp_path, found, order="as_listed", methods=["edge"]))
    images = [photo.id for photo in found.manifest.of_set(1)]
    assert order(realised(listed)) == [(image, "edge") for image in images]


def test_the_example_comes_before_the_number_of_stimuli_is_told(loaded: LoadedStudy) -> None:
    plan = realised(loaded)
    assert [part.id for part in plan.parts] == [
        *("practice-intro", "practice"),
        *("stage-1-intro", "stage-1"),
    ]
    (example,) = parts_of(plan, "practice")
    assert [one.image for one in example.sequences] == ["p08"], "the set's correct example"
    assert (example.trials, example.total) == (3, 3)
    told = plan.parts[2]
    assert isinstance(told, PagesPart)
    assert told.values == {
        "stage": "1",
        "stages": "1",
        "stimuli": "24",
        "sequences": "8",
        "images": "4",
        "methods": "2",
        "masks": "3",
        "question": "What is shown?",
        "classes": "disc, ring",
    }
    assert to_rows(plan.parts)[1]["role"] == "practice"


def test_what_was_chosen_is_written_down(loaded: LoadedStudy, found: StimulusSet) -> None:
    assert realised(loaded).assignment == {
        "number": 1,
        "stimuli": ["tiny-scores"],
        "sets": [1],
        "manifests": [found.sha256],
    }
    shared = stage(realised(loaded)).unmasked
    assert (shared.fill, shared.level, shared.sign) == ("mean", (128,), "signed")
    assert shared.grid == (24, 24)
    assert shared.methods == {"middle": "Middle", "edge": "Edge"}
    assert sum(one.count for one in shared.pool) == 80


def test_breaks_stand_between_blocks_that_count_on(found: StimulusSet, tmp_path: Path) -> None:
    said = {"every": 3, "text": "rest.md", "at_least_s": 5}
    plan = realised(load(write_unmasking_study(tmp_path, found, breaks=said, after=[])))
    blocks = parts_of(plan)
    assert [part.id for part in blocks] == [f"stage-1-block-{n}" for n in (1, 2, 3)]
    assert [part.title for part in blocks] == [f"Stage 1, block {n}" for n in (1, 2, 3)]
    assert [(part.first, part.trials, part.total) for part in blocks] == [
        (0, 9, 24),
        (9, 9, 24),
        (18, 6, 24),
    ]
    kinds = [type(part) for part in plan.parts[3:]]
    assert kinds == [UnmaskingPart, BreakPart, UnmaskingPart, BreakPart, UnmaskingPart]
    rest = plan.parts[4]
    assert isinstance(rest, BreakPart)
    assert (rest.document, rest.at_least_s) == ("rest.md", 5)
    undivided = realised(load(write_unmasking_study(tmp_path, found)))
    assert order(plan) == order(undivided), "breaks change no order"


def test_parts_have_ids_of_their_own_beside_another_practice(
    found: StimulusSet, tmp_path: Path
) -> None:
    before = [{"practice": "circles-exemplars"}]
    plan = realised(load(write_unmasking_study(tmp_path, found, before=before)))
    ids = [part.id for part in plan.parts]
    assert ids[:4] == ["practice-intro", "practice", "practice-intro-2", "practice-2"]
    assert len(set(ids)) == len(ids)


def test_breaks_as_far_apart_as_the_stage_is_long_are_none(
    found: StimulusSet, tmp_path: Path
) -> None:
    said = {"every": 8, "text": "rest.md"}
    plan = realised(load(write_unmasking_study(tmp_path, found, breaks=said)))
    assert [part.id for part in plan.parts][2:] == ["stage-1-intro", "stage-1"]


def test_questionnaires_follow_the_last_block(found: StimulusSet, tmp_path: Path) -> None:
    path = write_unmasking_study(tmp_path, found)
    text = path.read_text("utf-8").replace("example: example.md", "example: null")
    path.write_text(text.replace("intro: intro.md", "intro: intro.md\n    after: [seq]"), "utf-8")
    plan = realised(load(path))
    assert [part.id for part in plan.parts] == ["stage-1-intro", "stage-1", "stage-1-seq"]
    asked = plan.parts[-1]
    assert isinstance(asked, QuestionnairePart)
    assert asked.about == "stage-1"


def test_buttons_name_the_classes_and_turn_round_for_every_second_person(
    loaded: LoadedStudy, found: StimulusSet, tmp_path: Path
) -> None:
    part = stage(realised(loaded))
    assert [(one.of, one.name, one.key) for one in part.buttons] == [
        ("disc", "disc", "F"),
        ("ring", "ring", "J"),
        (None, "", "Space"),
    ]
    assert [part.class_of(response) for response in (0, 1, 2)] == [None, "disc", "ring"]
    path = write_unmasking_study(
        tmp_path,
        found,
        buttons="counterbalanced",
        class_names={"ring": "a ring"},
        keys=["left", "right", "9"],
    )
    turned = load(path)
    for number, names in ((1, ["disc", "a ring", ""]), (2, ["a ring", "disc", ""])):
        part = stage(realised(turned, number))
        assert [one.name for one in part.buttons] == names
        assert [one.key for one in part.buttons] == ["Left", "Right", "9"], "keys keep their place"
    assert stage(realised(turned, 2)).class_of(1) == "ring"


def test_more_classes_have_digits_as_keys(found: StimulusSet, tmp_path: Path) -> None:
    def third(manifest: stimuli.Json) -> None:
        manifest["classes"].append({"id": "none", "name": "nothing"})
        for photo in (*manifest["photos"], *_examples(manifest)):
            photo["options"].append("none")
            photo["logits"].append(-2.0)
            photo["masked"] = []

    three = stimuli.edited(stimuli.write(tmp_path / "sets", "scores"), third)
    plan = realised(load(write_unmasking_study(tmp_path, three)))
    assert [one.key for one in stage(plan).buttons] == ["1", "2", "3", "0"]


def _examples(manifest: stimuli.Json) -> list[stimuli.Json]:
    return [manifest["correct_example"], manifest["incorrect_example"]]


def test_the_model_is_asked_once_a_sequence_and_its_answers_are_planned(
    loaded: LoadedStudy,
) -> None:
    asked: list[tuple[str, str]] = []

    def outputs(
        found: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        asked.append((photo.id, method))
        assert masking == Masking(MASKS, "mean", "signed")
        return [(percent, -percent) for percent in masking.percents]

    plan = realised(loaded, predict_masked=outputs)
    assert len(asked) == len(set(asked)) == 1 + 8, "the example too"
    for part in (*parts_of(plan), *parts_of(plan, "practice")):
        for sequence in part.sequences:
            assert [mask.logits for mask in sequence.masks] == [(p, -p) for p in MASKS]


def test_what_the_set_says_of_its_masked_photos_is_planned_where_it_says_all(
    tmp_path: Path,
) -> None:
    def said(manifest: stimuli.Json) -> None:
        for photo in (*manifest["photos"], *_examples(manifest)):
            photo["masked"] = [
                {
                    "method": "edge",
                    "percent": percent,
                    "fill": "mean",
                    "sign": "signed",
                    "logits": [percent, 1.0],
                }
                for percent in (45, 5, 15)
            ]  # nothing of the other method, nor of another fill

    found = stimuli.edited(stimuli.write(tmp_path / "sets", "scores"), said)
    for fill, known in (("mean", True), ("black", False)):
        part = stage(realised(load(write_unmasking_study(tmp_path, found, fill=fill))))
        for sequence in part.sequences:
            wanted = [(percent, 1.0) for percent in MASKS] if sequence.method == "edge" else []
            assert [mask.logits for mask in sequence.masks if mask.logits] == (
                wanted if known else []
            )


def test_every_picture_and_the_whole_images_belong_to_the_plan(
    loaded: LoadedStudy, found: StimulusSet
) -> None:
    refs = pictures_of(realised(loaded).parts)
    whole = {photo.photo for photo in found.manifest.of_set(1)} | {"p08.png"}
    assert len(refs) == len(set(refs)) == 3 + 24 + len(whole)
    assert whole <= set(refs)


@pytest.mark.parametrize(
    ("said", "key", "told"),
    [
        ({"set": 3}, "set", ["has no set 3; there are: 1, 2"]),
        ({"set": "one"}, "set", ["'one' is not the number of a set"]),
        ({"methods": ["lrp"]}, "methods", ["no method 'lrp'; there are: middle, edge"]),
        ({"methods": ["edge", "edge"]}, "methods", ["edge is listed twice"]),
        ({"example_method": "lrp"}, "example_method", ["no method 'lrp'"]),
        ({"masks": [5, 5.05]}, "masks", ["5 % and 5.05 % of 24 x 24 scores are the same 29"]),
        ({"keys": ["F", "J"]}, "keys", ["3 different keys are needed", "found F, J"]),
        ({"keys": ["F", "f", "J"]}, "keys", ["3 different keys", "found F, f, J"]),
        (
            {"keys": ["F", "J", "Escape"]},
            "keys",
            ["'Escape' cannot be used as the key of a button"],
        ),
        ({"keys": ["F", "J", ""]}, "keys", ["'' cannot be used as the key of a button"]),
        ({"class_names": {"dog": "a dog"}}, "class_names", ["no class 'dog'; there are: disc"]),
        ({"class_names": {"disc": " "}}, "class_names", ["'' does not tell a button"]),
        ({"class_names": {"disc": "ring"}}, "class_names", ["'ring' does not distinguish"]),
        ({"masks": [15, 5]}, "masks", ["must ascend"]),
        ({"masks": [15, 20.123456]}, "masks", ["20.123456 has more than six digits"]),
        ({"masks": {"smallest": 5, "largest": 6, "count": 5}}, "masks", ["not distinct"]),
        ({"blank_ms": -1}, "blank_ms", ["greater than or equal to 0"]),
        ({"fill": "pink"}, "fill", ["'pink'"]),
        ({"blink_ms": 5}, "blink_ms", ["unknown key"]),
    ],
)
def test_what_does_not_fit_is_refused_at_its_line(
    found: StimulusSet, tmp_path: Path, said: dict[str, Any], key: str, told: list[str]
) -> None:
    path = write_unmasking_study(tmp_path, found, **said)
    lines = path.read_text("utf-8").splitlines()
    line = 1 + next(n for n, text in enumerate(lines) if text.strip().startswith(f"{key}:"))
    with pytest.raises(StudyError) as caught:
        overview.check(path)
    assert f"line {line}" in caught.value.what
    assert key in caught.value.what
    for words in told:
        assert words in caught.value.what
    assert caught.value.todo


def test_an_example_of_a_method_that_the_stage_leaves_out_is_named_in_its_part(
    found: StimulusSet, tmp_path: Path
) -> None:
    """Whoever reads the plan finds the method of every sequence in the sequence's own part."""
    path = write_unmasking_study(tmp_path, found, methods=["middle"], example_method="edge")
    plan = realised(load(path))
    (example,), shown = parts_of(plan, "practice"), stage(plan)
    assert [one.method for one in example.sequences] == ["edge"]
    assert example.unmasked.methods == {"middle": "Middle", "edge": "Edge"}
    assert shown.unmasked.methods == {"middle": "Middle"}
    practice = next(row for row in to_rows(plan.parts) if row.get("role") == "practice")
    assert registry.read_part(practice) == example


def test_a_method_of_no_example_is_refused(found: StimulusSet, tmp_path: Path) -> None:
    path = write_unmasking_study(tmp_path, found, example=None, example_method="edge")
    with pytest.raises(StudyError, match="example_method only with an example"):
        overview.check(path)


def test_the_set_may_be_drawn(found: StimulusSet, tmp_path: Path) -> None:
    path = write_unmasking_study(tmp_path, found, set="{set}")
    cells = "assignment: {shown: {cells: {a: {set: 1}, b: {set: 2}}}}\nflow:"
    path.write_text(path.read_text("utf-8").replace("flow:", cells), "utf-8")
    loaded = overview.check(path)
    for cell, number in (("a", 1), ("b", 2)):
        plan = planner.realise(loaded, "P01", space_of=overview.space_of, drawn=(cell,))
        assert plan.assignment["sets"] == [number]
        images = {one.image for one in stage(plan).sequences}
        assert images == {photo.id for photo in found.manifest.of_set(number)}


def without_example(manifest: stimuli.Json) -> None:
    del manifest["correct_example"]


def without_scores(manifest: stimuli.Json) -> None:
    del manifest["photos"][0]["scores"]["edge"]


def without_mean(manifest: stimuli.Json) -> None:
    del manifest["mean_level"]


def without_file(manifest: stimuli.Json) -> None:
    manifest["photos"][0]["scores"]["edge"] = "nowhere.npy"


def ten_classes(manifest: stimuli.Json) -> None:
    more = [f"class-{n}" for n in range(8)]
    manifest["classes"] += [{"id": one, "name": one} for one in more]
    for photo in (*manifest["photos"], *_examples(manifest)):
        photo["options"] += more
        photo["logits"] += [-2.0] * 8
        photo["masked"] = []


@pytest.mark.parametrize(
    ("change", "key", "told"),
    [
        (without_example, "example", "has no correct_example to show"),
        (without_scores, "stimuli", "scores"),
        (without_mean, "fill", "does not state its mean level"),
        (without_file, "stimuli", "nowhere.npy"),
        (ten_classes, "keys", "11 buttons, which is more than there are digits"),
    ],
)
def test_a_set_that_lacks_something_is_refused(
    tmp_path: Path, change: Callable[[stimuli.Json], None], key: str, told: str
) -> None:
    found = stimuli.edited(stimuli.write(tmp_path / "sets", "scores"), change)
    with pytest.raises(StudyError) as caught:
        overview.check(write_unmasking_study(tmp_path, found))
    assert re.search(rf"[ .]{key}: ", caught.value.what)
    assert told in caught.value.what
    assert "line " in caught.value.what


def test_scores_of_different_sizes_are_refused(tmp_path: Path) -> None:
    found = stimuli.write(tmp_path / "sets", "scores")
    coarse = score_files.encode_scores(np.ones((12, 12)))
    (found.folder / "p00-edge.npy").write_bytes(coarse)
    with pytest.raises(StudyError, match=r"p00-edge\.npy' has 12 × 12 cells, others have 24"):
        overview.check(write_unmasking_study(tmp_path, library.load(found.folder)))


def test_another_kind_of_set_is_refused(tmp_path: Path) -> None:
    found = stimuli.write(tmp_path / "sets", "heatmaps")
    with pytest.raises(StudyError, match="needs scores, but the stimulus set tiny-heatmaps has"):
        overview.check(write_unmasking_study(tmp_path, found))


@pytest.fixture
def faces() -> LoadedStudy:
    return load("unmasking-faces")


def test_the_published_study_is_the_published_one(faces: LoadedStudy) -> None:
    """Paper 004, sections 3.3 to 3.5."""
    plan = realised(faces)
    assert faces.study.presentation == "as_published"
    part = stage(plan)
    assert part.trials == 300
    assert list(part.unmasked.methods) == ["gradient", "guided_backprop", "lrp"]
    assert list(part.unmasked.percents) == [5, 6, 8, 11, 15, 19, 26, 34, 45, 60]
    assert len(part.sequences) == 30
    assert set(Counter(one.truth for one in part.sequences).values()) == {15}
    assert part.question == "Which emotion is shown in the image?"
    assert [one.name for one in part.buttons] == ["anger", "happiness", ""]
    assert not part.think_aloud
    assert [one.id for one in plan.parts] == [
        *("consent", "incentive", "text-1", "practice-intro", "practice"),
        *("stage-1-intro", "stage-1", "debrief"),
    ]
    texts = {one.id: one.values for one in plan.parts if isinstance(one, PagesPart)}
    assert texts["stage-1-intro"]["stimuli"] == "300"
    assert texts["incentive"]["base"] == "$1.84", "ten minutes at $11 an hour"
    assert texts["text-1"]["question"] == "Which emotion is shown in the image?"


def test_words_of_a_set_that_would_be_read_as_they_stand_are_told(tmp_path: Path) -> None:
    made = stimuli.edited(
        stimuli.write(tmp_path / "sets", "scores"),
        lambda manifest: manifest["classes"][0].update(name="<b>{first}"),
    )
    told = check_all(write_unmasking_study(tmp_path, made)).errors
    assert sorted(fault.key for error in told for fault in error.faults) == [
        "classes[0].name: <b>",
        "classes[0].name: {first}",
    ]
    assert all(fault.file.endswith("manifest.json") and fault.line for fault in told[0].faults)
