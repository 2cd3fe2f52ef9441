"""What holds of every concept learner: how it learns, goes on, and what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from labapp.base.errors import ModelError
from labapp.models.concepts import training
from labapp.models.concepts.learner import ConceptLearner, Setup, TrainingRows, build
from labapp.models.concepts.recipe import SIZES, LearnerSettings, Size
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance

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
    with pytest.raises(ModelError, match="2 codes, and there are 3 concepts"):
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
