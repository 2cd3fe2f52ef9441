"""The mistakes that authors of studies make: each told with file, line and key, several at once,
and never with a traceback."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base.errors import CheckFailed, Fault, StudyError, faults_of
from labapp.cli.main import app
from labapp.study import loading
from labapp.study.overview import check, check_all
from labapp.study.plugins.texts import pages
from tests.helpers.mistakes import EASE, MISTAKES, STUDY, Planted, write

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
        "'instruments/eas.yaml' is not there",
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
        ("own/rest.md", Path("nowhere.md"), 25, "is not there"),
        ("own/rest.md", Path("rest.md"), 25, "leads to itself"),
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
