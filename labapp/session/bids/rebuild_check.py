"""Whether the tables and descriptions of a bundle are those that its own journals give.

They are made anew as an export makes them and compared by value, one file at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from typing import IO, Any

from labapp.analysis.items import instruments_of
from labapp.base.errors import BundleError
from labapp.base.reading import files as reading
from labapp.base.reading.values import json_value
from labapp.coding.annotations.video_files import LIST
from labapp.record.journal.layout import ANNOTATIONS, MANIFEST, SOURCEDATA
from labapp.record.journal.opening import bundled_record, session_facts, session_prefixes
from labapp.record.journal.tree import Tree
from labapp.session.bids.derived import README, TABLE_FORMAT, DerivedFiles, packages
from labapp.session.bids.folder import hash_stream

ROUNDING = 1e-9
"""Relative difference up to which two numbers are equal: another processor may round otherwise."""
TOLD = 5
"""So many differences of a file are told one by one."""


def not_compared(facts: Mapping[str, Any]) -> str:
    """Why the tables of a bundle cannot be made anew here, as a note; empty where they can be.

    facts: what its manifest says besides the files.
    """
    stated = facts.get("table_format", 0)
    if stated != TABLE_FORMAT:
        return (
            f"Its tables were not compared with its journals: they have the format {stated}, and "
            f"this version of labapp makes the format {TABLE_FORMAT}."
        )
    here = {row["package"]: row["version"] for row in packages()}
    absent = [
        f"{name} {version}".strip()
        for name, version in _stated_packages(facts).items()
        if here.get(name) != version
    ]
    if absent:
        return (
            f"Its tables were not compared with its journals: they were made with "
            f"{', '.join(absent)}, which is not installed here in this version."
        )
    return ""


def check_rebuild(tree: Tree, facts: Mapping[str, Any]) -> tuple[int, list[str]]:
    """How many files were compared with what the journals give, and what is wrong.

    facts: the manifest's. Only for a bundle that is whole otherwise, and of which `not_compared`
    says nothing. One session is in memory at a time.
    """
    order = facts.get("sessions")
    prefixes = {prefix.removeprefix(f"{SOURCEDATA}/"): prefix for prefix in session_prefixes(tree)}
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(prefixes):
        return 0, [f"{SOURCEDATA}/{MANIFEST}: it does not name the sessions that are there"]
    known = _stated_packages(facts)
    more = any(row["package"] not in known for row in packages())
    compared = RebuildComparison(tree, more)
    derived = DerivedFiles(compared, str(facts.get("labapp")))
    unshared = []
    try:
        for place in order:
            below = tree.below(prefixes[place])
            record, stated = bundled_record(below, place), session_facts(below, place)
            derived.add(record, instruments_of(record), audio=bool(stated.get("sound")))
            derived.shown |= record.tree.has(f"{ANNOTATIONS}/{LIST}")
            if record.audio and not record.may("share_audio"):
                unshared.append(place)
        derived.finish()
        derived.withdrew = int(facts.get("withdrawn", 0))
    except BundleError as error:
        return 0, [error.what]
    # Whether sound was asked for, and was there to be left out, no journal says.
    readmes = [
        derived.readme(audio=audio, unshared=names)
        for audio, names in ((True, unshared), (True, []), (False, []))
    ]
    there = compared.text(README)
    compared.add_text(README, there if there in readmes else readmes[0])
    return len(compared.files), [*compared.problems, *_others(tree, compared.files)]


def _stated_packages(facts: Mapping[str, Any]) -> dict[str, str]:
    stated = facts.get("packages")
    rows = stated if isinstance(stated, list) else []
    return {
        str(row.get("package")): str(row.get("version", ""))
        for row in rows
        if isinstance(row, dict)
    }


def _others(tree: Tree, made: Sequence[str]) -> list[str]:
    """Files that no session gives. Of those of the sessions and models others tell."""
    folders = (*(f"{prefix}/" for prefix in session_prefixes(tree)), f"{SOURCEDATA}/models/")
    known = {*made, f"{SOURCEDATA}/{MANIFEST}"}
    return [
        f"{name}: no session gives such a file"
        for name in tree.names()
        if name not in known and not name.startswith(folders)
    ]


@dataclass
class RebuildComparison:
    """Takes the files of a bundle as they ought to be, and compares them with those of a tree.

    Attributes
    ----------
    tree : the bundle that is checked.
    more : whether packages are installed here that had no share in it: what they add to
        descriptions is not missing there.
    files : the names of those compared.
    problems : the differences.
    """

    tree: Tree
    more: bool = False
    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text(self, name: str, largest: int = 0) -> str:
        """A file that is there; empty where none is, which is told when it is compared. Raises
        RecordError for one that is larger than documents are, and than `largest` bytes."""
        if not self.tree.has(name):
            return ""
        return self.tree.read(name, max(largest, reading.DOCUMENT)).decode("utf-8", "replace")

    def add_text(self, name: str, text: str) -> None:
        """Compare a table, a description or a text."""
        if not self._is_there(name):
            return
        there = self.text(name, 2 * len(text.encode()))
        if there == text:
            return
        if name.endswith(".tsv"):
            differences = list(_table_differences(there, text))
        elif name.endswith(".json"):
            try:
                differences = list(_differences(json_value(there), json_value(text), self.more, ""))
            except ValueError:
                differences = ["it is no JSON"]
        else:
            differences = ["it does not say what the journals of the bundle give"]
        self.problems += [f"{name}: {difference}" for difference in differences[:TOLD]]
        if len(differences) > TOLD:
            self.problems.append(f"{name}: {len(differences) - TOLD} more differences of this kind")

    def add_stream(self, name: str, source: IO[bytes]) -> None:
        """Compare a picture."""
        if not self._is_there(name):
            return
        with self.tree.open(name) as there:
            if hash_stream(there) != hash_stream(source):
                self.problems.append(f"{name}: not the picture of the session")

    def _is_there(self, name: str) -> bool:
        self.files.append(name)
        if there := self.tree.has(name):
            return there
        self.problems.append(f"{name}: missing, and the journals of the bundle give it")
        return False


def _table_differences(there: str, here: str) -> Iterator[str]:
    """What a table says otherwise than the journal, cell by cell."""
    header, *rows = [line.split("\t") for line in there.removesuffix("\n").split("\n")]
    names, *given = [line.split("\t") for line in here.removesuffix("\n").split("\n")]
    if header != names:
        yield "it has other columns than the journal gives"
        return
    if len(rows) != len(given):
        alike = zip(rows, given, strict=False)
        equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], alike))
        yield f"{len(rows)} rows, the journal gives {len(given)}; the first {equal} are equal"
        return
    for number, (row, wanted) in enumerate(zip(rows, given, strict=True), 1):
        for name, cell, value in zip_longest(names, row, wanted, fillvalue=""):
            if not _equal_cells(cell, value):
                told = f"{cell[:80]!r}, the journal gives {value[:80]!r}"
                yield f"row {number}, {name}: it has {told}"


def _equal_cells(there: str, here: str) -> bool:
    if there == here:
        return True
    try:
        return not any(_differences(json_value(there), json_value(here), False, ""))
    except ValueError:
        return False


def _differences(there: Any, here: Any, more: bool, place: str) -> Iterator[str]:
    """What a value says otherwise; place: where in the file it stands; more: entries may be
    missing there."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in [*there, *(name for name in here if name not in there)]:
            where = f"{place} / {name}" if place else str(name)
            if name not in here:
                yield f"{where}: the journals of the bundle do not give it"
            elif name in there:
                yield from _differences(there[name], here[name], more, where)
            elif not more:
                yield f"{where}: missing"
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for number, pair in enumerate(zip(there, here, strict=True), 1):
            yield from _differences(*pair, more, f"{place} / {number}" if place else str(number))
    elif not _equal(there, here):
        told = "" if len(str(there)) + len(str(here)) > 200 else f" {there!r}, and not {here!r}"
        yield f"{place or 'a cell'}: it says{told or ' something else than the journals give'}"


def _equal(there: Any, here: Any) -> bool:
    numbers = (int, float)
    if type(there) in numbers and type(here) in numbers:
        return math.isclose(there, here, rel_tol=ROUNDING)
    return type(there) is type(here) and bool(there == here)
