"""A disk that is full when a test says so."""

from __future__ import annotations

import errno
import os


class Disk:
    """Stands in for `os.write`. room: bytes that still fit beyond a file's end, None: plenty."""

    def __init__(self) -> None:
        self.room: int | None = None
        self._write = os.write

    def write(self, fd: int, data: bytes) -> int:
        at, end = os.lseek(fd, 0, os.SEEK_CUR), os.fstat(fd).st_size
        grows = max(0, at + len(data) - end)
        if self.room is None or grows == 0:
            return self._write(fd, data)
        fits = len(data) - max(0, grows - self.room)
        if fits <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= grows - (len(data) - fits)
        return self._write(fd, data[:fits])
