"""Sets of interventions: what is refused, by place, and that tables say the same as JSON."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, interventions, score_files, sources
from labapp.models.stimuli.check import CheckResult, check
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Manifest
from tests.helpers import concepts
from tests.helpers.stimuli import edited
from tests.models.stimuli.test_sources import as_tables

Json = dict[str, Any]


@pytest.fixture
def made(tmp_path: Path) -> StimulusSet:
    return concepts.write(tmp_path, 2)


def checked(made: StimulusSet) -> CheckResult:
    return check(sources.read(made.folder))


def answers_of(made: StimulusSet) -> interventions.Answers:
    return score_files.read_answers(made.folder, "answers.npy").copy()


def with_answers(made: StimulusSet, answers: Any) -> StimulusSet:
    np.save(made.folder / "answers.npy", answers)
    return made


@pytest.mark.parametrize("count", [2, 4])
def test_a_set_made_of_a_table_is_in_order(tmp_path: Path, count: Any) -> None:
    result = checked(concepts.write(tmp_path, count))
    assert (result.faults, result.warnings) == ([], [])
    assert result.manifest is not None
    assert "answers.npy" in result.files
    items = [photo.item for photo in result.manifest.photos if not photo.natural]
    assert {item: items.count(item) for item in concepts.TYPES} == dict.fromkeys(concepts.TYPES, 4)


def test_it_is_imported_with_its_answers(made: StimulusSet, tmp_path: Path) -> None:
    folder, _ = importing.import_set(made.folder, into=tmp_path / "own")
    there = score_files.read_answers(folder, "answers.npy")
    np.testing.assert_array_equal(there, answers_of(made))


def _swap(manifest: Json) -> None:
    photo = manifest["photos"][0]
    photo["prediction"] = "c1" if photo["prediction"] != "c1" else "c2"


def _cut(manifest: Json) -> None:
    manifest["photos"][0]["beliefs"].pop()


def _square(manifest: Json) -> None:
    manifest["concept_model"]["purity"].pop()


def _against(manifest: Json) -> None:
    photo = manifest["photos"][0]
    photo["concepts"][0] = not photo["concepts"][0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_swap, "photos[p01].prediction: found "),
        (_cut, "photos[p01].beliefs: found 1 values, but 2 concepts"),
        (_square, "concept_model.purity: found 1 x 2; 2 x 2 are needed"),
        (_against, "photos[p01].concepts: 'size' is "),
        (lambda m: m.pop("concept_model"), "concept_model: missing"),
        (lambda m: m.pop("answers"), "answers: missing"),
        (lambda m: m.pop("concepts"), "concepts: missing"),
        (lambda m: m["photos"][0].pop("item"), "photos[p01].item: found none; by its answers"),
        (lambda m: m["photos"][0].update(options=["c2", "c1"]), "photos[p01].options: leave them"),
        (
            lambda m: m["classes"][0]["concepts"].update(colour=True),
            "classes[c1].concepts: 'colour' is not among the concepts",
        ),
        (
            lambda m: m["concepts"][1].update(id="size"),
            "concepts: two concepts have the id 'size'",
        ),
        (lambda m: m["concepts"][0].update(on="large"), "concepts[size].on: found 'large' for on"),
        (
            lambda m: m["concepts"][1].pop("translations"),
            "concepts[side].translations: there are no words in 'de', which others have",
        ),
        (
            lambda m: m["classes"][0].pop("translations"),
            "classes[c1].translations: there are no marks in 'de', which others have",
        ),
        (
            lambda m: m["concepts"][0]["translations"]["de"].update(on="groß"),
            "concepts[size].translations.de.on: found 'groß' for on and for off",
        ),
        (
            lambda m: m["concepts"][0]["translations"]["de"].update(name="Seite"),
            "concepts: two concepts have the name 'Seite' in 'de'",
        ),
        (
            lambda m: m.update(correct_example=m["photos"].pop()),
            "correct_example: a set of interventions has none",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    made: StimulusSet, change: Callable[[Json], Any], told: str
) -> None:
    faults = checked(edited(made, change)).faults
    assert any(f"manifest.json, {told}" in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: a.astype(np.float32), "holds float32 of the shape (20, 9, 4)"),
        (lambda a: a[0], "holds float16 of the shape (9, 4)"),
        (lambda a: a[:5], "has the shape (5, 9, 4); (20, 9, 4) is needed"),
        (lambda a: a / 2, "180 rows are no probabilities; the first is of photo 1, state 0"),
        (lambda a: np.where(a > 0.5, np.nan, a).astype(np.float16), "no probabilities"),
        (lambda a: a + np.array([1, -1, 0, 0], np.float16), "no probabilities"),
    ],
)
def test_a_file_of_answers_that_is_none_is_refused(
    made: StimulusSet, change: Callable[[Any], Any], told: str
) -> None:
    faults = checked(with_answers(made, change(answers_of(made)))).faults
    assert any(told in fault for fault in faults), faults


def test_no_file_of_answers_is_told(made: StimulusSet) -> None:
    (made.folder / "answers.npy").unlink()
    (fault,) = checked(made).faults
    assert "The file of answers 'answers.npy' cannot be read" in fault


def test_classes_without_a_rule_are_warned_of(made: StimulusSet) -> None:
    (warning,) = checked(edited(made, lambda m: m["classes"][0].pop("concepts"))).warnings
    assert "there is no practice with perfect switches" in warning


def test_classes_that_one_state_makes_are_warned_of(made: StimulusSet) -> None:
    """Also where one of them says less than the other, and not only where both say the same."""
    less = edited(made, lambda m: m["classes"][1]["concepts"].pop("side"))
    (warning,) = checked(less).warnings
    assert "makes both the classes 'c1' and 'c2'" in warning


@given(
    st.lists(st.dictionaries(st.integers(0, 3), st.booleans(), max_size=4), min_size=2, max_size=4)
)
def test_rules_are_compatible_where_a_state_fits_both(rules: list[dict[int, bool]]) -> None:
    states = list(product((False, True), repeat=4))

    def fit(rule: dict[int, bool]) -> set[tuple[bool, ...]]:
        return {s for s in states if all(s[place] == on for place, on in rule.items())}

    pairs = [(i, j) for i, j in combinations(range(len(rules)), 2) if fit(rules[i]) & fit(rules[j])]
    assert interventions.first_overlap(rules) == next(iter(pairs), None)


def test_tables_say_the_same(made: StimulusSet) -> None:
    """A set of tables, as a lab writes it with a spreadsheet and numpy.save."""
    folder = as_tables(made)
    assert importing.read_checked(folder).manifest == made.manifest
    text = (folder / "photos.csv").read_text("utf-8")
    (folder / "photos.csv").write_text(text.replace("True|", "perhaps|", 1))
    faults = checked(made).faults
    assert any("concepts: found 'perhaps'; allowed are true and false" in f for f in faults)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_a_state_has_its_place_in_the_table(state: list[int]) -> None:
    assert interventions.states(len(state))[interventions.place(state)] == tuple(state)


LEANS = st.one_of(st.floats(0.02, 0.45), st.floats(0.55, 0.98))
BELIEFS = st.lists(LEANS, min_size=4, max_size=4)


@given(BELIEFS, st.lists(st.booleans(), min_size=4, max_size=4))
def test_perfect_switches_set_no_trap(beliefs: list[float], truths: list[bool]) -> None:
    """Who sets every concept right has the right answer, and nothing else is touched."""
    words = [concept["id"] for concept in concepts.CONCEPTS]
    rules = tuple({words.index(name): on for name, on in rule.items()} for rule in concepts.FOUR)
    table = interventions.without_leaks(rules, beliefs)
    np.testing.assert_allclose(table.sum(1, dtype=np.float32), 1, atol=score_files.ROUNDED)
    (truth,) = (n for n, rule in enumerate(rules) if all(truths[i] == on for i, on in rule.items()))
    every = [interventions.set_to(there) for there in truths]
    assert int(table[interventions.place(every)].argmax()) == truth
    item = interventions.item_type(table, beliefs, truths, truth)
    assert item in ("repair", "control", "unrepairable", None)


def test_the_types_follow_from_the_answers() -> None:
    """By hand: one concept, believed on; class 0 is on, class 1 off."""
    right, wrong = (0.9, 0.1), (0.2, 0.8)

    def of(alone: Any, off: Any, on: Any, there: bool, truth: int) -> str | None:
        table = np.array([alone, off, on], np.float16)
        return interventions.item_type(table, [0.7], [there], truth)

    assert of(right, wrong, right, True, 0) == "control"
    assert of(right, wrong, wrong, True, 0) == "trap"  # confirming it makes it wrong
    assert of(wrong, wrong, right, True, 0) == "unrepairable"
    assert of(right, wrong, right, False, 1) == "repair"
    assert of(right, right, right, False, 1) == "trap"  # correcting it changes nothing
    assert of(wrong, wrong, right, False, 1) is None


def test_words_are_of_the_language_or_of_all_its_regions(made: StimulusSet) -> None:
    concept, class_ = made.manifest.concepts[0], made.manifest.classes[0]
    assert concept.in_language("de").name == concept.in_language("de-AT").name == "Größe"
    assert concept.in_language("nl").off == "large"
    assert class_.in_language("de-AT").marks == "groß, rechts"
    assert (class_.in_language("nl").marks, class_.in_language("de").name) == (
        "large, right",
        "bap",
    )


@pytest.mark.parametrize("language", ["German", "de_AT", ""])
def test_a_language_is_given_by_its_code(made: StimulusSet, language: str) -> None:
    with pytest.raises(StimuliError, match="a language by its code"):
        edited(
            made,
            lambda m: m["concepts"][0].update(translations={language: concepts.GERMAN["size"]}),
        )


def test_the_schema_has_the_kind() -> None:
    schema = Manifest.model_json_schema()
    assert "interventions" in schema["properties"]["kind"]["enum"]
