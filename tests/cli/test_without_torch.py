"""What each command says where torch is not installed: the table of docs/guide/installing.md.

One process runs them all. In it an import of torch or captum fails as where they are missing.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labapp.base.errors import NOT_DONE

ROOT = Path(__file__).parents[2]
NEEDS = {
    "models train": "models/recipes/sinelines-vae.yaml --out {new}",
    "concepts train": "concepts/toy0-cbm --size S --out {new}",
    "concepts score": "concepts/dsprites-four-cbm",
    "concepts intervene": "concepts/dsprites-four-cbm",
    "concepts stimuli": "concepts/dsprites-four-cbm --out {new}",
    "concepts import": "{description}",
    "stimuli build": "birds-gradcam --out {new}",
    "metrics ois": "--codes {codes} --factors {factors}",
    "metrics concept-probe": "--codes {codes} --factors {factors}",
    "metrics task-probe": "--codes {codes} --factors {factors} --labels {labels}",
    "metrics completeness": "--codes {codes} --factors {factors} --labels {labels}",
    "metrics alignment-accuracy": "--codes {codes} --factors {factors}",
    "metrics icl": "--codes {codes} --factors {factors}",
}
"""Commands that cannot be done without torch: they say so, and leave everything as it is."""
OTHERS = {
    "models bench": ("sinelines/vae --n 1 --device cuda", "on cuda"),
    "models import": (
        "--torchscript {codes} --latents {codes} --id mine/decoder --out {new}",
        "extras add import,torch",
    ),
    "stimuli explain": (
        "--kind heatmaps --torchscript {codes} --images {images} --classes a,b --size 8 --id own",
        "extras add import,torch",
    ),
}
"""Commands that say it in other words, because they need it for something alone."""
WITHOUT = {
    "models list": "",
    "models show": "sinelines/vae",
    "concepts list": "",
    "concepts show": "concepts/dsprites-four-cbm",
    "stimuli list": "",
    "stimuli check": "assets/stimuli/birds-gradcam",
    "metrics all": "--codes {codes} --factors {factors}",
    "studies check": "{study}",
    "simulate": "{study} --out {simulated} --participants 2 --workers 1",
    "analyze": "{simulated} --out {analysed} --format xlsx --format sav --format dta --workers 1",
    "export": "{simulated} --out {bundle}",
    "deposit": "{simulated} --out {deposit} --license CC0-1.0 --creator 'Curie, Marie'",
    "participants merge": "{survey} --by pid --study own --data {simulated}",
    "docs": "--path",
}
"""Commands that need none, in this order: the study has an adaptive stage, a picture, a sound, an
earlier answer in a later question, a page that stays for a time, and further tests."""
STUDY = """
id: own
version: 1
title: Without torch
summary: An adaptive stage, and questions with a picture and a sound.
language: en
seed: 5
participants: {pattern: "P{:02d}"}
recording: {audio: off}
design:
  between: {hint: [with, without]}
  by_moderator: [hint]
  assign: slots
analysis:
  outcomes: {primary: [own.good]}
  further_tests: [bayes_factor, trimmed_means, permutation]
flow:
  - stages:
      task: unmasking
      stimuli: faces-unmasking
      set: 1
      methods: [gradient]
      masks: {smallest: 5, largest: 60, count: 10}
      adaptive: {method: up-down, down: 2, start: 60, steps: [3, 2, 1], trials: 6}
      question: Which emotion is shown?
      class_names: {anger: anger, happiness: happiness}
      intro: intro.md
      think_aloud: false
  - questionnaire: own
"""
INSTRUMENT = """
id: own
version: 1
title: Your tools
source: our own
per_page: 1
minimum_s: 2
items:
  - id: tool
    kind: choice
    identifying: no
    text: Which tool do you use?
    media: {file: tool.png, alt: A tool}
    options: [{id: a, text: The first}, {id: b, text: The second}]
  - id: why
    identifying: no
    text: "How good is {answer:tool}?"
    media: {file: tone.wav, alt: A tone, plays: 2, heard: true}
    points: 7
    low: bad
    high: good
scores:
  good: {mean: [why], meaning: 7 very good}
"""
BLOCKED = """
import contextlib, io, json, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "captum"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import importlib.util as util
find = util.find_spec
util.find_spec = lambda name, package=None: None if name in ("torch", "captum") else find(name)
from labapp.cli.main import main

ended = []
for words in json.load(sys.stdin):
    said = io.StringIO()
    sys.argv = ["labapp", *words]
    status = 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as stopped:
            status = stopped.code or 0
    ended.append((status, said.getvalue()))
print(json.dumps(ended))
"""


def _write_study(folder: Path) -> Path:
    (folder / "instruments").mkdir(parents=True)
    (folder / "own.yaml").write_text(STUDY, "utf-8")
    (folder / "intro.md").write_text("# Faces\n\nSay what you see.\n", "utf-8")
    (folder / "instruments" / "own.yaml").write_text(INSTRUMENT, "utf-8")
    Image.new("RGB", (64, 48), (200, 120, 30)).save(folder / "tool.png")
    with wave.open(str(folder / "tone.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes(bytes(16000))
    return folder / "own.yaml"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """By command its exit status and all that it wrote."""
    folder = tmp_path_factory.mktemp("without")
    rng = np.random.default_rng(1)
    places = {name: folder / name for name in ("new", "images", "description")}
    places["description"].write_text("id: own/sprites\n", "utf-8")
    for kind in ("a", "b"):
        (places["images"] / kind).mkdir(parents=True)
        for number in range(12):
            level = Image.new("RGB", (8, 8), (number * 20, number * 10, 0))
            level.save(places["images"] / kind / f"{number}.png")
    for name, high in (("codes", 3), ("factors", 3), ("labels", 2)):
        shape = (40,) if name == "labels" else (40, 3)
        places[name] = folder / f"{name}.npy"
        np.save(places[name], rng.integers(0, high, shape).astype(float))
    for name in ("simulated", "analysed", "bundle", "deposit"):
        places[name] = folder / name
    places["study"] = _write_study(folder / "study")
    places["survey"] = folder / "survey.csv"
    places["survey"].write_text("pid,age\nP01,31\nP02,44\n", "utf-8")
    commands = NEEDS | {name: words for name, (words, _) in OTHERS.items()} | WITHOUT
    lines = [
        [*name.split(), *shlex.split(words.format(**places))] for name, words in commands.items()
    ]
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert not places["new"].exists(), "a command wrote something before it stopped"
    ended = json.loads(done.stdout.splitlines()[-1])
    return {name: (status, text) for name, (status, text) in zip(commands, ended, strict=True)}


@pytest.mark.parametrize("command", NEEDS)
def test_a_command_that_needs_torch_says_so_and_how_to_get_it(
    said: dict[str, tuple[int, str]], command: str
) -> None:
    status, text = said[command]
    assert status == NOT_DONE
    assert "This needs the package torch, which is not installed." in text
    assert "extras add torch" in text


@pytest.mark.parametrize("command", OTHERS)
def test_a_command_that_needs_it_for_something_names_that(
    said: dict[str, tuple[int, str]], command: str
) -> None:
    status, text = said[command]
    assert status != 0
    assert OTHERS[command][1] in text


@pytest.mark.parametrize("command", WITHOUT)
def test_the_others_work(said: dict[str, tuple[int, str]], command: str) -> None:
    status, text = said[command]
    assert status == 0, text


def test_the_page_names_all_of_them() -> None:
    page = (ROOT / "docs/guide/installing.md").read_text("utf-8")
    table = page.partition("| command or window |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`((?:models|concepts|stimuli|metrics) [a-z-]+)", table))
    assert named == {*NEEDS, *OTHERS, "metrics all"}
