"""Sets of pixel scores: which images are chosen, what is written of them, and the shipped one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import ModelError, StimuliError, UsageError
from labapp.models.datasets.faces import CLASSES, faces
from labapp.models.datasets.painter import average_blocks
from labapp.models.explanations import package, pixel_scores
from labapp.models.explanations.building import commands
from labapp.models.explanations.building.pixel_score_sets import build_scored_from, select
from labapp.models.explanations.building.sets import SCORED_SPECS, BuiltSet, ScoredSpec
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.data import METHODS, SCORINGS, FacesData, ids_of
from labapp.models.explanations.package import ClassTest
from labapp.models.stimuli import importing, library, pictures, score_files
from labapp.models.stimuli.manifest import Manifest, Photo
from tests.helpers.installed import on_path, write_package

SPEC = ScoredSpec("mine", "Mine", "faces/cnn", each=3, wrong=1)


@pytest.fixture(scope="module")
def model() -> Classifier:
    return package.load("faces/cnn")


@pytest.fixture(scope="module")
def data() -> FacesData:
    return FacesData(dataset="faces", seed=1, train=1, validation=1, test=30)


@pytest.fixture(scope="module")
def built(model: Classifier, data: FacesData) -> BuiltSet:
    return build_scored_from(model, data.load(), SPEC, seed=4)


def test_the_same_seed_gives_the_same_set(
    built: BuiltSet, model: Classifier, data: FacesData
) -> None:
    again = build_scored_from(model, data.load(), SPEC, seed=4)
    assert importing.manifest_text(again.manifest) == importing.manifest_text(built.manifest)
    assert again.files == built.files
    other = build_scored_from(model, data.load(), SPEC, seed=5).manifest
    assert {one.id for one in other.photos} != {one.id for one in built.manifest.photos}


def test_a_built_set_is_in_order_and_as_asked(built: BuiltSet, tmp_path: Path) -> None:
    folder = importing.write(tmp_path / "mine", built.manifest, built.files)
    found = importing.read_checked(folder)
    assert found.files == built.files
    # The accuracy is of the card's whole test part, the counts of the few looked at here.
    assert all(one.startswith("pool counts") for one in found.warnings)
    holds(built.manifest, each=3, wrong=1)
    assert (built.manifest.id, built.manifest.title, built.manifest.seed) == ("mine", "Mine", 4)
    assert "--model faces/cnn --id mine --seed 4" in built.manifest.made_with


def test_what_is_written_is_what_the_model_says_of_what_is_shown(
    built: BuiltSet, model: Classifier
) -> None:
    photos = built.manifest.photos
    shown = [pictures.native(built.files[one.photo], one.photo) for one in photos]
    seen = average_blocks(np.stack(shown)[:, None], 48)
    logits = model.scores(seen)
    assert [one.logits for one in photos] == pytest.approx(logits, abs=1e-3)
    predicted = logits.argmax(1)
    assert [CLASSES.index(one.prediction) for one in photos] == predicted.tolist()
    for method in SCORINGS:
        maps = pixel_scores.scores(model, method, seen, predicted)
        for photo, expected in zip(photos, maps, strict=True):
            file = photo.scores[method]
            found = score_files.decode_scores(built.files[file], file)
            assert found == pytest.approx(expected, abs=1e-5 * float(np.abs(expected).max()))
    assert built.manifest.mean_level == (pytest.approx(np.stack(shown).mean() / 255, abs=1e-4),)


def test_the_pool_counts_the_whole_test_part(
    built: BuiltSet, model: Classifier, data: FacesData
) -> None:
    part = data.load().test
    rows = np.arange(len(part))
    predicted = model.predicted(np.rint(part.instances(rows) * 255).astype(np.uint8))
    expected = Counter(
        (CLASSES[truth], CLASSES[said])
        for truth, said in zip(part.labels(rows), predicted, strict=True)
    )
    counted = {(one.truth, one.prediction): one.count for one in built.manifest.pool}
    assert counted == {
        (truth, said): expected[truth, said] for truth in CLASSES for said in CLASSES
    }


def test_images_are_chosen_by_chance_from_those_that_suit() -> None:
    labels = np.tile([0, 1, 2], 40)
    predicted = labels.copy()
    predicted[::4] = (predicted[::4] + 1) % 3
    sure = np.ones(120, bool)
    sure[60:] = False
    spec = ScoredSpec("mine", "Mine", "own/cnn", each=4, wrong=2)
    chosen = select(labels, predicted, sure, "abc", spec, 0)
    assert (chosen < 60).all()
    assert len(set(chosen.tolist())) == len(chosen) == 3 * 4 + 1
    assert predicted[chosen[-1]] == labels[chosen[-1]]
    right = predicted[chosen[:-1]] == labels[chosen[:-1]]
    assert Counter(zip(labels[chosen[:-1]].tolist(), right.tolist(), strict=True)) == {
        (label, is_right): 2 for label in range(3) for is_right in (False, True)
    }
    assert (chosen == select(labels, predicted, sure, "abc", spec, 0)).all()
    firsts = {int(select(labels, predicted, sure, "abc", spec, seed)[0]) for seed in range(9)}
    assert len(firsts) > 3


def test_too_few_images_are_told_with_their_numbers() -> None:
    labels = np.tile([0, 1], 10)
    predicted = labels.copy()
    predicted[1] = 0
    sure = np.ones(20, bool)
    spec = ScoredSpec("mine", "Mine", "own/cnn", each=4, wrong=1)
    with pytest.raises(
        StimuliError, match=r"images of 'a' for mine: of 10 .* 10 .* right and 0 wr"
    ):
        select(labels, predicted, sure, "ab", spec, 0)
    spec = ScoredSpec("mine", "Mine", "own/cnn", each=10, wrong=0)
    with pytest.raises(StimuliError, match=r"images of 'b' for mine: of 10 .* 9 .* right and 1 wr"):
        select(labels, predicted, sure, "ab", spec, 0)
    with pytest.raises(StimuliError, match="none is left for the example"):
        select(labels, labels, sure, "ab", spec, 0)


def test_classes_have_ids_whatever_they_are_called() -> None:
    assert ids_of(("anger", "happiness")) == ("anger", "happiness")
    assert ids_of(("Anger (CK+)", "Überraschung", "x_1.a")) == ("anger-ck", "uberraschung", "x_1.a")
    assert ids_of(("怒り", "喜び", "A b", "a-b")) == ("class-1", "class-2", "class-3", "class-4")


def test_a_model_of_another_kind_is_refused(resnet: Classifier, data: FacesData) -> None:
    with pytest.raises(ModelError, match="The pixels of birds/resnet"):
        build_scored_from(resnet, data.load(), SPEC, seed=1)


OURS = """
import numpy as np
from labapp.models.explanations.data import ExplanationMethod
def brightness(classifier, pictures, classes):
    return {gives}
IT = ExplanationMethod("brightness", scores="ours:brightness", label="Brightness")
"""


def test_a_package_scores_pixels_of_a_set_that_names_its_method(
    model: Classifier, data: FacesData, tmp_path: Path
) -> None:
    """Shipped sets stay as they are, whatever is installed."""
    code = OURS.format(gives="pictures.mean(1) * np.where(classes, 1, -1)[:, None, None]")
    site = write_package(tmp_path, "ours", code, group="labapp.explanations", entry="IT")
    with on_path(site):
        assert SCORED_SPECS["faces-unmasking"].methods == SCORINGS
        spec = commands.find_scored_spec(
            None, "mine", "faces/cnn", each=3, wrong=1, methods="lrp,brightness"
        )
        built = build_scored_from(model, data.load(), spec, seed=4)
        with pytest.raises(
            UsageError, match="There is no method 'dark' that scores pixels"
        ) as told:
            commands.find_scored_spec(None, "mine", "faces/cnn", methods="dark")
        assert "gradient, guided_backprop, lrp, brightness" in (told.value.todo or "")
        with pytest.raises(UsageError, match="Found --methods lrp,lrp"):
            commands.find_scored_spec(None, "mine", "faces/cnn", methods="lrp,lrp")
    methods = [(method.id, method.name) for method in built.manifest.methods]
    assert methods == [("lrp", "LRP"), ("brightness", "Brightness")]
    assert built.manifest.made_with.endswith("--methods lrp,brightness")
    for photo in built.manifest.photos:
        name = photo.scores["brightness"]
        scores = score_files.decode_scores(built.files[name], name)
        shown = pictures.native(built.files[photo.photo], photo.photo)
        seen = average_blocks(shown[None, None], 48)[0, 0]
        sign = 1 if CLASSES.index(photo.prediction) else -1
        assert scores == pytest.approx(sign * seen.astype(float))
    folder = importing.write(tmp_path / "mine", built.manifest, built.files)
    assert importing.read_checked(folder).files == built.files


@pytest.mark.parametrize("gives", ["pictures", "pictures[:, 0] * np.nan", "None"])
def test_what_are_no_scores_is_refused_with_the_package(
    gives: str, model: Classifier, data: FacesData, tmp_path: Path
) -> None:
    code = OURS.format(gives=gives)
    site = write_package(tmp_path, "ours", code, group="labapp.explanations", entry="IT")
    spec = replace(SPEC, methods=("brightness",))
    with (
        on_path(site),
        pytest.raises(ModelError, match=r"'brightness' of ours 0\.1 gives no score"),
    ):
        build_scored_from(model, data.load(), spec, seed=1)


def holds(manifest: Manifest, *, each: int, wrong: int) -> None:
    """Asserts the rules by which images are chosen."""
    assert manifest.kind == "scores"
    assert manifest.sets == (1,)
    assert [one.id for one in manifest.classes] == list(CLASSES)
    assert [(one.id, one.name) for one in manifest.methods] == [
        (name, METHODS[name].label) for name in SCORINGS
    ]
    right = Counter((photo.truth, photo.correct) for photo in manifest.photos)
    expected = {(name, True): each - wrong for name in CLASSES} | dict.fromkeys(
        ((name, False) for name in CLASSES), wrong
    )
    assert right == expected
    assert manifest.correct_example is not None
    assert manifest.correct_example.correct
    photos = (*manifest.photos, manifest.correct_example)
    assert len({photo.id for photo in photos}) == len(photos)
    for photo in photos:
        assert abs(photo.logits[0] - photo.logits[1]) >= 0.099
        assert photo.facts["expression"] >= 0.3


def test_the_shipped_set_is_in_order_and_keeps_the_rules() -> None:
    folder = library.shipped_folder() / "faces-unmasking"
    found = importing.read_checked(folder)
    assert found.warnings == []
    assert found.manifest is not None
    holds(found.manifest, each=5, wrong=2)
    assert {path.name for path in folder.iterdir()} == {*found.files, "manifest.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 500_000


def test_the_shipped_set_is_what_its_model_says(model: Classifier) -> None:
    """Every image painted, predicted and explained again; not the whole test part, which takes ten
    seconds."""
    shipped = library.load("faces-unmasking")
    manifest, card = shipped.manifest, model.card
    assert manifest.method.classifier == SCORED_SPECS["faces-unmasking"].model == card.id
    assert manifest.method.sha256 == card.weights_sha256
    assert manifest.method.accuracy == round(100 * card.test.accuracy, 2)
    counted = {(one.truth, one.prediction): one.count for one in manifest.pool}
    assert isinstance(card.test, ClassTest)
    assert counted == {
        (truth, said): card.test.confusion[row][column]
        for row, truth in enumerate(CLASSES)
        for column, said in enumerate(CLASSES)
    }
    data = card.recipe.data
    assert isinstance(data, FacesData)
    assert manifest.correct_example is not None
    photos: tuple[Photo, ...] = (*manifest.photos, manifest.correct_example)
    large = faces(seed=data.seed, test=data.test, noise=data.noise, cue=data.cue).test
    rows = np.array([row_of(photo) for photo in photos])
    load_photos = np.rint(large.instances(rows) * 255).astype(np.uint8)
    seen = average_blocks(load_photos, data.size)
    logits = model.scores(seen)
    for place, photo in enumerate(photos):
        shown = pictures.native((shipped.folder / photo.photo).read_bytes(), photo.photo)
        assert shown.shape == (96, 96)
        assert np.abs(shown.astype(int) - load_photos[place, 0]).max() <= 2
        assert photo.logits == pytest.approx(logits[place], abs=5e-3)
        for method in SCORINGS:
            kept = score_files.read(shipped.folder, photo.scores[method])
            now = pixel_scores.scores(
                model, method, seen[place : place + 1], logits[place : place + 1].argmax(1)
            )[0]
            assert np.corrcoef(kept.ravel(), now.ravel())[0, 1] > 0.999


def row_of(photo: Photo) -> int:
    name, number = photo.id.rsplit("-", 1)
    return 2 * int(number) + CLASSES.index(name)
