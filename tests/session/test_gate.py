"""What a start asks for: a study in order, decoders of their files, and a disk that keeps a
journal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.errors import StudyError, faults_of
from labapp.cli.planning import _contrasts, _preregister
from labapp.models.representations.package import files_of
from labapp.models.stimuli.library import MANIFEST
from labapp.record.journal.read import read_rows
from labapp.session import environment
from labapp.session.environment import (
    _parse_linux_mounts,
    _parse_macos_mounts,
    kind_of,
    network_drive,
)
from labapp.session.gate import gate, look_at
from labapp.session.pictures import WarmDecoders, load_warm
from labapp.session.planning.plan import plan
from labapp.session.simulation.simulation_job import check_job
from labapp.study import loading
from labapp.ui import doctor
from labapp.ui.moderator import checklist
from labapp.ui.starting import RunOptions, open_new
from tests.analysis.test_checking import PLAN
from tests.analysis.test_inclusion import STUDY, ruled
from tests.helpers.formulas import formula_decoder
from tests.helpers.judging_studies import write_judging_study
from tests.session.sessions import begin_session

WAYS: dict[str, Callable[[str, Path], object]] = {
    "run": lambda study, out: open_new(study, "P01", None, RunOptions(data=out)),
    "simulate": lambda study, out: check_job(study, 2, "understanding", out),
    "plan": lambda study, out: plan(study),
    "plan --contrasts": lambda study, out: _contrasts(study, [], None, json_=False),
    "plan --preregister": lambda study, out: _preregister(study, out, None, json_=False),
}

FAULTS = {
    "an unknown covariate": ("  within: [model]\n", "  within: [model]\n  measured: [skil]\n"),
    "an unknown outcome": ("[completion_rate, trust]", "[completion_rate, trus]"),
    "an effect that cannot be": ("raw: 0.1", "raw: 15"),
    "an unknown item in a rule": ("opinions.saw", "opinions.seen"),
    "a factor that nothing depends on": ("  by_moderator: [hint]\n", ""),
    "an unknown related study": ("flow:\n", "related: [quickstrat]\nflow:\n"),
    "a model that is not there": ("models: [sinelines/gt, ", "models: [sinelines/nowhere, "),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_one_gate_refuses_the_same_everywhere(tmp_path: Path, fault: str) -> None:
    known, wrong = FAULTS[fault]
    text = STUDY.replace("flow:\n", f"{PLAN}flow:\n")
    assert known in text
    assert not look_at(ruled(tmp_path, text)).errors
    study = str(ruled(tmp_path, text.replace(known, wrong, 1)))
    wanted = StudyError.together(look_at(study).errors)
    for way, begin in WAYS.items():
        out = tmp_path / way
        with pytest.raises(StudyError) as refused:
            begin(study, out)
        assert str(refused.value) == str(wanted), way
        assert not out.exists(), f"{way} has written something"


def test_what_is_in_order_passes(tmp_path: Path) -> None:
    path = ruled(tmp_path)
    assert gate(path).sha256 == loading.load(path).sha256


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (lambda folder: next(folder.glob("*-1.png")).unlink(), "cannot be read: No such file"),
        (
            lambda folder: next(folder.glob("*-1.png")).write_bytes(b"no"),
            "is not a complete picture",
        ),
        (lambda folder: (folder / MANIFEST).write_text("{"), "not valid JSON"),
    ],
    ids=["missing", "damaged", "no manifest"],
)
def test_what_is_wrong_with_a_set_is_told_once_at_the_line_that_names_it(
    break_: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    path = write_judging_study(tmp_path, "heatmaps")
    folder = tmp_path / "tiny-heatmaps"
    assert not look_at(path).errors
    break_(folder)
    (told,) = (fault for error in look_at(path).errors for fault in faults_of(error))
    lines = path.read_text("utf-8").split("\n")
    assert f"stimuli: {folder}" in lines[told.line - 1]
    assert told.key == "flow[0].stages.stimuli"
    assert said in told.what


MINE = "sinelines/mine"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of a model of one's own."""
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    shutil.copytree(resources.models() / "sinelines" / "ae", tmp_path / MINE)
    card = tmp_path / MINE / "model.yaml"
    card.write_text(card.read_text("utf-8").replace("sinelines/ae", MINE), "utf-8")
    return tmp_path / MINE


def flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def flip_secretly(path: Path) -> None:
    """As long as before, and said to be written when it was before."""
    state = path.stat()
    flip_last_byte(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def exchange(path: Path) -> None:
    draft = path.with_name("draft")
    shutil.copy(path, draft)
    flip_last_byte(draft)
    draft.replace(path)


@pytest.mark.parametrize("change", [flip_last_byte, flip_secretly, exchange, Path.unlink])
def test_a_change_of_any_file_is_noticed(folder: Path, change: Callable[[Path], None]) -> None:
    warm = load_warm([MINE, "sinelines/gt"], "cpu")
    files = files_of(MINE)
    assert {path.name for path in files} == {path.name for path in folder.iterdir()}
    for path in files:
        whole = path.read_bytes()
        assert warm.unchanged() == warm
        change(path)
        left = warm.unchanged()
        assert left.decoders.keys() == left.files.keys() == {"sinelines/gt"}
        assert [times.model for times in left.warmed] == ["sinelines/gt"]
        path.write_bytes(whole)


def test_a_file_written_anew_with_the_same_content_changes_nothing(folder: Path) -> None:
    warm = load_warm([MINE], "cpu")
    for path in files_of(MINE):
        path.write_bytes(path.read_bytes())
    assert warm.unchanged().decoders[MINE] is warm.decoders[MINE]


def test_one_loaded_anew_stands_in_the_place_of_the_other(folder: Path) -> None:
    warm = load_warm([MINE, "sinelines/gt"], "cpu")
    flip_card = folder / "model.yaml"
    flip_card.write_text(flip_card.read_text("utf-8") + "\n", "utf-8")
    fresh = load_warm([MINE], "cpu")
    both = warm.with_others(fresh)
    assert both.decoders[MINE] is fresh.decoders[MINE]
    assert sorted(times.model for times in both.warmed) == ["sinelines/gt", MINE]
    assert both.unchanged() == both


def test_one_that_was_read_from_no_files_stays() -> None:
    warm = WarmDecoders({"nowhere/there": formula_decoder("sinelines/gt")}, [])
    assert warm.unchanged() == warm


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
    assert kind_of(Path(folder), _parse_linux_mounts(LINUX)) == kind


def test_a_share_on_a_mac() -> None:
    assert kind_of(Path("/Volumes/Lab data/sessions"), _parse_macos_mounts(MAC)) == "SMB"
    assert kind_of(Path("/Users/lab"), _parse_macos_mounts(MAC)) == ""


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
    assert (check.level, "on a network drive (NFS)" in check.found) == ("note", True)
    session = begin_session(tmp_path)
    session.close("test over")
    alarms = [row for row in read_rows(session.folder.path) if row.kind == "alarm.raised"]
    assert any("network_drive" in row.payload for row in alarms)
