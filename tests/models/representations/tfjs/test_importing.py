"""A published package becomes a model package that computes the same, for every architecture."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labapp.base import resources
from labapp.models.representations import card as cards
from labapp.models.representations import load_package
from labapp.models.representations.decoders import PERCENTILES, LoadedDecoder, percentiles_of
from labapp.models.representations.recipe import ARCHITECTURES, TrainedNetwork
from labapp.models.representations.tfjs import LAYOUTS, import_package
from tests.models.representations.tfjs import published
from tests.models.representations.tfjs.published import Network

TOLERANCE = 1e-5

CASES: dict[str, tuple[Callable[[], Network], int, tuple[int, ...]]] = {
    "sinelines": (published.sinelines, 5, ()),
    "sinelines-retrained": (
        lambda: published.sinelines(("ae/dec1", "ae/dec2", "ae/dec3")),
        5,
        (),
    ),
    "dsprites": (published.dsprites, 5, ()),
    "dsprites-retrained": (lambda: published.dsprites("ae/decoder"), 5, ()),
    "mnist-ae5": (published.mnist, 5, ()),
    "mnist-tc10": (lambda: published.mnist(10), 10, ()),
    "mnist-ss5": (lambda: published.mnist(15), 5, (10,)),
    "mnist-ss10": (lambda: published.mnist(20), 10, (10,)),
    "mnist-ig5": (published.infogan, 5, (10,)),
}
OUTPUTS = {"sinelines": 64, "dsprites": 4096, "mnist": 784}


def exact(folder: Path) -> LoadedDecoder:
    """Every step in float32."""
    return load_package(folder, "cpu")


@pytest.mark.parametrize("name", CASES)
def test_an_imported_decoder_computes_what_the_published_one_does(
    name: str, tmp_path: Path
) -> None:
    make, dz, dc = CASES[name]
    network = make()
    stated = published.config(OUTPUTS[name.split("-")[0]], dz, dc, pcts=False)
    size = len(published.content(network.tensors))
    # Cut inside tensors, also off their four-byte values.
    cuts = [size // 7 * one + one for one in range(1, 7)]
    source = published.write(tmp_path / name, network.tensors, stated, cuts)
    decoder = exact(import_package(source, tmp_path / "out"))
    assert decoder.card.architecture == network.architecture
    assert decoder.space.width == network.width
    states = decoder.latents[:6]
    z = np.stack([decoder.space.encode(row.tolist()) for row in states])
    expected = network.forward(z.astype(np.float64))
    assert expected.std() > 0.05  # no saturated picture, in which any network agrees
    assert np.abs(decoder.decode(z) - expected).max() < TOLERANCE


def test_names_tell_infogan_from_a_decoder_of_the_same_width(tmp_path: Path) -> None:
    stated = published.config(784, 5, (10,), pcts=False)
    found = {
        one.architecture: exact(
            import_package(
                published.write(tmp_path / one.architecture, one.tensors, stated),
                tmp_path / f"{one.architecture}-out",
            )
        ).card.architecture
        for one in (published.mnist(15), published.infogan(15))
    }
    assert found == {"mnist-conv": "mnist-conv", "mnist-infogan": "mnist-infogan"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return published.write(tmp_path / "vae", published.sinelines().tensors, published.config(64))


def test_the_card_tells_where_the_model_came_from(source: Path, tmp_path: Path) -> None:
    folder = import_package(source, tmp_path / "out")
    card = cards.read(folder)
    assert folder == tmp_path / "out"
    assert card.id == "sinelines/published-vae"
    assert (card.dataset, card.architecture, card.sampling) == (
        "sinelines",
        "sinelines-mlp",
        "held-out",
    )
    assert card.held_out_error is not None
    assert card.held_out_error.published == card.held_out_error.as_published == 8.25
    assert card.held_out_error.mean is None
    assert card.origin is not None
    files = [source / "config.json", *sorted((source / "decoder_web").iterdir())]
    assert card.origin.files == {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files
    }
    assert "TensorFlow.js" in card.notes


def test_limits_sample_and_percentiles_are_the_configs(source: Path, tmp_path: Path) -> None:
    stated = json.loads((source / "config.json").read_text(encoding="utf-8"))
    decoder = exact(import_package(source, tmp_path / "out"))
    limits = [(dial["low"], dial["high"]) for dial in decoder.space.to_json()]
    assert [d.name for d in decoder.space.dimensions] == ["z1", "z2", "z3", "z4", "z5"]
    np.testing.assert_array_equal(limits, np.float32(stated["z_lims"]))
    np.testing.assert_array_equal(decoder.latents, np.float32(stated["z"]))
    for percent in PERCENTILES:
        wanted = np.float32(stated["z_pcts"][str(percent)])
        np.testing.assert_array_equal(decoder.percentiles[percent], wanted)


def test_labels_come_first_and_become_their_numbers(tmp_path: Path) -> None:
    stated = published.config(784, 5, (10,))
    source = published.write(tmp_path / "SS5", published.mnist(15).tensors, stated)
    decoder = exact(import_package(source, tmp_path / "out"))
    assert decoder.id == "mnist/published-ss5"
    assert decoder.space.to_json()[0] == {"type": "discrete", "name": "c1", "k": 10}
    np.testing.assert_array_equal(decoder.latents[:, 0], np.argmax(stated["c"][0], axis=1))
    np.testing.assert_array_equal(decoder.latents[:, 1:], np.float32(stated["z"]))
    for percent in PERCENTILES:  # the config has none of labels: theirs are the sample's
        wanted = [np.percentile(decoder.latents[:, 0], percent), *stated["z_pcts"][str(percent)]]
        np.testing.assert_array_equal(decoder.percentiles[percent], np.float32(wanted))


def test_percentiles_are_the_samples_where_the_config_has_none(tmp_path: Path) -> None:
    stated = published.config(64, pcts=False)
    source = published.write(tmp_path / "ae", published.sinelines().tensors, stated)
    decoder = exact(import_package(source, tmp_path / "out"))
    expected = percentiles_of(np.float32(stated["z"]))
    for percent in PERCENTILES:
        np.testing.assert_array_equal(decoder.percentiles[percent], expected[percent])


def test_infogan_without_a_sample_draws_from_its_prior(tmp_path: Path) -> None:
    # As published: no z, no c, no errors.
    stated = {"Dx": 784, "Dc": [10], "Dz": 5, "z_lims": [[-1, 1]] * 5, "vars": []}
    source = published.write(tmp_path / "ig5", published.infogan(15).tensors, stated)
    decoder = exact(import_package(source, tmp_path / "out"))
    assert decoder.card.sampling == "prior"
    assert decoder.card.held_out_error is None
    assert decoder.latents.shape == (5000, 6)
    assert set(decoder.latents[:, 0]) == set(range(10))
    codes = decoder.latents[:, 1:]
    assert np.abs(codes).max() <= 1
    np.testing.assert_allclose(codes.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(codes.std(axis=0), 3**-0.5, atol=0.02)
    again = exact(import_package(source, tmp_path / "again"))
    np.testing.assert_array_equal(again.latents, decoder.latents)


def test_a_value_at_a_limit_that_float32_rounds_up_stays_on_its_dial(tmp_path: Path) -> None:
    stated = published.config(64)
    stated["z_lims"][2] = [0.1, 6.283185307179586]  # float32 lies above both
    for percent, row in stated["z_pcts"].items():
        row[2] = 0.1 + 0.06 * int(percent)
    for index, row in enumerate(stated["z"]):
        row[2] = (0.1, 3.0, 6.283185307179586)[index % 3]
    source = published.write(tmp_path / "gt", published.sinelines().tensors, stated)
    decoder = exact(import_package(source, tmp_path / "out"))
    dial = decoder.space.dimensions[2]
    assert dial.snap(float(decoder.latents[2, 2])) == float(decoder.latents[2, 2])


def test_the_folder_may_be_decoder_web_itself_or_a_flat_one(source: Path, tmp_path: Path) -> None:
    whole = import_package(source, tmp_path / "whole")
    web = import_package(source / "decoder_web", tmp_path / "web")
    flat = tmp_path / "flat"
    (source / "decoder_web").rename(flat)
    (source / "config.json").rename(flat / "config.json")
    flattened = import_package(flat, tmp_path / "flattened", "sinelines/published-vae")
    named = "published:\n  paper: '000'\n  name: vae\n"
    assert named in (whole / "model.yaml").read_text("utf-8"), "as the published folder is called"
    texts = {
        (folder / "model.yaml")
        .read_text(encoding="utf-8")
        .replace("Sinelines flat", "Sinelines vae")
        .replace(named, "")
        for folder in (whole, web, flattened)
    }
    assert len(texts) == 1


def test_by_default_a_study_finds_the_model_by_its_id(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "mine"))
    folder = import_package(source, model_id="sinelines/theirs")
    assert folder == resources.user_models() / "sinelines/theirs"
    assert load_package("sinelines/theirs", "cpu").id == "sinelines/theirs"


def test_every_architecture_with_weights_can_be_imported() -> None:
    trained = {
        name for name, one in ARCHITECTURES.items() if isinstance(one.source, TrainedNetwork)
    }
    assert {layout.architecture for layout in LAYOUTS} == trained
