"""A paragraph on methods, to be taken into a paper: what was done, with whom, with which versions.

Every sentence is of what the sessions say of themselves; what they do not say (who was asked, why)
is for the authors to add.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version

import pandas as pd

from labapp import __version__
from labapp.analysis.declared import declared_of
from labapp.analysis.people import people_of
from labapp.analysis.session_totals import true_date
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import Findings, ReportedStudy, TaskReport, reports
from labapp.analysis.titles import questionnaire_name, study_title
from labapp.report.formats import clock, count
from labapp.report.listing import records
from labapp.study.design import Design

USED = ("numpy", "scipy", "statsmodels", "scikit-learn", "pandas", "matplotlib")
"""Packages whose versions a reader may need to get the same numbers."""


def methods(study: ReportedStudy, findings: Findings) -> str:
    """The paragraph on one study; findings: what the sessions that count say."""
    tables = study.tables
    sentences = [
        *_sample(tables, study_title(tables.participants, study.name)),
        *_replicated(tables),
        *_factors(declared_of(tables, study.name).design),
        *_tasks(tables),
        *_questionnaires(tables),
        *_recording(tables),
        *(
            sentence
            for report, results in findings.of.items()
            for sentence in report.methods(study, results)
        ),
        _software(),
    ]
    return " ".join(sentences)


def _sample(tables: Tables, study: str) -> Iterator[str]:
    sessions = tables.participants
    recruited = sessions[sessions["outcome"] != "declined"]
    versions = sorted({str(version) for version in sessions["study_version"].dropna()})
    word = "version" if len(versions) == 1 else "versions"
    everybody = [
        person
        for person in people_of(records(sessions), tables.withdrawn)
        if person.state != "declined"
    ]
    counting = sum(person.state == "included" for person in everybody)
    yield (
        f"In the study “{study}” ({word} {', '.join(versions)} of its file) "
        f"{count(len(everybody), 'participant')} took part in "
        f"{count(len(recruited) + len(tables.withdrawn), 'session')}; {counting} count."
    )
    simulated = int(sessions["simulated"].sum())
    if simulated:
        yield (
            f"Simulated, with programs and not people taking part: {simulated} of "
            f"{count(len(sessions), 'session')}."
        )
    if counting < len(everybody):
        yield "Under “Who counts” stands why the others do not."
    times = [str(time) for time in recruited["started_utc"].dropna()]
    days = sorted({time[:10] for time in times if true_date(time)})
    if days:
        when = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
        yield f"Sessions were held {when} (UTC)."
    if moved := sum(not true_date(time) for time in times):
        yield (
            f"Of {count(moved, 'session')} the day is not known: de-identified copies were read, "
            "in which every date is moved."
        )


def _replicated(tables: Tables) -> Iterator[str]:
    """Which published study this one repeats, and that it was run in another way."""
    names = ["replicates_paper", "replicates_study", "replicates_run"]
    for paper, study, run in tables.participants[names].dropna().drop_duplicates().to_numpy():
        yield f"It repeats the study {study} of paper {paper}."
        if run == "crowd":
            yield (
                "That was a crowd study: people took part on their own, over the internet. Here "
                "they took part in a lab, one at a time, with a moderator."
            )


def _tasks(tables: Tables) -> Iterator[str]:
    stages = tables.stages
    known = {task: report for report in reports() for task in report.activities}
    for task, some in stages.groupby("task", sort=True):
        asked = sorted({int(n) for n in some["n_planned"].dropna()})
        models = sorted({str(model) for model in some["model"]})
        shown = "–".join(str(n) for n in dict.fromkeys((asked[0], asked[-1]))) if asked else "no"
        questions = "1 question" if shown == "1" else f"{shown} questions"
        report = known.get(str(task), TaskReport())
        activity = report.activities.get(str(task), f"did the task {task}")
        trials = tables.trials[(tables.trials["task"] == task) & (tables.trials["role"] == "stage")]
        yield (
            f"Participants {activity} ({questions} a stage; {', '.join(models)})"
            f"{report.asked(trials)}."
        )
    per = stages.groupby(["study", "participant", "session"])["stage_number"].nunique()
    if not per.empty and per.max() > 1:
        orders = tables.participants["models"].nunique()
        yield (
            f"Each session had up to {per.max()} stages, one after another, "
            f"in {count(int(orders), 'order')} of models over the sessions."
        )


def _factors(design: Design | None) -> Iterator[str]:
    """The declared factors, with their levels where these are no models or sessions."""
    if design is None:
        return
    for where, factors in (("between", design.between), ("within", design.within_levels)):
        if factors:
            named = (
                f"{factor} ({', '.join(map(str, levels))})" if levels else factor
                for factor, levels in factors.items()
            )
            yield f"Factors {where} participants: {', '.join(named)}."


def _questionnaires(tables: Tables) -> Iterator[str]:
    """What was asked, and how many items each has besides those that ask for attention."""
    asked = dict.fromkeys(tables.answers["instrument"].dropna().map(str))
    items = tables.items[tables.items["check"].isna()]
    counts = {name: items[items["instrument"] == name]["item"].nunique() for name in asked}
    named = [
        f"“{questionnaire_name(tables.items, name)}”{f' ({n})' if n else ''}"
        for name, n in counts.items()
    ]
    if named:
        yield f"Questionnaires, with their numbers of items: {', '.join(named)}."


def _recording(tables: Tables) -> Iterator[str]:
    sessions = tables.participants
    included = sessions[sessions["included"]]
    if not included.empty:
        yield (
            f"The sessions that count took {clock(float(included['duration_s'].median()))} "
            "(min:s) of working time in the median; pauses and interruptions are taken out of "
            "every duration."
        )
    presentations = sorted({str(session).replace("_", " ") for session in sessions["presentation"]})
    languages = sorted({str(session) for session in sessions["language"]})
    yield from _blinding(sessions)
    yield (
        f"Presentation: {', '.join(presentations)}; language of the texts: {', '.join(languages)}."
    )
    if sound := int((sessions["sound_s"] > 0).sum()):
        yield (
            f"Voice was recorded in {sound} of {count(len(sessions), 'session')}, on one clock "
            "with every action."
        )
    else:
        yield "No voice was recorded."
    told = sessions["app_versions"].dropna()
    recorded = sorted({part for some in told for part in str(some).split(", ") if part})
    if recorded:
        yield f"Recorded with labapp {', '.join(recorded)}."


def _blinding(sessions: pd.DataFrame) -> Iterator[str]:
    """Whether moderators knew what was on the screen; nobody moderates a simulated session without
    windows."""
    known = sessions[sessions["blind"].notna()]
    if not known.empty:
        blind = known[known["blind"]]
        lifted = int(blind["unblinded_s"].notna().sum())
        before = f", {lifted} of them until they were unblinded" if lifted else ""
        yield (
            "Moderators were blind to what the study compares in "
            f"{len(blind)} of {count(len(known), 'session')}{before}."
        )
    silent = int((sessions["blind"].isna() & ~sessions["simulated"]).sum())
    if silent:
        told = count(silent, "session")
        yield f"Whether the moderator was blind is not recorded for {told}."


def _software() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in USED)
    return f"Analysed with labapp {__version__} (Python {platform.python_version()}, {packages})."
