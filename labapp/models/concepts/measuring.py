"""What a card says of a concept model: how often it is right, how pure its codes are, and what
interventions do (paper 001, 4.1 and Figure 5).

A concept that is set off or on gets the model's value for that in place of its code: 0 or 1 where
codes are probabilities, the 5th or 95th percentile of the training codes where they are logits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from labapp.models.concepts.card import Accuracy
from labapp.models.concepts.data import ConceptData
from labapp.models.concepts.model import ConceptModel, settable
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.metrics.nis import nis
from labapp.models.metrics.ois import ois
from labapp.models.metrics.probes import completeness_of
from labapp.models.metrics.roc import class_accuracy
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, Answers, states

DIGITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """See `card.ConceptCard`. `codes`: the arrays of codes.npz; `curves`: those of
    intervention.npz, none where no concept can be set."""

    test: Accuracy
    validation: Accuracy | None
    scores: dict[str, float]
    codes: dict[str, Float32]
    curves: dict[str, Float32]


def measure(model: ConceptModel, data: ConceptData, training_codes: Float64 | None) -> Measured:
    """Measure a model on the test rows of its task. training_codes: of the rows that it learned
    from, shape (n, k) or (n, k, d); None where these are not at hand."""
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

    def answers(self) -> Answers:
        """Probabilities of classes in every state, in the order of
        `labapp.models.stimuli.interventions.states`: shape (n, 3^k, classes)."""
        table: Answers | None = None
        every = states(self.count)
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
    what is true of each row. Raises ModelError: no concept of the model can be set. `values`: what
    codes become, off and on, float64 (k, 2), in place of the model's own."""
    ready = interventions(model, rows)
    if values is not None:
        ready = Interventions(
            ready.codes, ready.concepts, ready.labels, ready.wrong, values, ready.predict
        )
    return ready.logits(np.isin(np.arange(ready.count), list(concepts)))
