"""Hostile studies and what they name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from labapp.base import resources
from labapp.study.loading import load
from tests.hostile.corpus import MIB, case


def study(tmp: Path, *, add: str = "", change: tuple[str, str] = ("", "")) -> Any:
    text = (resources.assets() / "studies" / "quickstart.yaml").read_text()
    assert change[0] in text
    path = tmp / "mine.yaml"
    key = add.strip().partition(":")[0]
    text = text.replace(f"{key}:", f"{key}-before:") if key else text
    path.write_text(text.replace(*change) + add)
    return load(path)


STUDIES = {
    "a pattern of gigabytes": ("participants: {pattern: 'P{:0900000000d}'}", "Python format"),
    "a pattern of 4000 digits": (
        "participants: {pattern: '" + "9" * 4000 + "{}'}",
        "Python format",
    ),
    "a pattern that looks inside": ("participants: {pattern: 'P{0.__class__}'}", "Python format"),
    "a rule of nothing": ("assignment: {x: null}", "keys with values"),
    "a rule of a number": ("assignment: {x: 5}", "keys with values"),
    "a rule of a list": ("assignment: {x: [cells]}", "keys with values"),
    "cells of nothing": ("assignment: {x: {cells: null}}", "keys with values"),
    "2000 cells": (
        "assignment: {x: {cells: {" + ",".join(f"c{n}: {{}}" for n in range(2000)) + "}}}",
        "500 items",
    ),
    "deep": ("x: " + "[" * 5000, "levels deep"),
    "deep blocks": ("x:\n" + "".join("  " * n + "-\n" for n in range(1, 300)), "levels deep"),
    "an alias": ("x: &a [1]\ny: *a", "aliases"),
    "infinite": ("incentive: {text: x.md, base: .inf}", "incentive.base: found inf"),
    "not a number": ("incentive: {text: x.md, base: .nan}", "incentive.base: found nan"),
    "a number of 4000 digits": ("x: " + "9" * 4000, "larger than any number"),
    "a number of 5000 digits": ("x: " + "9" * 5000, "integer string conversion"),
    "a character of no text": (r'x: "\0"', "U+0000"),
    "half a character": (r'x: "\ud800"', "U+D800"),
    "turned around": (r'x: "\u202e"', "U+202E"),
    "a date that never was": ("x: 2026-99-99", "month must be"),
}
for _name, (_add, _words) in STUDIES.items():
    case(f"study: {_name}", _words)(lambda tmp, add=_add: study(tmp, add=f"\n{add}\n"))

CHANGES = {
    "a name of 5000 letters": ("consent.md", "c" * 5000, "too long for a file"),
    "an id of 5000 letters": ("id: quickstart", "id: " + "a" * 5000, "at most 80"),
    "10^9 questions": ("trials:", "trials: 1000000000 #", "less than or equal to 1000"),
}
for _name, (_old, _new, _words) in CHANGES.items():
    case(f"study: {_name}", _words)(lambda tmp, old=_old, new=_new: study(tmp, change=(old, new)))


@case("study: of 2 MiB", "more than the 262144")
def _(tmp: Path) -> Any:
    return study(tmp, add="x: " + "y" * 2 * MIB)


@case("study: a pipe", "no study file")
def _(tmp: Path) -> Any:
    os.mkfifo(tmp / "mine.yaml")
    return load(tmp / "mine.yaml")


@case("study: a text is a pipe", "it is a pipe")
def _(tmp: Path) -> Any:
    (tmp / "texts" / "en").mkdir(parents=True)
    os.mkfifo(tmp / "texts" / "en" / "consent.md")
    shutil.copy(resources.assets() / "studies" / "quickstart.yaml", tmp / "mine.yaml")
    return load(tmp / "mine.yaml")
