"""Whether a zipped bundle is, to the byte, the archive that labapp writes of its files."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from typing import IO

from labapp.bids.folder import ZIP_MODE, write_zip
from labapp.journal.tree import ZipTree
from labapp.reading import files

EARLIER_MODE = 0o644
"""The rights that files had in archives of earlier versions; unpacked, others could read them."""


def archive_problem(tree: ZipTree) -> list[str]:
    """Write the archive anew and compare; at most one problem.

    The manifest covers the contents of the files; this finds changes of the archive around them
    (names, dates, sizes, bytes between and behind the files).
    """
    with files.open_file(tree.path) as actual:
        compared = _ComparingFile(actual)
        write_zip(tree, tree.prefix.rstrip("/"), compared, _mode(tree))  # type: ignore[arg-type]
        size = actual.seek(0, os.SEEK_END)
    if compared.same and compared.end == size:
        return []
    what = "the archive around the files was changed or packed by another program"
    return [f"{tree.path.name}: {what}; the files in it are as exported"]


def beside_top(tree: ZipTree) -> list[str]:
    """What lies in the archive beside the bundle's folder, where no file of a bundle lies."""
    with zipfile.ZipFile(tree.path) as archive:
        names = archive.namelist()
    beside = sorted({name for name in names if not name.startswith(tree.prefix)})
    return [f"{tree.path.name}: {name} lies beside the bundle's folder" for name in beside]


def _mode(tree: ZipTree) -> int:
    """The rights of the archive's files: those of today, or those of earlier versions."""
    with zipfile.ZipFile(tree.path) as archive:
        first = archive.infolist()[0].external_attr >> 16
    return EARLIER_MODE if stat.S_IMODE(first) == EARLIER_MODE else ZIP_MODE


class _ComparingFile(io.RawIOBase):
    """A file to write to that keeps nothing and compares with `actual`.

    zipfile goes back to complete headers it has written, so a place counts as it was written last.
    """

    def __init__(self, actual: IO[bytes]) -> None:
        self._actual = actual
        self._at = 0
        self._differing: set[int] = set()
        self._lost = False
        self.end = 0

    @property
    def same(self) -> bool:
        return not self._differing and not self._lost

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.end}[whence]
        self._at = base + offset
        return self._at

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._actual.seek(self._at)
        actual = self._actual.read(len(data))
        span = range(self._at, self._at + len(data))
        self._differing = {at for at in self._differing if at not in span}
        if actual != data:
            if len(data) > _HEADER:
                self._lost = True
            else:
                pairs = zip(span, data, actual.ljust(len(data), b"\0"), strict=True)
                self._differing.update(at for at, pair, other in pairs if pair != other)
        self._at += len(data)
        self.end = max(self.end, self._at)
        return len(data)


_HEADER = 1 << 12
"""No header is longer; a difference in a longer piece of data is never written again."""
