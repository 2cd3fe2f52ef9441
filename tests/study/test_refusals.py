"""A wrong study is refused with its line, its key, what was found and what is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from labapp.base import resources
from labapp.base.documents import PATTERNS
from labapp.base.errors import LabappError, StudyError
from labapp.models.representations.card import ModelCard
from labapp.models.representations.recipe import Recipe
from labapp.session.overview import overview
from labapp.study import loading
from labapp.study.instruments import Instrument
from labapp.study.overview import check, notices
from labapp.study.schema import Study
from tests.helpers.beside import put_beside
from tests.helpers.packages import copied

GOOD = """\
id: mine
title: My study
version: 1
participants: {pattern: "P{:02d}"}
flow:
  - consent: texts/{language}/consent.md
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/ae]
      trials: 3
      after: [seq]
  - debrief: texts/{language}/debrief.md
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.yaml"
    put_beside(folder)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(folder: Path, text: str | bytes) -> str:
    return told(folder, text).what


def told(folder: Path, text: str | bytes) -> StudyError:
    with pytest.raises(StudyError) as caught:
        check(write(folder, text))
    assert caught.value.todo, "every refusal says what to do"
    return caught.value


def test_the_good_one_is_in_order(tmp_path: Path) -> None:
    loaded = check(write(tmp_path, GOOD))
    assert loaded.study.id == "mine"
    assert "texts/en/consent.md" in loaded.files


def test_a_flow_whose_only_item_is_wrong_is_not_said_to_be_empty(tmp_path: Path) -> None:
    one = "id: mine\ntitle: My study\nversion: 1\nflow:\n  - stages: {task: no}\n"
    said = refused(tmp_path, one)
    assert "line 5, flow[0].stages" in said
    assert "at least 1 item" not in said
    assert "at least 1 item" in refused(tmp_path, one[: one.index("flow")] + "flow: []\n")


def test_what_may_be_a_list_or_keys_is_said_in_plain_words(tmp_path: Path) -> None:
    stages = "{task: unmasking, stimuli: faces-unmasking, intro: a.md, masks: 5}"
    said = refused(tmp_path, GOOD.replace("  - debrief", f"  - stages: {stages}\n  - debrief"))
    assert "masks: found 5; allowed: keys with values or a list" in said


@pytest.mark.parametrize("name", [path.stem for path in loading.shipped()])
def test_a_shipped_study_is_in_order(name: str) -> None:
    loaded = check(name)
    assert loaded.study.id == name
    assert notices(loaded) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "parts"),
    [
        (
            "      trials: 3",
            "      trials: 3\n      target_alignment: 0.9\n      marks: true",
            12,
            ["marks", "target_alignment", "no target"],
        ),
        ("  - debrief: texts/{language}/debrief.md", "  - debrief", 12, ["'debrief'", "one of"]),
        ('"P{:02d}"', '"P{:02d}-{:d}"', 4, ["pattern", "Python format for one number"]),
        ('"P{:02d}"', '"P{.real.imag.nothing}"', 4, ["pattern", "Python format for one number"]),
        ('"P{:02d}"', '"P"', 4, ["pattern", "Python format for one number"]),
        ('"P{:02d}"', '"P-{:02d}"', 4, ["pattern", "Python format for one number"]),
        ('"P{:02d}"', '"P{:x}"', 4, ["pattern", "Python format for one number"]),
        ("version: 1", "version: 1\nrelated: [../other]", 4, ["related", "'../other'"]),
    ],
)
def test_wrong_values(tmp_path: Path, old: str, new: str, line: int, parts: list[str]) -> None:
    assert GOOD.count(old) == 1
    said = refused(tmp_path, GOOD.replace(old, new))
    for part in (f"line {line}", *parts):
        assert part in said, said


@pytest.mark.parametrize("document", [Study, Instrument, Recipe, ModelCard])
def test_every_pattern_is_told_in_words(document: type[BaseModel]) -> None:
    """Whoever writes a study is not expected to read regular expressions."""

    def patterns(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            if value.get("type") == "string" and "pattern" in value:
                yield value["pattern"]
            for inner in value.values():
                yield from patterns(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from patterns(inner)

    there = set(patterns(document.model_json_schema()))
    assert there
    assert there <= PATTERNS.keys()


@pytest.mark.parametrize(
    ("old", "new", "line", "todo"),
    [
        ("  - debrief", "\t- debrief", 12, "Indent with spaces"),
        ("      trials: 3", "     trials: 3", 10, "exactly like its neighbours"),
        ("title: My study", "title: Mine: a study", 2, "stands in quotes"),
        (
            "  - debrief",
            "  - interview: a.md\n    questions: [What was hard?, And easy?]\n  - debrief",
            13,
            "a question mark",
        ),
    ],
)
def test_what_yaml_does_not_read_is_told_with_what_to_do(
    tmp_path: Path, old: str, new: str, line: int, todo: str
) -> None:
    error = told(tmp_path, GOOD.replace(old, new))
    assert f"line {line}: not readable as YAML" in error.what
    assert todo in error.todo


def test_a_fault_beside_the_key_that_names_a_part_is_told_at_its_own_line(tmp_path: Path) -> None:
    new = "  - interview: a.md\n    questions: why\n  - debrief"
    said = refused(tmp_path, GOOD.replace("  - debrief", new))
    assert "line 13, flow[2].questions: found 'why'; allowed: a list or keys with values" in said


@pytest.mark.parametrize(
    ("old", "new", "near"),
    [
        ("[seq]", "[sequ]", "instruments/seq.yaml"),
        ("{language}/debrief.md", "{language}/debreif.md", "texts/en/debrief.md"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_the_nearest(
    tmp_path: Path, old: str, new: str, near: str
) -> None:
    assert f"Did you mean '{near}'?" in told(tmp_path, GOOD.replace(old, new)).todo


def test_a_file_of_another_kind_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "study.txt").write_text(GOOD)
    with pytest.raises(StudyError, match=r"study\.txt is no study file: its name does not end"):
        check(tmp_path / "study.txt")
    with pytest.raises(StudyError, match="There is no study 'study'"):
        check("study")


def test_text_in_another_encoding_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "thanks.md").write_bytes("Danke für alles".encode("latin-1"))
    error = told(tmp_path, GOOD.replace("texts/{language}/debrief.md", "thanks.md"))
    assert "is not UTF-8 text" in error.what
    assert f"Save {tmp_path / 'thanks.md'} as UTF-8." in error.todo


@pytest.mark.parametrize(
    ("old", "new", "line", "part"),
    [
        ("version: 1", "version: !!python/object:os.system 1", 3, "python/object"),
        ("version: 1", "? [a, b]\n: 1", 3, "is not a key"),
        ("version: 1", "version: 2026-13-45", 3, "month"),
        ("title: My study", "title: a\x07b", 2, "not allowed"),
    ],
)
def test_wrong_yaml(tmp_path: Path, old: str, new: str, line: int, part: str) -> None:
    said = refused(tmp_path, GOOD.replace(old, new))
    assert f"line {line}" in said, said
    assert part in said, said


@pytest.mark.parametrize("text", ["just words", "[" * 1000])
def test_files_without_keys(tmp_path: Path, text: str) -> None:
    refused(tmp_path, text)


@pytest.mark.parametrize(
    "name", ["../secret.md", "/etc/hostname", "texts/../../x.md", "texts/{language}/../../../x"]
)
def test_texts_stay_beside_the_study(tmp_path: Path, name: str) -> None:
    said = refused(tmp_path, GOOD.replace("texts/{language}/consent.md", name))
    assert "line 6" in said
    assert "outside the study's folder" in said


def test_instruments_stay_in_their_folder(tmp_path: Path) -> None:
    said = refused(tmp_path, GOOD.replace("[seq]", "[../../secret]"))
    assert "line 11" in said
    assert "outside the study's folder" in said
    said = refused(tmp_path, GOOD.replace("[seq]", "[/etc/hostname]"))
    assert "instruments//etc/hostname.yaml" in said


def test_a_text_of_nothing_but_divided_pages_is_empty(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_bytes(b"\n---\n\n---\n")
    said = refused(tmp_path, GOOD.replace("texts/{language}/consent.md", "mine.md"))
    assert "the text 'mine.md' is empty" in said


@pytest.mark.parametrize("model", ["sinelines/none", "sinelines/rnn", "birds/cub"])
def test_a_missing_model_is_told_with_its_line(tmp_path: Path, model: str) -> None:
    said = refused(tmp_path, GOOD.replace("sinelines/ae", model))
    assert model in said, said


def test_a_missing_model_is_told_with_where_it_belongs_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    path = write(tmp_path, GOOD.replace("sinelines/ae", "mnist/ae5"))
    for read in (check, lambda study: overview(str(study), 1, tmp_path)):
        with pytest.raises(LabappError) as caught:
            read(path)
        assert "mnist/ae5" in caught.value.what
        for part in (tmp_path / "own", resources.models(), "import-tfjs", "train"):
            assert str(part) in caught.value.todo
    copied(tmp_path / "own", "mnist/ae5")
    assert check(path).study.id == "mine", "by its id alone, once it is there"


def test_what_a_model_cannot_draw_from_is_refused_before_anyone_sits_down(tmp_path: Path) -> None:
    said = refused(tmp_path, GOOD.replace("trials: 3", "trials: 3\n      sampling: prior"))
    assert "'prior'" in said
    assert "sinelines/ae" in said


def test_a_text_beside_the_study_comes_before_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "texts" / "en" / "consent.md"
    own.parent.mkdir(parents=True)
    own.write_text("# Our own words\n")
    changed = check(write(tmp_path, GOOD))
    assert changed.text("texts/{language}/consent.md") == "# Our own words\n"
    own.unlink()
    shipped = check(write(tmp_path, GOOD))
    assert shipped.sha256 != changed.sha256, "another consent text is another study"
    assert (
        shipped.files["texts/en/consent.md"]
        == (resources.assets() / "texts/en/consent.md").read_bytes()
    )


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    own = tmp_path / "texts" / "en" / "consent.md"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"\xef\xbb\xbf# Our own words\r\n")
    loaded = check(write(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()))
    assert loaded.text("texts/{language}/consent.md").startswith("# Our own words")
    assert loaded.files["texts/en/consent.md"] == own.read_bytes(), "kept and hashed as it is"


@pytest.mark.parametrize("name", ["nothing", "no/such.yaml", "../quickstart", ""])
def test_an_unknown_study(name: str) -> None:
    with pytest.raises(StudyError) as caught:
        loading.load(name)
    assert "quickstart" in caught.value.todo or "path" in caught.value.todo


@pytest.mark.parametrize(
    ("audio", "items", "said"),
    [
        ("required", "{audio: optional}", "consent.items.audio: required"),
        ("off", "{share_audio: optional}", "no 'share_audio' in consent.items"),
        ("optional", "{photos: optional}", "photos"),
        ("optional", "{quote: perhaps}", "quote"),
    ],
)
def test_a_form_that_does_not_fit_the_recording_is_refused(
    tmp_path: Path, audio: str, items: str, said: str
) -> None:
    form = f"{{text: 'texts/{{language}}/consent.md', sign: click, items: {items}}}"
    wrong = GOOD.replace("texts/{language}/consent.md", form, 1)
    wrong = wrong.replace("flow:", f"recording: {{audio: {audio}}}\nflow:")
    assert said in refused(tmp_path, wrong)
