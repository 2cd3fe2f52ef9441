"""Reference pictures of concepts: which pairs are chosen, and that they are told by the picture."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.resources import assets
from labapp.models.stimuli import library
from labapp.models.stimuli.check import reference_pairs, reserved
from labapp.models.stimuli.manifest import Concept, Manifest, Photo

MANIFEST = library.load(assets() / "stimuli" / "dsprites-four-cbm").manifest


def photo(name: str, *concepts: bool, item: str | None = "control") -> Photo:
    return Photo.model_validate(
        {
            "id": name,
            "set": 1,
            "photo": f"{name}.png",
            "truth": "c0",
            "prediction": "c0",
            "concepts": concepts,
            "item": item,
        }
    )


def manifest(*photos: Photo) -> Manifest:
    concepts = tuple(
        Concept(id=f"k{n}", name=f"k{n}", off="off", on="on")
        for n in range(len(photos[0].concepts))
    )
    return MANIFEST.model_copy(update={"photos": photos, "concepts": concepts})


def names(made: Manifest) -> list[tuple[str, str, int]]:
    return [(pair.off.id, pair.on.id, len(pair.differing)) for pair in reference_pairs(made, 1)]


def test_a_pair_differs_in_its_concept_alone_where_there_is_one() -> None:
    made = manifest(photo("a", False, False), photo("b", True, True), photo("c", True, False))
    assert names(made) == [("a", "c", 0), ("c", "b", 0)]


def test_where_none_does_the_nearest_pair_is_taken() -> None:
    made = manifest(photo("a", False, False, False), photo("b", True, True, False),
                    photo("c", True, True, True))  # fmt: skip
    assert names(made) == [("a", "b", 1), ("a", "b", 1), ("b", "c", 0)]


def test_pictures_are_used_again_and_taken_from_what_there_is_most_of() -> None:
    rare = photo("rare", False, False, item="trap")
    made = manifest(
        rare, *(photo(f"a{n}", False, False) for n in range(3)),
        photo("b", True, False), photo("c", False, True),
    )  # fmt: skip
    assert names(made) == [("a0", "b", 0), ("a0", "c", 0)]
    assert reserved(reference_pairs(made, 1)) == {"a0.png", "b.png", "c.png"}


def test_a_concept_that_all_pictures_have_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="all pictures show 'k1' in the same way"):
        reference_pairs(manifest(photo("a", False, True), photo("b", True, True)), 1)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_pairs_show_both_states_and_nothing_nearer_is_passed_over(
    rows: list[tuple[bool, bool, bool]],
) -> None:
    made = manifest(*(photo(f"p{n}", *row) for n, row in enumerate(rows)))
    if any(len({row[place] for row in rows}) == 1 for place in range(3)):
        with pytest.raises(ValueError, match="in the same way"):
            reference_pairs(made, 1)
        return
    pairs = reference_pairs(made, 1)
    assert [pair.concept for pair in pairs] == [0, 1, 2]
    for pair in pairs:
        assert (pair.off.concepts[pair.concept], pair.on.concepts[pair.concept]) == (False, True)
        nearest = min(
            sum(a != b for a, b in zip(off, on, strict=True)) - 1
            for off in rows
            for on in rows
            if on[pair.concept] and not off[pair.concept]
        )
        assert len(pair.differing) == nearest
        assert pair.differing == tuple(
            place
            for place in range(3)
            if place != pair.concept and pair.off.concepts[place] != pair.on.concepts[place]
        )
    assert len(reserved(pairs)) <= 2 * len(pairs)


@pytest.mark.parametrize("folder", sorted((assets() / "stimuli").glob("*/answers.npy")))
def test_shipped_sets_show_every_concept_alone_and_keep_enough_pictures(folder: object) -> None:
    """Six of each kind for a stage and five for a practice stay, as the shipped studies ask for."""
    made = library.load(folder.parent).manifest  # type: ignore[attr-defined]
    pairs = reference_pairs(made, 1)
    assert {pair.differing for pair in pairs} == {()}
    left = [each for each in made.photos if each.photo not in reserved(pairs)]
    for kind in ("repair", "control"):
        assert sum(each.item == kind and not each.natural for each in left) >= 6
    assert sum(each.natural for each in left) >= 6
    assert len(left) >= 3 * 6 + 5
