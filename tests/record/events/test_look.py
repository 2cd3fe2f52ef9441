"""What a window shows besides the state leads from any look to any other, event by event."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labapp.record.events.lifecycle import PageTurned, PartStarted
from labapp.record.events.look import Look, ScreenEnlarged, ScreenScrolled, WindowShown

SHARES = st.floats(0, 1)
LOOKS = st.builds(
    Look,
    st.builds(
        WindowShown,
        st.integers(900, 4000),
        st.integers(560, 2500),
        st.sampled_from((1.0, 1.5, 2.0)),
        st.just("DP-1"),
        st.just(3840),
        st.just(2160),
    ),
    st.integers(0, 4),
    st.booleans(),
    st.lists(st.integers(0, 900), max_size=4).map(tuple),
    st.builds(ScreenEnlarged, st.integers(-2, 20), SHARES, SHARES, st.floats(0, 4)),
)


@given(LOOKS, LOOKS)
def test_every_look_can_be_told(before: Look, after: Look) -> None:
    told = 0
    while (payload := before.toward(after)) is not None:
        before, told = before.after(payload), told + 1
        assert told <= 3 + 4, "an event for the window, the page, the picture, and each area"
    assert before == after


@given(LOOKS)
def test_a_page_begins_at_its_top_and_a_part_with_its_first_page(look: Look) -> None:
    assert look.after(PageTurned(1)) == Look(look.window, look.page)
    assert look.after(PartStarted(3)) == Look(look.window)


def test_what_is_not_scrolled_is_not_told() -> None:
    assert Look(scrolled=(0, 0)) == Look()
    assert Look().after(ScreenScrolled(2, 40)).scrolled == (0, 0, 40)
    assert Look().after(ScreenScrolled(2, 40)).after(ScreenScrolled(2, 0)) == Look()
