"""The researcher's page: what a study's data are worth, and its results, by the commands."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from labapp.analysis import load
from labapp.analysis.data_files import FORMATS
from labapp.base.errors import RecordError
from labapp.base.report.labels import Labels
from labapp.papers.interactive_reconstruction.results import SCORE_METRICS
from labapp.record.journal.layout import JOURNAL
from labapp.record.journal.opening import duration
from labapp.record.journal.sessions import SessionSummary, list_sessions
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load as load_study
from labapp.tasks.judging.report.contents import findings
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.single_dimension.report import SINGLE_METRICS
from labapp.tasks.unmasking.report.contents import rows as unmasked_rows
from labapp.ui import theme
from labapp.ui.language import speak, tr
from labapp.ui.moderator.bits import stylesheet
from labapp.ui.moderator.checklist import length_text
from labapp.ui.researcher import job
from labapp.ui.researcher.controller import Researcher
from labapp.ui.researcher.job import Ended, Job
from labapp.ui.researcher.page import (
    DATA_FORMATS,
    MOST_FIGURES,
    TITLES,
    UNITS,
    CopyRequest,
    ExportRequest,
    MeanLine,
    Picture,
    Quality,
    ResearcherPage,
    Results,
    ResultsView,
    details,
    marks,
    read_results,
    title,
    value,
)
from tests.helpers.cohort import STUDIES, cohort
from tests.helpers.rough_fits import few_draws as few_draws
from tests.helpers.rough_fits import rough_fits as rough_fits
from tests.helpers.unmasked import found as unmasked
from tests.session.sessions import surroundings

PATIENCE_MS = 100_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated sessions of the quickstart."""
    root = tmp_path_factory.mktemp("research")
    for label in ("P01", "P02"):
        simulate(
            load_study("quickstart"),
            label,
            surroundings(root / label),
            data=root / "data",
            strategy="understanding",
        )
    return root / "data"


@pytest.fixture
def few(simulated: Path) -> Path:
    """The same folder with one session, for what is stopped before anything is computed."""
    return simulated.parents[1]


@pytest.fixture
def researcher(qtbot: QtBot) -> Iterator[Researcher]:
    page = ResearcherPage(theme.LIGHT)
    page.resize(1100, 640)
    page.show()
    made = Researcher(page)
    yield made
    made.close()
    page.close()
    page.deleteLater()


def line(**changes: object) -> SessionSummary:
    made = SessionSummary(
        "sub-P01_ses-1_20260102T030405Z",
        Path("sub-P01_ses-1_20260102T030405Z"),
        "quickstart",
        "P01",
        "1",
        "2026-01-02T03:04:05Z",
        "complete",
        sound=True,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


GOOD = Quality(
    counts=True,
    excluded_because="",
    deviations=0,
    gaps=0,
    gap_s=0.0,
    sound_s=60.0,
    lost_s=0.0,
    simulated=False,
)


def test_quality_says_what_is_to_be_known() -> None:
    assert marks(line(), None) == ("", "")
    assert marks(line(lost_s=2.04), None) == ("2.0 s of sound lost", "warn")
    assert marks(line(), GOOD) == ("no problems", "good")
    assert marks(line(problem="no plan"), GOOD) == ("no plan", "alarm")
    poor = replace(GOOD, counts=False, gaps=2, deviations=1, sound_s=0.0)
    said = "does not count · no sound · 2 interruptions · 1 deviation"
    assert marks(line(), poor) == (said, "warn")
    assert said in details(line(), poor)  # for a column that is too narrow


def test_lengths_are_rounded_as_elsewhere() -> None:
    assert length_text(line(length_s=540.6)) == duration(540.6) == "9:01"


def test_every_metric_of_stages_has_the_title_that_the_report_gives_it() -> None:
    metrics = (*METRICS, *SINGLE_METRICS, *SCORE_METRICS)
    titles = {column: tr(key) for column, key in TITLES.items()}
    assert {metric.column: metric.title for metric in metrics} == titles


def test_numbers_have_the_decimals_that_tell_them_apart() -> None:
    assert [value(x) for x in (None, 0.1234, 1.234, -12.34, 12345.6)] == [
        "–",
        "0.123",
        "1.23",
        "−12.3",
        "12,346",
    ]
    assert value(0.0, like=100.0) == "0"
    assert value(0.0) == "0"
    assert value(13.4, like=0.0) == "13.4"


def test_every_quantity_in_words_is_said_in_german() -> None:
    # The other studies differ in what is shown, and ask for no other quantities.
    asked = [study for study in STUDIES if not study.labels and study.method != "BagNet"]
    rows = [one.row() for one in findings(cohort(1, asked)).all] + unmasked_rows(unmasked())
    said = {str(row["quantity"]) for row in rows if row["test"] == "mean"}
    assert {"distinction", "gender: woman", "rank by people, 1 is best"} <= said
    speak("de")
    try:
        known = {quantity: title(quantity) for quantity in said}
    finally:
        speak("en")
    english = {one for one, german in known.items() if german.casefold() == one.casefold()}
    assert not english
    assert not [german for german in known.values() if "{" in german]
    assert known["gender: woman"] == "Geschlecht: Frau"
    assert title("gender: woman") == "Gender: woman"


@pytest.mark.parametrize("median", [None, 4.0])
def test_a_column_that_nothing_is_in_is_left_out(qtbot: QtBot, median: float | None) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    some = MeanLine("s", "", "distinction", "%", "", 6, 55.0, 7.0, None)
    lines = (some, replace(some, quantity="agreement", median=median))
    view.show_results(Results(Path(), Path(), {}, lines, ()), "s")
    texts = [label.text() for label in view.findChildren(QLabel)]
    assert texts.count("Mean ± SD") == 2
    assert texts.count("Median") == (0 if median is None else 2)
    assert texts.count("–") == (0 if median is None else 1)


def test_the_study_s_own_labels_stand_in_place_of_names(qtbot: QtBot) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    line = MeanLine("s", "", "completion_rate", "%", "sinelines/ae", 6, 55.0, 7.0, None)
    labels = Labels({"completion_rate": "Questions solved", "sinelines/ae": "Our model"})
    view.show_results(Results(Path(), Path(), {}, (line,), (), {"s": labels}), "s")
    texts = [label.text() for label in view.findChildren(QLabel)]
    assert {"Questions solved", "Our model"} <= set(texts)
    view.show_results(Results(Path(), Path(), {}, (line,), ()), "s")
    assert "sinelines/ae" in [label.text() for label in view.findChildren(QLabel)]


def test_figures_are_one_click_away(qtbot: QtBot, tmp_path: Path) -> None:
    page = ResearcherPage(theme.LIGHT)
    qtbot.addWidget(page)
    numbers, figures = page.tabs
    assert not figures.isEnabled()
    picture = QPixmap(40, 20)
    picture.fill()
    assert picture.save(str(tmp_path / "a.png"))
    drawn = Results(tmp_path, tmp_path, {}, (), (tmp_path / "a.png",) * 13)
    page.set_results(drawn, "s", "")
    figures.click()
    assert page.pages.currentWidget() is page.figures
    assert len(page.figures.findChildren(Picture)) == MOST_FIGURES
    page.set_results(replace(drawn, figures=drawn.figures[:1]), "s", "")
    assert page.pages.currentWidget() is page.figures, "as it was"
    page.set_results(replace(drawn, figures=()), "s", "")
    assert (numbers.isChecked(), figures.isEnabled()) == (True, False)
    assert page.pages.currentWidget() is page.results


def test_where_nothing_opens_a_report_its_place_is_told(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job.QDesktopServices, "openUrl", lambda url: False)
    monkeypatch.setattr(job.shutil, "which", lambda name: None)
    told: list[str] = []
    path = tmp_path / "a.png"
    picture = Picture(path)
    qtbot.addWidget(picture)
    picture.unopened.connect(told.append)
    qtbot.keyClick(picture, Qt.Key.Key_Return)
    assert told == [
        f"No program on this computer can open this kind of file. The file is at {path}"
    ]


def test_every_unit_of_a_metric_that_has_words_is_translated() -> None:
    metrics = (*METRICS, *SINGLE_METRICS, *SCORE_METRICS)
    assert {one.unit for one in metrics if re.search("[a-z]", one.unit)} <= set(UNITS)


def test_results_come_by_themselves_and_are_those_of_the_command(
    researcher: Researcher, data: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    page = researcher.page
    researcher.set_sessions(list_sessions(data))
    assert page.count.text() == "2 sessions"
    assert not page.report.isEnabled()
    researcher.set_shown(True)
    assert page.analyse.text() == "Stop"
    qtbot.waitUntil(page.report.isEnabled, timeout=PATIENCE_MS)
    assert page.count.text() == "2 sessions, 2 count"
    assert page.state.text().startswith("As of ")
    kept = tmp_path / "kept"
    page.keep_in(kept)
    results = read_results(kept)
    assert results.report.is_file()
    counted = load(data / "quickstart").included()
    people = counted.participants
    assert {key[1]: one.deviations for key, one in results.quality.items()} == dict(
        zip(people["participant"], people["n_deviations"], strict=True)
    )
    means = {(one.quantity, one.of): one for one in results.lines}
    for model, some in counted.stages.groupby("model"):
        found = means["response_time_s", str(model)]
        assert found.n == 2
        assert found.mean == pytest.approx(float(some["response_time_s"].mean()))
    assert {path.suffix for path in results.figures} == {".png"}
    assert results.figures[0].stem == "quickstart-reconstruction-metrics", "as in the report"
    titles = [label.text() for label in page.results.findChildren(QLabel)]
    assert "Response time" in titles
    page.keep_in(kept)
    assert "already exists" in page.state.text()
    assert results == read_results(kept)
    page.formats["sav"].click()
    page.formats["xlsx"].click()
    page.keep_in(tmp_path / "with-data")
    assert not page.keep.isEnabled()
    assert str(tmp_path / "with-data") in page.state.text()
    qtbot.waitUntil(page.keep.isEnabled, timeout=PATIENCE_MS)
    files = {path.name for path in (tmp_path / "with-data").iterdir()}
    assert {"data.xlsx", "long.sav", "wide.sav", "variables.csv", "report.html"} <= files
    assert "wide.dta" not in files
    page.keep_in(kept)
    qtbot.waitUntil(page.keep.isEnabled, timeout=PATIENCE_MS)
    assert "contains an earlier analysis" in page.state.text()


def test_the_window_offers_every_program_that_the_command_writes_for() -> None:
    assert DATA_FORMATS == FORMATS


def test_words_and_boxes_of_a_line_have_their_middles_on_one_height(qtbot: QtBot) -> None:
    page = ResearcherPage(theme.LIGHT)
    qtbot.addWidget(page)
    page.setStyleSheet(stylesheet(theme.LIGHT))
    page.resize(900, 700)
    page.show()
    (words,) = (
        each for each in page.findChildren(QLabel) if each.text() == tr("results.data_files")
    )
    places = [each.geometry() for each in (words, *page.formats.values())]
    assert len({place.height() for place in places}) > 1
    assert max(abs(place.center().y() - places[0].center().y()) for place in places) <= 1


def test_a_button_with_two_texts_keeps_its_width(qtbot: QtBot) -> None:
    page = ResearcherPage(theme.LIGHT)
    qtbot.addWidget(page)
    page.setStyleSheet(stylesheet(theme.LIGHT))
    widths = []
    for analysing in (True, False):
        page.set_busy(analysing=analysing, working=False, can=True)
        widths.append(page.analyse.sizeHint().width())
    assert widths[0] == widths[1]


def test_what_is_ticked_goes_with_the_copy(qtbot: QtBot, tmp_path: Path) -> None:
    page = ResearcherPage(theme.LIGHT)
    qtbot.addWidget(page)
    wanted: list[CopyRequest] = []
    page.keep_requested.connect(wanted.append)
    page.keep_in(tmp_path)
    qtbot.keyClick(page.formats["sav"], Qt.Key.Key_Space)
    page.keep_in(tmp_path)
    assert wanted == [CopyRequest(tmp_path), CopyRequest(tmp_path, ("sav",))]


def test_a_phase_or_tag_is_chosen_and_phases_are_never_mixed_unasked(
    researcher: Researcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(Job, "start", lambda job, arguments: started.append(arguments))
    page = researcher.page
    researcher.set_sessions([line()])
    assert page.only.isHidden()
    researcher.set_sessions(
        [
            line(id="a", path=Path("a"), phase="main", tags=("glasses",)),
            line(id="b", path=Path("b"), phase="main"),
            line(id="c", path=Path("c"), phase="trial", tags=("glasses",)),
        ]
    )
    assert not page.only.isHidden()
    options = [page.only.itemText(at) for at in range(page.only.count())]
    assert options == ["All sessions", "Tag glasses", "Phase main", "Phase trial"]
    assert page.only.currentText() == "Phase main", "the newest, and the page says so"
    expected = [(["a", "b"], "--only main"), (["a", "c"], "--only glasses"),
                (["a", "b", "c"], "--only main --only trial")]  # fmt: skip
    for chosen, (paths, words) in zip(("", "Tag glasses", "All sessions"), expected, strict=True):
        if chosen:
            at = options.index(chosen)
            page.only.setCurrentIndex(at)
            page.only.activated.emit(at)
            assert page.only.currentText() == chosen
        assert [each.id for each in page.sessions.lines] == paths, (
            "the list is of the same sessions"
        )
        assert page.count.text().startswith(f"{len(paths)} session")
        assert [str(path) for path in page.chosen()] == paths, "they are verified and exported"
        page.analyse.click()
        assert started[-1][1 : 1 + len(paths)] == paths
        assert " ".join(started[-1][3 + len(paths) :]) == words


def test_without_sessions_there_is_nothing_to_do(researcher: Researcher) -> None:
    researcher.set_sessions([])
    page = researcher.page
    assert page.count.text() == "No sessions yet."
    assert not any(one.isEnabled() for one in (page.analyse, page.verify, page.export, page.keep))


def test_an_analysis_that_fails_takes_no_results_away(
    researcher: Researcher, data: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    page = researcher.page
    own = tmp_path / "data"
    shutil.copytree(data, own)
    researcher.set_sessions(list_sessions(own))
    researcher.set_shown(True)
    qtbot.waitUntil(page.report.isEnabled, timeout=PATIENCE_MS)
    journal = list_sessions(own)[0].path / JOURNAL
    journal.write_bytes(journal.read_bytes()[:4096])
    researcher.set_sessions([replace(one, events=1) for one in page.sessions.lines])
    assert page.analyse.text() == "Stop"
    qtbot.waitUntil(lambda: page.analyse.text() == "Analyse", timeout=PATIENCE_MS)
    assert "journal.sqlite" in page.state.text()
    assert "Nothing was changed" not in page.state.text(), "what the command said, and no more"
    assert page.state.property("tone") == "warn"
    assert page.report.isEnabled()
    assert page.count.text() == "2 sessions, 2 count"


def test_a_stopped_analysis_does_not_begin_again_by_itself(
    researcher: Researcher, few: Path
) -> None:
    researcher.set_sessions(list_sessions(few))
    researcher.set_shown(True)
    researcher.page.analyse.click()
    researcher.set_sessions(list_sessions(few))
    assert researcher.page.analyse.text() == "Analyse"
    assert researcher.page.state.text() == "Stopped."


def test_a_session_that_starts_ends_what_is_computed(researcher: Researcher, few: Path) -> None:
    researcher.set_sessions(list_sessions(few))
    researcher.set_shown(True)
    researcher.stop()
    researcher.set_sessions(list_sessions(few))
    assert researcher.page.analyse.text() == "Analyse"


def test_the_chosen_session_is_verified_and_exported(
    researcher: Researcher, data: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    page = researcher.page
    researcher.set_sessions(list_sessions(data))
    page.sessions.selectionModel().select(
        page.sessions.model().index(1, 0),
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    assert page.verify.text() == "Verify 1"
    page.verify.click()
    qtbot.waitUntil(lambda: "unchanged" in page.about.text(), timeout=PATIENCE_MS)
    out = tmp_path / "bundle"
    page.zipped.setChecked(True)
    page.export_to(out)
    assert not page.export.isEnabled()
    bundle = tmp_path / "bundle.zip"
    qtbot.waitUntil(lambda: page.about.text() == f"Exported to {bundle}", timeout=PATIENCE_MS)
    assert verify(bundle).ok
    assert list(load(bundle).participants["participant"]) == [page.sessions.lines[1].participant]
    page.export_to(bundle)
    qtbot.waitUntil(lambda: page.about.property("tone") == "alarm", timeout=PATIENCE_MS)
    assert "bundle.zip" in page.about.text()


def test_what_is_damaged_is_left_out_and_told(
    researcher: Researcher, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "data" / "quickstart" / "sub-P03_ses-1_20260102T030405Z"
    folder.mkdir(parents=True)
    (folder / JOURNAL).write_bytes(b"no journal")
    researcher.set_sessions(list_sessions(tmp_path / "data"))
    assert researcher.page.chosen() == []
    researcher.set_shown(True)
    assert researcher.page.analyse.text() == "Analyse", "there is nothing to analyse"
    researcher.verify([folder])
    qtbot.waitUntil(lambda: researcher.page.about.property("tone") == "alarm", timeout=PATIENCE_MS)
    assert folder.name in researcher.page.about.text()


def test_nothing_selected_exports_what_stands_still_and_was_not_withdrawn(
    researcher: Researcher,
) -> None:
    whole = line(path=Path("a"))
    others = (line(path=Path("b"), state="running"), line(path=Path("c"), withdrawn="keep"))
    researcher.set_sessions([whole, *others])
    asked: list[ExportRequest] = []
    researcher.page.export_requested.disconnect()
    researcher.page.export_requested.connect(asked.append)
    researcher.page.export_to(Path("out"))
    assert [one.sessions for one in asked] == [(Path("a"),)]


def test_an_export_begins_deidentified_and_without_sound(
    researcher: Researcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, asked = researcher.page, []
    researcher.set_sessions([line(path=Path("a"))])
    monkeypatch.setattr(researcher, "_do", lambda arguments, *_: asked.append(arguments[4:]))
    assert page.deidentify.isChecked()
    assert not page.audio.isChecked()
    page.export_to(Path("out"))
    page.audio.setChecked(True)
    assert page.about.property("tone") == "warn"
    page.export_to(Path("out"))
    page.audio.setChecked(False)
    page.deidentify.setChecked(False)
    assert not page.audio.isChecked(), "sound is a choice of its own"
    page.export_to(Path("out"))
    page.flac.setChecked(True)
    assert not page.flac.isEnabled(), "an export without sound has no format of it"
    page.export_to(Path("out"))
    page.audio.setChecked(True)
    page.export_to(Path("out"))
    page.flac.setChecked(False)
    page.export_to(Path("out"))
    assert asked == [
        ["--deidentify"],
        ["--deidentify", "--with-audio"],
        *[["--no-audio"]] * 2,
        ["--sound", "flac"],
        [],
    ]


def test_a_failed_command_says_why(qtbot: QtBot) -> None:
    job, said = Job(), []
    job.ended.connect(said.append)
    job.start(["replay", "/no/such/session", "--at", "1:00", "--still", "/no/such/picture.png"])
    qtbot.waitUntil(lambda: bool(said), timeout=PATIENCE_MS)
    assert isinstance(said[0], Ended)
    assert said[0].status == 2
    assert "/no/such/session" in said[0].error
    assert not job.running
    job.deleteLater()


def test_means_name_the_method_the_mask_and_every_level_of_the_design(tmp_path: Path) -> None:
    (tmp_path / "participants.csv").write_text("study\n", encoding="utf-8")
    (tmp_path / "masked_predictions.csv").write_text(
        "study,method,method_name\nfaces,lrp,LRP\nbirds,gradient,Slope\nfaces,gradient,Gradient\n",
        encoding="utf-8",
    )
    (tmp_path / "statistics.csv").write_text(
        "test,study,group,quantity,unit,levels,model,method,percent,n,mean,sd,median\n"
        "mean,faces,,reaction time,ms,,,gradient,5.0,20,757.5,,\n"
        "mean,birds,,reaction time,ms,,,gradient,,20,757.5,,\n"
        "mean,lines,,slide_distance,,,sinelines/ae,,,20,1.5,,\n"
        "mean,lines,,slide_distance,,hint=with; model=a/b,a/b,,,20,1.5,,\n"
        "mean,lines,,slide_distance,,zoom=2,,,,20,1.5,,\n"
        "mean,lines,,all,,,,,,20,1.5,,\n",
        encoding="utf-8",
    )
    of = [line.of for line in read_results(tmp_path).lines]
    assert of == [
        "Gradient, 5\N{NO-BREAK SPACE}%", "Slope", "sinelines/ae", "with, a/b", "zoom 2", "",
    ]  # fmt: skip


def test_labels_come_from_what_the_sessions_declare(tmp_path: Path, qtbot: QtBot) -> None:
    people = tmp_path / "participants.csv"
    head = (
        "study,participant,session,included,excluded_because,n_deviations,n_gaps,gap_s,sound_s,"
        "sound_lost_s,simulated,declared\n"
    )
    people.write_text(
        f'{head}lines,P01,1,True,,0,0,,,,True,"{{""labels"": {{""all"": ""Everything""}}}}"\n',
        "utf-8",
    )
    (tmp_path / "masked_predictions.csv").write_text("study,method,method_name\n", "utf-8")
    (tmp_path / "statistics.csv").write_text("test,study\n", "utf-8")
    assert read_results(tmp_path).labels["lines"].put("all") == "Everything"
    assert not read_results(tmp_path).relabelled
    columns, first = people.read_text("utf-8").splitlines()
    later = first.replace("P01", "P00").replace("Everything", "All of it")
    rows = [f"{first},2026-01-02", f"{later},2026-01-03", f"{later},2026-01-01"]
    people.write_text("\n".join([f"{columns},started_utc", *rows]), "utf-8")
    results = read_results(tmp_path)
    assert results.labels["lines"].put("all") == "All of it", "the newest session's"
    assert results.relabelled == {"lines"}
    view = ResultsView()
    qtbot.addWidget(view)
    mean = MeanLine("lines", "", "all", "%", "", 6, 55.0, 7.0, None)
    note = (
        "Different versions of this study use different labels. "
        "Those of the newest session are shown."
    )
    for relabelled, shown in ((results.relabelled, True), (frozenset(), False)):
        view.show_results(replace(results, lines=(mean,), relabelled=relabelled), "lines")
        assert (note in [label.text() for label in view.findChildren(QLabel)]) is shown
    people.write_text(f'{head}lines,P01,1,True,,0,0,,,,True,"{{""colours"": 1}}"\n', "utf-8")
    with pytest.raises(RecordError, match="cannot be read"):
        read_results(tmp_path)


def test_half_an_analysis_is_none(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_results(tmp_path)
