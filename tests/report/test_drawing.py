"""Names beside the axes of figures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labapp.report.drawing import LONGEST_NAMES, model_names, shortened

WORDS = st.text("ab-", min_size=1, max_size=120)


@given(st.lists(WORDS, unique=True, min_size=1, max_size=12))
def test_names_are_short_and_stay_apart(names: list[str]) -> None:
    short = shortened(names)
    assert len(set(short)) == len(names)
    assert all(len(name) <= max(LONGEST_NAMES) for name in short)
    assert all(new == old for new, old in zip(short, names, strict=True) if "…" not in new)


def test_a_data_set_stands_where_there_are_several() -> None:
    assert model_names(["a/vae", "a/ae"]) == ["vae", "ae"]
    assert model_names(["a/vae", "b/vae", "alone"]) == ["a/\nvae", "b/\nvae", "alone"]
    middle = shortened(["x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50])
    assert [name[-3:] for name in middle] == ["… 1", "… 2"]
