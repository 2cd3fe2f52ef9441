"""Every reader is linear in what it reads, and no graph of somebody else can hold up a session."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks.onnx_decoders import write
from labapp.base.errors import ModelError
from labapp.models.representations import card as cards
from labapp.models.representations import onnx_backend
from labapp.models.representations.importing import child, convert
from labapp.models.representations.package import load_package
from labapp.models.training import files
from labapp.study.overview import space_of
from tests.helpers.sample import sample
from tests.hostile import graphs
from tests.hostile.growing import GROWING, MOST_MB, MOST_S, apart, superlinear

EVERY = sorted(GROWING)
FEW = (
    "vtt: voices in a cue",
    "srt: bold in bold",
    "TextGrid: a quote that never closes",
    "EAF: annotations of codes at one place",
    "qdc: codes of one name",
    "ratings: units",
    "codebook: parents",
)
"""What was quadratic once, or a product: one for each reader."""


@pytest.mark.parametrize("name", sample(EVERY, FEW))
def test_twice_the_input_takes_twice_the_time(name: str) -> None:
    assert not superlinear(name)


@pytest.mark.parametrize("name", sample(EVERY, FEW[:1]))
def test_the_largest_file_stays_within_bounds(name: str) -> None:
    (row,) = apart(name, [GROWING[name].largest])
    assert row["ended"].startswith(("read", "told")), row
    assert row["s"] < MOST_S, row
    assert row["mb"] < MOST_MB, row


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty seconds are one."""
    for module in (convert, onnx_backend):
        monkeypatch.setattr(module, "SECONDS", 1)
    monkeypatch.setattr(convert, "_TRIED", set())


def replaced(folder: Path, graph: bytes) -> Path:
    """A package with another graph, of which its card says that it is its own."""
    (folder / files.GRAPH).write_bytes(graph)
    text = yaml.safe_load((folder / cards.CARD).read_text())
    text["weights_sha256"] = files.digest(graph)
    (folder / cards.CARD).write_text(yaml.safe_dump(text))
    return folder


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("above", [None, 0.5])
def test_a_package_that_never_answers_is_refused_where_a_session_would_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: float | None
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    folder = write(tmp_path, "own/model", (8, 8), dimensions=3)
    replaced(folder, graphs.looping(3, (8, 8), above=above))
    # The start of a session, and studies check.
    for reads in sample((load_package, space_of), (load_package,)):
        with pytest.raises(ModelError, match="still computing after 1 seconds"):
            reads("own/model")


@pytest.mark.usefixtures("impatient")
def test_what_answered_once_is_ended_when_it_does_not_later() -> None:
    run = onnx_backend.graph(
        graphs.looping(3, (8, 8), above=5.0), "a.onnx", (3,), (8, 8), todo="Mend it."
    )
    began = time.monotonic()
    with pytest.raises(ModelError, match="still computing after 1 seconds"):
        run(np.full((1, 3), 6, np.float32))
    assert time.monotonic() - began < 30


def test_a_graph_that_came_with_labapp_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    from labapp.base import resources
    from labapp.models.representations import package

    assert package._is_shipped(resources.models() / "sinelines" / "vae")
    assert not package._is_shipped(resources.user_models() / "sinelines" / "vae")


def test_the_process_may_compute_for_as_long_as_it_is_said() -> None:
    assert child.SECONDS == convert.SECONDS == onnx_backend.SECONDS == 20
