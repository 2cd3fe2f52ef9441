"""Packages of classifiers: from a recipe by the command, and refused when they are not whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.numpy
from typer.testing import CliRunner

from labapp.base.errors import ModelError, UsageError
from labapp.cli.main import app
from labapp.models import catalog as models_catalog
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.classifier import train
from labapp.models.explanations.photos import load_photos
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
        ("steps: 6", "steps: 7", "another recipe"),
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
    with pytest.raises(ModelError, match="not the file of its model card"):
        package.load("birds/resnet", root=root)
    path.unlink()
    with pytest.raises(ModelError, match="lacks"):
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
    with pytest.raises(ModelError, match="calls itself 'birds/resnet'"):
        package.load("birds/bagnet", root=root)
    assert package.load(root / "birds" / "bagnet").card.id == "birds/resnet"


def test_a_package_is_never_overwritten(root: Path, recipe_of: Callable[..., Path]) -> None:
    with pytest.raises(ModelError, match="never overwritten"):
        train(recipe_of("resnet"), out=root)
