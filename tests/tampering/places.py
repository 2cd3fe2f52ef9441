"""What is tampered with: a small session, a killed one, a bundle and its zip, made once; and the
tools somebody has who wants a change to go unnoticed."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from labapp.base import resources
from labapp.base.clock import NS
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import Redaction, Text, Unit, annotations_folder
from labapp.coding.annotations.packs import make_pack
from labapp.coding.annotations.rounds import assign_study, close
from labapp.coding.annotations.store import open_marks, open_texts, open_units
from labapp.models.representations import package
from labapp.record.events.lifecycle import DecoderWarmed, StimuliStored
from labapp.record.journal.arrow import parquet_bytes, rows_of
from labapp.record.journal.decisions import add_comment, decide
from labapp.record.journal.layout import (
    COLUMNS,
    JOURNAL,
    JOURNAL_PARQUET,
    MANIFEST,
    SESSION,
    SOURCEDATA,
    FolderTree,
)
from labapp.record.journal.read import Row, read_rows
from labapp.session.bids.export import export
from labapp.session.bids.folder import FileEntry, hash_stream, manifest_text, write_zip
from labapp.session.withdrawal import withdraw
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder
from tests.hostile.rehashed import chained

SOURCE = f"{SOURCEDATA}/sub-P01/ses-1"
BEH = "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction"
WAV_1, WAV_2 = "audio/segment-01.wav", "audio/segment-02.wav"
PICTURES = (b"\x89PNG a", b"\x89PNG b")
MODEL = "sinelines/gt"


@dataclass(frozen=True)
class Places:
    """Folders that may be changed: two whole sessions, one that was killed, a bundle of the first,
    its archive, and a session that was coded, in a data folder of its own with all its logs.
    backup: a copy of the annotations of that, from before its redaction and its lock."""

    session: Path
    other: Path
    killed: Path
    bundle: Path
    archive: Path
    coded: Path
    backup: Path


def make(root: Path) -> Places:
    """Build them below `root`."""
    session = _write(_builder(), root / "data")
    other = _builder()
    other.of("P02")
    killed = _builder()
    killed.rows = [row for row in killed.rows if row[0] <= 72_250_000_000]
    killed.sounds.pop(WAV_2)
    killed.environment.pop()
    bundle = export([session], root / "bundle")
    (root / "data/golden/exports.jsonl").unlink()
    (root / "data/anchor.jsonl").unlink()
    return Places(
        session,
        _write(other, root / "data"),
        _write(killed, root / "killed", wal=True),
        bundle,
        export([bundle], root / "bundle.zip", zip=True),
        _coded(root / "coded"),
        root / "coded-backup",
    )


def _coded(data: Path) -> Path:
    """A session that was coded, redacted, locked, excluded, remarked on, exported and withdrawn."""
    session = _write(_builder(), data)
    book = resources.assets() / "codebooks" / "think-aloud.yaml"
    with open_units(session, "anna") as units:
        units.put_all([Unit("a", 20 * NS, 22 * NS), Unit("b", 22 * NS, 24 * NS)])
        units.freeze()
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", "let me try"))
    shutil.copyfile(book, session.parent / "codebook.yaml")
    assign_study(session.parent, ["anna"], 0.0, 1, "independent")
    with open_marks(session, "anna", codebooks.read(session.parent / "codebook.yaml")) as marks:
        marks.give("explore", unit="a")
        marks.give("explore", unit="b")
        shutil.copytree(annotations_folder(session), data.with_name("coded-backup"))
        marks.set_status("done")
    make_pack(session.parent, "anna", data.with_name("anna.zip"))
    close(session.parent)
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", "let me try this"))
        texts.redact(Redaction("1", 30 * NS, 31 * NS))
    decide(session, False, "asleep")
    decide(session, True, "awake after all")
    add_comment(session, "coughs")
    export([session], data.with_name("bundle-of-coded"))
    withdraw(session, data.with_name("private"), delete=False)
    return session


def copied(places: Places, root: Path, names: tuple[str, ...]) -> Places:
    """Copies of those that a manipulation needs, by the names of `Places`."""
    changed: dict[str, Path] = {}
    for name in names:
        original: Path = getattr(places, name)
        folder = root / (name if name in ("killed", "bundle", "archive") else "data")
        if name == "coded":  # what lies beside it is changed, too
            shutil.copytree(original.parents[1], root / name)
            changed[name] = root / name / original.parent.name / original.name
            continue
        target = folder / original.parent.name / original.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if original.is_dir():
            shutil.copytree(original, target, symlinks=True)
        else:
            shutil.copyfile(original, target)
        changed[name] = target
    return replace(places, **changed)


def _builder() -> SessionBuilder:
    """The golden session with pictures besides, and the hash of a decoder's card."""
    builder = golden_builder()
    files = {f"{n}": f"{hashlib.sha256(p).hexdigest()}.png" for n, p in enumerate(PICTURES)}
    builder.at(0.6, StimuliStored("small", "0" * 64, files))
    for at, (seconds, source, unstamped) in enumerate(builder.rows):
        if isinstance(unstamped.payload, DecoderWarmed) and unstamped.payload.model == MODEL:
            payload = replace(unstamped.payload, card_sha256=card_sha256())
            builder.rows[at] = (seconds, source, replace(unstamped, payload=payload))
    return builder


def card_sha256() -> str:
    """Of the card of the decoder that the session uses."""
    folder = next(iter(package.places(MODEL)))
    return hashlib.sha256((folder / "model.yaml").read_bytes()).hexdigest()


def _write(builder: SessionBuilder, root: Path, *, wal: bool = False) -> Path:
    folder = builder.write(root, wal=wal)
    (folder / "stimuli").mkdir()
    for picture in PICTURES:
        (folder / "stimuli" / f"{hashlib.sha256(picture).hexdigest()}.png").write_bytes(picture)
    return folder


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    """The journal, to be written by hand."""
    with closing(sqlite3.connect(folder / JOURNAL, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        yield connection


def sql(folder: Path, *statements: str) -> None:
    with database(folder) as connection:
        for statement in statements:
            connection.execute(statement)


def store(folder: Path, rows: list[Row]) -> None:
    """Put these rows in place of all."""
    marks = ", ".join("?" * len(COLUMNS))
    with database(folder) as connection:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM events")
        insert = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({marks})"
        connection.executemany(insert, [row[: len(COLUMNS)] for row in rows])
        connection.execute("COMMIT")
        connection.execute("VACUUM")


def insider(folder: Path, edit: Callable[[list[Row]], list[Row]]) -> None:
    """Edit the rows of a session, and compute the chain anew."""
    store(folder, chained(edit(list(read_rows(folder)))))


def outsider(folder: Path, edit: Callable[[list[Row]], list[Row]]) -> None:
    """Edit the rows of a session without computing a hash."""
    store(folder, edit(list(read_rows(folder))))


def first(rows: list[Row], kind: str, after: int = 0) -> int:
    """The place of the first row of a kind."""
    return next(at for at, row in enumerate(rows) if at >= after and row.kind == kind)


def changed(row: Row, **payload: object) -> Row:
    """The row with other values in its payload."""
    value = json.loads(row.payload) | payload
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return row._replace(payload=text)


def reseal(bundle: Path, **facts: object) -> None:
    """A manifest that fits what is there now; facts: what it says besides."""
    path = bundle / SOURCEDATA / MANIFEST
    stated = json.loads(path.read_text())
    files: dict[str, FileEntry] = {}
    for file in sorted(bundle.rglob("*")):
        if file.is_file() and file != path:
            with file.open("rb") as stream:
                files[file.relative_to(bundle).as_posix()] = hash_stream(stream)
    own = ("bundle_version", "files", "manifest_sha256")
    kept = {name: value for name, value in stated.items() if name not in own}
    path.write_text(manifest_text(kept | facts, files))


def bundle_rows(bundle: Path) -> list[Row]:
    return rows_of((bundle / SOURCE / JOURNAL_PARQUET).read_bytes(), "")


def put_rows(bundle: Path, rows: list[Row], *, head: bool) -> None:
    """Another journal into the bundle, all hashes of the bundle made anew; head: also where its
    end is noted."""
    (bundle / SOURCE / JOURNAL_PARQUET).write_bytes(parquet_bytes(rows))
    if head:
        put_facts(bundle, events=len(rows), head=rows[-1].hash)
    reseal(bundle)


def put_facts(bundle: Path, **facts: object) -> None:
    """Other values in session.json."""
    path = bundle / SOURCE / SESSION
    path.write_text(json.dumps(json.loads(path.read_text()) | facts, indent=2) + "\n")


def rezip(archive: Path, edit: Callable[[Path], None]) -> None:
    """Unpack, change, and pack as labapp packs."""
    beside = archive.with_name("unpacked")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(beside)
    (top,) = beside.iterdir()
    edit(top)
    with archive.open("wb") as target:
        write_zip(FolderTree(top), top.name, target)
    shutil.rmtree(beside)


def resound(path: Path, sound: bytes, rate: int = 1000) -> None:
    """Other sound in a WAV file, with the header that fits it."""
    from labapp.record.audio.capture import wav_header

    path.write_bytes(wav_header(rate, len(sound)) + sound)


def sound_of(path: Path) -> bytearray:
    return bytearray(path.read_bytes()[44:])


def link_outside(path: Path) -> None:
    """Move a file or folder out of its place and leave a link to it."""
    beside = path.parents[2] / f"elsewhere-{path.name}"
    path.rename(beside)
    path.symlink_to(beside, target_is_directory=beside.is_dir())
