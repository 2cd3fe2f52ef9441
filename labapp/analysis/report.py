"""report.html: what the sessions show, in one page that can be printed and sent."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version

from labapp import __version__
from labapp.analysis import sections
from labapp.analysis.definitions import DEFINITIONS
from labapp.analysis.findings import Findings, findings
from labapp.analysis.formats import count
from labapp.analysis.judging import sections as judging_sections
from labapp.analysis.page import Html, definitions, heading, page, paragraph, text
from labapp.analysis.sources import Progress
from labapp.analysis.tables import Tables

JUDGED = "judged"
"""Id of the section on all studies of judged explanations."""
IN_TITLE = 3
"""So many studies are named in the title; more are counted there and listed below it."""


def report(
    tables: Tables,
    made: datetime | None = None,
    progress: Progress | None = None,
    found: Findings | None = None,
) -> str:
    """The page as text. made: the time printed on it (now, if not given); found: what the sessions
    that count say, where that is known already."""
    made = made or datetime.now(UTC)
    counted = tables.included()
    found = findings(counted) if found is None else found
    studies = [str(study) for study in sorted(tables.participants["study"].unique())]
    parts: list[str] = []
    for done, study in enumerate(studies):
        if progress is not None:
            progress(done / len(studies), f"report on {study}")
        parts.extend(sections.study(tables.of_study(study), study, f"s{done + 1}", found))
    parts.extend(judging_sections.together(counted, found.judged, JUDGED))
    parts.append(heading(2, "How the numbers are defined", "definitions"))
    parts.append(definitions(DEFINITIONS.items()))
    title = ", ".join(studies) if len(studies) <= IN_TITLE else f"{len(studies)} studies"
    title = f"Report: {title}"
    header = "".join(_header(tables, title, studies, made, judged=bool(found.judged.groups)))
    return page(title, header, "".join(parts), _footer(tables))


def _header(
    tables: Tables, title: str, studies: list[str], made: datetime, *, judged: bool
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
    for remark in tables.remarks:
        yield paragraph(remark, "note")
    links = [f'<a href="#s{n}">{text(study)}</a>' for n, study in enumerate(studies, start=1)]
    if len(studies) > IN_TITLE:
        # In print there is no navigation, and the page is to say what it is of.
        yield paragraph(Html(", ".join(links)), "quiet")
        links = []
    if judged:
        links.append(f'<a href="#{JUDGED}">Judged explanations, all studies</a>')
    links.append('<a href="#definitions">How the numbers are defined</a>')
    yield Html(f"<nav>{''.join(links)}</nav>\n")


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
