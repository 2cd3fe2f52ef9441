"""What a process that is shut in cannot do, tried in one."""

import platform
import subprocess
import sys

import pytest

TRIED = """
import ctypes, os, socket, subprocess, threading, sys
import torch
from labapp.models.representations.importing import child as sandbox
path = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    # Of the C library; raises as the functions of Python do.
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

attempts = {
    "read": lambda: open(path).read(),
    "write": lambda: open(path + ".new", "w"),
    "remove": lambda: os.unlink(path),
    "rename": lambda: os.rename(path, path + ".away"),
    "make a folder": lambda: os.mkdir(path + ".folder"),
    "list": lambda: os.listdir("/"),
    "TCP": lambda: socket.create_connection(("127.0.0.1", 9)),
    "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "a local socket": lambda: socket.socket(socket.AF_UNIX),
    "a process": os.fork,
    "a program": lambda: subprocess.run(["true"]),
    "a signal": lambda: os.kill(os.getppid(), 0),
    "change rights": lambda: os.chmod(path, 0o777),
    "change times": lambda: os.utime(path, (0, 0)),
    "change owners of a link": lambda: os.lchown(path, os.getuid(), os.getgid()),
    "note beside a file": lambda: os.setxattr(path, "user.x", b"y"),
    "remove a note": lambda: os.removexattr(path, "user.x"),
    "a namespace": lambda: call("unshare", 0x10000000),
    "a queue": lambda: call("semget", 0, 1, 0o1600),
    "torch's own reading": lambda: torch.from_file(path, size=1, dtype=torch.uint8),
}
sandbox.shut_in(memory=1 << 30)
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "was done")
    except (PermissionError, RuntimeError) as error:
        assert "not permitted" in str(error), (name, error)
thread = threading.Thread(target=print, args=("a thread computes",))
thread.start()
thread.join()
print(float((torch.ones(64, 64) @ torch.ones(64, 64)).sum()))
"""


@pytest.mark.skipif(platform.system() != "Linux", reason="of Landlock and seccomp")
def test_neither_files_nor_sockets_nor_processes(tmp_path: object) -> None:
    path = f"{tmp_path}/secret"
    with open(path, "w") as file:  # noqa: PTH123
        file.write("x")
    tried = subprocess.run(
        [sys.executable, "-c", TRIED, path], capture_output=True, text=True, check=True
    )
    assert tried.stdout.splitlines() == ["a thread computes", str(64.0 * 64 * 64)]
    with open(path) as file:  # noqa: PTH123
        assert file.read() == "x"
