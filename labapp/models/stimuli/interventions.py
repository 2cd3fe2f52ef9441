"""What a concept learner answers to a photo in every state of its concepts.

A state says of each concept whether it is as the model has it, set off or set on. Its place in the
table of answers is the state read as a number of base 3, the first concept first. So a session
needs no model: what a correction leads to is looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from labapp.models.stimuli.manifest import ItemType

Answers = NDArray[np.float16]
"""Probabilities of the classes, shape (photos, 3^k, classes), or without the first."""
State = tuple[int, ...]
"""Of each concept one of `AS_IT_IS`, `OFF` and `ON`."""
AS_IT_IS, OFF, ON = 0, 1, 2
MOST_CONCEPTS = 8
"""Of a set: a photo then has 3^8 = 6,561 answers, and the plan of a session has them all."""
PERFECT = 0.98
"""The belief of the model without leaks in a concept that was set."""


def states(concepts: int) -> tuple[State, ...]:
    """All states of so many concepts, in the order of the table."""
    return tuple(product((AS_IT_IS, OFF, ON), repeat=concepts))


def place(state: Sequence[int]) -> int:
    """Where a state stands in the table, from 0: the sum of s_i · 3^(k-1-i)."""
    number = 0
    for step in state:
        number = 3 * number + step
    return number


def set_to(concept: bool) -> int:
    """The state of a concept that is set as it is in truth."""
    return ON if concept else OFF


def is_predicted_on(belief: float) -> bool:
    """Whether the model takes a concept as on."""
    return belief >= 0.5


def item_type(
    answers: Answers, beliefs: Sequence[float], concepts: Sequence[bool], truth: int
) -> ItemType | None:
    """What corrections do to a photo.

    `unrepairable`: all concepts are right and the answer is wrong. `control`: all are right, the
    answer too, and it stays right when all are confirmed. `trap`: the answer is wrong after exactly
    the wrong concepts were corrected, or after the others were confirmed as well. `repair`: the
    answer is wrong, and right from the corrections on. None: concepts are wrong, and the answer is
    right with and without them.

    Parameters
    ----------
    answers : array of float16, shape (3^k, classes)
        Of the photo.
    beliefs, concepts : sequences of k
        What the model believes, and what is true.
    truth : the place of the true class among the classes.
    """
    wrong = [
        is_predicted_on(belief) != there for belief, there in zip(beliefs, concepts, strict=True)
    ]
    pairs = zip(wrong, concepts, strict=True)
    corrected = [set_to(there) if is_wrong else AS_IT_IS for is_wrong, there in pairs]
    confirmed = [set_to(there) for there in concepts]

    def right(state: Sequence[int]) -> bool:
        return int(answers[place(state)].argmax()) == truth

    before = right([AS_IT_IS] * len(concepts))
    if not any(wrong) and not before:
        return "unrepairable"
    if not right(corrected) or not right(confirmed):
        return "trap"
    if not any(wrong):
        return "control"
    return None if before else "repair"


def first_overlap(rules: Sequence[Mapping[int, bool]]) -> tuple[int, int] | None:
    """The first two classes that one state of the concepts makes both, None where there are none.
    Returns the places of both among the classes. `rules`: of each class, by number of the concept
    whether it must be on or off."""
    for (i, first), (j, second) in combinations(enumerate(rules), 2):
        if all(second.get(concept, there) == there for concept, there in first.items()):
            return i, j
    return None


def without_leaks(
    rules: Sequence[Mapping[int, bool]], beliefs: Sequence[float], sure: float = PERFECT
) -> Answers:
    """The answers of a model whose switches are perfect: the most probable class is the one that
    what is believed, or set, of every concept makes, so that a setting touches nothing else.

    A class counts by the product over its concepts of the belief in their state, as a share of the
    belief in the state that is believed more.

    Parameters
    ----------
    rules : of each class, by number of the concept whether it must be on or off.
    beliefs : the belief in each concept as the model has it, 0 to 1.
    sure : the belief in a concept that is set on; set off, 1 less it.

    Returns
    -------
    array of float16, shape (3^k, classes)
    """
    levels = np.array([(belief, 1 - sure, sure) for belief in beliefs])
    every = np.array(states(len(beliefs)))
    on = levels[np.arange(len(beliefs)), every]  # (3^k, k)
    most = np.maximum(on, 1 - on)
    shares = {True: on / most, False: (1 - on) / most}
    columns = [
        np.prod([np.ones(len(every)), *(shares[there][:, i] for i, there in rule.items())], axis=0)
        for rule in rules
    ]
    table = np.stack(columns, axis=1)
    return np.asarray(table / table.sum(1, keepdims=True), np.float16)
