"""Copies a stimulus set that was made elsewhere into the user's own folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from labapp.base.errors import StimuliError
from labapp.models.stimuli import library, sources
from labapp.models.stimuli.check import CheckResult, check
from labapp.models.stimuli.library import MANIFEST, StimulusSet
from labapp.models.stimuli.manifest import Manifest


def read_checked(folder: Path) -> CheckResult:
    """A set that has no faults. Raises StimuliError, which lists all faults."""
    result = check(sources.read(folder))
    if result.manifest is None:
        raise library.refusal(f"The stimulus set in {folder} cannot be shown", result.faults)
    return result


def load_any(reference: str) -> StimulusSet:
    """A set by its id or folder; the folder may also hold tables that are not imported yet. Raises
    StimuliError: there is none, or something is wrong with it."""
    folder = Path(reference)
    if (folder / MANIFEST).is_file() or not (folder / library.HEADER).is_file():
        return library.load(reference)
    manifest = read_checked(folder).manifest
    assert manifest is not None
    return StimulusSet(manifest, folder, hashlib.sha256(manifest_text(manifest)).hexdigest())


def import_set(folder: Path, *, into: Path | None = None) -> tuple[Path, CheckResult]:
    """Check a set and copy what it names into `into`/<id>, by default the user's own folder. Raises
    StimuliError: something is wrong with the set, or there is one of that id. Returns the new
    folder, and what was found, with warnings."""
    result = read_checked(folder)
    assert result.manifest is not None
    root = library.own_folder() if into is None else into
    taken = [path / result.manifest.id for path in dict.fromkeys((library.shipped_folder(), root))]
    for path in taken:
        if path.exists():
            raise StimuliError(
                f"There is already a stimulus set {result.manifest.id!r}, in {path}.",
                todo="Give the new one another id, because studies and records refer to the "
                "old one.",
            )
    return write(root / result.manifest.id, result.manifest, result.files), result


def write(folder: Path, manifest: Manifest, files: Mapping[str, bytes]) -> Path:
    """Write a set into a new folder, whole or not at all. Raises StimuliError: it exists, or cannot
    be."""
    with library.new_folder(folder) as draft:
        for name, content in {**files, MANIFEST: manifest_text(manifest)}.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder


def manifest_text(manifest: Manifest) -> bytes:
    """The bytes of a manifest's file, without fields that have their default."""
    value = {"format": 1, **manifest.model_dump(mode="json", exclude_defaults=True)}
    return sources.encode_manifest(value)
