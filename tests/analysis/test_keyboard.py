"""When the participant's keyboard was away, and what that does to the tables."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.rows import SessionRecords, spans_away, within
from labapp.analysis.tables import tables_of
from labapp.base.clock import NS
from labapp.record.events import Event, Payload, Source
from labapp.record.events.commands import Pause, Resume
from labapp.record.events.lifecycle import (
    KeyboardGiven,
    SegmentStarted,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.tasks.unmasking.events import StimulusHidden
from labapp.tasks.unmasking.report.contents import groups_of
from labapp.tasks.unmasking.report.curves import Cells
from labapp.tasks.unmasking.report.sections import timing
from tests.analysis.sessions import Stamped, paired
from tests.helpers.judged import of_play
from tests.helpers.unmasking import UnmaskingPlay

LENT, BACK = KeyboardGiven("moderator", "note"), KeyboardGiven("participant", "enter")
GONE, THERE = WindowFocus(focused=False), WindowFocus(focused=True)


def stamped(*payloads: tuple[float, Payload]) -> Stamped:
    """Events of a person's session at so many seconds."""
    return [
        (
            Event(
                seq, 1, round(at * NS), "", Source.SYSTEM, payload.kind, 1, None, None, None,
                payload.as_dict(),
            ),
            payload,
        )
        for seq, (at, payload) in enumerate(payloads, start=1)
    ]  # fmt: skip


def spans(*payloads: tuple[float, Payload]) -> list[tuple[float, float]]:
    return [(start / NS, end / NS) for start, end in spans_away(stamped(*payloads))]


def test_it_is_away_while_it_is_lent_or_the_window_has_none() -> None:
    assert spans((1, LENT), (4, BACK)) == [(1, 4)]
    # As it happens: the window is back before the keys are up.
    assert spans((1, GONE), (1, LENT), (4, THERE), (4.1, BACK), (9, GONE), (11, THERE)) == [
        (1, 4.1), (9, 11),
    ]  # fmt: skip
    assert spans((1, GONE), (3, SessionPaused("tea"))) == [(1, 3)]
    assert spans((1, SessionPaused("tea")), (2, LENT), (3, BACK), (4, SessionResumed("tea"))) == []
    assert spans(
        (1, SessionPaused("tea")), (2, LENT), (4, SessionResumed("tea")), (6, BACK)
    ) == [(4, 6)]  # fmt: skip
    assert spans((1, LENT), (7, THERE)) == [(1, 7)]


def test_a_new_run_begins_with_the_keyboard_at_the_participants() -> None:
    begun = SegmentStarted(2, "", "", "1", "0", gap_from_ns=5 * NS)
    found = spans((1, LENT), (9, begun), (12, SessionResumed("on")), (15, GONE), (16, THERE))
    assert found == [(1, 5), (15, 16)]


@given(
    st.lists(st.tuples(st.floats(0, 10), st.sampled_from([LENT, BACK, GONE, THERE])), max_size=12),
    st.floats(0, 12),
    st.floats(0, 12),
)
def test_within_agrees_with_every_moment(
    steps: list[tuple[float, Payload]], one: float, other: float
) -> None:
    steps.sort(key=lambda step: step[0])
    away = spans_away(stamped(*steps, (20, THERE), (20, BACK)))
    start, end = sorted((round(one * NS), round(other * NS)))
    lent = unfocused = False
    said = False
    for place, (at, payload) in enumerate(steps):
        lent = payload == LENT if isinstance(payload, KeyboardGiven) else lent
        unfocused = payload == GONE if isinstance(payload, WindowFocus) else unfocused
        until = steps[place + 1][0] if place + 1 < len(steps) else 20
        if (lent or unfocused) and round(at * NS) <= end and round(until * NS) >= start:
            said = True
    # Spans that touch are one.
    assert within(away, start, end) == said


def of_person(play: UnmaskingPlay, *between: tuple[int, Payload]) -> Stamped:
    """What was played, as by a person; between: payloads at session times."""
    made = of_play(play)
    events = [
        (event._replace(source=Source.PARTICIPANT if event.trial else Source.SYSTEM), payload)
        for event, payload in paired(made)
    ]
    for at_ns, payload in between:
        event = events[0][0]._replace(t_ns=at_ns, kind=payload.kind, payload=payload.as_dict(), v=1)
        place = sum(known.t_ns <= at_ns for known, _ in events)
        events.insert(place, (event._replace(part_id=None, trial=None, attempt=None), payload))
    return events


def annotations(events: Stamped) -> pd.DataFrame:
    return tables_of([SessionRecords.of(events, "test")]).annotations


def test_a_timed_trial_is_marked_when_it_fell_between_onset_and_response() -> None:
    play = UnmaskingPlay.of(sequences=3)
    times = []
    for _ in range(4):
        begun = play.now_ns
        play.respond(1, after_s=2)
        times.append((begun, play.now_ns))
    (first, _), (second, answered), (third, _), (fourth, _) = times
    rows = annotations(
        of_person(play, (second + NS // 2, LENT), (answered - NS // 2, BACK), (fourth + NS, GONE))
    )
    away = rows.set_index("trial")["keyboard_away"].to_dict()
    assert away == {1: False, 2: True, 3: False, 4: True} | {
        trial: True for trial in away if trial > 4
    }
    assert not rows[rows["trial"] == 2]["excluded"].any()  # the answer counts, the time does not
    assert first < second < third


def test_the_times_of_marked_trials_are_left_out_and_counted() -> None:
    play = UnmaskingPlay.of(sequences=3)
    play.respond(1, after_s=0.5)
    begun = play.now_ns
    play.respond(1, after_s=50)
    play.through(1)
    events = of_person(play, (begun + NS, LENT), (begun + 48 * NS, BACK))
    found = tables_of([SessionRecords.of(events, "test")])
    (group,) = groups_of(found)
    cells = Cells.of(group)
    assert len(cells.ms) == len(group.annotations)
    assert pd.isna(cells.ms).sum() == 1
    assert max(cells.ms[~pd.isna(cells.ms)]) == pytest.approx(500)
    stage = found.stages.iloc[0]
    assert stage["response_time_s"] == pytest.approx(0.5)
    assert stage["n_answered"] == len(group.annotations)
    said = " ".join(str(part) for part in timing(group))
    assert "Keyboard away, reaction time left out" in said
    trials = found.trials.set_index("trial")["keyboard_away"]
    assert trials.to_dict() == {n: n == 2 for n in trials.index}


def test_a_program_has_no_keyboard() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    events = of_person(play, (0, LENT))
    assert annotations(events)["keyboard_away"].all()
    simulated = [
        (event._replace(source=Source.SIMULATED) if event.trial else event, payload)
        for event, payload in events
    ]
    assert not annotations(simulated)["keyboard_away"].any()


def test_prior_exposures_count_what_was_seen_before() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    play.send(StimulusHidden())
    play.send(StimulusHidden())
    play.paints = False
    play.send(Pause("a call"))
    play.send(Resume("on"))
    play.send(Pause("another"))  # before it was painted
    play.send(Resume("on"))
    play.paints = True
    play.paint()
    play.through(1)
    rows = annotations(of_person(play))
    again = rows[rows["trial"] == 2]
    shown = again["painted_s"].notna().tolist()
    assert again["prior_exposures"].tolist() == [sum(shown[:n]) for n in range(len(shown))]
    assert again["prior_exposures"].max() >= 2
    assert rows[rows["trial"] != 2]["prior_exposures"].eq(0).all()
