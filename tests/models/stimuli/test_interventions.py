"""Tables of single changes, and what a change does beside what the rule card says of it."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.stimuli import interventions
from labapp.models.stimuli.interventions import OFF, ON, change_type, row_of, single_states

RULES = ({0: False}, {0: True, 1: False}, {0: True, 1: True})
"""Three classes of two concepts; the first says nothing of the second."""


def test_a_state_stands_in_a_table_of_single_changes_where_the_list_of_states_has_it() -> None:
    for concepts in (1, 2, 6):
        every = single_states(concepts)
        assert len(every) == interventions.counts(concepts)[1]
        assert [row_of(state, len(every)) for state in every] == list(range(len(every)))
    full = interventions.states(2)
    assert [row_of(state, len(full)) for state in full] == list(range(9))
    with pytest.raises(ValueError, match="2 changes"):
        row_of((ON, OFF), 5)


def answers(*classes: int) -> interventions.Answers:
    """A table of single changes in which these classes are answered."""
    return np.eye(3, dtype=np.float16)[list(classes)]


@pytest.mark.parametrize(
    ("beliefs", "change", "after", "expected"),
    [
        ((0.1, 0.9), (ON, 0), 2, "follows"),
        ((0.1, 0.9), (ON, 0), 1, "strays"),
        ((0.1, 0.9), (ON, 0), 0, "holds"),
        ((0.1, 0.9), (0, OFF), 0, "stays"),
        ((0.1, 0.9), (0, OFF), 1, "leaks"),
        ((0.1, 0.9), (OFF, 0), 0, "stays"),
        ((0.9, 0.9), (ON, 0), 2, None),  # the model's first answer is not the card's
    ],
)
def test_the_type_of_a_change(
    beliefs: tuple[float, ...], change: tuple[int, ...], after: int, expected: str | None
) -> None:
    table = answers(0, 0, 0, 0, 0)
    table[row_of(change, 5)] = answers(after)[0]
    assert change_type(table, RULES, beliefs, change) == expected
