"""Adaptive stages of the single-dimension task: how far a dial's regimes lie apart follows from the
answers so far, and a practice lasts until enough answers are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from labapp.analysis.analyze import analyze
from labapp.analysis.tables import load
from labapp.analysis.track_sections import describe_level, show_thresholds
from labapp.base.errors import StudyError, faults_of
from labapp.models.representations.space import Continuous, LatentSpace
from labapp.record.events import payload_of
from labapp.record.events.commands import Begin, Next, Pause, Resume
from labapp.record.events.trials import LevelChosen
from labapp.record.journal.opening import open_record
from labapp.session.bids.verify import verify
from labapp.session.gate import gate, look_at
from labapp.session.machine import SessionMachine
from labapp.session.overview import overview
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.adaptive import AnyRule
from labapp.study.overview import check, notices
from labapp.tasks.single_dimension.events import QuestionDrawn
from labapp.tasks.single_dimension.plan import spread_out
from labapp.tasks.single_dimension.planner import track_dials
from labapp.tasks.single_dimension.report import ASKED
from labapp.ui.moderator.wording import list_chosen
from tests.helpers.beside import put_beside
from tests.helpers.play_single import SinglePlay, single_part, single_task
from tests.helpers.single import write_single_study

SPACE = LatentSpace((Continuous("x", -3.0, 3.0), Continuous("y", -3.0, 3.0)))
SPREADS = (0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
STAIRCASE = {"method": "up-down", "start": 0.4, "trials": 8}


def adaptive_play(levels: tuple[float, ...] = SPREADS, **declared: Any) -> SinglePlay:
    rule = TypeAdapter(AnyRule).validate_python(declared)
    tracks = track_dials(rule, levels, SPACE, (1, 0), 1, "turns")
    dimensions = SPACE.to_json()
    return SinglePlay.of(
        dimensions=dimensions, asked=(1, 0), adaptive=tracks, sampling="uniform", feedback=False
    )


def answer(play: SinglePlay, right: bool) -> None:
    play.answer(right=right)


def chosen(play: SinglePlay) -> list[LevelChosen]:
    return [payload_of(event) for event in play.events if event.kind == LevelChosen.kind]


@pytest.mark.parametrize("spread", [0.05, 0.5, 1.0])
def test_regimes_draw_together_around_medium_and_never_overlap(spread: float) -> None:
    bounds = ((-2.0, -1.5), (-0.1, 0.3), (1.0, 2.5))
    made = spread_out(bounds, spread)
    assert all(low < high for low, high in made)
    assert made[0][1] < made[1][0] < made[1][1] < made[2][0]
    assert sum(made[1]) / 2 == pytest.approx(0.1), "Medium stays where it is"
    assert made[2][1] - made[0][0] == pytest.approx(4.5 * spread)


def test_each_dial_has_a_track_whose_spread_is_drawn() -> None:
    play = adaptive_play(**STAIRCASE)
    n = 0
    while play.state.ended is None and play.question is not None:
        answer(play, n % 3 != 2)
        n += 1
    assert n == 16, "at most eight for each dial"
    made = chosen(play)
    assert {(each.track, each.item) for each in made} == {(1, 1), (2, 2)}
    drawn = [payload_of(event) for event in play.events if event.kind == QuestionDrawn.kind]
    widths = {}
    for level, question in zip(made, drawn, strict=True):
        assert isinstance(question, QuestionDrawn)
        assert question.dimension == (1, 0)[level.item - 1]
        width = question.bounds[2][1] - question.bounds[0][0]
        widths.setdefault(question.dimension, set()).add(round(width / level.value, 3))
    assert all(len(found) == 1 for found in widths.values()), "in proportion to the level"
    assert {each.value for each in made} > {0.4}


@pytest.mark.parametrize(
    "declared",
    [
        STAIRCASE,
        {**STAIRCASE, "start": [0.1, 1.0], "reversals": 4},
        {"method": "weighted-up-down", "start": 0.2, "trials": 8},
        {"method": "quest", "start": 0.2, "trials": 8},
        {"method": "psi", "trials": 8},
        {"method": "criterion", "right": 3, "of": 4, "trials": 8},
    ],
    ids=lambda declared: declared["method"],
)
def test_a_session_that_is_cut_off_anywhere_asks_the_same_next(declared: dict[str, Any]) -> None:
    """After every event of a journal, the machine that goes on has the state of the one that did
    not stop, and decides as the journal goes on."""
    play = adaptive_play(**declared)
    answers, n = (True, False, True, True), 0
    while play.state.ended is None and play.question is not None:
        answer(play, answers[n % len(answers)])
        n += 1
    part = play.machine.parts[0]
    assert part.adaptive is not None
    machine = SessionMachine((part,), (single_task(part),), {1: "insight"})
    for count in range(3, len(play.events)):
        state = machine.fold(play.events[:count]).part_state
        following = play.events[count]
        if following.kind == LevelChosen.kind:
            tracking = state.tracking or part.adaptive.begin()
            assert part.adaptive.choose(tracking) == payload_of(following)
        elif following.kind == QuestionDrawn.kind:  # stored without its question: not chosen again
            (drawn,) = machine.tasks[0].decide(state, Begin(), 0)
            assert drawn.payload == payload_of(following)
    assert machine.fold(play.events).ended == play.state.ended


def test_the_console_says_what_the_rule_chose() -> None:
    play = adaptive_play(**STAIRCASE)
    part = play.machine.parts[0]
    (fact,) = list_chosen(part.adaptive, play.single.tracking)
    assert fact.text == f"Level 0.4, track {chosen(play)[0].track} of 2"
    play = adaptive_play((1.0,), method="criterion", right=3, trials=9, interleave="in-turn")
    for right in (True, True):
        answer(play, right)
    (fact,) = list_chosen(play.machine.parts[0].adaptive, play.single.tracking)
    assert fact.text == "1 of 3 answers right so far"
    assert list(list_chosen(None, None)) == []


def test_a_question_after_a_pause_keeps_its_level() -> None:
    play = adaptive_play(**STAIRCASE)
    before = play.question
    play.send(Pause("break"))
    play.send(Resume("break"))
    assert play.question == before
    assert len(chosen(play)) == 1


@pytest.mark.parametrize(
    ("answers", "asked", "result"),
    [
        ([True] * 8, 8, "reached"),
        ([False] * 2 + [True] * 8, 10, "reached"),
        ([True, False] * 4 + [True] * 8, 14, "reached"),
        ([True, False, False] * 20, 20, "missed"),
    ],
)
def test_practice_until_eight_of_the_last_ten_are_right(
    answers: list[bool], asked: int, result: str
) -> None:
    rule = {"method": "criterion", "right": 8, "of": 10, "trials": 20}
    tracks = track_dials(
        TypeAdapter(AnyRule).validate_python(rule), (1.0,), SPACE, (0,), 1, "turns"
    )
    play = SinglePlay.of(
        dimensions=SPACE.to_json(),
        asked=(0,),
        adaptive=tracks,
        sampling="uniform",
        named="training",
    )
    count = 0
    while play.question is not None and count < len(answers):
        answer(play, answers[count])
        play.send(Next())
        count += 1
    assert count == asked
    assert play.state.answers["training.criterion"] == (result,)
    right = sum(answers[:asked])
    assert play.state.answers["training.right"] == (pytest.approx(right / asked),)


STUDY = """\
id: taught
title: Taught
version: 1
recording: {audio: "off"}
flow:
  - practice: circles-traversals
    name: training
    adaptive: {method: criterion, right: 2, of: 3, trials: 4}
  - text: texts/{language}/debrief.md
    only_if: {training.criterion: missed}
  - name: dials
    only_if: {training.criterion: reached}
    stages:
      task: single-dimension
      visualisation: traversals
      models: [circles/gt]
      intro: dials.md
      spreads: [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1]
      adaptive: {method: up-down, start: 1, steps: [2, 1], trials: 12}
  - text: texts/{language}/debrief.md
    only_if: {dials.threshold: {above: 0.0001}}
  - debrief: texts/{language}/debrief.md
"""


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    put_beside(folder)
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "dials.md").write_text("# Dials\n\nYou will see {trials} questions.\n")
    (folder / "own.yaml").write_text(text)
    return folder / "own.yaml"


def test_what_is_shown_after_the_criterion_was_reached_or_missed(tmp_path: Path) -> None:
    met = set()
    rule = "adaptive: {method: criterion, right: 2, of: 3"
    entangled = f"model: mnist8k/ae10\n    {rule.replace('right: 2, of: 3', 'right: 4')}"
    for number, practised in enumerate((rule, entangled)):
        path = write(tmp_path / f"study {number}", (rule, practised))
        for folder in simulate_study(str(path), 2, "understanding", tmp_path / str(number)):
            assert (report := verify(folder)).ok, report.problems
            events = [event for event, _ in open_record(folder).payloads()]
            ended = [e.payload["because"] for e in events if e.kind == "track.ended"]
            started = {e.part_id for e in events if e.kind == "part.started"}
            reached = ended[0] == "criterion"
            assert ("stage-1" in started) == reached
            assert ("text-1" in started) != reached
            assert ("text-2" in started) == reached, "a threshold was found"
            met.add(reached)
    assert met == {True, False}


@pytest.mark.parametrize(("answers", "ends"), [([True] * 3, False), ([False] * 4, True)])
def test_a_criterion_that_is_missed_can_end_the_session(answers: list[bool], ends: bool) -> None:
    rule = {"method": "criterion", "right": 3, "trials": 4, "missed": "end"}
    made = TypeAdapter(AnyRule).validate_python(rule)
    tracks = track_dials(made, (1.0,), SPACE, (0,), 1, "turns")
    changes = {"dimensions": SPACE.to_json(), "asked": (0,), "sampling": "uniform"}
    first = single_part(adaptive=tracks, **changes)
    second = single_part(id="stage-2", number=2, **changes)
    tasks = (single_task(first), single_task(second, index=1))
    play = SinglePlay(SessionMachine((first, second), tasks, {1: "insight"}))
    play.start()
    for right in answers:
        answer(play, right)
        play.send(Next())
    (ended,) = [event.payload for event in play.events if event.kind == "part.ended"]
    assert ended["outcome"] == ("criterion_missed" if ends else "completed")
    assert play.state.ended == ("criterion not reached" if ends else None)
    assert (play.state.index == 1) is not ends


def test_adaptive_dials_are_simulated_verified_and_analysed(tmp_path: Path) -> None:
    path = write(tmp_path / "study")
    folders = simulate_study(str(path), 3, "understanding", tmp_path / "out")
    for folder in folders:
        assert (report := verify(folder)).ok, report.problems
    tables = load(folders)
    tracks = tables.tracks
    own = tracks[tracks["role"] == "stage"]
    assert set(own["about"]) == {"1", "2"}
    assert set(own["model"]) == {"circles/gt"}
    assert (own["levels"].map(len) == own["n_trials"]).all()
    trials = tables.trials[tables.trials["role"] == "stage"]
    assert trials["spread"].isin([0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1]).all()
    assert set(trials["track"]) == {1, 2}
    assert tables.stages["threshold"].dropna().between(0.02, 1).all()
    assert tables.stages["criterion"].isna().all()
    far, near = trials[trials["spread"] >= 0.4], trials[trials["spread"] <= 0.1]
    assert far["correct"].mean() > near["correct"].mean(), "who sees less is right less often"
    assert set(own["lowest_level"]) == {0.02}
    assert set(own["highest_level"]) == {1.0}
    practice = tracks[tracks["role"] == "practice"]
    assert set(practice["rule"]) == {"criterion"}
    page = analyze(folders, tmp_path / "de", language="de").read_text("utf-8")
    assert "Schwellen adaptiver Abschnitte" in page
    assert "Abstand der Bereiche" in page
    assert (tmp_path / "de" / "figures" / "single-dimension-tracks.svg").exists()
    assert not (tmp_path / "de" / "report-words.yaml").exists()
    beyond = own.assign(threshold=own["about"].map({"1": 1.4, "2": 0.1234}))
    shown = str(show_thresholds(ASKED, beyond))
    assert "&gt; 1<" in shown, "no number beyond the levels"
    assert "1.4" not in shown
    assert "0.123" in shown
    assert [describe_level(value, 2, 80) for value in (1.5, 14.81, 80.1)] == ["< 2", "14.8", "> 80"]


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ("spreads: [0.02, 0.05", "spreads: [0.05, 0.02", "spreads", "ascending"),
        ("spreads: [0.02,", "spreads: [0,", "spreads", "above 0"),
        ("0.7, 1]", "0.7, 2]", "spreads", "up to 1"),
        (
            "      adaptive: {method: up-down, start: 1, steps: [2, 1], trials: 12}\n",
            "",
            "spreads",
            "with",
        ),
        (
            "      spreads: [0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1]\n",
            "",
            "adaptive.method",
            "criterion",
        ),
        ("start: 1, steps", "start: 3, steps", "adaptive.start", "0.02 to 1"),
        ("start: 1, steps", "start: one, steps", "adaptive.start", "number"),
        ("steps: [2, 1]", "step: [2, 1]", "adaptive.step", "steps"),
        ("method: up-down", "method: updown", "adaptive.method", "up-down"),
        (
            "of: 3, trials: 4",
            "of: 1, trials: 4",
            "adaptive",
            "at least 2, the number of right answers",
        ),
        (
            "of: 3, trials: 4",
            "of: 3, trials: 1",
            "adaptive",
            "at least 2, the number of right answers",
        ),
        ("of: 3, trials: 4", "of: 3", "adaptive.trials", "missing"),
        (
            "{method: criterion, right: 2, of: 3, trials: 4}",
            "{method: psi, trials: 4}",
            "adaptive",
            "",
        ),
        ("training.criterion: missed", "training.criterion: true", "only_if", "reached or missed"),
        ("training.criterion: missed", "training.criterion: {above: 1}", "only_if", "reached or"),
        ("training.criterion: missed", "training.threshold: 1", "only_if", "it has: criterion"),
        (
            "dials.threshold: {above",
            "dials.criterion: {above",
            "only_if",
            "it has: right, threshold",
        ),
        ("{above: 0.0001}", "{below: 0}", "only_if", "never within these limits"),
        ("{above: 0.0001}", "low", "only_if", "a number above 0"),
    ],
)
def test_a_mistake_of_an_author_has_its_key(
    tmp_path: Path, old: str, new: str, key: str, said: str
) -> None:
    told = [
        (fault.line, f"{fault.key}: {fault.what}")
        for error in look_at(write(tmp_path, (old, new))).errors
        for fault in faults_of(error)
    ]
    assert any(line and key in what and said in what for line, what in told), told


def plan_of(study: Path) -> Any:
    plans: list[Any] = []
    gate(study, plans=plans)
    return plans[0].parts


def test_a_text_that_counts_questions_of_each_dial_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ("      intro: dials.md\n", ""))
    told = [str(error) for error in look_at(path).errors]
    assert any("single-first.md" in what and "{times}" in what for what in told), told


def test_the_shipped_text_is_not_suggested_where_it_would_be_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ("      intro: dials.md\n", ""))
    (tmp_path / "texts" / "en" / "single-first.md").unlink()
    (error,) = look_at(path).errors
    assert "does not exist" in str(error)
    assert "`intro` of `stages` in line 13" in error.todo
    assert "shipped:" not in error.todo
    path = write(tmp_path, ("intro: dials.md", "intro: shipped:single-first"))
    (tmp_path / "texts" / "en" / "single-first.md").unlink()
    (error,) = look_at(path).errors
    assert "{times}: nothing is filled in" in str(error)
    assert error.todo.startswith("Name a text of your own under `intro` of `stages` in line 13")


@pytest.mark.parametrize(
    ("start", "nearest"), [("1", ""), ("0.3", "0.4"), ("[0.05, 0.09]", "0.1"), ("0.03", "0.02")]
)
def test_a_start_between_two_levels_is_noted(tmp_path: Path, start: str, nearest: str) -> None:
    noted = notices(check(write(tmp_path, ("start: 1", f"start: {start}"))))
    said = [note for note in noted if "adaptive.start: " in note]
    assert [note.rpartition(", ")[2] for note in said] == ([f"{nearest}."] if nearest else [])
    assert all(note.startswith("line 19, flow[2].stages.adaptive.start: 0.") for note in said)


def test_what_a_part_depends_on_is_shown(tmp_path: Path) -> None:
    lines = "\n".join(overview(str(write(tmp_path)), 1, tmp_path / "data").lines())
    assert "(up-down, 2 tracks), only if training.criterion is reached" in lines


def test_dials_with_single_values_have_no_spread(tmp_path: Path) -> None:
    path = write(tmp_path, ("models: [circles/gt]", "models: [mnist8k/ig5]"))
    with pytest.raises(StudyError, match="Slider 1 has discrete values"):
        gate(path)
    rule = "adaptive: {method: criterion, right: 1, trials: 2}"
    (tmp_path / "dials.md").write_text("# Dials\n\nThere are {trials} questions.\n")
    study = write_single_study(tmp_path, lines=(rule, "intro: dials.md"))
    assert gate(study).study.flow, "a criterion needs no levels"
    document = next(part for part in plan_of(study) if part.id == "stage-1-intro")
    assert document.values["trials"] == "up to 10"
    lines = "\n".join(overview(str(study), 1, tmp_path / "data").lines())
    assert "at most 10 single-dimension questions, traversals (criterion, 5 tracks)" in lines
