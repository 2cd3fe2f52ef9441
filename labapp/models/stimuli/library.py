"""Where stimulus sets are, and reading one: the shipped ones, and those a user imported or built.

<id>/manifest.json       what the set says of itself, see `labapp.models.stimuli.manifest`
<id>/…                   its pictures
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from labapp.base import leftovers, resources
from labapp.base.documents import describe_allowed, innermost, suggest_name
from labapp.base.errors import StimuliError, StimuliNotFound
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.models.stimuli import pictures
from labapp.models.stimuli.manifest import PATTERNS, Manifest

MANIFEST = "manifest.json"
HEADER = "set.json"
"""File that describes a set made of tables; the tables lie beside it."""
LARGEST = 16 * files.MIB
"""Most bytes of a manifest. A thousand photos with forty rows each take ten megabytes."""
MOST_KEYS = 1_000
"""Keys of one object of a manifest."""
MOST_FAULTS = 50
"""Faults that an error lists; the others are counted."""


@dataclass(frozen=True, slots=True)
class StimulusSet:
    """A stimulus set that was read. sha256: of the bytes of its manifest; memory: what was worked
    out from it, for the plans of all participants ask for the same."""

    manifest: Manifest
    folder: Path
    sha256: str
    memory: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def id(self) -> str:
        return self.manifest.id

    def identity_of(self, ref: str) -> str:
        """What a picture of the set shows (`labapp.models.stimuli.pictures.identity_of`), read
        once. Raises StimuliError if it is missing."""
        key = ("identity", ref)
        if key not in self.memory:
            self.memory[key] = pictures.identity_of(self.folder, ref)
        identity: str = self.memory[key]
        return identity


def shipped_folder() -> Path:
    """Folder of the sets that come with the program."""
    return resources.stimuli()


def own_folder() -> Path:
    """Folder of the user's own sets; it need not exist."""
    return resources.user_stimuli()


def set_folders() -> tuple[Path, ...]:
    """Folders of all sets, the shipped ones first, each group by name."""
    folders: list[Path] = []
    for root in dict.fromkeys((shipped_folder(), own_folder())):
        if root.is_dir():
            folders += sorted(path.parent for path in root.glob(f"*/{MANIFEST}"))
    return tuple(folders)


def find(reference: str | Path) -> Path:
    """The folder of a set, by its id or by its path.

    An id never means a folder of that name in the current folder. Raises StimuliError if there
    is none, and where an id names a shipped set and one of the user's own: which of them a study
    shows must not depend on an order of folders.
    """
    folder, name = Path(reference), str(reference)
    if isinstance(reference, str) and folder.name == name:
        roots = dict.fromkeys((shipped_folder(), own_folder()))
        matches = [root / name for root in roots if files.is_file(root / name / MANIFEST)]
        if len(matches) > 1:
            raise StimuliError(
                f"Two stimulus sets have the id {name!r}: {' and '.join(map(str, matches))}.",
                safe="Both are unchanged.",
                todo="Move yours elsewhere and refer to its folder in your study, or change "
                "the id in its manifest and the name of its folder.",
            )
        if matches:
            return matches[0]
    if files.is_file(folder / MANIFEST):
        return folder
    if files.is_file(folder / HEADER):
        raise StimuliError(
            f"The stimulus set in {name} consists of tables, which a study cannot refer to.",
            todo=f"Import it with `labapp stimuli import {name}`, and refer to it by the id in "
            f"its {HEADER}.",
        )
    names = ", ".join(dict.fromkeys(path.name for path in set_folders())) or "none"
    raise StimuliNotFound(
        f"There is no stimulus set {name!r}.",
        todo=f"Known sets: {names}. Import your own folder with `labapp stimuli import DIR`.",
    )


def load(reference: str | Path) -> StimulusSet:
    """A stimulus set by id or folder, its manifest checked only against the schema (whether its
    pictures are there is checked where it is imported). Raises StimuliError: there is none, or its
    manifest is not readable; every fault is named."""
    folder = find(reference)
    content = read_bytes(folder / MANIFEST)
    manifest = parse(content, folder / MANIFEST)
    if folder != Path(reference) and manifest.id != str(reference):
        raise StimuliError(
            f"The stimulus set in {folder} has the id {manifest.id!r}.",
            todo="Move it back to the folder that matches its id.",
        )
    return StimulusSet(manifest, folder, hashlib.sha256(content).hexdigest())


def read_bytes(path: Path) -> bytes:
    """A file of a set as it is. Raises StimuliError if it cannot be read or is too large."""
    try:
        return files.content(path, LARGEST)
    except OSError as error:
        raise StimuliError(
            f"{path} cannot be read: {error.strerror}.", todo="Check that it is the right file."
        ) from error


def as_text(content: bytes, path: Path) -> str:
    """A file's text. Raises StimuliError with the line if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StimuliError(
            f"{path}, line {line}: this is not UTF-8 text (byte 0x{content[error.start]:02x}).",
            todo="Save the file as UTF-8; in Excel: “CSV UTF-8 (comma delimited)”.",
        ) from error


def parse(content: bytes, path: Path) -> Manifest:
    """The manifest in some bytes; `path` names it. Raises StimuliError with its faults."""
    value = parse_json(content, path)
    try:
        return Manifest.model_validate(value)
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
        faults = [
            f"{format_place(error['loc'], value)}: {schema_fault(error)}"
            for error in innermost(errors)
        ]
        raise refusal(f"{path} is not a valid manifest", faults) from invalid


def parse_json(content: bytes, path: Path) -> Any:
    """The value in some bytes of JSON, no key twice. Raises StimuliError with the line."""
    text = as_text(content, path)
    try:
        return json_value(text, _once_each)
    except json.JSONDecodeError as error:
        raise StimuliError(
            f"{path}, line {error.lineno}: this is not valid JSON ({error.msg}).",
            todo="Correct this line.",
        ) from error
    except ValueError as error:
        raise StimuliError(
            f"{path} is not valid JSON ({error}).", todo="Correct the file."
        ) from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        raise ValueError(f"an object in it has more than {MOST_KEYS:,} keys")
    out = dict(pairs)
    if len(out) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice in one place")
    return out


def schema_fault(error: Mapping[str, Any]) -> str:
    """One error of pydantic in words: what was found, and what is allowed."""
    if error["type"] == "missing":
        return "missing"
    if error["type"] == "extra_forbidden":
        near = suggest_name(error, Manifest)
        return f"unknown key (did you mean {near!r}?)" if near else "unknown key"
    if error["type"] == "too_short":
        return f"found {len(error['input'])}; at least {error['ctx']['min_length']} needed"
    value = repr(error["input"])
    value = value if len(value) <= 60 else value[:57] + "…"
    if words := PATTERNS.get(str(error.get("ctx", {}).get("pattern"))):
        return f"found {value}; {words}"
    return f"found {value}; allowed: {describe_allowed(error)}"


def format_place(loc: Iterable[str | int], value: Any) -> str:
    """A place in a manifest, list items that have an id by it: `photos[p3].rows[0].region`."""
    out = ""
    for step in loc:
        inner = None
        if isinstance(value, dict):
            inner = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            inner = value[step]
        if isinstance(step, int):
            name = inner.get("id") if isinstance(inner, dict) else None
            out += f"[{name if isinstance(name, str) else step}]"
        else:
            out += f".{step}" if out else step
        value = inner
    return out or "the file"


def refusal(what: str, faults: list[str]) -> StimuliError:
    """An error that lists faults, at most `MOST_FAULTS` of them."""
    lines = [f"  {fault}" for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        lines.append(f"  … and {len(faults) - MOST_FAULTS} more")
    count = f"{len(faults)} fault" + ("s" if len(faults) > 1 else "")
    return StimuliError(
        f"{what} ({count}):\n" + "\n".join(lines), todo="Correct these and try again."
    )


def refuse_shipped(set_id: str) -> None:
    """Raises StimuliError if a shipped set has this id: studies that name it show that one, and
    not one of the user's own folder."""
    if (shipped_folder() / set_id).exists():
        raise StimuliError(
            f"{set_id} comes with labapp, and studies that refer to it show that set.",
            todo="Give the new set another id (with --id, if the command has it), or choose "
            "its folder with --out and refer to this folder in your study.",
        )


def refuse_existing(folder: Path) -> None:
    """Raises StimuliError if there is something at a place to write."""
    if folder.exists():
        raise StimuliError(
            f"{folder} already exists, and nothing is overwritten.",
            todo="Choose a folder that does not exist yet.",
        )


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A draft of a new folder, see `leftovers.write_atomically`. Raises StimuliError."""
    refuse_existing(folder)
    try:
        with leftovers.write_atomically(folder) as draft:
            yield draft
    except OSError as error:
        raise StimuliError(
            f"{folder} could not be written: {error.strerror}.",
            todo="Free some space, or choose a folder where you may write.",
        ) from error


def list_sets() -> list[dict[str, Any]]:
    """A mapping for each set: id, source (shipped or own) and folder; with title, kind, method,
    sets and photos, or with the problem if the set cannot be read."""
    out = []
    for folder in set_folders():
        shipped = folder.parent == shipped_folder()
        row: dict[str, Any] = {
            "id": folder.name,
            "source": "shipped" if shipped else "own",
            "folder": folder,
        }
        try:
            manifest = load(folder).manifest
        except StimuliError as error:
            row["problem"] = error.what.splitlines()[0]
        else:
            row |= {
                "title": manifest.title,
                "kind": manifest.kind,
                "method": manifest.method.name,
                "sets": len(manifest.sets),
                "photos": len(manifest.photos),
            }
        out.append(row)
    return out


def list_lines(rows: list[dict[str, Any]]) -> list[str]:
    """What `list_sets` gives as text, a line for each set."""
    wide = max((len(row["id"]) for row in rows), default=0)
    out = []
    for row in rows:
        if "problem" in row:
            text = row["problem"]
        else:
            sets = "1 set" if row["sets"] == 1 else f"{row['sets']} sets"
            text = f"{row['title']} ({sets}, {row['photos']} photos)"
        out.append(f"{row['id']:{wide}}  {row['source']:7}  {text}")
    return [*out, "", f"shipped: {resources.stimuli()}", f"own:     {resources.user_stimuli()}"]
