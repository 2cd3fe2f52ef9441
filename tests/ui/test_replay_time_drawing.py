"""What a timeline reckons with: the view of time, columns of sound and of a curve."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import NS
from labapp.ui.replay import timeline_rows as drawing
from labapp.ui.replay.timeline_rows import LEAST_SPAN_NS, TICK_PX, TimeScale
from tests.helpers.timelines import MIN, MemoryPeaks, made_units

END = 20 * MIN
UNITS = made_units(END)


def test_a_moved_view_asks_for_new_columns_of_sound_only() -> None:
    peaks = MemoryPeaks(END, UNITS)
    columns = drawing.WaveColumns(peaks)
    columns.between(1000, 800, 1e7)
    asked = peaks.asked
    low, high = columns.between(1007, 800, 1e7)
    assert peaks.asked - asked == 7
    fresh_low, fresh_high = drawing.WaveColumns(peaks).between(1007, 800, 1e7)
    np.testing.assert_array_equal(low, fresh_low)
    np.testing.assert_array_equal(high, fresh_high)
    low, _ = columns.between(990, 800, 1e7)
    np.testing.assert_array_equal(low, drawing.WaveColumns(peaks).between(990, 800, 1e7)[0])


def test_a_curve_stays_until_it_changes_and_breaks_off() -> None:
    scale = TimeScale()
    scale.set_session(0, 10 * NS)
    scale.resize(0, 10)
    times = np.array([NS, 3 * NS, 3 * NS + 1, 6 * NS], dtype=np.int64)
    values = np.array([0.2, 0.9, 0.5, np.nan], dtype=np.float32)
    low, high = drawing.step_columns(scale, times, values, 10)
    np.testing.assert_allclose(low[[1, 2, 3, 5]], [0.2, 0.2, 0.2, 0.5])
    np.testing.assert_allclose(high[[1, 2, 3, 5]], [0.2, 0.2, 0.9, 0.5], rtol=1e-6)
    assert np.isnan(low[[0, 7, 9]]).all()


@given(
    st.lists(
        st.tuples(st.sampled_from(["zoom", "pan", "show"]), st.floats(-3, 3), st.floats(0, 1)),
        max_size=30,
    )
)
def test_no_move_leaves_the_session(moves: list[tuple[str, float, float]]) -> None:
    scale = TimeScale()
    scale.set_session(7, END)
    scale.resize(100, 900)
    for move, amount, share in moves:
        if move == "zoom":
            scale.zoom(2.0**amount, 100 + 900 * share)
        elif move == "pan":
            scale.pan(1000 * amount)
        else:
            scale.show(share * END, share * END + abs(amount) * MIN)
        assert scale.left_ns >= 7
        assert scale.right_ns <= END + 1
        assert scale.span_ns >= LEAST_SPAN_NS
        places = [scale.x(t_ns) for t_ns, _ in scale.ticks()]
        assert all(b - a >= TICK_PX - 1e-6 for a, b in pairwise(places))


def test_labels_of_times_tell_ticks_apart() -> None:
    scale = TimeScale()
    scale.set_session(0, END)
    for span in (NS // 2, 3 * NS, 40 * NS, 7 * MIN, END):
        scale.resize(0, 1000)
        scale.show(MIN, MIN + span)
        words = [word for _, word in scale.ticks()]
        assert len(words) == len(set(words)) > 1
