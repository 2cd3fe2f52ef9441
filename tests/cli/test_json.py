"""Every field of docs/guide/json.md is printed by its command. What commands print is compared with
the page wherever a test runs one, see tests/conftest.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.clock import NS
from labapp.cli.main import app
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import Unit
from labapp.coding.annotations.packs import open_pack
from labapp.coding.annotations.store import open_marks, open_units
from tests.cli.test_commands import run
from tests.coding.annotations.test_simulated import spoken
from tests.helpers import json_contract
from tests.helpers.drawn import drawn_study, interrupted
from tests.helpers.journals import golden_session
from tests.helpers.json_contract import faults, promised, promises
from tests.helpers.recorded_sounds import Take, sounding_session

ROOT = Path(__file__).parents[2]
MOVES = {("sessions move", key) for key in ("session", "pilot", "reason", "path")}
"""Printed by tests/session/test_pilot.py, which has pilots."""

ELSEWHERE = {
    "concepts import": "tests/models/concepts/test_imported.py",
    "concepts intervene": "tests/cli/test_models.py",
    "concepts score": "tests/cli/test_models.py",
    "concepts stimuli": "tests/cli/test_json.py",
    "concepts train": "tests/cli/test_models.py",
    "metrics": "tests/cli/test_models.py",
    "models evaluate": "tests/cli/test_models.py",
    "models import": "tests/cli/test_json.py",
    "participants merge": "tests/session/test_merging.py",
    "plan": "tests/session/planning/test_plan.py",
    "transcribe": "tests/cli/test_media.py",
    "videos add": "tests/cli/test_media.py",
    "videos align": "tests/cli/test_media.py",
    "videos list": "tests/cli/test_media.py",
}
"""Commands that need models, videos or much time, and the tests that print their JSON."""
INSIDE = {"alignment", "column", "effect", "row", "score", "video"}
"""Objects of these commands."""
RARE = {
    *(("models list", "problem"), ("stimuli list", "problem"), ("concepts list", "problem")),
    *(("timing", "problem"), ("code agree", "notes"), ("code agree", "reason")),
    *(("left out", "session"), ("left out", "why")),
}
"""Fields that only broken files, other models, odd ratings or sessions without units bring."""


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A session with four frozen units, drawn for two raters who gave different codes."""
    session = golden_session(tmp_path / "data")
    book = resources.assets() / "codebooks" / "think-aloud.yaml"
    shutil.copy(book, session.parent / "codebook.yaml")
    with open_units(session, "anna") as units:
        units.put_all([Unit(f"u{n}", (20 + n) * NS, (21 + n) * NS) for n in range(4)])
        units.freeze()
    return session


def _coded_json(session: Path, folder: Path) -> None:
    """Print the JSON of every command about codes."""
    study, book = session.parent, session.parent / "codebook.yaml"
    run("code", "speakers", session)
    run("code", "speakers", session, "--confirm", "--by", "anna")
    drawn = run("code", "assign", study, "--raters", "anna,ben", "--both", "1")
    assert {row["rater"] for row in drawn["assignments"]} == {"anna", "ben"}
    run("code", "pack", study, "--rater", "ben", "--out", folder / "ben.zip")
    pack = open_pack(Path(shutil.copy(folder / "ben.zip", folder / "away.zip")))
    places = {"anna": session, "ben": pack.folder / session.name}
    for rater, codes in {"anna": ["explore", "goal"] * 2, "ben": ["explore"] * 4}.items():
        with open_marks(places[rater], rater, codebooks.read(book)) as marks:
            for number, code in enumerate(codes):
                marks.give(code, unit=f"u{number}")
    with open_marks(places["ben"], "ben", codebooks.read(book)) as marks:
        marks.set_status("done")
    back = shutil.make_archive(str(folder / "back"), "zip", pack.folder)
    run("code", "receive", back, "--study", study)
    run("code", "done", study, "--rater", "anna")
    run("code", "agree", study, "--out", folder / "agreement")
    (folder / "ratings.csv").write_text("unit,a,b\nu1,x,y\nu2,x,x\n")
    run("code", "agree", "--table", folder / "ratings.csv")
    run("code", "lock", study)
    assert run("code", "adjudicate", study)[0]["settled"] is None
    settle = ["code", "adjudicate", "--settle", "1", "--by", "cleo", "--nothing", "--reason", "why"]
    CliRunner().invoke(app, [*settle, str(study)])
    assert run("code", "adjudicate", study)[0]["settled"]["by"] == "cleo"
    run("code", "history", session)
    run("code", "verify", study)
    run("code", "status", study)
    table = folder / "anna.csv"
    run("code", "export", session, "--rater", "anna", "--to", "csv", "--out", table)
    changed = table.read_text("utf-8").replace("goal", "random")
    (folder / "cleo.csv").write_text(changed.replace("anna", "cleo"), "utf-8")
    imported = run(
        "code", "import", folder / "cleo.csv", "--session", session, "--rater", "cleo", "--dry-run"
    )
    assert imported["steps"]
    run("code", "quotes", study, "--out", folder / "quotes.md")
    run("code", "check", book)
    newer = folder / "newer.yaml"
    newer.write_text(book.read_text("utf-8").replace("name: ", "name: New ", 1), "utf-8")
    run("code", "diff", book, newer)


def test_every_field_of_the_page_is_printed(
    coded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command and no field of the page is there only on paper."""
    data = ("--data", tmp_path / "data")
    monkeypatch.setattr(json_contract, "SEEN", seen := set())
    _coded_json(coded, tmp_path)
    run("sessions", "list", *data)
    run("sessions", "show", coded)
    run("sessions", "verify", coded)
    run("sessions", "exclude", coded, "--reason", "alarm")
    run("sessions", "tag", coded, "glasses")
    run("sessions", "include", coded, "--reason", "no alarm")
    (tmp_path / "disk").mkdir()
    assert run("sessions", "backup", "--to", tmp_path / "disk", *data)["done"]
    run("studies", "list")
    run("studies", "instruments")
    study = drawn_study(tmp_path, cells="ab", draw=1)
    interrupted(study, tmp_path, "P01")
    run("studies", "show", study.path, *data)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("id: wrong\ntitle: T\nversion: x\nflow: []\n")
    run("studies", "check", wrong)
    other = study.path.with_name("other.yaml")
    other.write_text(study.path.read_text("utf-8").replace("title: ", "title: New ", 1), "utf-8")
    run("studies", "diff", study.path, other)
    run("studies", "texts", "quickstart", "--language", "fr")
    run("simulate", study.path, "--participants", "1", "--out", tmp_path / "simulated")
    speaking = sounding_session(tmp_path / "spoken", Take(spoken()), end_s=20.0)
    run("code", "segment", speaking)
    (tmp_path / "cuts.csv").write_text(f"session,begin,end\n{speaking.name},1,3\n")
    cuts = ("--list", tmp_path / "cuts.csv", "--out", tmp_path / "reel.wav")
    assert run("code", "reel", speaking.parent, *cuts)["stretches"] == 1
    for group in ("stimuli", "models", "concepts", "plugins", "extras"):
        run(group, "list")
    run("models", "show", "sinelines/vae")
    run("concepts", "show", "concepts/dsprites-four-cbm")
    run("models", "bench", "sinelines/gt", "--n", "1")
    run("doctor")
    wanted = {
        (owner, key) for owner, key in promised() if owner not in ELSEWHERE and owner not in INSIDE
    }
    assert wanted - seen - RARE - MOVES == set()
    cards = {"models show", "concepts show", "concepts import"}
    assert {owner for owner, _ in wanted} | {"models bench"} | cards | ELSEWHERE.keys() >= set(
        promises()
    )


def test_what_is_made_of_models_is_told_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.models.representations.importing.test_importing import Linear, latents, save

    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    decoder = save(tmp_path / "decoder.onnx", Linear())
    more = ("--latents", latents(tmp_path), "--id", "mine/own")
    assert run("models", "import", "--onnx", decoder, *more)["card"]["id"] == "mine/own"
    made = run("concepts", "stimuli", "concepts/dsprites-four-cbm", "--out", tmp_path / "set")
    assert made["photos"] > 0


def test_commands_that_take_long_print_theirs_in_tests_of_their_own() -> None:
    for command, file in ELSEWHERE.items():
        assert "--json" in (ROOT / file).read_text("utf-8"), command


def test_a_value_that_is_not_as_the_page_says_is_found() -> None:
    right = {"session": "s", "decision": "excluded", "reason": "why"}
    assert faults("sessions exclude", right) == []
    for wrong in (
        {**right, "more": 1}, {"session": "s", "decision": "excluded"}, {**right, "reason": None},
        {**right, "reason": 1}, [right],
    ):  # fmt: skip
        assert faults("sessions exclude", wrong), wrong
