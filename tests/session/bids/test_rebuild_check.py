"""Tables and descriptions of a bundle are made anew from its journals and compared by value."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from labapp.base import resources
from labapp.record.journal.layout import MANIFEST, SOURCEDATA
from labapp.session.bids import derived
from labapp.session.bids.derived import TABLE_FORMAT, codebook, readme
from labapp.session.bids.export import export
from labapp.session.bids.folder import json_text
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.tasks.reconstruction.events import TrialDrawn
from tests.helpers.golden import golden_builder
from tests.helpers.golden_bundle import comparable, exported
from tests.helpers.journals import GOLDEN, golden_session
from tests.helpers.nightly import EVERYTHING
from tests.tampering.places import reseal

FORMATS = {
    1: "04e671156e45bcac",
    2: "c483d9ef5458e957",
    3: "fe431ccf0a5cf23d",
    4: "997f7855b2bda64e",
    5: "17896590ee28743a",
    6: "95537cbda711a962",
    7: "0811ebccf8e2d917",
    8: "42c9fa2f31a82ee8",
    9: "2308bc3beaaebde2",
    10: "42ca5f5d7f340c5b",
    11: "6b48808db40bbdd2",
    12: "42808365dcb8eae4",
    13: "9f0842af3e97ef87",
    14: "6e6e9625c5ae483e",
}
"""What each format of the tables comes to, see `test_a_changed_table_has_a_new_format`."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("remade")
    return export([golden_session(root / "data")], root / "bundle")


def rebuilt(bundle: Path) -> list[str]:
    """The files that are made of the journals."""
    own = f"{SOURCEDATA}/sub-"
    names = sorted(path.relative_to(bundle).as_posix() for path in bundle.rglob("*.*"))
    return [
        name
        for name in [*names, "README"]
        if (bundle / name).is_file()
        and not name.startswith((own, f"{SOURCEDATA}/models"))
        and not name.endswith(MANIFEST)
    ]


@settings(
    max_examples=20 if EVERYTHING else 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_another_character_in_any_of_them_is_found(
    bundle: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(rebuilt(bundle)))
    text = (bundle / name).read_text("utf-8")
    at = data.draw(st.sampled_from([n for n, letter in enumerate(text) if letter.isalnum()]))
    letter = "x" if text[at] != "x" else "y"
    copy = tmp_path_factory.mktemp("copy") / "bundle"
    shutil.copytree(bundle, copy)
    (copy / name).write_text(text[:at] + letter + text[at + 1 :], "utf-8")
    reseal(copy)
    problems = verify(copy).problems
    assert problems
    assert all(problem.startswith(name) for problem in problems), problems
    shutil.rmtree(copy)


@pytest.mark.parametrize("audio", [True, False])
@pytest.mark.parametrize("deidentify", [True, False])
def test_a_reduced_bundle_gives_its_own_tables(
    bundle: Path, tmp_path: Path, audio: bool, deidentify: bool
) -> None:
    reduced = export(
        [bundle], tmp_path / "b", zip=True, deidentify=deidentify, audio=audio, private=tmp_path
    )
    report = verify(reduced)
    assert report.ok, report.problems
    assert report.checked["tables and texts made anew"] >= 14


def test_the_order_of_the_sessions_is_the_export_s(tmp_path: Path) -> None:
    sessions = simulate_study("quickstart", 2, "understanding", tmp_path / "data")
    backwards = export(sessions[::-1], tmp_path / "bundle")
    assert verify(backwards).problems == []
    reseal(backwards, sessions=["sub-P01/ses-1"])
    assert any("does not name the sessions" in problem for problem in verify(backwards).problems)


@pytest.mark.parametrize("stated", [0, TABLE_FORMAT + 1, "old", None])
def test_another_format_is_no_fault(bundle: Path, tmp_path: Path, stated: object) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "copy"))
    path = copy / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_beh.json"
    path.write_text(path.read_text("utf-8").replace("Description", "Meaning"), "utf-8")
    reseal(copy, table_format=stated)
    report = verify(copy)
    assert report.ok
    assert f"they have the format {stated}" in "\n".join(report.notes)


def test_a_question_that_was_drawn_again_is_one_row_of_another_format(tmp_path: Path) -> None:
    made = golden_builder()
    place, (t_ns, source, drawn) = next(
        (i, row) for i, row in enumerate(made.rows) if isinstance(row[2].payload, TrialDrawn)
    )
    again = structs.replace(drawn.payload, redrawn=1)
    made.rows.insert(place + 1, (t_ns, source, replace(drawn, payload=again)))
    copy = export([made.write(tmp_path / "data")], tmp_path / "bundle")
    reseal(copy, table_format=0)
    assert verify(copy).problems == []


def test_a_package_that_made_them_and_is_not_here_is_named(bundle: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "copy"))
    reseal(copy, packages=[{"package": "labapp-maze", "version": "2.1"}])
    report = verify(copy)
    assert report.ok
    assert "labapp-maze 2.1, which is not installed here" in "\n".join(report.notes)


def test_what_a_package_adds_here_is_not_missing_there(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(declared: object) -> dict[str, object]:
        return codebook() | {"task-maze_beh.tsv": {}}

    monkeypatch.setattr("labapp.session.bids.derived.codebook", more)
    assert verify(bundle).problems == [f"{SOURCEDATA}/codebook.json: task-maze_beh.tsv: missing"]
    here = [{"package": "labapp-maze", "version": "2.1"}]
    monkeypatch.setattr(derived, "packages", lambda: here)
    assert verify(bundle).problems == []


def test_numbers_that_another_processor_rounds_otherwise_are_equal() -> None:
    compared = derived._equal_cells
    assert compared("0.30000000000000004", "0.3")
    assert compared("[1,0.30000000000000004]", "[1,0.3]")
    assert not compared("0.3001", "0.3")
    assert not compared("[1]", "[1,2]")
    assert not compared("true", "1")
    assert not compared("7", "n/a")


def test_a_changed_table_has_a_new_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When tables, descriptions or README of a bundle come out otherwise, raise
    `labapp.session.bids.derived.TABLE_FORMAT` and put the new fingerprint beside it into `FORMATS`:
    a check would call older bundles damaged."""
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    files = comparable(exported(tmp_path))
    texts = [f"{name}\n{files[name]}" for name in sorted(files) if not name.startswith(SOURCEDATA)]
    texts.append(json_text(codebook()))
    texts += [
        readme(
            study="s",
            title="t",
            sessions=2,
            participants=1,
            audio=True,
            heard=heard,
            deidentified=heard,
            unshared=["sub-P01/ses-1"],
            version="0",
        )
        for heard in (True, False)
    ]
    named = re.findall(r"labapp\.\w+", json_text(codebook()))
    assert named == [], "a module that moves would make a new format"
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    assert FORMATS.get(TABLE_FORMAT) == digest, (
        f"after an intended change: set TABLE_FORMAT in labapp/session/bids/derived.py to "
        f'{max(FORMATS) + 1}, and add {max(FORMATS) + 1}: "{digest}" to FORMATS'
    )
