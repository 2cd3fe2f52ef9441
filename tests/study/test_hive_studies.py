"""The nine studies of paper 003 as they are shipped: page order, questions, pay, and their words.

Small stand-ins take the place of stimulus sets that are not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.models.stimuli import library
from labapp.models.stimuli.library import StimulusSet
from labapp.study import overview, planner
from labapp.study.conditions import cells_of
from labapp.study.loading import LoadedStudy, decode_text, load
from labapp.study.plan import PagesPart, Plan, QuestionnairePart
from labapp.study.plugins import texts
from labapp.tasks.judging.performance import compute, values
from labapp.tasks.judging.plan import (
    JudgingPart,
    MethodPart,
    WarmUpPart,
    exercise_questions,
    questions,
)
from tests.helpers import hive

VALUE = re.compile(r"\{(\w+)\}")
PICTURE = re.compile(r"!\[\]\((\w*)\)")
LABELS = {"gradcam-distinction", "bagnet-distinction"}


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for cached in (stimuli_of, study, plan):
        cached.cache_clear()


@cache
def stimuli_of(name: str) -> StimulusSet:
    return library.load(name)


@cache
def study(name: str) -> LoadedStudy:
    return load(name)


@cache
def plan(name: str, number: int) -> Plan:
    return planner.realise(
        study(name),
        f"P{number:02d}",
        space_of=overview.space_of,
        stimuli_of=stimuli_of,
        drawn=(f"s{1 + (number - 1) % 10}",),
    )


def stage(name: str, number: int = 1) -> JudgingPart:
    return next(part for part in plan(name, number).parts if isinstance(part, JudgingPart))


@pytest.mark.parametrize("name", hive.STUDIES)
def test_it_is_in_order_for_twenty_participants(name: str) -> None:
    loaded = overview.check(name)
    assert (loaded.study.id, loaded.study.presentation) == (name, "as_published")
    for number in range(1, 21):
        made = plan(name, number)
        part = stage(name, number)
        assert part.set == 1 + (number - 1) % 10
        assert part.explained.stimuli == hive.STUDIES[name]
        assert part.explained.manifest_sha256 == stimuli_of(hive.STUDIES[name]).sha256
        assert made.assignment == {
            "number": number,
            "photos": [f"s{part.set}"],
            "stimuli": [hive.STUDIES[name]],
            "sets": [part.set],
            "manifests": [part.explained.manifest_sha256],
        }


@pytest.mark.parametrize("name", hive.STUDIES)
def test_pages_come_in_the_published_order(name: str) -> None:
    """Appendix D; the understanding is asked three times: after the introduction, after the task,
    after the own performance."""
    parts = plan(name, 1).parts
    asked = [
        f"{part.instrument} {Path(part.above).stem if part.above else ''}".strip()
        if isinstance(part, QuestionnairePart)
        else part.part
        for part in parts
    ]
    score = {"gradcam": "heatmaps", "bagnet": "heatmaps"}.get(name.split("-")[0], "distinction")
    score = "agreement" if "agreement" in name else score
    assert asked == [
        "consent",
        "text",
        "hive-demographics",
        *(["warm_up"] if name.startswith("prototree") else []),
        "method",
        "hive-understanding understanding-first",
        "text",
        "judging",
        "hive-understanding post-task",
        f"hive-understanding performance-{score}",
        f"hive-trade-off-species trade-off-{score}",
        "hive-feedback",
        "debrief",
    ]


def headings(name: str) -> list[str]:
    """First headings of the texts of a study, in the order in which they are shown."""
    found = []
    for part in plan(name, 1).parts:
        shown = getattr(part, "above", None) or getattr(part, "document", None)
        if shown is None and isinstance(part, QuestionnairePart):
            found.append(study(name).instruments[part.instrument].title)
        if shown is not None:
            found.append(study(name).text(shown).splitlines()[0].removeprefix("# "))
    return found


@pytest.mark.parametrize(
    ("name", "introduction", "task"),
    [
        ("gradcam-distinction", "Method introduction", "Examine model predictions"),
        ("bagnet-distinction-labels", "Model introduction", "Examine model predictions"),
        ("protopnet-distinction", "Model introduction", "Simulate the model"),
        ("protopnet-agreement", "Model introduction", "Examine model predictions"),
        ("prototree-distinction", "Model introduction", "Predict the bird species"),
        ("prototree-agreement-tree", "Model introduction", "Examine model predictions"),
    ],
)
def test_pages_have_the_published_titles(name: str, introduction: str, task: str) -> None:
    found = headings(name)
    for title in (
        "Demographics and background",
        introduction,
        task,
        "Post-task evaluation",
        "Your performance",
        "Choose which model to use",
    ):
        assert title in found
    asked = [part for part in plan(name, 1).parts if isinstance(part, QuestionnairePart)]
    assert [part.title for part in asked] == [
        "Demographics and background",
        "Before the task",
        "Post-task evaluation",
        "Your performance",
        "Choose which model to use",
        "Your feedback",
    ], "what the moderator and the tables call them"
    assert ("Warming up" in found) == name.startswith("prototree")
    pages = study(name).text(next(p.document for p in plan(name, 1).parts if p.part == "method"))
    assert "# Task preview" in pages, "section 4; figure A9 has none for heatmaps"
    assert ("# Example explanations" in pages) == (not name.startswith(("gradcam", "bagnet")))


@pytest.mark.parametrize("name", hive.STUDIES)
def test_ten_sets_of_five_participants_and_nobody_twice(name: str) -> None:
    asked = study(name).study
    drawn = cells_of(asked.assignment)
    assert drawn is not None
    assert (drawn[1].draw, drawn[1].included, len(drawn[1].cells)) == (1, 5, 10)
    assert [cell["set"] for cell in drawn[1].cells.values()] == list(range(1, 11))
    assert set(asked.related) == set(hive.STUDIES) - {name}
    assert len({study(other).study.seed for other in hive.STUDIES}) == len(hive.STUDIES)


@pytest.mark.parametrize("name", hive.STUDIES)
def test_who_distinguishes_is_paid_beyond_chance_and_told_so(name: str) -> None:
    paid = study(name).study.incentive
    assert paid is not None
    assert paid.base == 2.00
    told, intro = (
        part for part in plan(name, 1).parts if isinstance(part, PagesPart) and part.part == "text"
    )
    distinction = "distinction" in name
    assert (paid.per_above_chance > 0) == distinction
    assert bool(intro.values["per_above_chance"]) == distinction
    said = texts.fill(study(name).text(told.document), told.values)
    assert ("25 %" in said) == ("$0.10" in said) == distinction
    said = texts.fill(study(name).text(intro.document), intro.values)
    assert ("25 % accuracy" in said) == ("$0.10" in said) == distinction


@pytest.mark.parametrize("name", hive.STUDIES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_text_names_a_value_that_is_not_there(name: str, language: str) -> None:
    root = resources.assets() / "texts" / language
    part = stage(name)
    answers = {
        number: {question.id: question.last for question in questions(part.task, photo)}
        for number, photo in enumerate(part.photos, start=1)
    }
    achieved = values(part, compute(part, answers, 1, name, "P01"), answers)
    (one_method,) = (one for one in plan(name, 1).parts if isinstance(one, MethodPart))
    assert part.description == one_method.document, "4: the explanation of the method itself"
    for one in plan(name, 1).parts:
        shown = [getattr(one, key, None) for key in ("document", "above", "description")]
        known = dict(getattr(one, "values", {}))
        if isinstance(one, QuestionnairePart):
            known |= achieved
        for document in filter(None, shown):
            text = decode_text((root / Path(document).name).read_bytes())
            assert set(VALUE.findall(text)) <= set(known), document
            assert "{" not in texts.fill(text, known), document
            if not isinstance(one, MethodPart) and document != one_method.document:
                assert not PICTURE.findall(text), document
        if isinstance(one, MethodPart):
            text = decode_text((root / Path(one.document).name).read_bytes())
            there = {"correct", "incorrect", "preview"}
            if part.explained.kind == "path":
                there.add("tree")
            assert set(PICTURE.findall(text)) == there
            assert all(page.count("![](") <= 1 for page in texts.pages(text))


def test_the_heatmaps_have_the_published_colours_and_the_texts_speak_of_them() -> None:
    for name, colours in (("gradcam-distinction", "jet"), ("bagnet-distinction", "rdbu_r")):
        part = stage(name)
        assert part.explained.colour_map == colours
        assert (part.values["hot"], part.values["cold"]) == ("red", "blue")
        assert "Red" in part.values["scale_text"]


@pytest.mark.parametrize("name", sorted(LABELS))
def test_labels_change_nothing_but_the_labels(name: str) -> None:
    """The same photos, and the classes at the same places; the order of photos is drawn anew."""
    for number in range(1, 11):
        without, labelled = stage(name, number), stage(f"{name}-labels", number)
        assert (without.labels, labelled.labels) == (False, True)
        options = [{photo.id: photo for photo in part.photos} for part in (without, labelled)]
        assert options[0] == options[1]
        assert without.explained == labelled.explained


def test_species_have_numbers_where_names_would_lead_and_names_where_they_are_told() -> None:
    classes = stimuli_of("birds-protopnet").manifest.classes
    numbered = stage("protopnet-agreement").explained.names
    assert list(numbered.values()) == [f"Species {n}" for n in range(1, len(classes) + 1)]
    named = stage("gradcam-distinction-labels").explained.names
    assert list(named.values()) == [one.name for one in classes]


def test_the_warm_up_is_the_published_one() -> None:
    """Appendix C: an example that is right, a wrong colour, and one that is right."""
    part = next(p for p in plan("prototree-agreement", 1).parts if isinstance(p, WarmUpPart))
    assert (part.worked.prediction, part.worked.first_wrong) == ("E", None)
    wrong, right = part.exercises
    assert (wrong.prediction, wrong.truth, wrong.first_wrong) == ("B", "D", 1)
    assert (right.prediction, right.truth, right.first_wrong) == ("A", "A", None)
    asked = [exercise_questions(one)[-1] for one in (part.worked, wrong, right)]
    assert wrong.asked == ("colour", "count", "shape")
    assert [(one.first, one.last, one.right) for one in asked] == [(1, 4, 4), (1, 4, 1), (1, 4, 4)]


def test_a_mistake_behind_the_first_step_is_about_what_that_step_asks() -> None:
    part = next(p for p in plan("prototree-agreement", 1).parts if isinstance(p, WarmUpPart))
    exercise = part.worked.model_copy(update={"first_wrong": 2})
    assert exercise.steps[1].startswith("shape")
    assert exercise.mistake == 3


@pytest.mark.parametrize("name", [n for n in hive.STUDIES if "agreement" not in n])
def test_chance_is_a_quarter(name: str) -> None:
    assert stage(name).values["chance"] == "25"
