"""The chance in faces, what their actions do to the picture, and what the cues promise."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.faces import (
    APART,
    CLASSES,
    CLEAR,
    EYES_Y,
    Expression,
    Face,
    FaceRows,
    Hair,
    face,
    faces,
    mouth_y,
    picture,
    placement,
)
from labapp.models.datasets.split import PARTS, Float32, PartName
from tests.helpers import face_sheet
from tests.helpers.sample import EVERYTHING, examples

CALM = Expression(0, 0, 0, 0, 0)


def plain(number: int = 3) -> Face:
    """A face at rest, upright in the middle, in even light, without glasses and beard."""
    one = face(5, "test", 0, number)
    return replace(
        one,
        expression=CALM,
        identity=replace(one.identity, glasses=False, beard=0.0, hair=Hair.SHORT, skin=0.6),
        pose=replace(one.pose, x=50, y=50, degrees=0.0, scale=1.0),
        light=replace(one.light, shading=0.0, noise=0.0, texture=0.0, blur=0.0),
    )


def changed(one: Face, **actions: float) -> Float32:
    """How much each pixel of 96 changes when the actions do: absolute difference."""
    other = replace(one, expression=replace(one.expression, **actions))
    return np.abs(picture(other) - picture(one))


@examples(60)
@given(st.integers(0, 50), st.sampled_from(PARTS), st.integers(0, 1), st.integers(0, 10_000))
def test_a_face_is_a_function_of_its_numbers_and_says_its_class(
    seed: int, part: PartName, label: int, number: int
) -> None:
    one = face(seed, part, label, number)
    assert one == face(seed, part, label, number)
    assert one != face(seed, part, label, number + 1)
    sign = -1 if CLASSES[label] == "anger" else 1
    actions = np.array(astuple(one.expression))
    assert sign * actions.mean() >= CLEAR
    assert sign * one.expression.corners >= CLEAR
    light, skin = one.light, one.identity.skin
    for grey in (light.ground, light.ground_end, one.identity.tone):
        assert abs(grey - skin) >= APART - 1e-9
        assert 0 <= grey <= 1
    assert abs(one.pose.degrees) <= 8
    assert 0.88 <= one.pose.scale <= 1.08


def test_parts_share_no_face_and_more_of_a_part_leaves_the_first_ones() -> None:
    few, many = faces(seed=4, train=3), faces(seed=4, train=5)
    rows = range(6)
    assert [few.train.face(row) for row in rows] == [many.train.face(row) for row in rows]
    for part in (few.validation, few.test):
        assert all(part.face(row) != few.train.face(row) for row in rows)


def test_single_actions_sometimes_contradict_the_class() -> None:
    signs = [-1, 1]
    against = np.mean(
        [
            (signs[label] * np.array(astuple(face(1, "test", label, k).expression)) < 0).any()
            for label in (0, 1)
            for k in range(300)
        ]
    )
    assert 0.1 < against < 0.6


def test_cues_lean_on_the_class_in_training_alone() -> None:
    count, near = (600, 0.06) if EVERYTHING else (150, 0.12)

    def share(part: PartName, label: int, what: str, **data: float) -> float:
        found = [face(2, part, label, k, **data) for k in range(count)]
        return float(np.mean([getattr(one.identity, what) for one in found]))

    for what in ("glasses", "dark"):
        assert share("train", 0, what) == pytest.approx(0.65, abs=near)
        assert share("train", 1, what) == pytest.approx(0.35, abs=near)
        assert share("train", 0, what, cue=0.9) == pytest.approx(0.9, abs=near)
        for label in (0, 1):
            assert share("test", label, what, cue=0.9) == pytest.approx(0.5, abs=near)


@pytest.mark.parametrize(
    ("action", "above", "below"),
    [
        ("brows", EYES_Y - 12, EYES_Y + 1),
        ("lids", EYES_Y - 7, EYES_Y + 7),
        ("corners", EYES_Y + 12, 36),
        ("lips", EYES_Y + 12, 36),
    ],
)
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_an_action_moves_its_own_part_of_the_face(
    action: str, above: float, below: float, way: float
) -> None:
    one = plain()
    apart = changed(one, **{action: way})
    assert apart.max() > 0.1
    _, top = placement(one).point(0, above)
    _, bottom = placement(one).point(0, below)
    top, bottom = round(top * 0.96), round(bottom * 0.96)
    outside = apart.copy()
    outside[top:bottom] = 0
    assert outside.sum() < 0.05 * apart.sum()  # shadows fade over the edge


def test_a_smile_shows_teeth_and_a_pressed_mouth_does_not() -> None:
    one = plain()
    x, y = placement(one).point(0, mouth_y(one) + 1)
    at = slice(int(0.96 * y) - 2, int(0.96 * y) + 4), slice(int(0.96 * x) - 2, int(0.96 * x) + 3)

    def brightest(lips: float) -> float:
        smiling = replace(one, expression=replace(CALM, lips=lips))
        return float(picture(smiling)[at].max())

    assert brightest(1.0) > brightest(0.0) + 0.15
    assert brightest(-1.0) <= brightest(0.0) + 0.05


def test_skin_is_never_flat() -> None:
    """Gradients must find something everywhere: the cheek's neighbours differ."""
    for number in range(8):
        one = face(3, "test", number % 2, number)
        made = picture(one)
        assert made.shape == (96, 96)
        assert made.dtype == np.float32
        assert made[50:60, 36:60].std() > 0.015


def test_faces_look_as_those_that_were_looked_at() -> None:
    """Versions of Qt may differ by a level or two along edges, not by a shape or a tone."""
    apart = np.abs(face_sheet.painted().astype(int) - face_sheet.kept().astype(int))
    assert apart.mean() < 0.15
    assert (apart > 16).mean() < 0.0005


def test_rows_give_pictures_at_the_size_of_the_network() -> None:
    rows = FaceRows("validation", 2, seed=3, size=48)
    whole = FaceRows("validation", 2, seed=3)
    every = np.arange(4)
    small, large = rows.instances(every), whole.instances(every)
    assert (small.shape, large.shape) == ((4, 1, 48, 48), (4, 1, 96, 96))
    means = large.reshape(4, 1, 48, 2, 48, 2).mean(axis=(3, 5))
    assert np.abs(small - means).max() <= 0.5 / 255 + 1e-6
    assert rows.labels(every).tolist() == [0, 1, 0, 1]
    assert [rows.face(row).label for row in every] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: face(0, "train", 2, 0), "class must be"),
        (lambda: face(0, "held", 0, 0), "part must be one of"),  # type: ignore[arg-type]
        (lambda: faces(seed=0, validation=0), "validation must have"),
        (lambda: faces(seed=-1), "seed must not"),
    ],
)
def test_what_cannot_be_is_refused(wrong: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()
    with pytest.raises(IndexError, match="row must be"):
        faces(seed=0, train=1).train.face(2)
