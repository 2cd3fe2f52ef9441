"""What a card says of a concept model: how often it is right, how pure its codes are, and what
interventions do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.concepts.card import Accuracy
from labapp.concepts.data import ConceptData
from labapp.concepts.intervention import TaskScore, interventions
from labapp.concepts.model import ConceptModel
from labapp.datasets.concepts.rows import ConceptRows
from labapp.datasets.split import Float32, Float64
from labapp.metrics.nis import nis
from labapp.metrics.ois import ois
from labapp.metrics.probes import completeness_of
from labapp.metrics.roc import class_accuracy

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
    """What interventions do to a score of the task, see `intervention.Interventions`; and the
    values that codes are set to."""
    ready = interventions(model, rows)
    arrays = {
        "values": ready.values,
        "fixed": ready.fixed(score),
        "subsets": ready.subsets(score),
        "wrong": ready.wrong_only(score),
        "alone": ready.alone(score),
    }
    return {name: values.astype(np.float32) for name, values in arrays.items()}
