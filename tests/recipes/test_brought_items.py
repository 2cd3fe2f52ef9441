"""The end of the recipe "add a questionnaire": a kind of items and a scoring rule that a package
brings, from the check of a study to its tables, and what is said without the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from labapp.analysis import load
from labapp.base.errors import LabappError
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.study.instruments.instrument import RULES
from labapp.study.instruments.kinds import ITEM_KINDS
from tests.helpers.installed import on_path, without, write_package
from tests.helpers.recipes import Recipe
from tests.ui.conftest import _nothing_left, open_room, open_window

__all__ = ["_nothing_left", "open_room", "open_window"]


UNKNOWN = (
    "the item '[a-z]*' needs a kind of items 'affect_grid' of the package affect-grid 1.0.0, "
    "which is not installed here"
)


@pytest.fixture
def grid(tmp_path: Path) -> Iterator[Path]:
    """The package of the page, installed; the files of the page lie in `tmp_path`."""
    recipe = Recipe("questionnaire", tmp_path, run=lambda arguments: "")
    recipe.write_files()
    site = recipe.install("affect-grid")
    with on_path(site):
        yield site


def test_a_hand_answers_in_the_windows_and_the_mirror_shows_it(
    grid: Path, open_room, open_window, qapp, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    room = open_room(study=tmp_path / "feeling-study.yaml")
    window = open_window(room)
    qapp.processEvents()
    screen = window.screen_shown
    view, other = screen.items
    assert type(view).__name__ == "GridView"
    QTest.mouseClick(view.grid, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    answers = room.runner.state.part_state.answers
    assert dict(answers) == {"now": {"pleasure": 1, "arousal": 9}}
    QTest.keyClick(other.grid, Qt.Key.Key_Up)
    assert room.runner.state.part_state.answers["model"] == {"pleasure": 5, "arousal": 6}

    part = room.runner.part
    mirror = type(screen)(screen.session.only_read(), part)
    mirror.render_state()
    assert [view.grid.square for view in mirror.items] == [(1, 9), (5, 6)]
    QTest.mouseClick(mirror.items[0].grid, Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    assert room.runner.state.part_state.answers["now"] == {"pleasure": 1, "arousal": 9}
    mirror.deleteLater()
    screen.right()
    assert room.runner.part.id != part.id


def test_without_the_package_everything_says_what_is_missing(grid: Path, tmp_path: Path) -> None:
    study = tmp_path / "feeling-study.yaml"
    (path,) = simulate_study(str(study), 1, "random", tmp_path / "data")
    bundle = export([path], tmp_path / "bundle")
    reduced = export([path], tmp_path / "reduced", deidentify=True)
    told = load(reduced).answers.set_index("item").loc["now"]
    assert told["kind"] == "affect_grid", "declared to tell nobody who somebody is"
    assert told["value"] == load(bundle).answers.set_index("item").loc["now"]["value"]
    with without(grid):
        for reads in (
            lambda: load(path),
            lambda: load(bundle),
            lambda: export([path], tmp_path / "again"),
        ):
            with pytest.raises(LabappError, match=UNKNOWN):
                reads()
        assert "'affect_grid' of the package affect-grid 1.0.0" in " ".join(verify(path).problems)
        with pytest.raises(LabappError, match=r"found 'affect_grid'; allowed: one of scale, "):
            simulate_study(str(study), 1, "random", tmp_path / "more")
    asked, _ = open_record(path).planned.plan
    package = {"package": "affect-grid 1.0.0"}
    assert asked["kinds"]["now"] == {"name": "affect_grid", **package}
    assert asked["rules"] == {"arousal": {"name": "mean_arousal", **package}}


MEDIAN = """
from statistics import median
from labapp.study.instruments.instrument import ScoringRule
RULE = ScoringRule(
    "median",
    lambda score, given: {expression},
    "The median of ratings.",
    lambda score: score.ends,
)
"""
FILE = b"""
id: own
version: 1
title: Own
source: Ours
scores: {{t: {{rule: {rule}, items: [a, b, c], reverse: [c], from: 0}}}}
items:
  - {{id: a, text: A, points: 5, low: x, high: y}}
  - {{id: b, text: B, points: 5, low: x, high: y}}
  - {{id: c, text: C, points: {points}, low: x, high: y}}
"""


def _read(rule: str = "median", points: int = 5) -> Instrument:
    content = FILE.decode().format(rule=rule, points=points).encode()
    return Instrument.parse(Path("own.yaml"), content)


def test_a_rule_counts_ratings_as_they_are_declared(tmp_path: Path) -> None:
    code = MEDIAN.format(expression="median(score.numbers_in(given.answers))")
    with on_path(write_package(tmp_path, "median", code, group="labapp.scores", entry="RULE")):
        scores = _read().scores
        assert isinstance(scores, dict)
        score = scores["t"]
        assert score.of({"a": 5, "b": 2, "c": 2}) == 3.0  # 4, 1 and 3
        assert score.of({"a": 5, "b": 2}) is None
        assert (score.low, score.high) == (0.0, 4.0)
        with pytest.raises(LabappError, match="ratings with the same numbers, to be reversed"):
            _read(points=7)
        with pytest.raises(LabappError, match=r"rule: a rule of an installed package \(here m"):
            _read("mean")
    with pytest.raises(LabappError, match="here none\\), but 'median' is not"):
        _read()


@pytest.mark.parametrize("expression", ["1 / 0", "float('nan')", "'a'"])
def test_a_rule_that_fails_is_named(tmp_path: Path, expression: str) -> None:
    code = MEDIAN.format(expression=expression)
    with on_path(write_package(tmp_path, "median", code, group="labapp.scores", entry="RULE")):
        scores = _read().scores
        assert isinstance(scores, dict)
        with pytest.raises(LabappError, match=r"scoring rule 'median' of median 0\.1 failed: "):
            scores["t"].of({"a": 1, "b": 1, "c": 1})


BROKEN = {
    "no-item": ("ItemKind('own', int, 'a:B')", "int is not derived from Item"),
    "no-kind": ("ItemKind('own', Item, 'a:B')", "Item has no `kind: Literal['own']`"),
    "no-words": ("ItemKind('own', Own, 'a:B')", "Own has no docstring that explains what is asked"),
    "no-check": ("ItemKind('own', Told, 'a:B')", "Told has no `check`"),
    "no-view": ("ItemKind('own', Whole, 'aB')", "its view is 'aB' instead of module:Class"),
    "taken": ("ITEM_KINDS['slider']", "a kind of items 'slider' already exists"),
}
ITEMS = '''
from typing import Literal
from labapp.study.instruments.items import Item
from labapp.study.instruments.kinds import ITEM_KINDS, ItemKind
class Own(Item):
    kind: Literal['own']
class Told(Own):
    """A thing."""
class Whole(Told):
    """A thing."""
    def check(self, value): return value
    def simulate(self, rng, leaning): return 1
'''


@pytest.mark.parametrize("name", BROKEN)
def test_a_kind_that_cannot_be_used_is_named(tmp_path: Path, name: str) -> None:
    code, why = BROKEN[name]
    site = write_package(tmp_path, name, f"{ITEMS}IT = {code}\n", group="labapp.items", entry="IT")
    with on_path(site):
        ((_, state),) = ITEM_KINDS.installed
        assert why in state
        assert f"{name}: {name} left out: {why}" in ITEM_KINDS.left_out()


def test_every_shipped_kind_and_rule_is_in_the_tables_of_all() -> None:
    assert list(ITEM_KINDS)[:6] == ["scale", "statement", "slider", "choice", "choices", "written"]
    assert list(RULES) == ["mean", "sum", "chosen", "weighted"]
    assert not any(
        catalogue.problem(thing, ())
        for catalogue in (ITEM_KINDS, RULES)
        for thing in catalogue.values()
    )
