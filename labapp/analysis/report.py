"""report.html: what the sessions show, in one page that can be printed and sent."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from labapp import __version__
from labapp.analysis import sections
from labapp.analysis.sources import Progress
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import Findings, TaskReport, left_out
from labapp.analysis.titles import study_title
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    definitions,
    heading,
    joined,
    links,
    navigation,
    page,
    paragraph,
)

DEFINITIONS = {
    "Time": (
        "All durations are working time: pauses by the moderator and gaps after a stop of the "
        "program are taken out."
    ),
    "Sessions that count": (
        "Each session decides at its end, by the rules of its study, whether it is included; one "
        "without that decision (unfinished, or recorded by an older labapp) is included if it was "
        "completed. Whoever withdrew, in the session or later, is not included. Retention is "
        "included / recruited sessions; who did not agree to take part was not recruited."
    ),
    "Questions that count": (
        "Every question of the stages, also those whose start and target agreed from the "
        "beginning (they are flagged). Not counted: practice, attempts that were interrupted or "
        "repeated, and a question cut off because the moderator skipped the stage."
    ),
    "Difficulty (SEQ)": (
        "The score `seq` of the questionnaire after the stage: of the shipped one the Single Ease "
        "Question, 1 very easy to 7 very difficult. Submitted answers only."
    ),
    "Scores of questionnaires": (
        "By the rules that each questionnaire declares, which the table of scales has item by "
        "item, from submitted answers only. A score with an answer missing is left out, unless "
        "the study says how many answers are enough."
    ),
    "Mean, sd, median": (
        "Over participants, one value each. sd is the sample standard deviation (n − 1 in the "
        "denominator)."
    ),
}
"""How the numbers of all tasks are defined, in the words that the report prints."""
_ONLY_WHERE: Mapping[str, Callable[[Tables], bool]] = {
    "Difficulty (SEQ)": lambda tables: bool(tables.stages["seq"].notna().any()),
    "Scores of questionnaires": lambda tables: not tables.scores.empty,
}
"""Where a definition defines something that stands on the page."""
IN_TITLE = 3
"""So many studies are named in the title; more are counted there and listed below it."""


def report(
    tables: Tables,
    made: datetime | None = None,
    progress: Progress | None = None,
    findings: Findings | None = None,
    remarks: Iterable[str] = (),
) -> str:
    """The page as text. made: the time printed on it (now, if not given); findings: what the
    sessions that count say, where that is known already; remarks: more of what the reader should
    know, beside those of the tables."""
    made = made or datetime.now(UTC)
    if findings is None:
        findings = Findings.find(tables.included())
    studies = [str(study) for study in sorted(tables.participants["study"].unique())]
    parts: list[Html] = []
    spoke: set[TaskReport[Any]] = set()
    for done, study in enumerate(studies):
        if progress is not None:
            progress(done / len(studies), f"report on {study}")
        of_study = sections.study(tables.of_study(study), study, f"s{done + 1}", findings, spoke)
        parts.extend(of_study)
    chapters: list[tuple[str, str]] = []
    for number, (each, results) in enumerate(findings.of.items(), start=1):
        anchor = f"all-{number}"
        chapter, contents = each.chapter(findings.counted, results, anchor)
        if chapter:
            spoke.add(each)
            chapters.append((anchor, chapter))
            parts.append(heading(2, chapter, anchor))
            parts.extend(contents)
    parts.append(heading(2, "How the numbers are defined", "definitions"))
    # Of what stands nowhere on the page, no definition helps.
    known = [
        item
        for item in DEFINITIONS.items()
        if (where := _ONLY_WHERE.get(item[0])) is None or where(tables)
    ]
    for each, results in findings.of.items():
        if each in spoke:
            known.extend(each.defined(findings.counted, results).items())
    parts.append(definitions(known))
    titles = [study_title(tables.participants, study) for study in studies]
    title = ", ".join(titles) if len(studies) <= IN_TITLE else f"{len(studies)} studies"
    title = f"Report: {title}"
    header = joined(_header(tables, title, titles, made, chapters, remarks))
    return page(title, header, joined(parts), _footer(tables))


def _header(
    tables: Tables,
    title: str,
    titles: list[str],
    made: datetime,
    chapters: list[tuple[str, str]],
    remarks: Iterable[str],
) -> Iterator[Html]:
    sessions = tables.participants
    people = sessions.groupby(["study", "participant"]).ngroups
    yield heading(1, title)
    yield paragraph(
        f"{count(len(sessions), 'session')} of {count(people, 'participant')}, "
        f"written {made:%Y-%m-%d %H:%M} UTC.",
        "quiet",
    )
    simulated = int(sessions["simulated"].sum())
    if simulated:
        yield paragraph(
            f"Simulated: {simulated} of {count(len(sessions), 'session')}. There a program took "
            "part, not a person.",
            "note",
        )
    for remark in (*remarks, *tables.remarks, *left_out()):
        yield paragraph(remark, "note")
    targets = [(f"s{at}", Verbatim(title)) for at, title in enumerate(titles, start=1)]
    if len(titles) > IN_TITLE:
        # In print there is no navigation, and the page is to say what it is of.
        yield paragraph(links(targets, ", "), "quiet")
        targets = []
    yield navigation([*targets, *chapters, ("definitions", "How the numbers are defined")])


def _footer(tables: Tables) -> Html:
    packages = ", ".join(
        f"{name} {version(name)}"
        for name in ("numpy", "pandas", "scipy", "statsmodels", "matplotlib", "pyarrow")
    )
    told = tables.participants["app_versions"].dropna()
    recorded = sorted({part for some in told for part in str(some).split(", ") if part})
    return paragraph(
        f"Analysed with labapp {__version__} (Python {platform.python_version()}, {packages}). "
        f"Recorded with labapp {', '.join(recorded) or 'of unknown version'}.",
        "quiet",
    )
