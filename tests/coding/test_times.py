"""Session times as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import NS
from labapp.base.errors import UsageError
from labapp.coding.annotations.model import time_ns, time_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12:34.5", 754.5), ("754.5", 754.5), ("1:02:03", 3723), ("0:00", 0), ("90:00", 5400)],
)
def test_a_time_is_read(text: str, seconds: float) -> None:
    assert time_ns(text) == seconds * NS


@pytest.mark.parametrize("text", ["", "12:", "12:60", "1:60:00", "-3", "1e3", "five", "1:2:3:4"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="no time"):
        time_ns(text)


@given(st.integers(0, 20_000 * NS))
def test_a_time_comes_back_to_the_digits_that_are_written(t_ns: int) -> None:
    assert time_ns(time_text(t_ns, 9)) == t_ns
    assert 0 <= t_ns - time_ns(time_text(t_ns, 1)) < NS // 10
