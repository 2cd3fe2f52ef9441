"""The tutorials, followed as they are written."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.helpers.recipes import DOCS, Recipe
from tests.recipes.conftest import command_of

PAGES = sorted((DOCS / "tutorials").glob("*.md"))
Follow = Callable[[str], AbstractContextManager[Recipe]]


@pytest.fixture
def follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Follow:
    run = command_of(tmp_path, monkeypatch, capsys)
    return lambda name: Recipe(name, tmp_path, run, "tutorials").followed()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_tutorial_says_how_long_it_takes_and_what_to_read_next(page: Path) -> None:
    content = page.read_text("utf-8")
    assert re.match(r"# .+\n\n\*(?:[A-Z][a-z]+|[A-Z][a-z]+-[a-z]+) minutes", content)
    last = re.findall(r"^## (.+)$", content, re.MULTILINE)[-1]
    assert last == "Read next"
    assert "](" in content.rpartition("## Read next")[2]
    assert f'follow("{page.stem}")' in Path(__file__).read_text("utf-8")


def test_first_session(follow: Follow, tmp_path: Path) -> None:
    with follow("first-session"):
        assert (tmp_path / "results/report.html").is_file()
        assert (tmp_path / "bundle/dataset_description.json").is_file()


def test_bundle_to_paper(follow: Follow, tmp_path: Path) -> None:
    with follow("bundle-to-paper") as tutorial:
        assert "F(2, 10) = " in tutorial.names["sentence"]
        assert (tmp_path / "completion.svg").stat().st_size > 5_000


def test_own_questionnaire(follow: Follow, tmp_path: Path) -> None:
    with follow("own-questionnaire"):
        assert len(list((tmp_path / "screens").glob("*.png"))) > 4
    with (tmp_path / "results/scores.csv").open() as stream:
        scores = [row for row in csv.DictReader(stream) if row["instrument"] == "reliance"]
    assert {(row["score"], row["low"], row["high"]) for row in scores} == {
        ("reliance", "1.0", "7.0")
    }


def test_own_study(follow: Follow, tmp_path: Path) -> None:
    with follow("own-study") as tutorial:
        assert "{minutes}" not in tutorial.outputs["studies check my-study/my-study.yaml"]
        report = (tmp_path / "results/report.html").read_text()
        assert "Participants solve less with the autoencoder." in report
        assert ">Registration</h3>" in report


# torch warns of its own code when it writes ONNX.
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
def test_own_decoder(follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))  # as PYTHONPATH, which the page asks for
    with follow("own-decoder"):
        assert (tmp_path / "models/digits8/pca5/model.yaml").is_file()
        assert "dataset: digits8" in (tmp_path / "models/mine/pca5/model.yaml").read_text()
        assert (tmp_path / "results/report.html").is_file()
