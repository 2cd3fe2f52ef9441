"""What a concept learner answers to a photo in every state of its concepts.

A state says of each concept whether it is as the model has it, set off or set on. Its place in the
table of answers is the state read as a number of base 3, the first concept first. So a session
needs no model: what a correction leads to is looked up.

Where people only forecast what one change does, a table of single changes is enough: the state as
the model has it, then each concept set off and set on. It is fifty times as small with six
concepts.

What a change does beside what the rule card says of it: `change_type`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.models.stimuli.manifest import ItemType

Answers = NDArray[np.float16]
"""Probabilities of the classes, shape (photos, 3^k, classes), or without the first; of single
changes alone 1 + 2 k in place of 3^k."""
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


def single_states(concepts: int) -> tuple[State, ...]:
    """The states with at most one concept set, in the order of a table of single changes."""
    as_it_is = (AS_IT_IS,) * concepts
    changed = (
        (*as_it_is[:place], to, *as_it_is[place + 1 :])
        for place, to in product(range(concepts), (OFF, ON))
    )
    return (as_it_is, *changed)


def counts(concepts: int) -> tuple[int, int]:
    """How many states a table of so many concepts can have: of all states, of single changes."""
    return 3**concepts, 1 + 2 * concepts


def row_of(state: Sequence[int], rows: int) -> int:
    """The row of a state in a table of so many rows. Raises ValueError if it has only single
    changes, and the state has several."""
    if rows == 3 ** len(state):
        return place(state)
    changed = [(concept, to) for concept, to in enumerate(state) if to != AS_IT_IS]
    if len(changed) > 1:
        raise ValueError(
            f"a table of single changes has no answer for {len(changed)} changes at once"
        )
    return 1 + 2 * changed[0][0] + changed[0][1] - OFF if changed else 0


ChangeType = Literal["follows", "stays", "leaks", "holds", "strays"]
"""What a change does beside what the rule card says. `follows`: the card says that the answer
moves, and it does so; `stays`: the card says that it stays, and it does; `leaks`: the card says
that it stays, and it moves; `holds`: the card says that it moves, and it stays; `strays`: it moves
to another class than the card says."""
CHANGE_TYPES: tuple[ChangeType, ...] = get_args(ChangeType)


def class_by_card(rules: Sequence[Mapping[int, bool]], on: Sequence[bool]) -> int | None:
    """The place of the first class that these concepts make by the rule card; None for none."""
    for number, rule in enumerate(rules):
        if rule and all(on[concept] == there for concept, there in rule.items()):
            return number
    return None


def change_type(
    answers: Answers, rules: Sequence[Mapping[int, bool]], beliefs: Sequence[float], change: State
) -> ChangeType | None:
    """What a change from the state as the model has it does. None if the rule card does not
    give the model's first answer, or makes no class of what is then set and believed.

    Parameters
    ----------
    answers : array of float16, shape (states, classes)
        Of the photo: of all states, or of single changes.
    rules : of each class, by number of the concept whether it must be on or off.
    beliefs : how sure the model is of each concept.
    change : the state after it.
    """
    believed = [is_predicted_on(belief) for belief in beliefs]
    then = [
        there if to == AS_IT_IS else to == ON for there, to in zip(believed, change, strict=True)
    ]
    before, after = class_by_card(rules, believed), class_by_card(rules, then)
    first, answer = (
        int(answers[row_of(state, len(answers))].argmax())
        for state in ((AS_IT_IS,) * len(beliefs), change)
    )
    if before != first or after is None:
        return None
    if after == before:
        return "stays" if answer == first else "leaks"
    if answer == first:
        return "holds"
    return "follows" if answer == after else "strays"


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
    """The first two classes that one state of the concepts makes both, None if there are none.
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
