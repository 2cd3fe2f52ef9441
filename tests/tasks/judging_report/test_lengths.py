"""What is said of how long explanations are, beside those of the paper."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pandas as pd
import pytest

from labapp.base import resources
from labapp.models.stimuli import library
from labapp.models.stimuli.manifest import Manifest, Method
from labapp.study.loading import load
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.statistics import lengths, of_set, remark, sentence

NONE = pd.DataFrame({"set": [], "photo": [], "of": [], "prototype": []})
SHIPPED = {
    "protopnet-agreement": (4, 6),
    "protopnet-distinction": (4, 6),
    "prototree-agreement": (3, 6),
    "prototree-agreement-tree": (3, 6),
    "prototree-distinction": (1, 4),
}
"""Rows of a class, or steps shown, in the shipped sets."""


def path(*steps: int) -> pd.DataFrame:
    return pd.DataFrame({"set": 1, "photo": range(len(steps)), "n_steps": steps})


def test_each_photo_counts_once_whoever_judged_it() -> None:
    photos = pd.concat([path(3, 6, 6), path(3, 6, 6)])
    assert lengths("path-agreement", photos, NONE) == {3: 1, 6: 2}
    rows = pd.DataFrame(
        [
            {"set": 1, "photo": "p", "of": of, "prototype": f"{of}{n}"}
            for of, many in (("a", 4), ("b", 6))
            for n in range(many)
        ]
    )
    twice = pd.concat([rows, rows])
    assert lengths("prototype-distinction", path(), twice) == {4: 1, 6: 1}
    assert lengths("heatmap-distinction", path(3), rows) == {}


def test_nothing_is_said_where_it_is_as_published_or_nothing_is_known() -> None:
    for here in ({9: 10}, {}):
        assert remark("prototree-agreement", here) == ""
        assert sentence("prototree-agreement", "path-agreement", here) == ""
    assert remark("mine-agreement", {3: 1}) == ""
    assert remark("gradcam-distinction", {3: 1}) == ""


def test_the_words() -> None:
    assert remark("prototree-agreement", {3: 2, 6: 4}) == "with 9 steps, here 3 to 6"
    assert remark("protopnet-agreement", {4: 1}) == "with about 10 rows, here 4"
    said = sentence("prototree-distinction", "path-distinction", {1: 20, 4: 80})
    assert said == (
        "Of a path 1 to 4 steps are shown before the two that are left open (1 in 20 of 100 "
        "photos), in the paper 7 (figure A15)."
    )


def shown(manifest: dict[str, Any]) -> Counter[int]:
    """Steps of the photos, or rows of a class, as the manifest counts them."""
    if manifest["kind"] == "path":
        return Counter(len(photo["rows"]) for photo in manifest["photos"])
    of = {one["id"]: one["of"] for one in manifest["prototypes"]}
    return Counter(
        n
        for photo in manifest["photos"]
        for n in Counter(of[row["prototype"]] for row in photo["rows"]).values()
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_sets_are_as_the_studies_and_the_readme_say(name: str) -> None:
    loaded = load(name)
    comment = " ".join(
        line.removeprefix("#").strip()
        for line in decoded(loaded.files[f"{name}.yaml"]).splitlines()
        if line.startswith("#")
    )
    stimuli = next(
        item.stages.stimuli for item in loaded.study.flow if getattr(item, "stages", None)
    )
    folder = resources.stimuli() / stimuli
    counts = shown(json.loads((folder / "manifest.json").read_text()))
    assert (min(counts), max(counts)) == SHIPPED[name]
    readme = " ".join((resources.stimuli() / "README.md").read_text().split())
    least, most = SHIPPED[name]
    if name == "prototree-distinction":
        assert "these have 3 to 6, so that in the distinction 1 to 4 are shown" in comment
        assert f"1 step in {counts[1]} of {sum(counts.values())} photos" in readme
    else:
        assert f"these have {least} to {most}" in comment
        assert f"{least} to {most}" in readme
    assert paper.LENGTHS[name].source.split(";")[0] in comment


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("birds-prototree", "Paths have 3 to 6 steps, in the paper 9 (figure A16)."),
        ("birds-prototree-distinction", "Of a path 1 to 4 steps are shown before the two that"),
        ("birds-protopnet", "A class has 4 to 6 rows, in the paper about 10 (figure A14"),
        ("birds-protopnet-distinction", "A class has 4 to 6 rows, in the paper about 10"),
        ("birds-gradcam", ""),
    ],
)
def test_a_set_is_told_by_what_is_in_it(name: str, said: str) -> None:
    manifest = library.load(name).manifest
    assert of_set(manifest).startswith(said)
    assert bool(said) == bool(of_set(manifest))
    other = manifest.model_copy(update={"id": "mine", "method": _named(manifest)})
    assert "paper" not in of_set(other), "another method: the paper had none of it"


def _named(manifest: Manifest) -> Method:
    return manifest.method.model_copy(update={"name": "Mine"})


def decoded(content: bytes) -> str:
    return content.decode()
