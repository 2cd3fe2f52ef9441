"""Who may read what labapp writes: only this user, or the members of this user's lab.

One place decides: `restrict` sets, at the start of the program, what the process and those that it
starts may make, so that no file is ever readable to others, not even for a moment; `own_folder`
gives the folders that hold people's data their rights explicitly, in every program. With
$LABAPP_GROUP, the name of a group of the system, its members may read and write too; the private
folder stays this user's in any case. On Windows the rights of the user's folders hold instead.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from labapp.base.errors import DataFolderError, UsageError

if TYPE_CHECKING:
    import tarfile

GROUP = "LABAPP_GROUP"
_POSIX = os.name == "posix"
_BINARY = getattr(os, "O_BINARY", 0)
_usual: int | None = None
"""The process's umask before `restrict`."""
_made: list[Path] = []
"""Folders that this process made, each after the one that it is in."""


def group() -> int | None:
    """The number of the lab's group; None if $LABAPP_GROUP names none.

    Raises UsageError for a group that there is not, or that this user is not in.
    """
    name = os.environ.get(GROUP, "")
    if not name or not _POSIX:
        return None
    import grp

    try:
        number = grp.getgrnam(name).gr_gid
    except KeyError:
        number = -1
    if number not in {*os.getgroups(), os.getegid()} and not (number >= 0 and os.geteuid() == 0):
        why = "there is no such group" if number < 0 else "you are not in it"
        raise UsageError(
            f"${GROUP} is set to the group {name!r}, but {why}.",
            todo=f"Set it to a group that `id` lists, or unset ${GROUP}.",
        )
    return number


def restrict() -> None:
    """Let this process, and those that it starts, make nothing that others can read.

    Raises UsageError as `group` does.
    """
    global _usual
    if _POSIX:
        ours = 0o077 if group() is None else 0o007
        if (before := os.umask(ours)) != ours:
            _usual = before


@contextmanager
def usual_rights() -> Iterator[None]:
    """Make this process, and those that it starts, create files with the user's usual permissions.
    For what holds nobody's data and is for others too, such as packages."""
    ours = os.umask(_usual) if _POSIX and _usual is not None else None
    try:
        yield
    finally:
        if ours is not None:
            os.umask(ours)


def own_folder(path: Path, *, exist_ok: bool = True) -> None:
    """Make a folder for people's data, with the folders above it. One that is there is left as it
    is, if that is allowed. Raises OSError, UsageError."""
    if exist_ok and path.is_dir():
        return
    if path.parent.is_file():  # else it would be told of the folder that it exists
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
    make_above(path)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not (exist_ok and path.is_dir()):
            raise
        return  # another process made it at this moment, and may begin to use it
    _made.append(path.absolute())
    if (number := group()) is not None:
        os.chown(path, -1, number)
        # What is made in it belongs to the group too.
        path.chmod(0o2770)


def make_above(path: Path) -> None:
    """Make the folders above what is to be written. Raises OSError."""
    above = path.absolute().parent
    missing = [folder for folder in (above, *above.parents) if not folder.exists()]
    above.mkdir(parents=True, exist_ok=True)
    _made.extend(reversed(missing))


def remove_unused() -> None:
    """Remove the folders that this process made and in which nothing was written, such as the data
    folder of a session that was refused. Locks that nobody holds are removed with them."""
    if not _made:
        return
    from filelock import FileLock  # most commands make no folder and need not import it

    while _made:
        folder = _made.pop()
        with suppress(OSError):  # it holds something, or is gone
            for lock in _only_locks(folder):
                with FileLock(lock, timeout=0):
                    lock.unlink(missing_ok=True)
            folder.rmdir()


def _only_locks(folder: Path) -> list[Path]:
    """The empty lock files in a folder that holds nothing else."""
    content = list(folder.iterdir())
    locks = [path for path in content if path.suffix == ".lock" and path.lstat().st_size == 0]
    return locks if len(locks) == len(content) else []


def file_mode() -> int:
    """What may be done with a file of people's data. Raises UsageError."""
    return 0o600 if group() is None else 0o660


def create(path: Path) -> IO[bytes]:
    """Make a file that must not be there yet, and open it. Raises OSError, UsageError."""
    number, mode = group(), file_mode()
    stream = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | _BINARY, mode), "w+b")
    if number is not None:
        os.fchown(stream.fileno(), -1, number)
        os.fchmod(stream.fileno(), mode)
    return stream


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack files and folders with our rights in place of those of the machine that packed them.
    The filters of `tarfile` do this as well, but not in Python 3.11.2.

    Raises ValueError for anything else, and for a place outside of the folder.
    """
    for member in archive:
        place = PurePosixPath(member.name)
        content = archive.extractfile(member) if member.isfile() else None
        if place.is_absolute() or ".." in place.parts or not (member.isdir() or content):
            raise ValueError(f"{member.name!r} is neither a file nor a folder in the archive")
        path = folder / place
        own_folder(path if content is None else path.parent)
        if content is not None:
            with create(path) as stream:
                shutil.copyfileobj(content, stream)
            os.utime(path, (member.mtime, member.mtime))


def own_private(folder: Path, file: Path) -> None:
    """Make a private folder and a file in it, for this user only. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Made with its mode, never widened and narrowed: no moment in which others can read it.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


def wide(path: Path, *, private: bool = False) -> str:
    """Empty, or the rights of what is there in words, where others may read it than should.

    private: nobody but this user should.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    ours = 0o007 if not private and group() is not None else 0o077
    return stat.filemode(mode) if _POSIX and mode & ours else ""


def warning(data: Path) -> str:
    """A warning about a data folder that others can read; empty if they cannot."""
    rights = wide(data)
    if not rights:
        return ""
    return f"Others can read the data folder {data} ({rights}). To prevent this: {narrower(data)}"


def narrower(path: Path, *, private: bool = False) -> str:
    """The command that gives a folder and all in it the rights that they should have; private: that
    of `wide`."""
    name, there = os.environ.get(GROUP, ""), shlex.quote(str(path))
    if private or not name:
        return f"chmod -R go-rwx {there}"
    return f"chgrp -R {shlex.quote(name)} {there} && chmod -R o-rwx,g+rwXs {there}"


def refuse_wide(path: Path) -> None:
    """Raises DataFolderError if others can read a private folder or file that is there."""
    if rights := wide(path, private=True):
        raise DataFolderError(
            f"Others can read the private {'folder' if path.is_dir() else 'file'} {path} "
            f"({rights}), including the names in it.",
            safe="Nothing was written to it.",
            todo=f"Prevent this with `{narrower(path, private=True)}`, or choose another folder "
            "(--private).",
        )
