"""The list of questionnaires: what is shipped, with its terms, and what is only described."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from typer.testing import CliRunner

import labapp
from labapp.cli.main import app
from labapp.study.instruments.instrument import QUESTIONNAIRES
from labapp.study.instruments.listing import list_instruments

LICENCES = Path(labapp.__file__).parents[1] / "docs" / "guide" / "licences.md"


def test_every_shipped_questionnaire_has_source_terms_and_languages() -> None:
    rows = {row.id: row for row in list_instruments() if row.package}
    assert set(rows) == set(QUESTIONNAIRES)
    for row in rows.values():
        if row.id in QUESTIONNAIRES.shipped:
            assert row.title
            assert row.source
            assert row.terms
            assert {"en", "de"} <= set(row.languages), row.id
            assert row.items
    assert rows["sus"].items == 10


def test_the_page_of_licences_says_the_same() -> None:
    page = LICENCES.read_text(encoding="utf-8")
    names = re.findall(r"`([a-z*-]+)`", page)
    for row in list_instruments():
        assert row.terms in page, row.id
        if row.id in QUESTIONNAIRES.shipped:
            assert any(fnmatch(row.id, name) for name in names), row.id
        if not row.package:
            assert f"| {row.id} | {row.source} |" in page


def test_the_command_lists_both() -> None:
    out = CliRunner().invoke(app, ["studies", "instruments"]).output
    assert "sus  " in out
    assert "languages: de, en" in out
    assert "PANAS  Watson, Clark and Tellegen (1988): copyright" in out
