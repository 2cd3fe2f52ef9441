from __future__ import annotations

import pandas as pd
import pytest

from labapp.analysis import Tables
from labapp.tasks.unmasking.report import curves
from labapp.tasks.unmasking.report.contents import findings, groups_of
from labapp.tasks.unmasking.report.curves import Cells
from tests.helpers.observers import World, group_of, observed

SMALL = World(images=4, percents=(5.0, 8.0, 15.0, 26.0, 60.0))


def together(*tables: Tables) -> Tables:
    frames = [one.by_name() for one in tables]
    all_of = {
        name: pd.concat([frame[name] for frame in frames], ignore_index=True) for name in frames[0]
    }
    return Tables.of(all_of, all_of["snapshots"])


def changed(tables: Tables, **values: object) -> Tables:
    """With other values in the columns that annotations and masked predictions share."""
    frames = tables.by_name()
    for name in ("annotations", "masked_predictions"):
        frames[name] = frames[name].assign(**values)
    return Tables.of(frames, frames["snapshots"])


def test_the_set_is_known_from_the_tables() -> None:
    world = World(images=4, pool={("anger", "happiness"): 3, ("happiness", "happiness"): 5})
    (group,) = groups_of(observed(3, world))
    assert list(group.methods.items()) == [
        ("gradient", "GRADIENT"),
        ("guided_backprop", "GUIDED_BACKPROP"),
        ("lrp", "LRP"),
    ]
    assert group.percents == tuple(world.percents)
    assert group.images == ("image-00", "image-01", "image-02", "image-03")
    assert (group.classes, group.grid) == (("anger", "happiness"), (48, 48))
    assert (group.classifier, group.accuracy) == ("some/model", 80.0)
    assert [(one.truth, one.prediction, one.count) for one in group.pool] == [
        ("anger", "happiness", 3),
        ("happiness", "happiness", 5),
    ]
    assert (group.participants, group.has_model, group.name) == (3, True, "made-up")


def test_methods_keep_the_order_of_the_set() -> None:
    world = World(methods=("zeta", "alpha"), images=2)
    (group,) = groups_of(observed(2, world, {"zeta": 9.0, "alpha": 9.0}))
    assert list(group.methods) == ["zeta", "alpha"]


def test_studies_sets_and_ways_of_masking_are_apart() -> None:
    one = observed(3, SMALL)
    groups = groups_of(
        together(
            one,
            changed(one, study="another"),
            changed(one, fill="black"),
            changed(one, sign="absolute"),
        )
    )
    assert [group.name for group in groups] == [
        "another",
        "made-up, a-set, fill black, scores signed",
        "made-up, a-set, fill mean, scores absolute",
        "made-up, a-set, fill mean, scores signed",
    ]
    assert [len(group.annotations) for group in groups] == [len(one.annotations)] * 4


def test_a_set_that_was_made_anew_is_another() -> None:
    one = observed(3, SMALL)
    groups = groups_of(together(one, changed(one, manifest_sha256="b" * 64)))
    assert [group.name for group in groups] == [
        "made-up, a-set, fill mean, scores signed, manifest aaaaaaaa",
        "made-up, a-set, fill mean, scores signed, manifest bbbbbbbb",
    ]


def test_a_set_without_a_model_package() -> None:
    (group,) = groups_of(changed(observed(2, SMALL), classifier=None))
    assert group.classifier is None
    assert len(group.annotations) == 2 * 4 * 3 * 5


def test_a_participant_of_two_sessions_is_one() -> None:
    one = observed(3, SMALL)
    again = one.annotations.assign(session="2")
    twice = one.by_name() | {"annotations": pd.concat([one.annotations, again])}
    group = group_of(Tables.of(twice, twice["snapshots"]))
    assert group.participants == 3
    found, alone = (curves.accuracy(Cells.of(each)) for each in (group, group_of(one)))
    assert (found["n"] == 2 * alone["n"]).all()
    # Nothing new was learnt of any participant: the intervals are the same.
    ends = ["share", "low", "high"]
    assert found[ends].to_numpy() == pytest.approx(alone[ends].to_numpy())


def test_no_unmasking_no_groups() -> None:
    empty = {name: frame.iloc[:0] for name, frame in observed(0).by_name().items()}
    assert findings(Tables.of(empty, empty["snapshots"])) == ()


def test_the_same_tables_give_the_same_numbers() -> None:
    (one,), (other,) = findings(observed(4, SMALL)), findings(observed(4, SMALL))
    for name in ("labels", "times", "accuracy", "model"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    pd.testing.assert_frame_equal(one.fits.pooled, other.fits.pooled)
    pd.testing.assert_frame_equal(one.ranks.overall, other.ranks.overall)
