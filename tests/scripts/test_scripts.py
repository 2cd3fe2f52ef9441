"""Scripts of the checkout."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.representations import package
from labapp.session.gate import gate
from scripts import concept_hands, trial_keyboard, trial_questions
from scripts.concept_hands import ONCE, judge
from scripts.side_by_side import UNIT, Representation, draw

DONE: list[dict[str, Any]] = [
    {"where": ["stage-1", 1], "set": [0, 2], "device": "mouse"},
    {"where": ["stage-1", 1], "end": "done"},
    {"where": ["stage-1", 2], "set": [1, 1], "device": "keyboard"},
    {"where": ["stage-1", 2], "set": [1, 1], "device": "keyboard"},
    {"where": ["stage-1", 2], "end": "gave_up"},
]

"""The second picture's choice was lost with the process, and made again."""


def event(kind: str, trial: int | None = None, **payload: Any) -> Any:
    return SimpleNamespace(kind=kind, part_id="stage-1", trial=trial, payload=payload)


def journal() -> list[Any]:
    return [
        *(event(kind) for kind, count in ONCE.items() for _ in range(count)),
        event("concept.set", 1, concept=0, to=2, device="mouse"),
        event("repair.ended", 1, how="done"),
        event("concept.set", 2, concept=1, to=1, device="keyboard"),
        event("repair.ended", 2, how="gave_up"),
    ]


def test_a_journal_of_what_was_done_is_in_order() -> None:
    assert list(judge(journal(), DONE)) == []


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ("session.completed", "0 session.completed, not 1"),
        ("concept.set", "('stage-1', 1): None was set, not [([0, 2], 'mouse')]"),
        ("repair.ended", "pictures ended {('stage-1', 2): 'gave_up'}"),
    ],
)
def test_what_is_lost_is_told(lost: str, told: str) -> None:
    events = journal()
    events.remove(next(each for each in events if each.kind == lost))
    assert any(told in line for line in judge(events, DONE))


def test_another_device_and_a_setting_nobody_made_are_told() -> None:
    events = journal()
    events[-2].payload["device"] = "mouse"
    lines = list(judge(events, DONE))
    assert len(lines) == 2
    assert "concepts were set by ['mouse'] alone" in lines


def test_an_answer_that_was_forecast_otherwise_is_told() -> None:
    forecast = [{"where": ["stage-1", 1], "foretold": "c1", "device": "mouse"}]
    events = [*journal(), event("answer.foretold", 1, answer="c2", device="mouse")]
    lines = list(judge(events, [*DONE, *forecast]))
    assert len(lines) == 2
    assert "answers forecast were" in lines[0]
    assert lines[1] == "answers were forecast by ['mouse'] alone"


def test_of_a_drawn_test_some_changes_of_each_type_are_left(tmp_path: Path) -> None:
    concept_hands.study(tmp_path, "concept-forecast", "en")
    (path,) = tmp_path.glob("changes/*/*.csv")
    rows = [line.split(",") for line in path.read_text("utf-8").splitlines()[1:]]
    assert {len(changes.split()) for *_, changes in rows} == {concept_hands.SHORT}
    assert [phase for _, phase, _ in rows] == ["exposure", "test"] * 4


ROOT = Path(__file__).resolve().parents[2]


def test_every_line_pins_a_package_once() -> None:
    _, *lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.+]+", line)] == []
    names = [re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower() for line in lines]
    assert len(set(names)) == len(names)


def representation(title: str, matrix: list[list[float]]) -> Representation:
    found = np.array(matrix)
    codes = tuple(f"z{code + 1}" for code in range(found.shape[0]))
    factors = ("size", "a $place$", "x")[: found.shape[1]]
    return Representation(title, f"MIG of {title}", found, codes, factors)


def test_every_model_has_its_heat_map_in_its_data_sets_row() -> None:
    figure = draw(
        [
            ("Two", [representation("GT", [[3.0, 0.0], [0.25, 1.5]])]),
            ("One", [representation("VAE", [[0.5, 0.0, 0.1]]), representation("AE", [[0.2] * 3])]),
        ]
    )
    maps = [
        ax
        for ax in figure.axes
        if ax.get_xticklabels() and ax.get_visible() and ax.get_title(loc="left")
    ]
    assert [ax.get_title(loc="left").strip() for ax in maps] == ["GT", "VAE", "AE"]
    assert [ax.get_ylabel() for ax in maps] == ["Two", "One", ""]
    first = [text.get_text() for text in maps[0].texts]
    assert first == ["MIG of GT", "3.00", "0.00", "0.25", "1.50"]
    assert [label.get_text() for label in maps[0].get_xticklabels()] == ["size", "a $place$"]
    assert [label.get_text() for label in maps[0].get_yticklabels()] == ["z1", "z2"]
    # The models of a data set share a scale, and data sets do not.
    assert [ax.collections[0].get_clim() for ax in maps] == [(0, 3.0), (0, 0.5), (0, 0.5)]
    assert [ax.get_ylabel() for ax in figure.axes].count(UNIT) == 2
    assert sum(not ax.get_visible() for ax in figure.axes) == 1


def test_codes_that_share_nothing_are_drawn() -> None:
    figure = draw([("Dead", [representation("AE", [[0.0, 0.0]])])])
    assert [text.get_text() for text in figure.axes[0].texts[1:]] == ["0.00", "0.00"]


def test_nothing_and_matrices_of_another_shape_are_refused() -> None:
    for nothing in ([], [("Empty", [])]):
        with pytest.raises(ValueError, match="wanted"):
            draw(nothing)
    wrong = Representation("AE", "", np.zeros((2, 2)), ("z1",), ("x", "y"))
    with pytest.raises(ValueError, match="AE: the matrix has shape"):
        draw([("Wrong", [wrong])])


SHIPPED = sorted(path.stem for path in (resources.assets() / "studies").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_without_sound_is_in_order(name: str, tmp_path: Path) -> None:
    gate(trial_questions.without_sound(name, tmp_path))


def test_the_study_of_the_keyboard_is_in_order(tmp_path: Path) -> None:
    gate(trial_keyboard.study(tmp_path))


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("concept-repair")])
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_short_study_of_concepts_is_in_order(name: str, language: str, tmp_path: Path) -> None:
    gate(concept_hands.study(tmp_path, name, language))


WHEELS_ROOT = Path(__file__).parents[2]

WHEELS = sorted(WHEELS_ROOT.glob("scripts/wheels/*/pyproject.toml"))


def families() -> dict[str, list[str]]:
    """By package of models, the families that its wheel has."""
    found = {}
    for file in WHEELS:
        read = tomllib.loads(file.read_text("utf-8"))
        inside = read["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
        for source, target in inside.items():
            assert (file.parent / source).resolve() == WHEELS_ROOT / "models" / Path(target).name
            assert Path(target).parent == Path("labapp/_data/models")
        found[read["project"]["name"]] = [Path(target).name for target in inside.values()]
    return found


def test_models_are_in_wheels_that_a_package_index_takes() -> None:
    """No file above 100 MB; what people need without asking for it is in labapp's own."""
    models = WHEELS_ROOT / "models"
    sizes = {
        path.name: sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        for path in models.iterdir()
        if path.is_dir() and not path.name.startswith(".")
    }
    apart = [family for each in families().values() for family in each]
    assert len(apart) == len(set(apart)) > 1
    assert set(apart) <= sizes.keys()
    assert sum(size for name, size in sizes.items() if name not in apart) < 16e6
    for name, each in families().items():
        assert sum(sizes[family] for family in each) < 107e6, name


def test_a_model_that_is_in_another_wheel_is_said_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "models_elsewhere", lambda: {"digits/a": "labapp-models-digits"})
    with pytest.raises(ModelError, match="comes with the package labapp-models-digits") as error:
        package.load_package("digits/a")
    assert error.value.todo.endswith("-m pip install labapp-models-digits")


def test_a_checkout_has_all_models() -> None:
    assert resources.models_elsewhere() == {}
    for each in families().values():
        for family in each:
            assert any((WHEELS_ROOT / "models" / family).iterdir())
