"""Metrics of a stage, and what a session's totals and deviations say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.analysis.declared import read_declaration
from labapp.analysis.design.sources import outcomes_of
from labapp.analysis.deviations import UNFINISHED
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.analysis.task_records import Row
from labapp.base.errors import RecordError
from labapp.record.events import Source
from labapp.record.events.lifecycle import (
    AlarmRaised,
    CloseRequested,
    PartEnded,
    PartStarted,
    ScreenChanged,
    SessionEnded,
    SessionPaused,
    SessionResumed,
    WindowFocus,
)
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from labapp.record.events.voice import AudioDeviceBack, AudioDeviceLost, AudioOff, AudioState
from labapp.study.design import Missing
from labapp.tasks.consent.events import ConsentDeclined
from labapp.tasks.reconstruction.events import DialMoved, LabelEdited
from labapp.tasks.reconstruction.records import StageRecord, stage_record
from tests.analysis.sessions import (
    begin_trial,
    builder,
    end_trial,
    move,
    paired,
    reconstruction,
    records,
    stage_row,
)
from tests.helpers.journals import SessionBuilder
from tests.helpers.sample import examples
from tests.study.test_instruments import shipped


def stage(
    outcomes: list[str], end: str | None, trials: int = 5, declared: dict[str, Any] | None = None
) -> SessionBuilder:
    """Question n begins at 10 n, moves slider 2 by n tenths after 1 s, and takes 2 + n s."""
    made = builder(stage_row(trials=trials), declared=declared)
    made.at(9, PartStarted(0), "stage-1")
    for n, outcome in enumerate(outcomes, start=1):
        begin_trial(made, 10 * n, trial=n)
        move(made, 10 * n + 1, 1, 2, n / 10, error=4, trial=n)
        if outcome != "interrupted":
            end_trial(made, 10 * n + 2 + n, outcome, trial=n)
    if end is not None:
        made.at(99, PartEnded(0, end), "stage-1")
    return made


def only_stage(made: SessionBuilder) -> StageRecord:
    found = records(made)
    task = reconstruction(found)
    (part,) = task.parts.values()
    return stage_record(part, found.totals.spans[part.id].outcome, task.attempts, Missing())


def only_row(made: SessionBuilder) -> Row:
    (row,) = records(made).rows()["stages"]
    return row


def test_all_questions_of_a_stage() -> None:
    made = stage(["solved", "skipped", "solved", "skipped", "solved"], "completed")
    found = only_stage(made)
    measures = found.measures
    assert (measures.n, measures.solved, found.completion_rate) == (5, 3, 0.6)
    assert measures.response_time_s == pytest.approx((3 + 4 + 5 + 6 + 7) / 5)
    assert measures.slide_distance == pytest.approx(0.3)
    # Summed, not averaged: 1 s at 8 in each question, then 4 until its end.
    assert measures.error_auc_sum == pytest.approx(5 * 8 + 4 * (2 + 3 + 4 + 5 + 6))
    assert measures.error_auc_mean == pytest.approx(5 * 0.5 + 0.25 * 20)
    assert only_row(made)["duration_s"] == 90.0


def test_first_and_last_questions() -> None:
    change = only_stage(
        stage(["solved", "skipped", "skipped", "solved", "solved"], "completed")
    ).change
    assert change.questions == 2
    assert change.completion_rate == pytest.approx(0.5)
    assert change.response_time_s == pytest.approx((6 + 7) / 2 - (3 + 4) / 2)
    assert change.slide_distance == pytest.approx(0.45 - 0.15)
    assert change.error_auc_sum == pytest.approx(4 * (5 + 6) / 2 - 4 * (2 + 3) / 2)


@pytest.mark.parametrize(("n", "size"), [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
def test_the_middle_question_is_in_neither_group(n: int, size: int) -> None:
    change = only_stage(stage(["solved"] * n, "completed")).change
    assert change.questions == size
    assert (change.completion_rate is None) == (size == 0)


def test_questions_that_the_time_limit_kept_away_are_not_completed() -> None:
    found = only_stage(stage(["solved", "skipped", "time_expired"], "time_expired"))
    assert (found.measures.n, found.completion_rate) == (3, 0.2)
    # The question that ran out has no click, so no response time, but its error counts.
    assert found.measures.response_time_s == 3.5
    assert found.measures.error_auc_sum == pytest.approx(3 * 8 + 4 * (2 + 3 + 4))


@pytest.mark.parametrize(
    ("outcomes", "end", "rate", "change"),
    [
        (["solved", "skipped", "time_expired"], "time_expired", 1 / 4, -1.0),
        (["solved", "skipped", "stage_skipped"], "skipped", 1.0, None),
        (["skipped", "solved", "skipped", "solved", "solved"], "completed", 1.0, 0.0),
        (["skipped", "skipped", "solved", "solved", "solved"], "completed", 1.0, None),
        (["skipped"] * 5, "completed", None, None),
    ],
)
def test_skipped_questions_are_left_out_of_the_rate_where_the_study_says_so(
    outcomes: list[str], end: str, rate: float | None, change: float | None
) -> None:
    row = only_row(stage(outcomes, end, declared={"missing": {"skipped_trials": "left_out"}}))
    assert row["completion_rate"] == rate
    assert row["change_completion_rate"] == change
    counted = [outcome for outcome in outcomes if outcome != "stage_skipped"]
    assert (row["n_trials"], row["n_solved"]) == (len(counted), counted.count("solved"))


@given(
    st.lists(st.sampled_from(["solved", "skipped"]), max_size=5),
    st.sampled_from(["time_expired", "skipped", None]),
    st.sampled_from(["unsolved", "left_out"]),
    st.sampled_from([0.25, 0.5, 0.7, 1.0]),
)
@examples(60)
def test_tables_and_rules_and_analyses_count_the_same_as_solved(
    outcomes: list[str], end: str | None, skipped: str, limit: float
) -> None:
    """The rule judges the rate of the table of stages, which the table of trials gives too."""
    declared = {
        "missing": {"skipped_trials": skipped},
        "exclude": {"few": {"completion_rate_below": limit}},
    }
    found = records(stage(outcomes, "completed" if len(outcomes) == 5 else end, declared=declared))
    tables = tables_of([found])
    (rate,) = tables.stages["completion_rate"].astype(float)
    missing = read_declaration(tables, "golden").missing
    counts = [missing.solved(outcome) for outcome in tables.trials["outcome"]]
    unasked = 5 - len(outcomes) if end == "time_expired" else 0
    asked = counts.count(True) + counts.count(False) + unasked
    assert rate == pytest.approx(counts.count(True) / asked if asked else np.nan, nan_ok=True)
    assert found.failed_rules() == (("few",) if rate < limit else ())
    (participant,) = tables.participants["excluded_because"].fillna("")
    assert ("few" in participant) == (rate < limit)
    analysed = outcomes_of(tables, read_declaration(tables, "golden"))
    own = [outcome for outcome in analysed.analysed if outcome.name == "completion_rate"]
    for outcome in own:
        assert outcome.trials is None or list(outcome.trials["value"]) == [
            float(count) for count in counts if count is not None
        ]
    if asked == 0:
        assert not own


def test_a_stage_that_the_moderator_skipped_counts_what_was_asked() -> None:
    made = stage(["solved", "skipped", "stage_skipped"], "skipped")
    found = only_stage(made)
    assert (only_row(made)["outcome"], found.measures.n) == ("skipped", 2)
    assert found.completion_rate == 0.5


def test_a_stage_without_an_end_counts_what_was_finished() -> None:
    made = stage(["solved", "interrupted"], None)
    found = only_stage(made)
    assert (only_row(made)["outcome"], only_row(made)["duration_s"]) == (UNFINISHED, None)
    assert (found.measures.n, found.completion_rate) == (1, 1.0)


def test_a_stage_skipped_at_once_has_no_metrics() -> None:
    found = only_stage(stage([], "skipped"))
    assert found.completion_rate is None
    assert found.measures.error_auc_sum is None
    row = records(stage([], "skipped")).rows()["stages"][0]
    assert (row["n_trials"], row["completion_rate"], row["outcome"]) == (0, None, "skipped")


def test_a_stage_that_was_not_reached_has_no_row() -> None:
    assert records(builder()).rows()["stages"] == []


@pytest.mark.parametrize(
    "planned",
    [{}, {"scoring": "seq"}, {"scoring": shipped("seq").planned_scores()}],
    ids=["of the first plans", "of a name", "as declared"],
)
def test_the_seq_of_a_stage_is_the_submitted_one_about_it(planned: dict[str, Any]) -> None:
    ask = {
        "part": "questionnaire",
        "id": "s-1",
        "title": "",
        "instrument": "seq",
        "about": "stage-1",
        **planned,
    }
    other = ask | {"id": "s-2", "about": "stage-2"}
    made = builder(stage_row(), stage_row("stage-2", number=2), ask, other)
    for index, part in enumerate(("stage-1", "stage-2", "s-1", "s-2")):
        made.at(index + 1, PartStarted(index), part)
    made.at(10, ResponseChanged("seq", "seq", 2), "s-1")
    made.at(11, ResponseChanged("seq", "seq", 7), "s-1")
    made.at(12, QuestionnaireSubmitted("seq", 1, {"seq": 7}), "s-1")
    made.at(13, ResponseChanged("seq", "seq", 1), "s-2")
    assert [row["seq"] for row in records(made).rows()["stages"]] == [7.0, None]


def test_answers_that_are_no_numbers() -> None:
    ask = {
        "part": "questionnaire",
        "id": "q",
        "title": "",
        "instrument": "demographics",
        "about": None,
    }
    made = builder(ask)
    made.at(1, PartStarted(0), "q")
    made.at(2, ResponseChanged("demographics", "region", "Europe"), "q")
    made.at(3, ResponseChanged("demographics", "gender", ["woman", "self-described"]), "q")
    made.at(4, QuestionnaireSubmitted("demographics", 2, {"region": "Asia", "age": 3}), "q")
    rows = {row["item"]: row for row in records(made).rows()["answers"]}
    assert rows["region"]["value_text"] == "Asia"
    assert rows["region"]["first_value_text"] == "Europe"
    assert rows["gender"]["value_text"] == '["woman", "self-described"]'
    assert not rows["gender"]["submitted"]
    assert (rows["age"]["value"], rows["age"]["submitted"]) == (3.0, True)
    assert rows["region"]["about"] is None


def test_a_pause_takes_no_time_from_a_questionnaire() -> None:
    ask = {"part": "questionnaire", "id": "q", "title": "", "instrument": "seq", "about": None}
    made = builder(ask)
    made.at(1, PartStarted(0), "q")
    made.at(2, SessionPaused("break"))
    made.at(60, SessionResumed("moderator"))
    made.at(62, ResponseChanged("seq", "seq", 2), "q")
    made.at(63, QuestionnaireSubmitted("seq", 1, {"seq": 2}), "q")
    (row,) = records(made).rows()["answers"]
    assert (row["first_s"], row["submitted_s"]) == (3.0, 4.0)


def test_every_edit_of_a_label_and_the_last_of_each_dial() -> None:
    made = stage([], "completed")
    begin_trial(made, 19)
    for t, dimension, text in ((20, 1, "size"), (21, 2, "slant"), (22, 1, "width")):
        made.at(t, LabelEdited(dimension, text), "stage-1", 1)
    rows = records(made).rows()["labels"]
    assert [(row["text"], row["final"]) for row in rows] == [
        ("size", False),
        ("slant", True),
        ("width", True),
    ]
    assert [row["dimension"] for row in rows] == [2, 3, 2]
    assert rows[0]["dimension_name"] == "size"


def kinds(found: SessionRecords) -> list[tuple[str, float | None]]:
    return [(d.kind, d.duration_s) for d in found.deviations if d.kind != "unfinished"]


def test_deviations_last_until_their_end() -> None:
    made = builder()
    made.at(1, AudioOff("the study records no sound", planned=True))
    made.at(1, AudioOff("no microphone"))
    made.at(2, AudioState("zeros", 1_500_000_000))
    made.at(4, AudioState("clipping", 4_000_000_000))
    made.at(5, AudioState("heard", 5_000_000_000))
    made.at(6, AudioDeviceLost("Mic", "unplugged"))
    made.at(9, AudioDeviceBack("Mic"))
    made.at(10, WindowFocus(False))
    made.at(10.5, WindowFocus(True))
    made.at(11, AlarmRaised("disk", "low"))
    made.at(12, ScreenChanged("removed", "HDMI-1", 1))
    made.at(13, CloseRequested("Escape"))
    assert kinds(records(made)) == [
        ("no_sound", None),
        ("sound_zeros", 2.5),
        ("sound_clipping", 1.0),
        ("microphone_lost", 3.0),
        ("focus_lost", 0.5),
        ("alarm", None),
        ("screen_changed", None),
        ("close_requested", None),
    ]


def test_a_crash_while_paused_is_one_pause_of_time() -> None:
    made = builder()
    made.at(10, SessionPaused("break"))
    made.segment(50, 2, gap_from=20)
    made.at(60, SessionResumed("resumed"))
    made.at(70, WindowFocus(True))
    found = records(made)
    assert kinds(found) == [("paused", 50.0), ("interrupted", None)]
    assert found.totals.duration_s == 20.0


def test_a_deviation_says_which_part_ran() -> None:
    made = builder()
    made.at(1, CloseRequested("Escape"))
    made.at(2, PartStarted(0), "stage-1")
    made.at(3, CloseRequested("Escape"))
    made.at(4, PartEnded(0, "skipped"), "stage-1")
    made.at(5, CloseRequested("Escape"))
    found = [(d.kind, d.stage) for d in records(made).deviations if d.kind != "unfinished"]
    assert found == [
        ("close_requested", None),
        ("close_requested", "stage-1"),
        ("part_skipped", "stage-1"),
        ("close_requested", None),
    ]


def test_how_a_session_ended() -> None:
    ended = builder()
    ended.at(3, SessionEnded("fire alarm"))
    totals = records(ended).totals
    assert (totals.outcome, totals.ended_reason) == ("ended_early", "fire alarm")
    consent = {
        "part": "consent",
        "id": "consent",
        "title": "",
        "document": "consent.md",
        "document_sha256": "0" * 64,
    }
    declined = builder(consent)
    declined.at(1, PartStarted(0), "consent")
    declined.at(2, ConsentDeclined("0"), "consent")
    declined.at(2, PartEnded(0, "declined"), "consent")
    declined.at(2, SessionEnded("consent declined"))
    assert records(declined).totals.outcome == "declined"
    assert records(builder()).totals.outcome == "unfinished"


def test_a_program_that_took_part_is_named() -> None:
    made = builder()
    begin_trial(made, 1)
    made.at(2, DialMoved(1, 1, 1.0, "simulated"), "stage-1", 1, source=Source.SIMULATED)
    found = records(made)
    assert found.totals.simulated
    assert reconstruction(found).attempts[0].movement.share("simulated") == 1.0


def test_a_session_that_does_not_begin_with_its_plan_is_refused() -> None:
    with pytest.raises(RecordError, match="instead of its plan"):
        SessionRecords.of(paired(builder())[1:], "test")
    with pytest.raises(RecordError, match="no event"):
        SessionRecords.of([], "test")
