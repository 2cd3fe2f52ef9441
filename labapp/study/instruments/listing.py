"""The questionnaires that can be used, and those that are described and do not come with labapp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from labapp.base import resources
from labapp.base.documents import LARGEST, parse_yaml
from labapp.base.reading import files
from labapp.study.instruments.instrument import QUESTIONNAIRES, Instrument
from labapp.study.instruments.items import USUAL

TERMS = "instrument-terms.yaml"
"""In `assets`: terms of what is shipped, and what is only described."""


@dataclass(frozen=True)
class ListedInstrument:
    """A questionnaire.

    Attributes
    ----------
    id : as a study names it; of one that is only described its name.
    title, source, terms : in words; the terms are empty for those of other packages.
    languages : in which its words are there; none if it does not come with labapp.
    items : how many it has.
    package : which brings it; empty if it does not come with labapp.
    """

    id: str
    title: str
    source: str
    terms: str
    languages: tuple[str, ...] = ()
    items: int = 0
    package: str = ""


def list_instruments() -> list[ListedInstrument]:
    """Those that can be used, by id, then those that are only described. Raises StudyError for one
    of an installed package that cannot be read."""
    known = _read_terms()
    rows = []
    for name in sorted(QUESTIONNAIRES):
        path = QUESTIONNAIRES[name].file
        content = files.content(path, LARGEST)
        languages = _languages_of(parse_yaml(path, content).value)
        read = Instrument.parse(path, content, USUAL if USUAL in languages else languages[0])
        shipped = name in QUESTIONNAIRES.shipped
        terms = (words for stem, words in known["shipped"].items() if name.startswith(stem))
        rows.append(
            ListedInstrument(
                name,
                read.title,
                " ".join(read.source.split()),
                next(terms, "") if shipped else "",
                languages,
                len(read.items),
                QUESTIONNAIRES.package(name),
            )
        )
    described = (
        ListedInstrument(row["name"], "", row["source"], row["why"]) for row in known["elsewhere"]
    )
    return [*rows, *described]


@cache
def _read_terms() -> dict[str, Any]:
    path = resources.assets() / TERMS
    value: dict[str, Any] = parse_yaml(path, files.content(path)).value
    return value


def _languages_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The languages of its title, in which all of its words are; English where that is one text."""
    title = document.get("title")
    return tuple(sorted(map(str, title))) if isinstance(title, Mapping) else (USUAL,)
