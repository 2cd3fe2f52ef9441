"""`labapp code`: segment, check, schema, diff, history, verify and status, as they are typed."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import jsonschema
import pytest
import yaml

from labapp.base import resources
from labapp.coding.annotations.model import rater_file
from tests.coding.annotations.test_segmenting import spoken
from tests.helpers.commands import Run
from tests.helpers.recorded_sounds import Take, sounding_session

BOOK = resources.assets() / "codebooks" / "think-aloud.yaml"


@pytest.fixture
def code(labapp: Run) -> Run:
    """Runs `labapp code …`."""
    return partial(labapp, "code")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session in which somebody speaks twice."""
    return sounding_session(tmp_path / "data", Take(spoken()), end_s=20.0)


def test_a_session_goes_from_sound_to_frozen_units(code: Run, session: Path) -> None:
    name = session.name
    status, out, _ = code("segment", name, "--by", "anna", "--data", "data")
    assert status == 0
    assert f"{name}: 2 units, " in out
    assert "not frozen" in out
    status, out, _ = code("segment", name, "--by", "anna", "--freeze", "--data", "data", "--json")
    (row,) = json.loads(out)
    assert (row["units"], row["frozen"]) == (2, True)
    assert row["spoken_s"] == pytest.approx(4.5, abs=0.1)
    status, out, _ = code("status", session.parent.name, "--data", "data")
    assert status == 0
    assert "2 frozen" in out
    status, out, _ = code("status", str(session.parent), "--json")
    assert json.loads(out)[0]["units"] == 2
    status, out, _ = code("history", name, "--data", "data")
    assert [line.split()[2] for line in out.splitlines()] == [
        "units.opened", "unit.put", "unit.put", "units.frozen",
    ]  # fmt: skip
    assert code("history", name, "--data", "data", "--rater", "ben")[1] == "Nothing was done yet.\n"
    assert code("verify", name, "--data", "data")[0] == 0
    assert code("verify", session.parent.name, "--data", "data")[0] == 0


def test_damage_ends_with_one(code: Run, session: Path) -> None:
    code("segment", str(session), "--by", "anna", "--freeze")
    path = session.parent / "annotations" / session.name / "units.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"detector"', b'"defector"', 1))
    status, out, _ = code("verify", str(session))
    assert status == 1
    assert "units.jsonl, line 2: it was changed" in out
    status, out, _ = code("verify", str(session), "--json")
    assert not json.loads(out)["ok"]
    assert not rater_file(session, "anna").exists()


def test_a_codebook_is_checked(code: Run) -> None:
    shutil.copy(BOOK, "codebook.yaml")
    status, out, _ = code("check", "codebook.yaml")
    assert status == 0
    assert "in order (think-aloud, version 3" in out
    assert json.loads(code("check", "codebook.yaml", "--json")[1])["id"] == "think-aloud"
    text = Path("codebook.yaml").read_text("utf-8")
    Path("codebook.yaml").write_text(text.replace("tier: strategy", "tier: strategie", 1), "utf-8")
    status, _, err = code("check", "codebook.yaml")
    assert status == 1
    assert "codes[0].tier: there is no tier 'strategie'" in err
    assert code("check", "nothing.yaml")[0] == 2


def test_the_schema_fits_what_is_shipped(code: Run) -> None:
    schema = json.loads(code("schema")[1])
    text = BOOK.read_text("utf-8").replace(" on:", ' "on":').replace("{on:", '{"on":')
    jsonschema.validate(yaml.safe_load(text), schema)


def test_two_versions_are_compared(code: Run) -> None:
    text = BOOK.read_text("utf-8")
    Path("old.yaml").write_text(text, "utf-8")
    what = "turns a dial to see what it does"
    Path("new.yaml").write_text(text.replace(what, "turns any dial"), "utf-8")
    status, out, err = code("diff", "old.yaml", "new.yaml")
    assert (status, out) == (0, f"* code explore: when was '{what}', and is 'turns any dial'\n")
    assert "count the version up" in err
    (change,) = json.loads(code("diff", "old.yaml", "new.yaml", "--json")[1])
    assert change["definition"]
    assert code("diff", "old.yaml", "old.yaml")[1] == "Nothing differs.\n"
    Path("new.yaml").write_text(text.replace("codebook: think", "codebook: rethink"), "utf-8")
    assert code("diff", "old.yaml", "new.yaml")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [("verify", "nothing"), ("status", "nothing"), ("history", "nothing"),
     ("segment", "nothing", "--by", "anna"), ("segment", "x")],
)  # fmt: skip
def test_what_is_not_there_is_told(code: Run, arguments: tuple[str, ...]) -> None:
    status, _, err = code(*arguments)
    assert status == 2
    assert err


UNSAID = "Nobody has said who speaks"


def test_it_is_told_that_nobody_said_who_speaks_until_somebody_does(
    code: Run, session: Path, tmp_path: Path
) -> None:
    name, study = session.name, session.parent.name
    for options in ((), ("--freeze",)):
        status, _, err = code("segment", name, "--by", "anna", *options, "--data", "data")
        assert (status, UNSAID in err) == (0, True)
    _, out, _ = code("status", study, "--data", "data")
    assert "speakers not said" in out
    assert UNSAID in out
    _, out, _ = code("speakers", name, "--data", "data")
    assert len(out.splitlines()) == 2
    status, _, err = code("speakers", name, "--confirm", "--data", "data")
    assert (status, "--by" in err) == (2, True)
    status, out, _ = code("speakers", name, "--confirm", "--by", "ben", "--data", "data")
    assert (status, "are confirmed" in out) == (0, True)
    _, out, _ = code("status", study, "--data", "data")
    assert UNSAID not in out
    (row,) = json.loads(code("status", study, "--data", "data", "--json")[1])
    assert row["speakers_said"] is True


def test_a_table_says_who_speaks_at_its_times_or_nothing_is_changed(
    code: Run, session: Path, tmp_path: Path
) -> None:
    name = session.name
    code("segment", name, "--by", "anna", "--freeze", "--data", "data")
    (first, second) = json.loads(code("speakers", name, "--data", "data", "--json")[1])
    table = tmp_path / "who.csv"
    at = (first["t0_s"] + first["t1_s"]) / 2
    for text, told in (
        ("0.1,moderator", "no unit is at 0.1"),
        (f"{at},teacher", "'teacher' is none of"),
        (f"{at}", "'' is none of"),
    ):
        table.write_text(f"time,speaker\n{at:.2f},moderator\n{text}\n")
        status, _, err = code(
            "speakers", name, "--map", "who.csv", "--by", "anna", "--data", "data"
        )
        assert (status, told in err, "line 3" in err) == (3, True, True), err
        assert json.loads(code("speakers", name, "--data", "data", "--json")[1]) == [first, second]
    table.write_text(f"time;speaker\n{at:.2f};moderator\n")
    status, out, _ = code("speakers", name, "--map", "who.csv", "--by", "anna", "--data", "data")
    assert (status, "1 units have another speaker now" in out) == (0, True)
    rows = json.loads(code("speakers", name, "--data", "data", "--json")[1])
    assert [row["speaker"] for row in rows] == ["moderator", "participant"]
    table.write_text(f"time,speaker\n{at:.2f},other\n")
    _, out, _ = code("speakers", name, "--map", "who.csv", "--by", "ben", "--data", "data")
    assert "1 changes wait until the person who froze" in out
