"""The studies of paper 000 as they are shipped: their design in figures, and their words.

The figures are the paper's (4.3 to 5.2.2, A.2) and its published application's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.models.representations.space import LatentSpace
from labapp.session.overview import overview as overview_of
from labapp.study import inclusion, overview, planner
from labapp.study.conditions import cells_of
from labapp.study.loading import LoadedStudy, decode_text, load
from labapp.study.plan import PagesPart, Plan, QuestionnairePart
from labapp.study.plugins.part import RepresentationPart
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from tests.helpers import hive
from tests.helpers.beside import put_beside

PUBLISHED = ("mnist-think-aloud", "mnist-crowd", "synthetic-think-aloud", "synthetic-crowd")
SHIPPED = (*PUBLISHED, "calibration")
MNIST_CELLS = ("ae5", "vae5", "ig5", "tc5", "ss5", "ae10", "ss10")
SYNTHETIC_CELLS = tuple(
    f"{task}-{dataset}"
    for task, dataset in product(
        ("reconstruction", "exemplars", "traversals"), ("dsprites", "sinelines")
    )
)
VALUE = re.compile(r"\{(\w+)\}")


@cache
def space_of(model: str) -> LatentSpace:
    return overview.space_of(model)


@cache
def study(name: str) -> LoadedStudy:
    return load(name)


@cache
def plans(name: str) -> tuple[Plan, ...]:
    """Of every participant of the published design; of every pair of conditions in the pilot."""
    drawn: Sequence[tuple[str, ...]]
    if name == "synthetic-think-aloud":
        drawn = list(permutations(SYNTHETIC_CELLS, 2))
    elif name == "synthetic-crowd":
        drawn = [(cell,) for cell in SYNTHETIC_CELLS] * 15
    elif name == "mnist-crowd":
        drawn = [(cell,) for cell in MNIST_CELLS] * 15
    else:
        drawn = [()] * 10
    return tuple(
        planner.realise(
            study(name),
            f"P{number:02d}",
            space_of=space_of,
            prior_of=overview.prior_of,
            drawn=cells,
        )
        for number, cells in enumerate(drawn, 1)
    )


def stages(made: Plan) -> list[RepresentationPart]:
    found = [part for part in made.parts if isinstance(part, RepresentationPart)]
    return [part for part in found if part.role == "stage"]


def asked(made: Plan) -> list[str]:
    """Instruments, those about a stage marked with an asterisk."""
    found = [part for part in made.parts if isinstance(part, QuestionnairePart)]
    return [f"{part.instrument}{'*' if part.about else ''}" for part in found]


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_as_published(name: str) -> None:
    loaded = study(name)
    assert loaded.study.id == name
    assert loaded.study.presentation == "as_published"
    assert loaded.study.inclusion.completed


def test_seeds_differ() -> None:
    assert len({study(name).study.seed for name in SHIPPED}) == len(SHIPPED)


def test_who_took_part_in_a_study_of_the_same_pictures_takes_part_in_no_other() -> None:
    related = {name: study(name).study.related for name in PUBLISHED}
    for name, others in related.items():
        assert all(name in related[other] for other in others), "both ways"
    assert "mnist-crowd" in related["synthetic-crowd"]
    for data in ("mnist", "synthetic"):
        assert f"{data}-crowd" in related[f"{data}-think-aloud"]


def test_the_synthetic_studies_are_as_published() -> None:
    """5.1.1, 5.1.2, 4.3: all three models in random order, 5 or 10 questions, 90 %, 30 s."""
    for name, aloud in (("synthetic-think-aloud", True), ("synthetic-crowd", False)):
        orders: Counter[tuple[str, ...]] = Counter()
        for made in plans(name):
            found, cells = stages(made), made.assignment["condition"]
            assert len(found) == 3 * len(cells)
            for index, cell in enumerate(cells):
                task, dataset = cell.split("-")
                three = found[3 * index : 3 * index + 3]
                models = [stage.model for stage in three]
                assert sorted(models) == [f"{dataset}/{m}" for m in ("ae", "gt", "vae")]
                orders[tuple(model.split("/")[1] for model in models)] += 1
                for stage in three:
                    check_synthetic(stage, task, aloud)
            end = ["synthetic-end", "demographics", *["demographics-studies"] * aloud]
            assert asked(made) == ["seq*"] * len(found) + end
        assert len(orders) == 6, "every order comes about"


def check_synthetic(stage: RepresentationPart, task: str, aloud: bool) -> None:
    assert stage.think_aloud == aloud
    assert stage.time_limit_s is None
    if isinstance(stage, SingleDimensionPart):
        assert stage.visualisation == task
        assert stage.trials == 10
        assert set(Counter(stage.asked).values()) == {2}, "two questions a dimension"
        assert all(a == b for a, b in zip(stage.asked[::2], stage.asked[1::2], strict=True))
        return
    assert task == "reconstruction"
    assert stage.trials == 5
    assert stage.target_alignment == 0.9
    assert (stage.skip, stage.skip_after_s) == (("always" if aloud else "after"), 30)
    assert stage.inactivity_s == 3
    assert stage.active_time == "paused"
    assert stage.overlay_at_start
    assert not stage.labels_editable
    assert stage.distance == stage.model.split("/")[0]


def test_three_people_cover_the_synthetic_pilot() -> None:
    found = cells_of(study("synthetic-think-aloud").study.assignment)
    assert found is not None
    rule = found[1]
    assert tuple(rule.cells) == SYNTHETIC_CELLS
    assert (rule.draw, rule.included) == (2, 1)
    assert len(rule.cells) == 3 * rule.draw, "N = 3"


def test_ninety_people_fill_the_synthetic_crowd_study() -> None:
    found = cells_of(study("synthetic-crowd").study.assignment)
    assert found is not None
    assert tuple(found[1].cells) == SYNTHETIC_CELLS
    assert (found[1].draw, found[1].included) == (1, 15)
    incentive = study("synthetic-crowd").study.incentive
    assert incentive is not None
    assert incentive.amount(incentive.base) == "$6.00"


@pytest.mark.parametrize("cell", SYNTHETIC_CELLS)
def test_practice_excludes_from_the_single_dimension_task_only(cell: str) -> None:
    """5.2.2: reconstruction cannot be gone on with before the practice is solved."""
    rules = study("synthetic-crowd").study.inclusion
    assert rules.practice_correct
    made = next(made for made in plans("synthetic-crowd") if made.assignment["condition"] == [cell])
    found = inclusion.sum_achievements(made.parts, inclusion.Tally())
    included = inclusion.decide(rules, found, completed=True).included
    assert included == cell.startswith("reconstruction")
    assert found.practice_asked == (0 if included else 3)


def test_mnist_aloud_is_as_published() -> None:
    """5.1.3: AE, TC and SS in random order, odd 5 and even 10 dials, 7 questions or 10 minutes."""
    made = plans("mnist-think-aloud")
    assert len(made) == 10
    for number, plan in enumerate(made, 1):
        dials = 5 if number % 2 else 10
        found = stages(plan)
        assert sorted(s.model for s in found) == [f"mnist8k/{m}{dials}" for m in ("ae", "ss", "tc")]
        for stage in found:
            check_mnist(stage, aloud=True)
            continuous = [d for d in stage.dimensions if d["type"] == "continuous"]
            assert len(continuous) == dials
        end = ["comments", "demographics", "demographics-studies"]
        assert asked(plan) == [*["seq*", "nasa-tlx*", "understanding*"] * 3, *end]
    assert len({tuple(s.model[8:10] for s in stages(plan)) for plan in made}) > 3, "orders vary"


def test_mnist_crowd_is_as_published() -> None:
    """5.1.4: one of seven models, 15 included for each, 7 questions."""
    found = cells_of(study("mnist-crowd").study.assignment)
    assert found is not None
    assert tuple(found[1].cells) == MNIST_CELLS
    assert (found[1].draw, found[1].included) == (1, 15)
    models = Counter(stages(made)[0].model for made in plans("mnist-crowd"))
    assert models == {f"mnist8k/{cell}": 15 for cell in MNIST_CELLS}
    for made in plans("mnist-crowd"):
        (stage,) = stages(made)
        check_mnist(stage, aloud=False)
        assert stage.sampling == ("uniform" if "ig" in stage.model else "held_out"), "4.3"
        assert asked(made) == ["seq*", "comments", "demographics"]
    crowd = study("mnist-crowd").study
    assert crowd.inclusion.min_solved == 1
    assert crowd.incentive is not None
    assert crowd.incentive.amount(crowd.incentive.base) == "$3.75"


def check_mnist(stage: RepresentationPart, *, aloud: bool) -> None:
    assert isinstance(stage, ReconstructionPart)
    assert stage.think_aloud == aloud
    assert stage.trials == 7
    assert stage.time_limit_s == (600 if aloud else None)
    assert stage.target_alignment == 0.75
    assert (stage.skip, stage.skip_after_s) == (("always" if aloud else "after"), 45)
    assert stage.inactivity_s == 3
    assert stage.active_time == "paused"
    assert not stage.overlay_at_start
    assert stage.labels_editable
    assert stage.distance == "mnist"
    assert stage.display == "binary_image"


def test_a_calibration_shows_no_target() -> None:
    """A.2.3: nothing says what is close enough, so there is no practice with a target either."""
    for made in plans("calibration"):
        found = stages(made)
        assert all(isinstance(stage, ReconstructionPart) and stage.marks for stage in found)
        assert {stage.model.split("/")[0] for stage in found} == {"mnist8k", "dsprites"}
        assert not [
            p for p in made.parts if isinstance(p, RepresentationPart) and p.role == "practice"
        ]


@pytest.mark.parametrize("name", SHIPPED)
def test_only_who_thinks_aloud_is_heard_and_asked_to(name: str) -> None:
    loaded = study(name)
    crowd = name.endswith("crowd")
    assert loaded.study.recording.audio == ("off" if crowd else "required")
    for made in plans(name):
        for part in made.parts:
            if isinstance(part, RepresentationPart):
                assert part.think_aloud == (not crowd)
    for text in documents(loaded):
        assert not (crowd and re.search(r"\b(aloud|voice)\b", text))
    for made in plans(name):
        before = [p for p in made.parts if isinstance(p, PagesPart) and p.id.endswith("-intro")]
        for part in before:
            assert ("aloud" in loaded.text(part.document)) == (not crowd), part.document


@pytest.mark.parametrize("name", SHIPPED)
def test_the_words_before_a_stage_say_what_they_must(name: str) -> None:
    """4.3, A.2 and A.4; what they leave open is the published application's."""
    for made in plans(name):
        cells = len(made.assignment.get("condition", [0]))
        found = stages(made)
        for index, stage in enumerate(found):
            intro = next(part for part in made.parts if part.id == f"{stage.id}-intro")
            assert isinstance(intro, PagesPart)
            said = study(name).text(intro.document)
            first = index % (len(found) // cells) == 0
            assert first or re.search(
                "relation between (sliders|dials) and pictures is different", said
            )
            if isinstance(stage, SingleDimensionPart):
                assert "as fast as you can while still being right" in said
            elif not stage.marks:
                assert re.search("efficiently", said)
                assert re.search("costs you nothing|at no cost", said)
                assert ("{skip_after_s}" in said) == (stage.skip == "after"), "T is announced"
                assert ("{minutes}" in said) == (stage.time_limit_s is not None)


@pytest.mark.parametrize(("name", "hourly"), [("synthetic", "$15"), ("mnist", "$20")])
def test_who_thinks_aloud_is_told_the_pay_before_agreeing(name: str, hourly: str) -> None:
    consent = study(f"{name}-think-aloud").text(f"texts/{{language}}/consent-{name}-think-aloud.md")
    assert f"{hourly} for each hour" in consent, "5.2.1"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", SHIPPED)
def test_every_text_is_there_with_values_that_are_known(name: str, language: str) -> None:
    texts = resources.assets() / "texts" / language
    for made in plans(name):
        for part in made.parts:
            if (document := getattr(part, "document", None)) is None:
                continue
            known = set(getattr(part, "values", {}))
            if part.part == "example":
                known.add("dial")
            said = decode_text((texts / Path(document).name).read_bytes())
            assert set(VALUE.findall(said)) <= known, document


def documents(loaded: LoadedStudy) -> list[str]:
    return [decode_text(text) for name, text in loaded.files.items() if name.endswith(".md")]


@pytest.mark.parametrize("name", [*SHIPPED, *hive.STUDIES])
def test_it_is_in_order_in_german_too(name: str, tmp_path: Path) -> None:
    shipped = (resources.assets() / "studies" / f"{name}.yaml").read_text()
    german = shipped.replace("\nlanguage: en\n", "\nlanguage: de\n")
    assert german != shipped
    path = tmp_path / f"{name}.yaml"
    put_beside(tmp_path)
    path.write_text(german)
    files = overview.check(path).files
    assert all(file.startswith("texts/de/") for file in files if file.startswith("texts/"))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("calibration", "Stage 4: 5 pairs to mark, no target"),
        ("mnist-think-aloud", "Stage 3: 7 questions, target 75 %, at most 10 minutes"),
        ("mnist-crowd", "Stage 1: 7 questions, target 75 %"),
    ],
)
def test_what_is_shown_of_it(name: str, line: str, tmp_path: Path) -> None:
    lines = [shown.strip() for shown in overview_of(name, 1, tmp_path).lines()]
    assert line in lines
