"""manifest.json: SHA-256 and size of every file of a bundle, and of the manifest itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from labapp.bids.tsv import json_text
from labapp.errors import BundleError
from labapp.journal.layout import BUNDLE_VERSION
from labapp.reading.values import json_value

_CHUNK = 1 << 20
_SELF = "manifest_sha256"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """SHA-256 (hexadecimal) and size in bytes of a file."""

    sha256: str
    size: int


def hash_stream(source: IO[bytes], into: IO[bytes] | None = None) -> FileEntry:
    """Hash a stream to its end, copying it into another one if given."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if into is not None:
            into.write(chunk)
    return FileEntry(digest.hexdigest(), size)


def manifest_text(facts: Mapping[str, Any], files: Mapping[str, FileEntry]) -> str:
    """The manifest. Its last entry is the hash of the text without that entry."""
    content = {
        "bundle_version": BUNDLE_VERSION,
        **facts,
        "files": {
            name: {"sha256": files[name].sha256, "size": files[name].size} for name in sorted(files)
        },
    }
    return json_text(content | {_SELF: _own_hash(content)})


def _own_hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json_text(content).encode()).hexdigest()


def read_manifest(text: bytes) -> tuple[dict[str, Any], dict[str, FileEntry]]:
    """The facts, and the files by name. Raises BundleError unless it is, byte for byte, as it was
    written."""
    try:
        content = json_value(text)
        own = content.pop(_SELF)
        files = {
            str(name): FileEntry(str(entry["sha256"]), int(entry["size"]))
            for name, entry in content["files"].items()
        }
        whole = own == _own_hash(content) and text == json_text(content | {_SELF: own}).encode()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(f"it cannot be read ({error})") from error
    if not whole:
        raise _damaged("it was changed since the export")
    return {name: content[name] for name in content if name != "files"}, files


def _damaged(why: str) -> BundleError:
    return BundleError(
        f"The manifest is not what was written: {why}.",
        safe="Nothing was changed now.",
        todo="Take another copy of the bundle, or export the sessions again.",
    )
