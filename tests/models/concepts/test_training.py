"""Training: a function of its recipe, killed or not, and what a package says of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import ModelError
from labapp.models.concepts import card as cards
from labapp.models.concepts import package, training
from labapp.models.concepts.card import CODES, INTERVENTION, WEIGHTS
from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.recipe import ConceptRecipe
from labapp.models.concepts.training import intervene
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.training import loop
from labapp.models.training.loop import Progress
from tests.models.concepts.conftest import BOTTLENECKS, rows_of, sprites, toy

FILES = (WEIGHTS, CODES, INTERVENTION)


class Interrupted(Exception):
    pass


def stop_at(step: int) -> Callable[[Progress], None]:
    def callback(progress: Progress) -> None:
        if progress.step == step:
            raise Interrupted

    return callback


@pytest.mark.parametrize(
    ("recipe", "stop"), [(toy(), 30), (sprites(predictor=[8]), 19)], ids=["toy", "pictures"]
)
def test_an_interrupted_run_ends_with_the_very_bytes_of_an_uninterrupted_one(
    recipe: ConceptRecipe, stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "REPORT_S", 0.0)
    whole = training.train(recipe, out=tmp_path / "whole")
    out = tmp_path / "stopped"
    with pytest.raises(Interrupted):
        training.train(recipe, out=out, progress=stop_at(stop), checkpoint_s=0.0)
    assert not (out / recipe.id).exists()
    seen: list[int] = []
    folder = training.train(recipe, out=out, progress=lambda progress: seen.append(progress.step))
    assert seen[0] == stop + 1
    for name in FILES:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_killed_process_is_resumed_to_the_same_weights(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    code = (
        "import sys; from pathlib import Path; from labapp.models.concepts import training; "
        "from tests.models.concepts.conftest import toy; "
        "training.train(toy('cbm'), out=Path(sys.argv[1]), checkpoint_s=0.0)"
    )
    state = tmp_path / ".training/tiny/model" / loop.FILE
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    deadline = time.monotonic() + 60
    while not state.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(timeout=30)
    assert state.exists(), "the child left nothing to go on from"
    folder = training.train(toy("cbm"), out=tmp_path)
    assert (folder / WEIGHTS).read_bytes() == (folders["cbm"] / WEIGHTS).read_bytes()
    assert not state.exists()


def test_another_seed_has_other_weights(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = training.train(toy("cbm"), seed=3, out=tmp_path)
    assert folder == tmp_path / "tiny/model-seed3"
    assert (folder / WEIGHTS).read_bytes() != (folders["cbm"] / WEIGHTS).read_bytes()


def test_another_seed_or_size_has_an_id_of_its_own() -> None:
    assert toy("cbm").of("S", 3).id == "tiny/model-seed3"
    assert toy("cbm").of("L", 3).id == "tiny/model-l-seed3"
    assert toy("cbm").of("S", 0) == toy("cbm")


def test_the_card_says_how_the_model_came_about_and_how_good_it_is(
    folders: dict[str, Path],
) -> None:
    card = cards.read(folders["cbm-logits"])
    assert card.recipe == toy()
    assert card.training.phases == {"concepts and classes": 20}
    assert (card.data.train, card.data.test, card.data.origin) == (600, 300, "computed")
    assert card.test.task is not None
    assert card.test.task > 0.9
    assert card.scores.keys() == {
        "ois",
        "ois_published",
        "ois_standardised",
        "nis",
        "nis_published",
        "nis_trained",
    }
    assert all(0 < score < 1.5 for score in card.scores.values())


def test_a_package_is_never_overwritten(folders: dict[str, Path]) -> None:
    folder = folders["cbm"]
    with pytest.raises(ModelError, match="never overwritten"):
        training.train(toy("cbm"), out=folder.parents[1])


def test_what_is_loaded_gives_the_codes_that_were_measured(folders: dict[str, Path]) -> None:
    for name in BOTTLENECKS:
        folder = folders[name]
        model = package.load(folder)
        card = model.card
        rows = card.recipe.data.load(card.recipe.measures).split.test
        stored = package.codes(folder, card)
        np.testing.assert_allclose(model.codes(rows), stored["codes"], atol=1e-6)
        np.testing.assert_array_equal(rows.concepts_of, stored["concepts"])
        logits = model.task_logits(rows)
        assert logits is not None
        np.testing.assert_allclose(model.predict_from(model.codes(rows)), logits, atol=1e-5)
        assert (logits.argmax(axis=1) == rows.labels_of).mean() == pytest.approx(
            card.test.task, abs=1e-4
        )


def test_logits_are_set_to_percentiles_of_training_codes_and_probabilities_to_0_and_1(
    models: dict[str, ConceptModel],
) -> None:
    np.testing.assert_array_equal(models["cbm"].values, [[0, 1]] * 3)
    logits = models["cbm-logits"]
    recipe = logits.card.recipe
    train = recipe.data.load(recipe.measures).split.train
    below, above = np.percentile(logits.codes(train), [5, 95], axis=0)
    np.testing.assert_allclose(logits.values, np.stack([below, above], axis=1), atol=1e-5)


def test_other_values_take_the_place_of_the_models_own(models: dict[str, ConceptModel]) -> None:
    model = models["cbm"]
    rows = rows_of(model)
    swapped = intervene(model, rows, [0, 1, 2], np.array([[1.0, 0.0]] * 3))
    opposite = ConceptRows(rows.rows, 1 - rows.concepts_of, rows.labels_of)
    np.testing.assert_allclose(swapped, intervene(model, opposite, [0, 1, 2]))


def test_what_cannot_be_set_is_refused(models: dict[str, ConceptModel]) -> None:
    model = models["cbm"]
    for setting in ({3: 1}, {0: 2}):
        with pytest.raises(ModelError, match="cannot be set"):
            model.intervened(rows_of(model), setting)
    without = ConceptModel(model._learner)
    with pytest.raises(ModelError, match="None of the concepts"):
        intervene(without, rows_of(model), [0])


def test_a_damaged_package_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for path in folders["cbm"].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (folder / WEIGHTS).write_bytes(content)
    with pytest.raises(ModelError, match="not the file of its model card"):
        package.load(folder)
    text = (folder / "concepts.yaml").read_text(encoding="utf-8")
    (folder / "concepts.yaml").write_text(text.replace("alpha: 0.1", "alpha: 0.2"))
    with pytest.raises(ModelError, match="another recipe"):
        package.load(folder)
