"""Models beside each other: every cell, score and name in place, one scale a data set."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.side_by_side import UNIT, Representation, draw


def representation(title: str, matrix: list[list[float]]) -> Representation:
    found = np.array(matrix)
    codes = tuple(f"z{code + 1}" for code in range(found.shape[0]))
    factors = ("size", "a $place$", "x")[: found.shape[1]]
    return Representation(title, f"MIG of {title}", found, codes, factors)


def test_every_model_has_its_heat_map_in_its_data_sets_row() -> None:
    figure = draw(
        [
            ("Two", [representation("GT", [[3.0, 0.0], [0.25, 1.5]])]),
            ("One", [representation("VAE", [[0.5, 0.0, 0.1]]), representation("AE", [[0.2] * 3])]),
        ]
    )
    maps = [
        ax
        for ax in figure.axes
        if ax.get_xticklabels() and ax.get_visible() and ax.get_title(loc="left")
    ]
    assert [ax.get_title(loc="left").strip() for ax in maps] == ["GT", "VAE", "AE"]
    assert [ax.get_ylabel() for ax in maps] == ["Two", "One", ""]
    first = [text.get_text() for text in maps[0].texts]
    assert first == ["MIG of GT", "3.00", "0.00", "0.25", "1.50"]
    assert [label.get_text() for label in maps[0].get_xticklabels()] == ["size", "a $place$"]
    assert [label.get_text() for label in maps[0].get_yticklabels()] == ["z1", "z2"]
    # The models of a data set share a scale, and data sets do not.
    assert [ax.collections[0].get_clim() for ax in maps] == [(0, 3.0), (0, 0.5), (0, 0.5)]
    assert [ax.get_ylabel() for ax in figure.axes].count(UNIT) == 2
    assert sum(not ax.get_visible() for ax in figure.axes) == 1


def test_codes_that_share_nothing_are_drawn() -> None:
    figure = draw([("Dead", [representation("AE", [[0.0, 0.0]])])])
    assert [text.get_text() for text in figure.axes[0].texts[1:]] == ["0.00", "0.00"]


def test_nothing_and_matrices_of_another_shape_are_refused() -> None:
    for nothing in ([], [("Empty", [])]):
        with pytest.raises(ValueError, match="wanted"):
            draw(nothing)
    wrong = Representation("AE", "", np.zeros((2, 2)), ("z1",), ("x", "y"))
    with pytest.raises(ValueError, match="AE: the matrix has shape"):
        draw([("Wrong", [wrong])])
