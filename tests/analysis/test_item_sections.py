"""What the report says of the items of questionnaires and of their scales."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from labapp.analysis import analyze as language
from labapp.analysis.analyze import analyze
from labapp.analysis.item_sections import item_sections, short
from labapp.analysis.tables import Tables, load
from labapp.base.report import kit
from labapp.base.report.page import speaking
from labapp.session.simulation.simulation_job import simulate_study
from tests.analysis.design.studies import study
from tests.analysis.test_items import RELIANCE
from tests.analysis.test_reliability import asked, of
from tests.helpers.questionnaires import own_study

DRAWN = True

LONG = "I trust it, because " + "it has been right whenever I looked and " * 4 + "so on."


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("asked")
    text = RELIANCE.replace("I trust it.", f'"{LONG}"')
    simulate_study(str(own_study(folder / "study", text)), 4, "understanding", folder / "data")
    return load(folder / "data").included()


@pytest.fixture(scope="module")
def page(tables: Tables) -> str:
    return "".join(item_sections(tables, of(tables), "s1"))


def test_items_stand_in_the_order_of_the_file_with_what_is_reversed_in_words(page: str) -> None:
    items = page[page.index("<table") : page.index("Reliability")]
    places = [items.index(name) for name in (">rely<", ">wary, counts the other", ">trust<")]
    assert places == sorted(places)
    assert items.count("counts the other way round") == 1
    assert "1: not at all; 5: completely." in page
    assert "Please choose 2" not in page, "a check is no item of the questionnaire"


WIDE = """\
id: felt
version: 1
title: How it felt
source: Made for the tests.
items:
  - {id: hard, kind: scale, points: 21, low: easy, high: hard, identifying: no, text: "How hard?"}
  - {id: good, kind: scale, points: 5, low: bad, high: good, identifying: no, text: "How good?"}
  - {id: sure, kind: slider, identifying: no, text: "How sure?", low: 20, high: 80}
  - {id: often, kind: slider, identifying: no, text: "How often?", low: 20, high: 80}
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("felt")
    simulate_study(str(own_study(folder / "study", WIDE)), 3, "understanding", folder / "data")
    tables = load(folder / "data").included()
    tables.answers.loc[tables.answers["item"] == "often", "touched"] = [False, True, None]
    return tables


@pytest.fixture(scope="module")
def wide_page(wide: Tables) -> str:
    return "".join(item_sections(wide, [], "s1"))


def test_many_numbers_are_strips_over_the_range_of_the_file(wide_page: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", wide_page, re.DOTALL)
    assert len(figures) == 3, "bars, 21 points, and both sliders, which have the same range"
    bars, points, sliders = figures
    assert ("How good?" in bars, "How hard?" in points) == (True, True)
    assert ("How sure?" in sliders, "How often?" in sliders) == (True, True)
    assert "1: easy; 21: hard." in points
    for figure, ends in ((points, "1 11 21"), (sliders, "20 50 80")):
        ticks = re.findall(r">(\d+)</text>", figure)
        assert " ".join(ticks) == ends
    left_out = "Sliders that nobody touched are no answers and are left out: 1."
    assert (left_out in points, left_out in sliders) == (False, True)


def test_many_numbers_are_told_by_their_ends(wide: Tables, wide_page: str) -> None:
    tables = wide_page[wide_page.index("The numbers that were given") :]
    for item, untouched in (("hard", []), ("sure", [0]), ("often", [1])):
        own = wide.answers[wide.answers["item"] == item]
        values = own.loc[own["touched"].ne(other=False).fillna(value=True), "value"]
        row = tables[tables.index(f">{item}<") :]
        cells = re.findall(r"<td[^>]*>(\d+)</td>", row[: row.index("</tr>")])
        assert [*map(int, cells)] == [int(values.min()), int(values.max()), *untouched], item


def test_every_answer_lies_on_its_number_in_a_strip() -> None:
    values = np.array([3.0, 20.0, 20.0, 7.5, 11.0])
    ax = Figure().subplots()
    kit.lying_strip(ax, 2.0, values)
    given, mean = ax.lines
    assert list(np.asarray(given.get_xdata())) == list(values)
    assert np.asarray(mean.get_xdata())[0] == pytest.approx(values.mean())
    (box,) = ax.patches
    assert isinstance(box, Rectangle)
    ends = [box.get_x(), box.get_x() + box.get_width()]
    assert ends == pytest.approx(np.percentile(values, [25, 75]))
    plain = Figure().subplots()
    kit.lying_strip(plain, 0.0, values)
    assert all(len(line.get_xdata()) for line in plain.lines), "no mark without a place"
    many = Figure().subplots()
    kit.lying_strip(many, 0.0, np.arange(61.0))
    assert len(many.lines) == 1, "of so many only the mean is a mark"


def test_strips_are_told_in_german_too(wide: Tables) -> None:
    spoken, _ = language.chosen(wide, "de")
    assert spoken is not None
    with speaking(spoken):
        page = "".join(str(part) for part in item_sections(wide, [], "s1"))
    assert "Schieberegler, die niemand bewegt hat, sind keine Antworten" in page
    own = {*wide.items["text"], *wide.items["item"], "felt"}
    english = {text for text in spoken.missing if text not in own and " " in text}
    assert not english


def test_long_words_are_cut_at_a_blank(tables: Tables, page: str) -> None:
    assert LONG not in page
    assert short(LONG) in page
    assert short(LONG).endswith(" …")
    assert LONG.startswith(short(LONG).removesuffix(" …"))
    assert tables.items.set_index("item")["text"]["trust"] == LONG


def test_every_answer_is_counted(tables: Tables, page: str) -> None:
    answers = tables.answers[tables.answers["item"] == "rely"]["value"]
    row = page[page.index(">rely<") :]
    cells = re.findall(r"<td[^>]*>(\d+)</td>", row[: row.index("</tr>")])
    assert [int(cell) for cell in cells] == [int((answers == n).sum()) for n in range(1, 6)]


def test_scales_have_alpha_omega_and_the_reasons(tables: Tables) -> None:
    (scale,) = of(asked(study(n=20), per_stage=False))
    page = "".join(item_sections(tables, [scale], "s1"))
    assert scale.alpha.value is not None
    assert scale.omega.value is not None
    assert f"{scale.alpha.value:.2f}" in page
    assert f"{scale.omega.value:.2f}" in page
    (few,) = of(asked(study(n=4), per_stage=False))
    page = "".join(item_sections(tables, [few], "s1"))
    assert "Alpha and omega, reliance: fewer than 5 people answered all items." in page


def test_an_analysis_has_the_tables_and_the_section(tmp_path: Path) -> None:
    data = tmp_path / "data"
    simulate_study(str(own_study(tmp_path / "study", RELIANCE)), 5, "understanding", data)
    page = analyze([data], tmp_path / "out").read_text()
    for name in ("items", "scales", "reliability"):
        assert (tmp_path / "out" / f"{name}.csv").is_file()
    assert "Items of reliance" in page
    assert "Reliability of the scales" in page
    assert "check_scale(" in (tmp_path / "out" / "analysis.R").read_text()
