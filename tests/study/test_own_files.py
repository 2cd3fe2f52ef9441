"""A study outside the package uses its own files, and shipped ones where it says so."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base import resources
from labapp.base.errors import StudyError
from labapp.cli.main import app
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.study.authoring import new_study
from labapp.study.overview import check
from tests.helpers.beside import put_beside
from tests.helpers.nightly import EVERYTHING

SHIPPED = """\
id: mine
title: My study
version: 1
unnamed_texts: shipped
flow:
  - consent: shipped:consent
  - tutorial: reconstruction
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1, skip: always,
             after: [shipped:seq]}
  - debrief: shipped:debrief
"""


def write(folder: Path, text: str = SHIPPED) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, "utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(StudyError) as caught:
        loading.load(path)
    return str(caught.value)


def made(folder: Path) -> tuple[Path, list[Path]]:
    path, written = new_study("own", "quickstart", folder)
    files = [file for file in written if file.suffix in (".md", ".yaml") and file != path]
    assert len(files) >= 7
    return path, files


def test_no_file_of_a_new_study_can_be_missing_in_any_way(tmp_path: Path) -> None:
    """Deleted, renamed, in other capitals, still in the cloud, empty, or full of zero bytes."""
    path, files = made(tmp_path)
    check(path)
    for file in files if EVERYTHING else files[::3]:
        content, name = file.read_bytes(), file.relative_to(tmp_path).as_posix()
        file.unlink()
        said = refused(path)
        assert f"the file {name!r} is not there" in said
        assert "shipped:" in said, "and how to take the shipped one"
        for other in (file.name.capitalize(), f".{file.name}.icloud", f"{file.name}.txt"):
            stray = file.with_name(other)
            stray.write_bytes(content)
            said = refused(path)
            assert f"the file {name!r} is not there" in said
            assert other in said
            stray.unlink()
        for nothing in (b"", b"\0" * 400):
            file.write_bytes(nothing)
            refused(path)
        file.write_bytes(content)
    check(path)


def test_a_renamed_folder_is_named_too(tmp_path: Path) -> None:
    path, _ = made(tmp_path)
    (tmp_path / "texts").rename(tmp_path / "Texts")
    assert f"Rename {tmp_path / 'Texts'} to texts." in refused(path)


def test_letters_that_are_composed_otherwise_are_named(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "einverständnis.md")
    path = write(tmp_path, SHIPPED.replace("shipped:consent", composed))
    (tmp_path / unicodedata.normalize("NFD", composed)).write_text("# Ja\n", "utf-8")
    assert "Rename" in refused(path)


def test_other_capitals_are_told_where_the_file_system_finds_the_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = made(tmp_path)
    consent = tmp_path / "texts" / "en" / "consent.md"
    consent.rename(consent.with_name("Consent.md"))
    consent.symlink_to("Consent.md")  # found by either name, as on such a system
    listed = Path.iterdir

    def without_link(folder: Path) -> object:
        return (child for child in listed(folder) if not child.is_symlink())

    monkeypatch.setattr(Path, "iterdir", without_link)
    assert "to consent.md" in refused(path)


def test_every_command_refuses_what_the_check_refuses(tmp_path: Path) -> None:
    path, files = made(tmp_path / "own")
    next(file for file in files if file.name == "consent.md").unlink()
    out = str(tmp_path / "out")
    for command in (
        ["studies", "check", str(path)],
        ["run", str(path), "--pilot", "--data", out, "--simulate", "understanding"],
        ["simulate", str(path), "--out", out],
        ["plan", str(path), "--out", out],
        ["studies", "preview", str(path), "--out", out],
        ["studies", "consent", str(path), "--out", f"{out}.pdf"],
        ["studies", "show", str(path)],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code != 0, command
        assert "consent.md' is not there" in str(done.exception), command


def test_shipped_files_are_named_as_such_with_their_hash(tmp_path: Path) -> None:
    path = write(tmp_path)
    loaded = check(path)
    assert loading.source(loaded, "texts/en/consent.md").is_relative_to(resources.assets())
    said = CliRunner().invoke(app, ["studies", "check", str(path)]).stdout
    for name in ("shipped:consent", "shipped:seq", "shipped:tutorial-reconstruction"):
        assert f"{name} (SHA-256 " in said
    without = write(tmp_path, SHIPPED.replace("unnamed_texts: shipped\n", ""))
    said = refused(without)
    assert "add `intro: shipped:tutorial-reconstruction` to `tutorial` in line 6" in said
    assert "unnamed_texts: shipped" in said


def test_a_file_beside_a_shipped_one_is_not_passed_over(tmp_path: Path) -> None:
    put_beside(tmp_path)
    said = refused(write(tmp_path))
    for name in ("texts/en/consent.md", "texts/en/stage-first.md", "instruments/seq.yaml"):
        assert f"{name} in the study's folder is not used" in said
    both = SHIPPED.replace("  - tutorial", "  - text: texts/{language}/consent.md\n  - tutorial")
    assert "line 7 takes the study's own" in refused(write(tmp_path, both))


def test_what_is_not_shipped_or_no_file_is_told(tmp_path: Path) -> None:
    said = refused(write(tmp_path, SHIPPED.replace("shipped:consent", "shipped:consnt")))
    assert "Did you mean `shipped:consent`?" in said
    said = refused(write(tmp_path, SHIPPED.replace("[sinelines/gt]", "['shipped:gt']")))
    assert "shipped" in said


def test_a_text_that_one_language_lacks_is_an_error_with_a_fallback_too(tmp_path: Path) -> None:
    path, _ = new_study("ici", "quickstart", tmp_path, "fr")
    check(path)
    (tmp_path / "texts" / "fr" / "consent.md").unlink()
    assert "the file 'texts/fr/consent.md' is not there" in refused(path)


def test_words_of_its_own_are_declared(tmp_path: Path) -> None:
    path = write(tmp_path)
    own = tmp_path / "texts" / "en" / "participant.yaml"
    own.parent.mkdir(parents=True)
    shipped = (resources.assets() / "texts" / "en" / "participant.yaml").read_text("utf-8")
    own.write_text(shipped.replace("back: Back", "back: Backwards"), "utf-8")
    line = 'words: ["texts/{language}/participant.yaml"]'
    assert f"Add the line `{line}`" in refused(path)
    write(tmp_path, SHIPPED.replace("flow:\n", f"{line}\nflow:\n"))
    assert check(path).words["back"] == "Backwards"
    own.unlink()
    assert "the file 'texts/en/participant.yaml' is not there" in refused(path)


def test_a_session_reads_its_own_copy_and_nothing_else(tmp_path: Path) -> None:
    study = write(tmp_path)
    simulate_study(str(study), 1, "knowing", tmp_path / "data")
    (session,) = (tmp_path / "data" / "mine").glob("sub-*")
    kept = session / "study" / "texts" / "en" / "consent.md"
    loaded = loading.load(session / "study" / "mine.yaml", recorded=True)
    assert loading.source(loaded, "texts/en/consent.md") == kept
    assert loaded.sha256 == check(study).sha256
    kept.unlink()
    with pytest.raises(StudyError, match="is not there"):
        loading.load(session / "study" / "mine.yaml", recorded=True)


def test_a_copy_of_a_study_with_shipped_files_has_them_all(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path, written = new_study("twin", write(tmp_path / "a"), tmp_path / "b")
    assert "shipped:consent" not in path.read_text("utf-8").replace("# ", "")
    assert tmp_path / "b" / "texts" / "en" / "consent.md" in written
    shutil.rmtree(tmp_path / "a")
    twin = check(path)
    own = {file for file in twin.files if not file.endswith("participant.yaml")}
    assert not own & twin.shipped
