"""Sets of heatmaps, built from classifiers as they are before they learned anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import ModelError, StimuliError
from labapp.models.datasets.split import Float32
from labapp.models.explanations import bagnet as bags
from labapp.models.explanations import package
from labapp.models.explanations.building import sets
from labapp.models.explanations.building.heatmaps import (
    ClassMaps,
    EvidenceExplainer,
    GradcamExplainer,
    HeatmapExplainer,
)
from labapp.models.explanations.building.sets import (
    Candidate,
    ExplanationJob,
    PhotoExplanation,
    SetSize,
    class_id,
    pictures_of,
    specs,
)
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.data import FacesData
from labapp.models.explanations.photos import UInt8
from labapp.models.explanations.resnet import gradcam
from labapp.models.stimuli import importing, pictures

SMALL = SetSize(1, 1, sets=2)


def job(row: int) -> ExplanationJob:
    return ExplanationJob(f"photo-{row}", Candidate(row, row % 20, 3, 1.0), example=False)


def shown(made: PhotoExplanation) -> np.ndarray:
    """The four heatmaps of a photo, 0 to 255: (4, h, w)."""
    return np.stack([pictures.decode_picture(c, n)[..., 0] for n, c in made.files.items()])


def test_gradcam_is_grey_on_one_scale_and_in_its_place(resnet: Classifier) -> None:
    maps = gradcam(resnet, pictures_of(sets.load_test_rows(resnet), [job(4)]))[0]
    (made,) = GradcamExplainer().explain(resnet, sets.load_test_rows(resnet), [job(4)], 1)
    found = shown(made)
    assert found.shape == (4, 24, 24)
    ids = [class_id(n) for n in range(20)]
    for grey, option, strength in zip(
        found, made.fields["options"], made.fields["strengths"], strict=True
    ):
        of = maps[ids.index(option)]
        assert strength == pytest.approx(of.max(), abs=1e-3)
        # Between its positions the map is drawn straight: what is shown comes close to its peak.
        assert abs(grey.max() / 255 - of.max()) < 0.25 * of.max() + 0.01
        y, x = np.unravel_index(of.argmax(), of.shape)
        assert grey[min(2 * y, 23), min(2 * x, 23)] > 0.7 * grey.max()


def test_bagnet_is_grey_about_nothing(bagnet: Classifier) -> None:
    rows = sets.load_test_rows(bagnet)
    maps = bags.evidence(bagnet, pictures_of(rows, [job(4)]))
    greatest = bags.symmetric_range(maps)[0]
    (made,) = EvidenceExplainer().explain(bagnet, rows, [job(4)], 1)
    found = shown(made)
    assert found.shape == (4, 48, 48)
    ids = [class_id(n) for n in range(20)]
    for grey, option in zip(found, made.fields["options"], strict=True):
        of = maps[0, ids.index(option)]
        # Pixel 2 i of 48 shows what lies half a pixel of 96 beside position i; between, a mean.
        beside = 0.875 * of[:, :-1] + 0.125 * of[:, 1:]
        beside = 0.875 * beside[:-1] + 0.125 * beside[1:]
        expected = ((beside / greatest).clip(-1, 1) + 1) / 2 * 255
        assert np.abs(grey[:-2:2, :-2:2] - expected).max() <= 0.51
    assert made.fields["strengths"] == made.fields["logits"]


def test_a_photo_is_explained_the_same_whichever_others_are(resnet: Classifier) -> None:
    explainer, rows = GradcamExplainer(), sets.load_test_rows(resnet)
    alone = explainer.explain(resnet, rows, [job(4)], 1)[0]
    among = explainer.explain(resnet, rows, [job(2), job(4), job(9)], 1)[1]
    assert alone.fields["options"] == among.fields["options"]
    assert alone.files.keys() == among.files.keys()
    places = [explainer.explain(resnet, rows, [job(4)], seed)[0] for seed in range(8)]
    assert len({one.fields["options"] for one in places}) > 1


def test_a_set_is_built_alike_twice_and_is_in_order(resnet: Classifier, tmp_path: Path) -> None:
    spec = replace(specs()["birds-gradcam"], wanted=SMALL)
    told: list[str] = []
    one = sets.build_from_classifier(
        resnet, spec, seed=5, progress=lambda what, *_: told.append(what)
    )
    other = sets.build_from_classifier(resnet, spec, seed=5)
    assert (one.manifest, one.files) == (other.manifest, other.files)
    assert {"looking at photos", "explaining"} == set(told)
    folder = sets.write(one, tmp_path / "set")
    assert importing.read_checked(folder).manifest == one.manifest
    assert one.manifest.sets == (1, 2)
    assert [photo.correct for photo in one.manifest.photos].count(True) == 2
    with pytest.raises(StimuliError, match="nothing is overwritten"):
        sets.write(one, tmp_path / "set")


def test_a_model_of_another_method_is_refused(resnet: Classifier) -> None:
    with pytest.raises(ModelError, match="is built from a bagnet; birds/resnet is a resnet"):
        sets.build_from_classifier(resnet, replace(specs()["birds-bagnet"], wanted=SMALL), seed=1)


def test_too_few_photos_are_refused_with_their_number(
    resnet: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "MOST", 2)
    with pytest.raises(StimuliError, match="too few photos for birds-gradcam: of 40 photos"):
        sets.build_from_classifier(resnet, specs()["birds-gradcam"], seed=1)


class Brightness(HeatmapExplainer):
    """What a package may bring for any pictures: light speaks for every class."""

    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> ClassMaps:
        light = (pictures.mean(1) / 255).astype(np.float32)
        maps = np.repeat(light[:, None], scores.shape[1], axis=1)
        maps *= np.linspace(0.5, 1, scores.shape[1], dtype=np.float32)[:, None, None]
        return ClassMaps(maps, maps, maps.max((2, 3)))


def test_photos_of_any_data_set_are_chosen_by_what_it_says_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faces have two classes, no genera and no marks, and are files of the set."""
    faces = FacesData(dataset="faces", seed=1, train=1, validation=1, test=30).load().test
    monkeypatch.setattr(sets, "load_test_rows", lambda *given: faces)
    monkeypatch.setattr(sets, "explainer_of", lambda spec: Brightness())
    spec = replace(
        specs()["birds-gradcam"],
        id="light",
        needs="cnn",
        model="faces/cnn",
        wanted=SetSize(3, 2, 2),
    )
    built = sets.build_from_classifier(package.load("faces/cnn"), spec, seed=2)
    folder = sets.write(built, tmp_path / "light")
    manifest = importing.read_checked(folder).manifest
    assert manifest == built.manifest
    assert manifest.classes_are == "objects"
    assert not manifest.invented
    assert [class_.id for class_ in manifest.classes] == ["anger", "happiness"]
    for number in manifest.sets:
        photos = manifest.of_set(number)
        assert [photo.correct for photo in photos].count(True) == 3
        assert len({photo.prediction for photo in photos if not photo.correct}) == 2
    for photo in manifest.photos:
        assert sorted(photo.options) == ["anger", "happiness"]
        assert pictures.read(folder, photo.photo).shape[:2] == (96, 96), "as people see them"
        assert set(photo.facts) == {"expression", "glasses", "dark_hair"}
