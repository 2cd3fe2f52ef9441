"""The language of a report: that of its studies, where there is a table of it."""

from __future__ import annotations

import json
from pathlib import Path

from labapp.analysis.tables import Tables
from labapp.base import messages, resources, translations
from labapp.base.errors import SetupError
from labapp.base.report import listing
from labapp.base.report.page import ENGLISH, Translation

FILE = "report.yaml"
"""Beside the words for participants and moderators, in `texts/<language>`."""

MISSING = "report-words.yaml"
"""In the folder of an analysis: the sentences for which a file of one's own has no words."""


def chosen(
    tables: Tables, asked: str | None, words: Path | None = None
) -> tuple[Translation | None, str]:
    """The language that is asked for, else that of the studies; and what is to be told of it, if
    it is not that. words: a table of one's own, whose words come before those that are shipped.

    Raises SetupError for a table that cannot be used, or that is of no certain language.
    """
    of_studies = sorted({str(name) for name in tables.participants["language"].dropna()})
    if words is not None:
        language = asked or (of_studies[0] if len(of_studies) == 1 else ENGLISH)
        if language == ENGLISH:
            raise SetupError(
                f"The words in {words} are of a language, but the report would be in English.",
                todo="Say which with --language, such as --language fr.",
            )
        return _translation(language, "Correct the file, or leave --words out.", words), ""
    if asked is None and len(of_studies) != 1:
        told = (
            f"The studies are in several languages ({', '.join(of_studies)}): this is in English."
        )
        return None, told if of_studies else ""
    language = asked or of_studies[0]
    if language == ENGLISH:
        return None, ""
    if table_of(language) is None:
        return None, (
            f"There are no words of the report in {language}: this is in English. There are: "
            f"{', '.join(available())}."
        )
    return _translation(language, f"Correct the file, or say --language {ENGLISH}."), ""


def _translation(language: str, todo: str, words: Path | None = None) -> Translation:
    """Later words come before earlier ones: of the windows, shipped, of one's own."""
    known, ids = _of_windows(language), listing.catalogue(ENGLISH)
    for path in (table_of(language), words):
        if path is not None:
            known |= translations.load(path, "the report", todo, ids)
    templates = {name: known.pop(name) for name in ids if name in known}
    listing.check(templates, todo)
    return Translation(language, known, templates)


def write_missing(translation: Translation, folder: Path) -> None:
    """Write the sentences that have no translation, each with an empty one, as a file for
    `--words`. Raises OSError."""
    lines = [
        "# What the report says in English. Fill in the words, put them into the file that",
        "# --words names, and analyse again. Numbers and names may stand in {braces}: see the",
        "# guide, Analysis and report.",
    ]
    for text in sorted(translation.missing):
        if english := listing.catalogue(ENGLISH).get(text):
            lines.append(f"# {english}")
        lines.append(f'{json.dumps(text, ensure_ascii=False)}: ""')
    (folder / MISSING).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of_windows(language: str) -> dict[str, str]:
    """What the moderator's windows say too, such as the names of metrics: sentences without
    fields, by which nothing else can be meant."""
    if language not in messages.available():
        return {}
    words = messages.catalogue(language).texts()
    return {
        english: words[key]
        for key, english in messages.catalogue(ENGLISH).texts().items()
        if key in words and not translations.fields(english)
    }


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
