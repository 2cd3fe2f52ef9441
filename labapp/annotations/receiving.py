"""Marks that come back from another computer: checked, and merged into the rater's own files.

Nothing is ever overwritten: lines that are there stay, and what both have counts once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from labapp.annotations import codebook as codebooks
from labapp.annotations.assignments import assignments_of_study
from labapp.annotations.editing import fold_lines
from labapp.annotations.handed_out import PACK, HandedOut, handed_out
from labapp.annotations.identity import identity_of
from labapp.annotations.ledger import LARGEST, HeldFile, held
from labapp.annotations.lines import Line, checked, merged, parse
from labapp.annotations.marks import OPENED, PUT, MarksFold
from labapp.annotations.model import Assignment, Mark
from labapp.annotations.pack_session import MARGIN_NS
from labapp.annotations.places import (
    ANNOTATIONS,
    LINES,
    RATERS,
    TRANSCRIPT,
    UNITS,
    check_rater,
    rater_file,
)
from labapp.annotations.redacting import without_remarks
from labapp.annotations.study_sessions import AnnotatedSession, study_sessions
from labapp.errors import AnnotationError
from labapp.journal.tree import FolderTree, Tree, ZipTree
from labapp.reading import archives, files


@dataclass(frozen=True, slots=True)
class Received:
    """What came of a rater's file.

    Attributes
    ----------
    session : the name of its folder.
    rater : whose marks they are.
    marks : how many the rater has there now.
    lines : how many lines were new.
    beyond : marks that lie outside of what was assigned.
    status : see `labapp.annotations.model.Status`.
    ignored : changes of texts and units in the pack: these are the study's, and are not taken in.
    redacted : int
        Marks whose remark is not taken in: since the pack was made, something there was redacted.
    remark : what was cut off at the end of the file on its way, in words; empty where nothing was.
    """

    session: str
    rater: str
    marks: int
    lines: int
    beyond: int
    status: str
    ignored: int = 0
    redacted: int = 0
    remark: str = ""


@dataclass(frozen=True)
class _Returned:
    """A rater's file that came back, and is of this study."""

    session: AnnotatedSession
    rater: str
    lines: Sequence[Line]
    marks: Collection[Mark]
    ignored: int
    remark: str


def receive(study: Path, path: Path) -> list[Received]:
    """Take in the marks of a returned pack, or of single files of a rater.

    Parameters
    ----------
    study : the folder of the study's sessions, from which the pack was made.
    path : the folder of the pack, an archive of it, or a rater's file (`….jsonl`).

    Raises
    ------
    AnnotationError : a file is damaged, or is not of a pack of this study, or its session, units or
        codebook are not those that were handed out. Nothing is taken in then.
    AnnotationsBusy : a window has the rater's file open.
    """
    study = study.absolute()
    packs = [entry for entry in handed_out(study) if entry.kind == PACK]
    sessions = study_sessions(study)
    usable = {session.name: session for session in sessions.usable}
    ready: list[_Returned] = []
    for place, content, beside in _rater_files(path):
        returned = checked(parse(content), place)
        fold = MarksFold()
        fold_lines(fold, returned.lines, place)
        if not fold.opened:
            continue
        pack, name = _pack_of(place, fold.opened, packs)
        if name not in usable:
            why = dict(sessions.left_out).get(name, "it is not there any more")
            raise AnnotationError(
                f"{place} is of {name}, which cannot be coded: {why}.",
                safe="Nothing was taken in.",
                todo="Delete the marks and the pack if its participant withdrew.",
            )
        session, rater = usable[name], check_rater(str(fold.opened["rater"]), study)
        _refuse_changed(place, study, session, fold, pack)
        ignored, marks = _changes(beside, pack, name), fold.marks.values()
        ready.append(_Returned(session, rater, returned.lines, marks, ignored, returned.torn))
    if not ready:
        raise AnnotationError(
            f"{path} holds no marks.",
            todo="Give the pack's folder or an archive of it after coding, or the rater's file: "
            f"{ANNOTATIONS}/…/{RATERS}/….jsonl",
        )
    return _take_in(ready, assignments_of_study(study))


def _changes(beside: Mapping[str, bytes], pack: HandedOut, session: str) -> int:
    """How many changes of units and texts came back beside a rater's marks."""
    handed = pack.facts.get("lines")
    counts = handed.get(session, {}) if isinstance(handed, dict) else {}
    made = 0
    for name, content in beside.items():
        later = parse(content).lines[int(counts.get(name, 0)) :]
        made += sum(not line.kind.endswith(".opened") for line in later)
    return made


def _rater_files(path: Path) -> Iterator[tuple[str, bytes, dict[str, bytes]]]:
    """Name and content of each rater's file at a path, with the units and texts beside it. Raises
    AnnotationError."""
    try:
        if path.suffix == LINES:
            yield str(path), files.content(path, LARGEST), {}
            return
        tree: Tree
        if files.is_folder(path):
            tree = FolderTree(path)
        else:
            with archives.archive(path) as archive:
                archives.refuse_entries(archive)
            tree = ZipTree(path)
        for name in tree.names():
            parts = PurePosixPath(name).parts
            hidden = any(part.startswith(".") for part in parts)
            if name.endswith(LINES) and len(parts) > 1 and parts[-2] == RATERS and not hidden:
                folder = PurePosixPath(name).parent.parent
                beside = {
                    other: tree.read(str(folder / other), LARGEST)
                    for other in (UNITS, TRANSCRIPT)
                    if tree.has(str(folder / other))
                }
                yield f"{path}: {name}", tree.read(name, LARGEST), beside
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).",
            safe="Nothing was taken in.",
            todo="Have it sent again.",
        ) from error


def _pack_of(
    place: str, opened: Mapping[str, Any], packs: Sequence[HandedOut]
) -> tuple[HandedOut, str]:
    """The pack that a file was coded in, and the session. Raises AnnotationError."""
    for pack in packs:
        journals = pack.facts.get("journals")
        for name, head in (journals if isinstance(journals, dict) else {}).items():
            if head == opened.get("journal"):
                if opened["rater"] != pack.facts.get("rater"):
                    raise AnnotationError(
                        f"{place} has marks of {opened['rater']}, and the pack was made for "
                        f"{pack.facts.get('rater')}.",
                        safe="Nothing was taken in.",
                        todo="Make a pack for each rater.",
                    )
                return pack, name
    raise AnnotationError(
        f"{place} was not coded in a pack of this study.",
        safe="Nothing was taken in.",
        todo="Give the study that the pack was made from. A file that was coded in the study's own "
        "folder belongs into its place by hand.",
    )


def _refuse_changed(
    place: str, study: Path, session: AnnotatedSession, fold: MarksFold, pack: HandedOut
) -> None:
    """Raises AnnotationError where units or codebook are not those that were handed out."""
    units = {unit.id for unit in session.annotations.segmentation.units}
    gone = [m for m in fold.marks.values() if m.unit is not None and m.unit not in units]
    if gone:
        raise AnnotationError(
            f"{place} has marks of {len(gone)} units that {session.name} does not have (any more).",
            safe="Nothing was taken in.",
            todo="The units were changed since the pack was made: have the rater code a new one.",
        )
    handed = set(pack.facts.get("codebooks") or ())
    foreign = {mark.codebook for mark in fold.marks.values()} - handed
    if foreign:
        raise AnnotationError(
            f"{place} was coded by a codebook that was not in the pack ({sorted(foreign)[0]}…).",
            safe="Nothing was taken in.",
            todo="A codebook is changed in the study, and handed out in a new pack.",
        )
    known = {book.sha256: book for book in codebooks.codebooks_of(study)}
    stored = codebooks.versions_of(study)
    for sha256 in {mark.codebook for mark in fold.marks.values()} - stored.keys():
        if sha256 not in known:
            raise AnnotationError(
                f"{place} was coded by a version of the codebook that is not there any more.",
                safe="Nothing was taken in.",
                todo="Put the codebook that was in the pack back into the study's folder once, and "
                "receive the marks then.",
            )
        codebooks.store_version(study, known[sha256])


def _take_in(ready: Sequence[_Returned], assignments: Sequence[Assignment]) -> list[Received]:
    """Merge what came back into the raters' files: all of it, or nothing. Raises AnnotationError,
    AnnotationsBusy."""
    received = []
    with ExitStack() as stack:
        open_: dict[Path, HeldFile] = {}
        after: dict[Path, tuple[Line, ...]] = {}
        for each in ready:
            path = rater_file(each.session.path, each.rater)
            if path not in open_:
                open_[path] = stack.enter_context(held(path))
            before = after.get(path, open_[path].lines)
            after[path], redacted = _merged(each, before, path)
            received.append(_received(each, before, after[path], redacted, assignments))
        for path, lines in after.items():
            if len(lines) != len(open_[path].lines):
                open_[path].replace(lines)
    return received


def _merged(each: _Returned, before: Sequence[Line], path: Path) -> tuple[tuple[Line, ...], int]:
    """The lines of a rater's file with those that came back, and how many marks of these lost their
    remarks. Raises AnnotationError where they would change what is locked."""
    identity = identity_of(each.session.record, each.session.path).to_json()
    own = [
        line._replace(body={**line.body, **identity}) if line.kind == OPENED else line
        for line in each.lines
    ]
    annotations = each.session.annotations
    times = {unit.id: (unit.t0_ns, unit.t1_ns) for unit in annotations.segmentation.units}
    own, redacted = without_remarks(own, "memo", PUT, annotations.redactions, times)
    after = merged(before, own)
    known = _fold(before, path)
    locked = {round_ for round_, status in known.statuses.items() if status == "locked"}
    if _of_rounds(known, locked) != _of_rounds(_fold(after, path), locked):
        raise AnnotationError(
            f"The marks of {each.rater} in {each.session.name} are locked: agreement was computed "
            "from them.",
            safe="They are as they were, and nothing was taken in.",
            todo="What came later can be settled: labapp code adjudicate.",
        )
    return after, redacted


def _of_rounds(fold: MarksFold, rounds: Collection[str]) -> tuple[set[Mark], dict[str, str]]:
    """The marks of rounds, and how far these are."""
    marks = {mark for mark in fold.marks.values() if mark.round in rounds}
    return marks, {round_: fold.statuses[round_] for round_ in rounds}


def _fold(lines: Sequence[Line], path: Path) -> MarksFold:
    fold = MarksFold()
    fold_lines(fold, lines, str(path))
    return fold


def _received(
    each: _Returned,
    before: Sequence[Line],
    after: Sequence[Line],
    redacted: int,
    assignments: Sequence[Assignment],
) -> Received:
    stretches = [
        (a.t0_ns - MARGIN_NS, a.t1_ns + MARGIN_NS)
        for a in assignments
        if (a.session, a.rater) == (each.session.name, each.rater)
    ]
    beyond = sum(
        not any(begin <= mark.t0_ns < end for begin, end in stretches) for mark in each.marks
    )
    round_ = next(str(line.body["round"]) for line in reversed(each.lines) if line.kind == OPENED)
    fold = _fold(after, rater_file(each.session.path, each.rater))
    return Received(
        each.session.name,
        each.rater,
        len(fold.marks),
        len(after) - len(before),
        beyond,
        fold.statuses.get(round_, "draft"),
        each.ignored,
        redacted,
        each.remark,
    )
