"""Stimulus sets of concept models: checked by the room that shows them, and true to the model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import StimuliError, UsageError
from labapp.models.concepts import commands, package, training
from labapp.models.concepts.commands import ITEM_TYPES, classes_of, counts_of
from labapp.models.concepts.learner import ConceptModel
from labapp.models.datasets.concepts.shapes import shapes
from labapp.models.stimuli import importing, pictures, score_files
from labapp.models.stimuli.interventions import place
from labapp.models.stimuli.manifest import Manifest
from tests.models.concepts.conftest import recipe, sprites

ITEMS = "repair=4,control=4,trap=3,unrepairable=2,natural=6"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return training.train(sprites(predictor=[16, 8]), out=tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def built(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> commands.WrittenSet:
    out = tmp_path_factory.mktemp("sets") / "tiny"
    return commands.build_stimuli(str(model_folder), out, items=ITEMS, pixels=96)


def manifest_of(built: commands.WrittenSet) -> Manifest:
    manifest = importing.read_checked(built.folder).manifest
    assert manifest is not None
    return manifest


def test_a_set_is_in_order_and_has_what_was_asked_for(built: commands.WrittenSet) -> None:
    manifest = manifest_of(built)
    assert manifest.kind == "interventions"
    assert manifest.id == "model"
    natural = [photo for photo in manifest.photos if photo.natural]
    assert len(natural) == 6
    for kind in ITEM_TYPES:
        chosen = [photo for photo in manifest.photos if photo.item == kind and not photo.natural]
        assert len(chosen) == built.built.chosen[kind]
    assert sum(built.built.shares.values()) <= 1
    assert manifest.classes[1].marks == "large, left, no heart"
    assert manifest.classes[1].concepts == {"size": False, "side": True, "shape": True}
    german = manifest.concepts[0].in_language("de")
    assert (german.name, german.off, german.on) == ("Größe", "groß", "klein")
    assert manifest.classes[1].in_language("de").marks == "groß, links, kein Herz"
    assert manifest.concept_model is not None
    assert {"ois", "ois_common", "nis", "ctl", "icl", "share_trap"} <= set(
        manifest.concept_model.scores
    )
    told = "\n".join(built.lines())
    assert built.built.manifest.made_with.endswith(" --size 96")
    assert "natural       6" in told
    assert "% of the pictures chosen from" in told


def test_answers_are_those_of_the_model(built: commands.WrittenSet, model_folder: Path) -> None:
    model: ConceptModel = package.load(model_folder)
    rows = model.card.recipe.data.load(model.card.recipe.measures).split.test
    manifest = manifest_of(built)
    answers = score_files.read_answers(built.folder, "answers.npy")
    for setting in ({}, {0: 1}, {1: 0, 3: 1}):
        state = [0 if j not in setting else 1 + setting[j] for j in range(4)]
        logits = model.intervened(rows, setting)
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        for number, photo in enumerate(manifest.photos):
            row = int(photo.id[1:])
            np.testing.assert_allclose(answers[number, place(state)], shares[row], atol=2e-3)
            assert photo.truth == f"c{rows.labels_of[row]}"
            assert list(photo.concepts) == (rows.concepts_of[row] == 1).tolist()


def test_people_see_the_row_that_the_model_saw(
    built: commands.WrittenSet, model_folder: Path
) -> None:
    card = package.load(model_folder).card
    rows = card.recipe.data.load(card.recipe.measures).split.test
    for photo in manifest_of(built).photos[:6]:
        large = pictures.read(built.folder, photo.photo)
        assert large.shape == (96, 96, 3)
        seen = rows.instances(np.array([int(photo.id[1:])]))[0, 0]
        coarse = large[:, :, 0].reshape(32, 3, 32, 3).mean(axis=(1, 3)) / 255
        # A tenth of what the model saw is noise.
        assert np.median(np.abs(coarse - seen)) == 0
        assert (np.abs(coarse - seen) > 0.3).mean() < 0.12


def test_the_same_seed_gives_the_same_bytes(
    built: commands.WrittenSet, model_folder: Path, tmp_path: Path
) -> None:
    again = commands.build_stimuli(str(model_folder), tmp_path / "a", items=ITEMS, pixels=96)
    assert again.built.files == built.built.files
    assert json.loads((again.folder / "manifest.json").read_bytes()) == json.loads(
        (built.folder / "manifest.json").read_bytes()
    )


def test_another_seed_chooses_other_pictures(
    built: commands.WrittenSet, model_folder: Path, tmp_path: Path
) -> None:
    other = commands.build_stimuli(
        str(model_folder), tmp_path / "b", items=ITEMS, pixels=96, seed=1
    )
    assert {photo.id for photo in manifest_of(other).photos} != {
        photo.id for photo in manifest_of(built).photos
    }


def test_fewer_than_asked_for_are_told(model_folder: Path, tmp_path: Path) -> None:
    def all_of(kind: str, *, every: bool) -> tuple[commands.WrittenSet, int]:
        made = commands.build_stimuli(
            str(model_folder), tmp_path / f"{kind}-{every}", items=f"{kind}=5000", every=every
        )
        return made, made.built.chosen[kind]

    clear, some = all_of("unrepairable", every=False)
    whole, every = all_of("unrepairable", every=True)
    assert 0 < some < every < 300
    assert f"asked for, {every} among all test pictures" in "\n".join(clear.lines())
    assert every / 300 == pytest.approx(whole.built.shares["unrepairable"])


def test_people_can_tell_every_concept_of_what_they_see(model_folder: Path, tmp_path: Path) -> None:
    """Size at a glance, and nothing in the middle; unless all pictures are asked for."""
    rows = package.load(model_folder).card.recipe
    test = rows.data.load(rows.measures).split.test

    def factors(*, every: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        made = commands.build_stimuli(
            str(model_folder), tmp_path / str(every), items="natural=60", pixels=64, every=every
        )
        manifest = manifest_of(made)
        numbers = np.array([int(photo.id[1:]) for photo in manifest.photos])
        told = "all 300 test pictures" if every else "scale from 0.65 to 0.85, x from 0.3 to 0.7"
        assert told in manifest.chosen_from
        return test.factors(numbers)

    clear, every = factors(every=False), factors(every=True)
    assert len(clear) == len(every) == 60
    assert not np.any(np.isclose(clear[:, 1], 0.7) | np.isclose(clear[:, 1], 0.8))
    assert np.all(np.abs(clear[:, 3:] - 0.5) > 0.2)
    assert np.any(np.isclose(every[:, 1], 0.7))
    assert np.any(np.abs(every[:, 3:] - 0.5) < 0.1)


def test_what_cannot_be_shown_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match="no pictures"):
        commands.build_stimuli(str(folders["cbm"]), tmp_path / "toy")
    for items in ("repair", "repair=x", "easy=3"):
        with pytest.raises(UsageError, match="is not TYPE=NUMBER"):
            counts_of(items)
    assert not (tmp_path / "toy").exists()


def test_a_set_needs_a_picture_and_an_id(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match="no picture"):
        commands.build_stimuli(str(model_folder), tmp_path / "none", items="natural=0")
    with pytest.raises(UsageError, match="no id of a set"):
        commands.build_stimuli(str(model_folder), tmp_path / "none", "My Set")
    # Studies that name it would show the shipped one.
    with pytest.raises(StimuliError, match="comes with labapp"):
        commands.build_stimuli(str(model_folder), None, "dsprites-four-cbm")


def test_3dshapes_are_drawn_for_people() -> None:
    data = recipe({"dataset": "3dshapes", "pixels": 32}, {"name": "cbm"}).data
    split = data.load(recipe({"dataset": "toy"}, {"name": "cbm"}).measures).split
    assert split.draw is not None
    numbers = np.arange(3)
    for factors, seen in zip(
        split.test.factors(numbers), split.test.instances(numbers), strict=True
    ):
        large = split.draw(factors, 128)
        coarse = large.reshape(32, 4, 32, 4, 3).mean(axis=(1, 3)) / 255
        assert np.abs(coarse.transpose(2, 0, 1) - seen).mean() < 0.01
    assert [len(rule) for rule in split.rules] == [3] * 4 + [4] * 8


def test_marks_of_concepts_with_the_same_words_name_the_concept() -> None:
    first, *_ = classes_of(shapes())
    assert first.marks == "Floor blue to pink, Walls blue to pink, Object blue to pink, flat top"
    german = "Boden blau bis rosa, Wände blau bis rosa, Körper blau bis rosa, oben flach"
    assert first.in_language("de").marks == german


def test_birds_are_named_and_painted_where_they_are_needed(tmp_path: Path) -> None:
    birds = recipe({"dataset": "birds", "train": 12, "test": 4}, {"name": "cbm"})
    folder = training.train(birds, out=tmp_path)
    made = commands.build_stimuli(str(folder), tmp_path / "set", items="natural=3")
    manifest = manifest_of(made)
    assert manifest.classes_are == "species"
    assert manifest.classes[0].name == "Farrow's tamber"
    assert len(manifest.classes[0].concepts) == 6
    assert set(made.built.files) == {"answers.npy"}
    for photo in manifest.photos:
        species = int(photo.photo.split(":")[3])
        assert photo.truth == f"s{species:02d}"
        assert pictures.read(made.folder, photo.photo).shape == (512, 512, 3)
