"""`labapp deposit`: a folder for OSF, Zenodo or an institutional repository.

It is a de-identified Psych-DS dataset (`labapp.session.bids.psychds`) with what a repository asks
for: the licence, the creators, how to cite it. The folder is written by the mechanism of all
exports, so that what is withheld, who is left out, and the log of places with data are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import yaml

from labapp.base.errors import BundleError, UsageError
from labapp.base.report.page import count
from labapp.record.journal.flac import FLAC, WAV
from labapp.session.bids.export import ExportedSession, Exporter, Progress, export
from labapp.session.bids.folder import BundleFolder, json_text
from labapp.session.bids.psychds import (
    IGNORE,
    README,
    Contents,
    add_descriptions,
    aside,
    contents_of,
    participants_text,
    readme,
    summary,
)

BIDS_FOLDER = "bids"
LICENSE = "LICENSE.txt"
CITATION = "CITATION.cff"
ZENODO = ".zenodo.json"
"""What Zenodo takes as the metadata of a deposit (developers.zenodo.org, "Deposit metadata")."""

LICENSES = {
    "CC0-1.0": (
        "Creative Commons Zero 1.0 (public domain)",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    ),
    "CC-BY-4.0": (
        "Creative Commons Attribution 4.0 International",
        "https://creativecommons.org/licenses/by/4.0/",
    ),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "CC-BY-NC-4.0": (
        "Creative Commons Attribution-NonCommercial 4.0 International",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "CC-BY-NC-SA-4.0": (
        "Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    ),
    "ODC-By-1.0": (
        "Open Data Commons Attribution License 1.0",
        "https://opendatacommons.org/licenses/by/1-0/",
    ),
    "ODbL-1.0": (
        "Open Data Commons Open Database License 1.0",
        "https://opendatacommons.org/licenses/odbl/1-0/",
    ),
    "PDDL-1.0": (
        "Open Data Commons Public Domain Dedication and License 1.0",
        "https://opendatacommons.org/licenses/pddl/1-0/",
    ),
}
"""Names and addresses of licences for data, by their SPDX identifiers."""

_ORCID = re.compile(r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/[^\s\"<>]+)", re.IGNORECASE)
_NOTHING = "No deposit was made, and the sessions were not touched."


@dataclass(frozen=True, slots=True)
class Creator:
    """A person who made the data. orcid: with its hyphens; empty if none was given."""

    family: str
    given: str
    affiliation: str = ""
    orcid: str = ""

    @classmethod
    def parse(cls, text: str) -> Creator:
        """Read `Family, Given; Affiliation; ORCID`, of which the last two may be left out.

        Raises UsageError.
        """
        name, *others = [part.strip() for part in text.split(";")]
        family, comma, given = (part.strip() for part in name.partition(","))
        orcids = [match[1] for part in others if (match := _ORCID.fullmatch(part))]
        places = [part for part in others if part and not _ORCID.fullmatch(part)]
        why = ""
        if not (family and comma and given):
            why = "it does not have a family name and a given name separated by a comma"
        elif len(orcids) > 1 or len(places) > 1:
            why = "it contains more than a name, an affiliation and an ORCID iD"
        elif orcids and not _is_orcid(orcids[0]):
            why = f"the check digit of the ORCID iD {orcids[0]} is wrong"
        if why:
            raise UsageError(
                f"The creator {text!r} is not in the expected form: {why}.",
                safe=_NOTHING,
                todo='Write, for example: --creator "Curie, Marie; University of Paris; '
                '0000-0002-1825-0097" (the last two parts may be left out).',
            )
        return cls(family, given, "".join(places), "".join(orcids))


def _is_orcid(text: str) -> bool:
    """Whether the last character is the check digit of the others (ISO 7064, MOD 11-2)."""
    plain = text.replace("-", "")
    total = 0
    for digit in plain[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == plain[-1]


@dataclass(frozen=True)
class Metadata:
    """What people say of a deposit.

    Attributes
    ----------
    license : one of `LICENSES`.
    creators : in the order in which they are to be cited; at least one.
    title, description : empty for what follows from the study.
    keywords : for search engines.
    doi : of the dataset, if it is known already; without an address before it.
    """

    license: str
    creators: tuple[Creator, ...]
    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    doi: str = ""

    @classmethod
    def of(
        cls,
        license: str | None,  # noqa: A002 - the name of the option
        creators: Sequence[str],
        *,
        title: str = "",
        description: str = "",
        keywords: Sequence[str] = (),
        doi: str = "",
    ) -> Metadata:
        """From the words of a command line. Raises UsageError for what is missing or wrong."""
        known = {name.lower(): name for name in LICENSES}
        if license is None or license.strip().lower() not in known:
            named = (
                "No licence was given"
                if license is None
                else f"labapp knows no licence {license!r}"
            )
            raise UsageError(
                f"{named}, and labapp does not choose one for you.",
                safe=_NOTHING,
                todo=f"Use --license with one of: {', '.join(LICENSES)}. Ask your institution or "
                "your funder if you are not sure; CC0-1.0 and CC-BY-4.0 are common for data.",
            )
        if not creators:
            raise UsageError(
                "No creator was given, but a deposit is cited by its creators.",
                safe=_NOTHING,
                todo='Give each of them, in order: --creator "Curie, Marie; University of Paris"',
            )
        if doi and not (match := _DOI.fullmatch(doi.strip())):
            raise UsageError(
                f"{doi!r} is not a DOI.",
                safe=_NOTHING,
                todo="Write it as 10.5281/zenodo.1234567, or leave it out, since the "
                "repository assigns one.",
            )
        return cls(
            known[license.strip().lower()],
            tuple(map(Creator.parse, creators)),
            title.strip(),
            description.strip(),
            tuple(dict.fromkeys(word.strip() for word in keywords if word.strip())),
            match[1] if doi and match else "",
        )


class Deposit(Exporter):
    """The folder of a deposit. `contents` is what is in it, once it was written. metadata: what
    people say of it; bundle: whether the de-identified BIDS dataset is in it, too."""

    name = "deposit"
    sounds = (WAV, FLAC)

    def __init__(self, metadata: Metadata, *, bundle: bool = False) -> None:
        self.metadata = metadata
        self.bundle = bundle
        self.contents: Contents | None = None

    def write(
        self, sessions: Iterable[ExportedSession], folder: BundleFolder, *, audio: bool
    ) -> None:
        faceless = (replace(each, videos=()) for each in sessions)
        if self.bundle:
            place = BundleFolder(folder.root / BIDS_FOLDER)
            made = contents_of(faceless, folder, place, audio=audio)
        else:
            made = aside(faceless, folder)
        if made.pilot:
            raise BundleError(
                "These sessions are pilots, which are not part of the study.",
                safe=_NOTHING,
                todo="Deposit the sessions of the study.",
            )
        about, title = self.metadata, self.metadata.title or made.title
        description = about.description or summary(made)
        add_descriptions(folder, made, **_schema_org(about, title, description))
        more, sound = _sections(about, title), self._sound(audio)
        folder.add_text(README, readme(made, title, description, more=more, sound=sound))
        folder.add_text(LICENSE, _license_text(about, title))
        folder.add_text(CITATION, _cff(about, title, description))
        folder.add_text(ZENODO, json_text(_zenodo(about, title, description)))
        # What is for other programs, which Psych-DS need not look at.
        names = (IGNORE, CITATION, LICENSE, ZENODO, *([f"{BIDS_FOLDER}/"] if self.bundle else []))
        folder.add_text(IGNORE, "".join(f"{name}\n" for name in names))
        self.contents = made

    def _sound(self, audio: bool) -> str:
        if not self.bundle:
            return ""
        sound = "Sound and videos are not part of this dataset."
        if audio:
            sound = (
                "It has the sound of the sessions as FLAC, for participants who agreed to share "
                "it. A voice identifies the person who speaks. Videos are not part of this "
                "dataset."
            )
        return (
            f"`{BIDS_FOLDER}/` is the BIDS dataset from which the tables were made, with the "
            "journal of each session, event by event, and the study as it was used; its own "
            f"README describes it. `labapp analyze {BIDS_FOLDER}` creates all tables, statistics "
            f"and figures from it. {sound}"
        )


def _schema_org(about: Metadata, title: str, description: str) -> dict[str, Any]:
    """Properties of a schema.org Dataset."""
    return {
        "name": title,
        "description": description,
        "author": [
            {
                "@type": "Person",
                "name": f"{each.given} {each.family}",
                "givenName": each.given,
                "familyName": each.family,
                **(
                    {"affiliation": {"@type": "Organization", "name": each.affiliation}}
                    if each.affiliation
                    else {}
                ),
                **({"identifier": f"https://orcid.org/{each.orcid}"} if each.orcid else {}),
            }
            for each in about.creators
        ],
        "license": LICENSES[about.license][1],
        "citation": citation(about, title),
        **({"keywords": list(about.keywords)} if about.keywords else {}),
        **({"identifier": f"https://doi.org/{about.doi}"} if about.doi else {}),
    }


def citation(about: Metadata, title: str) -> str:
    """How the dataset is cited, without the year, which the repository gives."""
    names = [
        f"{each.family}, {' '.join(f'{part[0]}.' for part in each.given.split())}"
        for each in about.creators
    ]
    *first, last = names
    joined = f"{', '.join(first)}, & {last}" if first else last
    address = f" https://doi.org/{about.doi}" if about.doi else ""
    return f"{joined} {title} [Data set].{address}"


def _sections(about: Metadata, title: str) -> str:
    """The sections of the README that a deposit has."""
    name, url = LICENSES[about.license]
    creators = "\n".join(
        f"* {each.given} {each.family}"
        + (f", {each.affiliation}" if each.affiliation else "")
        + (f" (https://orcid.org/{each.orcid})" if each.orcid else "")
        for each in about.creators
    )
    return (
        f"## Creators\n\n{creators}\n\n"
        f"## How to cite\n\n{citation(about, title)}\n\n`{CITATION}` has the same for programs.\n\n"
        f"## Licence\n\nThe dataset is licensed under {name} ({about.license}): {url}"
    )


def _license_text(about: Metadata, title: str) -> str:
    name, url = LICENSES[about.license]
    return (
        f"The dataset “{title}” is licensed under\n{name}.\n\n"
        f"SPDX-License-Identifier: {about.license}\nFull text: {url}\n"
    )


def _cff(about: Metadata, title: str, description: str) -> str:
    """CITATION.cff (Citation File Format 1.2.0)."""
    authors = [
        {
            "family-names": each.family,
            "given-names": each.given,
            **({"affiliation": each.affiliation} if each.affiliation else {}),
            **({"orcid": f"https://orcid.org/{each.orcid}"} if each.orcid else {}),
        }
        for each in about.creators
    ]
    content = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it as below.",
        "type": "dataset",
        "title": title,
        "abstract": description,
        "authors": authors,
        "license": about.license,
        **({"doi": about.doi} if about.doi else {}),
        **({"keywords": list(about.keywords)} if about.keywords else {}),
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)


def _zenodo(about: Metadata, title: str, description: str) -> dict[str, Any]:
    return {
        "title": title,
        "upload_type": "dataset",
        "description": f"<p>{escape(description)}</p>",
        "creators": [
            {
                "name": f"{each.family}, {each.given}",
                **({"affiliation": each.affiliation} if each.affiliation else {}),
                **({"orcid": each.orcid} if each.orcid else {}),
            }
            for each in about.creators
        ],
        "access_right": "open",
        "license": about.license.lower(),
        **({"keywords": list(about.keywords)} if about.keywords else {}),
        **({"doi": about.doi} if about.doi else {}),
    }


CONSENT = (
    "labapp does not know whether your consent form and your ethics committee allow this. Check "
    f"that, read {README}, and look through the tables before you upload the folder."
)


@dataclass(frozen=True)
class DepositReport:
    """What was written, for people."""

    path: Path
    contents: Contents

    def lines(self) -> list[str]:
        """The report, a sentence a line."""
        tables = count(len(self.contents.written), "table")
        return [f"deposit: {self.path}", f"{tables}.", *participants_text(self.contents), CONSENT]


def deposit(
    sessions: Sequence[Path],
    out: Path,
    metadata: Metadata,
    *,
    bundle: bool = False,
    audio: bool = False,
    private: Path | None = None,
    progress: Progress | None = None,
) -> DepositReport:
    """Write the folder of a deposit, which is always de-identified. Raises LabappError: as
    `export`; BundleError for pilots.

    Parameters
    ----------
    sessions : their folders, a study's folder, or bundles.
    out : the folder to write; nothing may be there.
    metadata : what people say of the deposit.
    bundle : put the de-identified BIDS dataset into the folder, too.
    audio : the sound of those who agreed that it is passed on, in that dataset, as FLAC.
    private : as of `labapp.session.bids.export.export`.
    """
    how = Deposit(metadata, bundle=bundle or audio)
    path = export(
        sessions,
        out,
        deidentify=True,
        audio=audio,
        sound=FLAC if audio else WAV,
        private=private,
        format=how,
        progress=progress,
    )
    assert how.contents is not None  # written, or the export had raised
    return DepositReport(path, how.contents)
