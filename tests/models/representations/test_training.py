"""Training: a function of its recipe, killed or not."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import safetensors.torch
import torch
from rich.console import Console

from labapp.base.errors import ModelError
from labapp.models import catalog as models_catalog
from labapp.models.representations import card, measuring, package, recipe, training
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Run
from tests.helpers.waiting import wait_for
from tests.models.metrics.brief import few_trees

FILES = ("decoder.safetensors", "latents.npz")


@pytest.fixture(autouse=True, scope="module")
def _few_trees() -> Iterator[None]:
    """Training and evaluating end with scores, most of whose time DCI's trees take."""
    with few_trees():
        yield


class Interrupted(Exception):
    pass


@pytest.fixture
def report_every_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REPORT_S", 0.0)


def stop_at(iteration: int, seen: list[int]) -> Callable[[Progress], None]:
    def callback(progress: Progress) -> None:
        seen.append(progress.step)
        if progress.step == iteration:
            raise Interrupted

    return callback


@pytest.mark.usefixtures("report_every_iteration")
def test_an_interrupted_run_ends_with_the_very_bytes_of_an_uninterrupted_one(
    root: Path, recipe_path: Path, tmp_path: Path
) -> None:
    first: list[int] = []
    with pytest.raises(Interrupted):
        training.train(recipe_path, out=tmp_path, device="cpu", progress=stop_at(13, first))
    assert not (tmp_path / "tiny/vae").exists()
    second: list[int] = []
    folder = training.train(
        recipe_path,
        out=tmp_path,
        device="cpu",
        progress=stop_at(-1, second),
    )
    assert first == list(range(1, 14))
    assert second == list(range(11, 25))  # from the checkpoint at 10
    for name in FILES:
        assert (folder / name).read_bytes() == (root / "tiny/vae" / name).read_bytes()


@pytest.mark.usefixtures("report_every_iteration")
def test_without_resume_a_run_starts_afresh(recipe_path: Path, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        training.train(recipe_path, out=tmp_path, device="cpu", progress=stop_at(13, []))
    seen: list[int] = []
    with pytest.raises(Interrupted):
        training.train(
            recipe_path,
            out=tmp_path,
            device="cpu",
            resume=False,
            progress=stop_at(2, seen),
        )
    assert seen == [1, 2]


def test_a_killed_process_is_resumed_to_the_same_weights(recipe_path: Path, tmp_path: Path) -> None:
    longer = tmp_path / "recipe.yaml"
    text = recipe_path.read_text(encoding="utf-8").replace("epochs: 4", "epochs: 60")
    longer.write_text(text, encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from labapp.models.representations import training; "
        "training.train(Path(sys.argv[1]), out=Path(sys.argv[2]), device='cpu')"
    )
    out = tmp_path / "killed"
    state = out / ".training/tiny/vae" / loop.FILE
    child = subprocess.Popen([sys.executable, "-c", code, str(longer), str(out)])
    wait_for(state.exists)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(timeout=30)
    if not (out / "tiny/vae").exists():  # the child may have been quicker than the signal
        assert state.exists(), "the child left nothing to go on from"
        training.train(longer, out=out, device="cpu")
    training.train(longer, out=tmp_path / "whole", device="cpu")
    for name in FILES:
        killed = (out / "tiny/vae" / name).read_bytes()
        assert killed == (tmp_path / "whole/tiny/vae" / name).read_bytes()


def test_training_learns(root: Path, recipe_path: Path, tmp_path: Path) -> None:
    longer = tmp_path / "recipe.yaml"
    text = recipe_path.read_text(encoding="utf-8").replace("epochs: 4", "epochs: 25")
    longer.write_text(text, encoding="utf-8")
    better = card.read(training.train(longer, out=tmp_path / "out", device="cpu"))
    worse = card.read(root / "tiny/vae")
    assert better.held_out_error is not None
    assert worse.held_out_error is not None
    assert better.held_out_error.mean < 0.5 * worse.held_out_error.mean


def test_progress_tells_epoch_losses_and_time(recipe_path: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    training.train(recipe_path, out=tmp_path, device="cpu", progress=seen.append)
    last = seen[-1]
    assert (last.step, last.steps, last.phase) == (24, 24, "epoch 4/4")
    assert set(last.losses) == {"loss", "squared_error", "kl"}
    parts = last.losses["squared_error"] + last.losses["kl"]
    assert last.losses["loss"] == pytest.approx(parts, rel=1e-5)
    assert last.remaining_s == 0


def test_the_card_says_how_the_model_came_about(root: Path) -> None:
    found = card.read(root / "tiny/vae")
    assert found.training is not None
    assert found.training.iterations == 24
    assert found.training.device == "cpu"
    assert found.training.versions["torch"] == torch.__version__
    assert found.held_out_error is not None
    assert found.held_out_error.sampled is not None
    assert found.held_out_error.sampled > found.held_out_error.mean


def test_limits_are_the_extremes_of_the_held_out_encodings(root: Path) -> None:
    decoder = package.load_package("tiny/vae", "cpu", root=root)
    assert decoder.latents.shape == (40, 3)
    for column, row in zip(decoder.latents.T, decoder.space.to_json(), strict=True):
        assert (row["low"], row["high"], row["step"]) == (column.min(), column.max(), 0.01)
    assert list(decoder.percentiles) == [1, 5, 48, 52, 95, 99]
    np.testing.assert_allclose(
        decoder.percentiles[95], np.percentile(decoder.latents, 95, axis=0), rtol=1e-5
    )


def test_evaluating_gives_the_cards_error(root: Path) -> None:
    result = measuring.evaluate("tiny/vae", "cpu", root)
    assert result["agrees"]
    assert result["computed"]["mean"] == pytest.approx(result["card"]["mean"], rel=1e-5)
    assert result["computed"]["sampled"] == pytest.approx(result["card"]["sampled"], rel=1e-5)


def test_an_evaluation_reads_as_a_table(root: Path) -> None:
    lines = measuring.table(measuring.evaluate("tiny/vae", "cpu", root))
    assert lines[0] == "tiny/vae on cpu: 40 held-out instances"
    assert lines[1].split() == ["computed", "card", "published"]
    rows = {line.split("  ")[0]: line for line in lines[2:-1]}
    stated = card.read(root / "tiny/vae")
    assert stated.held_out_error is not None
    assert stated.disentanglement is not None
    assert f"{stated.held_out_error.sampled:.4f}" in rows["error, z sampled"]
    assert f"{stated.disentanglement.mig:.4f}" in rows["mig"]
    assert f"{stated.disentanglement.dci_exchanged.disentanglement:.4f}" in rows["dci_exchanged"]
    assert "agreement of codes and digits" not in rows
    assert lines[-1] == "agrees"


def test_an_evaluation_tells_what_each_dial_changes(root: Path) -> None:
    result = measuring.evaluate("tiny/vae", "cpu", root)
    found = result["effects"]
    assert [one["name"] for one in found] == [
        dial.name for dial in card.read(root / "tiny/vae").dimensions
    ]
    assert max(one["share"] for one in found) == 1
    lines = measuring.table(result)
    heading = next(at for at, line in enumerate(lines) if line.startswith("sliders, "))
    assert [line.split()[0] for line in lines[heading + 1 : -1]] == [one["name"] for one in found]


def test_evaluating_notices_a_card_that_flatters(root: Path) -> None:
    path = root / "tiny/vae/model.yaml"
    stated = card.read(path.parent).held_out_error
    assert stated is not None
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"mean: {stated.mean}", "mean: 0.1"), encoding="utf-8")
    assert not measuring.evaluate("tiny/vae", "cpu", root)["agrees"]


def test_a_package_is_never_overwritten(root: Path, recipe_path: Path) -> None:
    before = (root / "tiny/vae/model.yaml").read_bytes()
    with pytest.raises(ModelError, match="never overwritten"):
        training.train(recipe_path, out=root, device="cpu")
    assert (root / "tiny/vae/model.yaml").read_bytes() == before


@pytest.mark.usefixtures("report_every_iteration")
def test_a_checkpoint_of_another_recipe_is_refused(recipe_path: Path, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        training.train(recipe_path, out=tmp_path, device="cpu", progress=stop_at(6, []))
    other = tmp_path / "other.yaml"
    text = recipe_path.read_text(encoding="utf-8").replace("seed: 3", "seed: 4")
    other.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="another recipe"):
        training.train(other, out=tmp_path, device="cpu")


@pytest.mark.usefixtures("report_every_iteration")
def test_a_checkpoint_of_another_number_of_threads_is_refused(
    recipe_path: Path, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        training.train(recipe_path, out=tmp_path, device="cpu", progress=stop_at(6, []))
    with pytest.raises(ModelError) as caught:
        training.train(recipe_path, out=tmp_path, device="cpu", threads=2)
    torch.set_num_threads(1)
    assert "on cpu with 1 CPU thread(s), not on cpu with 2" in caught.value.what
    assert "--threads 1" in caught.value.todo


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04N.",
        b"\x08\0\0\0\0\0\0\0{}      ",
        safetensors.numpy.save({}, metadata={"run": "[1]"}),
    ],
)
def test_a_damaged_checkpoint_is_refused(recipe_path: Path, tmp_path: Path, content: bytes) -> None:
    state = tmp_path / ".training/tiny/vae" / loop.FILE
    state.parent.mkdir(parents=True)
    state.write_bytes(content)
    with pytest.raises(ModelError, match="cannot be read"):
        training.train(recipe_path, out=tmp_path, device="cpu")
    assert state.read_bytes() == content


def test_a_checkpoint_of_other_networks_is_refused(recipe_path: Path, tmp_path: Path) -> None:
    read = recipe.read(recipe_path)
    state = tmp_path / ".training/tiny/vae"
    wider = read.model_copy(update={"dimensions": 4})
    provenance = loop.Provenance(read.digest, "cpu", 1)
    loop.save(state, Run(training.build(wider, torch.device("cpu"))), provenance)
    with pytest.raises(ModelError, match="cannot be read"):
        training.train(recipe_path, out=tmp_path, device="cpu")
    path = state / loop.FILE
    with safetensors.safe_open(path, "numpy") as opened:
        metadata = opened.metadata()
    run = Run(training.build(read, torch.device("cpu")))
    tensors = run.tensors() | {"adam.0.99.step": torch.ones(())}
    safetensors.torch.save_file(tensors, path, metadata=metadata)
    with pytest.raises(ModelError, match="cannot be read"):
        training.train(recipe_path, out=tmp_path, device="cpu")


def test_a_diverging_run_is_stopped(recipe_path: Path, tmp_path: Path) -> None:
    wild = tmp_path / "recipe.yaml"
    text = recipe_path.read_text(encoding="utf-8").replace("0.001", "1.0e+30")
    wild.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="no longer finite"):
        training.train(wild, out=tmp_path, device="cpu")
    assert not (tmp_path / "tiny").exists()


def test_a_device_that_is_not_there_is_refused(recipe_path: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'tpu' is not available"):
        training.train(recipe_path, out=tmp_path, device="tpu")


def test_a_terminal_is_told_epoch_time_and_losses(recipe_path: Path, tmp_path: Path) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    folder = models_catalog.train(recipe_path, tmp_path, device="cpu", console=console)
    assert folder == tmp_path / "tiny/vae"
    for part in ("tiny/vae", "100%", "epoch 4/4", "measuring the model", "squared_error", "kl"):
        assert part in text.getvalue()


def test_a_disk_that_refuses_is_told(recipe_path: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file where a folder belongs", encoding="utf-8")
    with pytest.raises(ModelError, match="could not be written: Not a directory"):
        training.train(recipe_path, out=tmp_path / "out", device="cpu")


def test_a_finished_run_leaves_no_checkpoint(root: Path) -> None:
    assert not (root / ".training/tiny/vae").exists()
