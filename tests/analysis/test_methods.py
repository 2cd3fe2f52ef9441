"""The paragraph on methods and the table of data quality say what the sessions say."""

from __future__ import annotations

import re
from dataclasses import replace

from labapp.analysis.rows import SessionRecords
from labapp.analysis.sections import methods, quality, sessions
from labapp.analysis.tables import Tables, tables_of
from labapp.analysis.task_report import Findings, ReportedStudy
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    SegmentStarted,
    SessionCompleted,
    SessionResumed,
)
from tests.analysis.sessions import paired, stage_row
from tests.helpers.journals import SessionBuilder


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
    assert "2 participants took part in 2 sessions; 1 count." in said
    assert "Under “Who counts” stands why the others do not." in said
    assert (
        "Participants reconstructed target pictures by turning dials (7 questions a stage; "
        "mnist8k/ss2)" in said
    )
    assert "Sessions were held on 2026-01-02 (UTC)." in said
    assert "took 1:02 (min:s) of working time in the median" in said
    assert "No voice was recorded." in said
    assert "simulated" not in said
    assert "Recorded with labapp 0.1.0." in said
    assert "statsmodels" in said


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
    assert "Of 1 session the day is not known" in said
    assert "1907" not in said
    assert "date moved, 07:08" in sessions(copy.participants)
    assert "1907" not in sessions(copy.participants)
