"""The language of a report: that of its studies, where there is a table of it."""

from __future__ import annotations

from pathlib import Path

from labapp import resources, translations
from labapp.analysis.tables import Tables
from labapp.report.language import ENGLISH, Translation

FILE = "report.yaml"
"""Beside the words for participants and moderators, in `texts/<language>`."""


def chosen(tables: Tables, asked: str | None) -> tuple[Translation | None, str]:
    """The language that is asked for, else that of the studies; and what is to be told of it, if
    it is not that.

    Raises SetupError for a table that cannot be used.
    """
    of_studies = sorted({str(name) for name in tables.participants["language"].dropna()})
    if asked is None and len(of_studies) != 1:
        told = (
            f"The studies are in several languages ({', '.join(of_studies)}): this is in English."
        )
        return None, told if of_studies else ""
    language = asked or of_studies[0]
    if language == ENGLISH:
        return None, ""
    path = table_of(language)
    if path is None:
        return None, (
            f"There are no words of the report in {language}: this is in English. There are: "
            f"{', '.join(available())}."
        )
    todo = f"Correct the file, or say --language {ENGLISH}."
    own = translations.load(path, "the report", todo)
    return Translation(language, {**_of_windows(language), **own}), ""


def _of_windows(language: str) -> dict[str, str]:
    """What the moderator's windows say too, such as the names of metrics: sentences without
    fields, by which nothing else can be meant."""
    path = resources.assets() / "texts" / language / "moderator.yaml"
    if not path.is_file():
        return {}
    todo = f"Correct the file, or say --language {ENGLISH}."
    words = translations.load(path, "the moderator's windows", todo)
    return {english: word for english, word in words.items() if not translations.fields(english)}


def table_of(language: str) -> Path | None:
    """The table of a language, where there is one."""
    path = resources.assets() / "texts" / language / FILE
    return path if path.is_file() else None


def available() -> list[str]:
    """The languages that reports can be in, English first."""
    return [
        ENGLISH,
        *sorted(path.parent.name for path in (resources.assets() / "texts").glob(f"*/{FILE}")),
    ]
