"""A small study with everything in order, and the mistakes that are planted in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.helpers.beside import put_beside

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
    study("title: My study", 'title: ""', 2, "title", "a text of at least one character"),
    study("title: My study\n", "", 1, "title", "missing"),
    study("title: My study", "title: yes", 2, "title", 'yes in quotes, "yes"'),
    study("language: en", "language: english", 4, "language", "a language like 'en'"),
    study('"P{:02d}"', "P", 5, "participants.pattern", "Python format"),
    study("audio: optional", "audio: maybe", 6, "recording.audio", "'maybe'"),
    study("silence_prompt_s: 15", "silence_prompt_s: 0", 6, "silence_prompt_s", "greater than 0"),
    study("silence_prompt_s: 15", "silence_s: 15", 6, "silence_s", "did you mean"),
    study("version: 1", "version: 1\nseed: -1", 4, "seed", "greater than or equal to 0"),
    study("version: 1", "version: 1\nflags: {12: much}", 4, "flags", "1 to 9"),
    study("version: 1", "version: 1\nrelated: [mine]", 4, "related", "is this study"),
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
    study("version: 1", "version: 1\nyes: 1", 4, "yes", "unknown key 'yes'"),
    study("title: My study", "title: !!python/name:os x", 2, "", "is not allowed"),
    # conditions
    study('odd: "with"', "odd: yes", 8, "assignment.hint.odd", "found yes, which is true"),
    study('even: "without"', "even: off", 8, "assignment.hint.even", "found off, which is false"),
    study('even: "without"', "evn: a", 8, "evn", "unknown key 'evn'"),
    study('hint: "with"', 'hint: "wth"', 13, "only_if", "hint is never 'wth'"),
    study("own/rest.md", "own/{hnt}.md", 25, "{hnt}", "no variable 'hnt'"),
    study("sinelines/gt,", '"sinelines/{hnt}",', 18, "{hnt}", "no variable 'hnt'"),
    # the flow
    study("  - tutorial: reconstruction", "  - tutorial: reconstruct", 14, "tutorial", "allowed"),
    study("  - practice: circles", "  - practise: circles", 15, "practise", "one of consent"),
    study("task: reconstruction", "task: guessing", 17, "stages.task", "'reconstruction'"),
    study("trials: 3", "trails: 3", 20, "stages.trails", "did you mean 'trials'"),
    study("sinelines/gt, ", "Sine, ", 18, "stages.models[0]", "ids like sinelines/vae"),
    study("sinelines/gt, ", "sinelines/ae, ", 18, "stages.models[1]", "each value once"),
    study("sinelines/gt, ", "sinelines/mine, ", 18, "models[0]", "sinelines/mine"),
    study(
        "trials: 3",
        "trials: 3\n      sampling: prior",
        18,
        "models[1]",
        "'prior' is possible only for",
    ),
    study("order: counterbalanced", "order: balanced", 19, "stages.order", "'counterbalanced'"),
    study("at_least_s: 5", "at_least_s: long", 26, "at_least_s", "a number"),
    study("  - questionnaire: people\n", "  - method: own/rest.md\n", 24, "flow[5]", "method only"),
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
    study(
        "  - questionnaire: people",
        "  - stages: {task: concept-repair, stimuli: dsprites-four-cbm, items: {trap: 99}, "
        "intro: own/rest.md}",
        24,
        "items",
        "99 pictures of the kind 'trap'",
    ),
    study("{min_solved: 2}", "{min_solved: 99}", 9, "inclusion.min_solved", "nobody would count"),
    study("{min_solved: 2}", "{min_solvd: 2}", 9, "min_solvd", "did you mean 'min_solved'"),
    # files
    study("own/welcome.md", "own/welcom.md", 12, "", "'own/welcom.md' does not exist"),
    study("own/rest.md", "../rest.md", 25, "", "outside the study's folder"),
    study("[ease]", "[eas]", 23, "", "'instruments/eas.yaml' does not exist"),
    study("[ease]", "[ease, ease]", 23, "stages.after[1]", "each value once"),
    study("  - questionnaire: people", "  - questionnaire: peple", 24, "", "peple.yaml' is not"),
    # texts
    Planted(
        "own/rest.md", "Rest a little.", "Rest {duree} min.", 3, "{duree}", "nothing is filled"
    ),
    Planted("own/debrief.md", "That was all.", "![](me)", 3, "![](me)", "no such picture"),
    Planted("own/welcome.md", FILES["own/welcome.md"], "\n", 0, "", "is empty"),
    # questionnaires
    Planted("instruments/ease.yaml", "points: 7, low", "points: 1, low", 8, "items[0].points", "1"),
    Planted("instruments/ease.yaml", "id: clear", "id: Clear", 9, "items[1].id", "lower-case"),
    Planted("instruments/ease.yaml", "source: ours", "sauce: ours", 4, "sauce", "'source'"),
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
    Planted("instruments/ease.yaml", "title: Ease", "title: {de: Leicht}", 3, "title", "'en'"),
    Planted("instruments/ease.yaml", "id: clear", "id: easy", 9, "items[1].id", "'easy' again"),
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
    Planted(
        "instruments/people.yaml",
        "id: none_",
        "id: some",
        12,
        "options[1].id",
        "'some' again",
    ),
    Planted("instruments/ease.yaml", "{id: clear", "{<<: {x: 1}, id: clear", 9, "", "'<<' is not"),
    study("trials: 3", "trials: 3\n      <<: {skip: always}", 21, "", "'<<' is not allowed"),
    study("title: My study", "title: &t My\nrelated: [*t]", 3, "", "aliases are not allowed"),
    study("title: My study", "title: 2024-01-01", 2, "title", "allowed: a text"),
    study("language: en", "language: [en, de]", 4, "language", "allowed: a text"),
    study("at_least_s: 5", "at_least_s: .inf", 26, "at_least_s", "a finite number"),
    study("version: 1", "version: 1\n3: x", 4, "[3]", "strings"),
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


def write(folder: Path, *planted: Planted) -> Path:
    """The study with these mistakes in a folder, which may have another one of them already."""
    for name, text in FILES.items():
        for mistake in planted:
            if mistake.file == name:
                assert text.count(mistake.old) >= 1, mistake
                text = text.replace(mistake.old, mistake.new, 1)
        file = folder / name
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text, "utf-8")
    return (folder if (folder / "texts").is_dir() else put_beside(folder)) / "mine.yaml"
