"""The guide says what each distance is, with an example that is worked out here."""

from __future__ import annotations

import re

import numpy as np

from labapp.base.report import kit
from labapp.models.representations.distance import ALIGNMENT_SLACK, NAMES, named
from tests.helpers.recipes import DOCS, ROOT

X = np.array([0, 0.2, 0.6, 1], np.float32)
TARGET = np.array([0, 0.8, 0.4, 1], np.float32)


def test_every_distance_stands_in_the_guide_with_its_value() -> None:
    guide = (DOCS / "guide/models.md").read_text("utf-8")
    part = guide.partition("## Distances\n")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \| ([0-9.]+) \| ([^|]+) \|$", part)
    assert [name for name, *_ in rows] == list(NAMES)
    for name, formula, example, source in rows:
        assert f"{named(name)(X, TARGET):.3f}" == example, name
        assert formula.strip()
        assert source.strip()
    assert f"target − {ALIGNMENT_SLACK:g}" in part
    assert named("mse/0.04")(X, TARGET) == 1.0


def test_the_guide_says_when_points_and_lines_are_drawn() -> None:
    guide = (DOCS / "guide/analysis.md").read_text("utf-8")
    part = guide.partition("## What figures show\n")[2].partition("\n## ")[0]
    for words in (
        f"up to {kit.LINES_UP_TO} participants",
        f"up to {kit.POINTS_UP_TO} values",
        f"from {kit.BOX_FROM} values on",
        f"more than {kit.POINTS_UP_TO}",
        f"at most {kit.STEPS_UP_TO} different values",
    ):
        assert words in part, words


def test_the_extras_are_those_of_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text("utf-8")
    guide = (DOCS / "guide/models.md").read_text("utf-8")
    part = guide.partition("## Extras\n")[2].partition("\n## ")[0]
    for extra, brings in re.findall(r"`'labapp\[(\w+)\]'` \| ([^|]+) \|", part):
        (line,) = re.findall(rf"(?m)^{extra} = \[(.*)\]$", declared)
        packages = re.findall(r'"(\w+)>=', line)
        assert packages == [name.strip() for name in brings.split(",")], extra
