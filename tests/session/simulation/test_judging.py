"""Simulated participants judge explanations: what each strategy comes to is what the plan, or the
manifest of the stimulus set, says it must."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import Payload
from labapp.record.events.lifecycle import PaymentComputed, SessionCompleted, SessionPlanned
from labapp.record.journal.opening import open_record
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import plan
from labapp.tasks.judging.events import (
    DescriptionClosed,
    DescriptionOpened,
    JudgementMade,
    PerformanceComputed,
    PhotoJudged,
    SpeciesOpened,
)
from labapp.tasks.judging.machine import JudgingTask as Machine
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    FIRST_STEP,
    KIND_OF,
    OUTPUT,
    JudgingPart,
    JudgingTask,
)
from labapp.tasks.judging.simulated import steps
from tests.helpers.judging import made_for, write_judging_study
from tests.helpers.nightly import sample
from tests.helpers.play_judging import JudgingPlay

TASKS: tuple[JudgingTask, ...] = tuple(KIND_OF)
STRATEGIES = ("understanding", "explanation", "random")
PEOPLE = 2
Rows = list[tuple[Any, Payload]]


class Simulated:
    """The journals of some participants of one task and strategy."""

    def __init__(self, found: StimulusSet, folders: list[Path]) -> None:
        self.found = found
        self.journals: list[Rows] = [list(open_record(one).payloads()) for one in folders]

    def of(self, kind: type[Payload]) -> list[Payload]:
        return [
            payload for rows in self.journals for _, payload in rows if isinstance(payload, kind)
        ]

    def parts(self) -> list[JudgingPart]:
        planned = [
            payload for payload in self.of(SessionPlanned) if isinstance(payload, SessionPlanned)
        ]
        parts = [part for one in planned for part in plan.parts_of(one)]
        return [part for part in parts if isinstance(part, JudgingPart)]

    def judged(self) -> list[tuple[Mapping[str, Any], PhotoJudged]]:
        """Photos as the manifest has them, with what was answered."""
        manifest = json.loads((self.found.folder / "manifest.json").read_text("utf-8"))
        by_id = {photo["id"]: photo for photo in manifest["photos"]}
        out = []
        for rows in self.journals:
            photo: Mapping[str, Any] = {}
            for event, payload in rows:
                if event.kind == "photo.drawn":
                    photo = by_id.get(payload.as_dict()["photo"], {})
                elif isinstance(payload, PhotoJudged) and photo:
                    out.append((photo, payload))
        return out

    def share(self, question: str) -> float:
        """Of the photos with an answer to a question, those with the right one."""
        right = [payload.right[question] for _, payload in self.judged()]
        return sum(right) / len(right)


Run = Callable[[JudgingTask, str], Simulated]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    known: dict[tuple[str, str], Simulated] = {}
    sets: dict[str, StimulusSet] = {}

    def simulated(task: JudgingTask, strategy: str) -> Simulated:
        if (task, strategy) not in known:
            folder = tmp_path_factory.mktemp(f"{task}-{strategy}")
            found = sets.setdefault(task, made_for(tmp_path_factory.mktemp(task), task))
            study = write_judging_study(folder / "study", task, found, warm_up=True)
            people = simulate_study(str(study), PEOPLE, strategy, folder / "out", seed=3)
            known[task, strategy] = Simulated(found, people)
        return known[task, strategy]

    return simulated


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("task", TASKS)
def test_every_strategy_comes_to_the_end(run: Run, task: JudgingTask, strategy: str) -> None:
    made = run(task, strategy)
    assert len(made.of(SessionCompleted)) == PEOPLE
    photos = sum(part.trials for part in made.parts())
    assert len(made.of(PhotoJudged)) == photos + 2 * PEOPLE, "the warm-up has two exercises"
    performances = made.of(PerformanceComputed)
    assert len(performances) == PEOPLE
    for event, payload in (row for rows in made.journals for row in rows):
        if isinstance(payload, JudgementMade):
            assert event.source == "simulated"
    assert len(made.of(PaymentComputed)) == PEOPLE


def test_who_knows_the_truth_is_right_about_the_class_and_half_of_the_output(run: Run) -> None:
    made = run("heatmap-distinction", "understanding")
    assert made.share(DISTINCTION) == 1
    assert made.share(OUTPUT) == 0.5, "half of the photos are predicted wrong"
    for task in sample(("prototype-distinction", "path-distinction"), ("path-distinction",)):
        assert run(task, "understanding").share(DISTINCTION) == 1
    for task in sample(
        ("prototype-agreement", "path-agreement", "path-first-step"), ("prototype-agreement",)
    ):
        agreed = run(task, "understanding")  # type: ignore[arg-type]
        assert agreed.share(AGREEMENT) == 1
        for payload in agreed.of(PerformanceComputed):
            assert isinstance(payload, PerformanceComputed)
            assert payload.hits == payload.photos
            assert payload.expected_hits == payload.photos


def test_who_follows_the_heatmaps_names_the_strongest(run: Run) -> None:
    for photo, payload in run("heatmap-distinction", "explanation").judged():
        strongest = 1 + photo["strengths"].index(max(photo["strengths"]))
        assert payload.answers[OUTPUT] == payload.answers[DISTINCTION] == strongest
        assert payload.right[DISTINCTION] == (photo["options"][strongest - 1] == photo["truth"])


def test_who_follows_the_rows_names_the_class_of_the_most_similar(run: Run) -> None:
    made = run("prototype-distinction", "explanation")
    of = {one.id: one.of for one in made.found.manifest.prototypes}
    for photo, payload in made.judged():
        total: dict[str, float] = {}
        for row in photo["rows"]:
            name = of[row["prototype"]]
            assert name is not None
            total[name] = total.get(name, 0) + row["similarity"]
        best = max(total, key=total.__getitem__)
        assert photo["options"][payload.answers[DISTINCTION] - 1] == best


def test_who_follows_the_path_takes_its_steps_and_believes_the_model(run: Run) -> None:
    assert run("path-distinction", "explanation").share(DISTINCTION) == 1, "it is right there"
    for task in ("prototype-agreement", "path-agreement", "path-first-step"):
        made = run(task, "explanation")
        assert made.share(AGREEMENT) == 0.5
        for photo, payload in made.judged():
            assert payload.answers[AGREEMENT] >= 3
            if FIRST_STEP in payload.answers:
                assert payload.answers[FIRST_STEP] == len(photo["rows"]) + 1


def test_the_first_wrong_step_is_known_to_who_knows_the_truth(run: Run) -> None:
    for photo, payload in run("path-first-step", "understanding").judged():
        assert payload.answers[FIRST_STEP] == photo.get("first_wrong", len(photo["rows"]) + 1)


@pytest.mark.parametrize(
    ("task", "question", "chance"),
    [
        ("heatmap-distinction", OUTPUT, 0.25),
        ("heatmap-distinction", DISTINCTION, 0.25),
        ("prototype-distinction", DISTINCTION, 0.25),
        ("path-distinction", DISTINCTION, 0.25),
        ("prototype-agreement", AGREEMENT, 0.5),
        ("path-agreement", AGREEMENT, 0.5),
    ],
)
def test_who_guesses_is_right_at_chance(task: JudgingTask, question: str, chance: float) -> None:
    """Of 400 photos, on the machine alone; one run in 10,000 would be further off by chance."""
    right = []
    for seed in range(100):
        play = JudgingPlay.of(task)
        while play.photo is not None and isinstance(play.task, Machine):
            rng = np.random.default_rng((seed, play.photo.number))
            for step in steps(play.task, play.photo, "random", rng):
                play.send(step.command)
        right += [e.payload["right"][question] for e in play.events if e.kind == "photo.judged"]
    assert len(right) == 400
    assert binomtest(sum(right), len(right), chance).pvalue > 1e-4, sum(right)


def test_ratings_follow_what_is_similar(run: Run) -> None:
    made = run("prototype-distinction", "explanation")
    own: list[int] = []
    others: list[int] = []
    for part, rows in zip(made.parts(), made.journals, strict=True):
        answers = [
            payload.answers
            for event, payload in rows
            if isinstance(payload, PhotoJudged) and event.part_id == part.id
        ]
        for photo, given in zip(part.photos, answers, strict=True):
            for n, row in enumerate(photo.rows, start=1):
                (own if row.of == photo.prediction else others).append(given[f"similarity_{n}"])
    assert sum(own) / len(own) > sum(others) / len(others) + 0.5


def test_people_look_around_change_their_minds_and_take_their_time(run: Run) -> None:
    every = [run(task, strategy) for task in TASKS for strategy in STRATEGIES]
    opened = [payload for made in every for payload in made.of(DescriptionOpened)]
    closed = [payload for made in every for payload in made.of(DescriptionClosed)]
    assert {payload.as_dict()["what"] for payload in opened} == {"method", "tree"}
    assert len(opened) == len(closed)
    assert run("prototype-distinction", "understanding").of(SpeciesOpened)
    taken_back = [
        payload
        for made in (run("path-distinction", strategy) for strategy in STRATEGIES)
        for payload in made.of(JudgementMade)
        if isinstance(payload, JudgementMade) and payload.value is None
    ]
    assert taken_back, "a branch is left at times"
    for rows in run("heatmap-distinction", "understanding").journals:
        shown = [event.t_ns / 1e9 for event, _ in rows if event.kind == "photo.shown"]
        judged = [event.t_ns / 1e9 for event, _ in rows if event.kind == "photo.judged"]
        seconds = [done - began for began, done in zip(shown, judged, strict=True)]
        assert 5 < min(seconds) < max(seconds) < 90, seconds
