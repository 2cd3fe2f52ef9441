"""What the report says of the items of questionnaires and of their scales."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labapp.analysis.analyze import analyze
from labapp.analysis.item_sections import item_sections, short
from labapp.analysis.tables import Tables, load
from labapp.simulation.jobs import simulate_study
from tests.analysis.design.studies import study
from tests.analysis.test_items import RELIANCE
from tests.analysis.test_reliability import asked, of
from tests.helpers.questionnaires import own_study

LONG = "I trust it, because " + "it has been right whenever I looked and " * 4 + "so on."


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("asked")
    text = RELIANCE.replace("I trust it.", f'"{LONG}"')
    simulate_study(str(own_study(folder / "study", text)), 6, "understanding", folder / "data")
    return load(folder / "data").included()


def said(tables: Tables) -> str:
    return "".join(item_sections(tables, of(tables), "s1"))


def test_items_stand_in_the_order_of_the_file_with_what_is_reversed_in_words(
    tables: Tables,
) -> None:
    page = said(tables)
    items = page[page.index("<table") : page.index("Reliability")]
    places = [items.index(name) for name in (">rely<", ">wary, counts the other", ">trust<")]
    assert places == sorted(places)
    assert items.count("counts the other way round") == 1
    assert "1: not at all; 5: completely." in page
    assert "Please choose 2" not in page, "a check is no item of the questionnaire"


def test_long_words_are_cut_at_a_blank(tables: Tables) -> None:
    assert LONG not in said(tables)
    assert short(LONG) in said(tables)
    assert short(LONG).endswith(" …")
    assert LONG.startswith(short(LONG).removesuffix(" …"))
    assert tables.items.set_index("item")["text"]["trust"] == LONG


def test_every_answer_is_counted(tables: Tables) -> None:
    page = said(tables)
    answers = tables.answers[tables.answers["item"] == "rely"]["value"]
    row = page[page.index(">rely<") :]
    cells = re.findall(r"<td[^>]*>(\d+)</td>", row[: row.index("</tr>")])
    assert [int(cell) for cell in cells] == [int((answers == n).sum()) for n in range(1, 6)]


def test_scales_have_alpha_omega_and_the_reasons(tables: Tables) -> None:
    (scale,) = of(asked(study(n=60), per_stage=False))
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
