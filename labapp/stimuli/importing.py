"""Taking a stimulus set that was made elsewhere into the user's own folder."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from labapp import leftovers
from labapp.errors import StimuliError
from labapp.stimuli import library, sources
from labapp.stimuli.check import CheckResult, check
from labapp.stimuli.library import MANIFEST, StimulusSet
from labapp.stimuli.manifest import Manifest


def read_checked(folder: Path) -> CheckResult:
    """The set in a folder with nothing wrong. Raises StimuliError with all that is wrong."""
    result = check(sources.read(folder))
    if result.manifest is None:
        raise library.refusal(f"The stimulus set in {folder} cannot be shown", result.faults)
    return result


def load_any(reference: str) -> StimulusSet:
    """A set by its id or folder; in a folder it may be in tables still, before it is imported.

    Raises StimuliError: there is none, or something is wrong with it.
    """
    folder = Path(reference)
    if (folder / MANIFEST).is_file() or not (folder / library.HEADER).is_file():
        return library.load(reference)
    manifest = read_checked(folder).manifest
    assert manifest is not None
    return StimulusSet(manifest, folder, hashlib.sha256(manifest_text(manifest)).hexdigest())


def import_set(folder: Path, *, into: Path | None = None) -> tuple[Path, CheckResult]:
    """Check a set and copy what it names into `into`/<id>, by default the user's own folder.

    Returns
    -------
    The new folder, and what was found, with warnings.

    Raises
    ------
    StimuliError : something is wrong with the set, or there is one of that id.
    """
    result = read_checked(folder)
    assert result.manifest is not None
    root = library.own_folder() if into is None else into
    taken = [path / result.manifest.id for path in dict.fromkeys((library.shipped_folder(), root))]
    for path in taken:
        if path.exists():
            raise StimuliError(
                f"There is a stimulus set {result.manifest.id!r} already, in {path}.",
                todo="Give the new one another id; studies and records name the old one.",
            )
    return write(root / result.manifest.id, result.manifest, result.files), result


def write(folder: Path, manifest: Manifest, files: Mapping[str, bytes]) -> Path:
    """Write a set into a new folder, whole or not at all.

    Raises StimuliError where the folder exists or cannot be written.
    """
    if folder.exists():
        raise StimuliError(
            f"{folder} exists; nothing is overwritten.", todo="Name a folder that does not exist."
        )
    leftovers.clear(folder.parent, leftovers.DRAFT)
    draft = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        for name, content in {**files, MANIFEST: manifest_text(manifest)}.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        draft.rename(folder)
    except OSError as error:
        raise StimuliError(
            f"{folder} cannot be written: {error.strerror}.",
            todo="Make room, or choose a folder that can be written.",
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def manifest_text(manifest: Manifest) -> bytes:
    """A manifest's bytes, without what is as it is by default."""
    value = {"format": 1, **manifest.model_dump(mode="json", exclude_defaults=True)}
    return sources.dumped(value)
