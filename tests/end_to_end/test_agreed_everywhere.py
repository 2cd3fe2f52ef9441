"""What a participant did not agree to is in nothing that labapp makes of a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.cli.main import app
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.coding.exchange.incoming import FORMATS
from labapp.record.journal.opening import open_record
from tests.helpers.every_byte import contents, sounds, spelled
from tests.helpers.exchanged import exchanged_session

SAID = "taller"
REFUSED = "did not agree"


def run(*words: str | Path, refused: bool = False) -> None:
    result = CliRunner().invoke(app, [*map(str, words)])
    if refused:
        assert REFUSED in str(result.exception), words
    elif result.exception is not None:
        raise result.exception


def make_everything(root: Path, uses: Mapping[str, bool]) -> Path:
    """All that can be made of a coded session; the folder in which it lies."""
    session = exchanged_session(root / "data", dict(uses))
    book = codebooks.read(session.parent / "codebook.yaml")
    first = annotations_of(open_record(session)).segmentation.units[0].id
    for rater in ("anna", "ben"):  # whoever is drawn to be the one that counts
        with open_marks(session, rater, book) as marks:
            if rater == "ben":
                marks.give("explore", unit=first)
            marks.set_status("done")
    out = root / "out"
    silent = not uses["share_audio"]
    run("code", "assign", session.parent, "--raters", "anna,ben", "--both", "1")
    run("export", session, "--out", out / "bundle")
    run("export", session, "--out", out / "reduced", "--deidentify", "--with-audio", "--zip")
    run("analyze", session, "--out", out / "results")
    run("analyze", out / "bundle", "--out", out / "results-of-the-bundle")
    for suffix in ("md", "html", "csv"):
        run("code", "quotes", session.parent, "--unread", "--out", out / f"quotes.{suffix}")
    for rater in ("anna", "ben"):
        run("code", "pack", session.parent, "--rater", rater, "--out", out / f"{rater}.zip")
    run("replay", session, "--clip", "19", "23", "--out", out / "clip.wav", refused=silent)
    for name, form in FORMATS.items():
        for how in ((), ("--joined",), ("--no-sound",)):
            to = out / f"{name}{''.join(how)}" / f"P01{form.suffix}"
            sound = how == ("--joined",) and name != "csv"
            coding = ("code", "export", session, "--rater", "anna", "--to", name, "--out", to)
            run(*coding, *how, refused=silent and sound)
    return out


def with_words(out: Path) -> list[str]:
    return [name for name, text in contents(out) if any(code in text for code in spelled(SAID))]


@pytest.mark.parametrize("refused", ["transcript", "share_audio", "quote"])
def test_what_was_refused_is_nowhere(refused: str, tmp_path: Path) -> None:
    agreed = dict.fromkeys(("audio", "transcript", "share_audio", "quote"), True)
    out = make_everything(tmp_path, {**agreed, refused: False})
    words = with_words(out)
    heard = [name for name, samples in sounds(out) if samples.any()]
    quoted = [name for name in words if "quotes." in name]
    # Of what was agreed to there is something: else its absence would say nothing.
    assert bool(words) == (refused != "transcript")
    assert bool(heard) == (refused != "share_audio")
    assert bool(quoted) == (refused == "share_audio")
