"""Text of participants and authors is text wherever a page or a figure has it: never tags, never a
formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import Tables, load
from labapp.analysis.analyze import report
from labapp.analysis.snapshots import recorded
from labapp.analysis.task_report import Findings
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.base.report.page import (
    definitions,
    details,
    figure,
    heading,
    links,
    navigation,
    page,
    paragraph,
    stacked,
    strong,
    table,
    two_lines,
    written,
)
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.cohort import cohort
from tests.helpers.journals import golden_session
from tests.helpers.pages import problems
from tests.tasks.reconstruction_report.labels import cohort as labels

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = "<script>x</script><b onclick='y'>&lt;$\\frac{$"
OURS = frozenset(
    (
        *("study", "session", "stage", "task", "tasks", "role", "kind", "outcome", "presentation"),
        *("started_utc", "assignment", "regime", "fill", "sign", "mark", "shown_by", "timed_by"),
        *("response", "of", "source", "truth", "prediction", "classes"),
    )
)
"""Columns whose words are labapp's own, by which the report goes, or are held to a pattern."""


def hostile(tables: Tables) -> Tables:
    """With such text behind every text that somebody else wrote."""

    def frame(rows: pd.DataFrame) -> pd.DataFrame:
        texts = [name for name in rows if isinstance(rows[name].dtype, pd.StringDtype)]
        return rows.assign(**{name: rows[name] + HOSTILE for name in texts if name not in OURS})

    frames = {name: frame(rows) for name, rows in tables.small().items()}
    snapshots = recorded(tables)
    if not isinstance(snapshots, pd.DataFrame):
        snapshots = snapshots.frame()
    return Tables.of(frames, frame(snapshots), (HOSTILE,))


class Reader(HTMLParser):
    """The tags of a page, its attributes' names, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


MAKERS: dict[str, Callable[[Path], Tables]] = {
    "reconstruction": lambda folder: load(golden_session(folder)),
    "names": lambda folder: labels.tables(labels.cohort({"mnist8k/ss5": {1: "slant"}}, 3)),
    "judging": lambda folder: cohort(3),
    "unmasking": lambda folder: load(
        simulate_study("unmasking-faces", 2, "random", folder / "data")
    ),
}


@pytest.mark.parametrize("task", MAKERS)
def test_what_others_wrote_is_text_in_the_whole_report(task: str, tmp_path: Path) -> None:
    tables = hostile(MAKERS[task](tmp_path))
    findings = Findings.find(tables.included())
    source = report(tables, findings=findings)
    read = Reader(source)
    assert not read.tags & {"script", "b", "i"}
    assert "onclick" not in read.attributes
    assert read.words.count(HOSTILE) > 10
    assert problems(source) == []
    for each, results in findings.of.items():
        for plate in each.plates(findings.counted, results):
            assert not Reader(plate.svg).tags & {"script", "b", "i"}


def test_every_part_of_a_page_takes_text_for_text() -> None:
    svg = '<svg viewBox="0 0 1 1"></svg>'
    parts = [
        heading(1, HOSTILE, HOSTILE),
        paragraph(HOSTILE, "quiet"),
        table(
            [HOSTILE, two_lines(HOSTILE, HOSTILE)], [[HOSTILE, strong(HOSTILE)]], caption=HOSTILE
        ),
        figure(svg, HOSTILE, HOSTILE),
        details(HOSTILE, stacked([HOSTILE], [HOSTILE])),
        paragraph(written(HOSTILE, HOSTILE, taken_back=True)),
        definitions([(HOSTILE, HOSTILE)]),
        links([(HOSTILE, HOSTILE)]),
        navigation([(HOSTILE, HOSTILE)]),
    ]
    for part in parts:
        read = Reader(part)
        assert not read.tags & {"script", "b", "i"}, part
        assert "onclick" not in read.attributes, part
        assert HOSTILE in read.words, part
    whole = Reader(page(HOSTILE, parts[0], parts[1], parts[2]))
    assert HOSTILE in whole.words
    assert "script" not in whole.tags


def test_no_formula_is_read_in_a_figure() -> None:
    assert STYLE["text.parse_math"] is False
    measured = kit.StripPanel(HOSTILE, HOSTILE, kit.np.ones((2, 1)))
    drawing = kit.strip_panels([measured], [HOSTILE], "x", HOSTILE, 1)
    assert HOSTILE in Reader(drawing.svg).words


def test_only_the_kit_says_what_is_html_already() -> None:
    """So whatever comes from outside is escaped by it, in all tasks, profiles, plans and scores."""
    allowed = {"labapp/base/report/page.py"}
    for path in (ROOT / "labapp").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        assert name in allowed or not re.search(r"(?<!class )\bHtml\(", path.read_text()), name
    for path in (ROOT / "labapp").rglob("templates/*.html"):
        assert not re.search(r"autoescape|\|\s*safe(?!d)", path.read_text()), path
