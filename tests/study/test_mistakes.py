"""The mistakes that authors of studies make: each told with file, line and key, several at once,
and never with a traceback."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.cli.main import app
from labapp.errors import Fault, StudyError, faults_of
from labapp.plugins.texts import pages
from labapp.study import loading
from labapp.study.overview import check, check_all

STUDY = """\
id: mine
title: My study
version: 1
language: en
participants: {pattern: "P{:02d}"}
recording: {audio: optional, silence_prompt_s: 15}
assignment:
  hint: {odd: "with", even: "without"}
inclusion: {min_solved: 2}
flow:
  - consent: own/consent.md
  - text: own/welcome.md
    only_if: {hint: "with"}
  - tutorial: reconstruction
  - practice: circles
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/ae]
      order: counterbalanced
      trials: 3
      skip: always
      intro: own/before.md
      after: [ease]
  - questionnaire: people
  - break: own/rest.md
    at_least_s: 5
  - debrief: own/debrief.md
"""
EASE = """\
id: ease
version: 1
title: Ease
source: ours
scores:
  ease: {mean: [easy, clear]}
items:
  - {id: easy, text: It was easy, points: 7, low: no, high: very}
  - {id: clear, text: It was clear, points: 7, low: "not", high: very}
""".replace("low: no,", 'low: "not",')
PEOPLE = """\
id: people
version: 1
title: You
source: ours
items:
  - id: before
    kind: choice
    identifying: false
    text: Have you done this before?
    options:
      - {id: some, text: Somewhat}
      - {id: none_, text: Not at all}
  - {id: remark, kind: written, identifying: true, text: "Anything else?", required: false}
"""
FILES = {
    "mine.yaml": STUDY,
    "instruments/ease.yaml": EASE,
    "instruments/people.yaml": PEOPLE,
    "own/consent.md": "# Consent\n\nYou may stop at any time.\n",
    "own/welcome.md": "# Welcome\n\nThank you for coming.\n",
    "own/before.md": "# Stage {stage} of {stages}\n\nTurn the dials.\n",
    "own/rest.md": "# A break\n\nRest a little.\n",
    "own/debrief.md": "# Thank you\n\nThat was all.\n",
}


@dataclass(frozen=True)
class Planted:
    """A mistake: in which file what was replaced by what, and where and how it is told."""

    file: str
    old: str
    new: str
    line: int
    key: str
    said: str

    def __str__(self) -> str:
        return f"{self.file}: {self.new.strip()[:40]}"


def study(old: str, new: str, line: int, key: str, said: str) -> Planted:
    return Planted("mine.yaml", old, new, line, key, said)


MISTAKES = [
    # values of the study
    study("version: 1", "version: one", 3, "version", "a whole number"),
    study("version: 1", "version: 0", 3, "version", "greater than or equal to 1"),
    study("id: mine", "id: My Study", 1, "id", "lower-case letters"),
    study("title: My study", 'title: ""', 2, "title", "at least 1 character"),
    study("title: My study", "titel: My study", 2, "titel", "did you mean 'title'"),
    study("title: My study\n", "", 1, "title", "missing"),
    study("title: My study", "title: yes", 2, "title", 'yes in quotes, "yes"'),
    study("language: en", "language: english", 4, "language", "a language like 'en'"),
    study('"P{:02d}"', "P", 5, "participants.pattern", "Python format"),
    study("audio: optional", "audio: maybe", 6, "recording.audio", "'maybe'"),
    study("silence_prompt_s: 15", "silence_prompt_s: 0", 6, "silence_prompt_s", "greater than 0"),
    study("silence_prompt_s: 15", "silence_s: 15", 6, "silence_s", "did you mean"),
    study("version: 1", "version: 1\nseed: -1", 4, "seed", "greater than or equal to 0"),
    study("version: 1", "version: 1\nflags: {12: much}", 4, "flags", "1 to 9"),
    study("version: 1", "version: 1\nrelated: [mine]", 4, "related", "this one itself"),
    study("version: 1", "version: 1\npresentation: new", 4, "presentation", "'improved'"),
    study(
        "version: 1",
        "version: 1\nincentive: {text: own/rest.md, base: lots}",
        4,
        "incentive.base",
        "a number",
    ),
    # YAML
    study("title: My study", "title: a\ntitle: b", 3, "", "'title' is given twice"),
    study("trials: 3", "trials: 3\n      trials: 4", 21, "", "'trials' is given twice"),
    study("version: 1", "version: 1\nyes: 1", 4, "", "'yes' is not a key"),
    study("title: My study", "title: !!python/name:os x", 2, "", "is not allowed"),
    # conditions
    study('odd: "with"', "odd: yes", 8, "assignment.hint.odd", "found yes, which is true"),
    study('even: "without"', "even: off", 8, "assignment.hint.even", "found off, which is false"),
    study('even: "without"', "evn: a", 8, "evn", "unknown key 'evn'"),
    study('hint: "with"', 'hint: "wth"', 13, "only_if", "hint is never 'wth'"),
    study('{hint: "with"}', '{hnt: "with"}', 13, "only_if", "no variable 'hnt'"),
    study("own/rest.md", "own/{hnt}.md", 25, "{hnt}", "no variable 'hnt'"),
    study("sinelines/gt,", '"sinelines/{hnt}",', 18, "{hnt}", "no variable 'hnt'"),
    # the flow
    study("  - tutorial: reconstruction", "  - tutorial: reconstruct", 14, "tutorial", "allowed"),
    study("  - practice: circles", "  - practise: circles", 15, "practise", "one of consent"),
    study("task: reconstruction", "task: guessing", 17, "stages.task", "'reconstruction'"),
    study("trials: 3", "trials: many", 20, "stages.trials", "a whole number"),
    study("trials: 3", "trials: 0", 20, "stages.trials", "greater than or equal to 1"),
    study("trials: 3", "trails: 3", 20, "stages.trails", "did you mean 'trials'"),
    study("skip: always", "skip: sometimes", 21, "stages.skip", "'always'"),
    study("sinelines/gt, ", "Sine, ", 18, "stages.models", "'Sine' is none"),
    study("sinelines/gt, ", "sinelines/ae, ", 18, "stages.models", "each model once"),
    study("sinelines/gt, ", "sinelines/mine, ", 18, "models[0]", "sinelines/mine"),
    study("trials: 3", "trials: 3\n      sampling: prior", 18, "models[1]", "'prior' is known for"),
    study("order: counterbalanced", "order: balanced", 19, "stages.order", "'counterbalanced'"),
    study("at_least_s: 5", "at_least_s: long", 26, "at_least_s", "a number"),
    study("  - questionnaire: people\n", "  - method: own/rest.md\n", 24, "flow[5]", "method only"),
    study(
        "  - tutorial: reconstruction",
        "  - consent: own/rest.md",
        14,
        "flow[2]",
        "consent once, as the first item",
    ),
    study(
        "  - tutorial: reconstruction",
        "  - debrief: own/rest.md",
        14,
        "flow[2]",
        "debrief once, as the last item",
    ),
    study(
        "  - questionnaire: people",
        "  - stages: {task: unmasking, stimuli: nowhere, intro: own/rest.md}",
        24,
        "stimuli",
        "nowhere",
    ),
    study(
        "  - questionnaire: people",
        "  - stages: {task: unmasking, stimuli: faces-unmasking, set: 77, intro: own/rest.md}",
        24,
        "set",
        "no set 77",
    ),
    study("{min_solved: 2}", "{min_solved: 99}", 9, "inclusion.min_solved", "nobody would count"),
    study("{min_solved: 2}", "{min_solvd: 2}", 9, "min_solvd", "did you mean 'min_solved'"),
    # files
    study("own/welcome.md", "own/welcom.md", 12, "", "'own/welcom.md' is not there"),
    study("own/rest.md", "../rest.md", 25, "", "outside the study's folder"),
    study("[ease]", "[eas]", 23, "", "'instruments/eas.yaml' is not there"),
    study("[ease]", "[ease, ease]", 23, "stages.after", "each questionnaire once"),
    study("  - questionnaire: people", "  - questionnaire: peple", 24, "", "peple.yaml' is not"),
    # texts
    Planted(
        "own/rest.md", "Rest a little.", "Rest {duree} min.", 3, "{duree}", "nothing is filled"
    ),
    Planted("own/before.md", "{stages}", "{satges}", 1, "{satges}", "nothing is filled in"),
    Planted("own/debrief.md", "That was all.", "![](me.png)", 3, "![](me.png)", "no such picture"),
    Planted("own/welcome.md", FILES["own/welcome.md"], "\n", 0, "", "is empty"),
    # questionnaires
    Planted("instruments/ease.yaml", "points: 7, low", "points: 1, low", 8, "items[0].points", "1"),
    Planted("instruments/ease.yaml", "id: clear", "id: Clear", 9, "items[1].id", "lower-case"),
    Planted("instruments/ease.yaml", "source: ours", "sauce: ours", 4, "sauce", "'source'"),
    Planted("instruments/ease.yaml", "easy, clear]", "easy, cler]", 6, "scores.ease", "'cler'"),
    Planted("instruments/people.yaml", "id: some", "id: yes", 11, "options[0].id", 'quotes, "yes"'),
    Planted("instruments/people.yaml", "kind: choice", "kind: chioce", 7, "kind", "'chioce'"),
    Planted(
        "instruments/people.yaml", "identifying: false", "identifying: 3", 8, "identif", "true"
    ),
    Planted(
        "instruments/people.yaml", "version: 1", "version: 1\nversion: 2", 3, "", "given twice"
    ),
    Planted("instruments/people.yaml", "id: people", "id: peeple", 1, "id", "the file is called"),
    Planted("instruments/people.yaml", "id: some, ", "some, ", 11, "", "some"),
    Planted("instruments/people.yaml", "text: Have", "txt: Have", 9, "txt", "did you mean 'text'"),
    Planted("instruments/ease.yaml", "title: Ease", "title: {de: Leicht}", 3, "title", "'en'"),
    Planted("instruments/ease.yaml", "id: clear", "id: easy", 7, "items", "two are called 'easy'"),
    Planted("own/before.md", "{stage}", "{ stage }", 1, "{ stage }", "it names nothing"),
    Planted("own/before.md", "{stage}", "{}", 1, "{}", "it names nothing"),
    # HTML, which no screen reads, and braces in words that are filled with nothing
    Planted("own/rest.md", "a little", "<b>a</b> little", 3, "<b>", "shown as text"),
    Planted("own/rest.md", "a little", '<img src="a.png">', 3, "<img", "shown as text"),
    Planted("own/rest.md", "a little", "\n\n<script>x</script>", 5, "<script>", "shown as text"),
    Planted("own/before.md", "Turn", "Turn<br>", 3, "<br>", "shown as text"),
    Planted("instruments/ease.yaml", "was easy", "was <i>easy</i>", 8, "items[0].text", "<i>"),
    Planted("instruments/ease.yaml", "It was easy", "'{duree}'", 8, "text: {duree}", "nothing is"),
    Planted("instruments/ease.yaml", "high: very", "high: '{x}'", 8, "high: {x}", "nothing is"),
    Planted("instruments/ease.yaml", "It was easy", "'{stage}'", 8, "text: {stage}", "nothing is"),
    Planted(
        "instruments/ease.yaml",
        "source: ours",
        "source: ours\ninstruction: >-\n  Think of\n  {modell}.",
        5,
        "instruction: {modell}",
        "in the part 'stage-1-ease'",
    ),
    Planted(
        "instruments/people.yaml", "text: Somewhat", "text: '{a b}'", 11, "text: {a b}", "it n"
    ),
    Planted(
        "instruments/people.yaml", "text: Somewhat", "text: '<u>'", 11, "text: <u>", "shown as"
    ),
    study("title: My study", "title: My <b>study</b>", 2, "title: <b>", "shown as text"),
    study("version: 1", "version: 1\nflags: {1: '{what}'}", 4, "flags[1]: {what}", "nothing is"),
    study(
        "  - questionnaire: people",
        "  - interview: own/rest.md\n    questions: ['Was {model} easy?']",
        25,
        "questions[0]: {model}",
        "nothing is filled in",
    ),
    Planted("own/rest.md", "a little", "a\0 little", 3, "", "U+0000 is not allowed"),
    Planted("own/rest.md", "a little", "a \u202elittle", 3, "", "U+202E is not allowed"),
    study("    only_if", "\tonly_if", 13, "", "found character"),
    study("title: My study", "title: &t My\nrelated: [*t]", 3, "", "aliases are not allowed"),
    study("title: My study", "title: My study: one", 2, "", "mapping values are not allowed"),
    study("title: My study", "title: 2024-01-01", 2, "title", "allowed: a text"),
    study("language: en", "language: [en, de]", 4, "language", "allowed: a text"),
    study("at_least_s: 5", "at_least_s: .inf", 26, "at_least_s", "a finite number"),
    study("version: 1", "version: 1\n3: x", 4, "[3]", "strings"),
    study(
        "version: 1",
        "version: 1\nexclude: {a: {item: nope, answer_not: 2}}",
        4,
        "exclude.a.item",
        "has an item 'nope'",
    ),
    study(
        "version: 1",
        "version: 1\nexclude: {a: {item: easy, below: 0}}",
        4,
        "exclude.a.below",
        "nobody would fail",
    ),
    study(
        "version: 1",
        "version: 1\nmissing: {skipped_trials: maybe}",
        4,
        "missing.skipped_trials",
        "'unsolved'",
    ),
    study(
        "version: 1",
        "version: 1\nanalysis: {transform: {response_time_s: lg}}",
        4,
        "analysis.transform",
        "'log'",
    ),
    study(
        "version: 1",
        "version: 1\nanalysis: {contrasts: [{name: a, model: {sinelines/gt: 1}}]}",
        4,
        "analysis.contrasts[0]",
        "add up to 0",
    ),
    study(
        "version: 1", "version: 1\nanalysis: {profile: ros2021}", 4, "analysis.profile", "ross2021"
    ),
    study(
        "version: 1",
        "version: 1\nanalysis: {family: all, contrasts: "
        "[{name: b, model: {sinelines/gt: 1, sinelines/ae: -1}}, "
        "{name: b, model: {sinelines/gt: -1, sinelines/ae: 1}}]}",
        4,
        "analysis.contrasts[1].name",
        "the name of another contrast",
    ),
]


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


def write(folder: Path, *planted: Planted) -> Path:
    for name, text in FILES.items():
        for mistake in planted:
            if mistake.file == name:
                assert text.count(mistake.old) >= 1, mistake
                text = text.replace(mistake.old, mistake.new, 1)
        file = folder / name
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text, "utf-8")
    return folder / "mine.yaml"


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


@pytest.mark.parametrize("planted", MISTAKES, ids=str)
def test_a_mistake_is_told_with_file_line_and_key(tmp_path: Path, planted: Planted) -> None:
    told = faults(write(tmp_path, planted))
    matching = [fault for fault in told if tells(fault, planted)]
    assert matching, told
    assert all(fault.todo for fault in told)
    if planted.said != "is empty":
        assert matching[0].file == str(tmp_path / planted.file)


@pytest.mark.parametrize("planted", MISTAKES, ids=str)
def test_what_follows_from_a_mistake_is_not_told_as_another(
    tmp_path: Path, planted: Planted
) -> None:
    told = faults(write(tmp_path, planted))
    # A misspelt key that must be there is both unknown and missing.
    assert len(told) <= 2, told


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
def test_several_mistakes_are_told_at_once(tmp_path: Path, size: int) -> None:
    groups = list(itertools.combinations(FAR_APART, size))
    for number, group in enumerate(groups[:: max(1, len(groups) // 12)]):
        told = faults(write(tmp_path / str(number), *group))
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
    assert isinstance(said.exception, StudyError)
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
    # A misspelt key that must be there is both unknown and missing.
    assert len(told) == len(changed) + 1, "\n".join(told)


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
        "id: own\ntitle: Own\nversion: 1\n"
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
