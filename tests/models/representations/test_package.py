"""Model packages: what is shipped, what is refused, what is never run."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models import catalog as models_catalog
from labapp.models.datasets.split import ArrayRows
from labapp.models.explanations.package import CARD
from labapp.models.representations import card, measuring, package
from labapp.models.training import files
from tests.helpers.sample import EVERYTHING, sample

DSPRITES = [f"dsprites/{name}" for name in ("ae", "gt", "vae")]
DIGITS = [
    f"mnist8k/{name}" for name in ("ae10", "ae5", "ig5", "ss10", "ss5", "tc10", "tc5", "vae5")
]
DIGITS_OF_EACH_KIND = [f"mnist8k/{name}" for name in ("ae10", "ig5", "ss5", "tc10", "vae5")]
SHIPPED = [
    "circles/gt",
    *DSPRITES,
    *DIGITS,
    *("sinelines/ae", "sinelines/gt", "sinelines/vae"),
]
MNIST = Path(__file__).resolve().parents[4] / "shared/data/mnist"


class Bomb:
    """Unpickled, it would make a file beside the one it came in."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self.trace),)


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tiny/vae"


def restate(folder: Path) -> None:
    """Make the card agree with the files, as someone would who wants a bad file opened."""
    stated = card.read(folder)
    path = folder / card.CARD
    text = path.read_text(encoding="utf-8")
    for name, old in (
        (files.WEIGHTS, stated.weights_sha256),
        (files.LATENTS, stated.latents_sha256),
    ):
        assert old is not None
        text = text.replace(old, files.digest((folder / name).read_bytes()))
    path.write_text(text, encoding="utf-8")


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        package.load_package(folder, "cpu")
    assert caught.value.todo
    return caught.value.what


def test_the_shipped_packages_are_these() -> None:
    assert package.list_packages() == SHIPPED
    assert [row["id"] for row in models_catalog.models() if "kind" not in row] == SHIPPED
    assert not any("problem" in row for row in models_catalog.models())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_package_loads_and_decodes_its_sample(name: str) -> None:
    decoder = package.load_package(name, "cpu")
    assert decoder.id == name
    states = [decoder.space.snap([float(v) for v in row]) for row in decoder.latents[:20]]
    z = np.stack([decoder.space.encode(state) for state in states])
    x = decoder.decode(z)
    assert x.shape == (20, *decoder.output_shape)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert decoder.percentiles[1].shape == (len(decoder.space),)
    assert json.loads(json.dumps(models_catalog.show(name)))["id"] == name


SINELINES = ["sinelines/ae", "sinelines/gt", "sinelines/vae"]


@pytest.mark.parametrize("name", SINELINES)
def test_the_numbers_of_a_shipped_model_are_its_cards(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The errors of all; the disentanglement, which takes seconds, of some."""
    if name not in sample(SINELINES, ["sinelines/ae"]):
        stated = card.read(resources.models() / name).disentanglement
        monkeypatch.setattr(measuring, "_disentanglement", lambda *_: stated)
    result = measuring.evaluate(name, "cpu")
    assert result["instances"] == 5_000
    assert result["agrees"], result


@pytest.mark.skipif(not MNIST.is_dir(), reason=f"the digits are not at {MNIST}")
@pytest.mark.parametrize("name", sample(DIGITS, DIGITS_OF_EACH_KIND))
def test_a_model_of_digits_is_as_good_as_its_card_says(name: str) -> None:
    assert measuring.evaluate(name, "cpu", data_folder=MNIST)["agrees"]


@pytest.mark.parametrize("name", DSPRITES)
def test_a_model_of_dsprites_is_about_as_good_as_its_card_says(name: str) -> None:
    """On some of the 73,728 held-out pictures: all of them take a third of a minute."""
    decoder = package.load_package(name, "cpu")
    assert decoder.card.data is not None
    assert decoder.card.held_out_error is not None
    held = decoder.card.data.load().held
    assert len(decoder.latents) == len(held) == 73_728
    count, near = (2_000, 0.05) if EVERYTHING else (500, 0.1)
    some = np.random.default_rng(0).choice(len(held), count, replace=False)
    rows = ArrayRows(held.instances(some), held.factors(some))
    squares, _ = measuring.held_out_errors(
        decoder.decode, decoder.space, decoder.latents[some], rows, "bernoulli"
    )
    assert squares == pytest.approx(decoder.card.held_out_error.mean, rel=near)


COMPARABLE = [
    name
    for name in SHIPPED
    if name.startswith(("dsprites/", "sinelines/"))
    and card.read(resources.models() / name).training is not None
]


@pytest.mark.parametrize("name", COMPARABLE)
def test_the_shipped_models_are_about_as_good_as_the_published(name: str) -> None:
    error = card.read(resources.models() / name).held_out_error
    assert error is not None
    assert error.published is not None
    assert error.as_published <= 1.5 * error.published


def test_ground_truth_states_are_draws_of_the_prior_on_the_dials() -> None:
    decoder = package.load_package("sinelines/gt")
    assert decoder.latents.shape == (5_000, 5)
    assert decoder.card.sampling == "prior"
    snapped = [decoder.space.snap([float(v) for v in row]) for row in decoder.latents]
    np.testing.assert_allclose(np.array(snapped), decoder.latents, atol=1e-6)


def test_circles_have_no_data_to_evaluate() -> None:
    with pytest.raises(ModelError, match="no held-out data"):
        measuring.evaluate("circles/gt")


# --- finding ---------------------------------------------------------------------------------


def test_a_package_is_found_by_id_by_path_and_by_text_of_a_path(root: Path) -> None:
    for reference in ("tiny/vae", root / "tiny/vae", str(root / "tiny/vae")):
        assert package.load_package(reference, "cpu", root=root).id == "tiny/vae"


@pytest.mark.parametrize(
    "reference",
    ["tiny/nothing", "../tiny/vae", "tiny/../tiny/vae", "tiny", "", ".", "TINY/VAE", "tiny/vae/"],
)
def test_what_is_no_id_is_refused(
    root: Path, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    with pytest.raises(ModelError, match="id"):
        package.load_package(reference, "cpu", root=root)


@pytest.mark.parametrize("reference", ["birds/resnet", resources.models() / "birds" / "resnet"])
def test_a_classifier_is_not_taken_for_a_decoder(reference: str | Path) -> None:
    with pytest.raises(ModelError, match="is a classifier \\(without sliders\\)"):
        package.find(reference)


def test_a_decoder_is_not_taken_for_a_classifier() -> None:
    with pytest.raises(ModelError, match="is a decoder with sliders"):
        package.find("sinelines/vae", card=CARD)


def test_an_id_cannot_lead_out_by_a_link(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(root / "tiny/vae", outside)
    (root / "tiny/vae").symlink_to(outside)
    with pytest.raises(ModelError, match="link to a place outside the models folder"):
        package.load_package("tiny/vae", "cpu", root=root)


@pytest.mark.parametrize("name", [files.WEIGHTS, files.LATENTS])
def test_a_file_cannot_be_a_link_out_of_its_package(
    folder: Path, tmp_path: Path, name: str
) -> None:
    shutil.move(folder / name, tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    assert "link to a place outside" in refusal(folder)


def test_a_package_under_another_id_is_refused(root: Path) -> None:
    (root / "tiny/vae").rename(root / "tiny/ae")
    with pytest.raises(ModelError, match="is 'tiny/vae'"):
        package.load_package("tiny/ae", "cpu", root=root)


def test_a_package_with_a_broken_card_is_listed_with_its_problem(root: Path) -> None:
    (root / "tiny/vae" / card.CARD).write_text("card: 1\n", encoding="utf-8")
    (row,) = models_catalog.models(root)
    assert row["id"] == "tiny/vae"
    assert "missing; it is required" in row["problem"]


def test_unfinished_training_is_no_package(root: Path) -> None:
    (root / ".training/tiny/ae").mkdir(parents=True)
    assert package.list_packages(root) == ["tiny/vae"]


def test_a_device_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="'tpu' is not available") as caught:
        package.load_package(folder, "tpu")
    assert "cpu" in caught.value.todo


# --- bad weights -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [files.WEIGHTS, files.LATENTS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{folder / name} is missing" in refusal(folder)


@pytest.mark.parametrize("name", [files.WEIGHTS, files.LATENTS])
def test_a_file_cut_short_is_refused(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:-100])
    assert name in refusal(folder)
    restate(folder)
    assert "not a complete" in refusal(folder)


@pytest.mark.parametrize("name", [files.WEIGHTS, files.LATENTS])
def test_one_flipped_bit_is_refused(folder: Path, name: str) -> None:
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert "not the file listed on its model card" in refusal(folder)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_refused_and_not_run(folder: Path, tmp_path: Path, protocol: int) -> None:
    trace = tmp_path / "ran"
    (folder / files.WEIGHTS).write_bytes(pickle.dumps(Bomb(trace), protocol))
    assert "Python pickle" in refusal(folder)
    restate(folder)
    assert "Python pickle" in refusal(folder)
    assert not trace.exists()


@pytest.mark.parametrize("as_zip", [True, False])
def test_a_torch_file_is_refused_and_not_run(folder: Path, tmp_path: Path, as_zip: bool) -> None:
    trace = tmp_path / "ran"
    torch.save(
        {"weights": torch.zeros(3), "bomb": Bomb(trace)},
        folder / files.WEIGHTS,
        _use_new_zipfile_serialization=as_zip,
    )
    restate(folder)
    assert ("zip archive" if as_zip else "pickle") in refusal(folder)
    assert not trace.exists()


def weights_with(*, without: str | None = None, **changed: np.ndarray) -> Callable[[Path], None]:
    """Weights with some replaced (`body_0_bias` for body.0.bias) and those of a prefix removed."""

    def apply(folder: Path) -> None:
        weights = safetensors.numpy.load((folder / files.WEIGHTS).read_bytes())
        if without is not None:
            weights = {n: w for n, w in weights.items() if not n.startswith(without)}
        weights |= {name.replace("_", "."): values for name, values in changed.items()}
        (folder / files.WEIGHTS).write_bytes(safetensors.numpy.save(weights))

    return apply


def raw_weights(header: dict[str, object], data: bytes = b"") -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        text = json.dumps(header).encode()
        content = len(text).to_bytes(8, "little") + text + data
        (folder / files.WEIGHTS).write_bytes(content)

    return apply


def overwritten(name: str, content: bytes) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return apply


BAD_WEIGHTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a tensor lacks": (weights_with(without="body.0.bias"), "lacks 'body.0.bias'"),
    "a tensor too many": (weights_with(extra=np.zeros(3, np.float32)), "has 'extra' besides"),
    "another shape": (
        weights_with(body_0_bias=np.zeros(7, np.float32)),
        "of shape (7,) instead of (256,)",
    ),
    "another model": (
        weights_with(without="body", conv=np.zeros((3, 3), np.float32)),
        "more differences",
    ),
    "not a number": (weights_with(body_0_bias=np.full(256, np.nan, np.float32)), "not finite"),
    "infinite": (weights_with(body_0_bias=np.full(256, np.inf, np.float32)), "not finite"),
    "overflowing": (
        weights_with(
            body_2_bias=np.full(256, 3e38, np.float32),
            body_4_weight=np.full((64, 256), 3e38, np.float32),
        ),
        "do not form a working decoder",
    ),
    "double precision": (weights_with(body_0_bias=np.zeros(256)), "is F64; weights are F32"),
    "empty": (weights_with(without=""), "lacks"),
    "a header that claims much": (
        raw_weights(
            {"a": {"dtype": "F32", "shape": [10**6, 10**6], "data_offsets": [0, 4 * 10**12]}}
        ),
        "not a complete safetensors file",
    ),
    "a header longer than the file": (
        overwritten(files.WEIGHTS, b"\xff" * 8 + b"{}"),
        "not a complete safetensors file",
    ),
    "text": (
        overwritten(files.WEIGHTS, b"weights"),
        "damaged or foreign",
    ),
    "nothing": (
        overwritten(files.WEIGHTS, b""),
        "not a complete safetensors file",
    ),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights_are_refused_though_the_card_vouches_for_them(folder: Path, case: str) -> None:
    spoil, message = BAD_WEIGHTS[case]
    spoil(folder)
    restate(folder)
    assert message in refusal(folder)


def test_a_file_of_absurd_size_is_refused_unread(folder: Path) -> None:
    with (folder / files.WEIGHTS).open("wb") as stream:
        stream.truncate(files.LARGEST + 1)  # sparse: takes no room on the disk
    assert "more than the 256 MiB" in refusal(folder)


# --- bad latents -----------------------------------------------------------------------------


def arrays_with(**changed: np.ndarray | None) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        with np.load(folder / files.LATENTS, allow_pickle=False) as archive:
            arrays = dict(archive)
        arrays |= {name: values for name, values in changed.items() if values is not None}
        for name in [name for name, values in changed.items() if values is None]:
            del arrays[name]
        np.savez(folder / files.LATENTS, **arrays)

    return apply


def member(name: str, content: bytes) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        with zipfile.ZipFile(folder / files.LATENTS, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)

    return apply


def header(shape: str, descr: str = "'<f4'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


BAD_LATENTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no latents": (arrays_with(latents=None), "not latents and percentiles"),
    "something else besides": (
        arrays_with(extra=np.zeros(3, np.float32)),
        "not latents and percentiles",
    ),
    "another width": (arrays_with(latents=np.zeros((40, 4), np.float32)), "shape (40, 4)"),
    "no rows": (arrays_with(latents=np.zeros((0, 3), np.float32)), "shape (0, 3)"),
    "beyond the limits": (
        arrays_with(latents=np.full((40, 3), 99, np.float32)),
        "outside the limits",
    ),
    "percentiles of another shape": (
        arrays_with(percentiles=np.zeros((5, 3), np.float32)),
        "percentiles of shape (5, 3)",
    ),
    "spread of another shape": (
        arrays_with(spread=np.zeros((4, 3), np.float32)),
        "spreads of shape (4, 3)",
    ),
    "not a number": (arrays_with(latents=np.full((40, 3), np.nan, np.float32)), "not finite"),
    "double precision": (arrays_with(latents=np.zeros((40, 3))), "is float64"),
    "column order": (
        arrays_with(latents=np.asfortranarray(np.zeros((40, 3), np.float32))),
        "row order",
    ),
    "more claimed than held": (
        member("latents.npy", header("(1000000000000, 3)") + b"1234"),
        "contains 4 bytes",
    ),
    "negative sides": (member("latents.npy", header("(-1, -1)") + b"1234"), "contains 4 bytes"),
    "no array": (member("latents.npy", b"hello"), "not a plain array"),
    "a bomb of zeros": (
        member("latents.npy", header("(67108865,)") + bytes(4 * 67_108_865)),
        "would unpack",
    ),
    "no zip": (
        overwritten(files.LATENTS, b"hello"),
        "not a complete npz",
    ),
}


@pytest.mark.parametrize("case", BAD_LATENTS)
def test_bad_latents_are_refused_though_the_card_vouches_for_them(folder: Path, case: str) -> None:
    spoil, message = BAD_LATENTS[case]
    spoil(folder)
    restate(folder)
    assert message in refusal(folder)


def test_object_arrays_are_refused_and_not_run(folder: Path, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    objects = np.array([Bomb(trace)], dtype=object)
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, latents=objects)
    (folder / files.LATENTS).write_bytes(stream.getvalue())
    restate(folder)
    assert "objects, which are pickled" in refusal(folder)
    assert not trace.exists()


# --- mislabelled packages --------------------------------------------------------------------


def test_a_trained_model_without_hashes_is_refused(folder: Path) -> None:
    lines = (folder / card.CARD).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("weights_sha256")]
    (folder / card.CARD).write_text("\n".join(kept), encoding="utf-8")
    assert "does not state weights_sha256" in refusal(folder)


def test_a_closed_form_with_weights_beside_it_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "gt"
    shutil.copytree(resources.models() / "circles/gt", copy)
    (copy / files.WEIGHTS).write_bytes(b"")
    assert "is a formula, which has no" in refusal(copy)


# --- torch stays out -------------------------------------------------------------------------


def test_torch_is_left_alone_until_a_trained_model_is_loaded() -> None:
    steps = (
        "import labapp.models.representations.space",
        "import labapp.models.representations.package",
        "from labapp.models.representations import load_package",
        "from labapp.models import catalog as c; c.models(); c.show('sinelines/ae')",
        "from labapp.models.representations import load_package; load_package('circles/gt')",
        "from labapp.models.representations import load_package; load_package('sinelines/gt')",
    )
    check = "\n".join(
        ["import sys", *(f"{step}\nassert 'torch' not in sys.modules, {step!r}" for step in steps)]
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
