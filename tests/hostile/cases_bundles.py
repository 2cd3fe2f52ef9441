"""Hostile bundles and archives."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import struct
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from labapp.base.errors import BundleError
from labapp.record.journal.arrow import SCHEMA, rows_of
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from tests.hostile import rehashed
from tests.hostile.corpus import DEEP, MIB, SECOND, case


@cache
def exported() -> Path:
    """A bundle that every case copies: writing one takes longer than to check it."""
    kept = tempfile.TemporaryDirectory(prefix="labapp-hostile-")
    atexit.register(kept.cleanup)
    rows = [row for row in rehashed.rows_of(SECOND) if not row.kind.startswith("audio")]
    folder = rehashed.write(Path(kept.name, "data"), rehashed.chained(rows))
    return export([folder], Path(kept.name, "bundle"), audio=False)


def bundle(tmp: Path) -> Path:
    return shutil.copytree(exported(), tmp / "bundle")


def verified(path: Path) -> None:
    """Raises what is wrong with a bundle."""
    report = verify(path)
    assert not report.ok
    raise BundleError("; ".join(report.problems))


for _file in ("manifest.json", "sub-P01/ses-1/session.json", "sub-P01/ses-1/environment.json"):

    def _deep_file(tmp: Path, file: str = _file) -> None:
        path = bundle(tmp)
        (path / "sourcedata" / "labapp" / file).write_text("[" * DEEP)
        verified(path)

    def _sparse_file(tmp: Path, file: str = _file) -> None:
        path = bundle(tmp)
        with (path / "sourcedata" / "labapp" / file).open("wb") as stream:
            stream.truncate(8 * 1024 * MIB if "manifest" in file else 64 * MIB)
        verified(path)

    def _piped_file(tmp: Path, file: str = _file) -> None:
        path = bundle(tmp)
        (path / "sourcedata" / "labapp" / file).unlink()
        os.mkfifo(path / "sourcedata" / "labapp" / file)
        verified(path)

    case(f"bundle: {_file} is deep", "levels deep")(_deep_file)
    case(f"bundle: {_file} is sparse", Path(_file).name)(_sparse_file)
    case(f"bundle: {_file} is a pipe", Path(_file).name)(_piped_file)


def parquet(tmp: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = {"int64": 1, "int32": 1, "string": "x" * 100, "bool": False}
    count = 100_000
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))
        if kind == "string"
        else pa.array(np.full(count, value, kind), field.type)
        for field in SCHEMA
        for kind, value in [(str(field.type), values[str(field.type)])]
    ]
    table = pa.Table.from_arrays(columns, [field.name for field in SCHEMA])
    with pq.ParquetWriter(tmp / "journal.parquet", table.schema) as writer:
        for _ in range(rows // count):
            writer.write_table(table)
    assert (tmp / "journal.parquet").stat().st_size < MIB
    rows_of((tmp / "journal.parquet").read_bytes(), "journal.parquet")


@case("parquet: 3 million equal rows", "at most 1000000")
def _(tmp: Path) -> None:
    parquet(tmp, 3_000_000)


@case("parquet: as many equal rows as are read", "")
def _(tmp: Path) -> None:
    parquet(tmp, 1_000_000)


@case("parquet: other columns", "contains string, not int64")
def _(tmp: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: ["1"] for name in SCHEMA.names})
    pq.write_table(table, tmp / "journal.parquet")
    rows_of((tmp / "journal.parquet").read_bytes(), "journal.parquet")


def archive(tmp: Path, *entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> None:
    path = tmp / "bundle.zip"
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, content in entries:
            opened.writestr(zipfile.ZipInfo(name), content, method)
    verified(path)


MANIFEST = "b/sourcedata/labapp/manifest.json"
ZIPS: dict[str, tuple[tuple[tuple[str, bytes], ...], str]] = {
    "leads out": (((MANIFEST, b"{}"), ("../../x", b"")), "leads out"),
    "absolute": (((MANIFEST, b"{}"), ("/etc/x", b"")), "is not below"),
    "of Windows": (((MANIFEST, b"{}"), ("C:/x", b"")), "is not below"),
    "backslashes": (((MANIFEST, b"{}"), ("b\\..\\x", b"")), "contains a backslash"),
    "a control character": (((MANIFEST, b"{}"), ("b/\x1bx", b"")), "control character"),
    "of 300 letters": (((MANIFEST, b"{}"), ("b/" + "x" * 300, b"")), "longer than 255"),
    "clashing": (((MANIFEST, b"{}"), ("b/README", b""), ("b/readme", b"")), "upper and lower"),
}
for _name, (_entries, _words) in ZIPS.items():
    case(f"zip: a name {_name}", _words)(lambda tmp, entries=_entries: archive(tmp, *entries))


@case("zip: a name twice", "occurs twice")
def _(tmp: Path) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive(tmp, (MANIFEST, b"{}"), (MANIFEST, b"{}"))


@case("zip: a manifest of 512 MiB", "would unpack")
def _(tmp: Path) -> None:
    path = tmp / "bundle.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened,
        opened.open(MANIFEST, "w", force_zip64=True) as stream,
    ):
        for _ in range(8):
            stream.write(bytes(64 * MIB))
    verified(path)


@case("zip: packed by bzip2", "method that labapp cannot read")
def _(tmp: Path) -> None:
    archive(tmp, (MANIFEST, bytes(MIB)), method=zipfile.ZIP_BZIP2)


@case("zip: a list of entries that lies", "at most 200000")
def _(tmp: Path) -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, 2**32 - 2, 0, 0)
    (tmp / "bundle.zip").write_bytes(b"PK\3\4" + bytes(60) + end)
    verified(tmp / "bundle.zip")


@case("zip: files that overlap", "overlap")
def _(tmp: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        opened.writestr(MANIFEST, os.urandom(100_000))
    content = out.getvalue()
    at = content.index(b"PK\1\2")
    entry, end = content[at:-22], content[-22:]
    other = entry.replace(b"manifest.json", b"manifest.jsom")
    end = end[:8] + struct.pack("<HHL", 2, 2, 2 * len(entry)) + end[16:]
    (tmp / "bundle.zip").write_bytes(content[:at] + entry + other + end)
    verified(tmp / "bundle.zip")
