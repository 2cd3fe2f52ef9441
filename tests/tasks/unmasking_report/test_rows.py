"""Tables of masked pictures, by example: what was done by hand is what the rows say."""

from __future__ import annotations

from math import exp, log
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis import Tables
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.base.errors import RecordError
from labapp.models.stimuli.manifest import Confusion
from labapp.record.events.commands import Pause, Resume
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn
from labapp.tasks.unmasking.plan import UnmaskingPart
from tests.analysis.sessions import paired
from tests.helpers.judged import of_play
from tests.helpers.nightly import EVERYTHING
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import UnmaskingPlay, unmasking_part

P = 1 / (1 + exp(-1.0))
"""Of the first of two classes whose logits are 1 apart."""


def tables(*plays: UnmaskingPlay) -> Tables:
    made = [of_play(play) for play in plays]
    return tables_of([SessionRecords.of(paired(one), "test") for one in made])


def annotations(play: UnmaskingPlay) -> pd.DataFrame:
    return tables(play).annotations


def plain(row: pd.Series[Any], *names: str) -> tuple[Any, ...]:
    return tuple(None if pd.isna(row[name]) else row[name] for name in names)


def with_pool(part: UnmaskingPart) -> UnmaskingPart:
    pool = (
        Confusion(truth="disc", prediction="disc", count=40),
        Confusion(truth="disc", prediction="ring", count=5),
        Confusion(truth="ring", prediction="ring", count=69),
    )
    return part.model_copy(update={"unmasked": part.unmasked.model_copy(update={"pool": pool})})


def test_a_response_with_all_its_columns() -> None:
    play = UnmaskingPlay.of(sequences=3)
    for response in (0, 2, 1):
        play.respond(response, after_s=0.7)
    rows = annotations(play)
    assert rows["outcome"].tolist() == ["answered"] * 3 + ["interrupted"]
    first, second, third, _ = (rows.iloc[place] for place in range(4))
    named = ("image", "truth", "method", "method_name", "method_number", "percent", "pixels")
    assert plain(first, *named) == ("p00", "disc", "middle", "Middle", 1, 5.0, 29)
    assert plain(first, "fill", "sign", "grid_rows", "grid_columns") == ("mean", "signed", 24, 24)
    assert plain(first, "trial", "attempt", "number", "sequence", "mask") == (1, 1, 1, 1, 1)
    assert plain(first, "button", "response", "dont_know") == (0, None, True)
    assert plain(first, "correct", "follows_prediction") == (False, False)
    assert plain(second, "response", "correct", "dont_know") == ("ring", False, False)
    assert plain(third, "response", "correct", "follows_prediction") == ("disc", True, True)
    assert plain(third, "follows_prediction_masked", "prediction_masked") == (True, "disc")
    assert third["reaction_time_ms"] == pytest.approx(700.0)
    assert plain(third, "shown_by", "timed_by", "device") == ("frame", "event", "key")
    assert third["refresh_ms"] == pytest.approx(16.7)
    assert third["input_s"] - third["painted_s"] == pytest.approx(0.7)
    assert third["due_to_paint_ms"] == pytest.approx(0.0)
    assert not rows.iloc[:3]["excluded"].any()
    assert rows.iloc[3]["excluded_because"] == "interrupted before its end"


def test_what_the_model_makes_of_it() -> None:
    play = UnmaskingPlay.of(sequences=3)
    play.through(1)
    rows = annotations(play)
    right = rows[rows["image"] == "p00"].iloc[0]
    assert right["p_truth"] == pytest.approx(1 / (1 + exp(-2.0)))
    assert right["p_truth_masked"] == pytest.approx(P)
    assert right["cross_entropy_masked"] == pytest.approx(-log(P))
    assert plain(right, "correct_prediction", "correct_prediction_masked") == (True, True)
    ring = rows[rows["image"] == "p01"].iloc[0]
    assert ring["cross_entropy_masked"] == pytest.approx(-log(1 - P))
    assert plain(ring, "prediction_masked", "correct_prediction_masked") == ("disc", False)
    # The third image is predicted wrongly: a disc is called a ring.
    wrong = rows[rows["image"] == "p02"].iloc[0]
    assert plain(wrong, "prediction", "correct_prediction") == ("ring", False)
    assert wrong["p_prediction"] == pytest.approx(1 / (1 + exp(2.0)))
    assert plain(wrong, "response", "follows_prediction") == ("disc", False)


def test_without_outputs_of_the_model() -> None:
    part = unmasking_part(1)
    silent = part.sequences[0].model_copy(
        update={
            "masks": tuple(m.model_copy(update={"logits": ()}) for m in part.sequences[0].masks)
        }
    )
    play = UnmaskingPlay.of(part.model_copy(update={"sequences": (silent,)}))
    play.through(1)
    found = tables(play)
    for frame in (found.annotations, found.masked_predictions):
        for name in ("prediction_masked", "p_truth_masked", "cross_entropy_masked"):
            assert frame[name].isna().all()
        assert frame["p_truth"].notna().all()
    assert found.annotations["follows_prediction_masked"].isna().all()
    assert found.annotations["correct"].all()


def test_a_stimulus_that_a_pause_falls_into_is_kept_and_does_not_count() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    play.send(Pause("a call"))
    play.wait(5)
    play.send(Resume("on"))
    play.through(2)
    found = tables(play)
    rows = found.annotations
    again = rows[rows["trial"] == 2]
    assert again["attempt"].tolist() == [1, 2]
    assert again["outcome"].tolist() == ["interrupted", "answered"]
    assert again["excluded_because"].tolist()[0] == "repeated in a later attempt"
    assert plain(again.iloc[0], "button", "correct", "reaction_time_ms") == (None, None, None)
    assert rows[~rows["excluded"]]["trial"].tolist() == [1, 2, 3]
    assert found.deviations["kind"].tolist().count("attempt_interrupted") == 1


def test_an_interruption_before_a_stimulus_is_painted_is_told_where_it_was() -> None:
    play = UnmaskingPlay.of(sequences=1, blank_ms=500)
    play.paints = False
    play.respond(1)
    assert play.stimulus is not None
    due_ns = play.stimulus.due_ns
    play.send(Pause("a call"))
    play.wait(60)
    play.paints = True
    play.send(Resume("on"))
    play.through(2)
    deviations = tables(play).deviations
    (at,) = deviations[deviations["kind"] == "attempt_interrupted"]["session_s"]
    assert at == pytest.approx(due_ns / 1e9)


def test_the_stage_skipped_while_a_stimulus_is_open() -> None:
    play = UnmaskingPlay.of(sequences=1)
    play.respond(1)
    skip_stage(play)
    found = tables(play)
    assert found.annotations["outcome"].tolist() == ["answered", "stage_skipped"]
    why = "cut off when the moderator skipped the stage"
    assert plain(found.annotations.iloc[1], "excluded", "excluded_because") == (True, why)
    stage = found.stages.iloc[0]
    assert plain(stage, "outcome", "n_planned", "n_trials", "n_answered") == ("skipped", 3, 1, 1)


def test_practice_is_marked_and_does_not_count_and_blocks_count_on() -> None:
    part = unmasking_part(1, role="practice", id="example")
    blocks = [
        unmasking_part(1, id=f"stage-{n}", number=n, of=2, first=3 * (n - 1), total=6)
        for n in (1, 2)
    ]
    play = UnmaskingPlay.of(part, *blocks)
    play.through(1)
    found = tables(play)
    rows = found.annotations
    practice = rows[rows["role"] == "practice"]
    assert practice["excluded_because"].tolist() == ["practice"] * 3
    assert rows[rows["role"] == "stage"]["number"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rows[rows["role"] == "stage"]["trial"].tolist() == [1, 2, 3, 1, 2, 3]
    assert found.stages["stage"].tolist() == ["stage-1", "stage-2"]
    assert found.participants.iloc[0]["n_stimuli"] == 6
    assert found.participants.iloc[0]["models"] == "tiny-scores, tiny-scores"


def test_the_blocks_of_a_stage_have_one_model() -> None:
    blocks = [
        unmasking_part(1, id=f"stage-1-block-{n}", first=3 * (n - 1), total=6) for n in (1, 2)
    ]
    play = UnmaskingPlay.of(*blocks)
    play.through(1)
    assert tables(play).participants.iloc[0]["models"] == "tiny-scores"


def test_trials_and_stages_have_the_task() -> None:
    play = UnmaskingPlay.of(sequences=2)
    for response in (1, 0, 1, 2, 2, 1):
        play.respond(response, after_s=0.5)
    found = tables(play)
    trials, stage = found.trials, found.stages.iloc[0]
    assert set(trials["task"]) == {"unmasking"}
    assert trials["duration_s"].tolist() == pytest.approx([0.5] * 6)
    assert trials["outcome"].tolist() == ["answered"] * 6
    assert plain(stage, "n_planned", "n_trials", "n_answered", "n_correct") == (6, 6, 6, 4)
    assert stage["correctness_rate"] == pytest.approx(4 / 6)
    assert stage["response_time_s"] == pytest.approx(0.5)
    assert stage["model_accuracy"] == 76.0
    assert found.participants.iloc[0]["models"] == "tiny-scores"


def test_masked_pictures_and_the_pool_are_there_once_whoever_saw_them() -> None:
    plays = [UnmaskingPlay.of(with_pool(unmasking_part(2))) for _ in range(2)]
    plays[0].through(1)
    sessions = [SessionRecords.of(paired(of_play(play)), "test") for play in plays]
    found = tables_of(sessions)
    assert len(found.masked_predictions) == 6
    assert not found.masked_predictions.duplicated(["image", "method", "percent"]).any()
    counts = found.pool.set_index(["truth", "prediction"])["count"].to_dict()
    assert counts == {
        ("disc", "disc"): 40,
        ("disc", "ring"): 5,
        ("ring", "disc"): 0,
        ("ring", "ring"): 69,
    }
    # Of the session that did not come to its end nothing counts; what no human is in the loop of
    # stays.
    assert found.participants["included"].tolist() == [True, False]
    assert len(found.annotations) == 7
    assert len(found.included().masked_predictions) == 6
    assert len(found.of_study("judged").pool) == 4
    assert found.of_study("another").pool.empty


def test_a_stimulus_that_the_plan_does_not_have() -> None:
    made = of_play(UnmaskingPlay.of(sequences=1))
    drawn = StimulusDrawn(9, 1, "p00", "middle", 5.0, "disc", "disc", 0)
    made.at(60, drawn, "stage-1", 2, attempt=1)
    with pytest.raises(RecordError, match="begins mask 1 of 'p00' with 'middle', which its plan"):
        SessionRecords.of(paired(made), "test")


@pytest.mark.parametrize("button", [-1, 3, 7])
def test_a_button_that_the_plan_does_not_have(button: int) -> None:
    made = of_play(UnmaskingPlay.of(sequences=1))
    made.at(60, ResponseGiven(button, "keyboard", 60 * 10**9, "event"), "stage-1", 1, attempt=1)
    with pytest.raises(RecordError, match=f"answers with button {button}"):
        SessionRecords.of(paired(made), "test")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"truth": "square"}, "'square' is not one of the classes"),
        ({"method": "corner"}, "'corner' is not one of the methods"),
    ],
)
def test_a_plan_that_does_not_hold_together(change: dict[str, str], said: str) -> None:
    part = unmasking_part(1)
    part = part.model_copy(update={"sequences": (part.sequences[0].model_copy(update=change),)})
    with pytest.raises(RecordError, match=said):
        SessionRecords.of(paired(of_play(UnmaskingPlay.of(part))), "test")


@settings(deadline=None, max_examples=30 if EVERYTHING else 4)
@given(st.lists(st.sampled_from(["0", "1", "2", "early", "pause", "wait"]), max_size=25))
def test_whatever_happens_every_response_is_one_row_that_counts(actions: list[str]) -> None:
    play = UnmaskingPlay.of(sequences=2)
    given_: list[int] = []
    for action in actions:
        seen = play.stimulus
        if seen is None:
            break
        if action == "pause":
            play.send(Pause("a call"))
            play.wait(3)
            play.send(Resume("on"))
        elif action == "wait":
            play.wait(1)
        elif action == "early":
            assert seen.painted_ns is not None
            assert play.respond(1, input_ns=seen.painted_ns - 1) == 0
        else:
            play.respond(int(action))
            given_.append(int(action))
    rows = annotations(play)
    counted = rows[~rows["excluded"]]
    assert counted["trial"].tolist() == list(range(1, len(given_) + 1))
    assert counted["button"].tolist() == given_
    assert (counted["reaction_time_ms"] >= 0).all()
    assert not rows.duplicated(["stage", "trial", "attempt"]).any()
    rest = rows[rows["excluded"]]
    assert rest["excluded_because"].notna().all()
    assert rest[["button", "reaction_time_ms", "correct"]].isna().all(axis=None)
