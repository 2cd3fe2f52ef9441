"""Two versions of a study next to each other: what its files say differently.

A version is a study file with all that it names, or the copy that a session or a registration
keeps in its folder `study`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from labapp.base.documents import Path_, format_path, parse_yaml
from labapp.base.errors import StudyError, StudyNotFound
from labapp.base.reading import files as reading
from labapp.study import loading

COPY = "study"
"""The folder of a session, and of a registration, that has the study's files."""
MAIN = "study file"
"""What the study's own file is called here: two versions may name it differently."""
NOTHING = "–"
LARGEST = 512 * 1024 * 1024
"""Bytes of a file: sounds are the largest."""


class Difference(NamedTuple):
    """What two versions say differently. before, after: as text; None if one says nothing.

    file: its name in the study's folder; place: the key in it, or the line of a text.
    """

    file: str
    place: str
    before: str | None
    after: str | None


def read_files(version: str) -> dict[str, bytes]:
    """The files of a version, by name. version: an id or file of a study, or the folder of a
    session or registration.

    Raises LabappError for a study that cannot be read.
    """
    folder = Path(version) / COPY
    if not reading.is_folder(folder):
        if reading.is_folder(Path(version)):
            raise StudyNotFound(
                f"{version} has no folder {COPY!r} with a copy of a study.",
                todo="Give a study, its file, or the folder of a session or registration.",
            )
        loaded = loading.load(version)
        return {MAIN if loaded.path.name == name else name: c for name, c in loaded.files.items()}
    try:
        files = {name: reading.content(folder / name, LARGEST) for name in reading.below(folder)}
    except OSError as error:
        raise StudyError(
            f"The copy of the study in {folder} cannot be read ({error.strerror or error}).",
            todo="Check the folder, or give another session or the study's file.",
        ) from error
    return {
        MAIN if name.endswith(".yaml") and "/" not in name else name: content
        for name, content in files.items()
    }


def compare(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[Difference]:
    """What two versions say differently, file by file; each by its files, as `read_files` has
    them."""
    for file in sorted({*before, *after}, key=lambda name: (name != MAIN, name)):
        if before.get(file) == after.get(file):
            continue
        if file not in before or file not in after:
            there = "the file is there"
            pair = (there if file in before else None, there if file in after else None)
            yield Difference(file, "", *pair)
        elif file == MAIN or file.endswith(".yaml"):
            values = [parse_yaml(Path(file), files[file]).value for files in (before, after)]
            for place, old, new in _compare_values((), *values):
                yield Difference(file, format_path(place), _write(old), _write(new))
        else:
            yield from _compare_lines(file, before[file], after[file])


_ABSENT = object()


def _write(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _compare_values(place: Path_, before: Any, after: Any) -> Iterator[tuple[Path_, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            pair = before.get(key, _ABSENT), after.get(key, _ABSENT)
            yield from _compare_values((*place, key), *pair)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(place, before, after)
    elif before != after or type(before) is not type(after):
        yield place, before, after


def _compare_lists(
    place: Path_, before: Sequence[Any], after: Sequence[Any]
) -> Iterator[tuple[Path_, Any, Any]]:
    """Those with ids by their ids; others by what stands where, with what was put between."""
    ids = [
        [str(each["id"]) if isinstance(each, dict) and "id" in each else "" for each in some]
        for some in (before, after)
    ]
    if all(ids) and all(all(some) and len(set(some)) == len(some) for some in ids):
        named = [dict(zip(some, values, strict=True)) for some, values in
                 zip(ids, (before, after), strict=True)]  # fmt: skip
        yield from _compare_values(place, *named)
        if ids[0] != ids[1] and set(ids[0]) == set(ids[1]):
            yield place, f"order: {', '.join(ids[0])}", f"order: {', '.join(ids[1])}"
        return
    keys = [[json.dumps(each, sort_keys=True, default=str) for each in some]
            for some in (before, after)]  # fmt: skip
    for what, i, j, k, m in difflib.SequenceMatcher(
        None, keys[0], keys[1], autojunk=False
    ).get_opcodes():
        if what == "equal":
            continue
        for step in range(max(j - i, m - k)):
            old = before[i + step] if i + step < j else _ABSENT
            new = after[k + step] if k + step < m else _ABSENT
            at = i + step if old is not _ABSENT else k + step
            yield from _compare_values((*place, at), old, new)


def _compare_lines(file: str, before: bytes, after: bytes) -> Iterator[Difference]:
    """Texts line by line; of other files only that they differ."""
    try:
        old, new = (content.decode("utf-8").splitlines() for content in (before, after))
    except UnicodeDecodeError:
        yield Difference(file, "", f"{len(before)} bytes", f"{len(after)} other bytes")
        return
    for what, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            pair = ("\n".join(old[i:j]) or None, "\n".join(new[k:m]) or None)
            yield Difference(file, f"line {(i if j > i else k) + 1}", *pair)


def format_side_by_side(difference: Difference, width: int) -> Iterator[str]:
    """A difference in two columns of some characters each, the earlier version on the left."""
    from textwrap import wrap

    columns = [
        [row for line in (text or NOTHING).splitlines() for row in wrap(line, width) or [""]]
        for text in (difference.before, difference.after)
    ]
    for row in range(max(map(len, columns))):
        left, right = (column[row] if row < len(column) else "" for column in columns)
        yield f"  {left:{width}}  {right}".rstrip()
