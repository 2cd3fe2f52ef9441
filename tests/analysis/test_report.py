"""The report: what it says, that it stands alone, and that it says nothing it was not told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from labapp.analysis import load
from labapp.analysis.analyze import DEFINITIONS, FIGURES, REPORT, analyze, file_names, report
from labapp.analysis.deviations import MEANINGS
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import Findings
from labapp.base.errors import ExportExists
from labapp.base.naming import natural
from labapp.base.report import kit
from labapp.base.report.listing import SHOWN_ROWS
from labapp.base.report.page import clock, decimal
from labapp.record.events import Source
from labapp.record.events.lifecycle import (
    CloseRequested,
    InclusionDecided,
    PartEnded,
    PartStarted,
    SessionCompleted,
    SessionPaused,
)
from labapp.tasks.reconstruction.events import DialMoved, LabelEdited
from labapp.tasks.reconstruction.report.contents import NAMES, SHOWN_SESSIONS
from tests.analysis.design.studies import study as own_study
from tests.analysis.sessions import begin_trial, builder, end_trial, move, stage_row
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.pages import problems

MADE = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


class Page(HTMLParser):
    """Reads a page strictly enough to notice a tag that is not closed."""

    VOID = frozenset({"meta", "br", "path", "use", "rect"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            elif name in ("href", "src", "xlink:href"):
                self.links.append(str(value))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def quiet_session(
    participant: str,
    outcomes: Sequence[str] = ("skipped",) * 5,
    declared: dict[str, Any] | None = None,
) -> SessionBuilder:
    """Five questions on one model; the session is completed."""
    made = builder(stage_row(), participant=participant, study="wide", declared=declared)
    made.at(1, PartStarted(0), "stage-1")
    for n, outcome in enumerate(outcomes, start=1):
        begin_trial(made, 10 * n, trial=n)
        move(made, 10 * n + n, 1, 1, n / 5, error=4, trial=n)
        end_trial(made, 10 * n + 6, outcome, trial=n)
    made.at(70, PartEnded(0, "completed"), "stage-1")
    made.at(71, SessionCompleted())
    return made


@pytest.fixture(scope="module")
def golden_tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return load(golden_session(tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def golden(golden_tables: Tables) -> str:
    return report(golden_tables, MADE)


def test_the_page_is_whole_and_stands_alone(golden: str) -> None:
    assert not problems(golden)
    page = Page(golden)
    assert page.links
    assert all(link.startswith("#") for link in page.links)
    assert "url(http" not in golden
    assert "@import" not in golden
    inside = re.sub(r'xmlns(:xlink)?="[^"]*"', "", golden)
    assert "http" not in inside


def test_ids_are_unique_and_every_reference_is_met(golden: str) -> None:
    page = Page(golden)
    assert len(page.ids) == len(set(page.ids))
    referred = {link.removeprefix("#") for link in page.links}
    referred |= set(re.findall(r"url\(#([^)]+)\)", golden))
    assert referred <= set(page.ids)


def test_the_numbers_of_the_golden_session(golden: str) -> None:
    text = Page(golden).text
    assert "Study The golden session's study" in text
    assert "1 session of 1 participant, written 2026-03-04 05:06 UTC." in text
    # P01 began, order of models, outcome, 81 s of work, pause, interruption, sound.
    assert (
        "P01 1 2026-01-02 03:04 sinelines/gt sinelines/vae mnist8k/ss2 completed 1:21 "
        "1 (0:10) 1 (0:32) 1:31 0.5 s lost 7"
    ) in text
    for row in (
        "sinelines/gt 1 50 n = 1 7.8 n = 1",
        "sinelines/vae 1 100 n = 1 7.6 n = 1",
        "1,016 n = 1",
        "4.0 n = 1",
    ):
        assert row in text[text.index("Metrics by model") :]
    assert "Continuous 1 – 1, 100 % “slant”" in text
    assert "The participant asked for water." in text


def test_both_error_units_are_named(golden: str) -> None:
    text = Page(golden).text
    assert "Error AUC, sum sum of squares × s" in text
    assert "Error AUC, mean mean of squares × s" in text
    for name, said in DEFINITIONS.items():
        assert name in text
        assert said in text


def test_figures_have_a_text_alternative_and_units(golden: str) -> None:
    labels = re.findall(r'<svg role="img" aria-label="([^"]+)"', golden)
    assert len(labels) == golden.count("<svg") == 5
    assert "Metrics by model" in labels[0]
    assert "Alignment over time" in labels[1]
    assert "Coverage of each dial" in labels[2]
    drawing = golden[golden.index("<svg") : golden.index("</svg>")]
    for unit in ("% of questions", "s a question", "sum of squares × s", "n\u2009=\u20091"):
        assert unit in drawing


def test_every_kind_of_deviation_is_explained(golden: str) -> None:
    text = Page(golden).text
    for kind in ("paused", "interrupted", "sound_lost", "alarm", "aligned_at_start"):
        assert MEANINGS[kind] in text


def test_the_same_sessions_give_the_same_page(tmp_path: Path, golden: str) -> None:
    assert report(load(golden_session(tmp_path)), MADE) == golden


@pytest.fixture(scope="module")
def of_two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of two quiet sessions: in the first of them something was typed, in the second a
    simulated participant moved a dial."""
    folder = tmp_path_factory.mktemp("two")
    typed = quiet_session("P01")
    typed.at(51, LabelEdited(1, "<script>alert(1)</script>"), "stage-1", 5)
    typed.at(82, SessionPaused('<img src="http://example.org/x">'))
    typed.write(folder)
    simulated = quiet_session("P02")
    simulated.at(75, DialMoved(9, 1, 1.0, "simulated"), "stage-1", 5, source=Source.SIMULATED)
    simulated.write(folder)
    return report(load(folder), MADE)


def test_what_people_typed_is_escaped(of_two: str) -> None:
    page = Page(of_two)
    assert not {"script", "img"} & set(page.tags)
    assert "<script>alert(1)</script>" in page.text


def test_a_simulated_participant_is_named(of_two: str, golden: str) -> None:
    assert "Simulated: 1 of 2 sessions." in Page(of_two).text
    assert "Simulated" not in Page(golden).text


def test_spread_over_participants_and_change_over_questions(of_two: str) -> None:
    text = Page(of_two).text
    # Question n moves n fifths of a slider 4 wide: (4 + 5 - 1 - 2) / 2 / 5 / 4 = 0.15.
    assert "mnist8k/ss2 2 0 ± 0 median 0, n = 2 6.0 ± 0.0 median 6.0, n = 2" in text
    assert "Mean over participants of last minus first 2 questions; below it the median" in text
    assert "Completion rate percentage points Response time s a question" in text
    assert "mnist8k/ss2 0 median 0, n = 2 0.0 median 0.0, n = 2 +0.15 median +0.15, n = 2" in text


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("mnist8k/ss5", "mnist8k/ss5: trained on 8,000 digits of MNIST"),
        ("dsprites/vae", "dsprites/vae: trained on pictures that labapp drew"),
        ("dsprites/published-gt", None),
        ("dsprites/vae-full", None),
        ("mnist/ss5", None),
        ("sinelines/vae", None),
    ],
)
def test_models_that_are_not_the_papers_are_said_not_to_be(
    tmp_path: Path, model: str, said: str | None
) -> None:
    """In a study that declares the paper's analysis; in no other a word of it."""
    for repeats in ({"paper": "000", "study": "mnist-crowd", "run": "crowd"}, {}):
        name = "wide" if repeats else "own"
        made = SessionBuilder(study_files=None, participant="P01", study=name)
        made.plan([{**stage_row(), "model": model}], replicates=repeats)
        made.segment(0, 1)
        made.at(1, PartStarted(0), "stage-1")
        begin_trial(made, 10)
        end_trial(made, 16)
        made.at(70, PartEnded(0, "completed"), "stage-1")
        made.at(71, SessionCompleted())
        text = Page(report(load(made.write(tmp_path / name)), MADE)).text
        expected = said if repeats else None
        assert ("where they stand beside ours" in text) == (expected is not None)
        assert expected is None or expected in text


def with_decision(participant: str, cell: str, dimensions: int, *failed: str) -> SessionBuilder:
    made = quiet_session(participant)
    at, source, unstamped = made.rows[0]
    drawn = {"number": 1, "models": ["x"], "condition": [cell], "dimensions": dimensions}
    payload = replace(unstamped.payload, assignment=drawn)  # type: ignore[type-var]
    made.rows[0] = (at, source, replace(unstamped, payload=payload))
    made.at(70.5, InclusionDecided(not failed, failed, {}))
    return made


def test_who_counts_and_how_many_of_each_condition(tmp_path: Path) -> None:
    with_decision("P01", "ss", 5).write(tmp_path)
    with_decision("P02", "ss", 10).write(tmp_path)
    with_decision("P03", "ae", 10, "min_solved").write(tmp_path)
    with_decision("P04", "ae", 5, "practice_correct", "min_solved").write(tmp_path)
    text = Page(report(load(tmp_path), MADE)).text
    assert "Included: 2 of 4 participants (50 %)." in text
    assert "practice_correct a practice question was not answered correctly 1 min_solved" in text
    table = text[text.index("Not included because") :]
    for row in (
        "condition ae 2 0 0 practice_correct 1, min_solved 2",
        "condition ss 2 2 100",
        "dimensions 5 2 1 50 practice_correct 1, min_solved 1 dimensions 10 2 1 50 min_solved 1",
    ):
        assert row in table
    assert "completed not included: practice_correct, min_solved" in text
    metrics = text[text.index("Metrics by model") : text.index("Change over questions")]
    assert "0 ± 0 median 0, n = 2" in metrics


def test_without_a_session_that_counts_there_are_no_metrics(tmp_path: Path) -> None:
    with_decision("P01", "ae", 5, "min_solved").write(tmp_path)
    text = Page(report(load(tmp_path), MADE)).text
    assert "No session counts, so there are no metrics here." in text
    assert "Metrics by model" not in text
    assert "Participant P01, session 1" in text, "what was done is shown all the same"


def test_many_sessions_and_deviations_are_cut_with_a_word(tmp_path: Path) -> None:
    for number in range(1, SHOWN_SESSIONS + 3):
        made = quiet_session(f"P{number:02d}")
        for second in range(12):
            made.at(80 + second, CloseRequested("Escape"))
        made.write(tmp_path)
    source = report(load(tmp_path), MADE)
    text = Page(source).text
    of_models = 2  # one model: its metrics, and their changes
    assert source.count("<svg") == 1 + of_models + SHOWN_SESSIONS
    assert "2 more sessions are in the table snapshots." in text
    rows = 12 * (SHOWN_SESSIONS + 2)
    assert f"{rows - SHOWN_ROWS} more rows are in the tables beside this page." in text


def test_a_session_that_stopped_at_once_has_a_report(tmp_path: Path) -> None:
    text = Page(report(load(builder().write(tmp_path)), MADE)).text
    assert "Metrics by model" not in text
    assert "unfinished" in text


@pytest.mark.parametrize(
    ("value", "decimals", "sign", "said"),
    [
        (1234.56, 1, False, "1,235"),
        (123.456, 2, False, "123.5"),
        (12.345, 2, False, "12.35"),
        (-0.5, 1, True, "−0.5"),
        (0.5, 1, True, "+0.5"),
        (-0.01, 1, True, "0.0"),
    ],
)
def test_numbers(value: float, decimals: int, sign: bool, said: str) -> None:
    assert decimal(value, decimals, sign=sign) == said


def test_a_standard_deviation_has_the_decimals_of_its_mean() -> None:
    assert decimal(64.456, 2, like=163.7) == "64.5"


def test_minutes() -> None:
    assert (clock(59.6), clock(3725)) == ("1:00", "62:05")


def test_analyze_writes_everything_once(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    said: list[float] = []
    path = analyze([session], tmp_path / "out", lambda share, what: said.append(share))
    assert path == tmp_path / "out" / REPORT
    assert {entry.name for entry in path.parent.iterdir()} == {
        *(*file_names(), *NAMES, REPORT, FIGURES)
    }
    assert said == sorted(said)
    assert said[-1] == 1.0
    before = path.read_bytes()
    with pytest.raises(ExportExists, match="earlier analysis"):
        analyze([session], tmp_path / "out")
    assert path.read_bytes() == before


def test_a_report_in_the_way_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / REPORT).write_text("mine")
    with pytest.raises(ExportExists):
        analyze([tmp_path / "missing"], tmp_path)


def test_interrupting_leaves_nothing_behind(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")

    def stop(share: float, what: str) -> None:
        if share >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analyze([session], tmp_path / "out", stop)
    assert not (tmp_path / "out").exists()


def test_the_sign_of_the_highest_value_has_room() -> None:
    ax = Figure().subplots()
    kit.scale(ax, kit.StripPanel("Response time", "s", np.array([[19.0, 14.0]])))
    assert ax.get_ylim()[1] > 1.05 * 19
    kit.scale(ax, kit.StripPanel("Response time", "s", np.array([[np.nan, np.nan]])))
    assert ax.get_ylim() == (0, 1)


def test_participants_come_in_their_natural_order() -> None:
    names = ["P100", "P2", "P10", "Q1", "P1"]
    assert sorted(names, key=natural) == ["P1", "P2", "P10", "P100", "Q1"]


def test_results_come_before_the_list_of_sessions_which_is_folded_away(golden: str) -> None:
    assert golden.index("Metrics by model") < golden.index("The list of 1 session")
    assert "<details><summary>The list of 1 session</summary>" in golden


def test_nothing_is_defined_that_no_session_has(golden_tables: Tables) -> None:
    asked = golden_tables
    assert "Scores of questionnaires" in report(asked)
    page = report(
        replace(asked, scores=asked.scores.iloc[:0], stages=asked.stages.assign(seq=None))
    )
    assert "Scores of questionnaires" not in page
    assert "Difficulty (SEQ)" not in page


@pytest.mark.parametrize(
    ("declared", "tests"), [({}, False), ({"analysis": {"profile": "ross2021"}}, True)]
)
def test_a_papers_tests_are_defined_where_a_study_follows_it(
    declared: dict[str, object], tests: bool
) -> None:
    findings = Findings.find(own_study(declared).included())
    defined = {
        name
        for each, results in findings.of.items()
        for name in each.defined(findings.counted, results)
    }
    assert {"Completion rate", "Analyses by the design"} <= defined
    assert ("Models compared" in defined) == tests
    assert not {"Difficulty (after the quiz)", "Calibration", "Names of dials"} & defined
