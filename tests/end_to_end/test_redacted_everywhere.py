"""A redacted word is in nothing that labapp makes of a session: every format is searched."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.clock import NS
from labapp.cli.main import app
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import Text, Unit
from labapp.coding.annotations.packs import open_pack
from labapp.coding.annotations.store import open_marks, open_texts, open_units
from labapp.coding.exchange.incoming import CODEBOOK_FORMATS, FORMATS
from tests.helpers.every_byte import contents, spelled
from tests.helpers.journals import GOLDEN, golden_session

SECRET = "Xanthippe"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A coded session in which a name is said twice, and stands in remarks; it is redacted."""
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    monkeypatch.setenv("LABAPP_PRIVATE", str(tmp_path / "private"))
    session = golden_session(tmp_path / "data")
    book = (resources.assets() / "codebooks" / "think-aloud.yaml").read_bytes()
    (session.parent / "codebook.yaml").write_bytes(book)
    with open_units(session, "anna") as units:
        units.put_all([Unit("a", 20 * NS, 22 * NS), Unit("b", 22 * NS, 24 * NS)])
        units.freeze()
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", f"{SECRET} is my name"))
        texts.review("a")
        texts.put(Text("b", "let me turn this"))
        texts.review("b")
    with open_marks(session, "anna", codebooks.read(session.parent / "codebook.yaml")) as marks:
        marks.give("explore", unit="a", memo=f"{SECRET}!")
        marks.give("goal", unit="b", memo="an aim")
        marks.set_status("done")
    run("assign", session.parent, "--raters", "anna,ben", "--both", "1")
    run("redact", session, "20", "22", "--by", "anna")
    return session


def run(*words: str | Path, code: bool = True) -> None:
    result = CliRunner().invoke(app, [*(["code"] * code), *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output


def test_a_redacted_word_is_in_nothing_that_is_made(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    bundle = out / "bundle"
    run("export", session, "--out", bundle, code=False)
    run("export", session, "--out", out / "reduced", "--deidentify", "--zip", code=False)
    run("analyze", session, "--out", out / "results", code=False)
    run("analyze", bundle, "--out", out / "results-of-the-bundle", code=False)
    for suffix in ("md", "html", "csv"):
        run("quotes", session.parent, "--out", out / f"{suffix}" / f"quotes.{suffix}")
    run("agree", session.parent, "--out", out / "agreement")
    for rater in ("anna", "ben"):
        run("pack", session.parent, "--rater", rater, "--out", out / f"{rater}.zip")
    run("replay", session, "--clip", "19", "23", "--out", out / "clip.wav", code=False)
    for name, form in FORMATS.items():
        for how in ((), ("--joined",), ("--no-sound",)):
            to = out / f"{name}{''.join(how)}" / f"P01{form.suffix}"
            run("export", session, "--rater", "anna", "--to", name, "--out", to, *how)
    for name in CODEBOOK_FORMATS:
        run("codebook", session.parent, "--to", name, "--out", out / f"codebook.{name}")
    names = []
    codes = spelled(SECRET)
    for place in (out, session.parent):
        for name, content in contents(place):
            assert not [code for code in codes if code in content], name
            names.append(name)
    assert any("utterances" in name for name in names)
    assert any(b"let me turn this" in content for _, content in contents(out)), "the rest is there"
    sound, rate = soundfile.read(out / "clip.wav", dtype="int16")
    assert sound[: rate - 10].any()
    assert not sound[rate : 3 * rate].any()
    assert sound[3 * rate + 10 :].any()
    pack = open_pack(out / "ben.zip")
    for path in pack.folder.rglob("*.wav"):
        assert soundfile.info(path).frames
