"""Any study file that passes the check is run to its end, and its journal gives the same state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from labapp.base.errors import StudyError
from labapp.record.journal.read import check_journal
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.person import FAST
from labapp.session.simulation.simulation_job import simulate
from labapp.study.overview import check
from labapp.study.plugins.part import TrialsPart
from tests.helpers import concepts, stimuli
from tests.helpers.judging import SET_OF
from tests.helpers.nightly import EVERYTHING
from tests.helpers.rooms import decoder_of
from tests.session.sessions import virtual

MODELS = ("circles/gt", "sinelines/gt")
INSTRUMENTS = tuple(
    f"shipped:{name}"
    for name in ("seq", "comments", "understanding", "synthetic-end", "nasa-tlx", "demographics")
)
TEXT = "shipped:debrief"
SHOWN = ("circles", "sinelines")
TASKS = ("reconstruction", "single-dimension")
Tree = dict[str, Any]


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    """A mapping with some of these keys."""
    return st.fixed_dictionaries({}, optional=fields)


def merged(*parts: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


fixed_models = st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique=True)
common = some(
    order=st.sampled_from(["as_listed", "random", "counterbalanced"]),
    time_limit_min=st.sampled_from([0.02, 0.5]),
    think_aloud=st.booleans(),
    after=st.lists(st.sampled_from(INSTRUMENTS), max_size=2, unique=True),
)
reconstruction = merged(
    common,
    st.fixed_dictionaries({"task": st.just("reconstruction"), "trials": st.integers(1, 2)}),
    some(
        skip=st.sampled_from(["after", "always", "never"]),
        skip_after_s=st.sampled_from([0.5, 4]),
        inactivity_s=st.sampled_from([1, 3]),
        active_time=st.sampled_from(["paused", "as_published"]),
        distance=st.sampled_from(["sinelines", "dsprites", "dsprites_as_published", "mnist"]),
        overlay_at_start=st.booleans(),
        labels=st.sampled_from(["editable", "fixed"]),
        sampling=st.sampled_from(["held_out", "shuffled_pass", "uniform"]),
    ),
    st.one_of(some(target_alignment=st.sampled_from([0.5, 0.9, 1.0])), st.just({"marks": True})),
)
single = merged(
    common,
    st.fixed_dictionaries(
        {
            "task": st.just("single-dimension"),
            "visualisation": st.sampled_from(["traversals", "exemplars"]),
            "questions_per_dimension": st.just(1),
        }
    ),
    some(sampling=st.sampled_from(["held_out", "uniform"])),
)


judging = merged(
    st.sampled_from(sorted(SET_OF)).map(
        lambda task: {"task": task, "stimuli": f"tiny-{SET_OF[task]}"}
    ),
    st.fixed_dictionaries(
        {"set": st.sampled_from([1, 2]), "intro": st.just(TEXT), "description": st.just(TEXT)}
    ),
    some(
        order=st.sampled_from(["as_listed", "random"]),
        time_limit_min=st.sampled_from([0.02, 0.5]),
        think_aloud=st.booleans(),
        after=st.lists(st.sampled_from(INSTRUMENTS), max_size=2, unique=True),
    ),
)

unmasking = merged(
    st.fixed_dictionaries(
        {
            "task": st.just("unmasking"),
            "stimuli": st.just("tiny-scores"),
            "masks": st.sampled_from([[5.0], [5.0, 60.0], {"count": 3}]),
            "intro": st.just(TEXT),
        }
    ),
    some(
        set=st.sampled_from([1, 2]),
        methods=st.sampled_from([["edge"], ["edge", "middle"]]),
        fill=st.sampled_from(["mean", "black", "grey", "white"]),
        sign=st.sampled_from(["signed", "absolute"]),
        order=st.sampled_from(["as_listed", "random"]),
        question=st.just("What is it?"),
        buttons=st.sampled_from(["as_listed", "counterbalanced"]),
        keys=st.just(["A", "B", "C"]),
        blank_ms=st.sampled_from([0, 300]),
        breaks=merged(
            st.fixed_dictionaries({"every": st.integers(1, 9), "text": st.just(TEXT)}),
            some(at_least_s=st.just(2)),
        ),
        example=st.just(TEXT),
        think_aloud=st.booleans(),
        after=st.lists(st.sampled_from(INSTRUMENTS), max_size=2, unique=True),
    ),
)

repairing = merged(
    st.fixed_dictionaries(
        {
            "task": st.just("concept-repair"),
            "stimuli": st.just("tiny-concepts-2"),
            "intro": st.just(TEXT),
            "items": merged(
                st.fixed_dictionaries({"repair": st.integers(0, 2), "control": st.just(1)}),
                some(trap=st.integers(0, 2), natural=st.integers(0, 3)),
            ),
        }
    ),
    some(
        instruction=st.sampled_from(["repair", "audit", "foresight"]),
        foresee=st.sampled_from(["none", "half", "all"]),
        practice=merged(
            st.fixed_dictionaries({"text": st.just(TEXT)}), some(items=st.integers(1, 3))
        ),
        grid=st.booleans(),
        time_limit_s=st.sampled_from([None, 2, 60]),
        class_names=st.sampled_from(["as_listed", "drawn"]),
        think_aloud=st.booleans(),
        after=st.lists(st.sampled_from(INSTRUMENTS), max_size=2, unique=True),
    ),
)


def stages(models: st.SearchStrategy[list[str]]) -> st.SearchStrategy[Tree]:
    group = merged(st.one_of(reconstruction, single), st.fixed_dictionaries({"models": models}))
    return st.fixed_dictionaries({"stages": st.one_of(group, group, judging, unmasking, repairing)})


def items(models: st.SearchStrategy[list[str]], variables: Tree) -> st.SearchStrategy[Tree]:
    """Items of a flow; variables: the values by which `only_if` may ask, by name."""
    kinds: st.SearchStrategy[Tree] = st.one_of(
        *[stages(models)] * 3,
        st.sampled_from(
            [
                {"tutorial": "reconstruction"},
                {"tutorial": "traversals"},
                {"tutorial": "exemplars"},
                {"practice": "circles"},
                {"practice": "circles-traversals", "intro": "shipped:incentive"},
                {"practice": "circles-exemplars"},
                {"text": TEXT},
                {"break": TEXT, "at_least_s": 5},
                {"break": TEXT},
                {"warm_up": "fruits"},
                {"method": TEXT},
                {"questionnaire": "shipped:comments", "above": TEXT},
            ]
        ),
        st.sampled_from(INSTRUMENTS).map(lambda name: {"questionnaire": name}),
    )
    if not variables:
        return kinds
    asks = {
        name: st.one_of(
            st.sampled_from(values), st.lists(st.sampled_from(values), min_size=1, max_size=2)
        )
        for name, values in variables.items()
    }
    return merged(kinds, some(only_if=some(**asks)))


@st.composite
def studies(draw: st.DrawFn) -> Tree:
    assignment: Tree = {}
    variables: Tree = {}
    models = fixed_models
    inside = fixed_models
    if draw(st.booleans()):
        assignment["shown"] = {"odd": "circles", "even": "sinelines"}
        variables["shown"] = SHOWN
        models = inside = st.one_of(models, st.just(["{shown}/gt"]))
    drawn = draw(st.sampled_from([0, 1, 2]))
    if drawn:
        names = ("one", "two", "three")
        cells = {
            name: {"dataset": draw(st.sampled_from(SHOWN)), "task": draw(st.sampled_from(TASKS))}
            for name in names
        }
        assignment["condition"] = {"cells": cells, "draw": drawn}
        if draw(st.booleans()):
            assignment["condition"]["included"] = 2
        inside = st.one_of(inside, st.just(["{dataset}/gt"]))
        if drawn == 1:
            models = inside
            variables |= {"condition": names, "task": tuple(c["task"] for c in cells.values())}
    flow = draw(st.lists(items(models, variables), max_size=3))
    flow.insert(draw(st.integers(0, len(flow))), draw(stages(models)))
    if drawn and draw(st.booleans()):
        known = {**variables, "condition": names, "task": tuple(c["task"] for c in cells.values())}
        part = draw(st.lists(items(inside, known), min_size=1, max_size=2))
        flow.insert(draw(st.integers(0, len(flow))), {"each": "condition", "flow": part})
    if draw(st.booleans()):
        flow.insert(0, {"consent": "shipped:consent"})
    if draw(st.booleans()):
        flow.append({"debrief": TEXT})
    study: Tree = {"id": "any", "title": "Any", "version": 1, "unnamed_texts": "shipped"}
    study["flow"] = flow
    if assignment:
        study["assignment"] = assignment
    amounts = {
        name: st.sampled_from([0, 0.25, 3])
        for name in ("base", "per_solved", "per_correct", "per_above_chance")
    }
    return study | draw(
        some(
            seed=st.integers(0, 2**63 - 1),
            language=st.sampled_from(["en", "de"]),
            presentation=st.sampled_from(["as_published", "improved"]),
            related=st.just(["other"]),
            when_interrupted=st.sampled_from(["resume", "restart_stage", "block"]),
            inclusion=some(
                completed=st.booleans(),
                practice_correct=st.booleans(),
                min_solved=st.integers(0, 3),
            ),
            incentive=merged(st.just({"text": "shipped:incentive"}), some(**amounts)),
        )
    )


@pytest.fixture(scope="module", autouse=True)
def small_sets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("stimuli")
    for name in stimuli.NAMES:
        stimuli.write(folder, name)
    concepts.write(folder, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABAPP_STIMULI", str(folder))
        yield


@settings(
    max_examples=12 if EVERYTHING else 2,
)
@given(studies(), st.sampled_from(["P01", "P02"]))
def test_any_study_in_order_is_run_to_its_end(
    tmp_path_factory: pytest.TempPathFactory, study: Tree, participant: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = folder / "any.yaml"
    path.write_text(json.dumps(study))  # which is YAML too
    try:
        loaded = check(path)
    except StudyError as error:
        event(f"refused: {error.what[:60]}")
        reject()
    held: list[OpenSession] = []

    def over(session: OpenSession) -> bool:
        held[:] = [session]
        return session.runner.finished

    session_path = simulate(
        loaded,
        participant,
        SessionDependencies(
            {model: decoder_of(model) for model in MODELS}, (), virtual, private=folder / "private"
        ),
        data=folder / "data",
        strategy="understanding",
        pace=FAST,
        until=over,
    )
    runner = held[0].runner
    events = read_verified_events(session_path)
    assert not check_journal(session_path)
    assert runner.machine.fold(events) == runner.state
    assert runner.state.ended == "completed"
    started = [event.payload["index"] for event in events if event.kind == "part.started"]
    assert started == list(range(len(runner.machine.parts)))
    asked = [part for part in runner.machine.parts if isinstance(part, TrialsPart)]
    event(f"{len(asked)} stages")
