"""Data folders on network drives, where SQLite cannot keep a journal safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.record.journal.read import read_rows
from labapp.session import environment
from labapp.session.environment import _listed, _mounted, kind_of, network_drive
from labapp.ui import doctor
from labapp.ui.moderator import checklist
from tests.session.sessions import begin_session

LINUX = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 0:40 / /home/lab/My\\040share rw,nosuid - cifs //server/data rw
37 22 0:41 / /mnt/nfs rw - nfs4 server:/export rw
38 37 8:2 / /mnt/nfs/local rw - xfs /dev/sdb1 rw
39 22 0:50 / /mnt/over rw - nfs server:/x rw
40 22 8:3 / /mnt/over rw - ext4 /dev/sdc1 rw
41 22 0:60 / /home/lab/remote rw - fuse.sshfs lab@host: rw
"""
MAC = """\
/dev/disk3s1 on / (apfs, sealed, local)
//lab@server/data on /Volumes/Lab data (smbfs, nodev, nosuid)
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/lab/sessions", ""),
        ("/home/lab/My share/sessions", "SMB"),
        ("/mnt/nfs/sessions", "NFS"),
        ("/mnt/nfs", "NFS"),
        ("/mnt/nfs/local/sessions", ""),
        ("/mnt/nfsother", ""),
        ("/mnt/over/sessions", ""),
        ("/home/lab/remote/a/b", "sshfs"),
    ],
)
def test_the_innermost_mount_counts(folder: str, kind: str) -> None:
    assert kind_of(Path(folder), _mounted(LINUX)) == kind


def test_a_share_on_a_mac() -> None:
    assert kind_of(Path("/Volumes/Lab data/sessions"), _listed(MAC)) == "SMB"
    assert kind_of(Path("/Users/lab"), _listed(MAC)) == ""


def test_this_machine_s_own_disk_is_none(tmp_path: Path) -> None:
    assert network_drive(tmp_path / "not/yet/there") == ""


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "kind_of", lambda folder, mounts: "NFS")


@pytest.mark.usefixtures("share")
def test_a_network_drive_is_told_of_everywhere(tmp_path: Path) -> None:
    row = checklist.disk_row(10**12, network=network_drive(tmp_path))
    assert (row.state, row.required) == ("warn", False)
    assert "NFS" in row.text
    (check,) = doctor._disk(tmp_path)
    assert (check.level, "On a network drive (NFS)" in check.found) == ("note", True)
    session = begin_session(tmp_path)
    session.close("test over")
    alarms = [row for row in read_rows(session.folder.path) if row.kind == "alarm.raised"]
    assert any("network_drive" in row.payload for row in alarms)
