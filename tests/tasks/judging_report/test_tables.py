"""Tables of judged explanations, by example: what was done by hand is what the rows say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import Tables
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.base.errors import RecordError
from labapp.record.events.commands import HandIn, Next, Pause, Resume
from labapp.tasks.judging.events import CloseDescription, Judge, OpenDescription, OpenSpecies
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.plan import JudgingTask, PhotoQuestion
from tests.analysis.sessions import paired
from tests.helpers.journals import SessionBuilder
from tests.helpers.judged import JudgedSession, of_play
from tests.helpers.play import Play
from tests.helpers.play_judging import JudgingPlay
from tests.helpers.skips import skip_stage

TASKS: tuple[JudgingTask, ...] = (
    "heatmap-distinction",
    "prototype-distinction",
    "prototype-agreement",
    "path-distinction",
    "path-agreement",
    "path-first-step",
)


def tables(*made: SessionBuilder) -> Tables:
    return tables_of([SessionRecords.of(paired(one), "test") for one in made])


def played(play: Play) -> Tables:
    return tables(of_play(play))


def judge(play: Play, **answers: int) -> None:
    for question, value in answers.items():
        play.wait(1)
        play.send(Judge(question, value, "mouse"))


def plain(row: pd.Series[Any], *names: str) -> tuple[Any, ...]:
    return tuple(None if pd.isna(row[name]) else row[name] for name in names)


def test_a_photo_with_heatmaps() -> None:
    play = JudgingPlay.of("heatmap-distinction")
    play.wait(2)
    play.send(Judge("output", 1, "key"))
    judge(play, output_confidence=3, distinction=1, distinction_confidence=5, output=2)
    play.send(OpenDescription("method"))
    play.wait(4)
    play.send(CloseDescription("method"))
    play.send(Pause("a call"))
    play.wait(10)
    play.send(Resume("on"))
    play.wait(1)
    play.send(Next())
    row = played(play).judgements.iloc[0]
    # Photo 1: the model says the second class, and it is so.
    assert plain(row, "photo", "truth", "prediction", "model_correct", "set", "options") == (
        *("photo-1", "gull", "gull", True, 3),
        "finch;gull;heron;ibis",
    )
    assert plain(row, "output", "output_confidence", "distinction", "distinction_confidence") == (
        *(2, 3, 1, 5),
    )
    assert plain(row, "right_output", "right_distinction", "right_agreement") == (True, False, None)
    assert plain(row, "chosen", "believed_correct", "outcome", "judged") == (
        *("finch", None),
        *("judged", True),
    )
    assert plain(row, "duration_s", "elapsed_s", "first_answer_s", "last_answer_s") == (
        11,
        21,
        2,
        6,
    )
    assert plain(row, "n_changes", "n_description_opened", "description_s", "n_tree_opened") == (
        *(1, 1, 4, 0),
    )
    assert row["answered_with"] == "key;mouse"
    assert not row["excluded"]


def description_s(play: Play) -> list[float]:
    return list(played(play).judgements["description_s"])


def test_a_description_that_stays_open_counts_for_each_photo() -> None:
    play = JudgingPlay.of("heatmap-distinction")
    play.wait(1)
    play.send(OpenDescription("method"))
    play.wait(4)
    play.answer()
    play.send(Next())
    play.wait(2)
    play.send(Pause("a call"))
    play.wait(10)
    play.send(Resume("on"))
    play.wait(1)
    play.answer()
    play.send(Next())
    play.wait(5)
    play.send(OpenDescription("tree"))  # a set of heatmaps has none
    play.send(CloseDescription("method"))
    play.wait(7)
    play.answer()
    play.send(Next())
    found = played(play).judgements
    assert found["description_s"].tolist() == [4, 3, 5, 0]
    assert found["n_description_opened"].tolist() == [1, 0, 0, 0]


def test_the_tree_in_place_of_the_description_ends_it() -> None:
    play = JudgingPlay.of("path-agreement")
    play.send(OpenDescription("method"))
    play.wait(3)
    play.answer()
    play.send(Next())
    play.wait(2)
    play.send(OpenDescription("tree"))
    play.wait(6)
    play.answer()
    play.send(Next())
    assert description_s(play)[:2] == [3, 2]


def test_a_stage_that_begins_again_ends_the_description() -> None:
    play = JudgingPlay.of("heatmap-distinction")
    play.machine.restarts = True
    play.answer()
    play.send(Next())
    play.send(OpenDescription("method"))
    play.wait(2)
    play.send(Pause("a call"))
    play.crash(5)
    play.wait(3)
    play.send(Resume("on"))
    play.wait(8)
    play.answer()
    play.send(Next())
    found = played(play).judgements
    assert found[["trial", "attempt", "description_s"]].to_numpy().tolist() == [
        *([1, 1, 0], [2, 1, 2], [1, 2, 0], [2, 2, 0]),
    ]


def test_a_description_open_at_the_end_counts_as_far_as_the_journal_goes() -> None:
    play = JudgingPlay.of("heatmap-distinction")
    play.send(OpenDescription("method"))
    play.wait(3)
    play.answer()
    play.send(Next())
    play.wait(2)
    judge(play, output=1)
    assert description_s(play) == [3, 3]


def test_rows_of_prototypes() -> None:
    play = JudgingPlay.of("prototype-distinction")
    judge(play, **{f"similarity_{n}": 1 + n % 4 for n in range(1, 9)})
    play.send(OpenSpecies(3))
    judge(play, similarity_5=4, distinction=3, distinction_confidence=1)
    play.wait(2)
    play.send(Next())
    found = played(play)
    row = found.judgements.iloc[0]
    assert plain(row, "chosen", "right_distinction", "n_rated", "n_species_opened") == (
        *("heron", False),
        *(8, 1),
    )
    ratings = found.similarities
    assert ratings["row"].tolist() == list(range(1, 9))
    assert ratings["rating"].tolist() == [2, 3, 4, 1, 4, 3, 4, 1]
    assert ratings["of"].tolist() == [
        name for name in ("finch", "gull", "heron", "ibis") for _ in range(2)
    ]
    assert ratings["option"].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert ratings["rank"].tolist() == [2, 1] * 4
    assert ratings["prototype"].tolist() == ["p2", "p1"] * 4
    assert ratings["similarity"].tolist() == pytest.approx([0.3, 0.3, 0.9, 0.9] + [0.3] * 4)
    assert ratings["of_chosen"].tolist() == [False] * 4 + [True] * 2 + [False] * 2
    fifth = ratings.iloc[4]
    assert plain(fifth, "answered_s", "changes") == (9, 1)


@pytest.mark.parametrize(
    ("agreement", "photo", "right", "believed"),
    [(4, 0, True, True), (3, 1, False, True), (2, 0, False, False), (1, 1, True, False)],
)
def test_agreement_is_binarised(agreement: int, photo: int, right: bool, believed: bool) -> None:
    play = JudgingPlay.of("prototype-agreement")
    play.through(agreement=agreement)
    found = played(play)
    row = found.judgements.iloc[photo]
    assert plain(row, "agreement", "right_agreement", "believed_correct") == (
        *(agreement, right),
        believed,
    )
    own = found.similarities[found.similarities["photo"] == row["photo"]]
    assert own["of_chosen"].tolist() == [believed] * 3


@pytest.mark.parametrize(
    ("step_1", "step_2", "chosen", "right"),
    [(1, 2, "gull", True), (1, 1, "finch", False), (2, 2, "ibis", False)],
)
def test_two_steps_of_a_tree(step_1: int, step_2: int, chosen: str, right: bool) -> None:
    play = JudgingPlay.of("path-distinction")
    judge(play, step_1=3 - step_1)
    judge(play, **{"step_2_absent" if step_1 == 2 else "step_2_present": 1})
    judge(play, step_1=step_1)  # takes the other back
    judge(play, **{"step_2_absent" if step_1 == 1 else "step_2_present": step_2})
    judge(play, distinction_confidence=2)
    play.send(Next())
    row = played(play).judgements.iloc[0]
    assert plain(row, "chosen", "right_distinction", "n_taken_back", "n_changes") == (
        *(chosen, right),
        *(1, 1),
    )
    gone = "step_2_present" if step_1 == 1 else "step_2_absent"
    assert plain(row, "step_1", gone) == (step_1, None)
    assert plain(row, "n_steps", "n_rated") == (3, 0)


@pytest.mark.parametrize(
    ("photo", "said", "error"),
    [
        (0, 4, "exact"),  # the model is right, and it is agreed with all
        (0, 2, "too_early"),
        (1, 2, "exact"),  # wrong from its second step on
        (1, 1, "too_early"),
        (1, 4, "too_late"),
    ],
)
def test_the_first_step_disagreed_with(photo: int, said: int, error: str) -> None:
    play = JudgingPlay.of("path-first-step")
    for _ in range(photo + 1):
        judge(play, first_step=said, agreement=3)
        play.send(Next())
    row = played(play).judgements.iloc[photo]
    assert row["first_step_error"] == error
    assert row["right_first_step"] == (error == "exact")


def test_the_warm_up_has_rows_of_its_own() -> None:
    play = JudgingPlay.warm_up()
    judge(play, verdict=1, agreement=4, mistake=4)
    play.send(HandIn())
    play.wait(5)
    play.send(Next())
    judge(play, verdict=2, agreement=1, mistake=4)
    play.send(HandIn())
    play.send(Next())
    found = played(play)
    rows = found.judgements
    assert rows["task"].tolist() == ["warm-up"] * 2
    assert rows["right_verdict"].tolist() == [True, True]
    assert rows["right_mistake"].tolist() == [False, True]
    assert rows["right_agreement"].isna().all()
    assert rows["duration_s"].tolist() == [3, 3]
    assert found.trials["role"].tolist() == ["practice"] * 2
    assert found.stages.empty
    assert found.similarities.empty


@pytest.mark.parametrize("task", TASKS)
def test_what_is_right_is_what_the_session_said(task: JudgingTask) -> None:
    """The journal has the session's own verdicts; the analysis comes to them by itself."""

    def choose(trial: PhotoTrial, question: PhotoQuestion) -> int:
        spread = question.last - question.first + 1
        return question.first + (7 * trial.number + len(question.id)) % spread

    made = JudgedSession(task, warm_up=True, photos=8, choose=choose).builder()
    said = {
        (unstamped.part_id, unstamped.trial): unstamped.payload.as_dict()["right"]
        for _, _, unstamped in made.rows
        if unstamped.payload.kind == "photo.judged"
    }
    columns = {"output": "right_output", "distinction": "right_distinction"}
    columns |= {"agreement": "right_agreement", "verdict": "right_verdict"}
    columns |= {"mistake": "right_mistake"}
    checked = 0
    for _, row in tables(made).judgements.iterrows():
        for question, right in said[row["stage"], row["trial"]].items():
            if question in columns:
                assert row[columns[question]] == right, (row["photo"], question)
                checked += 1
    assert checked >= 2 * 2 + 8


def test_the_stage_in_numbers() -> None:
    play = JudgingPlay.of("prototype-agreement")
    for agreement in (4, 4, 4, 1):
        play.wait(6)
        play.answer(agreement=agreement)
        play.send(Next())
    found = played(play)
    (stage,) = [row for _, row in found.stages.iterrows()]
    # Right about photos 1, 3 and 4: the model is wrong on 2 and 4.
    assert plain(stage, "task", "model", "method", "n_planned", "n_answered", "n_correct") == (
        *("prototype-agreement", "test-set", "TestNet"),
        *(4, 4, 3),
    )
    assert plain(stage, "correctness_rate", "agreement", "response_time_s") == (0.75, 3.25, 6)
    # Two are taken as believed, by lot among three of which two are right: 3 + 1 hits, or 2 + 0.
    assert stage["n_ties"] == 3
    assert stage["expected_hits"] == pytest.approx(1 + (2 * 2 + 1 * 1) / 3)
    assert stage["hits"] in (2, 4)
    assert found.trials["outcome"].tolist() == ["judged"] * 4


def test_attempts_that_do_not_count() -> None:
    play = JudgingPlay.of("path-agreement")
    play.answer()
    play.send(Next())
    judge(play, similarity_1=2)
    skip_stage(play)
    found = played(play)
    assert found.judgements["excluded"].tolist() == [False, True]
    second = found.judgements.iloc[1]
    assert plain(second, "outcome", "judged", "n_rated", "duration_s") == (
        *("stage_skipped", False),
        *(1, None),
    )
    assert found.similarities["excluded"].tolist() == [False] * 3 + [True]
    assert found.stages["n_answered"].item() == 1


def test_a_crash_inside_a_photo_goes_on_with_it() -> None:
    play = JudgingPlay.of("heatmap-distinction")
    judge(play, output=1)
    play.crash(30)
    play.send(Resume("on"))
    play.wait(1)
    play.answer()
    play.send(Next())
    row = played(play).judgements.iloc[0]
    assert plain(row, "trial", "attempt", "excluded") == (1, 1, False)
    assert plain(row, "duration_s", "elapsed_s") == (2, 32)


def test_sliders_say_whether_they_were_touched() -> None:
    answers = {
        "low_risk": {"value": 80, "touched": True},
        "high_risk": {"value": 76, "touched": False},
        "reason": "because",
    }
    found = tables(
        JudgedSession("path-agreement", after=[("hive-trade-off-species", answers)]).builder()
    )
    rows = found.answers.set_index("item")
    assert plain(rows.loc["low_risk"], "kind", "value", "touched") == ("slider", 80, True)
    assert plain(rows.loc["high_risk"], "value", "touched", "value_text") == (None, False, None)
    assert plain(rows.loc["reason"], "kind", "touched") == ("written", None)


def test_facts_of_the_photo_are_kept() -> None:
    made = JudgedSession("path-agreement").builder()
    plan = made.rows[0][2].payload.as_dict()["plan"]
    plan[0]["photos"][0]["facts"] = {"visible": 0.5}
    assert json.loads(tables(made).judgements.iloc[0]["facts"]) == {"visible": 0.5}
    assert tables(made).judgements.iloc[1]["facts"] is pd.NA


def test_a_photo_that_is_not_in_the_plan_is_refused() -> None:
    made = JudgedSession("path-agreement").builder()
    at = next(n for n, row in enumerate(made.rows) if row[2].payload.kind == "photo.drawn")
    t_ns, source, unstamped = made.rows[at]
    made.rows[at] = (
        t_ns,
        source,
        replace(unstamped, payload=replace(unstamped.payload, photo="another")),
    )
    with pytest.raises(RecordError, match="begins the photo 'another'"):
        tables(made)


def test_a_plan_that_lacks_something_is_refused() -> None:
    made = JudgedSession("path-agreement").builder()
    del made.rows[0][2].payload.as_dict()["plan"][0]["photos"][0]["truth"]
    with pytest.raises(RecordError, match=r"read: .*photos.0.truth: Field required"):
        tables(made)
