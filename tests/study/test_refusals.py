"""The mistakes that authors of studies make: each told with file, line and key."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from labapp.analysis.checking import check_study
from labapp.base import resources
from labapp.base.documents import PATTERNS
from labapp.base.errors import CheckFailed, Fault, LabappError, StudyError, faults_of
from labapp.cli.main import app
from labapp.models.representations.card import ModelCard
from labapp.models.representations.recipe import Recipe
from labapp.session.overview import overview
from labapp.study import loading
from labapp.study.flow import items_of
from labapp.study.instruments import Instrument
from labapp.study.overview import check, check_all, notices
from labapp.study.plugins.texts import pages
from labapp.study.schema import Study
from tests.helpers.beside import put_beside
from tests.helpers.mistakes import EASE, MISTAKES, STUDY, Planted, write
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


def write_refusals(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.yaml"
    put_beside(folder)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(folder: Path, text: str | bytes) -> str:
    return told(folder, text).what


def told(folder: Path, text: str | bytes) -> StudyError:
    with pytest.raises(StudyError) as caught:
        check(write_refusals(folder, text))
    assert caught.value.todo, "every refusal says what to do"
    return caught.value


def test_the_good_one_is_in_order(tmp_path: Path) -> None:
    loaded = check(write_refusals(tmp_path, GOOD))
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


@pytest.mark.parametrize("name", [path.stem for path in loading.list_shipped()])
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
        ("  - debrief", "\t- debrief", 12, "with spaces instead of tabs"),
        ("      trials: 3", "     trials: 3", 10, "exactly like the lines around it"),
        ("title: My study", "title: Mine: a study", 2, "needs quotes"),
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
    with pytest.raises(StudyError, match=r"study\.txt is not a study file: its name does not end"):
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
    path = write_refusals(tmp_path, GOOD.replace("sinelines/ae", "mnist/ae5"))
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
    changed = check(write_refusals(tmp_path, GOOD))
    assert changed.text("texts/{language}/consent.md") == "# Our own words\n"
    own.unlink()
    shipped = check(write_refusals(tmp_path, GOOD))
    assert shipped.sha256 != changed.sha256, "another consent text is another study"
    assert (
        shipped.files["texts/en/consent.md"]
        == (resources.assets() / "texts/en/consent.md").read_bytes()
    )


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    own = tmp_path / "texts" / "en" / "consent.md"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"\xef\xbb\xbf# Our own words\r\n")
    loaded = check(write_refusals(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()))
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


IN_ORDER = {
    "own/rest.md": "# A break\n\nIf 3 < 4, see <https://example.org> <!-- or not\n\n--- -->, "
    "`<b>` and \\<b>.\n\n```\n<script>\n```\n",
    "instruments/ease.yaml": EASE.replace("was easy", "was < 3 and > 2").replace(
        "source: ours", "source: '<b> of {us}'"
    ),
}


def test_what_only_looks_like_html_is_in_order(tmp_path: Path) -> None:
    path = write(tmp_path)
    for name, text in IN_ORDER.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert faults(path) == []
    assert len(pages(loading.load(path).text("own/rest.md"))) == 1


def faults(path: Path) -> list[Fault]:
    return [fault for error in check_all(path).errors for fault in faults_of(error)]


def tells(fault: Fault, planted: Planted, shift: int = 0) -> bool:
    return (
        planted.said in f"{fault.key}: {fault.what}"
        and planted.key in f"{fault.key} {fault.what}"
        and (not planted.line or fault.line == planted.line + shift)
    )


def test_without_a_mistake_all_is_in_order(tmp_path: Path) -> None:
    assert faults(write(tmp_path)) == []
    assert check(tmp_path / "mine.yaml").study.id == "mine"


def test_there_are_eighty() -> None:
    assert len({str(mistake) for mistake in MISTAKES}) == len(MISTAKES) >= 80


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mine")


@pytest.mark.parametrize("planted", MISTAKES, ids=str)
def test_a_mistake_is_told_with_file_line_and_key(folder: Path, planted: Planted) -> None:
    told = faults(write(folder, planted))
    matching = [fault for fault in told if tells(fault, planted)]
    assert matching, told
    assert len(told) <= 2, "what follows from a mistake is not told as another"
    assert all(fault.todo for fault in told)
    if planted.said != "is empty":
        assert matching[0].file == str(folder / planted.file)


FAR_APART = [
    next(m for m in MISTAKES if m.said == said)
    for said in (
        "greater than 0",
        "hint is never 'wth'",
        "did you mean 'trials'",
        "'instruments/eas.yaml' does not exist",
        "nothing is filled",
        "1",
        'quotes, "yes"',
        "'counterbalanced'",
    )
]


@pytest.mark.parametrize("size", [2, 3])
def test_several_mistakes_are_told_at_once(folder: Path, size: int) -> None:
    groups = list(itertools.combinations(FAR_APART, size))
    for group in groups[:: max(1, len(groups) // 6)]:
        told = faults(write(folder, *group))
        for planted in group:
            if "instruments/eas" in planted.said and any("ease" in m.file for m in group):
                continue  # a questionnaire that nobody asks is not read
            if planted.file == "instruments/ease.yaml" and any("eas.y" in m.said for m in group):
                continue
            assert any(tells(fault, planted) for fault in told), (planted, told)


def test_eight_mistakes_in_five_files_are_one_refusal(tmp_path: Path) -> None:
    planted = [m for m in FAR_APART if m.file != "instruments/ease.yaml"]
    path = write(tmp_path, *planted)
    with pytest.raises(StudyError) as caught:
        check(path)
    for mistake in planted:
        assert mistake.said in caught.value.what
    with pytest.raises(StudyError) as caught:
        loading.load(path)
    assert "trails" in caught.value.what
    assert "eas.yaml" in caught.value.what


def test_the_command_tells_them_for_people_and_for_programs(tmp_path: Path) -> None:
    path = write(tmp_path, *FAR_APART[:3])
    said = CliRunner().invoke(app, ["studies", "check", str(path)])
    assert isinstance(said.exception, CheckFailed)
    said = CliRunner().invoke(app, ["studies", "check", str(path), "--json"])
    assert said.exit_code == 1
    rows = json.loads(said.stdout)
    assert {row["line"] for row in rows} >= {6, 13, 20}
    assert all(set(row) == {"file", "line", "key", "what", "todo"} for row in rows)
    said = CliRunner().invoke(app, ["studies", "check", str(write(tmp_path / "ok")), "--json"])
    assert json.loads(said.stdout) == []


DESIGNED = STUDY.replace(
    'assignment:\n  hint: {odd: "with", even: "without"}\n',
    'design:\n  between: {hint: ["with", "without"]}\n  within: [model]\n'
    "analysis:\n"
    "  contrasts: [{name: first, model: {sinelines/gt: 1, sinelines/ae: -1}}]\n"
    "  smallest_effect: {completion_rate: {contrast: first, raw: 0.1}}\n"
    "hypotheses:\n"
    "  - {text: It helps., outcome: completion_rate, contrast: first, direction: greater}\n",
).replace("      order: counterbalanced\n", "")


def test_contradictions_of_the_design_are_told_beside_what_cannot_be_read(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(DESIGNED, "utf-8")
    assert faults(path) == []
    changed = {
        "contrast: first, raw": "contrast: frist, raw",
        "contrast: first, direction": "contrast: second, direction",
        "{name: first, model": "{name: first, modle",
        "trials: 3": "trails: 3",
        "at_least_s: 5": "at_least_s: long",
        "- text: own/welcome.md": "- tutorial: nothing",
    }
    text = DESIGNED
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    told = [str(fault) for fault in faults(path)]
    for word in ("'frist'", "'second'", "'modle'", "'trails'", "at_least_s", "tutorial"):
        assert any(word in fault for fault in told), (word, told)
    assert len(told) == len(changed), "\n".join(told)


def test_what_may_follow_from_an_unread_part_of_the_design_is_not_told(tmp_path: Path) -> None:
    path = write(tmp_path)
    for old, new in (
        ("within: [model]", "within: [modell]"),
        ("name: first, model", "name: First one here, nummer: 2, model"),
        ("models: [sinelines/gt, sinelines/ae]", "models: 3"),
        ("raw: 0.1", "raw: much"),
    ):
        path.write_text(DESIGNED.replace(old, new), "utf-8")
        told = [str(fault) for fault in faults(path)]
        assert len(told) == 1, told


def test_what_only_a_later_session_shows_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "later.md").write_text("# Welcome back\n\nThis takes {duree} minutes.\n")
    (tmp_path / "own.yaml").write_text(
        "id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\n"
        "design: {within: [model], sessions: [1, 2]}\n"
        "flow:\n"
        "- {text: later.md, only_if: {session: 2}}\n"
        "- stages: {task: reconstruction, models: [sinelines/gt, sinelines/vae], trials: 1}\n"
    )
    errors = check_all(tmp_path / "own.yaml").errors
    assert ["{duree}" in str(error) for error in errors] == [True]


@pytest.mark.parametrize(
    ("name", "content", "line", "told"),
    [
        ("mine.yaml", STUDY.replace("My study", "Größe").encode("latin-1"), 2, "not UTF-8"),
        ("mine.yaml", STUDY.encode("utf-16"), 1, "not UTF-8"),
        ("mine.yaml", (STUDY + "---\nid: two\n").encode(), 28, "another document"),
        ("mine.yaml", b"", 0, "found no keys"),
        ("mine.yaml", b"- a\n- b\n", 0, "found no keys"),
        ("instruments/ease.yaml", EASE.replace("Ease", "Größe").encode("latin-1"), 23, "UTF-8"),
        ("instruments/ease.yaml", b"# later\n", 0, "found no keys"),
        ("own/rest.md", "Größe".encode("latin-1"), 25, "not UTF-8"),
        ("own/rest.md", b"a" * 1_000_000, 25, "more than"),
        ("own/rest.md", None, 25, "a folder"),
        ("own/rest.md", Path("nowhere.md"), 25, "does not exist"),
        ("own/rest.md", Path("rest.md"), 25, "a link to itself"),
        ("mine.yaml", b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").encode(), 0, ""),
        ("instruments/ease.yaml", b"\xef\xbb\xbf" + EASE.encode(), 0, ""),
        ("own/rest.md", b"\xef\xbb\xbf# Rest\r\n\r\nA little.\r\n", 0, ""),
    ],
)
def test_what_an_editor_or_a_copy_makes_of_a_file_is_told_or_read(
    tmp_path: Path, name: str, content: bytes | Path | None, line: int, told: str
) -> None:
    path = write(tmp_path)
    (tmp_path / name).unlink()
    if content is None:
        (tmp_path / name).mkdir()
    elif isinstance(content, Path):
        (tmp_path / name).symlink_to(content)
    else:
        (tmp_path / name).write_bytes(content)
    refused = faults(path)
    assert [(fault.line, told in fault.what) for fault in refused] == [(line, True)] * bool(told)


IN_TURN = GOOD.replace(
    "flow:",
    "design: {within: [{net: [gt, ae]}], order: williams, per_cell: 4}\nflow:",
).replace(
    """  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/ae]
      trials: 3
      after: [seq]
""",
    """  - each: net
    flow:
      - stages:
          task: reconstruction
          models: ["sinelines/{net}"]
          trials: 3
          after: [seq]
""",
)


def test_models_that_come_in_the_order_of_an_each_are_not_said_to_be_listed(tmp_path: Path) -> None:
    assert "listed order" not in "\n".join(notices(check(write_refusals(tmp_path, IN_TURN))))
    both = IN_TURN.replace('["sinelines/{net}"]', '["sinelines/{net}", sinelines/vae]')
    said = "\n".join(notices(check(write_refusals(tmp_path, both))))
    assert "line 5, design: Stages list 2 models" in said


def test_a_label_of_a_questionnaire_that_cannot_be_read_is_no_mistake(tmp_path: Path) -> None:
    labels = ("flow:", "labels: {clear: Clear, cleer: Unclear}\nflow:")
    path = write(tmp_path, Planted("mine.yaml", *labels, 10, "labels.cleer", ""))

    def keys() -> list[str]:
        return [fault.key for error in check_study(path).errors for fault in faults_of(error)]

    assert keys() == ["labels.cleer"]
    own = tmp_path / "instruments" / "ease.yaml"
    own.write_text(EASE.replace("points: 7", "points: seven"))
    assert set(keys()) == {"items[0].points", "items[1].points"}


def test_an_unknown_model_is_told_with_those_most_like_it(tmp_path: Path) -> None:
    error = told(tmp_path, GOOD.replace("sinelines/gt", "sinelines/gtt"))
    assert error.what.endswith("Did you mean 'sinelines/gt'?")
    assert "Models found there: sinelines/gt, sinelines/ae, sinelines/vae, " in error.todo


def test_a_key_that_belongs_beside_another_is_told_so(tmp_path: Path) -> None:
    said = refused(tmp_path, GOOD.replace("      trials: 3", "      trials: 3\n      name: rows"))
    assert "line 11, flow[1].stages.name: unknown key 'name'" in said
    assert "(put it beside `stages`)" in said
    assert "put it" not in refused(tmp_path, GOOD.replace("  after: [seq]", "  game: rows"))
    said = refused(tmp_path, GOOD.replace("      trials: 3", "      trials: 3\n      stages: 3"))
    assert "put it" not in said, "it is beside itself already"
    assert "did you mean 'stages'" not in said


@pytest.mark.parametrize("name", [path.stem for path in loading.list_shipped()])
def test_a_consent_says_how_long_our_own_studies_take(name: str) -> None:
    study = loading.load(name).study
    if study.replicates is not None or study.minutes is None:
        return  # the published consent says what its study took
    for item in items_of(study.flow):
        for written in item.texts() if item.consents else ():
            for language in ("en", "de"):
                text = loading.asset(loading.in_language(written, language)).read_text("utf-8")
                spans = re.findall(r"(?:(\d+) (?:to|bis) )?(\d+) [Mm]inute", text)
                for low, high in spans:
                    assert int(low or high) <= study.minutes <= int(high), text
