"""From `labapp run` to the report, with a signal in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from labapp.record.journal.read import read_rows
from tests.end_to_end.conftest import Labapp, environment
from tests.helpers.waiting import wait_for

STUDY = Path(__file__).with_name("short.yaml")
SIMULATED = ("--simulate", "knowing", "--audio", "off", "--windowed")
HASTE = ("--speed", "20")


def without_training(folder: Path, more: str = "") -> Path:
    """The study with models in closed form alone, which are there at once."""
    study = folder / STUDY.name
    text = STUDY.read_text()
    assert text.count(", sinelines/vae") == 1
    study.write_text(text.replace(", sinelines/vae", "") + more)
    return study


def kinds(session: Path) -> list[str]:
    return [row.kind for row in read_rows(session)]


def only_session(folder: Path) -> Path:
    (session,) = (folder / "data" / "short").glob("sub-*")
    return session


def test_a_session_from_start_to_report(labapp: Labapp, tmp_path: Path) -> None:
    done = labapp("run", STUDY, "--participant", "P01", *SIMULATED, *HASTE)
    assert done.returncode == 0, done.stderr
    session = only_session(tmp_path)
    seen = kinds(session)
    assert seen[0] == "session.planned"
    assert seen[-2:] == ["session.completed", "segment.ended"]
    assert seen.count("trial.ended") == 3 + 4

    again = labapp("run", STUDY, "--participant", "P01", *SIMULATED)
    assert again.returncode == 1
    assert "P01 already has session 1" in again.stderr
    assert "untouched" in again.stderr

    verified = labapp("sessions", "verify", session.name)
    assert verified.returncode == 0, verified.stdout

    listed = json.loads(labapp("sessions", "list", "--json").stdout)
    assert [(row["id"], row["state"]) for row in listed] == [(session.name, "complete")]

    bundle, results = tmp_path / "bundle", tmp_path / "results"
    exported = labapp("export", session.name, "--out", bundle)
    assert exported.stdout.splitlines()[-1] == f"bundle: {bundle}"
    assert labapp("export", session.name, "--out", bundle).returncode == 3
    assert labapp("sessions", "verify", bundle).returncode == 0

    analysed = labapp("analyze", bundle, "--out", results, "--format", "xlsx")
    assert analysed.stdout.splitlines()[-1] == f"report: {results / 'report.html'}"
    stages = pd.read_excel(results / "data.xlsx", sheet_name="Data")
    # Practice is no stage.
    assert list(stages["n_solved"]) == [2, 2]
    trials = pd.read_csv(results / "trials.csv")
    assert set(trials["outcome"]) == {"solved"}
    assert (
        list(trials["model"]) == ["circles/gt"] * 3 + ["sinelines/gt"] * 2 + ["sinelines/vae"] * 2
    )


def test_whoever_does_not_try_is_excluded_by_the_rules(labapp: Labapp, tmp_path: Path) -> None:
    study = without_training(tmp_path, "inclusion: {min_solved: 1}\n")
    options = (*SIMULATED, *HASTE)
    assert labapp("run", study, "--participant", "P01", *options).returncode == 0
    assert labapp("run", study, "--participant", "P02", *options, "--careless").returncode == 0
    rows = json.loads(labapp("sessions", "list", "--json").stdout)
    decided = {
        row["participant"]: json.loads(stored.payload)
        for row in rows
        for stored in read_rows(Path(row["path"]), ("inclusion.decided",))
    }
    assert decided["P01"]["included"]
    assert decided["P02"]["failed"] == ["min_solved"]


def test_an_interrupted_session_is_resumed(labapp: Labapp, tmp_path: Path) -> None:
    study = str(without_training(tmp_path))
    running = subprocess.Popen(
        [sys.executable, "-m", "labapp", "run", study, "--participant", "P02", *SIMULATED],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = list((tmp_path / "data").glob("short/sub-*/journal.sqlite"))
            if found and "trial.started" in kinds(found[0].parent):
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 1, told
    assert "labapp sessions resume" in told

    session = only_session(tmp_path)
    before = kinds(session)
    assert before[-1] == "segment.ended"
    assert "session.completed" not in before

    resumed = labapp("sessions", "resume", session.name, *SIMULATED, *HASTE)
    assert resumed.returncode == 0, resumed.stderr
    after = kinds(session)
    assert after[: len(before)] == before
    assert after.count("segment.started") == 2
    assert after.count("session.resumed") == 1
    assert after[-2:] == ["session.completed", "segment.ended"]
    assert labapp("sessions", "verify", session.name).returncode == 0

    finished = labapp("sessions", "resume", session.name, *SIMULATED)
    assert finished.returncode == 1
    assert "nothing to resume" in finished.stderr


def test_ctrl_c_closes_the_home(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "labapp"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for((tmp_path / "data").exists)  # made by the home's first look at the disk
    running.send_signal(signal.SIGINT)
    told, _ = running.communicate(timeout=60)
    assert running.returncode == 0, told
    assert "Traceback" not in told


def test_a_dead_display_is_no_crash(labapp: Labapp) -> None:
    done = labapp("doctor", QT_QPA_PLATFORM="", DISPLAY=":987", WAYLAND_DISPLAY="")
    assert "does not answer" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_demonstration_on_a_virtual_display(labapp: Labapp, tmp_path: Path) -> None:
    server = shutil.which("Xvfb")
    assert server, "Xvfb is missing: the set-up of the tests installs it"
    read, write = os.pipe()
    display = subprocess.Popen(
        [server, "-displayfd", str(write), "-screen", "0", "1366x768x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        number = os.read(read, 16).decode().strip()
        out = tmp_path / "demo"
        done = labapp("demo", "--out", out, "--seed", "2", QT_QPA_PLATFORM="", DISPLAY=f":{number}")
    finally:
        os.close(read)
        display.terminate()
        display.wait(timeout=10)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "windows: on the screen" in lines
    assert lines[-2:] == [f"bundle: {out / 'bundle'}", f"report: {out / 'results/report.html'}"]
    assert (out / "bundle" / "dataset_description.json").is_file()
    assert (out / "results" / "report.html").is_file()
    if os.name == "posix":
        # Session, sound, private folder, bundle and results, by windows, recorder and workers.
        assert [path for path in (out, *out.rglob("*")) if path.stat().st_mode & 0o077] == []
