"""Opening a file: a regular one, of a size that fits, or an OSError that says why not.

`str(error)` and `error.strerror` are the reason in words, without the file's name.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import IO

MIB = 1024 * 1024
DOCUMENT = 32 * MIB
"""Bytes of a document that is read as a whole (a manifest, a list, a table of people)."""
DEEPEST = 32
"""Folders within each other. What labapp writes has at most eight."""

_NATURES = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)
# Of what turned into a pipe after it was looked at, opening would wait for a writer.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)


class UnreadableFileError(OSError):
    """A file that is not opened, or not read to its end. Its text is the reason alone."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(number, why)

    def __str__(self) -> str:
        return str(self.strerror)


def is_file(path: Path) -> bool:
    """Whether it is a regular file; False also for names that no file can have."""
    return os.path.isfile(path)  # noqa: PTH113  (pathlib's raises for a name that is too long)


def is_folder(path: Path) -> bool:
    """Whether it is a folder; False also for names that no folder can have."""
    return os.path.isdir(path)  # noqa: PTH112


def exists(path: Path) -> bool:
    """Whether anything of this name is there, a dangling link too."""
    return os.path.lexists(path)


def open_file(path: Path, *, largest: int | None = None, follow: bool = True) -> BufferedReader:
    """The file, open for reading bytes.

    largest: bytes it may have; holes of a sparse file count. follow: whether it may be a link.
    Raises OSError: it is not there, is no regular file, or is too large.
    """
    try:
        _refuse_unfit(path.stat() if follow else path.lstat(), largest)
        descriptor = os.open(path, _FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    except (ValueError, OverflowError) as error:  # NUL, or what the file system cannot encode
        raise UnreadableFileError(errno.EINVAL, "no file can have this name") from error
    except UnreadableFileError:
        raise
    except OSError as error:
        raise _strip_file_name(error) from error
    stream = os.fdopen(descriptor, "rb")
    try:
        _refuse_unfit(os.fstat(descriptor), largest)
    except OSError:
        stream.close()
        raise
    return stream


def content(path: Path, largest: int = DOCUMENT, *, follow: bool = True) -> bytes:
    """The whole file. Raises OSError as `open_file`, also if it grew beyond `largest`
    meanwhile."""
    with open_file(path, largest=largest, follow=follow) as stream:
        return within(stream, largest)


def within(stream: IO[bytes], largest: int) -> bytes:
    """What is left of a stream. Raises OSError if that is more than `largest` bytes."""
    read = stream.read(largest + 1)
    if len(read) > largest:
        raise too_large(None, largest)
    return read


def too_large(size: int | None, largest: int) -> UnreadableFileError:
    """What to say of a file of more bytes than are read."""
    has = "is larger" if size is None else f"has {size} bytes, which is more"
    limit = f"{largest // MIB} MiB" if largest >= MIB else f"{largest} bytes"
    return UnreadableFileError(
        errno.EFBIG, f"it {has} than the {limit} that labapp reads from such a file"
    )


def below(folder: Path) -> list[str]:
    """Every file below a folder, by its name from there with forward slashes, sorted; links and
    what else is no folder too, and no link is followed.

    Raises OSError: a folder cannot be read, more than `DEEPEST` folders lie within each other, or a
    name is no text.
    """
    paths: list[str] = []
    folders = [(folder, "")]
    while folders:
        at, prefix = folders.pop()
        if prefix.count("/") > DEEPEST:
            raise UnreadableFileError(
                errno.ENAMETOOLONG, f"it contains folders nested more than {DEEPEST} levels deep"
            )
        with os.scandir(at) as entries:
            for entry in entries:
                if not entry.name.isprintable() and not _is_text(entry.name):
                    raise UnreadableFileError(
                        errno.EILSEQ, f"the name {entry.name!r} in it is not text"
                    )
                if entry.is_dir(follow_symlinks=False):
                    folders.append((Path(entry.path), f"{prefix}{entry.name}/"))
                else:
                    paths.append(prefix + entry.name)
    return sorted(paths)


def _is_text(name: str) -> bool:
    """Whether a file's name can be written down: bytes that are no UTF-8 cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_unfit(status: os.stat_result, largest: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        nature = next((name for is_one, name in _NATURES if is_one(status.st_mode)), "no file")
        raise UnreadableFileError(errno.EINVAL, f"it is {nature}, not a file")
    if largest is not None and status.st_size > largest:
        raise too_large(status.st_size, largest)


def _strip_file_name(error: OSError) -> OSError:
    """The same error without the file's name, which the caller adds."""
    if error.errno == errno.ENAMETOOLONG:
        return UnreadableFileError(errno.ENAMETOOLONG, "its name is too long for a file")
    if error.errno == errno.ELOOP:
        return UnreadableFileError(
            errno.ELOOP, "it is a link to itself, or links are not followed here"
        )
    return error
