"""Checking stimulus sets with scores and interventions, and with anything in them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, interventions, library, pictures, score_files, sources
from labapp.models.stimuli.check import CheckResult, check, inner_faults
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Manifest
from tests.helpers import concepts, stimuli
from tests.helpers.sample import examples
from tests.helpers.stimuli import edited
from tests.models.stimuli.test_check import planted
from tests.models.stimuli.test_sources import as_tables

Json = dict[str, Any]


def scored(folder: Path, name: str, rows: int, columns: int) -> None:
    values = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    (folder / name).write_bytes(score_files.encode_scores(values))


FAULTS: dict[str, tuple[Callable[[Json, Path], Any], str]] = {
    "no methods": (
        lambda m, f: [m.pop("methods"), [p.update(scores={}, masked=[]) for p in m["photos"]]],
        "methods: missing; list the methods whose scores the photos have",
    ),
    "a method twice": (
        lambda m, f: m["methods"].append({"id": "edge", "name": "Other"}),
        "methods: two methods have the id 'edge'",
    ),
    "a name of a method twice": (
        lambda m, f: m["methods"][1].update(name="Middle"),
        "methods: two methods have the name 'Middle'",
    ),
    "a method without scores": (
        lambda m, f: m["photos"][1]["scores"].pop("edge"),
        "photos[p01].scores: there are no scores of the method 'edge'",
    ),
    "scores of no method": (
        lambda m, f: m["photos"][1]["scores"].update(lrp="p01-lrp.npy"),
        "photos[p01].scores.lrp: 'lrp' is not among the methods",
    ),
    "one file for two methods": (
        lambda m, f: m["photos"][1]["scores"].update(edge="p01-middle.npy"),
        "photos[p01].scores: 'p01-middle.npy' is used for two methods",
    ),
    "no options": (
        lambda m, f: m["photos"][1].update(options=[], logits=[]),
        "photos[p01].options: found none; all classes are needed, in their order (disc, ring)",
    ),
    "options in another order": (
        lambda m, f: m["photos"][1].update(options=["ring", "disc"]),
        "photos[p01].options: found ring, disc; all classes are needed, in their order",
    ),
    "no logits": (
        lambda m, f: m["photos"][1].update(logits=[]),
        "photos[p01].logits: missing; give the model's scores for all classes",
    ),
    "a prediction that the logits deny": (
        lambda m, f: m["photos"][1].update(logits=[2.0, 1.0]),
        "photos[p01].prediction: found 'ring', but 'disc' has the highest logit",
    ),
    "a score file that is missing": (
        lambda m, f: (f / "p01-edge.npy").unlink(),
        "photos[p01].scores.edge: The score file 'p01-edge.npy' cannot be read: No such file",
    ),
    "a score file that is a picture": (
        lambda m, f: (f / "p01-edge.npy").write_bytes((f / "p01.png").read_bytes()),
        "photos[p01].scores.edge: The score file 'p01-edge.npy' is not readable as .npy",
    ),
    "a score file of another ending": (
        lambda m, f: m["photos"][1]["scores"].update(edge="p01-edge.csv"),
        "photos[p01].scores.edge: found 'p01-edge.csv'; give a .npy file inside the folder",
    ),
    "another grid": (
        lambda m, f: scored(f, "p01-edge.npy", 12, 24),
        "photos[p01].scores.edge: 'p01-edge.npy' has 24 × 12 cells, others have 24 × 24",
    ),
    "a photo without whole blocks": (
        lambda m, f: (f / "p01.png").write_bytes(pictures.png(np.zeros((48, 50), np.uint8))),
        "photos[p01].scores.middle: a photo of 50 × 48 pixels has no whole blocks for 24 × 24",
    ),
    "a grey photo and a coloured mean": (
        lambda m, f: m.update(mean_level=[0.1, 0.2, 0.3]),
        "photos[p00].photo: 'p00.png' is grey, but mean_level has red, green and blue",
    ),
    "a mean beyond white": (
        lambda m, f: m.update(mean_level=[127.0]),
        "mean_level.",
    ),
    "an output of no method": (
        lambda m, f: m["photos"][1]["masked"][0].update(method="lrp"),
        "photos[p01].masked[0].method: 'lrp' is not among the methods",
    ),
    "an output with too many numbers": (
        lambda m, f: m["photos"][1]["masked"][0].update(logits=[1.0, 2.0, 3.0]),
        "photos[p01].masked[0].logits: found 3 values, but 2 classes",
    ),
    "an output twice": (
        lambda m, f: m["photos"][1]["masked"].append(m["photos"][1]["masked"][0]),
        "photos[p01].masked[20]: the photo masked by middle, 5 %, mean, signed is already listed",
    ),
    "an unknown fill": (
        lambda m, f: m["photos"][1]["masked"][0].update(fill="pink"),
        "photos[p01].masked[0].fill: found 'pink'",
    ),
    "a count of no class": (
        lambda m, f: m["pool"][0].update(truth="square"),
        "pool[0].truth: 'square' is not among the classes",
    ),
    "a count twice": (
        lambda m, f: m["pool"].append(m["pool"][0]),
        "pool[4]: disc predicted as disc is already counted",
    ),
    "a wrong example": (
        lambda m, f: m["correct_example"].update(prediction="ring", logits=[0.0, 1.0]),
        "correct_example.prediction: the prediction of this example is wrong",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(fault: str, tmp_path: Path) -> None:
    change, said = FAULTS[fault]
    found = planted(tmp_path, "scores", change)
    assert any(one.startswith(f"manifest.json, {said}") for one in found), found


def test_what_does_not_need_the_files_is_found_without_them(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    assert inner_faults(made.manifest) == []
    photo = made.manifest.photos[0].model_copy(update={"logits": (), "scores": {}})
    odd = made.manifest.model_copy(update={"photos": (photo, *made.manifest.photos[1:])})
    assert inner_faults(odd) == [
        "photos[p00].logits: missing; give the model's scores for all classes",
        "photos[p00].scores: there are no scores of the method 'middle'",
        "photos[p00].scores: there are no scores of the method 'edge'",
    ]


WARNINGS: dict[str, tuple[Callable[[Json], Any], str]] = {
    "no mean level": (lambda m: m.pop("mean_level"), "mean_level is missing, so "),
    "all right": (
        lambda m: [p.update(prediction=p["truth"], logits=[]) for p in m["photos"]],
        "the model is right about all photos",
    ),
    "another accuracy": (
        lambda m: m["method"].update(accuracy=90.0),
        "pool counts 60 of 80 photos as right, but the accuracy of the model is 90 %",
    ),
    "outputs of some photos": (
        lambda m: m["photos"][1]["masked"].pop(),
        "the model's output for masked photos is missing for some photos: e.g. edge, 60 %",
    ),
    "no example": (lambda m: m.pop("correct_example"), "there is no correct_example"),
}


@pytest.mark.parametrize("odd", WARNINGS)
def test_what_is_hardly_meant_is_warned_of(odd: str, tmp_path: Path) -> None:
    change, said = WARNINGS[odd]

    def both(manifest: Json) -> None:
        change(manifest)
        for photo in manifest["photos"]:
            photo["logits"] = photo["logits"] or [
                float(photo["truth"] == c) for c in stimuli.SHAPES
            ]

    made = stimuli.edited(stimuli.write(tmp_path, "scores"), both)
    assert any(one.startswith(said) for one in importing.read_checked(made.folder).warnings)


def test_the_mean_level_is_computed_for_who_did_not(tmp_path: Path) -> None:
    made = stimuli.edited(stimuli.write(tmp_path, "scores"), lambda m: m.pop("mean_level"))
    mean = np.mean([pictures.read(made.folder, one.photo) for one in made.manifest.photos]) / 255
    (said,) = importing.read_checked(made.folder).warnings
    assert said.endswith(f"of these photos it is [{mean:.4f}]")


def test_equal_scores_are_told(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    (made.folder / "p01-edge.npy").write_bytes(score_files.encode_scores(np.zeros((24, 24))))
    (said,) = importing.read_checked(made.folder).warnings
    assert said.startswith("all scores in 'p01-edge.npy' are equal")


def test_score_files_are_taken_with_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    made = stimuli.write(tmp_path, "scores")
    (made.folder / "unused.npy").write_bytes(b"")
    folder, found = importing.import_set(made.folder)
    assert found.warnings == []
    assert library.load("tiny-scores").manifest == made.manifest
    names = {path.name for path in made.folder.iterdir()} - {"unused.npy"}
    assert {path.name for path in folder.iterdir()} == names
    assert len([name for name in names if name.endswith(".npy")]) == 20
    for name in names - {"manifest.json"}:
        assert (folder / name).read_bytes() == (made.folder / name).read_bytes()


TABLES: dict[str, tuple[str, Callable[[str], str], str]] = {
    "missing score file": (
        "photos.csv",
        lambda text: text.replace("p01-edge.npy", "none.npy"),
        "photos.csv, line 3, scores.edge: The score file 'none.npy' cannot be read",
    ),
    "scores of no method": (
        "photos.csv",
        lambda text: text.replace("scores:edge", "scores:lrp", 1),
        "photos.csv, line 2, scores.lrp: 'lrp' is not among the methods",
    ),
    "output of no photo": (
        "masked.csv",
        lambda text: text.replace("p00,", "p77,", 1),
        "masked.csv, line 2, photo: there is no photo 'p77' in photos.csv",
    ),
    "output without logits": (
        "masked.csv",
        lambda text: "\n".join(
            line.rsplit(",", 2)[0] + ",," if n == 1 else line
            for n, line in enumerate(text.split("\n"))
        ),
        "masked.csv, line 2, logits: missing",
    ),
    "decimal comma": (
        "masked.csv",
        lambda text: text.replace("p00,middle,6.0", 'p00,middle,"6,5"'),
        "masked.csv, line 3, percent: write '6,5' with a decimal point",
    ),
    "no such percentage": (
        "masked.csv",
        lambda text: text.replace("p00,middle,6.0", "p00,middle,160"),
        "masked.csv, line 3, percent: found 160.0; allowed: less than or equal to 100",
    ),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_planted_fault_is_named_by_line(fault: str, tmp_path: Path) -> None:
    table, change, said = TABLES[fault]
    folder = as_tables(stimuli.write(tmp_path, "scores"))
    text = (folder / table).read_text("utf-8").replace("\r\n", "\n")
    changed = change(text)
    assert changed != text
    (folder / table).write_text(changed, "utf-8")
    found = check(sources.read(folder)).faults
    assert any(one.startswith(said) for one in found), found


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
            "concepts[side].translations: there are no words in 'de', although others have them",
        ),
        (
            lambda m: m["classes"][0].pop("translations"),
            "classes[c1].translations: there are no marks in 'de', although others have them",
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
            "correct_example: a set of interventions has no examples",
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
        (lambda a: a.astype(np.float32), "contains float32 of the shape (20, 9, 4)"),
        (lambda a: a[0], "contains float16 of the shape (9, 4)"),
        (lambda a: a[:5], "has the shape (5, 9, 4); it must be (20, 9, 4)"),
        (lambda a: a / 2, "180 rows are not probabilities; the first is of photo 1, state 0"),
        (lambda a: np.where(a > 0.5, np.nan, a).astype(np.float16), "not probabilities"),
        (lambda a: a + np.array([1, -1, 0, 0], np.float16), "not probabilities"),
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
    assert "defines both classes 'c1' and 'c2'" in warning


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
    with pytest.raises(StimuliError, match="the code of a language"):
        edited(
            made,
            lambda m: m["concepts"][0].update(translations={language: concepts.GERMAN["size"]}),
        )


def test_the_schema_has_the_kind() -> None:
    schema = Manifest.model_json_schema()
    assert "interventions" in schema["properties"]["kind"]["enum"]


INTERVENTIONS = "interventions"

NAMES = st.sampled_from((*stimuli.NAMES, INTERVENTIONS))

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.just([1, "a", None]),
    st.sampled_from(["s00", "s01", "p00", "p01", "../x.png", "bird:1:test:1:1", "a.png", "1"]),
)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """Every small set, in a folder each; beside it its manifest as it was."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (*stimuli.NAMES, INTERVENTIONS):
            made = small(Path(folder), name)
            shutil.copy(made.folder / library.MANIFEST, Path(folder) / f"{name}.json")
        yield Path(folder)


def small(folder: Path, name: str) -> StimulusSet:
    """The small set of a name."""
    if name == INTERVENTIONS:
        return concepts.write(folder, 2, each=1, natural=1, name=f"tiny-{name}")
    return stimuli.write(folder, name)


def changed(value: Any, odd: Any, random: Random) -> Any:
    """The value with one place of it, anywhere, made odd or left out."""
    at = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = random.choice(keys)
        inner = at[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.75:
            at = inner
            continue
        if random.random() < 0.5:
            at[key] = odd
        else:
            del at[key]
        return value


@settings(examples(60))
@given(name=NAMES, odd=ODD, seed=st.integers(0, 10**6))
def test_an_odd_manifest_is_told_or_taken(root: Path, name: str, odd: Any, seed: int) -> None:
    folder = root / f"tiny-{name}"
    value = json.loads((root / f"{name}.json").read_text("utf-8"))
    text = json.dumps(changed(value, odd, Random(seed)))
    (folder / library.MANIFEST).write_text(text, "utf-8")
    found = check(sources.read(folder))
    assert (found.manifest is None) == bool(found.faults)
    assert all(isinstance(one, str) and one.startswith("manifest.json") for one in found.faults)


@examples(60)
@given(st.binary(max_size=200))
def test_any_bytes_are_told(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / library.MANIFEST).write_bytes(content)
        assert check(sources.read(folder)).faults
        with pytest.raises(StimuliError):
            library.load(folder)


@examples(30)
@given(
    name=st.sampled_from(["prototype-distinction", "path-distinction", "scores", INTERVENTIONS]),
    table=st.sampled_from([*sources.COLUMNS, "set.json"]),
    place=st.floats(0, 1),
    put=st.sampled_from(
        [b"", b",", b'"', b"\n", b"\xff", b"\0", b";", b"nan", b"-1", b"|", b"x,y"]
    ),
)
def test_a_damaged_table_is_told_or_taken(name: str, table: str, place: float, put: bytes) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = as_tables(small(Path(root), name))
        assume((folder / table).exists())
        content = (folder / table).read_bytes()
        at = round(place * len(content))
        (folder / table).write_bytes(content[:at] + put + content[at + len(put) :])
        found = check(sources.read(folder))
        assert (found.manifest is None) == bool(found.faults)
