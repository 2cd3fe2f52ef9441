"""Writing a bundle: beside its place first, put there whole at the end, never over anything.

manifest.json: SHA-256 and size of every file of a bundle, and of the manifest itself.

Tab-separated tables as BIDS wants them, each with a JSON sidecar that describes its columns.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from labapp.base import access, durable
from labapp.base.errors import BundleError, ExportExists
from labapp.base.reading.tables import AsItIs, escape_cell
from labapp.base.reading.values import json_value
from labapp.record.journal.flac import WAV
from labapp.record.journal.layout import BUNDLE_VERSION, FolderTree, Tree, refuse_inside
from labapp.session.exports import log_export
from labapp.study.plugins.bids import Column

ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every entry of a zipped bundle: equal trees make equal archives."""
ZIP_MODE = 0o600
"""What may be done with its files where they are unpacked: people's data belong only to their
owner, whatever the umask there is."""


class BundleFolder:
    """A folder that is being filled, with the hash of every file in it.

    undated: the times of its files and folders must not tell when they were made. withdrew: how
    many people withdrew from the study, of whom nothing is in it. sound: the format that was asked
    for; an `Exporter` that has no other than WAV need not look at it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, FileEntry] = {}
        self.undated = False
        self.withdrew = 0
        self.sound = WAV

    def add_text(self, name: str, text: str) -> None:
        self.add_bytes(name, text.encode())

    def add_bytes(self, name: str, content: bytes) -> None:
        self.add_written(name, lambda target: target.write(content))

    def add_written(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """A file that `write` fills, at any place in it."""
        with self._create(name) as target:
            write(target)
        with (self.root / name).open("rb") as written:
            # Hashed as read back, so that the manifest describes what is on the disk.
            self.files[name] = hash_stream(written)

    def add_stream(self, name: str, source: IO[bytes]) -> None:
        """Copy a stream of any length."""
        with self._create(name) as target:
            self.files[name] = hash_stream(source, target)

    def _create(self, name: str) -> IO[bytes]:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")


@contextmanager
def create_bundle(
    out: Path, sessions: Sequence[Path], facts: Mapping[str, Any], *, zipped: bool
) -> Iterator[BundleFolder]:
    """A folder to fill; when the block ends well it (or its archive) stands at `out`.

    Whatever goes wrong, nothing is left beside `out`; what a killed program leaves is known to the
    log of exports. sessions: folders of which the bundle is made; facts: for the log. Raises
    ExportExists when something is at `out`, BundleError when it cannot be written or noted.
    """
    refuse_existing(out)
    try:
        with log_export(sessions, out, facts) as hidden:
            tree = hidden / "bundle"
            access.own_folder(tree, exist_ok=False)
            bundle = BundleFolder(tree)
            yield bundle
            made = tree
            if zipped:
                made = hidden / "bundle.zip"
                with access.create(made) as target:
                    write_zip(FolderTree(tree), out.stem, target)
            if bundle.undated:
                stamp = datetime(*ZIP_TIME, tzinfo=UTC).timestamp()
                for path in (*sorted(made.rglob("*"), reverse=True), made):
                    os.utime(path, (stamp, stamp))
            _make_durable(made)
            durable.take_name(made, out)
    except FileExistsError as error:
        refuse_existing(out)
        raise _make_write_error(out, error) from error
    except durable.NotConfirmedError as error:
        raise BundleError(
            f"The bundle {out} was written, but {error.strerror}.",
            safe="The sessions are untouched. The bundle is complete, but a power cut could "
            "still lose it.",
            todo="Check this disk, and then the bundle: labapp sessions verify.",
        ) from error
    except OSError as error:
        raise _make_write_error(out, error) from error


def _make_durable(made: Path) -> None:
    """Have a file, or a folder and all in it, on the disk before it gets its name: a bundle that
    is there after the power failed is whole."""
    for path in (*sorted(made.rglob("*"), reverse=True), made):
        if os.name != "posix" and path.is_dir():
            continue  # Windows cannot open a folder
        descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_existing(out: Path) -> None:
    """Raises ExportExists when there is anything at `out`, UsageError if it lies in a session's
    folder."""
    refuse_inside(out)
    if out.exists() or out.is_symlink():
        raise ExportExists(
            f"{out} already exists, and an export never overwrites anything.",
            safe="The existing bundle and the sessions were not touched.",
            todo="Choose another --out, or move the old bundle away.",
        )


def write_zip(tree: Tree, top: str, target: IO[bytes], mode: int = ZIP_MODE) -> None:
    """The files of `tree` as a zip archive under the folder `top`. mode: the rights of each.

    Stored, sorted and dated 1980, so that the same tree gives the same bytes on every machine and
    a check can compare the whole archive. Sound, the bulk of a bundle, hardly deflates anyway.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in tree.names():
            entry = zipfile.ZipInfo(f"{top}/{name}", ZIP_TIME)
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.file_size = tree.size(name)
            with tree.open(name) as source, archive.open(entry, "w") as member:
                shutil.copyfileobj(source, member, 1 << 20)


def _make_write_error(out: Path, error: OSError) -> BundleError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = f"The disk is full: the bundle {out} could not be written."
        todo = "Free some space, or choose an --out on another disk."
    else:
        what = f"The bundle {out} could not be written ({error.strerror or error})."
        todo = f"Choose an --out where you may write (labapp tried {os.fspath(out.parent)})."
    return BundleError(
        what, safe="The sessions are untouched, and the unfinished bundle was removed.", todo=todo
    )


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
        raise _make_manifest_error(f"it cannot be read ({error})") from error
    if not whole:
        raise _make_manifest_error("it was changed since the export")
    return {name: content[name] for name in content if name != "files"}, files


def _make_manifest_error(why: str) -> BundleError:
    return BundleError(
        f"The manifest was changed or damaged after it was written: {why}.",
        safe="Nothing was changed now.",
        todo="Use another copy of the bundle, or export the sessions again.",
    )


QUOTE = '"'
_ENTITIES = """
acquisition ceagent chunk datatype direction echo extension flip fmap inv modality mt nucleus part
proc reconstruction recording run sample scans session space staining subject suffix task tracer
tracksys volume
"""
ENTITIES = frozenset(_ENTITIES.split())
"""What the names of BIDS files say, as PyBIDS calls it."""


def bids_name(name: str) -> str:
    """A column's name in BIDS files: `task`, `sessions` and the like stand behind `labapp_`.

    A sidecar describes each column under its name, and programs take what stands there under the
    name of an entity, or of several of it, for the entity's value: PyBIDS refuses a dataset
    if it is not what the file's name says.
    """
    return f"labapp_{name}" if {name, name.removesuffix("s")} & ENTITIES else name


@dataclass(frozen=True)
class Table:
    """Columns and rows; a row holds its cells by column name, absent ones are n/a."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def text(self) -> str:
        """The file: a header line and one line per row."""
        names = [column.name for column in self.columns]
        lines = ["\t".join(map(bids_name, names))]
        lines += [
            "\t".join([cell(row[name]) if name in row else "n/a" for name in names])
            for row in self.rows
        ]
        return "\n".join(lines) + "\n"

    def sidecar(self, **facts: Any) -> str:
        """The JSON file beside it; `facts` come first (TaskName and the like)."""
        return json_text({**facts, **describe_columns(self.columns)})


def describe_columns(columns: Sequence[Column]) -> dict[str, Any]:
    """What a sidecar or the codebook says of columns, by their names in BIDS files."""
    return {bids_name(column.name): column.sidecar() for column in columns}


def cell(value: Any) -> str:
    """A cell: n/a for nothing, true/false, numbers as written in JSON, lists as JSON, text without
    tabs and line breaks (the journal has it verbatim), escaped as `labapp.base.reading.tables`
    says.

    What holds a quotation mark is quoted, with its marks doubled, as in CSV: R takes one anywhere
    in a cell for the beginning of a quotation, and loses the rows up to the next.
    """
    if value is None or value == "":
        return "n/a"
    text = _format_cell(value)
    return f'"{text.replace(QUOTE, QUOTE * 2)}"' if QUOTE in text else text


def _format_cell(value: Any) -> str:
    if isinstance(value, AsItIs):
        return value
    if isinstance(value, str):
        return escape_cell(" ".join(value.split()) if not value.isprintable() else value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def json_text(value: Any) -> str:
    """JSON for people and for comparing: indented, in the order given, with a last newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
