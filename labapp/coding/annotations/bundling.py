"""The annotations of a session as a bundle carries them: what holds now, and nothing of before.

A file of annotations keeps every word that was ever in it, so that everything can be undone. A
bundle gets it compacted: the lines that hold, and none that they replaced. Redacted words are left
out, and so are remarks on marks in redacted stretches, and those on a session, or on its codes,
where anything is redacted. Of a de-identified copy texts are left out that no person has read
against the sound, all remarks and reasons, the free text of codebooks, the raters' names, and the
days on which anything was done.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any

from labapp.base.reading.files import DOCUMENT
from labapp.coding.annotations import codebook
from labapp.coding.annotations import marks as marks_file
from labapp.coding.annotations import settlements as settlements_file
from labapp.coding.annotations import texts as texts_file
from labapp.coding.annotations import units as units_file
from labapp.coding.annotations.codebook import without_words
from labapp.coding.annotations.ledger import LARGEST, Line, as_bytes, body_of, parse, require_whole
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    CODEBOOKS,
    LINES,
    RATERS,
    TRANSCRIPT,
    UNITS,
    SessionAnnotations,
    codebook_versions,
    rater_names,
)
from labapp.coding.annotations.rounds import ASSIGNED, ASSIGNMENTS
from labapp.coding.annotations.settlements import SETTLEMENTS
from labapp.coding.annotations.simulated import SIMULATED, read_simulated_speech
from labapp.coding.annotations.store import annotations_in, annotations_tree, rater_files
from labapp.coding.annotations.texts import (
    TextsFold,
    is_redacted,
    may_be_quoted,
    read_anchored_redactions,
    select_visible_texts,
)
from labapp.coding.annotations.units import UnitsFold
from labapp.record.journal.layout import FolderName, FolderTree, Tree
from labapp.record.journal.record import Record

Rename = Callable[[str], str]


def bundle_annotations(record: Record) -> dict[str, bytes]:
    """The files of a session's annotations for a bundle, by their names below its folder; empty
    if nothing was said about the session. record: as it goes into the bundle, a de-identified
    one if its rows were reduced. Raises AnnotationError if a file of it is damaged."""
    return _Bundled(record).files()


def leaving_annotations(record: Record) -> SessionAnnotations:
    """What was said about a session, as it may leave the lab: equal to what is read of a bundle.
    Raises AnnotationError: a file of it is damaged.

    Parameters
    ----------
    record : as it goes into the export: a de-identified one where its rows were reduced.
    """
    return annotations_in(_FilesInMemory(bundle_annotations(record)), record)


@dataclass(frozen=True)
class _FilesInMemory:
    """Files by their names, as a tree."""

    files: Mapping[str, bytes]

    def names(self) -> list[str]:
        return sorted(self.files)

    def folders(self, pattern: str) -> list[str]:
        above = {PurePosixPath(name).parent for name in self.files}
        return sorted(str(folder) for folder in above if folder.match(pattern))

    def has(self, name: str) -> bool:
        return name in self.files

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        yield io.BytesIO(self.files[name])

    def read(self, name: str, largest: int = DOCUMENT) -> bytes:
        del largest  # it is in memory already
        return self.files[name]

    def size(self, name: str) -> int:
        return len(self.files[name])

    def below(self, prefix: str) -> _FilesInMemory:
        stem = f"{prefix.strip('/')}/"
        return _FilesInMemory(
            {n.removeprefix(stem): c for n, c in self.files.items() if n.startswith(stem)}
        )


@dataclass
class _Bundled:
    """A session's annotations on their way into a bundle. record: as it goes into the bundle; used:
    SHA-256 of the codebooks that marks were given by."""

    record: Record
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tree = annotations_tree(self.record)
        self.reduced = self.record.redacted
        # The dates of a session may be moved in the bundle beyond what its files have.
        session = self.record.kind == "session"
        name = FolderName.parse(_folder(self.record).name) if session else None
        self.days = (name.started.date() - self.record.name.started.date()).days if name else 0
        self.rename = _renaming(self.record, self.tree)
        self.units = UnitsFold()
        self.texts = TextsFold(anchored=read_anchored_redactions(self.record))
        for line in self._lines(UNITS):
            self.units.apply(line)
        for line in self._lines(TRANSCRIPT):
            self.texts.apply(line)
        if not self.tree.has(UNITS):
            spoken = read_simulated_speech(self.record.payloads())
            self.units.take(spoken.units, SIMULATED)
        self.redactions = self.texts.sort_redactions()

    def files(self) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for name, lines in self._compact_files():
            if lines:
                files[name] = as_bytes(
                    line._replace(utc=_earlier(line.utc, self.days)) for line in lines
                )
        for sha256 in sorted(self.used):
            name = f"{sha256}.yaml"
            if self._codebooks.has(name):
                files[f"{CODEBOOKS}/{name}"] = self._codebook(name)
        return files

    def _compact_files(self) -> Iterable[tuple[str, list[Line]]]:
        yield UNITS, self._units()
        yield TRANSCRIPT, self._texts()
        for rater in rater_files(self.tree):
            yield f"{RATERS}/{self.rename(rater)}{LINES}", self._marks(rater)
        yield SETTLEMENTS, self._settlements()
        yield ASSIGNMENTS, self._assignments()

    @property
    def _codebooks(self) -> Tree:
        if self.record.kind == "bundle":
            return self.tree.below(CODEBOOKS)
        return FolderTree(codebook_versions(_folder(self.record).parent))

    def _codebook(self, name: str) -> bytes:
        """A codebook as it may leave: its examples are what participants said, so that a
        de-identified copy has no free text of it unless it declares `identifying: no`."""
        content = self._codebooks.read(name)
        if not self.reduced:
            return content
        book = codebook.parse(content, Path(name))
        return content if book.identifying is False else without_words(book)

    def _lines(self, name: str) -> tuple[Line, ...]:
        if not self.tree.has(name):
            return ()
        place = f"{ANNOTATIONS} of {self.record.name}: {name}"
        return require_whole(parse(self.tree.read(name, LARGEST)), place).lines

    def _units(self) -> list[Line]:
        left = _latest(self._lines(UNITS), {
            units_file.OPENED: None,
            units_file.FROZEN: None,
            units_file.SPEAKERS: None,
            units_file.PUT: "id",
            units_file.PROPOSED: "id",
        })  # fmt: skip
        lines = []
        for line in left:
            body = dict(line.body)
            if line.kind == units_file.PUT:
                unit = self.units.units.get(str(body["id"]))
                if unit is None:
                    continue
                body = body_of(unit)
            elif line.kind == units_file.PROPOSED:
                proposal = self.units.proposals.get(str(body["id"]))
                if proposal is None:
                    continue
                reason = "" if self.reduced else proposal.reason
                body = body_of(replace(proposal, by=self.rename(proposal.by), reason=reason))
            else:
                body = self._describe_opening(body)
            lines.append(line._replace(body=body))
        return lines

    def _texts(self) -> list[Line]:
        may = self.record.may("transcript")
        shown = select_visible_texts(
            self.texts.texts, self.units.units, self.redactions, allowed=may
        )
        left = _latest(self._lines(TRANSCRIPT), {
            texts_file.OPENED: None,
            texts_file.PUT: "unit",
            texts_file.REDACTED: "id",
            texts_file.RECOGNISED: "id",
        })  # fmt: skip
        redactions = self.texts.redactions
        lines = []
        for line in left:
            body = dict(line.body)
            if line.kind == texts_file.PUT:
                text = shown.get(str(body["unit"]))
                if text is None or (self.reduced and not may_be_quoted(text)):
                    continue
                body = body_of(replace(text, by=self.rename(text.by)))
            elif line.kind == texts_file.REDACTED:
                if body["id"] not in redactions:
                    continue
                body = body_of(redactions[body["id"]])
            elif line.kind == texts_file.OPENED:
                body = self._describe_opening(body)
            lines.append(line._replace(body=body))
        # What the anchor knows to be redacted, and the file does not (any more).
        utc = lines[-1].utc if lines else self.record.rows[-1].utc
        for number, redaction in enumerate(self.redactions):
            if redaction not in redactions.values():
                name = f"{redaction.id}-{number}" if redaction.id in redactions else redaction.id
                body = body_of(replace(redaction, id=name))
                lines.append(Line(0, utc, texts_file.REDACTED, 1, body))
        return lines

    def _marks(self, rater: str) -> list[Line]:
        every = self._lines(f"{RATERS}/{rater}{LINES}")
        fold = marks_file.MarksFold()
        for line in every:
            fold.apply(line)
        left = _latest(every, {
            marks_file.OPENED: None,
            marks_file.STATUS: "round",
            marks_file.PUT: "id",
            marks_file.MEMO: "about",
        })  # fmt: skip
        lines = []
        for line in left:
            body = dict(line.body)
            if line.kind == marks_file.PUT:
                mark = fold.marks.get(str(body["id"]))
                if mark is None:
                    continue
                unit = self.units.units.get(mark.unit or "")
                begin, end = (unit or mark).t0_ns, (unit or mark).t1_ns
                silent = self.reduced or any(
                    is_redacted(*stretch, self.redactions)
                    for stretch in ((mark.t0_ns, mark.t1_ns), (begin, end))
                )
                memo = "" if silent else mark.memo
                body = body_of(replace(mark, rater=self.rename(mark.rater), memo=memo))
                self.used.add(mark.codebook)
            elif line.kind == marks_file.MEMO and (self.reduced or self.redactions):
                # It is of the session or of a code: nobody can tell whose words it quotes.
                continue
            elif line.kind == marks_file.OPENED:
                self.used.add(str(body["codebook"]))
                body = self._describe_opening(body)
            lines.append(line._replace(body=body))
        return lines

    def _settlements(self) -> list[Line]:
        every = self._lines(SETTLEMENTS)
        fold = settlements_file.SettlementsFold()
        for line in every:
            fold.apply(line)
        lines = []
        kinds: dict[str, str | None] = {settlements_file.OPENED: None, settlements_file.PUT: "id"}
        for line in _latest(every, kinds):
            if line.kind == settlements_file.OPENED:
                lines.append(line._replace(body=self._describe_opening(line.body)))
                continue
            settlement = fold.settlements.get(str(line.body["id"]))
            if settlement is None:
                continue
            gone = self.reduced or is_redacted(settlement.t0_ns, settlement.t1_ns, self.redactions)
            marks = tuple(replace(m, rater=self.rename(m.rater), memo="") for m in settlement.marks)
            self.used |= {mark.codebook for mark in marks}
            by, reason = self.rename(settlement.by), "" if gone else settlement.reason
            body = body_of(replace(settlement, marks=marks, by=by, reason=reason))
            lines.append(line._replace(body=body))
        return lines

    def _assignments(self) -> list[Line]:
        if self.record.kind == "bundle":
            every = self._lines(ASSIGNMENTS)
            own = None
        else:
            folder = _folder(self.record)
            study = FolderTree(folder.parent / ANNOTATIONS)
            place = str(study.path / ASSIGNMENTS)
            content = study.read(ASSIGNMENTS, LARGEST) if study.has(ASSIGNMENTS) else b""
            every, own = require_whole(parse(content), place).lines, folder.name
        lines = []
        for line in every:
            if line.kind != ASSIGNED or own not in (None, line.body["session"]):
                continue
            stretches = [
                {**stretch, "rater": self.rename(str(stretch["rater"]))}
                for stretch in line.body["stretches"]
            ]
            body = {**line.body, "session": str(self.record.name), "stretches": stretches}
            lines.append(line._replace(body=body))
        return lines

    def _describe_opening(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a file says of the session that it is of, and of who opened it."""
        new = {key: self.rename(value) if key in ("by", "rater") else value
               for key, value in body.items()}  # fmt: skip
        if "journal" in new and self.reduced:
            new["journal"] = self.record.rows[-1].hash
        if "sound" in new and (self.reduced or self.redactions):
            new["sound"] = {}
        return new


def _latest(lines: Iterable[Line], kinds: Mapping[str, str | None]) -> list[Line]:
    """Of each kind, and of each value of the key named for it, the last line, in the order of the
    file; other kinds are left out."""
    last = {
        (line.kind, None if (key := kinds[line.kind]) is None else str(line.body[key])): line
        for line in lines
        if line.kind in kinds
    }
    return sorted(last.values(), key=lambda line: line.seq)


def _folder(record: Record) -> Path:
    """The session folder, whose name is the true one also where dates are moved."""
    return Path(record.source).absolute()


def _earlier(utc: str, days: int) -> str:
    return f"{date.fromisoformat(utc[:10]) - timedelta(days)}{utc[10:]}" if days else utc


def _renaming(record: Record, tree: Tree) -> Rename:
    """What raters are called in the bundle: numbers in a de-identified copy, the same in every
    session of a study as long as nobody joins."""
    if not record.redacted or record.kind == "bundle":
        return str
    study = _folder(record).parent
    people = {*rater_names(study).values(), *rater_files(tree)}
    numbers = {name: f"rater-{number}" for number, name in enumerate(sorted(people), start=1)}
    return lambda name: numbers.get(name, "") if name else ""
