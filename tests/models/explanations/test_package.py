"""Packages of classifiers: recipes, the command, the card's numbers, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.errors import ModelError, UsageError
from labapp.cli.main import app
from labapp.models import catalog as models_catalog
from labapp.models.datasets.birds import (
    GENERA,
    SITES,
    BirdRows,
    BodyPart,
    FieldMark,
    deciding_visibility,
    mark_places,
    part_map,
)
from labapp.models.explanations import data as recipes
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import train
from labapp.models.explanations.data import ClassifierRecipe, Schedule
from labapp.models.explanations.package import VISIBLE
from labapp.models.explanations.photos import Photos, load_photos
from labapp.models.training.loop import Progress
from tests.models.explanations.conftest import TINY


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with birds/resnet, by the real trainer."""
    root = tmp_path_factory.mktemp("models")
    recipe = root / "tiny.yaml"
    recipe.write_text(TINY.format(name="resnet"), encoding="utf-8")
    train(recipe, out=root)
    return root


@pytest.fixture
def root(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "models"))


def test_a_package_says_what_was_done_and_how_good_it_is(trained: Path) -> None:
    folder = trained / "birds" / "resnet"
    assert sorted(path.name for path in folder.iterdir()) == [cards.CARD, cards.WEIGHTS]
    assert not (trained / ".training" / "birds" / "resnet").exists()
    card = cards.read(folder)
    assert card.training.phases == {"classifying": 6}
    assert card.training.seconds > 0
    classifier = package.load("birds/resnet", root=trained)
    photos = load_photos(card.recipe.data.load().test)
    right = classifier.predicted(photos.pictures) == photos.species
    assert card.test.accuracy == pytest.approx(right.mean(), abs=1e-4)
    assert card.checks.method == "resnet"
    assert card.checks.pointing.pictures == 60


def test_a_run_that_was_killed_makes_the_same_package(
    trained: Path, recipe_of: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labapp.models.training.loop.REPORT_S", 0.0)

    def kill(progress: Progress) -> None:
        if progress.step == 3:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        train(recipe_of("resnet"), out=out, progress=kill, checkpoint_s=0)
    assert (out / ".training" / "birds" / "resnet" / "checkpoint.safetensors").is_file()
    seen: list[int] = []
    train(recipe_of("resnet"), out=out, progress=lambda one: seen.append(one.step))
    assert seen == [4, 5, 6]
    weights = Path("birds", "resnet", cards.WEIGHTS)
    assert (out / weights).read_bytes() == (trained / weights).read_bytes()


def test_the_commands_know_classifiers(
    root: Path, monkeypatch: pytest.MonkeyPatch, recipe_of: Callable[..., Path]
) -> None:
    (root / "birds" / "resnet").rename(root / "birds" / "own")
    card = root / "birds" / "own" / cards.CARD
    text = card.read_text(encoding="utf-8").replace("birds/resnet", "birds/own")
    card.write_text(text, encoding="utf-8")
    monkeypatch.setenv("LABAPP_MODELS", str(root))
    run = CliRunner().invoke
    rows = {row["id"]: row for row in json.loads(run(app, ["models", "list", "--json"]).stdout)}
    assert rows["birds/own"]["kind"] == "classifier"
    assert rows["birds/own"]["source"] == "own"
    assert "sinelines/vae" in rows
    accuracy = cards.read(card.parent).test.accuracy
    assert f"(accuracy {100 * accuracy:g} %)" in run(app, ["models", "list"]).stdout
    shown = json.loads(run(app, ["models", "show", "birds/own", "--json"]).stdout)
    assert shown["test"]["accuracy"] == accuracy
    assert "sheet" not in shown
    again = run(app, ["models", "evaluate", "birds/own"])
    assert again.exit_code == 0, again.output
    assert "agrees" in again.stdout

    refused = run(app, ["models", "train", str(recipe_of("resnet")), "--device", "cuda"])
    assert isinstance(refused.exception, UsageError)
    made = run(app, ["models", "train", str(recipe_of("bagnet")), "--out", str(root / "out")])
    assert made.exit_code == 0, made.output
    assert (root / "out" / "birds" / "bagnet" / cards.CARD).is_file()


def test_a_card_that_boasts_is_found_out(root: Path) -> None:
    folder = root / "birds" / "resnet"
    card = cards.read(folder)
    boast = card.test.model_copy(
        update={"hits": [60], "errors": 0, "accuracy": 1.0, "recall": [1.0] * 20}
    )
    weights = safetensors.numpy.load_file(folder / cards.WEIGHTS)
    shutil.rmtree(folder)
    package.write(folder, card.model_copy(update={"test": boast}), weights)
    result = evaluation.evaluate(folder)
    assert not result["agrees"]
    assert evaluation.table(result)[-1] == "does not agree"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("errors: ", "errors: 1", "hits sum to"),
        ("accuracy: 0", "accuracy: 1", "accuracy"),
        ("steps: 6", "steps: 7", "a different recipe"),
        ("method: resnet", "method: bagnet", "checks"),
        ("card: 1", "card: 2", "card"),
    ],
)
def test_a_card_that_does_not_add_up_is_refused(root: Path, old: str, new: str, said: str) -> None:
    path = root / "birds" / "resnet" / cards.CARD
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=said) as refused:
        package.load("birds/resnet", root=root)
    assert cards.CARD in refused.value.what
    assert models_catalog.models(root)[0]["problem"] == refused.value.what


def test_weights_that_are_others_are_refused(root: Path) -> None:
    path = root / "birds" / "resnet" / cards.WEIGHTS
    weights = safetensors.numpy.load_file(path)
    safetensors.numpy.save_file({**weights, "head.bias": weights["head.bias"] + 1}, path)
    with pytest.raises(ModelError, match="not the file listed on its model card"):
        package.load("birds/resnet", root=root)
    path.unlink()
    with pytest.raises(ModelError, match="is missing from the model package"):
        package.load("birds/resnet", root=root)


def test_weights_of_another_network_are_refused(root: Path) -> None:
    folder = root / "birds" / "resnet"
    weights = safetensors.numpy.load_file(folder / cards.WEIGHTS)
    del weights["head.bias"]
    other = package.write(root / "birds" / "other", cards.read(folder), weights)
    with pytest.raises(ModelError, match=r"head\.bias"):
        package.load(other)


def test_a_package_under_another_id_is_refused(root: Path) -> None:
    (root / "birds" / "resnet").rename(root / "birds" / "bagnet")
    with pytest.raises(ModelError, match="is 'birds/resnet'"):
        package.load("birds/bagnet", root=root)
    assert package.load(root / "birds" / "bagnet").card.id == "birds/resnet"


def test_a_package_is_never_overwritten(root: Path, recipe_of: Callable[..., Path]) -> None:
    with pytest.raises(ModelError, match="never overwritten"):
        train(recipe_of("resnet"), out=root)


SHIPPED = sorted((resources.models() / "recipes").glob("birds-*.yaml"))

FACES = resources.models() / "recipes" / "faces-cnn.yaml"

CARDS = sorted(path.parent for path in (resources.models() / "birds").glob(f"*/{cards.CARD}"))

OTHER = resources.models() / "recipes" / "sinelines-vae.yaml"


def test_a_recipe_is_read_with_its_defaults(recipe_of: Callable[..., Path]) -> None:
    recipe = recipes.read(recipe_of("bagnet"))
    assert recipe.method.model_dump() == {"name": "bagnet", "field": 33}
    assert recipe.schedule.weight_decay == 0.05
    data = recipe.data.load()
    assert (len(data.train), len(data.validation), len(data.test)) == (40, 20, 60)
    assert data.test.size == 48
    assert data.test.seed == 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: resnet", "name: forest", "method"),
        ("size: 48", "size: 50", "multiple of 8"),
        ("train: 2", "train: 0", "train"),
        ("peak: 0.003", "peak: .inf", "peak"),
        ("batch: 8", "batch: 1", "batch"),
        ("seed: 2", "seed: -1", "seed"),
        ("title: Tiny", "titel: Tiny", "titel"),
        ("id: birds/resnet", "id: ../resnet", "id"),
    ],
)
def test_what_is_wrong_is_named(
    recipe_of: Callable[..., Path], old: str, new: str, said: str
) -> None:
    path = recipe_of("resnet", **{old: new})
    with pytest.raises(ModelError, match=said) as refused:
        recipes.read(path)
    assert str(path) in refused.value.what
    assert refused.value.todo


def test_the_digest_is_of_what_decides_the_weights(recipe_of: Callable[..., Path]) -> None:
    base = recipes.read(recipe_of("resnet")).digest
    assert recipes.read(recipe_of("resnet", Tiny="Other")).digest == base
    for old, new in (("seed: 2", "seed: 3"), ("train: 2", "train: 3"), ("steps: 6", "steps: 7")):
        assert recipes.read(recipe_of("resnet", **{old: new})).digest != base


class LaterSchedule(Schedule):
    """A setting that recipes learned later, and a default that is another now."""

    momentum: float = 0.9
    weight_decay: float = 0.1


class LaterRecipe(ClassifierRecipe):
    schedule: LaterSchedule


@pytest.mark.parametrize("folder", CARDS, ids=lambda folder: folder.name)
def test_later_settings_and_defaults_leave_shipped_cards_valid(folder: Path) -> None:
    card = cards.read(folder)
    said = card.recipe.model_dump()
    later = LaterRecipe.model_validate(said)
    assert later.schedule.model_fields_set < set(LaterSchedule.model_fields)
    assert later.digest == card.training.recipe_sha256
    said["schedule"]["momentum"] = 0.9
    assert LaterRecipe.model_validate(said).digest != card.training.recipe_sha256


def test_a_default_is_the_same_said_or_not(recipe_of: Callable[..., Path]) -> None:
    base = recipes.read(recipe_of("bagnet"))
    said = recipes.read(recipe_of("bagnet", **{"name: bagnet": "name: bagnet, field: 33"}))
    assert said.digest == base.digest
    assert said == base


def test_recipes_of_classifiers_are_told_from_others(tmp_path: Path) -> None:
    assert SHIPPED
    assert all(recipes.is_classifier_recipe(path) for path in [*SHIPPED, FACES])
    assert not recipes.is_classifier_recipe(OTHER)
    assert not recipes.is_classifier_recipe(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("method: [", encoding="utf-8")
    assert not recipes.is_classifier_recipe(tmp_path / "bad.yaml")


@pytest.mark.parametrize("path", [*SHIPPED, FACES], ids=lambda path: path.stem)
def test_a_shipped_recipe_is_named_after_its_model(path: Path) -> None:
    assert recipes.read(path).id.replace("/", "-") == path.stem


def test_shipped_classifiers_see_the_same_test_pictures() -> None:
    parts = {recipes.read(path).birds.load().test for path in SHIPPED}
    assert len(parts) == 1


ROWS = BirdRows("test", 6, seed=4, size=48)


def photos() -> Photos[BirdRows]:
    """All 120 rows, without pictures."""
    return Photos(ROWS, np.zeros((120, 3, 1, 1), np.uint8), ROWS.labels(np.arange(120)))


def test_the_numbers_are_those_counted_by_hand() -> None:
    some = photos()
    predicted = some.species.copy()
    inside = np.arange(0, 120, 4)  # the first sister of each genus, taken for the second
    predicted[inside] += 1
    predicted[3] = 19  # across genera
    found = evaluation.bird_test(some, predicted)
    assert found.errors == 31
    assert found.accuracy == pytest.approx(89 / 120, abs=1e-4)
    assert found.genus_accuracy == pytest.approx(119 / 120, abs=1e-4)
    assert found.usable == 30
    assert found.inside_genus == pytest.approx(30 / 31, abs=1e-4)
    assert found.recall[0] == 0
    assert found.recall[3] == pytest.approx(5 / 6, abs=1e-4)
    assert found.recall[1] == 1
    assert found.hits == [100 - 26, 20 - 5]
    seen = [deciding_visibility(ROWS.bird(int(row))) >= VISIBLE for row in inside]
    assert found.decidable == pytest.approx(np.mean(seen), abs=1e-4)


def test_a_classifier_without_errors_has_nothing_usable() -> None:
    found = evaluation.bird_test(photos(), photos().species)
    assert (found.accuracy, found.errors, found.usable, found.decidable) == (1, 0, 0, 0)


def middle(there: np.ndarray) -> tuple[float, float]:
    """A pixel that is there, about in the middle of all."""
    at = np.argwhere(there)
    y, x = at[np.abs(at - at.mean(0)).sum(1).argmin()]
    return float(y), float(x)


def test_peaks_on_marks_point_and_those_in_a_corner_do_not() -> None:
    birds = [ROWS.bird(row) for row in range(40)]
    on_mark = [middle(mark_places(bird, 96)[GENERA[bird.genus].deciding[0]]) for bird in birds]
    found = evaluation.pointing(np.array(on_mark, np.float32), birds, 96)
    assert found.on_mark == 1
    assert found.pictures == 40
    assert 0.03 < found.by_chance < 0.3
    corner = evaluation.pointing(np.full((40, 2), 95, np.float32), birds, 96)
    assert corner.on_mark == 0
    assert corner.on_bird == 0
    bodies = [middle(part_map(bird, 96) == BodyPart.BODY) for bird in birds]
    assert evaluation.pointing(np.array(bodies, np.float32), birds, 96).on_bird == 1


def test_marks_that_are_seen_lie_in_their_places() -> None:
    for bird in (ROWS.bird(row) for row in range(20)):
        parts, places = part_map(bird, 96), mark_places(bird, 96)
        assert places.shape == (6, 96, 96)
        for mark in FieldMark:
            assert places[mark].any(), "the place of an absent mark is known too"
            assert not ((parts == SITES[mark]) & ~places[mark]).any()


def test_peaks_are_where_positions_look() -> None:
    maps = np.zeros((2, 12, 12), np.float32)
    maps[0, 3, 11] = maps[1, 0, 5] = 1
    assert evaluation.peaks(maps, 8).tolist() == [[24, 88], [0, 40]]


def test_sisters_with_the_same_map_agree_wholly() -> None:
    random = np.random.default_rng(0)
    maps = random.random((3, 20, 4, 4), dtype=np.float32)
    species = np.array([0, 6, 19])
    assert abs(evaluation.sisters(maps, species)) < 0.5
    maps[:] = maps[:, :1]
    assert evaluation.sisters(maps, species) == pytest.approx(1)
    maps[0, :4] = 0
    assert evaluation.sisters(maps, species) == pytest.approx(2 / 3, abs=1e-4)


def test_classes_without_genera_are_counted_by_hand() -> None:
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    predicted = np.array([0, 0, 0, 1, 1, 1, 0, 0])
    found = evaluation.class_test(labels, predicted, ("a", "b", "c"))
    assert found.confusion == [[3, 1, 0], [1, 2, 0], [1, 0, 0]]
    assert (found.pictures, found.errors, found.hits) == (8, 3, [5])
    assert found.accuracy == 0.625
    a, b, c = found.classes.values()
    assert (a.precision, a.recall, a.support) == (0.6, 0.75, 4)
    assert a.f1 == pytest.approx(2 * 0.6 * 0.75 / 1.35, abs=1e-4)
    assert (b.precision, b.recall, b.support) == (0.6667, 0.6667, 3)
    assert (c.precision, c.recall, c.f1, c.support) == (0, 0, 0, 1), "never named: no division"
    assert found.average.recall == found.accuracy
    assert found.average.precision == pytest.approx((4 * 0.6 + 3 * 2 / 3) / 8, abs=1e-4)
    assert found.average.support == 8
