"""Commands that every property of a session may send in between."""

from __future__ import annotations

from hypothesis import strategies as st

from labapp.record.events.commands import (
    AskToLeave,
    Begin,
    ConfirmSkip,
    Pause,
    Resume,
    ShowQuestion,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Tick,
)

UNDOING = st.one_of(
    st.builds(SkipStage),
    st.builds(SkipStage, st.none(), st.integers(0, 9)),
    st.builds(TakeBackSkip, st.sampled_from(["trial", "part"])),
    st.builds(ConfirmSkip),
    st.builds(AskToLeave, st.just("escape")),
    st.builds(StayHere),
)
"""What skips, asks to leave, and takes that back."""
BETWEEN = st.one_of(
    st.builds(Begin),
    st.builds(Tick),
    st.builds(ShowQuestion),
    st.builds(Pause, st.just("pause")),
    st.builds(Resume, st.just("on")),
    st.builds(Resume, st.just("on")),
    UNDOING,
)
"""What may come between the answers of any task."""
