"""Files beside the report: the sheet for raters, and the tables as a page of their own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from labapp import __version__
from labapp.report.page import heading, joined, page, paragraph
from labapp.tasks.reconstruction.report.labels.results import Found
from labapp.tasks.reconstruction.report.labels.sections import of_study
from labapp.tasks.reconstruction.report.labels.sheet import HELP, INSTRUCTIONS, SHEET

PAGE = "label_tables.html"
NAMES = (SHEET, HELP, PAGE)
"""Every file that `write` makes."""


def write(result: Found, out: Path, made: datetime | None = None) -> list[Path]:
    """The files, where any dial was named. Nothing is overwritten; raises OSError."""
    if result.sheet is None:
        return []
    contents = {
        SHEET: result.sheet.text(),
        HELP: INSTRUCTIONS.format(sheet=SHEET),
        PAGE: tables_page(result, made or datetime.now(UTC)),
    }
    for name, content in contents.items():
        with (out / name).open("x", encoding="utf-8", newline="") as file:
            file.write(content)
    return [out / name for name in contents]


def tables_page(result: Found, made: datetime) -> str:
    """The tables of names alone, to be copied or printed."""
    studies = result.studies
    title = f"Names given to dials: {', '.join(studies)}"
    when = paragraph(f"Written {made:%Y-%m-%d %H:%M} UTC.", "quiet")
    header = joined([heading(1, title), when])
    body = joined(
        part
        for study in studies
        for part in (heading(2, f"Study {study}"), *of_study(study, result))
    )
    footer = paragraph(f"Analysed with labapp {__version__}.", "quiet")
    return page(title, header, body, footer)
