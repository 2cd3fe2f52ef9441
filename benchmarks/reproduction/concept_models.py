"""Trains a concept learner that figures ask for, and measures it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.neural_network import MLPClassifier
from torch import Tensor

from benchmarks.reproduction import concept_measures as measures
from benchmarks.reproduction import stopping
from benchmarks.reproduction.concept_measures import Codes
from benchmarks.reproduction.printing import metric
from benchmarks.reproduction.probe_figures import (
    LONG_PROBE_EPOCHS,
    PROBE_EPOCHS,
    TOY_PROBE_EPOCHS,
)
from benchmarks.reproduction.results import BOTTLENECKS, Asked
from benchmarks.reproduction.table_a1 import LISTED
from labapp.models.concepts import card as cards
from labapp.models.concepts import package
from labapp.models.concepts.card import ConceptCard
from labapp.models.concepts.learner import ConceptLearner, ConceptModel, Setup, build, in_memory
from labapp.models.concepts.recipe import ConceptData, ConceptRecipe, SizeName
from labapp.models.concepts.training import fit, interventions, steps_of
from labapp.models.datasets.concepts.rows import ChangedRows, ConceptRows, UInt8
from labapp.models.datasets.concepts.sprites import BACKGROUND
from labapp.models.datasets.split import Float32, Float64, Int64, Rows
from labapp.models.metrics.roc import class_auc
from labapp.models.training import loop
from labapp.models.training.loop import Provenance, Run, versions

THREADS = 1
"""Of torch: sums come out otherwise with another number."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A model with its task; `codes` of the test rows and of those learned from."""

    recipe: ConceptRecipe
    data: ConceptData
    model: ConceptModel
    codes: Codes


@dataclass(frozen=True, slots=True)
class Training:
    """How a model came about, for the file of results.

    Attributes
    ----------
    cpu_seconds : of a model from a package, the wall time that its card states.
    resumed : whether it went on from a checkpoint: the time of its earlier parts is not known.
    rule : when it was to stop, in words, where that was not fixed beforehand.
    on_gpu : what it was trained on, where that was no CPU: the device and the seconds of it that
        were its share, as other models were trained at the same time.
    """

    epochs: int
    cpu_seconds: float
    versions: Mapping[str, str]
    of_package: bool = False
    resumed: bool = False
    rule: str = ""
    on_gpu: Mapping[str, Any] | None = None


def trained(
    asked: Asked,
    size: SizeName,
    seed: int,
    extra: frozenset[str],
    work: Path,
    packages: Path | None = None,
    known: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The result of a learner, for the file of results.

    Parameters
    ----------
    extra : which of `EXTRA` are measured besides.
    work : folder of checkpoints; a training that was broken off goes on from there.
    packages : folder of trained models; one of the same recipe is not trained again.
    known : the result of this recipe, size and seed that lacks some of `extra`. Where the model
        comes out the same, these alone are measured, and the rest is taken from there.
    """
    recipe = asked.recipe(size, seed)
    torch.set_num_threads(THREADS)
    began = time.process_time()
    data = loaded(recipe)
    state = work / recipe.digest[:16]
    ready = None if packages is None else _package(recipe, packages)
    if ready is not None:
        model, card = ready
        epochs, of_package = sum(card.training.phases.values()), True
        training = Training(epochs, card.training.seconds, versions(), of_package)
    else:
        resumed = state.exists()
        learner = learner_of(recipe, data)
        epochs = _fitted(asked, recipe, data, learner, state)
        model = answering(learner, data)
        rule = stopping.RULE if stops(asked, recipe) else ""
        training = Training(
            epochs, time.process_time() - began, versions(), resumed=resumed, rule=rule
        )
    result = measured(asked, recipe, data, model, training, extra, known)
    loop.clear(state)
    return result


def stops(asked: Asked, recipe: ConceptRecipe) -> bool:
    """Whether a training is stopped by `stopping`."""
    return asked.until_learnt and recipe.size == "L"


def _fitted(
    asked: Asked, recipe: ConceptRecipe, data: ConceptData, learner: ConceptLearner, state: Path
) -> int:
    """Trains a learner. Returns the epochs that it took, of all phases."""
    rows = in_memory(data.split.train)
    provenance = Provenance(recipe.digest, "cpu", THREADS)

    def fit_all() -> int:
        fit(learner, rows, seed=recipe.seed, provenance=provenance, state=state)
        return sum(phase.epochs for phase in learner.phases)

    if not stops(asked, recipe):
        return fit_all()
    # As long as the rule has it at least, or as long as an earlier part of it took, then epoch by
    # epoch: each goes on from the state that the one before left.
    run = Run(learner)
    loop.restore(state, run, provenance)
    done = math.ceil(run.iteration / steps_of(learner, len(rows)))
    (phase,) = learner.phases

    def descend(optimizer: torch.optim.Adam, loss: Tensor, done: float) -> None:
        for group in optimizer.param_groups:
            group["lr"] = stopping.rate(done * learner.phases[0].epochs)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    learner.descend = descend  # type: ignore[method-assign]
    for epochs in range(max(stopping.LEAST, done), stopping.MOST + 1):
        learner.phases = (replace(phase, epochs=epochs),)
        fit_all()
        if stopping.is_over(epochs, concept_accuracies(ConceptModel(learner), data)):
            break
    return epochs


def concept_accuracies(model: ConceptModel, data: ConceptData) -> list[float]:
    """Of each concept, on validation rows, for a model that believes some."""
    assert data.validation is not None
    each: list[float] = _accuracies(model, data.validation)["concept_accuracies"].tolist()
    return each


_TASKS: dict[tuple[str, int | None, int | None, int], ConceptData] = {}


def loaded(recipe: ConceptRecipe, pictures: Sequence[UInt8] | None = None) -> ConceptData:
    """A recipe's task, its pictures drawn once for all recipes: up to 250 MB of memory each.

    pictures : those of its rows for training, validation and test, where they are drawn already.
    """
    size = recipe.measures
    key = (recipe.data.model_dump_json(), size.train, size.test, size.pixels)
    if key not in _TASKS:
        task = recipe.data.load(size)
        if not task.tabular:
            assert task.validation is not None
            parts = (task.split.train, task.validation, task.split.test)
            train, validation, test = (
                held(rows, drawn)
                for rows, drawn in zip(parts, pictures or map(drawn_once, parts), strict=True)
            )
            split = replace(task.split, train=train, test=test)
            task = replace(task, split=split, validation=validation)
        _TASKS[key] = task
    return _TASKS[key]


def load_all(recipes: Sequence[ConceptRecipe]) -> None:
    """Loads the tasks of all these recipes, each in a process of its own."""
    tasks = list({recipe.data.model_dump_json(): recipe for recipe in recipes}.values())
    with ProcessPoolExecutor(len(tasks), get_context("fork")) as pool:
        for recipe, pictures in zip(tasks, pool.map(_pictures, tasks), strict=True):
            loaded(recipe, pictures)


def _pictures(recipe: ConceptRecipe) -> list[UInt8] | None:
    """Of the rows for training, validation and test."""
    task = recipe.data.load(recipe.measures)
    if task.validation is None:
        return None
    return [drawn_once(rows) for rows in (task.split.train, task.validation, task.split.test)]


def drawn_once(rows: ConceptRows) -> UInt8:
    """The pictures of all rows, shape (n, channels, pixels, pixels)."""
    return np.asarray(in_memory(rows).x.numpy(), dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class HeldRows:
    """Rows whose pictures are kept in memory, uint8, shape (n, channels, pixels, pixels)."""

    rows: Rows
    pictures: UInt8

    def __len__(self) -> int:
        return len(self.rows)

    def instances(self, rows: Int64) -> Float32:
        return self.pictures[rows].astype(np.float32) / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        return self.rows.factors(rows)


def held(rows: ConceptRows, pictures: UInt8) -> ConceptRows:
    """The same rows with their pictures in memory."""
    return ConceptRows(HeldRows(rows.rows, pictures), rows.concepts_of, rows.labels_of)


def learner_of(recipe: ConceptRecipe, data: ConceptData) -> ConceptLearner:
    """The recipe's learner, untrained."""
    split = data.split
    return build(
        recipe.learner,
        Setup(data.shape, len(split.concept_names), split.classes, recipe.measures, recipe.seed),
    )


def answering(learner: ConceptLearner, data: ConceptData) -> ConceptModel:
    """A trained learner as a model whose concepts can be set."""
    model = ConceptModel(learner)
    model.values = learner.values(model.codes(data.split.train))
    return model


def measured(
    asked: Asked,
    recipe: ConceptRecipe,
    data: ConceptData,
    model: ConceptModel,
    training: Training,
    extra: frozenset[str],
    known: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The result of a trained model; `extra` and `known` as in `trained`."""
    began = time.process_time()
    split, seed = data.split, recipe.seed
    subject = Trained(recipe, data, model, _codes(recipe, data, model))
    if known is not None and _same(subject, known):
        more = extra - set(known["measured"])
        result = {**known, "measured": sorted(extra | set(known["measured"]))}
        for name in sorted(more):
            result |= EXTRA[name](subject)
        spent = known["cpu_seconds"]
        measuring = spent["measuring"] + time.process_time() - began
        result["cpu_seconds"] = {**spent, "measuring": measuring}
        return measures.plain(result)
    result = {
        "name": asked.name,
        "digest": recipe.digest,
        "size": recipe.size,
        "seed": recipe.seed,
        "recipe": recipe.model_dump(mode="json", exclude={"id", "title", "notes", "size", "seed"}),
        "epochs": training.epochs,
        "of_package": training.of_package,
        "resumed": training.resumed,
        "data": {
            "name": split.name,
            "origin": split.origin,
            "train": len(split.train),
            "validation": 0 if data.validation is None else len(data.validation),
            "test": len(split.test),
        },
        "versions": {**training.versions, "scikit-learn": sklearn.__version__},
        **_accuracies(model, split.test),
        "scores": {view: measures.purity(codes, seed) for view, codes in _views(subject).items()},
        "measured": sorted(extra),
    }
    if training.rule:
        result["stopped"] = training.rule
    if training.on_gpu is not None:
        result["on_gpu"] = training.on_gpu
    if data.validation is not None:
        result["validation"] = _accuracies(model, data.validation)
    for name in sorted(extra):
        result |= EXTRA[name](subject)
    result["cpu_seconds"] = {
        "training": training.cpu_seconds,
        "measuring": time.process_time() - began,
    }
    return measures.plain(result)


def _same(subject: Trained, known: Mapping[str, Any]) -> bool:
    """Whether a result is of this model: the same accuracies and the same OIS of its codes."""
    told = {
        **_accuracies(subject.model, subject.data.split.test),
        "ois": measures.own_oracle(subject.codes, subject.recipe.seed).score,
    }
    before = {**known, "ois": known["scores"]["code"]["ois"]["given"]}
    return all(before.get(name) == value for name, value in measures.plain(told).items())


def _package(recipe: ConceptRecipe, folder: Path) -> tuple[ConceptModel, ConceptCard] | None:
    """The model in a folder of packages that is trained by this recipe, whatever that calls it."""
    for name in package.list_packages(folder):
        card = cards.read(folder / name)
        if isinstance(card, ConceptCard) and card.recipe.digest == recipe.digest:
            return package.load(folder / name, THREADS), card
    return None


def _codes(recipe: ConceptRecipe, data: ConceptData, model: ConceptModel) -> Codes:
    kind = recipe.learner.name
    test, train = data.split.test, data.split.train
    return Codes(
        model.codes(test),
        test.concepts_of,
        model.codes(train),
        train.concepts_of,
        aligned=model.aligned,
        bottleneck=kind if kind in BOTTLENECKS else "",
    )


def _views(subject: Trained) -> dict[str, Codes]:
    """All that can be taken for a learner's codes: "code", which the paper calls so; "as released",
    what the released code measures, where that is something else; and a "feature map"."""
    model, codes = subject.model, subject.codes
    test, train = subject.data.split.test, subject.data.split.train
    views = {"code": codes}
    released = model.codes(test, as_published=True)
    if not np.array_equal(released, codes.test):
        views["as released"] = replace(
            codes,
            test=released,
            train=model.codes(train, as_published=True),
            aligned=model.aligned_as_published,
        )
    maps, of_train = model.maps(test), model.maps(train)
    if maps is not None and of_train is not None:
        views["feature map"] = replace(
            codes,
            test=maps.reshape(*maps.shape[:2], -1),
            train=of_train.reshape(*of_train.shape[:2], -1),
            maps=True,
        )
    return views


def _accuracies(model: ConceptModel, rows: ConceptRows) -> dict[str, Any]:
    """Of all rows: of the task where the learner has one, of concepts where it believes some."""
    logits, beliefs = model.task_logits(rows), model.beliefs(rows)
    accuracies: dict[str, Any] = {}
    if logits is not None:
        accuracies |= measures.task(logits, rows.labels_of)
    if beliefs is not None:
        each = ((beliefs >= 0.5) == (rows.concepts_of == 1)).mean(axis=0)
        accuracies |= {"concept_accuracy": float(each.mean()), "concept_accuracies": each}
    return accuracies


def _curves(subject: Trained) -> dict[str, Any]:
    ready = interventions(subject.model, subject.data.split.test)
    return {
        "curves": {
            "fixed": ready.fixed(),
            "subsets": ready.subsets(),
            "alone": ready.alone(),
            "wrong": ready.wrong_only()[-1],
            "fixed_auc": ready.fixed(class_auc),
            "subsets_auc": ready.subsets(class_auc),
            "wrong_auc": ready.wrong_only(class_auc)[-1],
            "values": subject.model.values,
        }
    }


def _widths(subject: Trained) -> dict[str, Any]:
    return {"widths": measures.widths(subject.codes, subject.recipe.seed)}


def _probes(subject: Trained) -> dict[str, Any]:
    """What networks tell from all codes: the task, and each concept (A.9, A.11)."""
    every = TOY_PROBE_EPOCHS if subject.data.tabular else PROBE_EPOCHS
    return {"probes": _probed(subject, every[subject.recipe.size])}


def _long_probes(subject: Trained) -> dict[str, Any]:
    """The same of codes of pictures, with as many epochs as published."""
    return {"long_probes": _probed(subject, LONG_PROBE_EPOCHS)}


def _probed(subject: Trained, epochs: int) -> dict[str, Any]:
    split, codes, seed = subject.data.split, subject.codes, subject.recipe.seed
    hidden = {"hidden": 128 if subject.data.tabular else 64, "epochs": epochs, "seed": seed}
    learnt = (codes.train, codes.train_concepts)
    of_task = metric("task-probe")(
        codes.test,
        codes.test_concepts,
        labels=split.test.labels_of,
        train=(*learnt, split.train.labels_of),
        **hidden,
    )
    of_concepts = metric("concept-probe")(codes.test, codes.test_concepts, train=learnt, **hidden)
    return {
        "task_auc": of_task.score,
        "task_accuracy": of_task.parts["accuracy"],
        "true_concepts_task_auc": of_task.parts["factors_auc"],
        "concept_auc": of_concepts.score,
        "concept_aucs": of_concepts.parts["per_factor"],
        "epochs": epochs,
    }


def _others(subject: Trained) -> dict[str, Any]:
    """The metrics of Table A1."""
    rows = (subject.codes.test, subject.codes.test_concepts)
    with measures.unconverged():
        every = {
            name: metric(name)(*rows, seed=subject.recipe.seed)
            for name in LISTED
            if name != "informativeness"
        }
    scores: dict[str, Any] = {name: score.score for name, score in every.items()}
    return {"others": scores | {"informativeness": every["dci"].parts["informativeness"]}}


def _background(subject: Trained) -> dict[str, Any]:
    """On test pictures with a background: task accuracy where it is the class's, on three quarters;
    and how well a network {64, 64} tells one of eight by chance from the codes."""
    rows, classes = subject.data.split.test, subject.data.split.classes
    random = np.random.default_rng([subject.recipe.seed, 8])
    level = random.integers(0, classes, len(rows))
    codes = subject.model.codes(on_background(rows, level))
    plain = random.random(len(rows)) < 0.25
    corrupted = on_background(rows, np.where(plain, 0, rows.labels_of))
    return {
        "background_accuracy": told_level(codes, level, subject.recipe.seed),
        "corrupted_task_accuracy": _accuracies(subject.model, corrupted)["task_accuracy"],
    }


def told_level(codes: Float64, level: Int64, seed: int) -> float:
    """How often a network {64, 64} that learns from a random half of the rows tells the level of
    the other half from codes (n, ...). Rows come in the order of their factors: the first half has
    other shapes than the second."""
    shuffled = np.random.default_rng([seed, 9]).permutation(len(level))
    learnt, tested = np.split(shuffled, [len(level) // 2])
    flat = codes.reshape(len(level), -1)
    probe = MLPClassifier((64, 64), max_iter=200, random_state=seed)
    with measures.unconverged():
        probe.fit(flat[learnt], level[learnt])
    return float((probe.predict(flat[tested]) == level[tested]).mean())


def on_background(rows: ConceptRows, level: Int64) -> ConceptRows:
    """The same rows, on a background of 0.1 times their level."""
    brightness: Float64 = BACKGROUND * level

    def change(pictures: Float32, numbers: Int64) -> Float32:
        own = brightness[numbers].reshape(-1, *(1,) * (pictures.ndim - 1))
        # In steps of 1/255, as models take them.
        steps = np.rint(np.maximum(pictures, own) * 255).astype(np.float32)
        return steps / np.float32(255)

    return ConceptRows(ChangedRows(rows.rows, change), rows.concepts_of, rows.labels_of)


EXTRA: dict[str, Callable[[Trained], dict[str, Any]]] = {
    "curves": _curves,
    "widths": _widths,
    "background": _background,
    "probes": _probes,
    "long_probes": _long_probes,
    "others": _others,
}
"""Measures beyond the usual ones, by the names that figures ask for."""
