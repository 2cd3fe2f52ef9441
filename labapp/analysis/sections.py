"""The sections of the report on one study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labapp.analysis.attention import attention
from labapp.analysis.by_task import without_sections
from labapp.analysis.coding_section import coding_section
from labapp.analysis.design.summary import summary
from labapp.analysis.deviations import MEANINGS
from labapp.analysis.item_sections import item_sections
from labapp.analysis.methods import methods
from labapp.analysis.notes_section import notes_section
from labapp.analysis.questionnaire_sections import questionnaires
from labapp.analysis.recruitment import recruitment
from labapp.analysis.registration_section import registration_section
from labapp.analysis.retention import retention
from labapp.analysis.session_totals import true_date
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import (
    Findings,
    Profile,
    ReportedStudy,
    TaskReport,
    default_analyses,
)
from labapp.analysis.titles import study_title
from labapp.naming import natural
from labapp.report.formats import clock, count, decimal
from labapp.report.listing import NONE, limited, records
from labapp.report.page import Html, details, heading, lines, paragraph, table, two_lines

LOST = 0.01
"""A session that lost more than this share of its sound is counted as such."""


def study(
    tables: Tables, name: str, anchor: str, findings: Findings, spoke: set[TaskReport[Any]]
) -> Iterator[Html]:
    """Everything about one study; tables: its rows; anchor: prefix of the page's ids; findings:
    what the sessions of all studies say that count; spoke: gets the reports that say something."""
    own = tables.participants
    about = ReportedStudy(name, anchor, tables, tables.included())
    yield heading(2, f"Study {study_title(own, name)}", anchor)
    versions = sorted({str(number) for number in own["study_version"].dropna()})
    files = sorted({str(sha)[:12] for sha in own["study_sha256"]})
    yield paragraph(
        f"{'Version' if len(versions) == 1 else 'Versions'} {', '.join(versions)} of the file of "
        f"{name} (SHA-256 {', '.join(f'{sha}…' for sha in files)}). "
        f"Completed: {int(own['complete'].sum())} of {count(len(own), 'session')}."
    )
    analyses = findings.of.get(default_analyses())
    results = None if analyses is None else analyses.studies.get(name)
    targets = {
        f"{anchor}-analyses": "Analyses by the design",
        f"{anchor}-who": "Who counts",
        f"{anchor}-quality": "Deviations and data quality",
        f"{anchor}-sessions": "Sessions",
    }
    if results is None or not results.analyses:
        del targets[f"{anchor}-analyses"]
    yield from summary(own, results, targets)
    yield heading(3, "Methods, as the sessions tell them")
    yield paragraph(methods(about, findings))
    if about.counted.stages.empty and not tables.stages.empty:
        yield paragraph("No session counts, so there are no metrics here.")
    # What is asked comes first: the analyses by the design, a published study's, then each task's.
    for report, own_findings in sorted(findings.of.items(), key=_rank):
        for part in report.sections(about, own_findings):
            spoke.add(report)
            yield part
    yield from without_sections(about)
    yield from registration_section(findings.registrations, name, own, results, tables.cards)
    yield from questionnaires(about.counted, anchor)
    scales = () if analyses is None else analyses.scales.get(name, ())
    yield from item_sections(about.counted, scales, anchor)
    yield from coding_section(about.counted, name, anchor)
    yield from notes_section(tables.notes, len(own))
    yield from attention(tables.answers)
    yield from retention(own, name, anchor, tables.withdrawn)
    yield from recruitment(tables)
    yield heading(3, "Deviations and data quality", f"{anchor}-quality")
    yield quality(own)
    yield from deviations(tables.deviations, len(own))
    yield heading(3, "Sessions", f"{anchor}-sessions")
    yield sessions(own)


def _rank(of: tuple[TaskReport[Any], Any]) -> int:
    report, _ = of
    if report is default_analyses():
        return 0
    return 1 if isinstance(report, Profile) else 2


def _began(utc: str) -> str:
    return f"{utc[:10] if true_date(utc) else 'date moved,'} {utc[11:16]}"


def sessions(participants: pd.DataFrame) -> Html:
    """Who took part, in which order, and what was recorded."""
    rows = [
        (
            row["participant"],
            row["session"],
            _began(row["started_utc"]),
            lines(row["models"].split(", ")),
            _outcome(row),
            clock(row["duration_s"]),
            f"{row['n_pauses']} ({clock(row['paused_s'])})" if row["n_pauses"] else "none",
            f"{row['n_gaps']} ({clock(row['gap_s'])})" if row["n_gaps"] else "none",
            _sound(row),
            row["n_deviations"],
        )
        for row in records(_naturally_sorted(participants))
    ]
    names = (
        "Participant",
        "Session",
        "Began, UTC",
        "Models in order",
        "Outcome",
        two_lines("Working time", "min:s"),
        two_lines("Pauses", "number (min:s)"),
        two_lines("Interruptions", "number (min:s)"),
        two_lines("Sound", "min:s"),
        "Deviations",
    )
    listed = limited(names, rows, numeric=(5, 6, 7, 9), most=None)
    return details(f"The list of {count(len(rows), 'session')}", listed)


def _naturally_sorted(rows: pd.DataFrame) -> pd.DataFrame:
    """By participant and session."""
    keys = [
        (natural(who), natural(session))
        for who, session in zip(rows["participant"], rows["session"], strict=True)
    ]
    return rows.iloc[sorted(range(len(keys)), key=keys.__getitem__)]


def _outcome(row: dict[str, Any]) -> object:
    text = row["outcome"].replace("_", " ")
    why = row["excluded_because"]
    facts = (row["ended_reason"], why and f"not included: {why}", row["simulated"] and "simulated")
    more = "; ".join(fact for fact in facts if fact)
    return two_lines(text, more) if more else text


def _sound(row: dict[str, Any]) -> object:
    if row["sound_s"] <= 0:
        why = row["no_sound_because"]
        return two_lines("none", why) if why else "none"
    lost = row["sound_lost_s"]
    return two_lines(clock(row["sound_s"]), f"{lost:.1f} s lost" if lost else "nothing lost")


def deviations(frame: pd.DataFrame, n_sessions: int) -> Iterator[Html]:
    """How often each kind happened, and every single one."""
    if frame.empty:
        yield paragraph("No deviation was recorded.")
        return
    counted = []
    for kind, some in frame.groupby("kind"):
        seconds = float(some["duration_s"].sum())
        where = some.groupby(["participant", "session"]).ngroups
        name = two_lines(str(kind).replace("_", " "), MEANINGS[str(kind)])
        counted.append((name, len(some), where, decimal(seconds, 1) if seconds else NONE))
    counted.sort(key=lambda row: -row[1])
    yield table(
        ("Kind", "Times", two_lines("Sessions", f"of {n_sessions}"), two_lines("Together", "s")),
        counted,
        numeric=(1, 2, 3),
    )
    yield limited(
        (
            "Participant",
            "Session",
            two_lines("At", "min:s of session time"),
            "Part",
            "Question",
            "Kind",
            two_lines("Lasted", "s"),
            "Detail",
        ),
        [
            (
                row["participant"],
                row["session"],
                clock(row["session_s"]),
                row["stage"] or NONE,
                row["trial"] or NONE,
                row["kind"].replace("_", " "),
                NONE if row["duration_s"] is None else decimal(row["duration_s"], 1),
                row["detail"] or "",
            )
            for row in records(_naturally_sorted(frame))
        ],
        numeric=(2, 4, 6),
    )


def quality(participants: pd.DataFrame) -> Html:
    """How many sessions each thing befell, and how much of them in all."""
    n = len(participants)
    sound = participants[participants["sound_s"] > 0]
    lost = sound[sound["sound_lost_s"] > 0]
    much = sound[sound["sound_lost_s"] > LOST * sound["sound_s"]]
    gaps = participants[participants["n_gaps"] > 0]
    pauses = participants[participants["n_pauses"] > 0]
    unfocused = participants[participants["focus_losses"] > 0]
    rows = [
        ("Completed", int(participants["complete"].sum()), ""),
        ("Sound recorded", len(sound), _time(sound["sound_s"])),
        ("Sound lost, filled with silence", len(lost), _seconds(lost["sound_lost_s"])),
        (f"More than {100 * LOST:.0f} % of the sound lost", len(much), ""),
        (
            "Interrupted (the program stopped) and resumed",
            len(gaps),
            f"{count(int(gaps['n_gaps'].sum()), 'time')}, {_time(gaps['gap_s'])}",
        ),
        (
            "Paused by the moderator",
            len(pauses),
            f"{count(int(pauses['n_pauses'].sum()), 'time')}, {_time(pauses['paused_s'])}",
        ),
        (
            "The participant's window lost the focus",
            len(unfocused),
            count(int(unfocused["focus_losses"].sum()), "time"),
        ),
        ("De-identified copies", int(participants["deidentified"].sum()), ""),
    ]
    return table(
        ("Data quality", two_lines("Sessions", f"of {n}"), two_lines("Together", "min:s")),
        [(what, some, together if some else "") for what, some, together in rows],
        numeric=(1, 2),
    )


def _time(seconds: pd.Series[float]) -> str:
    return clock(float(seconds.sum()))


def _seconds(seconds: pd.Series[float]) -> str:
    return f"{decimal(float(seconds.sum()), 1)} s"
