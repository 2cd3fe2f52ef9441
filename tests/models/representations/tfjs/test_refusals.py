"""Packages that are not imported: the message says what is missing, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.base.errors import ModelError
from labapp.models.representations.tfjs import import_package
from tests.models.representations.tfjs import published

Change = Callable[[Any], object]


def refusal(source: Path, out: Path, model_id: str | None = None) -> str:
    """The whole message. Nothing is left where the package would have been."""
    with pytest.raises(ModelError) as caught:
        import_package(source, out, model_id)
    assert caught.value.safe
    assert caught.value.todo
    assert not out.exists()
    assert not [*out.parent.glob(".*")]
    return f"{caught.value.what} {caught.value.todo}"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def sinelines(folder: Path, change: Change | None = None) -> Path:
    tensors = published.sinelines().tensors
    if change:
        change(tensors)
    return published.write(folder / "ae", tensors, published.config(64))


def rename(tensors: Any, old: str, new: str) -> None:
    tensors[new] = tensors.pop(old)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda t: t.pop("ae/dec/fc1/bias"), "sinelines-mlp, but lack ae/dec/fc1/bias"),
        (lambda t: t.update({"x/y": np.ones(2)}), "have x/y besides"),
        (
            lambda t: t.update({"ae/dec/fc1/bias": np.ones(255)}),
            "have ae/dec/fc1/bias of shape (255,) instead of (256)",
        ),
        (
            lambda t: t.update({"ae/dec/fc0/kernel": np.ones((5, 255))}),
            "shape (5, 255) instead of (width of z, 256)",
        ),
        (
            lambda t: t.update({"ae/dec/fc0/kernel": np.ones(256)}),
            "shape (256,) instead of (width of z, 256)",
        ),
        (
            lambda t: t.update({"ae/dec/fc1/bias": np.ones(256, np.int32)}),
            "have ae/dec/fc1/bias as int32",
        ),
        (
            lambda t: t.update({"ae/dec/fc1_1/bias": np.ones(256)}),
            "two tensors for ae/dec/fc1/bias",
        ),
        (lambda t: rename(t, "ae/dec/out/kernel", "ae/dec3/kernel"), "have ae/dec3/kernel besides"),
    ],
)
def test_tensors_that_do_not_fit(tmp_path: Path, out: Path, change: Change, expected: str) -> None:
    assert expected in refusal(sinelines(tmp_path, change), out)


def test_an_unknown_network_is_refused_with_those_that_are_known(tmp_path: Path, out: Path) -> None:
    tensors = {"dense/kernel": np.ones((5, 3)), "dense/bias": np.ones(3)}
    source = published.write(tmp_path / "other", tensors, published.config(64))
    text = refusal(source, out)
    assert "dense/bias; dense/kernel" in text
    assert "sinelines-mlp, dsprites-conv, mnist-conv, mnist-infogan" in text


def test_a_package_of_constants_alone_is_refused(tmp_path: Path, out: Path) -> None:
    tensors = {"Reshape/shape": np.array([1, 2], np.int32)}
    source = published.write(tmp_path / "other", tensors, published.config(64))
    assert "none of float32" in refusal(source, out)


def test_an_infogan_without_its_biases_is_no_digit_decoder(tmp_path: Path, out: Path) -> None:
    tensors = published.infogan().tensors
    del tensors["gen/deconv1/b"], tensors["gen/fc1_1/bn/batchnorm/mul"]
    source = published.write(tmp_path / "ig5", tensors, published.config(784, 5, (10,)))
    text = refusal(source, out)
    assert "mnist-infogan, but lack gen/deconv1/b; gen/fc1/bn/batchnorm/mul" in text


def set_to(key: str, value: Any) -> Change:
    return lambda config: config.update({key: value})


def first_row(key: str, value: Any) -> Change:
    return lambda config: config[key].__setitem__(0, value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (set_to("Dx", 4096), "Dx is 4096, but the decoder makes 64 values"),
        (set_to("Dz", 6), "Dz 6 and Dc [] make 6 inputs, but the decoder takes 5"),
        (set_to("Dc", [10]), "make 15 inputs, but the decoder takes 5"),
        (lambda c: c["z_lims"].pop(), "z_lims has 4 pairs for 5 dimensions"),
        (first_row("z_lims", [3, 1]), "z_lims[0] is not a range: 3.0 to 1.0"),
        (first_row("z_lims", [1, 1]), "z_lims[0] is not a range"),
        (first_row("z_lims", [-1e999, 1]), "z_lims[0][0]: input should be"),
        (first_row("z_lims", [1, 2, 3]), "z_lims[0]"),
        (first_row("z", [1, 2]), "a row of z does not have 5 values"),
        (first_row("z", [0, 0, 0, 99, 0]), "z[0] lies beyond z_lims"),
        (lambda c: c.pop("z"), "z is missing"),
        (set_to("z", []), "z is missing"),
        (lambda c: c.pop("z_lims"), "z_lims: field required"),
        (lambda c: c.pop("Dz"), "Dz: field required"),
        (lambda c: c["z_pcts"].pop("48"), "z_pcts[48] has 0 values for 5 dimensions"),
        (lambda c: c["z_pcts"]["1"].pop(), "z_pcts[1] has 4 values for 5 dimensions"),
        (lambda c: c["z_pcts"]["95"].__setitem__(1, -9e9), "z_pcts of dimension 2 do not ascend"),
        (lambda c: c["z_pcts"]["99"].__setitem__(4, 9e9), "z_pcts of dimension 5 do not ascend"),
        (set_to("mse", "small"), "mse: input should be a valid number"),
        (set_to("c", [[[0, 1]] * 60]), "c has 1 discrete dimensions, Dc 0"),
    ],
)
def test_a_config_that_does_not_fit(
    tmp_path: Path, out: Path, change: Change, expected: str
) -> None:
    stated = published.config(64)
    change(stated)
    source = published.write(tmp_path / "ae", published.sinelines().tensors, stated)
    assert expected in refusal(source, out)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (set_to("c", []), "c has 0 discrete dimensions, Dc 1"),
        (lambda c: c["c"][0].pop(), "c[0] has 59 rows, z 60"),
        (lambda c: c["c"][0].__setitem__(3, [0] * 10), "a row of c[0] is not a one-hot of 10"),
        (lambda c: c["c"][0].__setitem__(3, [1] * 2 + [0] * 8), "not a one-hot of 10"),
        (lambda c: c["c"][0].__setitem__(3, [0, 1]), "not a one-hot of 10"),
        (lambda c: c.pop("z"), "z is missing"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, out: Path, change: Change, expected: str) -> None:
    stated = published.config(784, 5, (10,))
    change(stated)
    source = published.write(tmp_path / "ss5", published.mnist(15).tensors, stated)
    assert expected in refusal(source, out)


def test_what_is_not_there_is_said(tmp_path: Path, out: Path) -> None:
    assert "no published package" in refusal(tmp_path / "nowhere", out)
    source = sinelines(tmp_path)
    (source / "config.json").rename(tmp_path / "config.json")
    assert f"{source / 'config.json'}, which belongs to the published package" in refusal(
        source, out
    )
    (source / "config.json").write_text("{", encoding="utf-8")
    assert "config.json does not look like a TensorFlow.js package" in refusal(source, out)
    (source / "decoder_web/weights_manifest.json").unlink()
    assert "decoder_web/weights_manifest.json" in refusal(source, out)
    (source / "decoder_web/model.json").write_text("{}", encoding="utf-8")
    assert "model.json" in refusal(source, out)


@pytest.mark.parametrize("model_id", ["", "vae", "Mnist/ae", "a/b/c", "../up", "mnist/ae.5"])
def test_what_is_no_id_is_refused(tmp_path: Path, out: Path, model_id: str) -> None:
    assert "<dataset>/<name>" in refusal(sinelines(tmp_path), out, model_id)


def test_a_folder_whose_name_makes_no_id_needs_one(tmp_path: Path, out: Path) -> None:
    source = sinelines(tmp_path).rename(tmp_path / "模型")
    assert "--id" in refusal(source, out)


def test_what_stands_at_the_output_is_left_alone(tmp_path: Path, out: Path) -> None:
    out.mkdir()
    kept = out / "notes.txt"
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="never overwritten"):
        import_package(sinelines(tmp_path), out)
    assert [*out.iterdir()] == [kept]


def test_the_published_files_are_left_alone(tmp_path: Path, out: Path) -> None:
    source = sinelines(tmp_path)
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    import_package(source, out)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_the_manifest_need_not_be_in_the_published_order(tmp_path: Path, out: Path) -> None:
    tensors = dict(sorted(published.sinelines().tensors.items()))
    source = published.write(tmp_path / "ae", tensors, published.config(64))
    manifest = json.loads((source / "decoder_web/weights_manifest.json").read_text("utf-8"))
    assert [one["name"] for one in manifest[0]["weights"]] == sorted(tensors)
    assert (import_package(source, out) / "decoder.safetensors").is_file()
