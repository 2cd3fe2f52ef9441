"""A study whose questionnaires ask conditionally, and check attention."""

from __future__ import annotations

from pathlib import Path

STUDY = """\
id: own
title: Our own questions
version: 1
language: en
design:
  between: {hint: ["with", "without"]}
  by_moderator: [hint]
exclude:
  read: {failed_checks_above: 0}
flow:
  - questionnaire: before
  - questionnaire: use
"""
BEFORE = """\
id: before
version: 1
title: Before
source: Our own.
items:
  - id: tools
    kind: choices
    identifying: no
    text: Which of these have you used?
    options:
      - {id: python, text: Python}
      - {id: matlab, text: Matlab}
      - {id: none_, text: None of them, alone: yes}
  - {id: age, kind: slider, identifying: yes, text: Your age, low: 18, high: 99, required: yes}
"""
USE = """\
id: use
version: 1
title: Use
source: Our own.
per_page: 3
scale: {points: 7, low: not at all, high: completely, numbers: true}
scores:
  trust: {mean: [rely, bad], reverse: [bad]}
items:
  - {id: rely, kind: statement, identifying: no, text: I would rely on it.}
  - {id: bad, kind: statement, identifying: no, text: It is bad., only_if: {rely: [1, 2, 3, 4]}}
  - {id: attention, kind: statement, identifying: no, text: Please choose 2 here., check: 2}
  - {id: hinted, kind: statement, identifying: no, text: The hint helped., only_if: {hint: "with"}}
  - id: code
    kind: written
    identifying: no
    text: What in Python?
    only_if: {before.tools: python}
  - {id: pension, kind: statement, identifying: no, text: Me too., only_if: {before.age: [70, 71]}}
"""
FILES = {"own.yaml": STUDY, "instruments/before.yaml": BEFORE, "instruments/use.yaml": USE}


def conditional_study(folder: Path, **changed: str) -> Path:
    """The study in a folder; changed: by `study`, `before` or `use` another text of that file."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        key = "study" if name == "own.yaml" else Path(name).stem
        path.write_text(changed.get(key, text), "utf-8")
    return folder / "own.yaml"
