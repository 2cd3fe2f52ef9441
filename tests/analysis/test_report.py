"""The report: what it says, that it stands alone, and that it says nothing it was not told."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import labapp
from labapp.analysis import load
from labapp.analysis.analyze import DEFINITIONS, FIGURES, REPORT, analyze, file_names, report
from labapp.analysis.deviations import MEANINGS
from labapp.analysis.retention import find_printed, recruitment
from labapp.analysis.rows import SessionRecords
from labapp.analysis.sections import methods, quality, sessions
from labapp.analysis.tables import Tables, tables_of
from labapp.analysis.task_report import (
    Findings,
    ReportedStudy,
    by_model,
    has_report,
    questionnaire_name,
    reports,
    study_title,
)
from labapp.base.errors import ExportExists
from labapp.base.naming import natural
from labapp.base.report import kit
from labapp.base.report.listing import SHOWN_ROWS
from labapp.base.report.page import clock, decimal
from labapp.papers.interactive_reconstruction import results as paper
from labapp.record.events import Source
from labapp.record.events.lifecycle import (
    CloseRequested,
    InclusionDecided,
    PartEnded,
    PartStarted,
    SegmentStarted,
    SessionCompleted,
    SessionPaused,
    SessionResumed,
)
from labapp.study.plugins import registry
from labapp.tasks.reconstruction.events import DialMoved, LabelEdited
from labapp.tasks.reconstruction.report.contents import (
    CALIBRATION_METRICS,
    METRICS,
    NAMES,
    SHOWN_SESSIONS,
)
from tests.analysis.design.studies import study as own_study
from tests.analysis.sessions import begin_trial, builder, end_trial, move, paired, stage_row
from tests.helpers.journals import SessionBuilder, golden_session
from tests.helpers.nightly import EVERYTHING
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
    assert "Coverage of each slider" in labels[1]
    assert "Alignment over time" in labels[3]
    drawing = golden[golden.index("<svg") : golden.index("</svg>")]
    for unit in ("% of questions", "s per question", "sum of squares × s", "n\u2009=\u20091"):
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
    assert (
        "Mean difference, over participants, between the last and the first 2 questions; below "
        "it the median" in text
    )
    assert "Completion rate percentage points Response time s per question" in text
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
    assert "No sessions were analysed, so there are no metrics here." in text
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
    assert f"{rows - SHOWN_ROWS} more rows are in the tables next to this page." in text


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
    assert golden.index("Metrics by model") < golden.index(">Supplement</h3>")
    assert golden.index(">Supplement</h3>") < golden.index("The list of 1 session")
    assert golden.index("Deviations and data quality</h3>") < golden.index(">Supplement</h3>")
    assert "<details><summary>The list of 1 session</summary>" in golden


def test_traces_are_of_people_who_count(golden_tables: Tables) -> None:
    out = golden_tables.participants.assign(included=False)
    frames = golden_tables.small() | {"participants": out}
    page = report(Tables.of(frames, golden_tables.snapshots))
    assert "Alignment over time" in report(golden_tables)
    assert "Alignment over time" not in page


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
    assert {"Completion rate", "Analyses according to the design"} <= defined
    assert ("Models compared" in defined) == tests
    assert not {"Difficulty (after the quiz)", "Calibration", "Names of sliders"} & defined


PACKAGE = Path(labapp.__file__).parent


def test_no_task_is_named_by_what_makes_the_report() -> None:
    names = {task for report in reports() for task in report.tasks}
    names |= {known.name for known in registry.task_types() if has_report(known)}
    assert len(names) > 8
    for path in (
        *(PACKAGE / "analysis").rglob("*.py"),
        *(PACKAGE / "base" / "report").rglob("*.py"),
    ):
        source = path.read_text("utf-8")
        if not any(name in source for name in names):
            continue
        texts = {
            node.value
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not texts & names, path


def test_what_reports_bring_has_names_of_its_own() -> None:
    for brought in ("tables", "definitions", "files", "activities"):
        names = [name for report in reports() for name in getattr(report, brought)]
        assert len(names) == len(set(names)), brought


def test_every_task_of_the_tables_with_sections_says_what_participants_did() -> None:
    known = {task for report in reports() for task in report.activities}
    told = {task for report in reports() for task in report.tasks}
    assert told - known <= {"warm-up"}, "a warm-up is no stage"


@pytest.mark.parametrize(
    ("models", "axes"),
    [
        (("dsprites/ae", "dsprites/vae"), {"": 2}),
        (("dsprites/ae", "sinelines/ae", "dsprites/vae"), {"dsprites": 2, "sinelines": 1}),
    ],
)
def test_errors_have_an_axis_a_data_set(models: tuple[str, ...], axes: dict[str, int]) -> None:
    stages = pd.DataFrame(
        [
            {"participant": f"P{n}", "session": "1", "model": model}
            | {metric.column: 1.0 + n / 7 for metric in METRICS}
            for n in range(3)
            for model in models
        ]
    )
    page = str(by_model(stages, "calibration", CALIBRATION_METRICS))
    assert page.count(">Error AUC, sum<") == page.count(">Error AUC, mean<") == len(axes)
    assert page.count(">Response time<") == 1
    for dataset in filter(None, axes):
        assert page.count(f">{dataset}<") == 2, "below both of its panels"
    errors, others = 2, len(CALIBRATION_METRICS) - 2
    labels = errors * sum(axes.values()) + others * len(models)
    if EVERYTHING:
        assert page.count("n\N{THIN SPACE}=\N{THIN SPACE}3<") == labels
    else:  # not drawn, an axis that shares its labels with another has them, too
        assert page.count("n\N{THIN SPACE}=\N{THIN SPACE}3<") >= labels
    assert "data set has its own axis" in page
    asked = [metric for metric in METRICS if not metric.by_dataset]
    assert "Error AUC" not in str(by_model(stages, "calibration", asked))


def test_the_title_is_that_of_the_latest_version() -> None:
    rows = [
        ("own", 1, "Old", "a"),
        ("own", 2, "New", "b"),
        ("own", 3, None, "c"),
        ("b", 9, "B", ""),
    ]
    people = pd.DataFrame(rows, columns=["study", "study_version", "study_title", "started_utc"])
    assert study_title(people, "own") == "New"
    assert study_title(people[people["study_title"].isna()], "own") == "own"


def test_a_questionnaire_goes_by_its_id_and_title() -> None:
    rows = [("trust", 1, "Old"), ("trust", 2, "How much do you trust it?"), ("felt", 1, None)]
    items = pd.DataFrame(rows, columns=["instrument", "instrument_version", "title"])
    assert questionnaire_name(items, "trust") == "trust: How much do you trust it?"
    assert questionnaire_name(items, "felt") == "felt"


def segment(number: int) -> SegmentStarted:
    return SegmentStarted(number, "2026-01-02T03:04:05Z", "boot", "0.1.0", "0" * 64)


def session(participant: str, *failed: str, gap: bool = False) -> SessionRecords:
    """One stage without a question; failed: rules of inclusion that were not met."""
    builder = SessionBuilder(participant=participant)
    builder.plan([stage_row(trials=7)])
    builder.at(0, segment(1))
    builder.at(1, PartStarted(0), stage="stage-1")
    if gap:
        builder.at(40, replace(segment(2), gap_from_ns=30_000_000_000))
        builder.at(41, SessionResumed("resumed"))
    builder.at(61, PartEnded(0, "completed"), stage="stage-1")
    builder.at(62, SessionCompleted())
    builder.at(62, InclusionDecided(not failed, failed, {}))
    return SessionRecords.of(paired(builder), participant)


def both() -> Tables:
    return tables_of([session("P01"), session("P02", "min_solved", gap=True)])


def paragraph(tables: Tables, study: str) -> str:
    """The paragraph on one study."""
    about = ReportedStudy(study, "s1", tables, tables.included())
    return methods(about, Findings.find(about.counted))


def test_the_paragraph_says_who_did_what_and_with_what() -> None:
    said = paragraph(both(), "golden")
    assert "2 participants took part in 2 sessions; 1 was analysed." in said
    assert "Not analysed: Too few questions solved, n = 1." in said
    assert (
        "Participants reconstructed target pictures by moving sliders (7 questions per stage; "
        "mnist8k/ss2)" in said
    )
    assert "Sessions were held on 2026-01-02 (UTC)." in said
    assert "median working time of the sessions analysed was 1:02 (min:s)" in said
    assert "No voice was recorded." in said
    assert "simulated" not in said
    assert "Recorded with labapp 0.1.0." in said
    assert "scikit-learn" in said


def test_quality_counts_sessions_and_adds_up_seconds() -> None:
    said = str(quality(both().participants))
    cells = {
        name: re.findall(r'<td class="n">([^<]*)</td>', row)
        for name, row in re.findall(r'<th scope="row">([^<]*)</th>(.*?)</tr>', said)
    }
    assert cells["Completed"] == ["2", ""]
    assert cells["Sound recorded"] == ["0", ""]
    interrupted = cells["Interrupted (the program stopped) and resumed"]
    assert interrupted[0] == "1"
    assert interrupted[1].startswith("1 time, ")


def test_a_moved_date_is_not_told_as_the_day_of_a_session() -> None:
    tables = both()
    began = tables.participants["started_utc"]
    copy = replace(
        tables,
        participants=tables.participants.assign(
            started_utc=[began[0], "1907-05-06T07:08:09Z"], deidentified=[False, True]
        ),
    )
    said = paragraph(copy, "golden")
    assert "Sessions were held on 2026-01-02 (UTC)." in said
    assert "The day of 1 session is not known" in said
    assert "1907" not in said
    assert "date shifted, 07:08" in sessions(copy.participants)
    assert "1907" not in sessions(copy.participants)


EXEMPLARS, TRAVERSALS = "single-dimension-exemplars", "single-dimension-traversals"

CROWD = {"paper": "000", "study": "synthetic-crowd", "run": "crowd"}


def recruited(number: int, replicates: dict[str, str] | None = None) -> SessionRecords:
    made = SessionBuilder(participant=f"P{number:02d}", study="mine")
    made.plan([stage_row()], **({} if replicates is None else {"replicates": replicates}))
    made.at(0, SegmentStarted(1, "2026-01-02T03:04:05Z", "boot", "0.1.0", "0" * 64))
    made.at(1, PartStarted(0), stage="stage-1")
    made.at(61, PartEnded(0, "completed"), stage="stage-1")
    made.at(62, SessionCompleted())
    made.at(62, InclusionDecided(True, (), {}))
    return SessionRecords.of(paired(made), f"P{number:02d}")


def tables(replicates: dict[str, str] | None = CROWD, **changes: Any) -> Tables:
    """Eight sessions: four with exemplars, of whom all count, and four with traversals, of whom two
    do; 5, 10 … 40 minutes and $6 each."""
    made = tables_of([recruited(number, replicates) for number in range(1, 9)])
    people = made.participants.assign(
        tasks=[EXEMPLARS] * 4 + [TRAVERSALS] * 4,
        included=[True] * 4 + [True, True, False, False],
        duration_s=[300.0 * n for n in range(1, 9)],
        payment_total=6.0,
        payment_currency="$",
        models="a/b, a/c",
        **changes,
    )
    return replace(made, participants=people)


def said(of: Tables) -> str:
    return Page("".join(recruitment(of))).text


def test_retention_stands_beside_the_papers_by_visualisation() -> None:
    text = said(tables())
    assert f"{EXEMPLARS} 4 4 100 91" in text
    assert f"{TRAVERSALS} 4 2 50 71" in text


def test_durations_and_pay_an_hour_are_numpys_and_stand_beside_the_papers() -> None:
    text = said(tables())
    minutes = [5.0, 10.0, 15.0, 20.0]
    for value in (np.mean(minutes), np.percentile(minutes, 80), np.percentile(minutes, 95)):
        assert f"{value:.1f} (${60 * 6 / value:.2f} an hour)" in text
    assert "13 min, $27 an hour" in text


def test_nothing_of_the_paper_stands_beside_a_study_that_repeats_none() -> None:
    """By what the study file says, not by its id."""
    own = tables(None)
    own = replace(own, participants=own.participants.assign(study="synthetic-crowd"))
    assert find_printed(own.participants)[1] == ()
    text = said(own)
    assert "$27" not in text
    assert "91" not in text
    assert f"{TRAVERSALS} 4 2 50" in text


def test_who_took_part_is_told_in_percent_beside_the_paper_and_not_of_deidentified() -> None:
    made = tables()
    people = made.participants
    answers = pd.DataFrame(
        [
            {
                "participant": row["participant"],
                "session": row["session"],
                "instrument": "about-you",
                "about_person": True,
                "item": "education",
                "submitted": True,
                "value_text": ("high_school", "bachelor", "master", "master")[number % 4],
            }
            for number, row in enumerate(people.to_dict("records"))
        ]
    )
    shown = replace(made, answers=answers)
    # Six count; the fifth and the sixth say high_school and bachelor.
    assert "education: bachelor or master 4 6 67 79" in said(shown)
    hidden = people.assign(deidentified=[False] * 3 + [True] * 5)
    assert "education: bachelor or master 2 3 67 79" in said(replace(shown, participants=hidden))
    nobody = people.assign(deidentified=True)
    assert "education" not in said(replace(shown, participants=nobody))


def test_where_the_paper_contradicts_itself_it_is_told() -> None:
    assert "105 would have been enough" in said(tables())
    rates = {row.task: row.value for row in paper.recruitment("synthetic-crowd")
             if (row.quantity, row.measure) == ("retention", "share")}  # fmt: skip
    needed = 30 / (rates[EXEMPLARS] or 1) + 30 / (rates[TRAVERSALS] or 1) + 30
    assert needed == pytest.approx(105, abs=0.5)


def test_pay_an_hour_follows_from_pay_and_duration_as_printed() -> None:
    """5.2.2: $6 and $3.75, rounded down."""
    for study, amount in (("synthetic-crowd", 6.0), ("mnist-crowd", 3.75)):
        printed = {
            (row.task, row.measure, row.quantity): row.value or 0.0
            for row in paper.recruitment(study)
            if row.quantity in ("duration", "pay_per_hour")
        }
        hours = {key[:2]: value for key, value in printed.items() if key[2] == "pay_per_hour"}
        assert hours
        for (task, measure), pay in hours.items():
            exact = 60 * amount / printed[task, measure, "duration"]
            assert abs(pay - exact) < 1, (task, measure)


def test_the_methods_text_says_what_is_repeated_and_that_it_was_run_otherwise() -> None:
    text = paragraph(tables(), "mine")
    assert "It replicates study synthetic-crowd of paper 000." in text
    assert "That was a crowdsourced study: people took part alone, over the internet. Here" in text
    assert "repeats" not in paragraph(tables(None), "mine")
    if EVERYTHING:
        lab = {"paper": "000", "study": "mnist-think-aloud", "run": "lab"}
        assert "crowd" not in paragraph(tables(lab), "mine")
