"""What an export writes, refuses, leaves out and leaves alone."""

from __future__ import annotations

import errno
import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis.tables import load
from labapp.base import resources
from labapp.base.errors import BundleError, ExportExists, RecordError, UsageError
from labapp.record.journal.layout import EXPORTS, JOURNAL, ZipTree
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import exports_of
from labapp.session.bids import folder as bundle_folder
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.folder import SessionFolder
from labapp.tasks.consent.events import ConsentGiven
from tests.helpers.golden import golden_builder
from tests.helpers.installed import on_path, write_package
from tests.helpers.journals import GOLDEN, SessionBuilder, golden_session
from tests.helpers.packages import copied
from tests.helpers.trees import flip, snapshot

SOURCE = "sourcedata/labapp/sub-P01/ses-1"


def table(path: Path) -> list[dict[str, str]]:
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def renamed(participant: str, session: str = "1", study: str = "golden") -> SessionBuilder:
    """The golden session under other labels."""
    builder = golden_builder()
    builder.participant, builder.session, builder.study = participant, session, study
    t_ns, source, unstamped = builder.rows[0]
    payload = replace(unstamped.payload, participant=participant, session=session, study=study)
    builder.rows[0] = (t_ns, source, replace(unstamped, payload=payload))
    return builder


def killed(tmp_path: Path) -> Path:
    """The golden session, killed at 72.25 s."""
    builder = golden_builder()
    builder.rows = [row for row in builder.rows if row[0] <= 72_250_000_000]
    builder.sounds.pop("audio/segment-02.wav")
    builder.environment.pop()
    return builder.write(tmp_path, wal=True)


def test_the_session_folder_is_not_touched(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    before = snapshot(folder)
    export([folder], tmp_path / "bundle")
    export([folder], tmp_path / "bundle", zip=True)
    assert snapshot(folder) == before
    log = [json.loads(line) for line in (folder.parent / EXPORTS).read_text().splitlines()]
    said = [(Path(entry["bundle"]).name, entry["state"]) for entry in log]
    assert said == [
        *(("bundle", "begun"), ("bundle", "done")),
        *(("bundle.zip", "begun"), ("bundle.zip", "done")),
    ]
    assert log[0]["sessions"] == [folder.name]


def test_cards_come_from_the_folder_where_the_sessions_own_models_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    monkeypatch.setattr(resources, "models", lambda: tmp_path / "shipped")
    shutil.copytree(GOLDEN / "models/sinelines", tmp_path / "own/sinelines")
    copied(tmp_path / "shipped", "sinelines/gt", of="circles/gt", models=GOLDEN / "models")
    bundle = export([golden_session(tmp_path / "data")], tmp_path / "bundle")
    said = json.loads((bundle / SOURCE / "session.json").read_text())["model_cards"]
    assert said["sinelines/gt"] == "included", "of two with this id, the one with its dials"
    assert said["circles/gt"] == "not installed here at export"
    kept = bundle / "sourcedata/labapp/models/sinelines/gt/model.yaml"
    assert kept.read_bytes() == (tmp_path / "own/sinelines/gt/model.yaml").read_bytes()


def test_the_trials_are_those_computed_by_hand(tmp_path: Path) -> None:
    bundle = export([golden_session(tmp_path)], tmp_path / "bundle")
    beh = bundle / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_beh.tsv"
    rows = [row for row in table(beh) if row["role"] == "stage"]
    wanted = ("stage", "trial", "outcome", "duration_s", "solved_s", "error_auc_sum", "active_s")
    assert [tuple(row[name] for name in wanted) for row in rows] == [
        ("stage-1", "1", "solved", "6.5", "5", "176", "6.5"),
        ("stage-1", "2", "skipped", "9", "n/a", "840", "7"),
        ("stage-2", "1", "solved", "8", "6.1", "41.95", "8"),
        ("stage-2", "2", "solved", "7.25", "6.25", "64", "7.25"),
        ("stage-3", "1", "solved", "4", "3", "124", "4"),
        ("stage-3", "2", "solved", "1", "0", "1", "1"),
    ]
    distances = [float(row["slide_distance"]) for row in rows]
    assert distances == pytest.approx([0.625, 0.2, 0.5, 1.0, 1.1, 0.0])
    assert json.loads(rows[0]["z_target"]) == [0.5, 1.0, 1.0, 1.0, 0.0]


def test_every_column_of_every_table_is_described(tmp_path: Path) -> None:
    bundle = export([golden_session(tmp_path)], tmp_path / "bundle")
    tables = list(bundle.rglob("*.tsv"))
    assert len(tables) == 6
    for path in tables:
        described = json.loads(path.with_suffix(".json").read_text())
        for column in path.read_text().splitlines()[0].split("\t"):
            assert described[column]["Description"].endswith((".", ")")), f"{path}: {column}"
        levels: dict[str, Any] = described.get("trial_type", {}).get("Levels", {})
        assert {row["trial_type"] for row in table(path)} <= set(levels) if levels else True


def test_the_sound_is_placed_on_the_timeline(tmp_path: Path) -> None:
    bundle = export([golden_session(tmp_path)], tmp_path / "bundle")
    one, two = json.loads((bundle / SOURCE / "audio/clock.json").read_text())
    assert (one["nominal_rate"], one["fitted_rate"], one["offset_s"]) == (1000, 1000.1, 1.0)
    assert one["residual_ms"] < 0.001
    assert not one["used_nominal"]
    assert two["used_nominal"], "20 s are too short for a fit"
    assert two["lost_frames"] == 500


def test_an_export_never_overwrites(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle")
    before = snapshot(bundle)
    with pytest.raises(ExportExists, match="never overwrites"):
        export([folder], bundle)
    assert snapshot(bundle) == before
    (tmp_path / "taken.zip").write_text("mine")
    with pytest.raises(ExportExists):
        export([folder], tmp_path / "taken", zip=True)
    assert (tmp_path / "taken.zip").read_text() == "mine"


def test_nothing_private_or_foreign_gets_out(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    (folder / "consent-names.txt").write_text("Ada Lovelace")
    (folder / "private.sqlite").write_text("Ada Lovelace")
    bundle = export([folder], tmp_path / "bundle")
    assert all(b"Ada Lovelace" not in content for content in snapshot(bundle).values())
    assert verify(bundle).ok


def test_without_sound(tmp_path: Path) -> None:
    bundle = export([golden_session(tmp_path)], tmp_path / "bundle", audio=False)
    assert not list(bundle.rglob("*.wav"))
    assert not list(bundle.rglob("clock.json"))
    assert "The sound was left out" in (bundle / "README").read_text()
    assert verify(bundle).ok
    again = export([bundle], tmp_path / "again")
    assert "There is no sound in this bundle" in (again / "README").read_text()
    assert json.loads((again / SOURCE / "session.json").read_text())["sound"] is False
    assert json.loads((again / "sourcedata/labapp/manifest.json").read_text())["sound"] is False
    assert verify(again).ok, verify(again).problems


def test_an_interrupted_session_is_exported_and_marked(tmp_path: Path) -> None:
    folder = killed(tmp_path / "data")
    before = snapshot(folder)
    bundle = export([folder], tmp_path / "bundle")
    assert snapshot(folder) == before
    assert table(bundle / "participants.tsv")[0]["complete"] == "false"
    (session,) = table(bundle / "sub-P01/sub-P01_sessions.tsv")
    assert (session["state"], session["length"]) == ("interrupted", "72.25")
    beh = table(bundle / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_beh.tsv")
    assert beh[-1]["outcome"] == "interrupted"
    events = table(bundle / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_events.tsv")
    last_trial = [row for row in events if row["trial_type"] == "trial"][-1]
    assert (last_trial["duration"], last_trial["outcome"]) == ("n/a", "n/a")
    report = verify(bundle)
    assert report.ok, report.problems
    assert any("interrupted" in note for note in report.notes)


def test_a_running_session_is_refused(tmp_path: Path) -> None:
    builder = golden_builder()
    builder.rows = builder.rows[:100]
    folder = builder.write(tmp_path / "data")
    with SessionFolder(folder).lock(), pytest.raises(BundleError, match="is running"):
        export([folder], tmp_path / "out" / "bundle")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_changed_journal_is_refused(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    content = (folder / JOURNAL).read_bytes()
    flip(folder / JOURNAL, content.index(b"third dial"))
    with pytest.raises(BundleError, match="event 111"):
        export([folder], tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_a_renamed_session_is_refused_and_told(tmp_path: Path) -> None:
    """Its folder would be another participant's than the rows of the tables."""
    folder = golden_session(tmp_path / "data")
    other = folder.rename(folder.with_name(folder.name.replace("P01", "P07")))
    with pytest.raises(BundleError, match="belongs to session 1 of participant P01"):
        export([other], tmp_path / "bundle")
    (problem,) = verify(other).problems
    assert "participant P01, session 1" in problem


def test_twice_the_same_labels_or_two_studies_are_refused(tmp_path: Path) -> None:
    one, same = golden_session(tmp_path / "a"), golden_session(tmp_path / "b")
    with pytest.raises(BundleError, match="was given twice"):
        export([one, same], tmp_path / "bundle")
    other = renamed("P02", study="other").write(tmp_path / "c")
    begun: list[object] = []
    with pytest.raises(BundleError, match="belongs to the study other"):
        export([one, other], tmp_path / "bundle", progress=lambda *told: begun.append(told))
    assert not begun, (
        "of many sessions it is told at once, and not after the first study is written"
    )
    with pytest.raises(BundleError, match="No session"):
        export([], tmp_path / "bundle")
    with pytest.raises(RecordError):
        export([tmp_path], tmp_path / "bundle")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c"]


def test_the_folder_of_a_study_is_exported_whole(tmp_path: Path) -> None:
    one = golden_session(tmp_path / "data")
    two = renamed("P02").write(tmp_path / "data")
    (one.parent / "assignments.lock").touch()
    (one.parent / f".withdrawn-{one.name.replace('P01', 'P03')}").mkdir()
    bundle = export([one.parent], tmp_path / "bundle")
    people = [row["participant_id"] for row in table(bundle / "participants.tsv")]
    assert people == ["sub-P01", "sub-P02"]
    assert [exports_of(folder) for folder in (one, two)] == [(str(bundle),)] * 2


def test_several_participants_and_sessions(tmp_path: Path) -> None:
    folders = [
        golden_session(tmp_path / "data"),
        renamed("P02").write(tmp_path / "data"),
        renamed("P02", "2").write(tmp_path / "data"),
    ]
    seen: list[tuple[int, int, str]] = []
    bundle = export(folders, tmp_path / "bundle", progress=lambda *step: seen.append(step))
    assert seen == [*((i, 3, folder.name) for i, folder in enumerate(folders)), (3, 3, "")]
    people = table(bundle / "participants.tsv")
    assert [(row["participant_id"], row["labapp_sessions"]) for row in people] == [
        ("sub-P01", "1"),
        ("sub-P02", "2"),
    ]
    sessions = table(bundle / "sub-P02/sub-P02_sessions.tsv")
    assert [row["session_id"] for row in sessions] == ["ses-1", "ses-2"]
    seq = table(bundle / "phenotype/seq.tsv")
    assert [row["ses_2_stage_1_seq"] for row in seq] == ["n/a", "4"]
    report = verify(bundle)
    assert report.ok, report.problems
    assert report.checked["sessions"] == 3


def test_an_archive_is_the_same_for_the_same_tree(tmp_path: Path) -> None:
    bundle = export([golden_session(tmp_path)], tmp_path / "bundle")
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    for path in (first, second):
        with path.open("wb") as target:
            bundle_folder.write_zip(bundle_folder.FolderTree(bundle), "bundle", target)
    assert first.read_bytes() == second.read_bytes()


def test_what_is_unpacked_is_its_owners_alone_and_earlier_archives_are_whole_too(
    tmp_path: Path,
) -> None:
    zipped = export([golden_session(tmp_path)], tmp_path / "bundle", zip=True)
    assert rights(zipped) == {0o600}
    for mode, whole in ((0o644, True), (0o666, False)):
        other = tmp_path / f"{mode:o}" / "bundle.zip"
        other.parent.mkdir()
        with other.open("wb") as target:
            bundle_folder.write_zip(ZipTree(zipped, "bundle/"), "bundle", target, mode)
        assert rights(other) == {mode}
        assert verify(other).ok is whole


def rights(archive: Path) -> set[int]:
    with zipfile.ZipFile(archive) as opened:
        return {entry.external_attr >> 16 & 0o777 for entry in opened.infolist()}


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = golden_session(tmp_path / "data")
    before = snapshot(folder)
    real = bundle_folder.BundleFolder.add_stream

    def full(self: bundle_folder.BundleFolder, name: str, source: Any) -> None:
        if name.endswith("segment-02.wav"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, name, source)

    monkeypatch.setattr(bundle_folder.BundleFolder, "add_stream", full)
    with pytest.raises(BundleError, match="disk is full") as caught:
        export([folder], tmp_path / "out" / "bundle")
    assert "removed" in caught.value.safe
    assert list((tmp_path / "out").iterdir()) == []
    assert snapshot(folder) == before
    assert exports_of(folder) == ()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    (tmp_path / "file").touch()
    with pytest.raises(BundleError, match="could not be written"):
        export([folder], tmp_path / "file" / "bundle")


def test_an_export_that_cannot_be_noted_is_not_made(tmp_path: Path) -> None:
    """A withdrawal would not know of it."""
    folder = golden_session(tmp_path / "data")
    (folder.parent / EXPORTS).mkdir()
    with pytest.raises(BundleError, match="cannot be recorded"):
        export([folder], tmp_path / "out" / "bundle")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("zipped", [False, True])
def test_a_bundle_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool
) -> None:
    synced: set[str] = set()
    order: list[str] = []
    real_sync, real_rename, real_link = os.fsync, Path.rename, os.link

    def fsync(descriptor: int) -> None:
        place = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        synced.add(place)
        order.append(place)
        real_sync(descriptor)

    def named(path: Path, target: Path) -> None:
        if target == out:
            needed = {str(path)} | {str(inside) for inside in path.rglob("*")}
            assert needed <= synced, sorted(needed - synced)
            order.append("named")

    def rename(path: Path, target: Path) -> Path:
        named(path, target)
        return real_rename(path, target)

    def link(path: Path, target: Path) -> None:
        named(path, target)
        real_link(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", rename)
    monkeypatch.setattr(os, "link", link)
    out = tmp_path / ("out.zip" if zipped else "out")
    export([golden_session(tmp_path / "data")], out, zip=zipped)
    assert order.index("named") < len(order) - 1
    assert str(tmp_path) in order[order.index("named") :], "and its name afterwards"


def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")

    def stop(done: int, total: int, name: str) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export([folder], tmp_path / "out" / "bundle", progress=stop)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_bundle_can_be_exported_again_without_sound(tmp_path: Path) -> None:
    first = export([golden_session(tmp_path / "data")], tmp_path / "first", zip=True)
    second = export([first], tmp_path / "second", audio=False)
    assert verify(second).ok
    assert list(open_record(second).rows) == list(open_record(first).rows)


@pytest.mark.parametrize("agreed", [True, False])
def test_sound_that_may_not_be_passed_on_stays_in_the_lab(tmp_path: Path, agreed: bool) -> None:
    builder = golden_builder()
    at = next(i for i, row in enumerate(builder.rows) if isinstance(row[2].payload, ConsentGiven))
    t_ns, source, unstamped = builder.rows[at]
    payload = replace(unstamped.payload, uses={"share_audio": agreed})
    builder.rows[at] = (t_ns, source, replace(unstamped, payload=payload))
    folder = builder.write(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle")
    assert bool(list(bundle.rglob("*.wav"))) is agreed
    assert ("did not agree" in (bundle / "README").read_text()) is not agreed
    assert verify(bundle).ok
    (row,) = load([bundle], workers=1).participants.to_dict("records")
    assert row["consent_share_audio"] is agreed
    assert row["consent_signed"] == "name"


def test_what_the_journal_does_not_name_stays_in_the_lab(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    for name in ("ada.pdf", "audio/ada.txt", "audio/ada.wav", "stimuli/ada.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"Ada Lovelace in {name}")
    bundle = export([folder], tmp_path / "bundle")
    assert not [content for content in snapshot(bundle).values() if b"Lovelace" in content]
    assert verify(bundle).ok


def test_a_session_is_not_exported_with_other_files_than_its_studys(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    before = (folder / "study/golden.yaml").read_bytes()
    (folder / "study/names.csv").write_text("P01,Ada Lovelace")
    with pytest.raises(BundleError, match="is not as it was when the session was planned") as told:
        export([folder], tmp_path / "bundle")
    assert "names.csv" in told.value.todo
    (folder / "study/names.csv").unlink()
    (folder / "study/golden.yaml").write_bytes(before + b"# Ada Lovelace\n")
    with pytest.raises(BundleError, match="is not as it was when the session was planned"):
        export([folder], tmp_path / "bundle")
    (folder / "study/golden.yaml").write_bytes(before)
    assert verify(export([folder], tmp_path / "bundle")).ok


NAMES = """
from labapp.session.bids.export import Exporter

class Names(Exporter):
    name = "names"

    def write(self, sessions, folder, *, audio):
        for given in sessions:
            name = str(given.record.name)
            folder.add_text(f"{name}.txt", f"{len(given.record.rows)} {given.record.redacted}")

IT = Names()
"""


def test_a_package_brings_a_format(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    site = write_package(
        tmp_path / "site", "our-names", NAMES, group="labapp.exporters", entry="IT"
    )
    with on_path(site):
        out = export([session], tmp_path / "out", format="names")
        kept = {"private": tmp_path / "private", "deidentify": True}
        reduced = export([session], tmp_path / "reduced", format="names", **kept)
        session.rename(session.with_name(session.name.replace("P01", "P02")))
        with pytest.raises(BundleError, match="was renamed"):
            export([*session.parent.glob("sub-*")], tmp_path / "other", format="names")
    rows = len(open_record(next(session.parent.glob("sub-*"))).rows)
    assert [path.read_text() for path in out.iterdir()] == [f"{rows} False"]
    (text,) = [path.read_text() for path in reduced.iterdir()]
    assert text.endswith("True")
    assert not (tmp_path / "other").exists()


def test_a_format_that_nobody_knows_or_that_fails_writes_nothing(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    with pytest.raises(UsageError, match="no format 'names'"):
        export([session], tmp_path / "out", format="names")
    broken = NAMES.replace("given.record.rows", "given.nothing")
    site = write_package(
        tmp_path / "site", "our-names", broken, group="labapp.exporters", entry="IT"
    )
    with on_path(site), pytest.raises(BundleError, match=r"exporter 'names' .* failed"):
        export([session], tmp_path / "out", format="names")
    assert not (tmp_path / "out").exists()
