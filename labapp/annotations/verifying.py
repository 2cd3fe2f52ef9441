"""Whether annotations are what was written: lines, sessions, codebooks, and what they refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from labapp.annotations import codebook as codebooks
from labapp.annotations.codebook import Codebook
from labapp.annotations.codebook_diff import outdated_marks
from labapp.annotations.editing import Fold, fold_lines
from labapp.annotations.identity import difference, identity_of
from labapp.annotations.ledger import LARGEST
from labapp.annotations.lines import parse
from labapp.annotations.marks import MarksFold
from labapp.annotations.places import (
    ANNOTATIONS,
    CODEBOOKS,
    LINES,
    RATERS,
    SIMULATED,
    TRANSCRIPT,
    UNITS,
)
from labapp.annotations.settlements import SETTLEMENTS, SettlementsFold
from labapp.annotations.simulated import simulated_speech
from labapp.annotations.store import annotations_tree, told_events
from labapp.annotations.texts import TextsFold
from labapp.annotations.units import UnitsFold
from labapp.annotations.video_files import LIST, VIDEOS, VideosFold, video_problems
from labapp.errors import AnnotationError, LabappError
from labapp.journal.layout import FolderName
from labapp.journal.opening import iter_records, open_record
from labapp.journal.record import Record
from labapp.journal.tree import FolderTree, Tree
from labapp.reading import files


@dataclass
class AnnotationsReport:
    """What was found out.

    Attributes
    ----------
    checked : list of str
        The files that were looked at.
    problems : list of str
        What is not as it was written; empty where all is.
    remarks : list of str
        What is as it was written, and worth knowing.
    """

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all is as it was written."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "ok": self.ok,
            "files": self.checked,
            "problems": self.problems,
            "remarks": self.remarks,
        }

    def lines(self) -> Iterator[str]:
        """For people."""
        for problem in self.problems:
            yield f"PROBLEM {problem}"
        for remark in self.remarks:
            yield f"note: {remark}"
        count = len(self.checked)
        files_ = "1 file" if count == 1 else f"{count} files"
        yield f"{files_} of annotations: {'whole' if self.ok else 'NOT whole'}"


def verify_annotations(path: Path) -> AnnotationsReport:
    """Check the annotations of a session, or of a whole study.

    Parameters
    ----------
    path : Path
        A session folder, a bundle, or the folder of a study.

    Raises
    ------
    LabappError
        There is neither a session nor a study.
    """
    report = AnnotationsReport()
    if FolderName.parse(path.absolute().name) is None and _is_study(path):
        _verify_study(path, report)
        return report
    for record in iter_records(path):
        _verify_session(record, _versions(record, report), report)
    return report


def _is_study(path: Path) -> bool:
    if not files.is_folder(path):
        return False
    sessions = (FolderName.parse(child.name) for child in path.iterdir() if child.is_dir())
    return files.is_folder(path / ANNOTATIONS) or any(sessions)


def _verify_study(study: Path, report: AnnotationsReport) -> None:
    folder = study / ANNOTATIONS
    try:
        versions = codebooks.versions_of(study)
    except AnnotationError as error:
        report.problems.append(error.what)
        versions = {}
    tree = FolderTree(folder)
    for name in tree.names():
        path = PurePosixPath(name)
        if _ours_to_skip(path):
            continue
        if len(path.parts) == 1 and path.suffix == LINES:
            _parse(tree, name, name, report)
        elif path.parts[0] == CODEBOOKS and len(path.parts) == 2 and path.suffix == ".yaml":
            report.checked.append(name)
        elif len(path.parts) == 1 or path.parts[0] == CODEBOOKS:
            report.problems.append(f"{name}: labapp knows no such file")
    for child in sorted(folder.iterdir() if files.is_folder(folder) else ()):
        if child.name == CODEBOOKS or not child.is_dir():
            continue
        try:
            record = open_record(study / child.name)
        except LabappError as error:
            report.problems.append(f"{child.name}: it has annotations, but {error.what}")
            continue
        _verify_session(record, versions, report)


def _versions(record: Record, report: AnnotationsReport) -> Mapping[str, Codebook]:
    from labapp.annotations.store import codebooks_in

    try:
        return codebooks_in(record)
    except AnnotationError as error:
        report.problems.append(error.what)
        return {}


def _ours_to_skip(path: PurePosixPath) -> bool:
    """Locks, and what a crash left of a file that was being replaced."""
    return path.name.startswith(".") and path.suffix in (".lock", ".draft")


def _verify_session(
    record: Record, versions: Mapping[str, Codebook], report: AnnotationsReport
) -> None:
    tree = annotations_tree(record)
    sound: Mapping[str, str] | None = None
    if record.kind == "session":
        try:
            sound = identity_of(record, Path(record.source)).sound
        except AnnotationError as error:
            report.problems.append(f"{record.name}: {error.what}")
    units, texts = UnitsFold(), TextsFold()
    marks: dict[str, MarksFold] = {}
    for name in tree.names():
        path = PurePosixPath(name)
        place = f"{record.name}/{name}"
        if _ours_to_skip(path) or (record.kind == "bundle" and path.parts[0] == CODEBOOKS):
            continue
        if name == UNITS:
            _check(tree, name, place, units, record, sound, report)
        elif name == TRANSCRIPT:
            _check(tree, name, place, texts, record, sound, report)
        elif path.parent == PurePosixPath(RATERS) and path.suffix == LINES:
            fold = marks[place] = MarksFold()
            _check(tree, name, place, fold, record, sound, report)
            report.problems += _changed_when_locked(tree, name, place)
            if fold.opened and fold.opened["rater"] != path.stem:
                report.problems.append(f"{place}: its marks are those of {fold.opened['rater']}")
        elif name == SETTLEMENTS:
            _check(tree, name, place, SettlementsFold(), record, sound, report)
        elif name == LIST:
            _check(tree, name, place, VideosFold(), record, sound, report)
        elif len(path.parts) == 1 and path.suffix == LINES:
            _parse(tree, name, place, report)
        elif path.parts[0] != VIDEOS:
            report.problems.append(f"{place}: labapp knows no such file")
    try:
        report.problems += [f"{record.name}: {problem}" for problem in video_problems(record)[1]]
    except AnnotationError:
        """Told by its line."""
    if not tree.has(UNITS):
        units.take(simulated_speech(told_events(record)).units, SIMULATED)
    for place, fold in marks.items():
        report.problems += _loose_marks(place, fold, versions)
        report.remarks += _remarks(place, fold, units, versions)
    gone = sorted(set(texts.texts) - set(units.units)) if tree.has(UNITS) else []
    if gone:
        report.remarks.append(f"{record.name}: {len(gone)} texts are of units that are gone")


def _parse(tree: Tree, name: str, place: str, report: AnnotationsReport) -> Any:
    report.checked.append(place)
    try:
        lines = parse(tree.read(name, LARGEST))
    except LabappError as error:
        report.problems.append(error.what)
        return None
    report.problems += [f"{place}, {problem}" for problem in lines.problems]
    if lines.torn:
        report.remarks.append(f"{place}: {lines.torn}")
    return lines


def _check(
    tree: Tree,
    name: str,
    place: str,
    fold: Fold,
    record: Record,
    sound: Mapping[str, str] | None,
    report: AnnotationsReport,
) -> None:
    lines = _parse(tree, name, place, report)
    if lines is None or lines.problems:
        return
    try:
        fold_lines(fold, lines.lines, place)
    except AnnotationError as error:
        report.problems.append(error.what)
        return
    if fold.opened and (why := difference(fold.opened, record, sound)):
        report.problems.append(f"{place}: {why}")


def _changed_when_locked(tree: Tree, name: str, place: str) -> Iterator[str]:
    """Rounds of which something was changed after they were locked."""
    fold, changed = MarksFold(), dict[str, set[str]]()
    for line in parse(tree.read(name, LARGEST)).lines:
        mark_id = str(line.body.get("id", ""))
        before = fold.marks.get(mark_id)
        locked = {round_ for round_, status in fold.statuses.items() if status == "locked"}
        try:
            fold.apply(line)
        except ValueError:
            return  # it is told as what cannot be read
        now = fold.marks.get(mark_id)
        for mark in (before, now):
            if mark is not None and mark.round in locked and before != now:
                changed.setdefault(mark.round, set()).add(mark.id)
        if any(fold.statuses[round_] != "locked" for round_ in locked):
            yield f"{place}, line {line.seq}: what was locked was unlocked"
    for round_, marks in sorted(changed.items()):
        yield (
            f"{place}: {len(marks)} marks of the round {round_} were changed after it was locked"
        )


def _loose_marks(place: str, fold: MarksFold, versions: Mapping[str, Codebook]) -> Iterator[str]:
    """Marks that name a codebook or a code that is not there."""
    for sha256 in sorted({mark.codebook for mark in fold.marks.values()}):
        codebook = versions.get(sha256)
        given = [mark for mark in fold.marks.values() if mark.codebook == sha256]
        if codebook is None:
            yield f"{place}: {len(given)} marks were given by a codebook that is not there"
            continue
        unknown = sorted({mark.code for mark in given if codebook.code(mark.code) is None})
        for code in unknown:
            yield f"{place}: the codebook that its marks were given by has no code {code!r}"


def _remarks(
    place: str, fold: MarksFold, units: UnitsFold, versions: Mapping[str, Codebook]
) -> Iterator[str]:
    marks = fold.marks.values()
    lost = sum(mark.unit is not None and mark.unit not in units.units for mark in marks)
    if lost:
        yield f"{place}: {lost} marks are of units that were split, merged or taken away"
    newest = versions.get(str(fold.opened.get("codebook", "")))
    if newest is None:
        return
    outdated = outdated_marks(marks, newest, versions, units.segmentation().units)
    if old := sum(entry.mark.unit is None or entry.mark.unit in units.units for entry in outdated):
        yield f"{place}: {old} marks were given by an older definition of their code"
