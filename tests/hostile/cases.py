"""The corpus: inputs that once ended in a traceback, a machine without memory, or never.

A case makes its input in a folder of its own and reads it; what is large is made on the spot. It is
to end in an error of labapp whose text holds the words given with it, or, where these are empty, in
no error at all.
"""

from __future__ import annotations

import bz2
import io
import json
import os
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from labapp import resources
from tests.hostile import rehashed

Case = Callable[[Path], Any]
CASES: dict[str, tuple[Case, str]] = {}
SECOND = rehashed.GOLDEN / "journals" / "second.jsonl"
DEEP = 100_000
MIB = 1024 * 1024


def case(name: str, words: str) -> Callable[[Case], Case]:
    def add(made: Case) -> Case:
        assert name not in CASES
        CASES[name] = made, words
        return made

    return add


# --- studies and what they name --------------------------------------------------------------


def study(tmp: Path, *, add: str = "", change: tuple[str, str] = ("", "")) -> Any:
    from labapp.study.loading import load

    text = (resources.assets() / "studies" / "quickstart.yaml").read_text()
    assert change[0] in text
    path = tmp / "mine.yaml"
    key = add.strip().partition(":")[0]
    text = text.replace(f"{key}:", f"{key}-before:") if key else text
    path.write_text(text.replace(*change) + add)
    return load(path)


STUDIES = {
    "a pattern of gigabytes": ("participants: {pattern: 'P{:0900000000d}'}", "Python format"),
    "a pattern of 4000 digits": (
        "participants: {pattern: '" + "9" * 4000 + "{}'}",
        "Python format",
    ),
    "a pattern that looks inside": ("participants: {pattern: 'P{0.__class__}'}", "Python format"),
    "a rule of nothing": ("assignment: {x: null}", "keys with values"),
    "a rule of a number": ("assignment: {x: 5}", "keys with values"),
    "a rule of a list": ("assignment: {x: [cells]}", "keys with values"),
    "cells of nothing": ("assignment: {x: {cells: null}}", "keys with values"),
    "2000 cells": (
        "assignment: {x: {cells: {" + ",".join(f"c{n}: {{}}" for n in range(2000)) + "}}}",
        "500 items",
    ),
    "deep": ("x: " + "[" * 5000, "levels deep"),
    "deep blocks": ("x:\n" + "".join("  " * n + "-\n" for n in range(1, 300)), "levels deep"),
    "an alias": ("x: &a [1]\ny: *a", "aliases"),
    "infinite": ("x: .inf", "larger than any number"),
    "not a number": ("x: .nan", "larger than any number"),
    "a number of 4000 digits": ("x: " + "9" * 4000, "larger than any number"),
    "a number of 5000 digits": ("x: " + "9" * 5000, "integer string conversion"),
    "a character of no text": (r'x: "\0"', "U+0000"),
    "half a character": (r'x: "\ud800"', "U+D800"),
    "turned around": (r'x: "\u202e"', "U+202E"),
    "a date that never was": ("x: 2026-99-99", "month must be"),
}
for _name, (_add, _words) in STUDIES.items():
    case(f"study: {_name}", _words)(lambda tmp, add=_add: study(tmp, add=f"\n{add}\n"))

CHANGES = {
    "a name of 5000 letters": ("consent.md", "c" * 5000, "too long for a file"),
    "an id of 5000 letters": ("id: quickstart", "id: " + "a" * 5000, "at most 80"),
    "10^9 questions": ("trials:", "trials: 1000000000 #", "less than or equal to 1000"),
}
for _name, (_old, _new, _words) in CHANGES.items():
    case(f"study: {_name}", _words)(lambda tmp, old=_old, new=_new: study(tmp, change=(old, new)))


@case("study: of 2 MiB", "more than the 262144")
def _(tmp: Path) -> Any:
    return study(tmp, add="x: " + "y" * 2 * MIB)


@case("study: a pipe", "no study file")
def _(tmp: Path) -> Any:
    from labapp.study.loading import load

    os.mkfifo(tmp / "mine.yaml")
    return load(tmp / "mine.yaml")


@case("study: a text is a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.study.loading import load

    (tmp / "texts" / "en").mkdir(parents=True)
    os.mkfifo(tmp / "texts" / "en" / "consent.md")
    shutil.copy(resources.assets() / "studies" / "quickstart.yaml", tmp / "mine.yaml")
    return load(tmp / "mine.yaml")


# --- sessions ----------------------------------------------------------------------------------


def session(tmp: Path) -> Path:
    return rehashed.write(tmp / "data", rehashed.rows_of(SECOND))


def listed(tmp: Path) -> list[str]:
    """The lines of `sessions list`, the others beside a bad one still there."""
    from labapp.records.describe import line
    from labapp.records.sessions import list_problems, list_sessions

    lines = [line(one) for one in list_sessions(tmp / "data")] + list_problems(tmp / "data")
    assert any("complete" in one for one in lines), lines
    return lines


def each_reader(folder: Path) -> None:
    """Every reader of a session tells it; the last error is raised."""
    from labapp.analysis.folding.folded import fold
    from labapp.bundle.export import export
    from labapp.bundle.verify import verify
    from labapp.errors import LabappError
    from labapp.records.describe import describe
    from labapp.records.opening import SessionPlace
    from labapp.session.recovery import recover

    told: list[LabappError] = []
    for read in (
        lambda: fold(SessionPlace(folder)),
        lambda: export([folder], folder.parents[2] / "bundle"),
        lambda: recover(folder),
        lambda: describe(folder),
    ):
        try:
            read()
        except LabappError as error:
            told.append(error)
    report = verify(folder)
    assert told or not report.ok
    if told:
        raise told[-1]
    from labapp.errors import RecordError

    raise RecordError("; ".join(report.problems))


def changed_payload(tmp: Path, kind: str, payload: str) -> None:
    rows = rehashed.rows_of(SECOND)
    at = next(index for index, row in enumerate(rows) if row.kind == kind)
    rows = rehashed.replaced(rows, at, rows[at]._replace(payload=payload))
    each_reader(rehashed.write(tmp / "data", rehashed.chained(rows)))


for _kind in ("note.added", "dial.moved", "session.planned", "environment.recorded"):
    case(f"journal: deep JSON in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, "[" * DEEP + "]" * DEEP)
    )
    case(f"journal: 500 levels in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, '{"text":' * 500 + "1" + "}" * 500)
    )
    case(f"journal: NaN in {_kind}", "cannot be read")(
        lambda tmp, kind=_kind: changed_payload(tmp, kind, '{"text":NaN}')
    )


@case("journal: a payload of 64 MiB", "too big")
def _(tmp: Path) -> None:
    folder = session(tmp)
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection, connection:
        connection.execute(
            f"UPDATE events SET payload = CAST(zeroblob({64 * MIB}) AS TEXT) WHERE seq = 9"
        )
    each_reader(folder)


@case("journal: events without end", "not that of a journal")
def _(tmp: Path) -> None:
    folder = session(tmp)
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE events RENAME TO kept")
        connection.execute(
            "CREATE VIEW events AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT i AS seq, segment, t_ns, utc, source, kind, v, stage, trial, attempt, payload,"
            " hash FROM n, kept"
        )
    each_reader(folder)


@case("journal: pages overwritten", "cannot be read")
def _(tmp: Path) -> None:
    folder = session(tmp)
    content = bytearray((folder / "journal.sqlite").read_bytes())
    for at in range(4096, len(content), 4096):
        content[at : at + 64] = os.urandom(64)
    (folder / "journal.sqlite").write_bytes(content)
    each_reader(folder)


PIPES = ("session.lock", "environment.json", "journal.sqlite-wal")


@case("session: pipes for its files", "")
def _(tmp: Path) -> None:
    from labapp.bundle.verify import verify

    folder = session(tmp)
    for name in PIPES:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    assert not verify(folder).ok
    listed(tmp)


@case("session: a pipe for its sound", "")
def _(tmp: Path) -> None:
    from labapp.bundle.verify import verify

    folder = session(tmp)
    for row in rehashed.rows_of(SECOND):
        if row.kind == "audio.started":
            os.mkfifo(folder / json.loads(row.payload)["file"])
    assert any("pipe" in problem for problem in verify(folder).problems)


@case("session: sound of 20 bytes", "")
def _(tmp: Path) -> None:
    from labapp.bundle.verify import verify

    folder = session(tmp)
    for row in rehashed.rows_of(SECOND):
        if row.kind == "audio.started":
            (folder / json.loads(row.payload)["file"]).write_bytes(b"RIFF" + bytes(16))
    assert not verify(folder).ok


@case("session: sound by a path out of it", "does not lie in")
def _(tmp: Path) -> None:
    change = rehashed.set_in("audio.started", {"file": "../../../etc/passwd"})
    each_reader(rehashed.write(tmp / "data", rehashed.chained(change(rehashed.rows_of(SECOND)))))


@case("session: environment.json is deep", "")
def _(tmp: Path) -> None:
    from labapp.bundle.verify import verify

    folder = session(tmp)
    (folder / "environment.json").write_text("[" * DEEP)
    assert any("environment.json" in problem for problem in verify(folder).problems)


@case("session: 1100 folders within each other", "levels deep")
def _(tmp: Path) -> None:
    from labapp.bundle.export import export

    folder = session(tmp)
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder / "study")
    try:
        for _ in range(1100):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.chdir(here)
    try:
        export([folder], tmp / "bundle")
    finally:
        os.system(f"rm -rf '{folder}'")


NAMES = {
    "a time that never was": b"sub-P02_ses-1_99999999T999999Z",
    "bytes that are no text": b"sub-\xff\xfe_ses-1_20260102T030405Z",
    "an end of line": b"sub-P02\n_ses-1_20260102T030405Z",
    "an escape sequence": b"\x1b[2Jsub-P02_ses-1_20260102T030405Z",
    "digits of another script": "sub-P02_ses-1_٢٠٢٦٠١٠٢T٠٣٠٤٠٥Z".encode(),
}
for _name, _bytes in NAMES.items():

    def _listed_beside(tmp: Path, name: bytes = _bytes) -> None:
        folder = session(tmp)
        os.mkdir(os.fsencode(folder.parent) + b"/" + name)  # noqa: PTH102
        os.mkdir(os.fsencode(tmp / "data") + b"/" + name)  # noqa: PTH102
        listed(tmp)

    case(f"list: beside {_name}", "")(_listed_beside)


@case("list: beside links that go round", "")
def _(tmp: Path) -> None:
    folder = session(tmp)
    (folder.parent / "sub-P02_ses-1_20260102T030406Z").symlink_to("sub-P02_ses-1_20260102T030406Z")
    (tmp / "data" / "round").symlink_to("round")
    listed(tmp)


@case("list: a study's folder is a pipe", "")
def _(tmp: Path) -> None:
    session(tmp)
    os.mkfifo(tmp / "data" / "pipe")
    listed(tmp)


for _file in ("withdrawn.jsonl", "exports.jsonl"):

    def _list_with(tmp: Path, file: str = _file, line: str = "[" * DEEP) -> None:
        folder = session(tmp)
        (folder.parent / file).write_text(line + "\n")
        assert any(file in one for one in listed(tmp))

    def _list_with_pipe(tmp: Path, file: str = _file) -> None:
        folder = session(tmp)
        os.mkfifo(folder.parent / file)
        assert any(file in one for one in listed(tmp))

    case(f"list: {_file} is deep", "")(_list_with)
    case(f"list: {_file} is a pipe", "")(_list_with_pipe)


@case("withdrawn: a line that names nobody", "and not who")
def _(tmp: Path) -> None:
    folder = session(tmp)
    (folder.parent / "withdrawn.jsonl").write_text("{]\n")
    each_reader(folder)


# --- bundles ------------------------------------------------------------------------------------


def bundle(tmp: Path) -> Path:
    from labapp.bundle.export import export

    rows = [row for row in rehashed.rows_of(SECOND) if not row.kind.startswith("audio")]
    folder = rehashed.write(tmp / "data", rehashed.chained(rows))
    return export([folder], tmp / "bundle", audio=False)


def verified(path: Path) -> None:
    """Raises what is wrong with a bundle."""
    from labapp.bundle.verify import verify
    from labapp.errors import BundleError

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

    from labapp.records.arrow import SCHEMA, rows_of

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


@case("parquet: other columns", "holds string, not int64")
def _(tmp: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from labapp.records.arrow import SCHEMA, rows_of

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
    "absolute": (((MANIFEST, b"{}"), ("/etc/x", b"")), "does not lie below"),
    "of Windows": (((MANIFEST, b"{}"), ("C:/x", b"")), "does not lie below"),
    "backslashes": (((MANIFEST, b"{}"), ("b\\..\\x", b"")), "leads out"),
    "a control character": (((MANIFEST, b"{}"), ("b/\x1bx", b"")), "control character"),
    "of 300 letters": (((MANIFEST, b"{}"), ("b/" + "x" * 300, b"")), "more than 255"),
    "clashing": (((MANIFEST, b"{}"), ("b/README", b""), ("b/readme", b"")), "upper and lower"),
}
for _name, (_entries, _words) in ZIPS.items():
    case(f"zip: a name {_name}", _words)(lambda tmp, entries=_entries: archive(tmp, *entries))


@case("zip: a name twice", "is there twice")
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


@case("zip: packed by bzip2", "method that is not read")
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


# --- arrays, models, pictures -------------------------------------------------------------------


def npy(shape: str, descr: str = "'<f4'", data: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


NPY: dict[str, tuple[bytes, str]] = {
    "a terabyte claimed": (npy("(1000000000000,)"), "no plain array"),
    "more than 64 bits claimed": (npy("(99999999999, 99999999999)"), "no plain array"),
    "less than nothing": (npy("(-5, -5)"), "no plain array"),
    "objects": (npy("(1,)", "'|O'", b"cos\nsystem\n"), "no plain array"),
    "a deep header": (npy("(" * 900 + ")" * 900), "no plain array"),
    "a type that is none": (npy("(1,)", "'<zz'"), "no plain array"),
    "records without bytes": (npy("(99999999999,)", "'<U0'"), "no plain array"),
    "cut off": (b"\x93NUMPY\1\0\xff", "no plain array"),
}
for _name, (_content, _words) in NPY.items():

    def _scored(tmp: Path, content: bytes = _content) -> Any:
        from labapp.scoring.files import read

        (tmp / "codes.npy").write_bytes(content)
        return read(tmp / "codes.npy", "c")

    def _score_file(tmp: Path, content: bytes = _content) -> Any:
        from labapp.stimuli.score_files import decoded

        return decoded(content, "a.npy")

    case(f"codes: {_name}", _words)(_scored)
    case(f"scores: {_name}", "score file")(_score_file)


@case("codes: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.scoring.files import read

    os.mkfifo(tmp / "codes.npy")
    return read(tmp / "codes.npy", "c")


@case("codes: a sparse file of 8 GiB", "more than the")
def _(tmp: Path) -> Any:
    from labapp.scoring.files import read

    with (tmp / "codes.csv").open("wb") as stream:
        stream.truncate(8 * 1024 * MIB)
    return read(tmp / "codes.csv", "c")


@case("codes: a cell of 200 KB", "no CSV text")
def _(tmp: Path) -> Any:
    from labapp.scoring.files import read

    (tmp / "codes.csv").write_text("1," + "9" * 200_000)
    return read(tmp / "codes.csv", "c")


def latents(tmp: Path, content: bytes) -> Any:
    from labapp.representations import files

    (tmp / "latents.npz").write_bytes(content)
    return files.read_arrays(tmp / "latents.npz", files.digest(content))


def npz(**arrays: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in arrays.items():
            opened.writestr(f"{name}.npy", content)
    return out.getvalue()


@case("latents: a damaged directory", "not a whole npz")
def _(tmp: Path) -> Any:
    content = bytearray(npz(latents=npy("(1,)", data=bytes(4))))
    at = content.index(b"PK\1\2")
    content[at + 24 : at + 46] = b"\xff" * 22
    return latents(tmp, bytes(content))


@case("latents: a bomb", "would unpack")
def _(tmp: Path) -> Any:
    return latents(tmp, npz(latents=npy("(50000000,)") + bytes(200 * MIB)))


@case("latents: a name that is no text", "")
def _(tmp: Path) -> Any:
    return latents(tmp, npz(**{"a\u202e": npy("(1,)", data=bytes(4))}))


@case("model: weights are a loop of links", "cannot be read")
def _(tmp: Path) -> Any:
    from labapp.representations import files

    (tmp / "decoder.safetensors").symlink_to("decoder.safetensors")
    return files.read_weights(tmp / "decoder.safetensors", "0" * 64)


@case("model: a header that lies", "not a whole safetensors")
def _(tmp: Path) -> Any:
    from labapp.representations import files

    content = struct.pack("<Q", 2**62) + b"{}"
    (tmp / "decoder.safetensors").write_bytes(content)
    return files.read_weights(tmp / "decoder.safetensors", files.digest(content))


@case("model: a deep card", "levels deep")
def _(tmp: Path) -> Any:
    from labapp.representations import card

    (tmp / card.CARD).write_text("a: " + "{b: " * 2000)
    return card.read(tmp)


@case("recipe: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.explanations import recipe

    os.mkfifo(tmp / "mine.yaml")
    return recipe.read(tmp / "mine.yaml")


@case("tfjs: a file's name of 5000 letters", "lacks")
def _(tmp: Path) -> Any:
    from labapp.representations.tfjs import manifest

    weights = [{"name": "a", "shape": [1], "dtype": "float32"}]
    groups = [{"paths": ["x" * 5000], "weights": weights}]
    (tmp / manifest.MANIFEST).write_text(json.dumps(groups))
    return manifest.read(tmp)


@case("tfjs: a deep manifest", "not as TensorFlow.js")
def _(tmp: Path) -> Any:
    from labapp.representations.tfjs import manifest

    (tmp / manifest.MANIFEST).write_text("[" * DEEP)
    return manifest.read(tmp)


@case("stimuli: a deep manifest", "levels deep")
def _(tmp: Path) -> Any:
    from labapp.stimuli import library

    return library.parse(b"[" * DEEP + b"]" * DEEP, tmp / "manifest.json")


@case("stimuli: a million empty objects", "more than 2000000 values")
def _(tmp: Path) -> Any:
    from labapp.stimuli import library

    return library.parse(b"[" + b"{}," * 3_000_000 + b"{}]", tmp / "manifest.json")


@case("stimuli: a manifest that is a pipe", "no stimulus set")
def _(tmp: Path) -> Any:
    from labapp.stimuli import library

    os.mkfifo(tmp / "manifest.json")
    return library.load(tmp)


def png(width: int, height: int, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        sealed = kind + content
        return struct.pack(">L", len(content)) + sealed + struct.pack(">L", zlib.crc32(sealed))

    header = struct.pack(">2L5B", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


PICTURES = {
    "of 900 million pixels": (png(30_000, 30_000, zlib.compress(bytes(1000))), "pixels"),
    "of 2^31 columns": (png(2**31 - 1, 2**31 - 1), "pixels"),
    "cut off": (png(10, 10)[:40], "not a readable"),
    "without pixels": (png(10, 10), "not a readable"),
    "of nothing": (b"", "not a readable"),
    "packed by bzip2": (bz2.compress(b"x"), "not a readable"),
}
for _name, (_content, _words) in PICTURES.items():

    def _stimulus(tmp: Path, content: bytes = _content) -> Any:
        from labapp.stimuli.pictures import read

        (tmp / "a.png").write_bytes(content)
        return read(tmp, "a.png")

    def _own_photo(tmp: Path, content: bytes = _content) -> Any:
        from labapp.datasets.picture_files import pixels

        (tmp / "a.png").write_bytes(content)
        return pixels(tmp / "a.png", size=8, channels=3)

    case(f"stimulus: a picture {_name}", _words)(_stimulus)
    case(f"photo: a picture {_name}", _words)(_own_photo)


@case("stimulus: a picture is a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.stimuli.pictures import read

    os.mkfifo(tmp / "a.png")
    return read(tmp, "a.png")


@case("ratings: a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    from labapp.analysis.labels.ratings import _text

    os.mkfifo(tmp / "a.csv")
    return _text(tmp / "a.csv")
