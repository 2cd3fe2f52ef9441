"""How much memory is free, and limits that keep a decoder from taking more, or from computing for
ever: a machine that swaps stands still."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RESERVE = 256 << 20
"""Bytes that are left to the rest of the machine."""
_GROUP = Path("/sys/fs/cgroup")


def free() -> int | None:
    """Bytes that can be taken without swapping, on Linux; None if that is not known."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        stated = next(line for line in lines if line.startswith("MemAvailable:"))
        available = int(stated.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        return None
    try:  # of a container
        most = int((_GROUP / "memory.max").read_text("ascii"))
        taken = int((_GROUP / "memory.current").read_text("ascii"))
        available = min(available, most - taken)
    except (OSError, ValueError):
        pass
    return max(0, available - RESERVE)


def in_use() -> int:
    """Bytes of address space of this process, on Linux."""
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()


def most(at_most: int | None = None) -> int | None:
    """Bytes that a decoder may take: what is free, and no more than is said."""
    room = [size for size in (at_most, free()) if size is not None]
    return min(room, default=None)


def limit(size: int) -> None:
    """Let this process take no more than so many bytes beyond what it has, on Linux."""
    import resource

    wanted, (soft, hard) = in_use() + size, resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        wanted = min(wanted, soft)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def limit_seconds(seconds: int) -> None:
    """Let this process compute for so many seconds from now on; then the system ends it. Not on
    Windows, where the process that started it looks at the clock."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(time.process_time()) + 1 + seconds
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))


@contextmanager
def limit_memory() -> Iterator[None]:
    """Let this process take no more than is free; if that is not known, all it asks for."""
    size = most()
    if sys.platform != "linux" or size is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def is_too_much(error: BaseException) -> bool:
    """Whether this error says that there was no memory."""
    return isinstance(error, MemoryError) or any(
        words in str(error) for words in ("bad_alloc", "allocate memory", "Failed to allocate")
    )


def fault(error: BaseException, step: str) -> str:
    """What went wrong in a step: `memory`, or the step itself."""
    return "memory" if is_too_much(error) else step


def describe_shortage(at_most: int | None = None) -> str:
    """A sentence that a decoder needs more memory than it may take."""
    size = most(at_most)
    room = "there is" if size is None else f"the {size / (1 << 30):.1f} GiB that it may take"
    return f"it needs more memory than {room} on this machine"


ADVICE = "Close other programs, or use a decoder with fewer weights or smaller pictures."
