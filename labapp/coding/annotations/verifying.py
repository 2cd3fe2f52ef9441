"""Whether annotations are what was written: lines, sessions, codebooks, and what they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from labapp.base.errors import AnnotationError, LabappError
from labapp.base.reading import files
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Codebook, find_outdated_marks
from labapp.coding.annotations.ledger import LARGEST, Fold, fold_lines, parse, unwritable
from labapp.coding.annotations.marks import MarksFold
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    CODEBOOKS,
    LINES,
    RATERS,
    SIMULATED,
    TRANSCRIPT,
    UNITS,
    annotations_folder,
)
from labapp.coding.annotations.settlements import SETTLEMENTS, SettlementsFold
from labapp.coding.annotations.simulated import read_simulated_speech
from labapp.coding.annotations.store import (
    annotations_tree,
    codebooks_in,
    difference,
    find_lost_locks,
    identity_of,
    select_annotation_events,
)
from labapp.coding.annotations.texts import TextsFold, read_anchored_redactions
from labapp.coding.annotations.units import UnitsFold
from labapp.coding.annotations.video_files import LIST, VIDEOS, VideosFold, video_problems
from labapp.record.journal import anchor
from labapp.record.journal.layout import FolderName, FolderTree, Tree
from labapp.record.journal.opening import iter_records, open_record
from labapp.record.journal.record import Record

Source = TypeVar("Source")


@dataclass
class AnnotationsReport:
    """What was found out.

    Attributes
    ----------
    problems : what is not as it was written; empty if all is.
    remarks : what is as it was written, and worth knowing.
    anchor : where the anchor lies, how long it is, and its hash; empty if there is none.
    """

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    anchor: str = ""

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
            "anchor": self.anchor,
            "not_noticed": [anchor.BEYOND],
        }

    def lines(self) -> Iterator[str]:
        """For people."""
        for problem in self.problems:
            yield f"PROBLEM {problem}"
        for remark in self.remarks:
            yield f"note: {remark}"
        if self.anchor:
            yield f"anchor: {self.anchor}"
            yield f"This check cannot detect: {anchor.BEYOND}."
        count = len(self.checked)
        files_ = "1 file" if count == 1 else f"{count} files"
        yield f"{files_} of annotations: {'whole' if self.ok else 'NOT whole'}"


def verify_annotations(path: Path) -> AnnotationsReport:
    """Check the annotations of a session, or of a whole study. Raises LabappError: there is neither
    a session nor a study.

    Parameters
    ----------
    path : a session folder, a bundle, or the folder of a study.
    """
    report = AnnotationsReport()
    if FolderName.parse(path.absolute().name) is None and _is_study(path):
        _verify_study(path, report)
        _hold_against_anchor(path, report, lambda name: True)
        return report
    for record in iter_records(path):
        _verify_session(record, _versions(codebooks_in, record, report), report)
        if record.kind == "session":
            session = Path(record.source).absolute()
            _hold_against_anchor(session.parent, report, beside(session.name))
    return report


def beside(session: str) -> Callable[[str], bool]:
    """Of a file's name below a study's folder, whether it says something about a session."""
    top = f"{ANNOTATIONS}/{session}/"

    def ours(name: str) -> bool:
        return (
            name in anchor.LOGS
            or name.startswith((top, f"{ANNOTATIONS}/{CODEBOOKS}/"))
            or (name.startswith(f"{ANNOTATIONS}/") and name.count("/") == 1)
        )

    return ours


def _hold_against_anchor(
    study: Path, report: AnnotationsReport, ours: Callable[[str], bool]
) -> None:
    problems, remarks = anchor.check(study, ours)
    # A damaged line has been reported already; that its file was changed follows from it.
    damaged = {
        problem.partition(", line ")[0] for problem in report.problems if ", line " in problem
    }
    told = tuple(f"{ANNOTATIONS}/{place}: its content of" for place in damaged)
    report.problems += [problem for problem in problems if not problem.startswith(told)]
    report.remarks += remarks
    with suppress(LabappError):  # it is a problem already
        report.anchor = anchor.summary(study)


def accept_files(study: Path, why: str) -> int:
    """Take the files beside a study's sessions as they are now, for a reason; how many there were.
    What is redacted stays so. Raises AnnotationError."""
    try:
        return anchor.accept(study, why)
    except OSError as error:
        raise unwritable(anchor.anchor_of(study), error) from error


def _is_study(path: Path) -> bool:
    if not files.is_folder(path):
        return False
    sessions = (FolderName.parse(child.name) for child in path.iterdir() if child.is_dir())
    return files.is_folder(path / ANNOTATIONS) or any(sessions)


def _verify_study(study: Path, report: AnnotationsReport) -> None:
    folder = study / ANNOTATIONS
    versions = _versions(codebooks.versions_of, study, report)
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
            report.problems.append(f"{name}: unknown file")
    for child in sorted(folder.iterdir() if files.is_folder(folder) else ()):
        if child.name == CODEBOOKS or not child.is_dir():
            continue
        try:
            record = open_record(study / child.name)
        except LabappError as error:
            report.problems.append(f"{child.name}: it has annotations, but {error.what}")
            continue
        _verify_session(record, versions, report)


def _versions(
    read: Callable[[Source], Mapping[str, Codebook]], source: Source, report: AnnotationsReport
) -> Mapping[str, Codebook]:
    try:
        return read(source)
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
    folds: dict[str, Fold] = {
        UNITS: units,
        TRANSCRIPT: texts,
        SETTLEMENTS: SettlementsFold(),
        LIST: VideosFold(),
    }
    marks: dict[str, MarksFold] = {}
    for name in tree.names():
        path = PurePosixPath(name)
        place = f"{record.name}/{name}"
        if _ours_to_skip(path) or (record.kind == "bundle" and path.parts[0] == CODEBOOKS):
            continue
        if name in folds:
            _check(tree, name, place, folds[name], record, sound, report)
        elif path.parent == PurePosixPath(RATERS) and path.suffix == LINES:
            fold = marks[place] = MarksFold()
            _check(tree, name, place, fold, record, sound, report)
            report.problems += _find_changes_after_lock(tree, name, place)
            if record.kind == "session":
                file = annotations_folder(Path(record.source)) / name
                report.problems += [
                    f"{place}: the round {round_} was locked, but the file no longer says so"
                    for round_ in find_lost_locks(file, fold)
                ]
            if fold.opened and fold.opened["rater"] != path.stem:
                report.problems.append(f"{place}: its marks were made by {fold.opened['rater']}")
        elif len(path.parts) == 1 and path.suffix == LINES:
            _parse(tree, name, place, report)
        elif path.parts[0] != VIDEOS:
            report.problems.append(f"{place}: unknown file")
    report.problems += find_lost_redactions(record, texts)
    try:
        report.problems += [f"{record.name}: {problem}" for problem in video_problems(record)[1]]
    except AnnotationError:
        """Told by its line."""
    if not tree.has(UNITS):
        units.take(read_simulated_speech(select_annotation_events(record)).units, SIMULATED)
    for place, fold in marks.items():
        report.problems += _loose_marks(place, fold, versions)
        report.remarks += _remarks(place, fold, units, versions)
    gone = sorted(set(texts.texts) - set(units.units)) if tree.has(UNITS) else []
    if gone:
        report.remarks.append(
            f"{record.name}: {len(gone)} texts belong to units that no longer exist"
        )


def find_lost_redactions(record: Record, texts: TextsFold) -> list[str]:
    """Stretches that were redacted, and of which the transcript does not say so any more."""
    return [
        f"{record.name}/{TRANSCRIPT}: it no longer says that {r.t0_ns / 1e9:.3f} to "
        f"{r.t1_ns / 1e9:.3f} s are redacted. Sound and words there stay withheld. Redact the "
        "stretch again to restore the entry"
        for r in read_anchored_redactions(record)
        if r not in texts.redactions.values()
    ]


def _parse(tree: Tree, name: str, place: str, report: AnnotationsReport) -> Any:
    report.checked.append(place)
    try:
        lines = parse(tree.read(name, LARGEST))
    except LabappError as error:
        report.problems.append(error.what)
        return None
    report.problems += [f"{place}, {problem}" for problem in (*lines.problems, *lines.breaks)]
    if lines.chained_from > 1:
        report.remarks.append(f"{place}: evidence begins with line {lines.chained_from}")
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


def _find_changes_after_lock(tree: Tree, name: str, place: str) -> Iterator[str]:
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
            yield f"{place}: {len(given)} marks were made with a codebook that is missing"
            continue
        for code in sorted({mark.code for mark in given if codebook.code(mark.code) is None}):
            yield f"{place}: the codebook with which its marks were made has no code {code!r}"


def _remarks(
    place: str, fold: MarksFold, units: UnitsFold, versions: Mapping[str, Codebook]
) -> Iterator[str]:
    marks = fold.marks.values()
    lost = sum(mark.unit is not None and mark.unit not in units.units for mark in marks)
    if lost:
        yield f"{place}: {lost} marks belong to units that were split, merged or removed"
    newest = versions.get(str(fold.opened.get("codebook", "")))
    if newest is None:
        return
    outdated = find_outdated_marks(marks, newest, versions, units.segmentation().units)
    if old := sum(entry.mark.unit is None or entry.mark.unit in units.units for entry in outdated):
        yield f"{place}: {old} marks were made under an older definition of their code"
