"""The invented species, the chance in their pictures, and what can be seen of their marks."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from labapp.models.datasets.birds import (
    FACTORS,
    GENERA,
    SITES,
    SPECIES,
    Bird,
    BodyPart,
    FieldMark,
    Leaf,
    bird,
    birds,
    deciding_visibility,
    genus_of,
    guide,
    marks_of,
    name_of,
    part_map,
    picture,
    placement,
    places,
    visibility,
)
from labapp.models.datasets.split import PARTS
from tests.helpers import bird_sheet
from tests.helpers.sample import EVERYTHING

MANY = 4000 if EVERYTHING else 1000


def digest(one: Bird) -> str:
    """Hash of every parameter, to the ninth decimal: libraries may differ in a logarithm's last."""

    def flat(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: flat(item) for key, item in value.items()}
        if isinstance(value, tuple | list):
            return [flat(item) for item in value]
        return f"{value:.9f}" if isinstance(value, float) else str(value)

    return hashlib.sha256(repr(flat(asdict(one))).encode()).hexdigest()[:16]


def test_sisters_differ_in_the_two_deciding_marks_alone() -> None:
    for number, genus in enumerate(GENERA):
        sisters = [marks_of(4 * number + k) for k in range(4)]
        assert {tuple(m[k] for k in genus.deciding) for m in sisters} == {
            (0, 0), (0, 1), (1, 0), (1, 1),
        }  # fmt: skip
        for mark in set(FieldMark) - set(genus.deciding):
            assert {m[mark] for m in sisters} == {genus.constant[mark]}


def test_every_mark_decides_somewhere_and_four_of_them_twice() -> None:
    uses = Counter(mark for genus in GENERA for mark in genus.deciding)
    assert sorted(uses.values()) == [1, 1, 2, 2, 2, 2]
    assert len({name_of(species) for species in range(SPECIES)}) == SPECIES
    assert len({(genus_of(s), guide(s)) for s in range(SPECIES)}) == SPECIES
    assert guide(14) == ("forked tail", "no crest")


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ((0, "train", 0, 0), "4c0b4e8072096909"),
        ((0, "test", 7, 3), "8cd409216edfa6df"),
        ((123456789, "validation", 19, 99), "f599d52ec4c70a91"),
    ],
)
def test_the_parameters_of_a_picture_stay_what_they_were(arguments: Any, want: str) -> None:
    assert digest(bird(*arguments)) == want


@pytest.mark.parametrize("mark", list(FieldMark))
def test_another_mark_on_the_same_bird_changes_the_picture_there_alone(mark: FieldMark) -> None:
    one = bird(3, "test", 0, 5, occlusion=0.0)
    marks = list(one.marks)
    marks[mark] = 1 - marks[mark]
    other = replace(one, marks=tuple(marks))
    changed = np.abs(picture(one, 96) - picture(other, 96)).max(axis=0) > 0.02
    assert 10 < changed.sum() < 0.06 * 96 * 96
    x, y = placement(one).point(*places(one)[mark])
    rows, columns = np.nonzero(changed)
    assert np.hypot(columns.mean() / 0.96 - x, rows.mean() / 0.96 - y) < 12


def test_pictures_of_different_parts_numbers_and_seeds_are_different() -> None:
    drawn = [bird(s, p, 4, n).pose for s in (0, 1) for p in PARTS for n in (0, 1)]
    assert len(set(drawn)) == 12


def test_more_pictures_leave_the_first_ones_as_they_were() -> None:
    few, many = birds(seed=5, train=2), birds(seed=5, train=9)
    assert [few.train.bird(i) for i in range(40)] == [many.train.bird(i) for i in range(40)]
    rows = np.arange(40)
    assert few.train.labels(rows).tolist() == [few.train.bird(i).species for i in range(40)]
    assert Counter(few.train.labels(rows).tolist()) == dict.fromkeys(range(SPECIES), 2)


def test_leaves_come_as_often_as_asked_for() -> None:
    drawn = [bird(1, "train", i % 20, i // 20) for i in range(MANY)]
    over = Counter(leaf.over for one in drawn for leaf in one.leaves)
    for mark in FieldMark:  # 4.5 standard errors of a share of .05
        assert over[mark] / MANY == pytest.approx(0.05, abs=0.98 / MANY**0.5)
    assert not any(bird(1, "train", 0, i, occlusion=0.0).leaves for i in range(50))
    assert all(len(bird(1, "train", 0, i, occlusion=1.0).leaves) == 6 for i in range(50))


@pytest.mark.parametrize(("genus", "expected"), [(0, 0.0), (1, 0.3), (4, 0.3)])
def test_the_tint_of_the_belly_hints_weakly_and_in_two_genera_only(
    genus: int, expected: float
) -> None:
    drawn = [bird(2, "train", 4 * genus + i % 4, i // 4) for i in range(MANY)]
    hinted = GENERA[genus].tinted or 0
    pairs = np.array([(one.species % 4 == hinted, one.plumage.tinted) for one in drawn], float)
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(expected, abs=3.8 / MANY**0.5)
    assert pairs[:, 1].mean() == pytest.approx(0.5, abs=0.04)


def test_both_deciding_marks_are_seen_in_about_nine_pictures_of_ten() -> None:
    """A place is free of a leaf with .95, both with .90; a leaf elsewhere may reach over."""
    rows = birds(seed=0, test=20 if EVERYTHING else 10).test
    shares = np.array([deciding_visibility(rows.bird(i)) for i in range(len(rows))])
    assert 0.84 < (shares >= 0.6).mean() < 0.95


@pytest.mark.parametrize("mark", list(FieldMark))
@pytest.mark.parametrize("species", [0, 15])
def test_a_leaf_over_a_mark_hides_it_whether_it_is_there_or_not(
    mark: FieldMark, species: int
) -> None:
    clear = bird(4, "test", species, 1, occlusion=0.0)
    leaf = Leaf(mark, 0.0, 0.0, 20.0, (100.0, 0.5, 0.5))
    hidden = replace(clear, leaves=(leaf,))
    assert visibility(clear)[mark] > 0.6
    assert visibility(hidden)[mark] < 0.55 * visibility(clear)[mark]
    x, y = placement(clear).point(*places(clear)[mark])
    assert part_map(hidden, 100)[int(y), int(x)] == BodyPart.LEAF


def test_what_lies_outside_the_picture_is_not_seen() -> None:
    one = bird(4, "test", 0, 1, occlusion=0.0)
    for x in (82.0, 200.0):  # the beak beyond the edge, and the whole bird far away
        pose = replace(one.pose, x=x, mirrored=False, degrees=0.0)
        assert visibility(replace(one, pose=pose))[FieldMark.BEAK] == 0


@pytest.mark.parametrize("species", range(0, SPECIES, 3))
def test_the_part_map_has_the_marks_that_the_species_has(species: int) -> None:
    one = bird(6, "test", species, 2, occlusion=0.0)
    seen = set(np.unique(part_map(one, 192)).tolist())
    for mark in (FieldMark.CREST, FieldMark.BAND):
        assert (SITES[mark] in seen) == bool(one.marks[mark])
    always = {BodyPart.TAIL, BodyPart.BEAK, BodyPart.EYE, BodyPart.PATTERN, BodyPart.WING}
    assert always <= seen
    assert BodyPart.LEAF not in seen


def test_the_part_map_lies_where_the_picture_shows_the_part() -> None:
    one = bird(6, "test", 13, 2, occlusion=0.0)
    even = replace(one.light, gain=1.0, cast=(1.0, 1.0, 1.0), shading=0.0, noise=0.0)
    red, _, blue = picture(replace(one, light=even), 192)
    beak = part_map(one, 192) == BodyPart.BEAK
    assert (red - blue)[beak].mean() > 0.4  # orange
    assert part_map(one, 96).shape == (96, 96)


@pytest.mark.parametrize("species", [1, 11, 18])
def test_a_bird_is_the_same_bird_at_every_size(species: int) -> None:
    one = bird(8, "test", species, 4)
    small, large = picture(one, 96), picture(one, 384)
    shrunk = large.reshape(3, 96, 4, 96, 4).mean(axis=(2, 4))
    assert np.corrcoef(small.ravel(), shrunk.ravel())[0, 1] > 0.96
    other = picture(bird(8, "test", species, 5), 96)
    assert np.corrcoef(other.ravel(), shrunk.ravel())[0, 1] < 0.9
    quiet = replace(one, light=replace(one.light, noise=0.0))
    large = picture(quiet, 384).reshape(3, 96, 4, 96, 4).mean(axis=(2, 4))
    assert np.abs(picture(quiet, 96) - large).mean() < 0.004
    coarse = part_map(one, 384)[2::4, 2::4]
    assert (coarse == part_map(one, 96)).mean() > 0.97


def test_grain_is_as_strong_as_it_says_and_the_same_every_time() -> None:
    one = bird(8, "test", 2, 4)
    light = replace(one.light, gain=0.8, noise=0.02)
    noisy = picture(replace(one, light=light), 96)
    grain = noisy - picture(replace(one, light=replace(light, noise=0.0)), 96)
    inner = (noisy > 0.1) & (noisy < 0.9)
    assert grain[inner].std() == pytest.approx(0.02, rel=0.05)
    np.testing.assert_array_equal(noisy, picture(replace(one, light=light), 96))


def test_birds_look_as_those_that_were_looked_at() -> None:
    """Versions of Qt may differ by a level or two along edges, not by a shape or a colour."""
    apart = np.abs(bird_sheet.painted().astype(int) - bird_sheet.kept().astype(int))
    assert apart.mean() < 0.15
    assert (apart > 16).mean() < 0.0005


def test_rows_give_pictures_and_factors_as_the_other_data_sets_do() -> None:
    data = birds(seed=9, train=2, validation=1, test=3, size=32)
    split = data.split("validation")
    assert (len(split.train), len(split.held)) == (40, 20)
    assert len(data.split().held) == 60
    rows = np.array([21, 3])
    x, f = split.train.instances(rows), split.train.factors(rows)
    assert (x.shape, x.dtype) == ((2, 3, 32, 32), np.float32)
    assert x.min() >= 0
    assert x.max() <= 1
    assert split.factor_names == FACTORS
    table = dict(zip(FACTORS, f.T.tolist(), strict=True))
    assert table["species"] == [1, 3]
    assert table["genus"] == [0, 0]
    assert table["pattern"] == [1, 1]
    assert table["crest"] == [0, 1]
    one = data.train.bird(21)
    np.testing.assert_array_equal(f[0, -6:], visibility(one))
    np.testing.assert_array_equal(x[0], picture(one, 32))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="species must be"):
        bird(0, "train", SPECIES, 0)
    with pytest.raises(ValueError, match="part must be one of"):
        bird(0, "held", 0, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="validation must have"):
        birds(seed=0, validation=0)
    with pytest.raises(ValueError, match="seed must not"):
        birds(seed=-1)
    with pytest.raises(IndexError, match="row must be"):
        birds(seed=0, train=1).train.bird(20)
