"""What the model says of masked pictures is what it says of the pixels that people see."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from labapp.base.errors import StimuliError, StudyError
from labapp.cli.main import app
from labapp.models.explanations import cnn_scores, masked, package
from labapp.models.explanations.building.pixel_score_sets import build_scored_from
from labapp.models.explanations.building.sets import ScoredSpec
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.data import FacesData
from labapp.models.stimuli import importing, library, masked_pictures, pictures
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.masked_pictures import Masking, find_recorded_outputs, first, ranking
from labapp.models.stimuli.masked_pictures import apply_mask as fill_masked
from labapp.session.gate import MaskedPredictor, check_predictable
from labapp.study.overview import check
from tests.helpers import stimuli
from tests.helpers.sample import EVERYTHING
from tests.helpers.unmasking import write_unmasking_study

MASKING = Masking((5.0, 30.0, 100.0))


@pytest.fixture(scope="module")
def model() -> Classifier:
    return package.load("faces/cnn")


@pytest.fixture(scope="module")
def written(model: Classifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a set of it."""
    root = tmp_path_factory.mktemp("written")
    weights = {name: value.numpy() for name, value in model.network.state_dict().items()}
    own = model.card.recipe.model_copy(update={"id": "my/cnn"})
    card = model.card.model_copy(update={"recipe": own})
    package.write(root / "models" / "my" / "cnn", card, weights)
    loaded = package.load("my/cnn", root=root / "models")
    data = FacesData(dataset="faces", seed=1, train=1, validation=1, test=30).load()
    spec = ScoredSpec("mine", "Mine", "my/cnn", each=2, wrong=1)
    built = build_scored_from(loaded, data, spec, seed=1)
    importing.write(root / "sets" / "mine", built.manifest, built.files)
    return root


@pytest.fixture
def made(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StimulusSet:
    """The set of an installed model, both to be changed at will."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    return library.load(tmp_path / "sets" / "mine")


def test_it_says_of_them_what_it_says_of_the_same_pixels(
    made: StimulusSet, model: Classifier
) -> None:
    for photo in made.manifest.photos[: None if EVERYTHING else 2]:
        for method in ("gradient", "lrp"):
            said = masked.outputs(made, MASKING, photo, method)
            whole = pictures.native((made.folder / photo.photo).read_bytes(), photo.photo)
            scores = np.load(made.folder / photo.scores[method])
            assert made.manifest.mean_level is not None
            level = np.array([round(255 * made.manifest.mean_level[0])], np.uint8)
            for percent, logits in zip(MASKING.percents, said, strict=True):
                seen = fill_masked(whole, first(ranking(scores), percent, scores.shape), level)
                halves = seen.reshape(48, 2, 48, 2).mean((1, 3))
                expected = model.scores(np.rint(halves).astype(np.uint8)[None, None])[0]
                assert logits == pytest.approx(expected.tolist(), abs=1e-4)
            assert said[-1] == pytest.approx(photo.logits, abs=1e-4), "nothing is masked at 100 %"
            assert len({one[0] for one in said}) == 3


def test_numpy_scores_as_the_network_does(model: Classifier) -> None:
    weights = {name: value.numpy() for name, value in model.network.state_dict().items()}
    assert cnn_scores.fits(weights, 1, 2)
    assert not cnn_scores.fits(weights, 3, 2)
    assert not cnn_scores.fits(weights, 1, 3)
    seen = np.random.default_rng(0).integers(0, 256, (45, 1, 48, 48), np.uint8)
    assert cnn_scores.scores(weights, seen) == pytest.approx(model.scores(seen), abs=2e-5)


def test_it_is_asked_once(made: StimulusSet, monkeypatch: pytest.MonkeyPatch) -> None:
    photo = made.manifest.photos[0]
    first = masked.outputs(made, MASKING, photo, "lrp")

    def scores(*_: object) -> None:
        raise AssertionError("it is asked again")

    monkeypatch.setattr(cnn_scores, "_scores", scores)
    assert masked.outputs(made, MASKING, photo, "lrp") == first
    with pytest.raises(AssertionError, match="asked again"):
        masked.outputs(made, Masking((5.0,), "black"), photo, "lrp")


def test_it_is_asked_again_of_files_that_were_written_again(made: StimulusSet) -> None:
    """The manifest says nothing of what is in a score file."""
    photo = made.manifest.photos[0]
    first = masked.outputs(made, MASKING, photo, "lrp")
    path = made.folder / photo.scores["lrp"]
    np.save(path, -np.load(path))
    assert masked.outputs(made, MASKING, photo, "lrp")[0] != first[0]


def test_another_model_under_the_name_is_refused(made: StimulusSet, tmp_path: Path) -> None:
    other = stimuli.edited(made, lambda m: m["method"].update(sha256="0" * 64))
    with pytest.raises(StimuliError, match="mine was made with a different my/cnn") as refused:
        masked.outputs(other, MASKING, other.manifest.photos[0], "lrp")
    assert "build the set again" in refused.value.todo


def test_a_study_that_could_not_ask_the_model_is_found_by_its_check(
    made: StimulusSet, tmp_path: Path
) -> None:
    """Before anybody sits down, and without loading the model."""
    study = write_unmasking_study(tmp_path / "study", made, example=None)
    assert check(study, check_predictable).path == study
    stimuli.edited(made, lambda m: m["method"].update(sha256="0" * 64))
    with pytest.raises(StudyError, match=r"yaml, line \d+, .* made with a different my/cnn"):
        check(study, check_predictable)
    shutil.rmtree(tmp_path / "models")
    assert check(study, check_predictable).path == study, "nobody is asked"


def test_a_check_says_that_nobody_knows_what_the_model_makes_of_the_masked_pictures(
    made: StimulusSet, tmp_path: Path
) -> None:
    study = write_unmasking_study(tmp_path / "study", made, example=None)
    asked = MaskedPredictor()
    check(study, asked)
    assert not list(asked.notices()), "the model is there"
    shutil.rmtree(tmp_path / "models")
    check(study, asked)
    (notice,) = asked.notices()
    assert notice.startswith("Note: the model's answers to the masked pictures of mine are not")
    said = CliRunner().invoke(app, ["studies", "check", str(study)])
    assert said.exit_code == 0, "a session can be run all the same"
    assert notice in said.stdout.splitlines()


def test_a_set_of_other_classes_is_refused(made: StimulusSet) -> None:
    other = stimuli.edited(made, lambda m: m["classes"].reverse())
    said = "has the classes happiness, anger, but my/cnn distinguishes anger, happiness"
    with pytest.raises(StimuliError, match=said):
        masked.outputs(other, MASKING, other.manifest.photos[0], "lrp")


def test_without_the_model_the_set_speaks_for_it(
    made: StimulusSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / "models")
    assert masked.outputs(made, MASKING, made.manifest.photos[0], "lrp") == ()
    tiny = stimuli.write(tmp_path, "scores")
    photo = tiny.manifest.photos[0]
    of_study = Masking((5.0, 60.0))
    said = masked.outputs(tiny, of_study, photo, "edge")
    assert len(said) == 2
    assert said == find_recorded_outputs(tiny, of_study, photo, "edge")


def test_pictures_that_the_model_cannot_take_are_refused(model: Classifier) -> None:
    grey = np.full((96, 96), 7, np.uint8)
    assert masked.model_input(grey, model.card).shape == (1, 48, 48)
    assert (masked.model_input(grey, model.card) == 7).all()
    for odd in ((50, 50), (96, 48), (96, 96, 3)):
        with pytest.raises(StimuliError, match="cannot take a") as refused:
            masked.model_input(np.zeros(odd, np.uint8), model.card)
        assert "48 × 48" in refused.value.todo


def test_masked_pictures_written_for_others_are_the_same(
    made: StimulusSet, model: Classifier, tmp_path: Path
) -> None:
    """A lab that feeds the files to the same model finds the same logits."""
    masked_pictures.write(made, MASKING, tmp_path / "masked")
    photo = made.manifest.photos[0]
    said = masked.outputs(made, MASKING, photo, "guided_backprop")
    for percent, logits in zip(MASKING.percents, said, strict=True):
        name = f"guided_backprop/{photo.id}-{percent:g}.png"
        picture = pictures.native((tmp_path / "masked" / name).read_bytes(), name)
        found = model.scores(masked.model_input(picture, model.card)[None])[0]
        assert logits == pytest.approx(found.tolist(), abs=1e-4)
