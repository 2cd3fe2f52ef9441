"""A zipped bundle: the archive around the files."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path

from tests.helpers.trees import flip
from tests.tampering.catalogue import manipulation
from tests.tampering.places import BEH, Places, reseal, rezip

AROUND = "the archive around the files was changed"


def _append(archive: Path, name: str, content: bytes) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(archive, "a") as opened:
        warnings.simplefilter("ignore")  # zipfile warns of a name that is there already
        opened.writestr(name, content)


@manipulation("archive", told="bundle")
def flip_a_bit_of_the_archive(places: Places) -> None:
    """One bit in the middle of the archive is turned."""
    flip(places.archive, places.archive.stat().st_size // 2)


@manipulation("archive", told="README")
def put_a_file_in_twice(places: Places) -> None:
    """A second README with the same name is added: programs differ in which they read."""
    _append(places.archive, "bundle/README", b"All was well.\n")


@manipulation("archive", told="notes.txt: not part of the export")
def add_a_file_to_the_archive(places: Places) -> None:
    """A file is added to the bundle in the archive."""
    _append(places.archive, "bundle/notes.txt", b"later\n")


@manipulation("archive", told="notes.txt is next to the bundle's folder")
def put_a_file_beside_the_bundle(places: Places) -> None:
    """A file is added beside the bundle's folder in the archive."""
    _append(places.archive, "notes.txt", b"later\n")


@manipulation("archive", told=AROUND)
def pack_anew(places: Places) -> None:
    """The same files are packed by another program."""
    with zipfile.ZipFile(places.archive) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    with zipfile.ZipFile(places.archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)


@manipulation("archive", told=AROUND)
def add_a_comment(places: Places) -> None:
    """A comment is put into the archive."""
    with zipfile.ZipFile(places.archive, "a") as opened:
        opened.comment = b"approved"


@manipulation("archive", told="archive")
def put_bytes_behind_the_archive(places: Places) -> None:
    """Bytes are appended to the archive."""
    places.archive.write_bytes(places.archive.read_bytes() + b"hello")


@manipulation("archive", told="archive")
def put_bytes_before_the_archive(places: Places) -> None:
    """A program is put before the archive, as self-extracting archives have it."""
    places.archive.write_bytes(b"#!/bin/sh\nexit\n" + places.archive.read_bytes())


@manipulation("archive", told=AROUND)
def change_a_date_in_the_archive(places: Places) -> None:
    """The directory of the archive says another date of a file."""
    content = bytearray(places.archive.read_bytes())
    content[content.index(b"PK\1\2") + 14] ^= 1
    places.archive.write_bytes(content)


@manipulation("archive", told="_beh.tsv: ")
def change_a_cell_in_the_archive(places: Places) -> None:
    """A table is another, packed as labapp packs."""
    rezip(places.archive, _change_a_cell)


@manipulation("archive", told="the journal gives")
def change_a_cell_in_the_archive_and_the_manifest(places: Places) -> None:
    """A table is another, the manifest fits, packed as labapp packs."""

    def edit(bundle: Path) -> None:
        _change_a_cell(bundle)
        reseal(bundle)

    rezip(places.archive, edit)


@manipulation("archive", told="README: missing")
def take_a_file_out_of_the_archive(places: Places) -> None:
    """A file is taken out, packed as labapp packs."""
    rezip(places.archive, lambda bundle: (bundle / "README").unlink())


@manipulation("archive", told="zip archive")
def cut_the_archive_off(places: Places) -> None:
    """The archive is cut in half."""
    content = places.archive.read_bytes()
    places.archive.write_bytes(content[: len(content) // 2])


def _change_a_cell(bundle: Path) -> None:
    path = bundle / f"{BEH}_beh.tsv"
    path.write_text(path.read_text().replace("skipped", "solved", 1))
