"""Where a session takes place: versions, machine, process; screens and the microphone are known
to the caller.

Also whether a folder is on a network drive, where a journal must not be written. SQLite's
write-ahead log needs memory that all processes on the file share and locks that hold; network file
systems give neither (https://sqlite.org/wal.html, section 1).
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import uuid
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from labapp import __version__
from labapp.base import discovery
from labapp.base.messages import Message

LIBRARIES = (
    "PySide6-Essentials",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "safetensors",
    "sounddevice",
    "torch",
)


@cache
def boot_id() -> str:
    """Names this run of the machine: two segments with one boot id share a monotonic clock.

    Where the system does not tell, one of this process's own, which claims nothing of others.
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return str(uuid.uuid4())


@cache
def _version(library: str) -> str:
    """The installed version. Cached, since reading it is slower than simulating many parts."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "not installed"


def describe(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The environment of this run; extra: what only the caller knows (screens, microphone)."""
    return {
        "labapp": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "libraries": {library: _version(library) for library in LIBRARIES},
        "plugins": [
            {
                "group": plugin.group,
                "name": plugin.name,
                "package": plugin.package,
                "version": plugin.version,
            }
            for plugin in discovery.in_use()
        ],
        **extra,
    }


NETWORK = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "cifs": "SMB",
    "smb3": "SMB",
    "smbfs": "SMB",
    "fuse.sshfs": "sshfs",
    "sshfs": "sshfs",
    "afpfs": "AFP",
    "afs": "AFS",
    "webdav": "WebDAV",
    "fuse.davfs2": "WebDAV",
    "fuse.rclone": "rclone",
    "fuse.gvfsd-fuse": "GVfs",
    "fuse.glusterfs": "GlusterFS",
    "ceph": "Ceph",
    "fuse.ceph": "Ceph",
    "lustre": "Lustre",
    "beegfs": "BeeGFS",
    "9p": "9P",
    "vboxsf": "a shared folder of VirtualBox",
    "fuse.vmhgfs-fuse": "a shared folder of VMware",
}
"""Types of mounted file systems, and how people call them."""


def network_drive(folder: Path) -> str:
    """The kind of network drive that a folder lies on, or will lie on; empty for a local disk, and
    where the system does not tell."""
    try:
        place = folder.resolve()
        if sys.platform == "win32":
            return _windows_drive(place)
        if sys.platform == "darwin":
            listed = subprocess.run(
                ["/sbin/mount"], capture_output=True, text=True, timeout=5, check=False
            )
            return kind_of(place, _parse_macos_mounts(listed.stdout))
        return kind_of(
            place, _parse_linux_mounts(Path("/proc/self/mountinfo").read_text("utf-8", "replace"))
        )
    except (OSError, subprocess.SubprocessError):
        return ""


def kind_of(folder: Path, mounts: list[tuple[str, str]]) -> str:
    """The kind by (place, type) of each mounted file system; of equal places the last counts."""
    depth, kind = -1, ""
    for place, file_system in mounts:
        parts = PurePosixPath(place).parts
        if folder.parts[: len(parts)] == parts and len(parts) >= depth:
            depth, kind = len(parts), file_system
    return NETWORK.get(kind, "")


def _parse_linux_mounts(mountinfo: str) -> list[tuple[str, str]]:
    """Linux: a line `36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw`."""
    mounts = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, file_system = before.split(" "), after.split(" ")[0]
        if len(fields) > 4:
            mounts.append((_unescape(fields[4]), file_system))
    return mounts


def _unescape(text: str) -> str:
    for code, letter in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, letter)
    return text


def _parse_macos_mounts(output: str) -> list[tuple[str, str]]:
    """macOS: a line `//lab@server/data on /Volumes/data (smbfs, nodev)`."""
    mounts = []
    for line in output.splitlines():
        head, _, options = line.rpartition(" (")
        _, separator, place = head.partition(" on ")
        if separator:
            mounts.append((place, options.split(",")[0].rstrip(")")))
    return mounts


def _windows_drive(folder: Path) -> str:
    if folder.drive.startswith("\\\\"):
        return "SMB"
    if sys.platform == "win32":
        import ctypes

        kind = ctypes.windll.kernel32.GetDriveTypeW(folder.anchor or os.sep)
        return "SMB" if kind == 4 else ""  # DRIVE_REMOTE
    return ""


def network_warning(kind: str) -> Message:
    """What is told of a data folder on such a drive."""
    return Message("network_drive", kind=kind)
