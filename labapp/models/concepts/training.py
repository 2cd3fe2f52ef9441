"""Trains a concept learner from its recipe into a package, on the CPU; a killed run can be resumed.

A run is a function of its recipe: the order of an epoch comes from (seed, phase, epoch), and all
chance of a step from (seed, number of the step). So a run that is killed at any moment goes on from
its last checkpoint and ends with the same weights as one that was never interrupted.

What a card says of a concept model: how often it is right, how pure its codes are, and what
interventions do (paper 001, 4.1 and Figure 5).

A concept that is set off or on gets the model's value for that in place of its code: 0 or 1 where
codes are probabilities, the 5th or 95th percentile of the training codes if they are logits.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from labapp.base import resources
from labapp.models.concepts import package
from labapp.models.concepts.card import Accuracy, ConceptCard, DataRecord, TrainingRecord
from labapp.models.concepts.learner import (
    ConceptLearner,
    ConceptModel,
    Setup,
    TrainingRows,
    build,
    in_memory,
    settable,
)
from labapp.models.concepts.recipe import ConceptData, ConceptRecipe, SizeName
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.metrics.nis import nis
from labapp.models.metrics.ois import ois
from labapp.models.metrics.probes import completeness_of
from labapp.models.metrics.roc import class_accuracy
from labapp.models.representations.torch_backend import weights_of
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, Answers, single_states, states
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance, Run, StepResult, run_steps, versions

CHECKPOINT_S = 10.0
"""Seconds between two checkpoints, about an epoch of pictures; there is one more at the end of each
phase."""

# Streams of the recipe's seed; the numbers are part of what a recipe means.
_ORDER, _STEP = 0, 1


def train(
    recipe: ConceptRecipe,
    *,
    size: SizeName | None = None,
    seed: int | None = None,
    out: Path | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    checkpoint_s: float = CHECKPOINT_S,
) -> Path:
    """Train the recipe's learner, measure it and write its package. Returns the package's folder.
    Raises ModelError: the package exists, the checkpoint does not fit, the loss is no longer
    finite, the disk refuses. Raises DatasetError: the official files are missing or damaged.

    size, seed : others than the recipe's, which the id of the package then names.
    out : where `<id>/` is written, and checkpoints under `.training/<id>/` meanwhile; the user's
        models folder by default.
    data_folder : of the official files, if the recipe learns from them.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : called about five times a second and at the end of each phase. An exception that it
        raises ends the run, which can then be resumed.
    threads : CPU threads of torch, process-wide; another number rounds differently.
    """
    recipe = recipe.of(size, seed)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    torch.set_num_threads(threads)
    state = out / ".training" / recipe.id
    if not resume:
        loop.clear(state)

    data = recipe.data.load(recipe.measures, data_folder)
    split = data.split
    learner = build(
        recipe.learner,
        Setup(data.shape, len(split.concept_names), split.classes, recipe.measures, recipe.seed),
    )
    seconds = fit(
        learner,
        in_memory(split.train),
        seed=recipe.seed,
        provenance=Provenance(recipe.digest, "cpu", threads),
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    model = ConceptModel(learner)
    training_codes = model.codes(split.train)
    model.values = learner.values(training_codes)
    measured = measure(model, data, training_codes)
    card = ConceptCard(
        card=1,
        recipe=recipe,
        training=TrainingRecord(
            recipe_sha256=recipe.digest,
            phases={phase.name: phase.epochs for phase in learner.phases},
            seconds=round(seconds, 1),
            threads=threads,
            versions=versions(),
        ),
        data=_record(data),
        test=measured.test,
        validation=measured.validation,
        scores=measured.scores,
        weights_sha256="0" * 64,
        codes_sha256="0" * 64,
    )
    package.write(folder, card, weights_of(learner.networks), measured.codes, measured.curves)
    loop.clear(state)
    return folder


def _record(data: ConceptData) -> DataRecord:
    split = data.split
    return DataRecord(
        name=split.name,
        origin=split.origin,
        files=dict(split.files),
        concepts=split.concept_names,
        classes=split.classes,
        train=len(split.train),
        validation=0 if data.validation is None else len(data.validation),
        test=len(split.test),
    )


def order_of(
    learner: ConceptLearner, rows: TrainingRows, seed: int, phase: int, epoch: int
) -> Int64:
    """The numbers of the rows of an epoch, in the order in which they are learned."""
    return learner.epoch(rows, np.random.default_rng([seed, _ORDER, phase, epoch]))


def steps_of(learner: ConceptLearner, count: int) -> int:
    """Steps of an epoch of so many rows, or pairs."""
    # A last batch of one row has no variance, which some layers need: it is left out.
    return max(1, math.ceil((count - 1) / learner.batch))


def fit(
    learner: ConceptLearner,
    rows: TrainingRows,
    *,
    seed: int,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = CHECKPOINT_S,
) -> float:
    """Take a learner through all its phases; its networks are in evaluation mode at the end.

    Parameters and errors are those of `labapp.models.training.loop.run_steps`. Returns seconds
    spent, over all restarts.
    """
    phases = learner.phases
    of_epoch = len(learner.epoch(rows, np.random.default_rng(0)))
    per_epoch = steps_of(learner, of_epoch)
    ends = list(accumulate(phase.epochs * per_epoch for phase in phases))
    begun: dict[int, TrainingRows] = {}

    @lru_cache(maxsize=1)
    def order(phase: int, epoch: int) -> Int64:
        return order_of(learner, rows, seed, phase, epoch)

    def take(iteration: int) -> StepResult:
        number = bisect_right(ends, iteration)
        phase = phases[number]
        steps = phase.epochs * per_epoch
        step = iteration - ends[number] + steps
        epoch, at = divmod(step, per_epoch)
        if number not in begun:
            begun.clear()
            learner.networks.train()
            begun[number] = learner.begin(number, rows)
        draws = np.random.default_rng([seed, _STEP, iteration])
        # Of the CPU alone: torch.manual_seed keeps a stack trace for each device that is not there.
        torch.default_generator.manual_seed(int(draws.integers(2**62)))
        chosen = order(number, epoch)[at * learner.batch : (at + 1) * learner.batch]
        losses = learner.step(begun[number].batch(chosen), draws, step / steps)
        return StepResult(
            losses,
            f"{phase.name}, epoch {epoch + 1}/{phase.epochs}",
            f"step {step + 1} of the phase {phase.name!r}",
            ends=step == steps - 1,
        )

    run = Run(learner)
    run_steps(
        run,
        ends[-1],
        take,
        provenance=provenance,
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    learner.networks.eval()
    return run.seconds


DIGITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """See `card.ConceptCard`. `codes`: the arrays of codes.npz; `curves`: those of
    intervention.npz, none if no concept can be set."""

    test: Accuracy
    validation: Accuracy | None
    scores: dict[str, float]
    codes: dict[str, Float32]
    curves: dict[str, Float32]


def measure(model: ConceptModel, data: ConceptData, training_codes: Float64 | None) -> Measured:
    """Measure a model on the test rows of its task. training_codes: of the rows that it learned
    from, shape (n, k) or (n, k, d); None if these are not at hand."""
    rows = data.split.test
    names = data.split.concept_names
    codes = model.codes(rows)
    task = accuracy(model, rows, names)
    return Measured(
        task,
        accuracy(model, data.validation, names) if data.validation is not None else None,
        scores(model, data, codes, training_codes) | complete(model, rows, codes, task.task),
        {
            "codes": codes.astype(np.float32),
            "concepts": rows.concepts_of.astype(np.float32),
            "labels": rows.labels_of.astype(np.float32),
        },
        curves(model, rows) if model.values is not None else {},
    )


def accuracy(model: ConceptModel, rows: ConceptRows, names: tuple[str, ...]) -> Accuracy:
    """How often classes and concepts are right, over all rows. names: of the concepts."""
    logits, beliefs = model.task_logits(rows), model.beliefs(rows)
    task = None if logits is None else float((logits.argmax(axis=1) == rows.labels_of).mean())
    if beliefs is None:
        return Accuracy(task=task if task is None else round(task, DIGITS))
    right = ((beliefs >= 0.5) == (rows.concepts_of == 1)).mean(axis=0)
    return Accuracy(
        task=task if task is None else round(task, DIGITS),
        concepts=round(float(right.mean()), DIGITS),
        each={
            name: round(share, DIGITS) for name, share in zip(names, right.tolist(), strict=True)
        },
    )


def scores(
    model: ConceptModel, data: ConceptData, codes: Float64, training_codes: Float64 | None
) -> dict[str, float]:
    """Impurity of the codes of the test rows, see `card.ConceptCard.scores`; training_codes: of the
    rows that the model learned from."""
    rows, learned = data.split.test, data.split.train
    concepts = rows.concepts_of.astype(np.float64)
    align = True if model.aligned else None
    published = model.codes(rows, as_published=True)
    measured = {
        "ois": ois(codes, concepts, align=align),
        "ois_published": ois(
            published, concepts, align=model.aligned_as_published, as_published=True
        ),
        "ois_standardised": ois(codes, concepts, align=align, coordinates="standardised"),
        "nis": nis(codes, concepts),
        "nis_published": nis(published, concepts, as_published=True),
    }
    if training_codes is not None:
        train = (training_codes, learned.concepts_of.astype(np.float64))
        measured["nis_trained"] = nis(codes, concepts, train=train)
    maps = model.maps(rows)
    if maps is not None:
        flat = maps.reshape(*maps.shape[:2], -1)
        measured |= {"ois_maps": ois(flat, concepts), "nis_maps": nis(flat, concepts)}
    return {name: round(score.score, DIGITS) for name, score in measured.items()}


def complete(
    model: ConceptModel, rows: ConceptRows, codes: Float64, task: float | None
) -> dict[str, float]:
    """`completeness`: how far a model that discovered its codes does its task from them alone, from
    0, no better than naming the most frequent class, to 1, as well as its whole network (Yeh et al.
    2020, Definition 3.1; the released code has one over the number of classes for chance, and so
    scores higher). Nothing of other models, and of networks that are no better either."""
    logits = model.predict_from(codes) if model.aligned else None
    if logits is None or task is None:
        return {}
    right = float((logits.argmax(axis=1) == rows.labels_of).mean())
    chance = float(np.bincount(rows.labels_of).max() / len(rows))
    if task <= chance:
        return {}
    return {"completeness": round(completeness_of(right, task, chance), DIGITS)}


def curves(
    model: ConceptModel, rows: ConceptRows, score: TaskScore = class_accuracy
) -> dict[str, Float32]:
    """What interventions do to a score, see `Interventions`; and the values that are set."""
    ready = interventions(model, rows)
    arrays = {
        "values": ready.values,
        "fixed": ready.fixed(score),
        "subsets": ready.subsets(score),
        "wrong": ready.wrong_only(score),
        "alone": ready.alone(score),
    }
    return {name: values.astype(np.float32) for name, values in arrays.items()}


Bool = NDArray[np.bool_]
TaskScore = Callable[[Float64, Int64], Float64]
"""Of class logits (n, classes) and labels (n,): `roc.class_accuracy` or `roc.class_auc`."""


@dataclass(frozen=True, slots=True, eq=False)
class Interventions:
    """Rows, ready to have concepts set.

    Attributes
    ----------
    codes : float64, shape (n, k). `concepts`: what is true, int64 0 or 1, shape (n, k).
        `labels`: int64, shape (n,).
    wrong : where the model believes a concept wrongly, bool, shape (n, k).
    values : a code of a concept set off and on, float64, shape (k, 2).
    predict : class logits (n, classes) of codes (n, k).
    """

    codes: Float64
    concepts: Int64
    labels: Int64
    wrong: Bool
    values: Float64
    predict: Callable[[Float64], Float64]

    @property
    def count(self) -> int:
        return len(self.values)

    def logits(self, chosen: Bool) -> Float64:
        """Class logits (n, classes) after chosen concepts, bool (n, k) or (k,), were set to the
        truth."""
        truth = self.values[np.arange(self.count), self.concepts]
        return self.predict(np.where(chosen, truth, self.codes))

    def fixed(self, score: TaskScore = class_accuracy) -> Float64:
        """The score after the first 0 to k concepts were set, as in the released code: (k + 1,)."""
        return self._each(score, (np.arange(self.count) < m for m in range(self.count + 1)))

    def subsets(self, score: TaskScore = class_accuracy) -> Float64:
        """The mean score over all choices of 0 to k concepts: the paper's order by chance."""
        means = []
        for m in range(self.count + 1):
            sets = combinations(range(self.count), m)
            choices = (np.isin(np.arange(self.count), chosen) for chosen in sets)
            means.append(self._each(score, choices).mean())
        return np.array(means)

    def wrong_only(self, score: TaskScore = class_accuracy) -> Float64:
        """The score after the first 0 to k of the wrong concepts of each row were set, in the order
        of the concepts, shape (k + 1,): what a person does who repairs and sees everything."""
        rank = np.cumsum(self.wrong, axis=1)
        return self._each(score, (self.wrong & (rank <= m) for m in range(self.count + 1)))

    def alone(self, score: TaskScore = class_accuracy) -> Float64:
        """The score after one concept alone was set, for each: shape (k,)."""
        return self._each(score, (np.arange(self.count) == j for j in range(self.count)))

    def _each(self, score: TaskScore, choices: Iterable[Bool]) -> Float64:
        return np.array([score(self.logits(chosen), self.labels) for chosen in choices])

    def answers(self, *, single: bool = False) -> Answers:
        """Probabilities of classes in every state, in the order of
        `labapp.models.stimuli.interventions.states`: shape (n, 3^k, classes); of single changes
        alone (n, 1 + 2 k, classes), as `single_states`."""
        table: Answers | None = None
        every = single_states(self.count) if single else states(self.count)
        for number, state in enumerate(every):
            codes = self.codes.copy()
            for j, s in enumerate(state):
                if s != AS_IT_IS:
                    codes[:, j] = self.values[j, s - OFF]
            answers = probabilities(self.predict(codes))
            if table is None:
                table = np.empty((len(answers), len(every), answers.shape[1]), np.float16)
            table[:, number] = answers
        assert table is not None
        return table


def probabilities(logits: Float64) -> Float64:
    """The softmax of logits over the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def interventions(model: ConceptModel, rows: ConceptRows) -> Interventions:
    """Ready the rows for interventions. Raises ModelError: no concept of the model can be set."""
    values, beliefs = settable(model), model.beliefs(rows)
    assert beliefs is not None

    def predict(codes: Float64) -> Float64:
        logits = model.predict_from(codes)
        assert logits is not None
        return logits

    wrong = (beliefs >= 0.5) != (rows.concepts_of == 1)
    return Interventions(
        model.codes(rows), rows.concepts_of, rows.labels_of, wrong, values, predict
    )


def intervene(
    model: ConceptModel, rows: ConceptRows, concepts: Iterable[int], values: Float64 | None = None
) -> Float64:
    """Class logits, float64, shape (n, classes), after some concepts, by number from 0, were set to
    their true values in each row. Raises ModelError: no concept of the model can be set. `values`:
    what codes become, off and on, float64 (k, 2), in place of the model's own."""
    ready = interventions(model, rows)
    if values is not None:
        ready = Interventions(
            ready.codes, ready.concepts, ready.labels, ready.wrong, values, ready.predict
        )
    return ready.logits(np.isin(np.arange(ready.count), list(concepts)))
