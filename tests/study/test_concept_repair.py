"""Plans of concept repair: which pictures are drawn, what practice is made of, what is refused."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labapp.base.errors import StudyError
from labapp.models.stimuli import library, pictures
from labapp.models.stimuli.check import find_reserved_pictures, reference_pairs
from labapp.models.stimuli.library import StimulusSet
from labapp.study import loading, plan, planner
from labapp.study.allocation import variants
from labapp.study.plan import PagesPart
from labapp.study.plugins import registry
from labapp.tasks.concept_repair.plan import PERFECT, ConceptGridPart, ConceptRepairPart
from labapp.tasks.concept_repair.planner import ConceptExamplesPart
from tests.helpers import concepts, stimuli
from tests.helpers.nightly import examples
from tests.helpers.play import SPACE

PRACTICE = {"text": "practice.md", "items": 3}
NOTHING = dict.fromkeys(("repair", "control", "trap", "unrepairable", "natural"), 0)


@pytest.fixture
def made(tmp_path: Path) -> StimulusSet:
    return concepts.write(tmp_path / "sets", 4)


def planned(folder: Path, made: StimulusSet, participant: str = "P01", **stages: Any) -> list[Any]:
    loaded = loading.load(concepts.write_study(folder / "study", made, **stages))
    return list(planner.realise(loaded, participant, space_of=lambda model: SPACE).parts)


def stage_of(parts: list[Any], role: str = "stage") -> ConceptRepairPart:
    return next(p for p in parts if isinstance(p, ConceptRepairPart) and p.role == role)


def test_the_stage_has_what_was_asked_for(tmp_path: Path, made: StimulusSet) -> None:
    wanted = {"repair": 3, "control": 1, "trap": 2, "unrepairable": 1, "natural": 2}
    parts = planned(tmp_path, made, items=wanted)
    stage = stage_of(parts)
    by_type = [item.item for item in stage.items if item.sample == "matched"]
    assert {kind: by_type.count(kind) for kind in by_type} == {
        kind: count for kind, count in wanted.items() if kind != "natural"
    }
    assert sum(item.sample == "natural" for item in stage.items) == 2
    photos = {photo.id: photo for photo in made.manifest.photos}
    answers = np.load(made.folder / "answers.npy")
    for item in stage.items:
        photo = photos[item.photo]
        assert photo.natural == (item.sample == "natural")
        row = made.manifest.photos.index(photo)
        np.testing.assert_array_equal(item.table, answers[row])
    assert [type(part) for part in parts] == [PagesPart, ConceptRepairPart, ConceptGridPart]
    assert parts[2].about == stage.id


def test_a_plan_comes_back_from_a_journal(tmp_path: Path, made: StimulusSet) -> None:
    parts = planned(tmp_path, made, practice=PRACTICE, foresee="half")
    rows = plan.to_rows(parts)
    assert [registry.read_part(row) for row in rows] == parts


def test_participants_have_pictures_and_an_order_of_their_own(
    tmp_path: Path, made: StimulusSet
) -> None:
    orders = {
        stage_of(planned(tmp_path / name, made, name)).order() for name in ("P01", "P02", "P03")
    }
    assert len(orders) == 3
    again = planned(tmp_path / "again", made, "P01")
    assert stage_of(again).order() in orders


def test_practice_is_of_other_pictures_and_a_model_without_leaks(
    tmp_path: Path, made: StimulusSet
) -> None:
    parts = planned(tmp_path, made, practice=PRACTICE, foresee="half")
    practice, stage = stage_of(parts, "practice"), stage_of(parts)
    assert practice.model == PERFECT
    assert practice.repaired.purity == ()
    assert not {item.photo for item in practice.items} & {item.photo for item in stage.items}
    assert {item.sample for item in practice.items} == {"practice"}
    assert [item.foresee for item in practice.items] == [False, True, False]
    assert [len(item.wrong()) for item in practice.items] == [1, 1, 0]
    for item in practice.items:
        alone = practice.answer(item.probabilities((0,) * 4))
        assert (alone == item.truth) == (not item.wrong())
        every = tuple(2 if there else 1 for there in item.concepts)
        corrected = tuple(s if n in item.wrong() else 0 for n, s in enumerate(every))
        for state in (every, corrected):
            assert practice.answer(item.probabilities(state)) == item.truth


def test_names_are_drawn_for_each_stage(tmp_path: Path, made: StimulusSet) -> None:
    names = []
    for participant in ("P01", "P02"):
        parts = planned(tmp_path / participant, made, participant, class_names="drawn")
        names.append([class_.name for class_ in stage_of(parts).repaired.classes])
    as_listed = [class_.name for class_ in made.manifest.classes]
    assert sorted(names[0]) == sorted(names[1]) == sorted(as_listed)
    assert names[0] != names[1]
    listed = stage_of(planned(tmp_path / "listed", made))
    assert [class_.name for class_ in listed.repaired.classes] == as_listed
    assert [class_.marks for class_ in listed.repaired.classes] == [
        class_.marks for class_ in made.manifest.classes
    ]


def test_concepts_and_marks_are_in_the_language_of_the_study(
    tmp_path: Path, made: StimulusSet
) -> None:
    def words(language: str) -> tuple[list[str], str]:
        parts = planned(tmp_path / language, made, language=language, practice=PRACTICE)
        practised, repaired = (stage_of(parts, role).repaired for role in ("practice", "stage"))
        assert practised.concepts == repaired.concepts
        told = [f"{each.name}: {each.off}, {each.on}" for each in repaired.concepts[:2]]
        return told, repaired.class_("c2").marks

    english = ["size: large, small", "side: right, left"], "disc, large, left"
    german = ["Größe: groß, klein", "Seite: rechts, links"], "Scheibe, groß, links"
    assert words("en") == english
    assert words("de") == german


def test_no_class_keeps_its_name_in_the_next_stage(tmp_path: Path, made: StimulusSet) -> None:
    """Participants are told that the names mean something new with each model."""

    def further() -> dict[str, Any]:
        return {
            "task": "concept-repair",
            "stimuli": str(made.folder),
            "intro": "intro.md",
            "items": {"repair": 1, "control": 1},
            "class_names": "drawn",
        }

    for number in range(4):
        parts = planned(
            tmp_path / f"{number}",
            made,
            f"P{number + 1:02}",
            class_names="drawn",
            after=[{"stages": further()}, {"stages": further()}],
        )
        names = [
            [class_.name for class_ in part.repaired.classes]
            for part in parts
            if isinstance(part, ConceptRepairPart) and part.role == "stage"
        ]
        assert len(names) == 3
        assert all(len(set(of_class)) == 3 for of_class in zip(*names, strict=True))


def test_texts_may_say_what_comes(tmp_path: Path, made: StimulusSet) -> None:
    before, *_ = planned(tmp_path, made, time_limit_s=45)
    assert before.values["pictures"] == "4"
    assert before.values["concepts"] == "size, side, height, shape"
    assert before.values["seconds"] == "45"
    assert before.values["practice_pictures"] == ""


def test_what_a_stage_consists_of_is_told(tmp_path: Path, made: StimulusSet) -> None:
    parts = planned(tmp_path, made, foresee="half", time_limit_s=None)
    task_type = registry.task_type_of(parts[1])
    assert task_type.summary(parts[1]) == "4 pictures with 4 concepts (repair), 2 of them foretold"
    assert "by type 2 control, 2 repair" in task_type.rules(parts[1])
    assert task_type.summary(parts[2]) == "a grid of 4 x 4 concepts"


@pytest.mark.parametrize(
    ("change", "stages", "about", "told"),
    [
        (concepts.one_concept, {}, "grid", "has only one concept"),
        (concepts.one_concept, {"grid": True}, "grid", "has only one concept"),
        (
            concepts.overlapping,
            {"practice": PRACTICE},
            "practice",
            "the same state of the concepts defines c1 and c2",
        ),
        (None, {"items": {"repair": 5}}, "items", "5 pictures of the kind 'repair' are needed"),
        (None, {"items": {"natural": 99, "repair": 0}}, "items", "the set has 4"),
        (None, {"set": 2}, "set", "has no set 2; there are: 1"),
        (
            None,
            {"practice": PRACTICE | {"items": 40}},
            "practice",
            "40 pictures of the kind 'practice' are needed, but the set has 20; 24 are missing",
        ),
        (concepts.no_rules, {"practice": PRACTICE}, "practice", "which concepts define them"),
        (
            lambda m: m.update(invented=False),
            {"class_names": "drawn"},
            "class_names",
            "are not invented",
        ),
        (lambda m: m.pop("answers"), {}, "stimuli", "has errors: answers: missing"),
        (lambda m: m["photos"].pop(), {}, "stimuli", "have the shape (20, 81, 8)"),
        (lambda m: m.update(answers="other.npy"), {}, "stimuli", "'other.npy' cannot be read"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_its_line(
    tmp_path: Path,
    made: StimulusSet,
    change: Callable[[dict[str, Any]], Any] | None,
    stages: dict[str, Any],
    about: str,
    told: str,
) -> None:
    made = made if change is None else stimuli.edited(made, change)
    with pytest.raises(StudyError) as refused:
        planned(tmp_path, made, **stages)
    text = str(refused.value)
    assert told in text
    assert re.search(rf"concepts\.yaml, line \d+, {about}: ", text), text


def test_a_set_of_another_kind_is_refused(tmp_path: Path) -> None:
    heatmaps = stimuli.write(tmp_path / "sets", "heatmaps")
    with pytest.raises(StudyError, match="needs interventions, but the stimulus set tiny-heatmaps"):
        planned(tmp_path, heatmaps)


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        ({"items": {"repair": 0, "control": 0}}, "no pictures at all"),
        ({"instruction": "foresight"}, "every change is forecast"),
        ({"instruction": "guess"}, "'guess'"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"items": {"repairs": 3}}, "did you mean 'repair'"),
    ],
)
def test_what_makes_no_sense_in_a_study_is_refused(
    tmp_path: Path, made: StimulusSet, stages: dict[str, Any], told: str
) -> None:
    with pytest.raises(StudyError) as refused:
        planned(tmp_path, made, **stages)
    assert told in str(refused.value)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("study", ["repair", "repair-crowd", "repair-birds", "audit", "foresight"])
def test_practice_is_told_as_it_is(study: str, language: str) -> None:
    """A text before practice speaks of foretelling where there is some, of answers that come at
    once where all do, and of setting switches where they can be set."""
    loaded = loading.load(f"concept-{study}", language=language)
    parts = planner.realise(loaded, "P01", space_of=lambda model: SPACE, drawn=["a-b"]).parts
    practice = stage_of(list(parts), "practice")
    before, examples = parts[parts.index(practice) - 2 : parts.index(practice)]
    assert isinstance(examples, ConceptExamplesPart)
    assert isinstance(before, PagesPart)
    text = loaded.files[before.document].decode()
    foretells, free, at_once = {
        "en": ("will say now", "set the switch to what you see", "says at once"),
        "de": ("jetzt sagen wird", "stellen Sie den Schalter auf das", "sagt sofort"),
    }[language]
    told = sum(item.foresee for item in practice.items)
    assert (foretells in text) == (told > 0)
    assert (at_once in text) == (told == 0)
    assert (free in text) == (practice.instruction != "foresight")


def test_examples_come_before_the_practice_and_nowhere_else(tmp_path: Path) -> None:
    """Also where a second stage shows the same set: who saw them as examples never meets them."""
    made = concepts.write(tmp_path / "large", 4, each=8)
    stages = {"examples": True, "practice": PRACTICE, "items": {"repair": 2, "control": 1}}
    second = {"task": "concept-repair", "stimuli": str(made.folder), "intro": "intro.md"}
    second["items"] = {"repair": 2, "control": 2, "natural": 1}
    parts = planned(tmp_path, made, after=[{"stages": second}], **stages)
    kinds = [type(part) for part in parts[:3]]
    assert kinds == [PagesPart, ConceptExamplesPart, ConceptRepairPart]
    examples = parts[1]
    assert [example.concept.id for example in examples.examples] == [
        concept.id for concept in made.manifest.concepts
    ]
    shown = set(examples.stored_pictures())
    items = [part.items for part in parts if isinstance(part, ConceptRepairPart)]
    assert len(items) == 3
    assert not shown & {item.picture for part in items for item in part}
    everybody = planned(tmp_path / "other", made, "P02", **stages)[1]
    assert everybody.examples == examples.examples


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[StimulusSet, StimulusSet]:
    """Two sets of the same pictures under other names; what is to be repaired in the one is to be
    left alone in the other."""
    folder = tmp_path_factory.mktemp("twins")
    first = concepts.write(folder, 4, each=4)
    twin = folder / "twin"
    shutil.copytree(first.folder, twin)
    rows = json.loads((twin / "manifest.json").read_text("utf-8"))
    rows["id"] = "twin"
    for number, photo in enumerate(rows["photos"]):
        name = f"other-{number}.png"
        (twin / photo["photo"]).rename(twin / name)
        swapped = {"repair": "control", "control": "repair"}
        photo["photo"], photo["id"] = name, f"q{number}"
        photo["item"] = swapped.get(photo["item"], photo["item"])
    (twin / "manifest.json").write_text(json.dumps(rows), "utf-8")
    return first, library.load(twin)


@settings(max_examples=examples(15))
@given(
    counts=st.tuples(*[st.integers(0, 4)] * 4, st.integers(0, 3), st.integers(0, 3)),
    practice=st.integers(0, 5),
    number=st.integers(1, 40),
)
def test_nobody_sees_a_picture_twice(
    twins: tuple[StimulusSet, StimulusSet],
    counts: tuple[int, ...],
    practice: int,
    number: int,
) -> None:
    """Whatever is asked for: each picture once, over stages, practice and sets, or it is said how
    many are missing; and never is anything refused that could be shown."""
    repair, control, others, left, *natural = counts
    first, second = twins
    asked = NOTHING | {"repair": repair, "control": control, "natural": natural[0]}
    then = NOTHING | {"repair": others, "control": left, "natural": natural[1]}
    assume(sum(asked.values()) and sum(then.values()))
    stages: dict[str, Any] = {"items": asked}
    if practice:
        stages["practice"] = PRACTICE | {"items": practice}
    after = {"task": "concept-repair", "stimuli": str(second.folder), "intro": "intro.md"}
    missing = (
        max(repair + left - 4, 0) + max(control + others - 4, 0) + max(sum(natural) - 4, 0)
    )  # of the items; each picture of the second set is one of the first
    fits = not missing and sum(asked.values()) + sum(then.values()) + practice <= len(
        first.manifest.photos
    )
    refused = (
        nullcontext()
        if fits
        else pytest.raises(StudyError, match=r"; \d+ (is|are) missing, because")
    )
    parts: list[Any] = []
    with TemporaryDirectory() as folder, refused:
        second_stage = {"stages": after | {"items": then}}
        parts = planned(Path(folder), first, f"P{number:02}", after=[second_stage], **stages)
    if not fits:
        return
    where = {first.sha256: first.folder, second.sha256: second.folder}
    shown = [
        pictures.identity_of(where[part.repaired.manifest_sha256], item.picture)
        for part in parts
        if isinstance(part, ConceptRepairPart)
        for item in part.items
    ]
    assert len(set(shown)) == len(shown) == sum(asked.values()) + sum(then.values()) + practice
    by_kind = [
        Counter("natural" if item.sample == "natural" else str(item.item) for item in part.items)
        for part in parts
        if isinstance(part, ConceptRepairPart) and part.role == "stage"
    ]
    assert by_kind == [Counter({k: n for k, n in each.items() if n}) for each in (asked, then)]


def test_neither_a_picture_nor_a_name_comes_again_in_a_later_session(
    tmp_path: Path, made: StimulusSet
) -> None:
    """Where people come twice: what is drawn is drawn over all their sessions."""
    path = concepts.write_study(
        tmp_path / "study", made, class_names="drawn", items=NOTHING | {"repair": 2, "control": 2}
    )
    document = yaml.safe_load(path.read_text("utf-8"))
    document["design"] = {"sessions": [1, 2]}
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    loaded = loading.load(path)
    stages = [
        stage_of(list(planner.realise(loaded, "P01", session, space_of=lambda model: SPACE).parts))
        for session in ("1", "2")
    ]
    shown = [item.picture for stage in stages for item in stage.items]
    assert len(set(shown)) == len(shown) == 8
    first, second = ([known.name for known in stage.repaired.classes] for stage in stages)
    assert all(name != other for name, other in zip(first, second, strict=True))


def test_what_is_wrong_with_a_later_stages_examples_is_said_there(
    tmp_path: Path, made: StimulusSet
) -> None:
    """The first stage has no examples, and its author has no such key to take out."""
    twin = tmp_path / "twin"
    shutil.copytree(made.folder, twin)
    rows = json.loads((twin / "manifest.json").read_text("utf-8"))
    for photo in rows["photos"]:
        photo["concepts"][0] = True
        photo["truth"] = "c3"
    for rule in rows["classes"]:
        rule["concepts"] = {}
    rows["id"] = "alike"
    (twin / "manifest.json").write_text(json.dumps(rows), "utf-8")
    later = {
        "task": "concept-repair",
        "stimuli": str(twin),
        "intro": "intro.md",
        "items": NOTHING | {"natural": 1},
        "examples": True,
    }
    path = concepts.write_study(tmp_path / "study", made, after=[{"stages": later}])
    loaded = loading.load(path)
    errors: list[Any] = []
    planner.realise(loaded, "P01", space_of=lambda model: SPACE, errors=errors)
    (error,) = errors
    assert "all pictures show 'size' in the same way" in str(error)
    lines = path.read_text("utf-8").splitlines()
    (written,) = [number for number, line in enumerate(lines, 1) if "examples: true" in line]
    assert f"line {written}" in str(error)


def test_a_set_with_enough_is_drawn_from_evenly(tmp_path: Path, made: StimulusSet) -> None:
    """Of four pictures to repair two are drawn: each for about half of the participants."""
    drawn = Counter(
        item.photo
        for number in range(1, 31)
        for item in stage_of(planned(tmp_path / f"{number}", made, f"P{number:02}")).items
        if item.item == "repair"
    )
    assert len(drawn) == 4
    assert all(6 <= count <= 24 for count in drawn.values())


def test_without_a_practice_examples_come_before_the_stage(
    tmp_path: Path, made: StimulusSet
) -> None:
    parts = planned(tmp_path, made, examples=True, language="de", items={"repair": 1, "control": 1})
    assert isinstance(parts[0], ConceptExamplesPart)
    assert parts[0].examples[0].concept.name == "Größe"


def test_pictures_that_are_examples_are_not_there_for_a_stage(
    tmp_path: Path, made: StimulusSet
) -> None:
    shown = find_reserved_pictures(reference_pairs(made.manifest, 1))
    kinds = [p.item for p in made.manifest.photos if p.photo in shown and not p.natural]
    kind = next(each for each in kinds if each)
    with pytest.raises(StudyError, match=r"the set has \d that are no examples") as refused:
        planned(tmp_path, made, examples=True, items={**NOTHING, kind: 4})
    assert f"4 pictures of the kind '{kind}'" in str(refused.value)


def test_a_set_that_cannot_show_a_concept_is_refused_with_its_line(
    tmp_path: Path, made: StimulusSet
) -> None:
    path = made.folder / "manifest.json"
    rows = json.loads(path.read_text("utf-8"))
    big = {rule["id"] for rule in rows["classes"] if rule["concepts"].get("size") is False}
    for photo in rows["photos"]:
        photo["concepts"][0] = True
        photo["truth"] = photo["truth"] if photo["truth"] not in big else "c3"
    for rule in rows["classes"]:
        rule["concepts"] = {}
    path.write_text(json.dumps(rows), "utf-8")
    with pytest.raises(StudyError, match=r"all pictures show 'size' in the same way"):
        planned(tmp_path, made, examples=True)


@pytest.mark.parametrize("study", ["repair", "repair-shapes", "repair-birds", "audit", "foresight"])
def test_no_shipped_study_asks_about_its_examples(study: str) -> None:
    loaded = loading.load(f"concept-{study}")
    for _, drawn in variants(loaded.study):
        parts = planner.realise(loaded, "P01", space_of=lambda model: SPACE, drawn=drawn).parts
        (examples,) = (part for part in parts if isinstance(part, ConceptExamplesPart))
        assert all(not example.others for example in examples.examples)
        items = [
            item for part in parts if isinstance(part, ConceptRepairPart) for item in part.items
        ]
        shown = [item.picture for item in items]
        assert not set(shown) & set(examples.stored_pictures())
        assert len(set(shown)) == len(shown)  # in both stages and the practice


def test_species_keep_their_names_from_one_model_to_the_next() -> None:
    loaded = loading.load("concept-repair-birds")
    parts = planner.realise(loaded, "P01", space_of=lambda model: SPACE, drawn=["a-b"]).parts
    first, second = (
        part for part in parts if isinstance(part, ConceptRepairPart) and part.role == "stage"
    )
    assert first.model != second.model
    assert first.repaired.classes == second.repaired.classes
    assert len(first.repaired.classes) == 16
    wanted = Counter(repair=6, control=6)
    for part in (first, second):
        assert Counter(item.item for item in part.items if item.sample == "matched") == wanted
        assert sum(item.sample == "natural" for item in part.items) == 6
