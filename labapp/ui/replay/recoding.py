"""Units that others coded otherwise, and codes that are added while coding."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from labapp.annotations import codebook as codebooks
from labapp.annotations.codebook import Codebook
from labapp.annotations.codebook_document import COLOURS
from labapp.annotations.model import Mark, RaterMarks, Unit
from labapp.errors import AnnotationError
from labapp.reading import files
from labapp.ui.language import tr


def disagreements(
    units: Sequence[Unit],
    own: Mapping[str, Collection[Mark]],
    others: Mapping[str, RaterMarks],
    tiers: Collection[str],
) -> list[str]:
    """The ids of units that another rater coded otherwise, on some tier, in order of time."""
    differing = set()
    for rater in others.values():
        theirs: dict[str, set[tuple[str, str, int | None]]] = {}
        for mark in rater.marks:
            if mark.unit is not None and mark.tier in tiers:
                theirs.setdefault(mark.unit, set()).add((mark.tier, mark.code, mark.value))
        for unit in units:
            mine = {
                (mark.tier, mark.code, mark.value)
                for mark in own.get(unit.id, ())
                if mark.tier in tiers
            }
            if unit.id in theirs and theirs[unit.id] != mine:
                differing.add(unit.id)
    return [unit.id for unit in units if unit.id in differing]


def path_of(study: Path, codebook: Codebook) -> Path:
    """The file of a codebook in its study. Raises AnnotationError where it is not there."""
    for pattern in codebooks.PATTERNS:
        for path in sorted(study.glob(pattern)):
            if codebooks.read(path).id == codebook.id:
                return path
    raise AnnotationError(
        tr("The codebook {name} is not in {study} any more.", name=repr(codebook.id), study=study)
    )


def free_key(codebook: Codebook, tier: str, name: str) -> str:
    """The first letter of a name that no code of a tier has, else any; empty where none is free."""
    letters = [letter for letter in name.casefold() if letter.isalpha() and letter.isascii()]
    for letter in [*letters, *"abcdefghijklmnopqrstuvwxyz"]:
        if codebook.by_key(tier, letter) is None:
            return str(letter)
    return ""


def with_code(study: Path, codebook: Codebook, tier: str, name: str) -> Codebook:
    """Add a code to a tier of a codebook's file, as its next version.

    What stands in the file stays as it is, with its comments: a code is added at its end, and the
    version counted up.

    Returns
    -------
    Codebook
        The next version.

    Raises
    ------
    AnnotationError
        There is such a code, or the file cannot be changed in this way.
    """
    path = path_of(study, codebook)
    code_id = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or "code"
    if not code_id[0].isalpha():
        code_id = f"code_{code_id}"
    if codebook.code(code_id) is not None:
        raise AnnotationError(
            tr("There is a code {code} already.", code=code_id),
            todo=tr("Find it with /, or take another name."),
        )
    try:
        content = files.content(path, codebooks.LARGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise AnnotationError(tr("{path} cannot be read ({why}).", path=path, why=error)) from error
    taken = [code.colour for code in codebook.codes if code.tier == tier]
    colour = str(min(COLOURS, key=taken.count))
    key = free_key(codebook, tier, name)
    fields = [f"id: {code_id}", f"tier: {tier}", f'name: "{_quoted(name)}"', f'colour: "{colour}"']
    if key:
        fields.append(f'key: "{key}"')
    tier_record = codebook.tier(tier)
    if tier_record is not None and tier_record.on == "spans":
        fields.append("kind: span")
    line = f"  - {{{', '.join(fields)}}}"
    changed = _counted_up(content, codebook.version)
    changed = _inserted(changed, line)
    made = codebooks.parse(changed.encode(), path)
    if made.code(code_id) is None or len(made.codes) != len(codebook.codes) + 1:
        raise AnnotationError(
            tr("The codebook cannot take a code in this way."),
            todo=tr("Add it by hand to {path}.", path=path),
        )
    codebooks.store_version(study, codebook)
    _replace(path, changed.encode())
    return made


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _counted_up(content: str, version: int) -> str:
    pattern = rf"^(version:\s*){version}\b"
    return re.sub(pattern, rf"\g<1>{version + 1}", content, count=1, flags=re.MULTILINE)


def _inserted(content: str, line: str) -> str:
    """A line at the end of the list of codes, which ends where the next key begins."""
    lines = content.rstrip("\n").split("\n")
    begin = next((i for i, text in enumerate(lines) if text.startswith("codes:")), None)
    if begin is None:
        return content
    end = begin + 1
    last = begin
    while end < len(lines) and (not lines[end] or lines[end][0] in " \t-#"):
        if lines[end].strip() and not lines[end].lstrip().startswith("#"):
            last = end
        end += 1
    first = next((t for t in lines[begin + 1 : end] if t.lstrip().startswith("- ")), "  - ")
    indent = first[: len(first) - len(first.lstrip())]
    lines.insert(last + 1, indent + line.strip())
    return "\n".join(lines) + "\n"


def _replace(path: Path, content: bytes) -> None:
    from labapp import durable

    draft = path.with_name(f".{path.name}.draft")
    try:
        durable.write(draft, content)
        draft.replace(path)
        durable.sync_folder(path.parent)
    except OSError as error:
        raise AnnotationError(
            tr("{path} could not be changed ({why}).", path=path, why=error.strerror or error),
            todo=tr("Make room, or see that you may write there."),
        ) from error
