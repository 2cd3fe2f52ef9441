"""Concept learners: recipes, training, measuring, and what holds of every learner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from labapp.base.errors import ModelError
from labapp.models.concepts import card as cards
from labapp.models.concepts import package, training
from labapp.models.concepts.card import CODES, INTERVENTION, WEIGHTS
from labapp.models.concepts.learner import (
    ConceptLearner,
    ConceptModel,
    Setup,
    TrainingRows,
    build,
    in_memory,
)
from labapp.models.concepts.recipe import SIZES, ConceptData, ConceptRecipe, LearnerSettings, Size
from labapp.models.concepts.training import intervene
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance
from tests.helpers.waiting import wait_for
from tests.models.concepts.conftest import BOTTLENECKS, brief_ois, recipe, rows_of, sprites, toy

TINY = Size("S", None, None, 32, 2, 3, 2e-3, published=False)

PICTURES, NUMBERS = (1, 32, 32), (7,)

LEARNERS: dict[str, dict[str, Any]] = {
    "cbm": {"name": "cbm"},
    "cbm-logits": {"name": "cbm-logits"},
    "cw": {"name": "cw"},
    "ccd": {"name": "ccd"},
    "senn": {"name": "senn"},
    "senn-variational": {"name": "senn", "variational": True},
    "vae": {"name": "vae"},
    "beta-vae": {"name": "beta-vae"},
    "ada-gvae": {"name": "ada-gvae"},
    "ada-mlvae": {"name": "ada-mlvae"},
}

SUPERVISED = [name for name in LEARNERS if "vae" not in name]

CASES: list[tuple[str, tuple[int, ...]]] = [
    (name, shape) for shape in (PICTURES, NUMBERS) for name in LEARNERS
]


def made(name: str, shape: tuple[int, ...], size: Size = TINY, **settings: Any) -> ConceptLearner:
    adapter: TypeAdapter[LearnerSettings] = TypeAdapter(LearnerSettings)
    classes = 2 if len(shape) == 1 else 8
    setup = Setup(shape, 3, classes, size, 0)
    return build(adapter.validate_python({**LEARNERS[name], **settings}), setup)


def rows(shape: tuple[int, ...], count: int = 80) -> TrainingRows:
    """A picture has a bright corner for each concept, and classes are their number; of numbers the
    first three say them."""
    rng = np.random.default_rng(0)
    concepts = rng.integers(0, 2, (count, 3))
    if len(shape) == 1:
        x = torch.from_numpy(rng.standard_normal((count, *shape)).astype(np.float32))
        x[:, :3] += 2 * torch.from_numpy(concepts)
        labels = (concepts.sum(axis=1) > 1).astype(np.int64)
    else:
        x = torch.from_numpy(rng.integers(0, 60, (count, *shape), dtype=np.uint8))
        half = shape[1] // 2
        for place, (top, left) in enumerate([(0, 0), (0, half), (half, 0)]):
            x[concepts[:, place] == 1, :, top : top + half, left : left + half] += 180
        labels = concepts @ [4, 2, 1]
    return TrainingRows(x, torch.from_numpy(concepts).float(), torch.from_numpy(labels))


@pytest.mark.parametrize("shape", [PICTURES, NUMBERS])
@pytest.mark.parametrize("name", LEARNERS)
def test_initial_weights_are_those_of_keras_or_of_pytorch(
    name: str, shape: tuple[int, ...]
) -> None:
    """Glorot's spread follows inputs and outputs, that of PyTorch the inputs alone."""
    for how in (None, "fan-in"):
        learner = made(name, shape, initial_weights=how)
        layers = [
            module
            for module in learner.networks.modules()
            if isinstance(module, torch.nn.Linear | torch.nn.Conv2d | torch.nn.ConvTranspose2d)
        ]
        assert layers
        for layer in layers:
            inputs = layer.weight[0].numel()
            both = inputs + len(layer.weight) * layer.weight[0, 0].numel()
            most = inputs**-0.5 if how else (6 / both) ** 0.5
            assert layer.weight.abs().max() <= most
            if layer.weight.numel() > 50:
                assert layer.weight.abs().max() > 0.8 * most
            assert layer.bias is not None
            assert layer.bias.any() == (how is not None)


class Interrupted(Exception):
    pass


def fitted(
    learner: ConceptLearner, learned: TrainingRows, state: Path, *, stop: int | None = None
) -> ConceptLearner:
    def progress(at: Progress) -> None:
        if at.step == stop:
            raise Interrupted

    training.fit(
        learner,
        learned,
        seed=0,
        provenance=Provenance("tiny", "cpu", 1),
        state=state,
        progress=progress,
        checkpoint_s=0.0 if stop else np.inf,
    )
    return learner


@pytest.mark.parametrize(("name", "shape"), CASES, ids=lambda value: str(value))
def test_a_run_that_was_broken_off_in_its_last_phase_ends_as_one_that_was_not(
    name: str, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "REPORT_S", 0.0)
    learned = rows(shape)
    first = made(name, shape)
    per_epoch = -(-len(first.epoch(learned, np.random.default_rng(0))) // first.batch)
    before = sum(phase.epochs * per_epoch for phase in first.phases[:-1])
    whole = fitted(first, learned, tmp_path / "whole")
    with pytest.raises(Interrupted):
        fitted(made(name, shape), learned, tmp_path / "stopped", stop=before + 2)
    resumed = fitted(made(name, shape), learned, tmp_path / "stopped")
    untrained = made(name, shape).networks.state_dict()
    changed = False
    for key, value in whole.networks.state_dict().items():
        assert torch.equal(value, resumed.networks.state_dict()[key]), key
        changed = changed or not torch.equal(value, untrained[key])
    assert changed


@pytest.mark.parametrize(("name", "shape"), CASES, ids=lambda value: str(value))
def test_codes_and_answers_have_their_shapes(name: str, shape: tuple[int, ...]) -> None:
    learner = made(name, shape)
    learner.networks.eval()
    x = rows(shape, 10).batch(np.arange(10)).x
    for as_published in (False, True):
        assert learner.codes(x, as_published=as_published).shape == (10, 3)
    logits = learner.task_logits(x)
    if name in SUPERVISED:
        assert logits is not None
        assert logits.shape == (10, 2 if shape == NUMBERS else 8)
    else:
        assert logits is None
        assert learner.predict_from(learner.codes(x)) is None
    # A picture's codes do not depend on those it is computed with.
    alone = learner.codes(x[3:4])
    torch.testing.assert_close(alone, learner.codes(x)[3:4], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "shape"), CASES, ids=lambda value: str(value))
def test_every_phase_lowers_its_loss(name: str, shape: tuple[int, ...]) -> None:
    learned = rows(shape)
    for phase in range(len(made(name, shape).phases)):
        learner = made(name, shape)
        learner.networks.train()
        own = learner.begin(phase, learned)
        chosen = learner.epoch(learned, np.random.default_rng(0))[: learner.batch]
        losses = [
            float(learner.step(own.batch(chosen), np.random.default_rng(1), 0.3)["loss"])
            for _ in range(25)
        ]
        # CW turns its rotation towards concepts, not towards the classes.
        if learner.phases[phase].name != "rotation alone":
            assert losses[-1] < losses[0] - 0.01


@pytest.mark.parametrize("setting", [("senn", "units"), ("ccd", "directions"), ("vae", "units")])
def test_fewer_codes_than_concepts_are_refused_before_training(setting: tuple[str, str]) -> None:
    name, of = setting
    with pytest.raises(ModelError, match="2 codes, but there are 3 concepts"):
        made(name, NUMBERS, **{of: 2})
    assert made(name, NUMBERS, **{of: 4}).codes(rows(NUMBERS).x).shape == (80, 4)


def test_sizes_are_those_of_the_paper_where_they_should_be() -> None:
    large = {name: made(name, PICTURES, size=SIZES["L"]) for name in LEARNERS}
    assert {name: learner.batch for name, learner in large.items()} == {
        **dict.fromkeys(LEARNERS, 32),
        "cw": 128,
    }
    assert [phase.epochs for phase in large["cw"].phases] == [50, 50]
    assert [phase.epochs for phase in large["ccd"].phases] == [100, 50]
    assert [phase.epochs for phase in made("cw", NUMBERS, size=SIZES["M"]).phases] == [300, 300]
    for name in ("vae", "beta-vae", "ada-gvae", "ada-mlvae"):
        assert [phase.epochs for phase in large[name].phases] == [100]
    senn = made("senn", PICTURES, size=SIZES["L"], epochs=50, variational=True)
    assert [phase.epochs for phase in senn.phases] == [50, 50]
    assert made("senn", PICTURES, size=SIZES["M"], epochs=50).phases[0].epochs == 15


TOY = {"dataset": "toy"}

SPRITES = {"dataset": "dsprites", "concepts": 4, "pixels": 32}


def untrained(source: dict[str, Any], learner: dict[str, Any]) -> tuple[ConceptModel, ConceptData]:
    made = recipe(source, learner)
    data = made.data.load(made.measures)
    names, classes = data.split.concept_names, data.split.classes
    setup = Setup(data.shape, len(names), classes, made.measures, made.seed)
    return ConceptModel(build(made.learner, setup)), data


def test_of_discovered_codes_completeness_is_measured(tmp_path: Path) -> None:
    model, data = untrained(TOY, {"name": "ccd"})
    training.fit(
        model._learner,
        in_memory(data.split.train),
        seed=0,
        provenance=Provenance("tiny", "cpu", 1),
        state=tmp_path,
    )
    rows = data.split.test
    codes = model.codes(rows)
    logits, through = model.task_logits(rows), model.predict_from(codes)
    assert logits is not None
    assert through is not None
    network, concepts = (
        float((answers.argmax(axis=1) == rows.labels_of).mean()) for answers in (logits, through)
    )
    chance = max(rows.labels_of.mean(), 1 - rows.labels_of.mean())
    assert network > 0.9
    measured = training.complete(model, rows, codes, network)
    expected = (concepts - chance) / (network - chance)
    assert measured == {"completeness": pytest.approx(expected, abs=1e-4)}
    assert 0.2 < expected < 1.2
    assert training.complete(model, rows, codes, chance) == {}


def test_as_published_other_codes_are_scored() -> None:
    model, data = untrained(TOY, {"name": "senn", "units": 4})
    rows = data.split.test
    codes = model.codes(rows)
    scores = training.scores(model, data, codes, model.codes(data.split.train))
    concepts = rows.concepts_of.astype(np.float64)
    published = model.codes(rows, as_published=True)
    assert scores["ois"] == pytest.approx(brief_ois(codes, concepts, align=True).score, abs=1e-4)
    assert scores["ois_published"] == pytest.approx(
        brief_ois(published, concepts, align=True, as_published=True).score, abs=1e-4
    )
    assert "ois_maps" not in scores
    assert training.complete(model, rows, codes, 0.9) == {}


def test_maps_are_scored_beside_what_sums_them_up() -> None:
    model, data = untrained(SPRITES, {"name": "cw"})
    rows = data.split.test
    maps = model.maps(rows)
    assert maps is not None
    assert maps.shape == (300, 4, 4, 4)
    codes = model.codes(rows)
    scores = training.scores(model, data, codes, model.codes(data.split.train))
    flat = maps.reshape(300, 4, 16)
    expected = brief_ois(flat, rows.concepts_of.astype(np.float64)).score
    assert scores["ois_maps"] == pytest.approx(expected, abs=1e-4)


def test_the_release_aligns_self_explained_concepts_of_numbers_alone() -> None:
    assert untrained(TOY, {"name": "senn"})[0].aligned_as_published
    of_pictures = untrained(SPRITES, {"name": "senn"})[0]
    assert of_pictures.aligned
    assert not of_pictures.aligned_as_published
    assert not untrained(SPRITES, {"name": "cw"})[0].aligned


FILES = (WEIGHTS, CODES, INTERVENTION)


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
    wait_for(lambda: state.exists() or child.poll() is not None)
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
    with pytest.raises(ModelError, match="not the file listed on its model card"):
        package.load(folder)
    text = (folder / "concepts.yaml").read_text(encoding="utf-8")
    (folder / "concepts.yaml").write_text(text.replace("alpha: 0.1", "alpha: 0.2"))
    with pytest.raises(ModelError, match="a different recipe"):
        package.load(folder)
