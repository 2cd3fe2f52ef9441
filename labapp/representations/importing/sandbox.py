"""A process that can compute, and neither open a file nor reach a network: on Linux, by Landlock
and seccomp; on macOS, by sandbox-exec. Elsewhere there is none, and what needs it is refused.

A TorchScript file is a program. One was seen to open a file on the disk while it was run, so that
it is opened in a process that gave these rights away and speaks through two pipes alone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_RESTRICT_SELF: Final = 446
_EVERY_FILE_RIGHT: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock how many rights on files it knows; later versions know those of 5."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
# Classic BPF, as seccomp takes it.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
"""Where a filter finds the number of a call and the processor's name."""
_KILL, _DENY, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_ARGUMENT = 16
"""Where it finds the lower half of the first argument of a call."""
_X32: Final = 0x40000000
"""From here on calls of x86-64 are those of another set with the same effects."""

_FORBIDDEN = {
    "x86_64": (
        0xC000003E,
        (56, 435),
        # open, creat, openat, openat2, open_by_handle_at, name_to_handle_at
        (2, 85, 257, 437, 304, 303),
        # socket, connect, accept, sendto, sendmsg, bind, listen, socketpair, accept4, sendmmsg
        (41, 42, 43, 44, 46, 49, 50, 53, 288, 307),
        # execve, execveat, fork, vfork, ptrace, kill, tkill, tgkill, pidfd_send_signal,
        # rt_sigqueueinfo, rt_tgsigqueueinfo
        (59, 322, 57, 58, 101, 62, 200, 234, 424, 129, 297),
        # rename, mkdir, rmdir, link, unlink, symlink, chmod, chown, truncate, and those with `at`
        (82, 83, 84, 86, 87, 88, 90, 92, 76, 258, 260, 263, 264, 265, 266, 268, 316),
        # Which Landlock knows nothing of: lchown, utime, utimes, futimesat, utimensat, setxattr,
        # lsetxattr, removexattr, lremovexattr, fchmodat2, setxattrat, removexattrat, file_setattr
        (94, 132, 235, 261, 280, 188, 189, 197, 198, 452, 463, 466, 469),
        # mount, umount2, pivot_root, chroot, bpf, io_uring_*, process_vm_*, pidfd_getfd, mknod(at),
        # unshare, setns, acct, swapon, swapoff, open_tree, move_mount, fsopen, fsconfig, fsmount,
        # fspick, mount_setattr
        (165, 166, 155, 161, 321, 425, 426, 427, 310, 311, 438, 133, 259),
        (272, 308, 163, 167, 168, 428, 429, 430, 431, 432, 433, 442),
        # memfd_create, shmget, msgget, perf_event_open, userfaultfd, keyctl, add_key, request_key,
        # semget, mq_open, mq_unlink
        (319, 29, 68, 298, 323, 250, 248, 249, 64, 240, 241),
    ),
    "aarch64": (
        0xC00000B7,
        (220, 435),
        (56, 437, 265, 264),
        (198, 203, 202, 206, 211, 200, 201, 199, 242, 269),
        (221, 281, 117, 129, 130, 131, 424, 138, 240),
        (38, 34, 35, 37, 36, 53, 54, 45, 276),
        (88, 5, 6, 14, 15, 452, 463, 466, 469),
        (40, 39, 41, 51, 280, 425, 426, 427, 270, 271, 438, 33),
        (97, 268, 89, 224, 225, 428, 429, 430, 431, 432, 433, 442),
        (279, 194, 186, 241, 282, 219, 217, 218, 190, 180, 181),
    ),
}
"""By processor its name to the kernel, the numbers of clone and clone3, and those of the calls that
are refused."""
_CLONE_THREAD: Final = 0x10000


SANDBOX_EXEC = "/usr/bin/sandbox-exec"


class NoSandboxError(Exception):
    """This machine cannot shut a process in; the text says why."""


def shut_in(*, memory: int) -> None:
    """Give away, for this process and for ever, the rights to open files and to reach a network.

    Everything that will be needed must be loaded before. Raises NoSandboxError; then nothing is to
    be opened.

    Parameters
    ----------
    memory : bytes of address space beyond what is in use.
    """
    if platform.system() == "Darwin":
        _check()  # it began inside, see `command`
        return
    if platform.system() != "Linux":
        raise NoSandboxError(f"there is none for {platform.system() or 'this system'}")
    known = _FORBIDDEN.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:
        raise NoSandboxError(f"there is none for processors of the kind {platform.machine()}")
    in_use = _address_space()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + memory, in_use + memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise NoSandboxError(f"rights cannot be given up ({os.strerror(ctypes.get_errno())})")
    _landlock(libc)
    _seccomp(libc, known[0], known[1], [number for group in known[2:] for number in group])
    _check()


def command(program: Sequence[str]) -> list[str]:
    """The command line by which a program that shuts itself in is started. On macOS it begins
    inside: without a network, without writing, and of the user's files with Python's alone."""
    if platform.system() != "Darwin":
        return list(program)
    own = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[3]))
    readable = " ".join(f'(subpath "{folder}")' for folder in own)
    profile = (
        "(version 1)(allow default)(deny network*)(deny file-write*)"
        f'(deny file-read-data (subpath "{Path.home()}") (subpath "/Volumes") '
        f'(literal "/etc/hosts") (literal "/private/etc/hosts"))(allow file-read-data {readable})'
    )
    return [SANDBOX_EXEC, "-p", profile, *program]


def _check() -> None:
    """Raises NoSandboxError where a file can be opened or a socket made all the same."""

    def open_file() -> None:
        os.close(os.open("/etc/hosts", os.O_RDONLY))

    def connect() -> None:
        socket.create_connection(("127.0.0.1", 9), 1.0).close()

    for what, attempt in (("a file", open_file), ("a connection", connect)):
        try:
            attempt()
        except PermissionError:
            continue
        except OSError as error:
            raise NoSandboxError(f"{what} is not refused, but fails ({error})") from error
        raise NoSandboxError(f"{what} can be opened from inside it")


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - no file of a user
        return int(status.read().split()[0]) * resource.getpagesize()


def _landlock(libc: ctypes.CDLL) -> None:
    """Take every right on files; where the kernel lacks Landlock, seccomp refuses to open any."""
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    files = (1 << _EVERY_FILE_RIGHT.get(version, 16)) - 1
    network = 0b11 if version >= _NETWORK_SINCE else 0
    scopes = 0b11 if version >= _SCOPES_SINCE else 0
    attributes = struct.pack("=QQQ", files, network, scopes)
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    rules = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if rules < 0 or libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0) != 0:
        raise NoSandboxError(f"Landlock refuses ({os.strerror(ctypes.get_errno())})")
    os.close(rules)


def _seccomp(
    libc: ctypes.CDLL, architecture: int, clones: tuple[int, ...], forbidden: list[int]
) -> None:
    """Refuse the forbidden calls and new processes, and end this one at a call of another kind of
    processor. Threads may be made: clone with its mark, while of clone3, whose arguments no filter
    sees, it is said that there is none."""
    clone, clone3 = clones
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _DENY | errno.EPERM),
    ]
    code += [(_EQUAL, 0, 1, clone3), (_RETURN, 0, 0, _DENY | errno.ENOSYS)]
    code += [
        (_EQUAL, 0, 4, clone),
        (_LOAD, 0, 0, _ARGUMENT),
        (_ANY_BIT, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _DENY | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for number in forbidden:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DENY | errno.EPERM)]
    code.append((_RETURN, 0, 0, _ALLOW))
    packed = b"".join(struct.pack("=HBBI", *row) for row in code)
    filters = ctypes.create_string_buffer(packed, len(packed))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.c_void_p))

    program = Program(len(code), ctypes.addressof(filters))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise NoSandboxError(f"seccomp refuses ({os.strerror(ctypes.get_errno())})")
