"""Texts and settings of the shipped studies against what was published, and where it says so.

Where a setting decides (`presentation`, `feedback`, `rows` …) the other choice is looked at too.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import yaml

from labapp.base import resources
from labapp.base.errors import StudyError
from labapp.study import overview, planner
from labapp.study.conditions import cells_of
from labapp.study.flow import StagesItem, items_of
from labapp.study.loading import LoadedStudy, load
from labapp.study.plan import PagesPart, Plan
from labapp.tasks.judging.plan import JudgingPart
from labapp.tasks.judging.planner import JudgingStages, MethodItem
from labapp.tasks.questionnaire.task import QuestionnaireItem
from labapp.tasks.single_dimension.plan import ExamplePart, SingleDimensionPart
from tests.helpers import hive
from tests.helpers.beside import put_beside
from tests.helpers.single import write_single_study

ASSETS = resources.assets()
RECONSTRUCTED = ("synthetic-crowd", "synthetic-think-aloud", "mnist-crowd", "mnist-think-aloud")
RUN = {
    "synthetic-crowd": ("000", "crowd"),  # 5.1.2
    "synthetic-think-aloud": ("000", "lab"),  # 5.1.1
    "mnist-crowd": ("000", "crowd"),  # 5.1.4
    "mnist-think-aloud": ("000", "lab"),  # 5.1.3
    **dict.fromkeys(hive.STUDIES, ("003", "crowd")),  # 5.1
    "unmasking-faces": ("004", "crowd"),  # 3.5
}
ANYTHING_ELSE = (
    "Any other comments? Anything that made sense, was confusing, or that you found annoying?"
)
AGREEMENT = ["Strongly Disagree", "Disagree", "Neutral", "Agree", "Strongly Agree"]


@cache
def study(name: str) -> LoadedStudy:
    return load(name)


def words(language: str = "en") -> dict[str, str]:
    found = yaml.safe_load((ASSETS / "texts" / language / "participant.yaml").read_text())
    assert isinstance(found, dict)
    return found


def instrument(name: str) -> dict[str, object]:
    found = yaml.safe_load((ASSETS / "instruments" / f"{name}.yaml").read_text())
    assert isinstance(found, dict)
    return found


def plan_of(path: str | Path, drawn: tuple[str, ...] = ()) -> Plan:
    return planner.realise(load(path), "P01", space_of=overview.space_of, drawn=drawn)


def told(made: Plan, path: str | Path, part_id: str) -> str:
    (part,) = (one for one in made.parts if one.id == part_id)
    assert isinstance(part, PagesPart)
    return load(path).text(part.document) + json.dumps(part.values)


@pytest.mark.parametrize("name", RUN)
def test_every_published_study_says_what_it_repeats_and_how_that_was_run(name: str) -> None:
    said = study(name).study
    assert said.replicates is not None
    assert (said.replicates.paper, said.replicates.run) == RUN[name]
    assert said.presentation == "as_published"
    comment = study(name).files[f"{name}.yaml"].decode()
    alone = "Published as a crowd study: on Amazon Mechanical Turk, everybody alone and unwatched."
    assert (alone in comment) == (said.replicates.run == "crowd")


def test_no_study_but_the_published_ones_repeats_anything() -> None:
    others = {path.stem for path in (ASSETS / "studies").glob("*.yaml")} - set(RUN)
    assert others == {
        "quickstart", "dsprites-demo", "calibration", "concept-repair", "concept-repair-crowd",
        "concept-repair-shapes", "concept-repair-birds", "concept-audit", "concept-foresight",
        "concept-forecast",
    }  # fmt: skip
    assert all(study(name).study.replicates is None for name in others)


@pytest.mark.parametrize("visualisation", ["exemplars", "traversals"])
@pytest.mark.parametrize("name", ["synthetic-crowd", "synthetic-think-aloud"])
def test_the_practice_of_the_single_dimension_task(name: str, visualisation: str) -> None:
    """Published application: the tutorial is about dial 1, three pictures are asked about, dial 1
    each, and nothing is told; who is wrong is excluded (5.2.2)."""
    cells = cells_of(study(name).study.assignment)
    assert cells is not None
    cell = f"{visualisation}-dsprites"
    drawn = (cell, "reconstruction-dsprites")[: cells[1].draw]
    made = plan_of(name, drawn)
    (example,) = (part for part in made.parts if isinstance(part, ExamplePart))
    assert example.dimension == 0
    (part,) = (
        one for one in made.parts if isinstance(one, SingleDimensionPart) and one.role == "practice"
    )
    assert part.asked == (0, 0, 0)
    assert part.answers == ("low", "high", "medium")
    assert part.states == ((0.0, 0.0), (1.0, 1.0), (0.4, 0.75))
    assert not part.feedback
    intro = next(one.id for one in made.parts if one.id.startswith("practice-intro"))
    assert '"feedback": ""' in told(made, name, intro)
    stages = [one for one in made.parts if getattr(one, "role", "") == "stage"]
    asked = [one for one in stages if isinstance(one, SingleDimensionPart)]
    assert asked
    assert all(one.feedback for one in asked), "4.5: told after each question of a stage"
    if name == "synthetic-crowd":
        assert study(name).study.inclusion.practice_correct


@pytest.mark.parametrize(
    ("presentation", "lines", "dial", "feedback"),
    [
        ("as_published", {}, 0, False),
        ("improved", {}, 1, True),
        ("as_published", {"tutorial": "dial: 2", "practice": "feedback: true"}, 1, True),
        ("improved", {"tutorial": "dial: 1", "practice": "feedback: false"}, 0, False),
    ],
)
def test_what_a_study_does_not_say_follows_from_its_presentation(
    tmp_path: Path, presentation: str, lines: dict[str, str], dial: int, feedback: bool
) -> None:
    path = write_single_study(tmp_path, practice=True, presentation=presentation)
    text = path.read_text()
    for item, line in lines.items():
        value = next(one for one in text.splitlines() if one.strip().startswith(f"- {item}:"))
        text = text.replace(value, f"{value}\n    {line}")
    put_beside(tmp_path)
    path.write_text(text)
    made = plan_of(path)
    (example,) = (part for part in made.parts if isinstance(part, ExamplePart))
    (part,) = (
        one for one in made.parts if isinstance(one, SingleDimensionPart) and one.role == "practice"
    )
    assert (example.dimension, part.feedback) == (dial, feedback)
    assert (
        "After each answer you see the correct one" in told(made, path, "practice-intro")
    ) == feedback


@pytest.mark.parametrize(
    "line", ["- tutorial: reconstruction\n    dial: 1", "- practice: circles\n    feedback: no"]
)
def test_what_only_single_dimensions_have_is_refused_elsewhere(tmp_path: Path, line: str) -> None:
    path = write_single_study(tmp_path)
    path.write_text(path.read_text().replace("flow:\n", f"flow:\n  {line}\n"))
    with pytest.raises(StudyError, match="unknown key"):
        load(path)


def test_the_words_of_the_single_dimension_task() -> None:
    """The two statements: 4.6; the rest: published application."""
    said = words()
    assert said["rate_confidence"] == "I'm confident I'm right"
    assert said["rate_understanding"] == "The dial makes sense"
    assert [said[f"rating_{n}"] for n in range(1, 6)] == AGREEMENT
    assert said["single_title_as_published"].replace("dial {dial}", "Dial 1") == (
        "Which of the following best describes the value of Dial 1 for the example below?"
    )
    assert said["single_feeling"] == "How do you feel about your answer?"
    assert said["more_examples"].lower() == "show more examples"


def test_the_words_of_the_questionnaires() -> None:
    """Published application; SEQ 4.4, the third statement Figure 9."""
    for name in ("understanding", "synthetic-end"):
        scale = instrument(name)["scale"]
        assert isinstance(scale, dict)
        assert [one["en"] for one in scale["labels"]] == AGREEMENT
    texts = {
        str(item["id"]): item["text"]["en"]
        for name in ("understanding", "synthetic-end", "comments", "seq", "demographics")
        for item in instrument(name)["items"]  # type: ignore[attr-defined]
    }
    assert texts["understood_dimensions"] == "I understood what many of the dimensions meant"
    assert texts["frustrating"] == "Overall, this quiz was frustrating"
    assert texts["comments"] == ANYTHING_ELSE
    assert texts["seq"] == "Overall, would you say this task was:"
    assert texts["education"] == "Highest Level of Education"
    assert texts["region"] == "Geographic Location"
    end = instrument("synthetic-end")["items"]
    assert end[-1]["text"]["en"] == ANYTHING_ELSE  # type: ignore[index]


@pytest.mark.parametrize("name", RECONSTRUCTED)
def test_everybody_is_asked_for_comments_before_the_demographics(name: str) -> None:
    asked = [
        item.questionnaire
        for item in items_of(study(name).study.flow)
        if isinstance(item, QuestionnaireItem)
    ]
    comments = "comments" if name.startswith("mnist") else "synthetic-end"
    assert asked[:2] == [comments, "demographics"]
    # 5.2.1 tells of students among those who thought aloud.
    assert ("demographics-studies" in asked) == name.endswith("think-aloud")


@pytest.mark.parametrize("name", hive.STUDIES)
def test_what_the_hive_studies_show(name: str) -> None:
    flow = list(items_of(study(name).study.flow))
    (stages,) = (
        item.stages
        for item in flow
        if isinstance(item, StagesItem) and isinstance(item.stages, JudgingStages)
    )
    (method,) = (item for item in flow if isinstance(item, MethodItem))
    assert stages.description == method.method, "4: the method explanation, at any time"
    assert not stages.marks, "figures A11, A12: the name and no more"
    assert stages.row_order == ("sorted" if name == "protopnet-agreement" else "shuffled")
    for language in ("en", "de"):
        text = (ASSETS / method.method.format(language=language)).read_text()
        assert "![](preview)" in text, "4 and D: in every study"


def test_the_order_of_rows_is_a_setting_and_both_sources_are_named() -> None:
    text = study("protopnet-agreement").files["protopnet-agreement.yaml"].decode()
    assert "Figures A10 and A14" in text
    assert "appendix A" in text
    assert "rows: sorted" in text
    english = words()
    assert "from high to low" in english["judging_rows_sorted"]
    assert "random order" in english["judging_rows_shuffled"]


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_rows_come_in_the_order_that_is_set_and_the_text_says_so(
    tmp_path: Path, order: str
) -> None:
    path = tmp_path / "protopnet-agreement.yaml"
    text = study("protopnet-agreement").files["protopnet-agreement.yaml"].decode()
    put_beside(tmp_path)
    path.write_text(text.replace("rows: sorted", f"rows: {order}"))
    made = plan_of(path, ("s1",))
    (part,) = (one for one in made.parts if isinstance(one, JudgingPart))
    ranks = [[row.rank for row in photo.rows] for photo in part.photos]
    assert all(sorted(one) == list(range(1, len(one) + 1)) for one in ranks)  # type: ignore[type-var]
    in_order = [one == sorted(one) for one in ranks]  # type: ignore[type-var]
    assert all(in_order) == (order == "sorted")
    assert part.rows == order
    said = made.parts[made.parts.index(part) - 1]
    assert isinstance(said, PagesPart)
    assert said.values["row_order"] == words()[f"judging_rows_{order}"]
    assert "{row_order}" in load(path).text(said.document)


def test_the_fruits_are_counted_as_in_figure_a6() -> None:
    said = words()
    assert said["judging_step_count_few"] == "Less than 3"
    assert said["judging_step_count_many"] == "Greater than 3"


def test_the_duration_that_is_announced_is_that_of_figure_a7() -> None:
    assert "5 to 15 minutes" in (ASSETS / "texts/en/consent-hive.md").read_text()
    assert "5 bis 15 Minuten" in (ASSETS / "texts/de/consent-hive.md").read_text()


def test_what_is_paid_is_not_said_to_be_the_papers() -> None:
    """5.1 of paper 003 tells of $12 an hour; $2.00 is in the released application alone."""
    for name in hive.STUDIES:
        text = study(name).files[f"{name}.yaml"].decode()
        assert "$2.00 as published" not in text
        assert "$12 an hour" in text
