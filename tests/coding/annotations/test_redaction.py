"""Redacted sound is silent to the sample, and redacted words are in no text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labapp.coding.annotations.model import Redaction, Text, Word
from labapp.coding.annotations.texts import (
    find_redacted_frames,
    is_redacted,
    join_ranges,
    without_words,
)

S = 1_000_000_000
RATE = 48_000.0


@given(
    st.integers(0, 10 * S),
    st.floats(47_900, 48_100),
    st.lists(st.tuples(st.integers(0, 12 * S), st.integers(0, S)), max_size=4),
)
def test_no_sample_of_a_redacted_time_is_left_and_no_other_one_goes(
    t0_ns: int, rate: float, spans: list[tuple[int, int]]
) -> None:
    samples = np.ones(int(rate), dtype=np.int16)
    redactions = [Redaction(str(n), at, at + length) for n, (at, length) in enumerate(spans)]
    silent = samples.copy()
    for begin, end in find_redacted_frames(len(samples), t0_ns, rate, redactions):
        silent[begin:end] = 0
    times = t0_ns + np.arange(len(samples)) * 1e9 / rate
    inside = np.zeros(len(samples), dtype=bool)
    wide = np.zeros(len(samples), dtype=bool)
    for r in redactions:
        inside |= (times >= r.t0_ns) & (times < r.t1_ns)
        wide |= (times > r.t0_ns - 3e9 / rate) & (times < r.t1_ns + 3e9 / rate)
    assert not silent[inside].any()
    assert silent[~wide].all()


def test_ranges_that_touch_are_joined() -> None:
    assert join_ranges([(5, 7), (0, 2), (2, 3), (6, 9)]) == [(0, 3), (5, 9)]


def test_a_point_lies_in_a_stretch_that_begins_then() -> None:
    stretch = (Redaction("r", S, 2 * S),)
    assert is_redacted(S, S, stretch)
    assert not is_redacted(2 * S, 2 * S, stretch)


def spoken(*words: str) -> Text:
    """A text whose n-th word is said in the n-th second."""
    times = tuple(Word(n * S, (n + 1) * S, word) for n, word in enumerate(words))
    return Text("u", " ".join(words), times)


def test_words_with_times_go_one_by_one() -> None:
    text = spoken("I", "met", "Jane", "Doe", "today")
    out = without_words(text, 0, 5 * S, [Redaction("r", 2 * S, 4 * S, "[name]")])
    assert out.text == "I met [name] today"
    assert [word.text for word in out.words] == ["I", "met", "today"]


def test_two_stretches_have_each_their_own_replacement() -> None:
    out = without_words(
        spoken("Jane", "Doe", "met"),
        0,
        3 * S,
        [Redaction("a", 0, S, "[name]"), Redaction("b", S, 2 * S, "[family]")],
    )
    assert out.text == "[name] [family] met"


def test_a_text_without_times_goes_as_a_whole() -> None:
    edited = Text("u", "I met Jane", spoken("I", "met", "June").words)
    for text in (Text("u", "I met Jane"), edited):
        out = without_words(text, 0, 3 * S, [Redaction("r", 2 * S, 3 * S)])
        assert (out.text, out.words) == ("[…]", ())


def test_a_text_of_another_time_stays() -> None:
    text = spoken("I", "met")
    assert without_words(text, 0, 2 * S, [Redaction("r", 2 * S, 3 * S)]) == text


def test_what_was_redacted_before_stays_as_it_was_put() -> None:
    """The text as it is stored after a redaction, read once more, and redacted further."""
    first = Redaction("a", S, 2 * S, "[name]")
    once = without_words(spoken("I", "Jane", "met", "Doe"), 0, 4 * S, [first])
    assert once.text == "I [name] met Doe"
    assert without_words(once, 0, 4 * S, [first]) == once
    second = Redaction("b", 3 * S, 4 * S, "[family]")
    twice = without_words(once, 0, 4 * S, [first, second])
    assert twice.text == "I [name] met [family]"
    assert without_words(twice, 0, 4 * S, [first, second]) == twice
