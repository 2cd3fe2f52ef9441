"""What the console folds from events and the checklist's rules, without windows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.inclusion import RULES
from labapp.base.clock import NS
from labapp.record.events import Event, Payload, Source, UnstampedEvent
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    ClockChanged,
    CloseRequested,
    CloseWithdrawn,
    FlagAdded,
    InclusionDecided,
    NoteAdded,
    PartRestarted,
    PartStarted,
    ProgramStalled,
    ScreenChanged,
    SegmentStarted,
    SessionCompleted,
    SessionPaused,
    SessionResumed,
)
from labapp.record.events.registry import Pauses
from labapp.record.events.voice import (
    AudioDeviceBack,
    AudioDeviceLost,
    AudioGap,
    AudioOff,
    AudioStarted,
    AudioState,
)
from labapp.study.loading import load
from labapp.study.plan import PagesPart
from labapp.study.planner import realise
from labapp.study.plugins.part import RepresentationPart
from labapp.study.schema import Participants
from labapp.tasks.reconstruction.beside import LIMIT, Curve
from labapp.tasks.reconstruction.events import (
    AlignmentMarked,
    DialMoved,
    PictureDecoded,
    TrialDrawn,
    TrialStarted,
)
from labapp.ui.language import tr
from labapp.ui.moderator import checklist, wording
from labapp.ui.moderator.checklist import ChecklistRow, Microphone, ScreenChoice, Warm
from labapp.ui.moderator.state.alarms import Alarms, Watch
from labapp.ui.moderator.state.console import (
    ENOUGH,
    UNNAMED,
    ConsoleState,
    DeviationLog,
    Latency,
    Sound,
    WorkTime,
    rows_of,
    veil_of,
)
from tests.helpers.journals import stamp
from tests.helpers.rooms import decoder_of
from tests.ui.desk import HEARD, Desk


def events_of(*timed: tuple[float, Payload]) -> list[Event]:
    """Stamped events at these session times in s."""
    return stamp([(round(t * NS), Source.SYSTEM, UnstampedEvent(payload)) for t, payload in timed])


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), max_size=20))
def test_working_time_agrees_with_the_rule_of_durations(steps: list[tuple[int, bool]]) -> None:
    t, timed = 0, []
    for wait, pause in steps:
        t += wait
        timed.append((t, SessionPaused("x") if pause else SessionResumed("x")))
    work, pauses, seen = WorkTime(), Pauses(), []
    for event in events_of(*timed):
        work.apply(event)
        pauses = pauses.apply(event)
        assert work.working_ns(event.t_ns) == pauses.working_ns(event.t_ns)
        seen.append((event.t_ns, work.working_ns(event.t_ns)))
    # The past stays where it was, and time never runs back.
    assert [(at, work.working_ns(at)) for at, _ in seen] == seen
    times = [work.working_ns(second * NS) for second in range(t + 10)]
    assert all(0 <= b - a <= NS for a, b in pairwise(times))


def test_a_crash_gap_takes_no_working_time() -> None:
    work = WorkTime()
    for event in events_of(
        (100, SegmentStarted(2, "u", "b", "v", "s", 40 * NS)), (130, SessionResumed("resume"))
    ):
        work.apply(event)
    assert work.working_ns(40 * NS) == 40 * NS
    assert work.working_ns(100 * NS) == 40 * NS
    assert work.working_ns(135 * NS) == 45 * NS


def shown(*timed: tuple[float, Payload]) -> list[str]:
    alarms = Alarms()
    for event in events_of(*timed):
        alarms.apply(event)
    return [alarm.sentence for alarm in alarms.visible()]


CLEARED_BY = [
    (AlarmRaised("journal_stalled", "disk I/O error"), AlarmCleared("journal_stalled")),
    (AlarmRaised("sound_disk_low", "12 MB"), AlarmCleared("sound_disk_low")),
    (AlarmRaised("decoder_slow", "20 ms"), AlarmCleared("decoder_slow")),
    (AlarmRaised("something_new", "told so"), AlarmCleared("something_new")),
    (AudioDeviceLost("Jabra", "unplugged"), AudioDeviceBack("Jabra")),
    (AudioState("silent", 0), AudioState("heard", 0)),
    (AudioState("zeros", 0), AudioState("heard", 0)),
    (AudioState("clipping", 0), AudioState("heard", 0)),
    (ScreenChanged("removed", "DP-1", 1), ScreenChanged("added", "DP-1", 2)),
    (CloseRequested("escape"), CloseWithdrawn()),
]


@pytest.mark.parametrize(("raised", "cleared"), CLEARED_BY, ids=lambda payload: str(payload.kind))
def test_an_alarm_stands_until_its_cause_is_over(raised: Payload, cleared: Payload) -> None:
    assert len(shown((1, raised))) == 1
    assert shown((1, raised), (2, cleared)) == []


def test_the_sentences_of_the_alarms_differ() -> None:
    said = [shown((1, raised))[0] for raised, _ in CLEARED_BY]
    said += shown((1, AudioGap("f", 0, 480, "overflow")))
    assert len(set(said)) == len(said) == 11
    assert "480 frames, replaced with silence (the computer was too slow)" in said[-1]
    assert (
        said[-2]
        == "The participant wants to stop: pressed Escape. Ask them, then click Pause or End"
    )
    assert "muted, or the system is blocking it" in said[6]


def test_one_state_of_the_voice_replaces_another() -> None:
    said = shown((1, AudioState("silent", 0)), (2, AudioState("zeros", 0)))
    assert len(said) == 1
    assert "no signal at all" in said[0]


def test_exact_silence_after_a_voice_is_a_noise_gate_and_no_alarm() -> None:
    heard, zeros = AudioState("heard", 0), AudioState("zeros", 0)
    for before, severity in (([], "alarm"), ([heard], "warn"), ([zeros, heard], "warn")):
        alarms = Alarms()
        for event in events_of(*enumerate([*before, zeros], start=1)):
            alarms.apply(event)
        assert [alarm.severity for alarm in alarms.visible()] == [severity]
    # Another microphone has to be heard first.
    lost, back = AudioDeviceLost("Jabra", "unplugged"), AudioDeviceBack("Jabra")
    said = shown(*enumerate([heard, lost, back, zeros], start=1))
    assert "muted, or the system is blocking it" in said[0]


def test_the_gap_of_a_lost_microphone_is_no_second_alarm() -> None:
    assert shown((1, AudioGap("f", 0, 48_000, "device_lost"))) == []


FAULT = "Tell the participant that it was the computer’s fault"

CHANGED = "The computer’s clock was changed: back by 2:00:00"

STALLS: list[tuple[Payload, str]] = [
    (
        ProgramStalled("program", NS, 20 * NS, 0, True),
        f"The program froze for 20.0 s: that time is not counted. {FAULT}",
    ),
    (
        ProgramStalled("computer", NS, 20 * NS, 0, False),
        f"The computer froze for 20.0 s: that time still counts. {FAULT}",
    ),
    (
        ProgramStalled("computer", NS, 0, 600 * NS, False),
        f"The computer slept for 10:00: that time is not counted. {FAULT}",
    ),
    (
        ProgramStalled("recorder", NS, 3 * NS),
        "The sound recorder froze for 3.0 s: the voice was not recorded during that time",
    ),
    (ClockChanged(-7200.0), f"{CHANGED}. The session’s times are not affected"),
    (
        ClockChanged(-7200.0, certain=False),
        f"{CHANGED} or more. The length of the interruption is unknown",
    ),
]


@pytest.mark.parametrize(("stalled", "words"), STALLS)
def test_a_standstill_and_a_set_clock_are_told_until_they_are_dismissed(
    stalled: Payload, words: str
) -> None:
    assert shown((22, stalled)) == [words]
    (event,) = events_of((22, stalled))
    alarms, log, work = Alarms(), DeviationLog(), WorkTime()
    alarms.apply(event)
    assert log.apply(event)
    alarms.dismiss(alarms.visible()[0].key)
    assert not alarms.standing, "nothing else ends it"
    ((_, line),) = log.lines()
    assert line == words.partition(": that")[0].partition(": the voice")[0]
    work.apply(event)
    left_out = isinstance(stalled, ProgramStalled) and stalled.left_out
    assert work.working_ns(22 * NS) == (2 if left_out else 22) * NS
    assert work.working_ns(11 * NS) == (1 if left_out else 11) * NS


def test_alarms_come_before_warnings_and_the_newest_first() -> None:
    said = shown(
        (1, AudioDeviceLost("m", "unplugged")),
        (2, ScreenChanged("removed", "DP-1", 1)),
        (3, AudioState("silent", 0)),
    )
    assert [one.split()[0] for one in said] == ["Screen", "The", "Nobody"]


def test_a_dismissed_alarm_comes_back_when_it_is_raised_again() -> None:
    alarms = Alarms()
    first, again = events_of((1, CloseRequested("escape")), (9, CloseRequested("close")))
    alarms.apply(first)
    alarms.dismiss("close")
    assert alarms.visible() == []
    alarms.apply(again)
    assert [alarm.detail for alarm in alarms.visible()] == [
        "tried to close the window. Ask them, then click Pause or End"
    ]


def test_a_new_run_begins_without_alarms() -> None:
    gone = SegmentStarted(2, "u", "b", "v", "s", NS)
    assert shown((1, AudioDeviceLost("m", "x")), (5, gone)) == []


@given(st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1)), min_size=1, max_size=3000))
def test_the_curve_stays_short_and_ends_with_the_newest_value(
    moves: list[tuple[int, float]],
) -> None:
    curve, work, t = Curve(), WorkTime(), 0.0
    timed: list[tuple[float, Payload]] = [(0, TrialStarted(0.5, 1, 1, aligned_at_start=False))]
    for seq, (wait_ms, alignment) in enumerate(moves, start=1):
        t += wait_ms / 1000
        timed.append((t, PictureDecoded(seq, alignment, 1, 1)))
    for event in events_of(*timed):
        assert curve.apply(event, work)
    assert len(curve.points) <= LIMIT + 1
    assert curve.points[0] == (0, 0.5)
    assert curve.points[-1] == (round(t * NS), moves[-1][1])
    assert [at for at, _ in curve.points] == sorted(at for at, _ in curve.points)


def test_the_curve_starts_anew_with_each_question() -> None:
    curve, work = Curve(), WorkTime()
    timed = [(0, TrialStarted(0.5, 1, 1, aligned_at_start=False)), (1, TrialDrawn((0.0,), (1.0,)))]
    for event in events_of(*timed):  # type: ignore[arg-type]
        curve.apply(event, work)
    assert curve.points == []


def test_decoding_time_is_measured_from_dial_to_picture() -> None:
    latency = Latency()
    timed: list[tuple[float, Payload]] = []
    for seq in range(1, ENOUGH + 2):
        at = float(seq)
        timed.append((at, DialMoved(seq, 0, seq / 100, "mouse")))
        if seq != 7:  # passed by: the worker decoded the newer state
            timed.append((at + (0.050 if seq == 9 else 0.002), PictureDecoded(seq, 0.5, 1, 1)))
    *all_but_last, last = events_of(*timed)
    for event in all_but_last:
        latency.apply(event)
    assert latency.p99_ms() is None
    latency.apply(last)
    assert latency.p99_ms() == pytest.approx(50.0)


def test_the_watch_raises_once_and_clears_well_below_the_limit() -> None:
    watch = Watch(sound=False)
    assert watch.check(None, None) == []
    assert [payload.as_dict()["code"] for payload in watch.check(10**6, 20.0)] == [
        "disk_low",
        "decoder_slow",
    ]
    assert watch.check(10**6, 30.0) == []
    assert watch.check(550 * 10**6, 15.0) == []
    assert watch.check(10**12, 3.0) == [AlarmCleared("disk_low"), AlarmCleared("decoder_slow")]


def test_with_sound_the_recorder_watches_the_disk() -> None:
    assert Watch(sound=True).check(10**6, None) == []


def test_sound_of_the_present_run() -> None:
    sound = Sound()
    for event in events_of(
        (0, AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16")),
        (1, AudioGap("f", 0, 480, "overflow")),
        (2, AudioGap("f", 0, 20, "queue")),
        (3, AudioDeviceLost("Jabra", "x")),
    ):
        sound = sound.apply(event)
    assert (sound.device, sound.rate, sound.lost_frames, sound.lost) == ("Jabra", 48_000, 500, True)
    (restart, off) = events_of((4, SegmentStarted(2, "u", "b", "v", "s", NS)), (5, AudioOff("why")))
    assert sound.apply(restart) == Sound()
    assert sound.apply(off).off == "why"


def test_rows_of_the_plan_take_in_what_belongs_to_a_stage() -> None:
    space = decoder_of("sinelines/gt").space
    plan = realise(
        load("quickstart"), "P01", space_of=lambda model: space, prior_of=lambda model: False
    )
    rows = rows_of(plan.parts)
    assert [row.title for row in rows] == [
        "Consent", "Tutorial", "Practice", "Stage 1", "Stage 2", "Stage 3", "Debrief",
    ]  # fmt: skip
    assert sorted(index for row in rows for index in row.parts) == list(range(len(plan.parts)))
    assert [plan.parts[i].id for i in rows[3].parts] == ["stage-1-intro", "stage-1", "stage-1-seq"]
    models = {"sinelines/gt", "sinelines/vae", "sinelines/ae"}
    assert {row.detail for row in rows[3:6]} == models
    assert {row.detail for row in rows_of(plan.parts, blind=True)} == {""}


@pytest.mark.parametrize(
    "ids",
    [
        ("a/x", "b/x", "a/y"),  # the same behind the stroke
        ("a/x", "a/y", "a/z"),  # the same before it
        ("one/memory", "two/memory", "memory/one"),
    ],
)
def test_a_model_is_named_by_its_whole_id_whatever_the_others_are_called(
    ids: tuple[str, ...],
) -> None:
    space = decoder_of("sinelines/gt").space
    plan = realise(
        load("quickstart"), "P01", space_of=lambda model: space, prior_of=lambda model: False
    )
    names = dict(zip(("sinelines/gt", "sinelines/vae", "sinelines/ae"), ids, strict=True))
    parts = [
        part.model_copy(update={"model": names[part.model]})
        if isinstance(part, RepresentationPart) and part.model in names
        else part
        for part in plan.parts
    ]
    rows = [row.detail for row in rows_of(parts) if row.detail]
    assert sorted(rows) == sorted(ids)
    veil = veil_of(ids)
    (event,) = events_of((1, AlarmRaised("disk", f"{ids[0]} and C:\\{ids[1]}: no memory, no x")))
    detail = veil(event).payload["detail"]
    assert detail.startswith(f"{UNNAMED} and ")
    assert detail.endswith(": no memory, no x")
    assert not any(model in detail for model in ids)


def test_notes_carry_the_working_time_of_their_first_key() -> None:
    state = ConsoleState(())
    for event in events_of(
        (10, SessionPaused("x")),
        (70, SessionResumed("x")),
        (75, NoteAdded("it turned", 72 * NS)),
        (76, FlagAdded(1, "insight")),
    ):
        state.apply(event)
        state.apply(event)  # an event that was taken in already changes nothing
    assert [(n.text, n.working_ns // NS) for n in state.notes] == [
        ("it turned", 12),
        ("insight", 16),
    ]
    pause, note, flag = state.timeline.marks
    assert pause.text == "Paused: x, 1:00"
    assert (note.at_ns // NS, flag.text) == (12, "Flag 1 insight")


def test_an_attempt_that_was_cut_off_does_not_run_on() -> None:
    state = ConsoleState((PagesPart(part="text", id="t", title="Text", document="d"),))
    started = TrialStarted(0.5, 1, 1, aligned_at_start=False)
    for event in events_of(
        (0, PartStarted(0)),
        (1, started),
        (9, SegmentStarted(2, "u", "b", "v", "s", 5 * NS)),
        (10, SessionResumed("resume")),
        (11, PartRestarted(0, 2)),
        (12, started),
        (13, AlignmentMarked("close", 1, 0.5)),
    ):
        state.apply(event)
    cut, running = state.timeline.trials
    assert cut.end_ns is not None
    assert running.end_ns is None
    assert [mark.text for mark in state.timeline.marks if mark.kind == "answer"] == [
        "Close enough: 50.0\N{NO-BREAK SPACE}%"
    ]
    assert [one.kind for one in state.deviations.deviations] == ["interrupted", "stage_restarted"]


@pytest.mark.parametrize(
    ("ns", "short", "long"),
    [(0, "0:00", "00:00:00"), (61 * NS, "1:01", "00:01:01"), (3760 * NS, "1:02:40", "01:02:40")],
)
def test_times(ns: int, short: str, long: str) -> None:
    assert (wording.short_time(ns), wording.long_time(ns)) == (short, long)


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 B"), (999, "999 B"), (2_400_000_000, "2.4 GB"), (212 * 10**9, "212 GB"),
     (999_700_000, "1.0 GB"), (1_800 * 10**9, "1.8 TB")],
)  # fmt: skip
def test_sizes(n: int, text: str) -> None:
    assert wording.size(n) == text


P = Participants()

ROWS = st.builds(
    ChecklistRow,
    st.sampled_from(sorted(checklist.NEEDED)),
    st.sampled_from(["ok", "warn", "missing", "busy"]),
    st.text(max_size=5),
    st.booleans(),
)


@given(st.lists(ROWS, max_size=8))
def test_ready_means_that_every_required_row_is_ok(rows: list[ChecklistRow]) -> None:
    verdict = checklist.readiness(rows)
    assert verdict.ready == all(row.state == "ok" for row in rows if row.required)
    for row in rows:
        if row.required and row.state in ("warn", "missing"):
            assert tr(checklist.NEEDED[row.key]) in verdict.why


def test_what_is_still_checked_is_said_only_when_nothing_is_wrong() -> None:
    busy, wrong = ChecklistRow("decoders", "busy", ""), ChecklistRow("consent", "missing", "")
    assert checklist.readiness([busy]).why == "One moment. Still checking the models."
    assert checklist.readiness([busy, wrong]).why == "To start, you still need the consent text."
    assert checklist.readiness([ChecklistRow("disk", "missing", ""), wrong]).why == (
        "To start, you still need disk space and the consent text."
    )


@given(st.sets(st.integers(1, 150), max_size=30))
def test_the_proposed_id_is_free_and_valid(numbers: set[int]) -> None:
    taken = {P.label(n): ["1"] for n in numbers}
    proposed = P.next_free(taken)
    assert proposed not in taken
    assert checklist.participant_row(P, taken, proposed, "1").state == "ok"


def test_ids_of_another_form_do_not_confuse_the_proposal() -> None:
    assert P.next_free({"P03": ["1"], "pilot": ["1"]}) == "P04"
    assert P.next_free({}) == "P01"


@pytest.mark.parametrize(
    ("label", "session", "state", "words"),
    [
        ("P03", "1", "missing", "P03 is taken. The next free id is P04."),
        ("P03", "2", "ok", "has already had session 1"),
        ("", "1", "missing", "Type an id, for example P01"),
        ("P3", "1", "missing", "look like P01"),
        ("P00", "1", "missing", "look like P01"),
        ("anna", "1", "missing", "look like P01"),
        ("P05", "a b", "missing", "letters and digits"),
        ("P05", "", "missing", "letters and digits"),
        ("P04", "1", "ok", "This is the next free id."),
        ("P09", "1", "ok", "free"),
    ],
)
def test_participants(label: str, session: str, state: str, words: str) -> None:
    row = checklist.participant_row(P, {"P03": ["1"]}, label, session)
    assert row.state == state
    assert words in row.text
    assert row.blocks == (state != "ok")


@pytest.mark.parametrize(
    ("policy", "found", "state", "blocks", "words"),
    [
        ("required", Microphone(None), "missing", True, "needs sound"),
        ("optional", Microphone(None), "warn", False, "without sound"),
        ("off", Microphone(None), "ok", False, "does not record sound"),
        ("required", Microphone("m", heard=True, state="heard"), "ok", False, "heard"),
        ("optional", Microphone("m", state="silent"), "warn", True, "say something"),
        ("required", Microphone("m"), "busy", True, "say something"),
        (
            "required",
            Microphone("m", state="zeros"),
            "missing",
            True,
            "no signal at all",
        ),
        ("required", Microphone("m", heard=True, state="zeros"), "warn", False, "noise gate"),
        ("required", Microphone("m", state="clipping"), "warn", True, "Too loud"),
        ("required", Microphone("m", heard=True, state="clipping"), "warn", False, "Too loud"),
        ("optional", Microphone("m", problem="It is gone."), "missing", True, "It is gone."),
        ("optional", Microphone(None, state="unknown"), "busy", True, "Checking"),
        ("off", Microphone(None, state="unknown"), "ok", False, "does not record sound"),
        ("optional", Microphone(None, problem="No PortAudio."), "warn", False, "No PortAudio."),
        ("required", Microphone(None, problem="No PortAudio."), "missing", True, "No PortAudio."),
    ],
)
def test_microphone(policy, found, state, blocks, words) -> None:  # type: ignore[no-untyped-def]
    row = checklist.microphone_row(policy, found)
    assert (row.state, row.blocks) == (state, blocks)
    assert words in row.text


def test_screens() -> None:
    one, two = ScreenChoice(1, "eDP-1", 1366, 768), ScreenChoice(2, "DP-1", 3840, 2160, 2.0)
    assert "Ctrl+Shift+M" in checklist.screen_row([one], "eDP-1").text
    assert checklist.screen_row([one, two], "DP-1").state == "ok"
    for scale in (1.25, 1.5):
        assert checklist.screen_row([replace(one, scale=scale)], "eDP-1").state == "ok"
    tight = ScreenChoice(1, "eDP-1", 1280, 720, 1.6)
    for screens, chosen in (([tight], "eDP-1"), ([tight, two], "DP-1"), ([tight, two], "eDP-1")):
        small = checklist.screen_row(screens, chosen)
        assert (small.state, small.blocks) == ("warn", False)
        assert "eDP-1 has room for 800 × 450 points" in small.text
    assert checklist.screen_row([one], "eDP-1", 384).state == "ok"
    small = checklist.screen_row([one], "eDP-1", 800)
    assert (small.state, small.required) == ("warn", False)
    assert "pictures of 800 points" in small.text
    gone = checklist.screen_row([one], "DP-1")
    assert gone.blocks
    assert "DP-1 is no longer connected" in gone.text
    assert two.label == "2 · DP-1 · 3840 × 2160 at 200 %"


def test_decoders_are_ready_when_all_are_warm() -> None:
    needed = ["a/b", "c/d"]
    half = checklist.decoder_row(needed, [Warm("a/b", "cpu", 1.0)])
    assert half.state == "busy"
    assert "c/d (2 of 2)" in half.text
    whole = checklist.decoder_row(needed, [Warm("c/d", "cuda", 2.46), Warm("a/b", "cpu", 1.0)])
    assert whole.state == "ok"
    assert (
        whole.text == "a/b, c/d ready · CPU and GPU (CUDA), pictures within 3\N{NO-BREAK SPACE}ms"
    )
    assert checklist.decoder_row(needed, [], "The weights are damaged.").blocks
    assert not checklist.decoder_row([], []).blocks


def test_disk() -> None:
    assert checklist.disk_row(None).state == "busy"
    low = checklist.disk_row(100_000_000)
    assert low.blocks
    assert low.text == "100 MB free; a session needs at least 524 MB."
    assert checklist.disk_row(checklist.LOW_DISK_BYTES - 1).blocks
    assert not checklist.disk_row(checklist.LOW_DISK_BYTES).blocks
    assert checklist.disk_row(212_000_000_000).text == (
        "212 GB free, writable · room for about 557 sessions"
    )
    assert checklist.disk_row(5, "It cannot be written.").text == "It cannot be written."


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("We are the lab.", "ok"),
        ("See [our page](https://example.org).", "ok"),
        ("We are [your institution].", "missing"),
        ("   ", "missing"),
        (None, "warn"),
    ],
)
def test_consent(text: str | None, state: str) -> None:
    row = checklist.consent_row(text)
    assert row.state == state
    assert row.blocks == (state == "missing")


def test_the_template_names_what_is_missing() -> None:
    row = checklist.consent_row("[your institution] and [name of the lab] ask you.")
    assert row.text == "This is still the template. Fill in [your institution] and 1 more."


def test_who_withdrew_or_took_part_elsewhere_is_refused() -> None:
    refused = {"P01": "", "P02": "mnist-crowd"}
    rows = [checklist.participant_row(P, {}, label, "1", refused) for label in refused]
    assert [row.state for row in rows] == ["missing", "missing"]
    assert rows[0].text == "P01 withdrew from this study."
    assert rows[1].text == "P02 took part in the related study mnist-crowd."
    assert checklist.participant_row(P, {}, "P03", "1", refused).text == "This is the next free id."


def test_pictures_are_counted_once_how_far_they_are_is_known() -> None:
    said = [checklist.picture_row(done, of) for done, of in ((0, 0), (0, 300), (3, 10), (300, 300))]
    assert [(row.state, row.text) for row in said] == [
        ("ok", ""),
        ("busy", "Preparing the models …"),
        ("busy", "Drawing pictures: 3 of 10 …"),
        ("ok", "300 pictures are ready."),
    ]
    assert checklist.picture_row(3, 10, "it is another model").state == "missing"


def test_a_session_that_counts_is_complete(desk: Desk) -> None:
    counted = InclusionDecided(True, (), {})
    desk.room.runner.emit(counted)
    desk.room.runner.emit(SessionCompleted())
    desk.wait(1)
    assert desk.console.state.not_counted == ()
    desk.room.runner.emit(InclusionDecided(False, ("min_solved", "practice_correct"), {}))
    desk.wait(1)
    assert desk.console.state.not_counted == ("min_solved", "practice_correct")
    assert set(wording.NOT_COUNTED) == set(RULES), "every rule has words"


def test_only_a_voice_that_is_recorded_is_drawn(desk: Desk) -> None:
    """Before consent a microphone is open for the checklist, and nothing is kept of it."""
    voice = desk.console.timeline.view.voice

    def loud() -> bool:
        return any(peak > 0 for peak in voice._peaks)

    def drawn() -> int:
        """How many bins of the newest stretch have a line."""
        return int(np.isfinite(voice._line(0, len(voice._peaks))[1]).sum())

    desk.console._level_source = lambda: HEARD
    desk.console.state.sound = Sound()
    desk.wait(2)
    assert not loud()
    assert not drawn(), "not even a flat line"
    desk.console.state.sound = Sound("a microphone", "ALSA", 48_000)
    desk.wait(2)
    assert loud()
    assert 0 < drawn() < len(voice._peaks)
